package main

import (
	"fmt"
	"go/format"
	"strings"

	"kudzu/internal/spec"
)

// goFile turns collected text into a formatted Go file.
func (w *world) goFile(path string, o *out) error {
	text, err := format.Source(o.Bytes())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	w.files[path] = text
	return nil
}

func writeGoTypes(w *world) error {
	for _, p := range w.houses() {
		g := &goTypes{w: w, api: w.apis[p.api], pkg: p.Package, names: map[string]bool{}, imports: map[string]bool{}}
		g.scopes = map[int]*spec.Scope{12: g.api.Scope(12), 13: g.api.Scope(13)}
		dir, from := "internal/spec/"+p.Package+"/", "internal/spec/"+p.api+".api"

		var enums out
		enums.header("//", from)
		enums.f("// Package %s holds the constants, handles and structures of %s under the names\n// the vendor gives them, first letter raised where Go needs that to export.\npackage %s\n\n", p.Package, p.doc, p.Package)
		g.consts(&enums)
		g.enums(&enums)
		if err := w.goFile(dir+"zenum_"+p.api+".go", &enums); err != nil {
			return err
		}
		var structs out
		structs.header("//", from)
		var body out
		g.typedefs(&body)
		if err := g.structs(&body); err != nil {
			return err
		}
		structs.f("package %s\n\nimport (\n\"structs\"\n\"unsafe\"\n", p.Package)
		for _, path := range sortedKeys(g.imports) {
			structs.f("\n%q\n", path)
		}
		structs.f(")\n\n%s", body.String())
		if err := w.goFile(dir+"zstruct_"+p.api+".go", &structs); err != nil {
			return err
		}
		if g.checks.String() == "" {
			continue // no structures
		}
		var test out
		test.header("//", from)
		test.f("package %s\n\nimport (\n\"testing\"\n\"unsafe\"\n)\n\n", p.Package)
		test.f("// TestLayout holds every structure against the layout computed from the table.\nfunc TestLayout(t *testing.T) {\n")
		test.f("rows := []struct{ name string; got, want uintptr }{\n%s}\n", g.checks.String())
		test.f("for _, r := range rows {\nif r.got != r.want {\nt.Errorf(\"%%s is %%d, want %%d\", r.name, r.got, r.want)\n}\n}\n}\n")
		if err := w.goFile(dir+"zlayout_"+p.api+"_test.go", &test); err != nil {
			return err
		}
	}
	return nil
}

type goTypes struct {
	w      *world
	api    *spec.API
	pkg    string
	scopes map[int]*spec.Scope
	names  map[string]bool
	checks out

	imports map[string]bool // packages of included interfaces that a type names
}

// goName raises the first letter so that the name is exported.
func goName(s string) string {
	s = strings.TrimLeft(s, "_")
	return strings.ToUpper(s[:1]) + s[1:]
}

// major picks the scope a row is laid out in: rows of 12 only are laid out in 12.
func major(s spec.Span) int {
	if s.In(13) {
		return 13
	}
	return 12
}

// once reports whether a name is new. A row of 12 beside one of 13 gets a suffix instead.
func (g *goTypes) once(name string, s spec.Span) (string, bool) {
	n := goName(name)
	if s.Only == 12 {
		n += "_12"
	}
	if g.names[n] {
		return n, false
	}
	g.names[n] = true
	return n, true
}

func (g *goTypes) consts(o *out) {
	o.f("const (\n")
	for _, c := range g.api.Consts {
		value := c.Value
		if value[0] != '-' && (value[0] < '0' || value[0] > '9') {
			value = goName(value)
			if g.isType(c.Value) {
				continue // a macro that renames a type: the typedef rows have what Go needs
			}
		}
		if n, ok := g.once(c.Name, c.Span); ok {
			o.f("%s = %s\n", n, value)
		}
	}
	o.f(")\n\n")
}

func (g *goTypes) isType(name string) bool {
	t := &spec.Type{Name: name}
	return g.scopes[13].Enum(t) != nil || g.scopes[13].Struct(t) != nil
}

func (g *goTypes) enums(o *out) {
	for _, e := range g.api.Enums {
		name, ok := g.once(e.Name, e.Span)
		if !ok {
			continue
		}
		under := "int32"
		for _, v := range e.Values {
			if v.Value > 0x7fffffff {
				under = "uint32"
			}
		}
		o.f("type %s %s\n\nconst (\n", name, under)
		for _, v := range e.Values {
			if n, ok := g.once(v.Name, v.Span); ok {
				o.f("%s %s = %d\n", n, name, v.Value)
			}
		}
		o.f(")\n\n")
	}
}

