package main

import (
	"fmt"
	"go/types"
	"path"
	"sort"
	"strings"

	"kudzu/internal/spec"
)

// writeBind writes, for every bound row, the function that unpacks its arguments, calls the method and stores its results, and
// for every interface the list of them.
func writeBind(w *world) error {
	var o out
	o.header("//", apiFiles)
	o.f("package bind\n\nimport \"%s/internal/abi\"\n\n// Handlers serve the stubs: an interface each, in the order of their numbers, which are KZ_API_* in c/base/ztable.h.\nvar Handlers = [...][]abi.Handler{\n", module)
	for _, r := range w.houses() {
		var list []*binding
		for _, b := range w.order {
			if b.house.api == r.api {
				list = append(list, b)
			}
		}
		if len(list) == 0 {
			o.f("nil,\n")
			continue
		}
		if err := w.bindFile(r.api, "internal/spec/"+r.api+".api", list); err != nil {
			return err
		}
		o.f("%s[:],\n", handlersOf(r.api))
	}
	o.f("}\n")
	return w.goFile("internal/bind/zhandlers.go", &o)
}

// handlersOf names the list of an interface's handlers.
func handlersOf(api string) string { return api + "Handlers" }

// word is the Go type of an argument as the stub packs it.
func (b *binding) word(t *spec.Type) string {
	if st := b.scope.Struct(t); st != nil {
		return b.pkg + "." + structName(st)
	}
	u := b.scope.Underlying(t)
	if u.Name == "float" || u.Name == "double" {
		return spec.Prims[u.Name].Go
	}
	size, _, err := b.scope.Size(t)
	if err != nil {
		panic("BUG: a matched parameter without a size: " + err.Error())
	}
	return fmt.Sprintf("uint%d", 8*size)
}

// rowName tells the meanings of a name apart that changed from CUDA 11 to 12, or to 13.
func rowName(f *spec.Func) string {
	if f.Only != 0 && f.Only < 13 {
		return fmt.Sprintf("%s_%d", f.Name, f.Only)
	}
	return f.Name
}

func argField(i int, p spec.Param) string {
	n := goName(p.Name)
	if n == "" {
		return fmt.Sprintf("A%d", i)
	}
	return n
}

func (w *world) bindFile(api, from string, list []*binding) error {
	imports := map[string]bool{"structs": true, "unsafe": true, module + "/internal/abi": true}
	qualify := func(p *types.Package) string {
		imports[p.Path()] = true
		return p.Name()
	}
	var body, table out
	written := map[string]bool{}
	for _, b := range list {
		table.f("{Name: %q, Call: %s},\n", rowName(b.fn), b.call())
		if written[b.call()] {
			continue
		}
		written[b.call()] = true
		imports[b.house.recv] = true
		if provider := w.forwards(api); provider != "" {
			name, ok, err := w.partnerOf(provider, api, b.fn)
			if err != nil {
				return err
			}
			if ok {
				b.abroad = name
			}
		}
		b.write(&body, qualify, imports)
	}
	var o out
	o.header("//", from+" and the methods of "+list[0].house.recv)
	o.f("package bind\n\nimport (\n")
	var std, own []string
	for name := range imports {
		if name == "unsafe" || name == "structs" {
			std = append(std, name)
		} else {
			own = append(own, name)
		}
	}
	sort.Strings(std)
	sort.Strings(own)
	for _, p := range std {
		o.f("%q\n", p)
	}
	o.f("\n")
	for _, p := range own {
		o.f("%q\n", p)
	}
	o.f(")\n\n// Each stands at the number that its row has in internal/abi/%s: both follow the order of the rows.\nvar %s = [...]abi.Handler{\n%s}\n\n%s", rowsFile(api), handlersOf(api), table.String(), body.String())
	return w.goFile("internal/bind/zbind_"+api+".go", &o)
}

// call names the function that serves a row, or all those that a method stands in for.
func (b *binding) call() string {
	if b.stands {
		return "stand_" + b.house.api + b.method.Name()
	}
	return "bind_" + rowName(b.fn)
}

