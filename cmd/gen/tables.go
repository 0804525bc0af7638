package main

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kudzu/internal/spec"
)

// front is one library with its place among all of them.
type front struct {
	spec.Library
	number int
	api    *spec.API
	syms   []spec.Symbol
}

// The answers a jump table can hold, as base.h numbers them.
const (
	kindNone = iota
	kindBase
	kindGo
)

const apiFiles = "internal/spec/*.api"

func (w *world) fronts() []front {
	var fs []front
	for _, name := range sortedKeys(w.apis) {
		for _, lib := range w.apis[name].Libraries {
			fs = append(fs, front{lib, len(fs), w.apis[name], w.apis[name].Symbols(lib)})
		}
	}
	return fs
}

var baseFunc = regexp.MustCompile(`(?m)^[a-z].*\b(kzb\d*_\w+)\([^;{]*\) \{`)

// scanBase finds the functions that c/base defines: a name there is its own
// announcement, as a method is in Go.
func (w *world) scanBase() error {
	w.base = map[string]bool{}
	files, err := filepath.Glob(filepath.Join(w.root, "c/base/*.c"))
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		w.announced(text)
	}
	for path, text := range w.files { // what was written just now
		if strings.HasPrefix(path, "c/base/") {
			w.announced(text)
		}
	}
	return nil
}

// announced notes the functions that a text of c/base defines.
func (w *world) announced(text []byte) {
	for _, m := range baseFunc.FindAllSubmatch(text, -1) {
		w.base[string(m[1])] = true
	}
}

var localInclude = regexp.MustCompile(`(?m)^#include "([a-y][^"]*)"`) // z: generated, and in the sum by its rows

// sharedHeaders is a sum of the text of c/base/host.h, where the structs are that base and Go image exchange, and of all that it includes.
func (w *world) sharedHeaders() (uint64, error) {
	sum := fnv.New64a()
	seen := map[string]bool{}
	list := []string{"host.h"}
	for len(list) > 0 {
		name := list[0]
		if list = list[1:]; seen[name] {
			continue
		}
		seen[name] = true
		text, err := os.ReadFile(filepath.Join(w.root, "c/base", name))
		if err != nil {
			return 0, err
		}
		_, _ = fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text) // a hash takes all
		for _, m := range localInclude.FindAllSubmatch(text, -1) {
			list = append(list, string(m[1]))
		}
	}
	return sum.Sum64(), nil
}

// answer says who answers a symbol of a library, and with which C function if the base does.
func (w *world) answer(f front, s spec.Symbol) (kind int, entry string) {
	// Few functions of the base depend on the default stream; for the others every variant is the same.
	for _, name := range []string{s.Name, s.Func.Name} {
		for _, prefix := range []string{fmt.Sprintf("kzb%d_", f.Major), "kzb_"} {
			if w.base[prefix+name] {
				return kindBase, prefix + name
			}
		}
	}
	if w.bound[s.Func] != nil {
		return kindGo, "kz_lazy_" + f.Key
	}
	return kindNone, "kz_none_" + f.Key
}

