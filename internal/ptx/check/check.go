// Package check decides whether a parsed module is a right program: operand types against the form's, state spaces,
// constant ranges, versions and targets, calls against signatures. Where the manual and the vendor's assembler differ, it
// agrees with the assembler; testdata/isa holds the assembler's verdicts.
package check

import (
	"sort"

	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// Module reports every fault of m that the parser could not see. The error is a ptx.ErrorList.
func Module(m *ptx.Module) error {
	c := &checker{m: m, rep: ptx.NewReporter(m.Text)}
	c.header()
	for _, v := range m.Vars {
		c.variable(v)
	}
	for _, f := range m.Funcs {
		c.function(f)
	}
	for _, a := range m.Aliases {
		c.alias(a)
	}
	return c.rep.Err()
}

// Text parses and checks a module. The error has the faults of both, in the order of the text.
func Text(text string) (*ptx.Module, error) {
	m, err := ptx.ParsePartial(text)
	more := Module(m)
	if err == nil && more == nil {
		return m, nil
	}
	var all ptx.ErrorList
	for _, e := range []error{err, more} {
		if list, ok := e.(ptx.ErrorList); ok {
			all = append(all, list...)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Pos < all[j].Pos })
	return nil, all
}

// Kernel parses and checks one kernel of an index and what it reaches. Places in the error are the module's.
func Kernel(x *ptx.Index, kernel string) (*ptx.Module, error) {
	s, err := x.Slice(kernel)
	if err != nil {
		return nil, err
	}
	m, err := Text(s.Text)
	if err != nil {
		return nil, s.Map(err)
	}
	return m, nil
}

type checker struct {
	m   *ptx.Module
	rep *ptx.Reporter
	fn  *ptx.Func
	b   *ptx.Body

	met map[metKey]bool // spellings whose version and words were already checked
}

// metKey is a spelling: the form and its words, whose slice is shared by all instructions spelled alike.
type metKey struct {
	form *isa.Form
	mods *isa.Mod
}

func (c *checker) errorf(pos ptx.Pos, format string, args ...any) { c.rep.Report(pos, format, args...) }

func (c *checker) header() {
	m := c.m
	name := ptx.Target{SM: m.Target.SM, Suffix: m.Target.Suffix}.String()
	if t, ok := isa.TargetOf(name); ok && m.Version < t.PTX {
		c.errorf(0, "PTX .version %d.%d does not support .target %s", m.Version.Major(), m.Version.Minor(), name)
	}
}

func (c *checker) variable(v *ptx.Var) {
	switch {
	case v.Type == isa.Pred:
		c.errorf(v.Pos, "Predicate variable '%s' must be in register state space", v.Name)
	case v.Vec > 1 && v.Vec*v.Type.Bits() > 128:
		c.errorf(v.Pos, "Vector type too large, exceeds 128 bit limit")
	case v.Vec > 1 && v.Space == ptx.SpaceParam:
		c.errorf(v.Pos, "Variable '%s' cannot be allocated in .param state space", v.Name)
	case v.Type.Class() == isa.ClassOpaque && v.Space != ptx.SpaceGlobal && v.Space != ptx.SpaceParam && v.Space != ptx.SpaceTex:
		c.errorf(v.Pos, "Opaque type variable '%s' must be in .global or .param state space", v.Name)
	case v.Type.Class() == isa.ClassOpaque && v.Role == ptx.BodyVar:
		c.errorf(v.Pos, "Texture/surface variable must be at module or entry parameter scope")
	case v.Linkage != ptx.Extern && len(v.Dims) > 0 && v.Dims[0] <= 0 && v.Role == ptx.ModuleVar,
		v.Role == ptx.BodyVar && len(v.Dims) > 0 && v.Dims[0] <= 0:
		c.errorf(v.Pos, "Non-external variable '%s' has incomplete type", v.Name)
	case v.Init != nil && (v.Type == isa.F16 || v.Type == isa.F16x2):
		c.errorf(v.Pos, "No initial value is allowed for .%v type", v.Type)
	}
}

func (c *checker) alias(a ptx.Alias) {
	name, of := c.m.Func(a.Name), c.m.Func(a.Of)
	switch {
	case c.m.Version < isa.V(6, 3):
		c.errorf(a.Pos, "Feature '.alias' requires PTX ISA .version 6.3 or later")
	case name == nil:
		c.errorf(a.Pos, "Unknown symbol '%s'", a.Name)
	case of == nil:
		c.errorf(a.Pos, "Unknown symbol '%s'", a.Of)
	case name.Kind == ptx.Entry || of.Kind == ptx.Entry:
		c.errorf(a.Pos, "Alias '%s' must be a device function", a.Name)
	case of.Body == nil:
		c.errorf(a.Pos, "Aliasee '%s' is not defined", a.Of)
	case name.Body != nil:
		c.errorf(a.Pos, "Alias '%s' must not be defined", a.Name)
	}
}

// function checks directives and the body.
func (c *checker) function(f *ptx.Func) {
	c.fn = f
	c.perf(f)
	for _, v := range f.Params {
		c.param(f, v)
	}
	for _, v := range f.Results {
		c.param(f, v)
	}
	if f.Kind == ptx.Entry {
		c.paramBytes(f)
	}
	if f.Body == nil {
		return
	}
	c.b = f.Body
	for _, v := range c.b.Vars {
		c.variable(v)
	}
	for i := range c.b.Insts {
		c.inst(&c.b.Insts[i])
	}
}

func (c *checker) param(f *ptx.Func, v *ptx.Var) {
	switch {
	case v.Vec > 1 && v.Space == ptx.SpaceParam:
		c.errorf(v.Pos, "Variable '%s' cannot be allocated in .param state space", v.Name)
	case v.Type == isa.Pred && v.Space != ptx.SpaceReg:
		c.errorf(v.Pos, "Predicate variable '%s' must be in register state space", v.Name)
	case f.Kind == ptx.Entry && v.Space == ptx.SpaceReg:
		c.errorf(v.Pos, "Parameter '%s' of an entry function must be in .param state space", v.Name)
	case f.Kind == ptx.Entry && len(v.Dims) > 0 && v.Dims[0] < 0:
		c.errorf(v.Pos, "Parameter '%s' has incomplete type", v.Name)
	}
}

func (c *checker) perf(f *ptx.Func) {
	seen := map[string]bool{}
	for _, d := range f.Perf {
		seen[d.Name] = true
		for _, n := range d.Nums {
			if n <= 0 && d.Name != "abi_preserve" && d.Name != "abi_preserve_control" {
				c.errorf(d.Pos, "Illegal value %d for directive '.%s'", n, d.Name)
			}
		}
	}
	if seen["maxnctapersm"] && c.m.Version >= isa.V(2, 1) {
		c.errorf(f.Pos, "Deprecated feature: '.maxnctapersm directive' not supported as of PTX version 2.1")
	}
	if seen["maxntid"] && seen["reqntid"] {
		c.errorf(f.Pos, "Conflicting directives: .maxntid and .reqntid cannot both be specified")
	}
	if f.Kind == ptx.Entry && f.NoReturn {
		c.errorf(f.Pos, "Parsing error near '.noreturn': syntax error")
	}
}
