package main

import (
	"fmt"
	"go/types"
	"strings"

	"kudzu/internal/spec"
)

// binding is a row with its method: for every parameter, how it is passed.
type binding struct {
	fn     *spec.Func
	method *types.Func
	recv   string // package of the receiver
	pkg    string // package of the C types, cu or rt
	scope  *spec.Scope
	house  house
	args   []argument
	by     string // the method of cudart.Thread that gives the driver's thread, for rows that the driver answers
	stands bool   // the method stands in for one that is not there, for many rows
	abroad string // the name a provider knows the call by, "" where only we do it
}

// pass is the way one parameter takes.
type pass int

const (
	passValue   pass = iota // converted to the method's type
	passString              // a C string
	passStruct              // *cu.Struct
	passAddress             // hostmem.Ptr, as it is
	passResult              // written from a result
	passWide                // a C int for a method that also serves the 64-bit row
)

type argument struct {
	param spec.Param
	pass  pass
	typ   types.Type // of the method's parameter or result
}

// methodName is the Go name a row asks for.
func methodName(h house, f *spec.Func) string {
	if f.Go != "" {
		return f.Go
	}
	name := strings.TrimLeft(f.Base(), "_")
	return strings.TrimPrefix(name, h.Prefix)
}

// scanMethods fills w.bound. A method that has a row's name and not its shape is an error.
func scanMethods(w *world) error {
	if err := w.scanBase(); err != nil {
		return err
	}
	w.bound = map[*spec.Func]*binding{}
	var wrong []string
	src := &sources{root: w.root, fset: w.fset, files: w.files, done: map[string]*types.Package{}}
	for _, r := range w.houses() {
		methods, err := src.methods(r.recv, "Thread")
		if err != nil {
			return err
		}
		own := map[string]bool{} // methods that rows without such a mark are bound to
		for _, f := range w.apis[r.api].Funcs {
			own[methodName(r, f)] = own[methodName(r, f)] || f.Driver == ""
		}
		for _, f := range w.apis[r.api].Funcs {
			m := methods[methodName(r, f)]
			if f.Driver != "" && own[methodName(r, f)] {
				m = nil // it has a method of another row's name
			}
			b := &binding{fn: f, method: m, recv: r.recv, pkg: r.Package, house: r, scope: w.apis[r.api].Scope(major(f.Span))}
			if f.Driver != "" {
				if err := b.throughDriver(w, src); err != nil {
					return err
				}
				m = b.method
			}
			if m == nil && f.Driver == "" && !f.Opaque && b.stand(methods) {
				w.bound[f] = b
				w.order = append(w.order, b)
				continue
			}
			if m == nil || f.Opaque || w.base["kzb_"+f.Name] {
				continue
			}
			if err := b.match(); err != nil {
				wrong = append(wrong, fmt.Sprintf("%s: method %s does not fit row %s: %v", w.fset.Position(m.Pos()), m.Name(), f.Name, err))
				continue
			}
			w.bound[f] = b
			w.order = append(w.order, b)
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("\n%s", strings.Join(wrong, "\n"))
	}
	return nil
}

// throughDriver leads a row of the runtime API to the driver's method that its mark names.
func (b *binding) throughDriver(w *world, src *sources) error {
	if b.method != nil {
		return fmt.Errorf("%s: method %s is there though row %s says driver=%s", src.fset.Position(b.method.Pos()), b.method.Name(), b.fn.Name, b.fn.Driver)
	}
	driver := w.house("cuda").recv
	methods, err := src.methods(driver, "Thread")
	if err != nil {
		return err
	}
	b.recv, b.method, b.by = driver, methods[b.fn.Driver], "Ready"
	if b.fn.NoContext {
		b.by = "Started"
	}
	if b.method == nil {
		return fmt.Errorf("row %s: the driver has no method %s", b.fn.Name, b.fn.Driver)
	}
	return nil
}

// stand binds a row without a method to one that looks at the handle and then refuses, where the library has such: Absent for the
// handle that it takes, NoSuch for handles that are never given out.
func (b *binding) stand(methods map[string]*types.Func) bool {
	absent, none := methods["Absent"], methods["NoSuch"]
	if absent == nil || none == nil || len(b.fn.Params) == 0 || b.fn.Params[0].Mode != spec.In {
		return false
	}
	first := b.fn.Params[0]
	t := absent.Type().(*types.Signature).Params().At(0).Type()
	switch named, ok := t.(*types.Named); {
	case ok && named.Obj().Name() == goName(first.Type.Name):
		b.method, b.args = absent, []argument{{first, passValue, t}}
	case strings.HasSuffix(first.Type.Name, "Instance_t") || strings.HasSuffix(first.Type.Name, "TypeId_t"):
		b.method = none
	default:
		return false
	}
	b.stands = true
	return true
}

// match finds for every parameter its place in the method.
func (b *binding) match() error {
	sig := b.method.Type().(*types.Signature)
	n := sig.Results().Len()
	if n == 0 || types.TypeString(sig.Results().At(n-1).Type(), nil) != "error" {
		return fmt.Errorf("the last result must be error")
	}
	last := sig.Params().Len() - len(b.fn.With)
	if err := b.constants(sig, last); err != nil {
		return err
	}
	var args []argument
	var why string
	// A method may take an out pointer itself. Results are tried first, so a method that
	// has one for every out parameter is always read that way.
	var walk func(i, in, out int) bool
	walk = func(i, in, out int) bool {
		if i == len(b.fn.Params) {
			if in != last || out != n-1 {
				why = fmt.Sprintf("it has %d parameters and %d results besides error", last, n-1)
				return false
			}
			return true
		}
		p := b.fn.Params[i]
		if p.Mode.IsOut() && out < n-1 {
			t := sig.Results().At(out).Type()
			if b.fits(p.Type.Elem, t) {
				args = append(args, argument{p, passResult, t})
				if walk(i+1, in, out+1) {
					return true
				}
				args = args[:len(args)-1]
			} else {
				why = fmt.Sprintf("result %s cannot be stored through %s %s", short(t), p.Type, p.Name)
			}
		}
		if in == last {
			if why == "" {
				why = "too few parameters"
			}
			return false
		}
		t := sig.Params().At(in).Type()
		how, ok := b.accepts(p, t)
		if !ok {
			if why == "" {
				why = fmt.Sprintf("parameter %s cannot take %s %s", short(t), p.Type, p.Name)
			}
			return false
		}
		args = append(args, argument{p, how, t})
		if walk(i+1, in+1, out) {
			return true
		}
		args = args[:len(args)-1]
		return false
	}
	if !walk(0, 0, 0) {
		return fmt.Errorf("%s", why)
	}
	b.args = args
	return nil
}

// constants checks what a row's mark gives the method after the row's parameters: go=Gbmv(F32).
func (b *binding) constants(sig *types.Signature, from int) error {
	if from < 0 {
		return fmt.Errorf("it has no parameter for each of %s", strings.Join(b.fn.With, ", "))
	}
	for i, name := range b.fn.With {
		t := sig.Params().At(from + i).Type()
		c, ok := b.method.Pkg().Scope().Lookup(name).(*types.Const)
		if !ok || !c.Exported() || !types.AssignableTo(c.Type(), t) {
			return fmt.Errorf("%s is no constant that parameter %s takes", name, short(t))
		}
	}
	return nil
}

func short(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}

func isPtr(t types.Type) bool {
	return types.TypeString(t, nil) == module+"/internal/hostmem.Ptr"
}

// accepts says how a method's parameter can take a C parameter.
func (b *binding) accepts(p spec.Param, t types.Type) (pass, bool) {
	if !p.Type.Ptr {
		if isPtr(t) && b.scope.Pointer(p.Type) {
			return passAddress, true
		}
		if b.scope.Underlying(p.Type).Name == "int" && types.TypeString(t.Underlying(), nil) == "int64" {
			return passWide, true
		}
		if b.fn.Narrow && b.scope.Underlying(p.Type).Name == "unsigned int" && types.TypeString(t.Underlying(), nil) == "uint64" {
			return passValue, true // the conversion widens it
		}
		if b.scope.Underlying(p.Type).Name == "float" && types.TypeString(t.Underlying(), nil) == "float64" {
			return passValue, true // likewise
		}
		return passValue, b.fits(p.Type, t)
	}
	if isPtr(t) {
		return passAddress, true
	}
	if p.Mode == spec.In || p.Mode == spec.InOpt {
		if p.Type.Elem.Name == "char" {
			basic, ok := t.Underlying().(*types.Basic)
			return passString, ok && basic.Kind() == types.String
		}
		if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
			return passStruct, b.sameStruct(p.Type.Elem, ptr.Elem())
		}
	}
	// An address the method only keeps, such as a callback's argument.
	return passValue, p.Mode == spec.Host && b.fits(p.Type, t)
}

