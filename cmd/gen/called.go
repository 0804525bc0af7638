package main

import (
	"fmt"
	"strings"

	"kudzu/internal/spec"
)

// writeCalled writes the constants of every callee and the functions we call, with their parameters: calls are checked by it.
func writeCalled(w *world) error {
	for _, c := range w.callees() {
		api := w.apis[c.api]
		var o out
		o.header("//", "internal/spec/"+c.api+".api")
		o.f("// Package %s holds the numbers of %s's interface and the functions of it that we call, under the names the vendor gives\n// them, first letter raised.\npackage %s\n\n", c.api, c.what, c.api)
		o.f("// Func is a function of %s.\ntype Func uint16\n\n// The functions we call.\nconst (\n", c.what)
		var funcs []*spec.Func
		for _, f := range api.Funcs {
			if !f.Opaque {
				funcs = append(funcs, f)
			}
		}
		for i, f := range funcs {
			o.f("\t%s", goName(f.Name))
			if i == 0 {
				o.f(" Func = iota")
			}
			o.f("\n")
		}
		o.f("\t// NumFuncs is how many there are.\n\tNumFuncs\n)\n\n")
		if err := w.writeRows(&o, c, funcs); err != nil {
			return err
		}
		for _, e := range api.Enums {
			o.f("// The values of %s.\nconst (\n", e.Name)
			for _, v := range e.Values {
				o.f("\t%s = %d\n", goName(v.Name), v.Value)
			}
			o.f(")\n\n")
			if err := w.writeDelta(&o, c, e); err != nil {
				return err
			}
		}
		if len(api.Consts) > 0 {
			o.f("// Flags, and where things lie.\nconst (\n")
			for _, v := range api.Consts {
				o.f("\t%s = %s\n", strings.ReplaceAll(goName(v.Name), "_", ""), v.Value)
			}
			o.f(")\n")
		}
		if err := w.goFile("internal/spec/"+c.api+"/z"+c.api+".go", &o); err != nil {
			return err
		}
	}
	return nil
}

// writeRows writes what a call must know of each function, and how one is found: by CUDA's name for what it stands in for, or by
// its own name (c.Named). A library that is like none of CUDA's has names and counts only.
func (w *world) writeRows(o *out, c called, funcs []*spec.Func) error {
	o.f("// Row is what a call must know of a function.\ntype Row struct {\n\tName string\n\tParams int\n")
	typed := c.Alike || c.Named
	if typed {
		o.f("\tArgs []Kind\n")
	}
	if c.Alike {
		o.f("\tByHand bool // its parameters are not CUDA's one by one\n\tSince int // ROCm's major version, 0: any\n")
	}
	o.f("}\n\n")
	if typed {
		w.writeKinds(o, c)
	}
	o.f("// Rows are the functions by number.\nvar Rows = [NumFuncs]Row{\n")
	for _, f := range funcs {
		o.f("\t%s: {%q, %d", goName(f.Name), f.Name, len(f.Params))
		if typed {
			kinds, err := w.kindsOf(c, f)
			if err != nil {
				return err
			}
			o.f(", []Kind{%s}", kinds)
		}
		if c.Alike {
			o.f(", %v, %d", f.Go == byHand, int(f.Since)/1000)
		}
		o.f("},\n")
	}
	o.f("}\n\n")
	if !typed {
		return nil
	}
	if c.Named {
		o.f("// ByName finds a function.\nvar ByName = map[string]Func{\n")
	} else {
		o.f("// ByCUDA finds the function that stands in for one of CUDA's.\nvar ByCUDA = map[string]Func{\n")
	}
	for _, f := range funcs {
		name := f.For
		if c.Named {
			name = f.Name
		}
		o.f("\t%q: %s,\n", name, goName(f.Name))
	}
	o.f("}\n\n")
	return nil
}

