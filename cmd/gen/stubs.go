package main

import (
	"fmt"
	"strings"

	"kudzu/internal/spec"
)

// writeStubs writes the C side of the door: how each signature packs its arguments, and for every interface the file whose
// stubs internal/abi/stub.h makes of its rows.
func writeStubs(w *world) error {
	macros := map[string]string{}
	for _, b := range w.order {
		name, err := w.signature(b)
		if err != nil {
			return err
		}
		macros[name] = b.packs(name)
	}
	var h out
	h.header("//", apiFiles+" and the methods that exist")
	h.f("// One macro a signature: its parameters by their size in bytes, f and d for float and double, s for a stream, _name_ for a\n// structure. A stub packs them in the layout that the Go side reads.\n\n")
	for _, name := range sortedKeys(macros) {
		h.f("%s", macros[name])
	}
	w.files["internal/abi/zsignatures.h"] = h.Bytes()

	var all out
	all.header("//", apiFiles)
	all.f("#include \"host.h\"\n\n")
	for _, r := range w.houses() {
		var o out
		o.header("//", "internal/spec/"+r.api+".api")
		o.f("#define KUDZU_NO_RENAME\n#include \"%s\"\n\n#include \"door.h\"\n#include \"zsignatures.h\"\n#include \"ztable.h\"\n\n", r.Header)
		runtime := "0"
		if r.LastError {
			runtime = "KZ_DOOR_RUNTIME"
		}
		o.f("#define KZ_API %s\n#define KZ_ROWS \"%s\"\n#define KZ_RUNTIME %s\n#include \"stub.h\"\n", r.api, rowsFile(r.api), runtime)
		w.files["internal/abi/zstub_"+r.api+".c"] = o.Bytes()
		all.f("extern void *const kz_stubs_%s[];\n", r.api)
	}
	all.f("\nvoid *const *const kz_stubs[KZ_APIS] = {\n")
	for _, r := range w.houses() {
		all.f("\t[KZ_API_%[1]s] = kz_stubs_%[1]s,\n", r.api)
	}
	all.f("};\n")
	w.files["internal/abi/zstubs.c"] = all.Bytes()
	return nil
}

// signature names what a stub must know of a row's parameters.
func (w *world) signature(b *binding) (string, error) {
	if size, _, err := b.scope.Size(b.fn.Result); err != nil || size != 4 {
		return "", fmt.Errorf("%s answers %s: only a result code can come from Go", b.fn.Name, b.fn.Result)
	}
	name := ""
	for _, p := range b.fn.Params {
		name += b.letter(p.Type)
	}
	if name == "" {
		return "0", nil
	}
	if b.whole() {
		name += "z"
	}
	return name, nil
}

// whole reports a row whose arguments C compares word by word: what lies between them is packed as zeros.
func (b *binding) whole() bool { return b.fn.Door == "library" }

func (b *binding) letter(t *spec.Type) string {
	if st := b.scope.Struct(t); st != nil {
		return "_" + st.Name + "_"
	}
	if t.Name == "CUstream" || t.Name == "cudaStream_t" {
		return "s"
	}
	switch u := b.scope.Underlying(t); u.Name {
	case "float":
		return "f"
	case "double":
		return "d"
	}
	size, _, err := b.scope.Size(t)
	if err != nil {
		panic("BUG: a matched parameter without a size: " + err.Error())
	}
	return fmt.Sprint(size)
}

// packs is the macro that makes a stub of one signature.
func (b *binding) packs(signature string) string {
	var params, fields, names, streams []string
	at := 0
	gap := func(size int) {
		if n := -at & (size - 1); n > 0 && b.whole() {
			fields, names = append(fields, fmt.Sprintf("uint8_t gap%d[%d];", at, n)), append(names, "{0}")
			at += n
		}
	}
	for i, p := range b.fn.Params {
		letter, name := b.letter(p.Type), fmt.Sprintf("a%d", i)
		if size, align, err := b.scope.Size(p.Type); err == nil {
			gap(align)
			at += size
		}
		typ := map[string]string{"f": "float", "d": "double", "s": "uint64_t", "1": "uint8_t", "2": "uint16_t", "4": "uint32_t", "8": "uint64_t"}[letter]
		if typ == "" {
			typ = strings.Trim(letter, "_")
		}
		params, fields, names = append(params, typ+" "+name), append(fields, typ+" "+name+";"), append(names, name)
		if letter == "s" {
			streams = append(streams, fmt.Sprintf("KZ_STREAM(%s, flag) ", name))
		}
	}
	gap(8)
	if len(params) == 0 {
		return fmt.Sprintf("#define STUB_%s(stub, door, id, flag) static int32_t stub(void) { return door(id, flag, 0); }\n", signature)
	}
	return fmt.Sprintf("#define STUB_%s(stub, door, id, flag) static int32_t stub(%s) { %sstruct { %s } a = {%s}; return door(id, flag, &a); }\n",
		signature, strings.Join(params, ", "), strings.Join(streams, ""), strings.Join(fields, " "), strings.Join(names, ", "))
}
