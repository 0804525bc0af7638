package ptx

import (
	"math/bits"

	"kudzu/internal/ptx/isa"
)

// symbol is a module-level name.
type symbol struct {
	v  *Var
	fn *Func
}

// Var is the module-level variable called name, or nil.
func (m *Module) Var(name string) *Var { return m.syms[name].v }

// Func is the function or kernel called name (its definition, if there is one), or nil.
func (m *Module) Func(name string) *Func { return m.syms[name].fn }

func spaceOf(w string) Space {
	switch w {
	case ".reg":
		return SpaceReg
	case ".sreg":
		return SpaceSReg
	case ".const":
		return SpaceConst
	case ".global":
		return SpaceGlobal
	case ".local":
		return SpaceLocal
	case ".param":
		return SpaceParam
	case ".shared":
		return SpaceShared
	case ".tex":
		return SpaceTex
	}
	return SpaceGeneric
}

// declType is what stands before the names of a declaration: space, alignment, type, vector.
type declType struct {
	space    Space
	typ      isa.Type
	vec      int
	align    int
	bank     int
	ptr      bool
	ptrSpace Space
	ptrAlign int
	attrs    []string
}

// declHead reads ".global .align 4 .v2 .f32", beginning at the space.
func (p *parser) declHead() declType {
	d := declType{space: spaceOf(p.lit()), bank: -1}
	p.next()
	if d.space == SpaceConst && p.accept('[') {
		v := p.constant()
		if v.isFloat() || v.bits > 10 {
			p.fail("Invalid constant bank")
		}
		d.bank = int(v.bits)
		if p.m.Version >= isa.V(2, 2) {
			p.fail("Deprecated feature: 'explicit constant banks' not supported as of PTX version 2.2")
		}
		p.expect(']')
	}
	for p.tok == tDot {
		w := p.lit()
		switch w {
		case ".align":
			p.next()
			d.align = p.alignment()
			continue
		case ".attribute":
			d.attrs = append(d.attrs, p.attribute()...)
			continue
		case ".v2":
			d.vec = 2
		case ".v4":
			d.vec = 4
		case ".ptr":
			d.ptr = true
			p.next()
			p.ptrAttrs(&d)
			continue
		default:
			t := isa.TypeOf(w[1:])
			if t == isa.TypeNone || !storable(t) {
				p.fail("Unknown or invalid type '%s'", w)
			}
			if d.typ != isa.TypeNone {
				p.failNear()
			}
			d.typ = t
		}
		p.next()
	}
	if d.typ == isa.TypeNone {
		p.failNear()
	}
	return d
}

func (p *parser) alignment() int {
	pos := p.start
	v := p.unary(0)
	if v.isFloat() || bits.OnesCount64(v.bits) != 1 || v.bits > 1<<20 {
		p.failAt(pos, "Alignment must be a power of two")
	}
	return int(v.bits)
}

// ptrAttrs reads what follows .ptr in a kernel parameter: ".global .align 16".
func (p *parser) ptrAttrs(d *declType) {
	d.ptrAlign = 4
	for p.tok == tDot {
		switch w := p.lit(); w {
		case ".const", ".global", ".local", ".shared":
			d.ptrSpace = spaceOf(w)
			p.next()
		case ".align":
			p.next()
			d.ptrAlign = p.alignment()
		default:
			return
		}
	}
}

// storable reports the types a variable or register may be declared with.
func storable(t isa.Type) bool {
	switch t {
	case isa.S8, isa.S16, isa.S32, isa.S64, isa.U8, isa.U16, isa.U32, isa.U64, isa.B8, isa.B16, isa.B32, isa.B64, isa.B128,
		isa.F16, isa.F16x2, isa.F32, isa.F64, isa.Pred, isa.TexRef, isa.SamplerRef, isa.SurfRef:
		return true
	}
	return false
}