// write makes the function that serves one row.
func (b *binding) write(o *out, q types.Qualifier, imports map[string]bool) {
	o.f("func %s(thread, args unsafe.Pointer) int32 {\n", b.call())
	if len(b.args) > 0 {
		b.arguments(o, imports)
	}
	if b.abroad != "" {
		b.forward(o, b.abroad)
	}
	var results, call, stores out
	var any []string
	for i, a := range b.args {
		if a.pass == passResult && a.param.Mode == spec.OutAny {
			any = append(any, "a."+argField(i, a.param)+" == 0")
		}
	}
	if len(any) > 0 {
		o.f("if %s {\nreturn %s\n}\n", strings.Join(any, " && "), b.refuse())
	}
	for i, a := range b.args {
		b.guard(o, a, i, imports)
		field := "a." + argField(i, a.param)
		switch a.pass {
		case passResult:
			results.f("r%d, ", i)
			b.store(&stores, a, i, field, imports)
		case passValue:
			if b.scope.Struct(a.param.Type) != nil {
				call.f("%s, ", field)
			} else {
				call.f("%s(%s), ", typeText(a.typ, q), field)
			}
		case passWide:
			call.f("%s(int32(%s)), ", typeText(a.typ, q), field)
		case passAddress:
			imports[module+"/internal/hostmem"] = true
			call.f("hostmem.Ptr(%s), ", field)
		case passString:
			imports[module+"/internal/hostmem"] = true
			call.f("%s(hostmem.String(hostmem.Ptr(%s))), ", types.TypeString(a.typ, q), field)
		case passStruct:
			call.f("s%d, ", i)
		}
	}
	for _, c := range b.fn.With {
		call.f("%s.%s, ", q(types.NewPackage(b.recv, b.method.Pkg().Name())), c)
	}
	if b.by != "" {
		imports[b.house.recv] = true
		o.f("d, err := (*cudart.Thread)(thread).%s()\nif err != nil {\nreturn %s\n}\n", b.by, b.house.code())
		assign := "="
		if results.Len() > 0 {
			assign = ":="
		}
		o.f("%serr %s d.%s(%s)\n", results.String(), assign, b.method.Name(), trimComma(call.String()))
	} else {
		o.f("%serr := (*%s.Thread)(thread).%s(%s)\n", results.String(), q(types.NewPackage(b.recv, b.method.Pkg().Name())), b.method.Name(), trimComma(call.String()))
	}
	o.f("if err != nil {\nreturn %s\n}\n%sreturn 0\n}\n\n", b.house.code(), stores.String())
}

// refuse is the Go expression for what NULL is answered with where a result must go.
func (b *binding) refuse() string {
	if b.house.Null >= 0 {
		return fmt.Sprint(b.house.Null)
	}
	return "(*" + path.Base(b.house.recv) + ".Thread)(thread).Refuse()"
}

// arguments declares what the stub packed, in its layout.
func (b *binding) arguments(o *out, imports map[string]bool) {
	o.f("a := (*struct {\n_ structs.HostLayout\n\n")
	at := 0
	for i, a := range b.args { // all parameters, or the first where the method stands in
		p := a.param
		size, align, err := b.scope.Size(p.Type)
		if err != nil {
			panic("BUG: a matched parameter without a size: " + err.Error())
		}
		at = roundUp(at, min(align, 8))
		if pad := roundUp(at, align) - at; pad > 0 { // C aligns some structures more than Go
			o.f("_ [%d]byte\n", pad)
			at += pad
		}
		at += size
		word := b.word(p.Type)
		if b.scope.Struct(p.Type) != nil { // the method's type: C's may be another name for it, of an interface that is included
			of := types.Unalias(a.typ).(*types.Named).Obj()
			imports[of.Pkg().Path()] = true
			word = of.Pkg().Name() + "." + of.Name()
		}
		o.f("%s %s\n", argField(i, p), word)
	}
	o.f("})(args)\n")
}

func trimComma(s string) string {
	if len(s) > 2 {
		return s[:len(s)-2]
	}
	return s
}

// guard refuses a null pointer before the method runs, and makes structure pointers.
func (b *binding) guard(o *out, a argument, i int, imports map[string]bool) {
	field := "a." + argField(i, a.param)
	refuse := (a.pass == passResult && a.param.Mode == spec.Out) ||
		((a.pass == passString || a.pass == passStruct) && a.param.Mode == spec.In)
	if refuse {
		o.f("if %s == 0 {\nreturn %s\n}\n", field, b.refuse())
	}
	if a.pass == passStruct {
		imports[module+"/internal/hostmem"] = true
		imports[module+"/internal/spec/"+b.pkg] = true
		name := b.pkg + "." + structName(b.scope.Struct(a.param.Type.Elem))
		if a.param.Mode == spec.InOpt {
			o.f("var s%d *%s\nif %s != 0 {\ns%d = hostmem.At[%s](hostmem.Ptr(%s))\n}\n", i, name, field, i, name, field)
		} else {
			o.f("s%d := hostmem.At[%s](hostmem.Ptr(%s))\n", i, name, field)
		}
	}
}

// store writes one result where the caller wants it.
func (b *binding) store(o *out, a argument, i int, field string, imports map[string]bool) {
	imports[module+"/internal/hostmem"] = true
	value := fmt.Sprintf("r%d", i)
	if b.scope.Struct(a.param.Type.Elem) == nil {
		value = fmt.Sprintf("%s(r%d)", b.word(a.param.Type.Elem), i)
	}
	line := fmt.Sprintf("hostmem.Store(hostmem.Ptr(%s), %s)\n", field, value)
	if a.param.Mode != spec.Out {
		line = fmt.Sprintf("if %s != 0 {\n%s}\n", field, line)
	}
	o.f("%s", line)
}

// typeText is a type as the bindings write it. They cannot write short names that a room keeps to itself.
func typeText(t types.Type, q types.Qualifier) string {
	if a, ok := t.(*types.Alias); ok && a.Obj().Pkg() != nil && !a.Obj().Exported() {
		t = types.Unalias(t)
	}
	return types.TypeString(t, q)
}

// roundUp is the least multiple of align that is not below n.
func roundUp(n, align int) int { return (n + align - 1) / align * align }