// writeTables writes what the base and the image know of interfaces and libraries. Functions are not in it: they are read from
// the lists of rows (rows.go), so these files change only with a library.
func writeTables(w *world) error {
	fs := w.fronts()
	var h, libs, records out
	h.header("//", apiFiles)
	h.f("#ifndef KZ_ZTABLE_H\n#define KZ_ZTABLE_H\n\n#define KZ_LIBRARIES %d\n", len(fs))
	var each []string
	for _, f := range fs {
		each = append(each, fmt.Sprintf("library %s, %d", f.Key, f.number))
		h.f("#define KZ_LIB_%s %d\n", f.Key, f.number)
	}
	h.f("\n#define KZ_FOR_LIBRARIES %s\n\n#define KZ_APIS %d\n", strings.Join(each, "; "), len(w.houses()))
	for i, r := range w.houses() {
		h.f("#define KZ_API_%s %d\n", r.api, i)
	}
	h.f("\n// Whose result codes: the arrays of zerror.c.\n")
	n := 0
	for _, r := range w.houses() {
		if r.Status != "" {
			h.f("#define KZ_ERRORS_%s %d\n", r.api, n)
			n++
		}
	}
	h.f("\n// Major versions, as sets.\n#define KZ_ALL (-1)\n")
	for i, m := range majors(fs) {
		h.f("#define KZ_V%d %d\n", m, 1<<i)
	}
	h.f("\n#ifndef __ASSEMBLER__\n#include <stdint.h>\n\n#include \"join.h\"\n\n")
	var sums []string
	for _, r := range w.houses() {
		h.f("#define KZ_API %s\n#define KZ_ROWS \"%s\"\n#include \"slots.inc\"\n#undef KZ_API\n#undef KZ_ROWS\n\n", r.api, rowsFile(r.api))
		sums = append(sums, fmt.Sprintf("(KZ_API_%[1]s + 1) * kz_hash_%[1]s()", r.api))
	}
	shared, err := w.sharedHeaders()
	if err != nil {
		return err
	}
	h.f("#include \"zshared.h\"\n\n// Both sides were generated from the same rows, and compiled with the same structs, when their sums are the same.\n")
	h.f("static inline uint64_t kz_hash(void) {\n\treturn KZ_SHARED +\n\t       %s;\n}\n#endif\n\n#endif\n", strings.Join(sums, " +\n\t       "))
	var s out
	s.header("//", "c/base/host.h and what it includes")
	s.f("// Their sum, beside what is compiled with them: the go command does not see that headers outside of a package change.\n#define KZ_SHARED %#xull\n", shared)
	w.files["internal/abi/zshared.h"] = s.Bytes()
	w.files["c/base/ztable.h"] = h.Bytes()

	libs.header("//", apiFiles)
	libs.f("#include \"base.h\"\n")
	for _, r := range w.houses() {
		libs.f("\n#define KZ_API %s\n#define KZ_ROWS \"%s\"\n#include \"names.inc\"\n\n", r.api, rowsFile(r.api))
		for _, f := range fs {
			if f.api.Name != r.api {
				continue
			}
			libs.f("#define KZ_KEY %s\n#define KZ_MAJOR %d\n#define KZ_IN %s\n#define KZ_CHILD_CODE %d\n#define KZ_EXIT_CODE %d\n#include \"library.inc\"\n", f.Key, f.Major, f.bit(), f.Child, f.Exit)
			libs.f("#undef KZ_KEY\n#undef KZ_MAJOR\n#undef KZ_IN\n#undef KZ_CHILD_CODE\n#undef KZ_EXIT_CODE\n\n")
			records.f("\t[KZ_LIB_%[2]s] = {%[1]q, kz_table_%[2]s, kz_table_%[2]s, kz_kind_%[2]s, kz_own_%[2]s, kz_offset_%[3]s, (const char *)&kz_text_%[3]s, kz_shape_%[3]s, (const char *)&kz_shapes_%[3]s, kz_count_%[2]s, KZ_SLOTS_%[3]s, KZ_API_%[3]s, %[4]d, %[5]d, kz_child_%[2]s, kz_exit_%[2]s, kz_lazy_%[2]s, kz_none_%[2]s, kz_traced_%[2]s, 0, 0},\n",
				f.Soname, f.Key, r.api, f.Unsupported, oneIf(r.LastError))
		}
		libs.f("#undef KZ_API\n#undef KZ_ROWS\n")
	}
	libs.f("\nstruct kz_library kz_libraries[KZ_LIBRARIES] = {\n%s};\n", records.String())
	w.files["c/base/zlibraries.c"] = libs.Bytes()
	w.codeFile()
	w.errorFile()
	return nil
}

// bit is the library's major version as c/base/ztable.h has it.
func (f front) bit() string { return inVersions(f.Major) }

// majors are the major versions that libraries have, oldest first.
func majors(fs []front) []int {
	var all []int
	for _, f := range fs {
		if f.Major != 0 && !slices.Contains(all, f.Major) {
			all = append(all, f.Major)
		}
	}
	slices.Sort(all)
	return all
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// codeFile writes the result codes of all interfaces as constants of C, for code that must not need a vendor's header.
func (w *world) codeFile() {
	var o out
	o.header("//", apiFiles)
	o.f("#ifndef KZ_ZCODES_H\n#define KZ_ZCODES_H\n")
	for _, t := range w.houses() {
		for _, e := range w.apis[t.api].Enums {
			if t.Status == "" || e.Name != t.Status {
				continue
			}
			o.f("\nenum { // %s\n", e.Name)
			for _, v := range e.Values {
				o.f("\tKZ_%s = %d,\n", v.Name, v.Value)
			}
			o.f("};\n")
		}
	}
	o.f("\n#endif\n")
	w.files["c/base/zcodes.h"] = o.Bytes()
}

// errorFile writes the names and descriptions of error codes of both interfaces.
func (w *world) errorFile() {
	var o out
	o.header("//", apiFiles)
	o.f("#include \"base.h\"\n\nstruct row {\n\tint code;\n\tconst char *name, *text;\n};\n")
	for _, t := range w.houses() {
		if t.Status == "" {
			continue
		}
		o.f("\nstatic const struct row %s[] = {\n", t.api)
		for _, e := range w.apis[t.api].Enums {
			if e.Name != t.Status {
				continue
			}
			seen := map[int64]bool{}
			for _, v := range e.Values {
				if !seen[v.Value] {
					o.f("\t{%d, %q, %q},\n", v.Value, v.Name, v.Text)
				}
				seen[v.Value] = true
			}
		}
		o.f("};\n")
	}
	o.f("\n#define COUNT(a) (sizeof(a) / sizeof *(a))\n\nstatic const struct {\n\tconst struct row *rows;\n\tsize_t n;\n} all[] = {\n")
	for _, h := range w.houses() {
		if h.Status != "" {
			o.f("\t[KZ_ERRORS_%[1]s] = {%[1]s, COUNT(%[1]s)},\n", h.api)
		}
	}
	o.f(`};

static const struct row *find(int code, int of) {
	for (size_t i = 0; i < all[of].n; i++)
		if (all[of].rows[i].code == code)
			return &all[of].rows[i];
	return NULL;
}

const char *kz_error_name(int code, int of) {
	const struct row *r = find(code, of);
	return r ? r->name : NULL;
}

const char *kz_error_text(int code, int of) {
	const struct row *r = find(code, of);
	return r ? r->text : NULL;
}
`)
	w.files["c/base/zerror.c"] = o.Bytes()
}