// fits reports whether a value of a C type and one of a Go type are the same bits.
func (b *binding) fits(c *spec.Type, t types.Type) bool {
	if b.scope.Struct(c) != nil {
		return b.sameStruct(c, t)
	}
	basic, ok := t.Underlying().(*types.Basic)
	if !ok {
		return false
	}
	size, _, err := b.scope.Size(c)
	if err != nil {
		return false
	}
	u := b.scope.Underlying(c)
	isFloat := u.Name == "float" || u.Name == "double"
	if isFloat != (basic.Info()&types.IsFloat != 0) || (!isFloat && basic.Info()&types.IsInteger == 0) {
		return false
	}
	return types.SizesFor("gc", "amd64").Sizeof(basic) == int64(size)
}

// sameStruct reports whether a Go type is the generated one of a C structure.
func (b *binding) sameStruct(c *spec.Type, t types.Type) bool {
	st := b.scope.Struct(c)
	named, ok := types.Unalias(t).(*types.Named)
	if st == nil || !ok || named.Obj().Pkg() == nil {
		return false
	}
	// A structure of the runtime's table, which others include, is of its package.
	from := strings.TrimPrefix(named.Obj().Pkg().Path(), module+"/internal/spec/")
	return (from == b.pkg || from == "rt") && named.Obj().Name() == structName(st)
}

func structName(st *spec.Struct) string {
	if st.Only == 12 {
		return goName(st.Name) + "_12"
	}
	return goName(st.Name)
}