// variable reads one name with dimensions and makes the Var.
func (p *parser) variable(d *declType, role VarRole) *Var {
	v := &Var{
		Pos: Pos(p.start), Space: d.space, Type: d.typ, Vec: d.vec, Align: d.align, Bank: d.bank, Attrs: d.attrs,
		PtrSpace: d.ptrSpace, PtrAlign: d.ptrAlign, Role: role,
	}
	v.Name = p.ident()
	for p.tok == '[' {
		p.next()
		if p.accept(']') {
			if len(v.Dims) > 0 {
				p.failAt(int(v.Pos), "Only the first dimension of array '%s' may be unsized", v.Name)
			}
			v.Dims = append(v.Dims, -1)
			continue
		}
		pos := p.start
		n := p.constant()
		if n.isFloat() || int64(n.bits) < 0 || n.bits > 1<<40 {
			p.failAt(pos, "Invalid dimension of array '%s'", v.Name)
		}
		v.Dims = append(v.Dims, int(n.bits))
		if len(v.Dims) > 16 {
			p.failAt(pos, "Too many dimensions of array '%s'", v.Name)
		}
		p.expect(']')
	}
	natural := max(v.Type.Bytes(), 1) * max(v.Vec, 1)
	if v.Align == 0 {
		v.Align = natural
	}
	size := uint64(natural)
	for _, n := range v.Dims {
		hi, lo := bits.Mul64(size, uint64(max(n, 1)))
		if hi != 0 || lo > 1<<44 {
			p.failAt(int(v.Pos), "Variable '%s' is too large", v.Name)
		}
		if size = lo; n == 0 {
			size = 0
		}
	}
	if v.Type == isa.Pred || len(v.Dims) > 0 && v.Dims[0] < 0 {
		size = 0
	}
	v.Size = size
	return v
}

// moduleVars reads a declaration of module-level variables.
func (p *parser) moduleVars(start int, link Linkage, attrs []string) {
	pos := p.start
	d := p.declHead()
	d.attrs = append(attrs, d.attrs...)
	switch d.space {
	case SpaceReg, SpaceSReg, SpaceLocal, SpaceParam:
		p.failAt(pos, "Module-scoped variables in .%s state space are not allowed with ABI", p.text[pos+1:pos+6])
	}
	head := p.start
	for {
		v := p.variable(&d, ModuleVar)
		v.Linkage = link
		p.initialiser(v)
		p.declareVar(v)
		if p.index != nil {
			p.index.addVar(v, start, head, p.start)
		}
		if !p.accept(',') {
			break
		}
	}
	p.expect(';')
}

// declareVar enters a module-level variable. A second declaration is legal if one of the two is extern or both are weak or
// common; the tree keeps one Var, completed by the definition.
func (p *parser) declareVar(v *Var) {
	old, ok := p.m.syms[v.Name]
	switch {
	case !ok:
		p.m.syms[v.Name] = symbol{v: v}
		p.m.Vars = append(p.m.Vars, v)
	case old.v == nil:
		p.rep.Report(v.Pos, "Duplicate definition of variable '%s'", v.Name)
	case old.v.Type != v.Type || old.v.Space != v.Space || old.v.Vec != v.Vec || len(old.v.Dims) != len(v.Dims):
		p.rep.Report(v.Pos, "Inconsistent redefinition of variable '%s'", v.Name)
	case old.v.Linkage == Extern && v.Linkage != Extern:
		if v.Linkage == Internal {
			p.rep.Report(v.Pos, "'.extern' variable '%s' cannot be resolved by a '.static'", v.Name)
			return
		}
		pos := old.v.Pos
		*old.v = *v
		old.v.Pos = pos
	case v.Linkage == Extern && old.v.Linkage != Internal:
	default:
		p.rep.Report(v.Pos, "Duplicate definition of variable '%s'", v.Name)
	}
}

// function reads an .entry or .func from its word on.
func (p *parser) function(start int, link Linkage, attrs []string) {
	f := &Func{Pos: Pos(start), Linkage: link, Attrs: attrs}
	if link == Common {
		p.failNear()
	}
	if p.lit() == ".func" {
		f.Kind = DeviceFunc
	}
	p.next()
	if f.Kind == DeviceFunc {
		for p.tok == tDot && p.lit() == ".attribute" {
			f.Attrs = append(f.Attrs, p.attribute()...)
		}
		if p.tok == '(' {
			f.Results = p.params(FuncResult)
		}
	}
	namePos := p.start
	f.Name = p.ident()
	if p.tok == '(' {
		role := KernelParam
		if f.Kind == DeviceFunc {
			role = FuncParam
		}
		f.Params = p.params(role)
	}
	head := p.start
	p.perf(f)
	layout(f.Params)
	layout(f.Results)
	if p.tok == '{' {
		p.declareFunc(f, namePos, true)
		open := p.start
		if p.index != nil {
			p.index.addFunc(f, start, head, open, p.indexBody(f))
			return
		}
		p.body(f)
		f.End = f.Body.End + 1
		return
	}
	f.End = Pos(p.end)
	if f.Kind == Entry && link != Extern && p.tok != ';' {
		p.failNear()
	}
	p.declareFunc(f, namePos, false)
	end := p.end
	p.expect(';')
	if p.index != nil {
		p.index.addFunc(f, start, head, -1, end)
	}
}

