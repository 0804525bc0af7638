package main

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"sort"
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

var baseFunc = regexp.MustCompile(`(?m)^[a-z].*\b(kzb\d*_\w+)\([^;]*\) \{`)

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
		for _, m := range baseFunc.FindAllSubmatch(text, -1) {
			w.base[string(m[1])] = true
		}
	}
	return nil
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

func writeTables(w *world) error {
	fs := w.fronts()
	hash := fnv.New64a()
	var h, libs out
	h.header("//", apiFiles)
	h.f("#ifndef KZ_ZTABLE_H\n#define KZ_ZTABLE_H\n\n#define KZ_LIBRARIES %d\n", len(fs))
	libs.header("//", apiFiles)
	libs.f("#include \"base.h\"\n\n")
	var each []string
	for _, f := range fs {
		each = append(each, fmt.Sprintf("library %s, %d", f.Key, f.number))
		h.f("\n#define KZ_LIB_%s %d\n", f.Key, f.number)
		for i, s := range f.syms {
			h.f("#define KZ_%s_%s %d\n", f.Key, s.Name, i)
			kind, _ := w.answer(f, s)
			fmt.Fprintf(hash, "%s.%s=%d\n", f.Key, s.Name, kind)
		}
		w.tableFile(f)
		libs.f("extern void *kz_table_%[1]s[];\nextern const uint8_t kz_kind_%[1]s[];\nextern const uint16_t kz_offset_%[1]s[];\nextern const char kz_names_%[1]s[];\nextern _Atomic uint32_t kz_count_%[1]s[];\nextern char kz_lazy_%[1]s[], kz_none_%[1]s[];\nstatic int child_%[1]s(void) { return %[2]d; }\nstatic int exit_%[1]s(void) { return %[3]d; }\n\n", f.Key, f.Child, f.Exit)
	}
	h.f("\n#define KZ_HASH 0x%016xull\n\n#define KZ_FOR_LIBRARIES %s\n\n#endif\n", hash.Sum64(), strings.Join(each, "; "))
	libs.f("struct kz_library kz_libraries[KZ_LIBRARIES] = {\n")
	for _, f := range fs {
		libs.f("\t{%q, kz_table_%[2]s, kz_kind_%[2]s, kz_offset_%[2]s, kz_names_%[2]s, kz_count_%[2]s, %[3]d, %[4]d, %[5]d, child_%[2]s, exit_%[2]s, kz_lazy_%[2]s, kz_none_%[2]s, 0},\n",
			f.Soname, f.Key, len(f.syms), f.Unsupported, oneIf(f.api.Name == "cudart"))
	}
	libs.f("};\n")
	w.files["c/base/ztable.h"] = h.Bytes()
	w.files["c/base/zlibraries.c"] = libs.Bytes()
	w.errorFile()
	return w.procFile(fs)
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tableFile writes the arrays of one library.
func (w *world) tableFile(f front) {
	var o, externs, rows, kinds, offsets, names out
	seen := map[string]bool{}
	at := 0
	for i, s := range f.syms {
		kind, entry := w.answer(f, s)
		if !seen[entry] {
			seen[entry] = true
			externs.f("extern char %s[];\n", entry)
		}
		rows.f("\t%s, // %d %s\n", entry, i, s.Name)
		kinds.f("%d,", kind)
		offsets.f("%d,", at)
		if i%24 == 23 {
			kinds.f("\n\t")
			offsets.f("\n\t")
		}
		names.f("\t\"%s\\0\"\n", s.Name)
		at += len(s.Name) + 1
	}
	o.header("//", "internal/spec/"+f.api.Name+".api")
	o.f("#include \"base.h\"\n\n%s\n", externs.String())
	o.f("KZ_EXPORT void *kz_table_%s[] = {\n%s};\n\n", f.Key, rows.String())
	o.f("const uint8_t kz_kind_%s[] = {\n\t%s};\n\n", f.Key, strings.TrimSpace(kinds.String()))
	o.f("const uint16_t kz_offset_%s[] = {\n\t%s};\n\n", f.Key, strings.TrimSpace(offsets.String()))
	o.f("const char kz_names_%s[] =\n%s\t;\n\n", f.Key, names.String())
	o.f("_Atomic uint32_t kz_count_%s[%d];\n", f.Key, 2*len(f.syms))
	w.files["c/base/ztable_"+f.Key+".c"] = o.Bytes()
}

// procFile writes what cuGetProcAddress is answered from.
func (w *world) procFile(fs []front) error {
	var drv *front
	for i := range fs {
		if fs[i].Key == "cuda" {
			drv = &fs[i]
		}
	}
	if drv == nil {
		return fmt.Errorf("no library with key cuda")
	}
	type variant struct{ rev, since, symbol, ptSince, pt int }
	byBase := map[string][]variant{}
	index := map[string]int{}
	for i, s := range drv.syms {
		index[s.Name] = i
	}
	for _, f := range drv.api.Funcs {
		if f.Opaque {
			continue
		}
		v := variant{rev: f.Revision(), since: int(f.Since), symbol: index[f.Name]}
		if f.PTSZ != 0 {
			v.ptSince, v.pt = int(f.PTSZ), index[f.Name+"_ptsz"]
		} else if f.PTDS != 0 {
			v.ptSince, v.pt = int(f.PTDS), index[f.Name+"_ptds"]
		}
		byBase[f.Base()] = append(byBase[f.Base()], v)
	}
	var h, procs, variants, o out
	n := 0
	for _, base := range sortedKeys(byBase) {
		vs := byBase[base]
		sort.Slice(vs, func(i, j int) bool { return vs[i].rev < vs[j].rev })
		procs.f("\t{\"%s\", %d, %d},\n", base, n, len(vs))
		for _, v := range vs {
			variants.f("\t{%d, %d, %d, %d}, // %s\n", v.since, v.ptSince, v.symbol, v.pt, drv.syms[v.symbol].Name)
		}
		n += len(vs)
	}
	h.header("//", "internal/spec/cuda.api")
	h.f("#ifndef KZ_ZPROC_H\n#define KZ_ZPROC_H\n\n#include <stdint.h>\n\n")
	h.f("// A name as cuGetProcAddress knows it, and its variants, oldest first.\nstruct kz_proc {\n\tconst char *name;\n\tuint16_t first, count;\n};\n\n")
	h.f("struct kz_variant {\n\tint32_t since, per_thread_since;\n\tuint16_t symbol, per_thread;\n};\n\n")
	h.f("#define KZ_PROCS %d\n\nextern const struct kz_proc kz_procs[];\nextern const struct kz_variant kz_variants[];\n\n#endif\n", len(byBase))
	o.header("//", "internal/spec/cuda.api")
	o.f("#include \"zproc.h\"\n\nconst struct kz_proc kz_procs[] = {\n%s};\n\nconst struct kz_variant kz_variants[] = {\n%s};\n", procs.String(), variants.String())
	w.files["c/base/zproc.h"] = h.Bytes()
	w.files["c/base/zproc.c"] = o.Bytes()
	return nil
}

// errorFile writes the names and descriptions of error codes of both interfaces.
func (w *world) errorFile() {
	var o out
	o.header("//", apiFiles)
	o.f("#include \"base.h\"\n\nstruct row {\n\tint code;\n\tconst char *name, *text;\n};\n")
	for _, t := range houses {
		if t.errors == "" {
			continue
		}
		o.f("\nstatic const struct row %s[] = {\n", t.errorArray)
		for _, e := range w.apis[t.api].Enums {
			if e.Name != t.errors {
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
	for _, h := range houses {
		if h.errors != "" {
			o.f("\t[KZ_ERRORS_%[1]s] = {%[1]s, COUNT(%[1]s)},\n", h.errorArray)
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
