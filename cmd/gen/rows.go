package main

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"sort"
	"strings"

	"kudzu/internal/spec"
)

// rowsFile is the list of an interface's functions that the C side reads. It lies in internal/abi, because the go command sees
// changes of a package's own headers only.
func rowsFile(api string) string { return "zrows_" + api + ".h" }

// inVersions is a set of major versions in the words of c/base/ztable.h.
func inVersions(majors ...int) string {
	var words []string
	for _, m := range majors {
		if m == 0 {
			return "KZ_ALL"
		}
		words = append(words, fmt.Sprintf("KZ_V%d", m))
	}
	return strings.Join(words, "|")
}

// writeRowLists writes, for every interface, one line an exported name: c/base/rows.inc says what it means. A line holds no number
// that another row could change; its slot is its place.
func writeRowLists(w *world) error {
	fs := w.fronts()
	for _, r := range w.houses() {
		api := w.apis[r.api]
		var o out
		o.header("//", "internal/spec/"+r.api+".api and the methods that exist")
		o.f("// c/base/rows.inc says how to read it.\n\n")
		for _, f := range api.Funcs {
			lines := 0
			for _, s := range f.Symbols() {
				line, err := w.rowLine(fs, api, s)
				if err != nil {
					return err
				}
				if line == "" {
					continue
				}
				shape, err := traceShape(api, f)
				if err != nil {
					return fmt.Errorf("%s: %w", s.Name, err)
				}
				line += ", " + shape
				o.f("%s, 0x%08x)\n", line, crc32.ChecksumIEEE([]byte(line)))
				lines++
			}
			if b := w.bound[f]; b != nil && lines == 0 {
				return fmt.Errorf("%s: method %s is never called: no library has row %s", w.fset.Position(b.method.Pos()), b.method.Name(), f.Name)
			}
		}
		if r.Room == "driver" {
			w.procLines(&o, api)
		}
		w.files["internal/abi/"+rowsFile(r.api)] = o.Bytes()
	}
	return nil
}

// rowLine is the line of one name without its checksum, "" where no library has it.
func (w *world) rowLine(fs []front, api *spec.API, s spec.Symbol) (string, error) {
	var majors []int
	kinds, entries := map[int]bool{}, map[string]bool{}
	kind := kindNone
	entry := ""
	for _, f := range fs {
		if f.api != api || !s.Func.In(f.Major) {
			continue
		}
		majors = append(majors, f.Major)
		kind, entry = w.answer(f, s)
		kinds[kind], entries[entry] = true, true
	}
	switch {
	case len(majors) == 0:
		return "", nil
	case len(kinds) > 1:
		return "", fmt.Errorf("%s is answered by c/base in some versions and by Go in others: give them rows of their own", s.Name)
	case kind != kindGo && w.bound[s.Func] != nil && s.Variant == "":
		return "", fmt.Errorf("%s has a method and is answered by c/base", s.Name)
	}
	in := inVersions(majors...)
	if len(majors) == len(api.Libraries) {
		in = "KZ_ALL"
	}
	row := rowName(s.Func)
	slot := row
	if s.Variant != "" {
		slot += "_" + s.Variant
	}
	switch kind {
	case kindNone:
		return fmt.Sprintf("NONE(%s, %s, %s", in, slot, s.Name), nil
	case kindBase:
		if len(entries) > 1 {
			_, name, _ := strings.Cut(entry, "_")
			return fmt.Sprintf("EACH(%s, %s, %s, %s", in, slot, s.Name, name), nil
		}
		return fmt.Sprintf("BASE(%s, %s, %s, %s", in, slot, s.Name, entry), nil
	}
	b := w.bound[s.Func]
	door := cmp.Or(s.Func.Door, "plain")
	if s.Func.Ends {
		door = "ends"
	}
	sig, err := w.signature(b)
	if s.Variant != "" {
		return fmt.Sprintf("VARIANT(%s, %s, %s, %s, %s, %s", in, slot, s.Name, row, sig, door), err
	}
	return fmt.Sprintf("GO(%s, %s, %s, %s, %s", in, slot, s.Name, sig, door), err
}

// procLines writes what cuGetProcAddress is answered from: the versions of each name, oldest first.
func (w *world) procLines(o *out, api *spec.API) {
	type variant struct {
		name string
		rev  int
		line string
	}
	var all []variant
	for _, f := range api.Funcs {
		if f.Opaque {
			continue
		}
		v := variant{name: f.Base(), rev: f.Revision()}
		since, pt := spec.Version(0), f.Name
		if f.PTSZ != 0 {
			since, pt = f.PTSZ, f.Name+"_ptsz"
		} else if f.PTDS != 0 {
			since, pt = f.PTDS, f.Name+"_ptds"
		}
		v.line = fmt.Sprintf("PROC(%s, %d, %s, %d, %s)\n", v.name, f.Since, f.Name, since, pt)
		all = append(all, v)
	}
	sort.SliceStable(all, func(i, j int) bool {
		if all[i].name != all[j].name {
			return all[i].name < all[j].name
		}
		return all[i].rev < all[j].rev
	})
	o.f("\n")
	for _, v := range all {
		o.f("%s", v.line)
	}
}