func (g *goTypes) typedefs(o *out) {
	o.f("// An address in the caller's memory is a uint64 here: these structures are read\n// and written in foreign memory, and Go must not take its contents for pointers.\n\n")
	for _, t := range g.api.Typedefs {
		name, ok := g.once(t.Name, t.Span)
		if !ok {
			continue
		}
		switch t.Kind {
		case spec.Handle, spec.Callback:
			o.f("type %s uint64\n\n", name)
		case spec.Alias:
			o.f("type %s = %s\n\n", name, g.goType(t.Type, major(t.Span)))
		}
	}
}

func (g *goTypes) goType(t *spec.Type, major int) string {
	switch {
	case t.Ptr:
		return "uint64"
	case t.Len > 0:
		return fmt.Sprintf("[%d]%s", t.Len, g.goType(t.Elem, major))
	}
	if p, ok := spec.Prims[t.Name]; ok {
		return p.Go
	}
	if st := g.scopes[major].Struct(t); st != nil && st.Only == 12 {
		return g.home(t.Name) + goName(st.Name) + "_12"
	}
	return g.home(t.Name) + goName(t.Name)
}

// home is the qualifier of a type that an included interface declares.
func (g *goTypes) home(name string) string {
	var find func(a *spec.API) string
	find = func(a *spec.API) string {
		if a.Declares(name) {
			return a.Name
		}
		for _, in := range a.Includes {
			if api := find(in); api != "" {
				return api
			}
		}
		return ""
	}
	api := find(g.api)
	if api == "" || api == g.api.Name {
		return ""
	}
	pkg := g.w.house(api).Package
	g.imports[module+"/internal/spec/"+pkg] = true
	return pkg + "."
}

func (g *goTypes) structs(o *out) error {
	for _, st := range g.api.Structs {
		name, ok := g.once(st.Name, st.Span)
		if !ok {
			continue
		}
		if err := g.structure(o, name, st, major(st.Span)); err != nil {
			return err
		}
	}
	o.f("var (\n_ structs.HostLayout\n_ unsafe.Pointer // unions are reached through their address\n)\n")
	return nil
}

// structure writes one type and, after it, the types of its inner groups.
func (g *goTypes) structure(o *out, name string, st *spec.Struct, major int) error {
	l, err := g.scopes[major].Layout(st)
	if err != nil {
		return err
	}
	g.checks.f("{%q, unsafe.Sizeof(%s{}), %d},\n", name, name, l.Size)
	if st.Union {
		return g.union(o, name, st, major, l)
	}
	var inner []func() error
	o.f("type %s struct {\n_ structs.HostLayout\n\n", name)
	for i, f := range st.Fields {
		if f.Inner == nil {
			o.f("%s %s\n", goName(f.Name), g.goType(f.Type, major))
			g.checks.f("{%q, unsafe.Offsetof(%s{}.%s), %d},\n", name+"."+f.Name, name, goName(f.Name), l.Offsets[i])
			continue
		}
		in := innerName(name, f, i)
		if f.Name == "" {
			o.f("%s\n", in)
		} else {
			o.f("%s %s%s\n", goName(f.Name), count(f), in)
			g.checks.f("{%q, unsafe.Offsetof(%s{}.%s), %d},\n", name+"."+f.Name, name, goName(f.Name), l.Offsets[i])
		}
		inner = append(inner, func() error { return g.structure(o, in, f.Inner, major) })
	}
	o.f("}\n\n")
	for _, fn := range inner {
		if err := fn(); err != nil {
			return err
		}
	}
	return nil
}

func innerName(name string, f *spec.Field, i int) string {
	if f.Name == "" {
		return fmt.Sprintf("%s_%d", name, i)
	}
	return name + "_" + f.Name
}

func count(f *spec.Field) string {
	if f.Count > 0 {
		return fmt.Sprintf("[%d]", f.Count)
	}
	return ""
}

// union writes storage of the right size and alignment with one accessor a member.
func (g *goTypes) union(o *out, name string, st *spec.Struct, major int, l spec.Layout) error {
	unit := map[int]string{1: "byte", 2: "uint16", 4: "uint32", 8: "uint64"}[min(l.Align, 8)]
	o.f("type %s struct {\n_ structs.HostLayout\n\nraw [%d]%s\n}\n\n", name, l.Size/min(l.Align, 8), unit)
	for i, f := range st.Fields {
		if f.Inner == nil {
			o.f("func (u *%s) %s() *%s { return (*%s)(unsafe.Pointer(u)) }\n\n", name, goName(f.Name), g.goType(f.Type, major), g.goType(f.Type, major))
			continue
		}
		in := innerName(name, f, i)
		if err := g.structure(o, in, f.Inner, major); err != nil {
			return err
		}
		method := fmt.Sprintf("Group%d", i)
		if f.Name != "" {
			method = goName(f.Name)
		}
		o.f("func (u *%s) %s() *%s%s { return (*%s%s)(unsafe.Pointer(u)) }\n\n", name, method, count(f), in, count(f), in)
	}
	return nil
}
