package main

import (
	"fmt"
	"strings"

	"kudzu/internal/spec"
)

// writeStubs writes the C side of the door: for every bound symbol a function that packs
// its arguments, and for every library the array of them that the base attaches.
func writeStubs(w *world) error {
	for _, f := range w.fronts() {
		var o out
		o.header("//", "internal/spec/"+f.api.Name+".api and the methods that exist")
		if f.Major != 0 {
			o.f("#define %s %d\n", houseOf(f.api.Name).macro, f.Major*1000)
		}
		o.f("#define KUDZU_NO_RENAME\n#include \"%s\"\n\n#include \"door.h\"\n\n", houseOf(f.api.Name).header)
		var array out
		for i, s := range f.syms {
			kind, _ := w.answer(f, s)
			if kind != kindGo {
				continue
			}
			if err := w.stub(&o, f, s); err != nil {
				return err
			}
			array.f("\t[%d] = kz_stub_%s_%s,\n", i, f.Key, s.Name)
		}
		o.f("void *const kz_stubs_%s[%d] = {\n%s};\n", f.Key, len(f.syms), array.String())
		w.files["internal/abi/zstub_"+f.Key+".c"] = o.Bytes()
	}
	var o out
	o.header("//", apiFiles)
	o.f("#include \"host.h\"\n\n")
	for _, f := range w.fronts() {
		o.f("extern void *const kz_stubs_%s[];\n", f.Key)
	}
	o.f("\nvoid *const *const kz_stubs[KZ_LIBRARIES] = {\n")
	for _, f := range w.fronts() {
		o.f("\tkz_stubs_%s,\n", f.Key)
	}
	o.f("};\n")
	w.files["internal/abi/zstubs.c"] = o.Bytes()
	return nil
}

// stub packs the arguments of one symbol and calls the door with its row's number.
func (w *world) stub(o *out, f front, s spec.Symbol) error {
	b := w.bound[s.Func]
	if size, _, err := b.scope.Size(s.Func.Result); err != nil || size != 4 {
		return fmt.Errorf("%s answers %s: only a result code can come from Go", s.Name, s.Func.Result)
	}
	o.f("static %s {\n", proto(s.Func, "kz_stub_"+f.Key+"_"+s.Name))
	flag := "0"
	if f.api.Name == "cudart" {
		flag = "KZ_DOOR_RUNTIME"
	}
	if s.Variant != "" {
		flag += " | KZ_THREAD_PER_THREAD"
		for _, p := range s.Func.Params {
			if p.Type.Name == "CUstream" || p.Type.Name == "cudaStream_t" {
				o.f("\tif (!%s)\n\t\t%s = (%s)2; // the per-thread default stream\n", p.Name, p.Name, p.Type.Name)
			}
		}
	}
	door := "kz_door"
	if s.Func.Ends {
		door = "kz_door_ends"
	}
	if len(s.Func.Params) == 0 {
		o.f("\treturn %s(%d, %s, 0);\n}\n\n", door, b.id, flag)
		return nil
	}
	var fields, names []string
	for _, p := range s.Func.Params {
		fields = append(fields, p.Type.C(p.Name)+";")
		names = append(names, p.Name)
	}
	o.f("\tstruct { %s } a = {%s};\n", strings.Join(fields, " "), strings.Join(names, ", "))
	o.f("\treturn %s(%d, %s, &a);\n}\n\n", door, b.id, flag)
	return nil
}