// declareFunc enters a function's name. Declarations may repeat; a definition may follow them.
func (p *parser) declareFunc(f *Func, pos int, definition bool) {
	p.m.Funcs = append(p.m.Funcs, f)
	old, ok := p.m.syms[f.Name]
	if definition {
		f.Body = &Body{}
	}
	switch {
	case !ok:
	case old.fn == nil, old.fn.Body != nil && definition:
		p.rep.Report(Pos(pos), "Duplicate definition of function '%s'", f.Name)
		return
	case !sameSignature(old.fn, f):
		p.rep.Report(Pos(pos), "Inconsistent redefinition of function '%s'", f.Name)
		return
	case definition && old.fn.Linkage == Extern && f.Linkage != Extern:
		p.rep.Report(Pos(pos), "Function definition conflicts with '.extern' declaration for function '%s'", f.Name)
		return
	case old.fn.Body != nil:
		return
	}
	p.m.syms[f.Name] = symbol{fn: f}
}

// sameSignature compares a declaration with another or with the definition.
func sameSignature(a, b *Func) bool {
	same := func(x, y []*Var) bool {
		for i := range x {
			if i >= len(y) || x[i].Type != y[i].Type || x[i].Size != y[i].Size || x[i].Space != y[i].Space {
				return false
			}
		}
		return len(x) == len(y)
	}
	return a.Kind == b.Kind && same(a.Params, b.Params) && same(a.Results, b.Results)
}

// params reads a parenthesised parameter list.
func (p *parser) params(role VarRole) []*Var {
	p.next()
	var all []*Var
	if p.accept(')') {
		return nil
	}
	seen := map[string]bool{}
	for {
		if p.tok != tDot || p.lit() != ".param" && p.lit() != ".reg" {
			p.failNear()
		}
		d := p.declHead()
		v := p.variable(&d, role)
		if v.Name != "_" {
			if seen[v.Name] {
				p.rep.Report(v.Pos, "Duplicate definition of variable '%s'", v.Name)
			}
			seen[v.Name] = true
		}
		all = append(all, v)
		if !p.accept(',') {
			break
		}
	}
	p.expect(')')
	return all
}

// layout gives parameters their offsets in the parameter block. The first one's is known.
func layout(params []*Var) {
	for i := 1; i < len(params); i++ {
		before, a := params[i-1], uint64(params[i].Align)
		params[i].Offset = (before.Offset + before.Size + a - 1) &^ (a - 1)
	}
}

// perf reads the directives between a function's parameters and its body.
func (p *parser) perf(f *Func) {
	for p.tok == tDot {
		d := Directive{Pos: Pos(p.start), Name: p.lit()[1:]}
		nums := 0
		if f.Kind == DeviceFunc {
			switch d.Name {
			case "noreturn", "pragma", "attribute", "abi_preserve", "abi_preserve_control":
			default:
				p.failNear()
			}
		}
		switch d.Name {
		case "maxntid", "reqntid", "reqnctapercluster":
			nums = 3
		case "maxnreg", "minnctapersm", "maxnctapersm", "maxclusterrank", "abi_preserve", "abi_preserve_control", "max_local_size":
			nums = 1
		case "noreturn":
			f.NoReturn = true
			p.next()
			continue
		case "explicitcluster", "blocksareclusters", "unique", "language":
			p.next()
		case "pragma":
			f.Perf = append(f.Perf, p.pragma())
			continue
		case "attribute":
			f.Attrs = append(f.Attrs, p.attribute()...)
			continue
		default:
			p.failNear()
		}
		if nums > 0 {
			p.next()
			for i := 0; i < nums; i++ {
				if i > 0 && !p.accept(',') {
					break
				}
				d.Nums = append(d.Nums, int64(p.constant().bits))
			}
		}
		f.Perf = append(f.Perf, d)
	}
}
