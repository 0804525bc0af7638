package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"kudzu/internal/spec"
)

// needs is what a program asks of the libraries under it.
type needs struct {
	Libraries []need   `json:"libraries"`
	Functions []called `json:"functions"`
}

// need is a library the program is linked with.
type need struct {
	Name string `json:"name"`
	Ours bool   `json:"ours"`
}

// called is a function of an interface of ours that the program names.
type called struct {
	Name    string `json:"name"`
	Library string `json:"library"`
	Linked  bool   `json:"linked"` // imported; else its name is only in the program's text, to be looked up
	State   string `json:"state"`  // implemented, missing, unknown
}

// states of a function.
const (
	stateHave    = "implemented"
	stateMissing = "missing"
	stateUnknown = "unknown" // we could not look into our own libraries
)

// table is what our libraries offer: by soname, the functions with whether they are answered.
type table map[string]map[string]bool

// needsOf looks into a program's dynamic section and its text.
func needsOf(data []byte, libs string) *needs {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	offered, prefixes, err := offers()
	if err != nil {
		return nil
	}
	n := &needs{}
	names, err := f.ImportedLibraries()
	if err != nil {
		names = nil // static, or damaged: no list
	}
	for _, lib := range names {
		n.Libraries = append(n.Libraries, need{lib, offered[lib] != nil || slices.Contains(spec.InC, lib)})
	}
	missing := missingIn(libs)
	seen := map[string]bool{}
	imported, err := f.ImportedSymbols()
	if err != nil {
		imported = nil
	}
	add := func(name, hint string, linked bool) {
		if hint != "" && offered[hint] == nil {
			return // of a library that stays the vendor's
		}
		lib := ""
		for _, soname := range append([]string{hint}, sortedSonames(offered)...) {
			if offered[soname][name] {
				lib = soname
				break
			}
		}
		if lib == "" || seen[name] {
			return
		}
		seen[name] = true
		state := stateUnknown
		if missing != nil {
			state = stateHave
			if missing[lib][name] {
				state = stateMissing
			}
		}
		n.Functions = append(n.Functions, called{name, lib, linked, state})
	}
	for _, s := range imported {
		add(s.Name, s.Library, true)
	}
	for _, s := range f.Sections {
		if s.Name != ".rodata" && s.Name != ".data.rel.ro" && s.Name != ".data" || s.Offset >= uint64(len(data)) {
			continue
		}
		for _, word := range cWords(data[s.Offset:min(s.Offset+s.FileSize, uint64(len(data)))], prefixes) {
			add(word, "", false)
		}
	}
	sort.Slice(n.Functions, func(i, j int) bool { return n.Functions[i].Name < n.Functions[j].Name })
	return n
}

func sortedSonames(t table) []string {
	var s []string
	for k := range t {
		s = append(s, k)
	}
	sort.Strings(s)
	return s
}

// offers reads the tables of the interfaces: what each library has, and what their names begin with.
func offers() (out table, prefixes []string, err error) {
	out = table{}
	for _, name := range spec.Names() {
		api, err := spec.Load(name)
		if err != nil {
			return nil, nil, err
		}
		if api.Answered != nil {
			prefixes = append(prefixes, api.Answered.Prefix)
		}
		for _, lib := range api.Libraries {
			out[lib.Soname] = map[string]bool{}
			for _, s := range api.Symbols(lib) {
				out[lib.Soname][s.Name] = true
			}
			for _, part := range lib.Parts {
				out[part] = out[lib.Soname]
			}
		}
	}
	return out, prefixes, nil
}

// missingIn asks our base library, by its own tables, what is not answered; nil if it cannot be read. The tables lie in the
// file as they do in memory: names one after another, a byte for each that says who answers.
func missingIn(dir string) table {
	f, err := elf.Open(filepath.Join(dir, "libkudzu-base.so"))
	if err != nil {
		return nil
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		return nil
	}
	at := map[string]elf.Symbol{}
	for _, s := range syms {
		at[s.Name] = s
	}
	out := table{}
	for _, name := range spec.Names() {
		api, err := spec.Load(name)
		if err != nil {
			return nil
		}
		slots := api.Slots()
		for _, lib := range api.Libraries {
			kinds := symbolBytes(f, at["kz_kind_"+lib.Key])
			if len(kinds) != len(slots) {
				return nil // of another build
			}
			out[lib.Soname] = map[string]bool{}
			for i, s := range slots {
				if kinds[i] == 0 && s.Func.In(lib.Major) {
					out[lib.Soname][s.Name] = true
				}
			}
			for _, part := range lib.Parts {
				out[part] = out[lib.Soname]
			}
		}
	}
	return out
}

func symbolBytes(f *elf.File, s elf.Symbol) []byte {
	if int(s.Section) <= 0 || int(s.Section) >= len(f.Sections) {
		return nil
	}
	sec := f.Sections[s.Section]
	b := make([]byte, min(s.Size, 1<<16))
	if s.Value < sec.Addr {
		return nil
	}
	if _, err := io.ReadFull(io.NewSectionReader(sec, int64(s.Value-sec.Addr), int64(len(b))), b); err != nil {
		return nil
	}
	return b
}

// cWords are the texts in a section that could be a function's name of ours.
func cWords(b []byte, prefixes []string) []string {
	var words []string
	for part := range bytes.SplitSeq(b, []byte{0}) {
		ours := func(prefix string) bool { return bytes.HasPrefix(part, []byte(prefix)) }
		if len(part) > 4 && len(part) < 80 && slices.ContainsFunc(prefixes, ours) {
			words = append(words, string(part))
		}
	}
	return words
}

// missing are the functions that are not answered; imported ones only if linked.
func (n *needs) missing(linked bool) []string {
	var names []string
	for _, c := range n.Functions {
		if c.State == stateMissing && c.Linked == linked {
			names = append(names, c.Name)
		}
	}
	return names
}

func (n *needs) print(out io.Writer) {
	var ours, others []string
	for _, l := range n.Libraries {
		if l.Ours {
			ours = append(ours, l.Name)
		} else {
			others = append(others, l.Name)
		}
	}
	if len(ours)+len(others) > 0 {
		fmt.Fprintf(out, "libraries  from Kudzu: %s; others: %s\n", orNone(ours), orNone(others))
	}
	linked, byName := 0, 0
	for _, c := range n.Functions {
		if c.Linked {
			linked++
		} else {
			byName++
		}
	}
	if linked+byName > 0 {
		fmt.Fprintf(out, "functions  %d linked, not implemented: %s; %d names in its text, not implemented: %s\n",
			linked, orNone(n.missing(true)), byName, orNone(n.missing(false)))
		if slices.ContainsFunc(n.Functions, func(c called) bool { return c.State == stateUnknown }) {
			fmt.Fprintln(out, "           whether they are implemented is not known: no libraries of this build found")
		}
	}
}

func orNone(s []string) string {
	if len(s) == 0 {
		return "none"
	}
	return strings.Join(s, " ")
}