// writeKinds writes what parameters may be, and how each is made of CUDA's.
func (w *world) writeKinds(o *out, c called) {
	o.f("// Kind is what a parameter is.\ntype Kind uint8\n\n// The kinds: numbers of 32 and 64 bits, addresses, the library's handle, and enumerations.\nconst (\n\tInt32 Kind = iota\n\tInt64\n\tPointer\n\tHandle\n")
	var enums []*spec.Enum
	for _, e := range w.apis[c.api].Enums {
		if e.For != "" {
			o.f("\tKind%s\n", goName(e.Name))
			enums = append(enums, e)
		}
	}
	o.f(")\n\n// From turns CUDA's value of an argument into this library's; false where it has none. Numbers stay as they are.\nfunc (k Kind) From(v int64) (int64, bool) {\n\tswitch k {\n\tcase Int32, Int64, Pointer, Handle:\n\t\treturn v, true\n")
	for _, e := range enums {
		o.f("\tcase Kind%s:\n\t\treturn From%s(v)\n", goName(e.Name), goName(e.For))
	}
	o.f("\t}\n\treturn 0, false\n}\n\n")
}

// byHand marks a function whose parameters are not CUDA's one by one.
const byHand = "byHand"

// kindsOf lists the kinds of a function's parameters.
func (w *world) kindsOf(c called, f *spec.Func) (string, error) {
	var kinds []string
	for _, p := range f.Params {
		k, err := kindOf(w.apis[c.api], w.apis[c.api].Scope(13), p)
		if err != nil {
			return "", fmt.Errorf("%s.api: %s: %w", c.api, f.Name, err)
		}
		kinds = append(kinds, k)
	}
	return strings.Join(kinds, ", "), nil
}

// kindOf is the name of a parameter's kind.
func kindOf(api *spec.API, scope *spec.Scope, p spec.Param) (string, error) {
	if p.Type.Ptr {
		return "Pointer", nil
	}
	for _, e := range api.Enums {
		if e.Name == p.Type.Name {
			if e.For == "" {
				return "Int32", nil
			}
			return "Kind" + goName(e.Name), nil
		}
	}
	if strings.HasSuffix(p.Type.Name, "_handle") {
		return "Handle", nil
	}
	size, _, err := scope.Size(p.Type)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Int%d", 8*size), nil
}

// writeDelta writes how an enumeration and the one of CUDA it stands in for turn into each other.
func (w *world) writeDelta(o *out, c called, e *spec.Enum) error {
	if e.For == "" {
		return nil
	}
	values, err := w.cudaEnum(c, e.For)
	if err != nil {
		return err
	}
	name := goName(e.For)
	o.f("// From%s is the value of %s for one of %s.\nfunc From%s(v int64) (int64, bool) {\n\tswitch v {\n", name, e.Name, e.For, name)
	seen := map[int64]bool{}
	for _, v := range e.Values {
		n, ok := values[v.For]
		if v.For != "" && !ok {
			return fmt.Errorf("%s.api: %s: %s has no %s", c.api, v.Name, e.For, v.For)
		}
		if v.For == "" || seen[n] { // several may mean one: the first is what it becomes
			continue
		}
		seen[n] = true
		o.f("\tcase %d:\n\t\treturn %s, true\n", n, goName(v.Name))
	}
	o.f("\t}\n\treturn 0, false\n}\n\n// To%s is the value of %s for one of %s.\nfunc To%s(v int64) (int64, bool) {\n\tswitch v {\n", name, e.For, e.Name, name)
	clear(seen)
	for _, v := range e.Values {
		if v.For == "" || seen[v.Value] {
			continue
		}
		seen[v.Value] = true
		o.f("\tcase %s:\n\t\treturn %d, true\n", goName(v.Name), values[v.For])
	}
	o.f("\t}\n\treturn 0, false\n}\n\n")
	return nil
}

// cudaEnum are the enumerators of one of CUDA's enumerations.
func (w *world) cudaEnum(c called, name string) (map[string]int64, error) {
	for _, from := range c.For {
		for _, e := range w.apis[from].Enums {
			if e.Name != name {
				continue
			}
			m := map[string]int64{}
			for _, v := range e.Values {
				m[v.Name] = v.Value
			}
			return m, nil
		}
	}
	return nil, fmt.Errorf("%s.api: for %s: CUDA has no such enumeration", c.api, name)
}
