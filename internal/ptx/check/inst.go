package check

import (
	"slices"

	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// inst checks one instruction. What depends on the spelling alone is checked once a spelling.
func (c *checker) inst(in *ptx.Inst) {
	key := metKey{form: in.Form}
	if len(in.Mods) > 0 {
		key.mods = &in.Mods[0]
	}
	ok, met := c.met[key]
	if !met {
		if c.met == nil {
			c.met = map[metKey]bool{}
		}
		ok = c.spelling(in)
		c.met[key] = ok
	} else if !ok {
		c.spelling(in) // again, for its message at this place
	}
	if !ok {
		return
	}
	if in.Op() == isa.Call {
		c.call(in)
		return
	}
	ops := in.Form.Operands()
	for i := range ops {
		if !c.operand(in, i, &ops[i], &in.Args[i]) {
			return
		}
	}
	if rule := rules[in.Op()]; rule != nil {
		rule(c, in)
	}
}

func (c *checker) mismatch(in *ptx.Inst) bool {
	c.errorf(in.Pos, "Arguments mismatch for instruction '%v'", in.Op())
	return false
}

// spelling checks versions and targets, and what words may stand together.
func (c *checker) spelling(in *ptx.Inst) bool {
	need := isa.Need{PTX: in.Form.PTX, SM: in.Form.SM, Arch: in.Form.Arch}
	if in.Older&ptx.OlderWord == 0 && !c.need(in, need, in.Op().String()) {
		return false
	}
	for _, m := range in.Mods {
		if n, ok := m.Need(); ok && !in.Unsaid(m) && !c.need(in, n, m.String()) {
			return false
		}
	}
	if rule := spellingRules[in.Op()]; rule != nil {
		return rule(c, in)
	}
	return true
}

func (c *checker) need(in *ptx.Inst, n isa.Need, what string) bool {
	if c.m.Version < n.PTX {
		c.errorf(in.Pos, "Feature '%s' requires PTX ISA .version %d.%d or later", what, n.PTX.Major(), n.PTX.Minor())
		return false
	}
	if n.Arch == "" && c.m.Target.SM < n.SM {
		c.errorf(in.Pos, "Feature '%s' requires .target sm_%d or higher", what, n.SM)
		return false
	}
	if !n.Met(c.m.Target.SM, c.m.Target.Suffix) {
		c.errorf(in.Pos, "Feature '%s' not supported on .target '%s'", what, ptx.Target{SM: c.m.Target.SM, Suffix: c.m.Target.Suffix})
		return false
	}
	return true
}

// operand checks argument a against operand o of the form.
func (c *checker) operand(in *ptx.Inst, i int, o *isa.Operand, a *ptx.Operand) bool {
	if a.Kind == ptx.None {
		return true
	}
	switch a.Kind {
	case ptx.OpAddr:
		return c.address(in, a)
	case ptx.OpTexAddr, ptx.OpLabel, ptx.OpTable, ptx.OpProto, ptx.OpArgs:
		return true
	case ptx.OpPair:
		return c.pair(in, i, o, a)
	}
	t := in.Form.OperandType(i, in.Mods, c.m.AddressSize)
	if o.Vec < 0 {
		if n := in.Form.Fragment(i, in.Mods); n > 0 && (a.Kind != ptx.OpVec || len(a.Elems) != n) {
			if warpgroupProduct(in) && a.Kind == ptx.OpVec {
				c.errorf(in.Pos, "Argument vector size mismatch for instruction '%s'", in.ProductName())
				return false
			}
			c.errorf(a.Pos, "Vector of size %d is expected for argument %d of instruction '%v'", n, i, in.Op())
			return false
		}
	}
	switch a.Kind {
	case ptx.OpVec:
		if o.Vec < 0 && !o.VecSlot && in.Op() == isa.Mov {
			return true // packing and unpacking: the rule of mov
		}
		return c.vector(in, o, a, t)
	case ptx.OpReg:
		return c.register(in, o, a, t)
	case ptx.OpImm:
		return c.constant(in, o, a, t)
	case ptx.OpSReg:
		if in.Op() != isa.Mov && in.Op() != isa.Cvt {
			c.errorf(a.Pos, "Special register argument not allowed for instruction '%v'", in.Op())
			return false
		}
		return c.special(in, a, t)
	case ptx.OpVar, ptx.OpFunc:
		return c.symbol(in, o, a, t)
	}
	return true // a sink
}

func (c *checker) register(in *ptx.Inst, o *isa.Operand, a *ptx.Operand, t isa.Type) bool {
	r := &c.b.Regs[a.Reg]
	if r.Vec > 1 && a.Elem == -1 || !fits(t, r.Type, o) { // a vector register inside a list, or where there is no vector
		return c.mismatch(in)
	}
	return true
}

// fits is the manual's "Operand Size Exceeding Instruction-Type Size" and its table of compatible types, as the assembler
// has them.
func fits(t, r isa.Type, o *isa.Operand) bool {
	if t == r {
		return true
	}
	if t == isa.Pred || r == isa.Pred || t == isa.TypeNone {
		return false
	}
	tb, rb := t.Bits(), r.Bits()
	if rb < tb || rb > tb && !o.Wider {
		return false
	}
	fromSlot := o.Ref == isa.TypeOfSlot && !o.Strict || o.Ref == isa.TypeWide
	switch t.Class() {
	case isa.ClassBits:
		return fromSlot || o.Any || isIntOrBits(r)
	case isa.ClassSigned, isa.ClassUnsigned:
		return isIntOrBits(r) || r == isa.F16x2 && fromSlot
	case isa.ClassFloat:
		return r.IsBits() && (t != isa.BF16 || rb == tb)
	case isa.ClassPacked:
		switch t {
		case isa.U16x2, isa.S16x2, isa.U8x4, isa.S8x4:
			return rb == 32 && (r.IsBits() || r == isa.F16x2)
		}
		return r.IsBits()
	}
	return false
}

func isIntOrBits(r isa.Type) bool { return r.IsInt() || r.IsBits() }

// constant checks an immediate: integers for integer and bit types, floats for float types and for bits of their size.
func (c *checker) constant(in *ptx.Inst, o *isa.Operand, a *ptx.Operand, t isa.Type) bool {
	float := a.ImmKind == ptx.ImmF32 || a.ImmKind == ptx.ImmF64
	ok := false
	switch t.Class() {
	case isa.ClassSigned, isa.ClassUnsigned:
		ok = !float
	case isa.ClassBits:
		ok = !float || o.Ref == isa.TypeOfSlot && (t == isa.B32 && a.ImmKind == ptx.ImmF32 || t == isa.B64 && a.ImmKind == ptx.ImmF64)
	case isa.ClassFloat:
		ok = float && (t == isa.F32 || t == isa.F64)
	case isa.ClassPred:
		ok = !float && !o.Dest
	case isa.ClassPacked:
		ok = false
	}
	if !ok {
		return c.mismatch(in)
	}
	if o.Ranged && (int64(a.Imm) < o.Lo || int64(a.Imm) > o.Hi) {
		if warpgroupProduct(in) {
			at := slices.IndexFunc(in.Form.Operands(), func(x isa.Operand) bool { return x.Name == o.Name })
			c.errorf(in.Pos, "Argument %d of instruction '%s': unexpected value '%d', expected to be %d or %d", at, in.ProductName(), int64(a.Imm), o.Lo, o.Hi)
			return false
		}
		c.errorf(a.Pos, "Argument '%s' of instruction '%v' is out of range", o.Name, in.Op())
		return false
	}
	return true
}

func warpgroupProduct(in *ptx.Inst) bool {
	return in.Op() == isa.WgmmaMmaAsync || in.Op() == isa.WgmmaMmaAsyncSp
}

func (c *checker) special(in *ptx.Inst, a *ptx.Operand, t isa.Type) bool {
	row := a.SReg.Row()
	if !c.need(in, isa.Need{PTX: row.PTX, SM: row.SM}, row.Name) {
		return false
	}
	if row.Type == isa.Pred || t == isa.Pred {
		if row.Type != t {
			return c.mismatch(in)
		}
		return true
	}
	if t.IsFloat() || t.Bits() != row.Type.Bits() && !(row.Type.Bits() == 32 && t.Bits() == 16) && !(a.SReg == isa.SRegGridid && t.Bits() == 32) {
		return c.mismatch(in)
	}
	return true
}

// symbol checks the address of a variable or function as a value.
func (c *checker) symbol(in *ptx.Inst, o *isa.Operand, a *ptx.Operand, t isa.Type) bool {
	if o.Kinds&isa.KSym == 0 || !isIntOrBits(t) || t == isa.B128 {
		return c.mismatch(in)
	}
	return true
}

func (c *checker) pair(in *ptx.Inst, i int, o *isa.Operand, a *ptx.Operand) bool {
	t := in.Form.OperandType(i, in.Mods, c.m.AddressSize)
	first, second := &a.Elems[0], &a.Elems[1]
	switch first.Kind {
	case ptx.OpReg:
		if !c.register(in, o, first, t) {
			return false
		}
	case ptx.OpSink:
		if o.Vec > 0 {
			c.errorf(a.Pos, "Result discard mode is not allowed for instruction '%v'", in.Op())
			return false
		}
	case ptx.OpVec:
		if o.Vec <= 0 || int(o.Vec) != len(first.Elems) {
			return c.mismatch(in)
		}
		if !c.vector(in, o, first, t) {
			return false
		}
	}
	if first.Kind != ptx.OpReg && first.Kind != ptx.OpSink && first.Kind != ptx.OpVec || second.Kind != ptx.OpReg && second.Kind != ptx.OpSink {
		return c.mismatch(in)
	}
	if second.Kind == ptx.OpReg && c.b.Regs[second.Reg].Type != isa.Pred {
		return c.mismatch(in)
	}
	return true
}

// vector checks {a, b, …} element by element. Elements must be of one size.
func (c *checker) vector(in *ptx.Inst, o *isa.Operand, a *ptx.Operand, t isa.Type) bool {
	size := 0
	for i := range a.Elems {
		e := &a.Elems[i]
		switch e.Kind {
		case ptx.OpReg:
			if !c.register(in, o, e, t) {
				return false
			}
			bits := c.b.Regs[e.Reg].Type.Bits()
			if size != 0 && bits != size {
				c.errorf(a.Pos, "Incompatible elements of vector expression")
				return false
			}
			size = bits
		case ptx.OpImm:
			if o.Dest || !c.constant(in, o, e, t) {
				return c.mismatch(in)
			}
		case ptx.OpSReg:
			if in.Op() != isa.Mov || !c.special(in, e, t) {
				return c.mismatch(in)
			}
		case ptx.OpSink:
			if !o.Dest {
				return c.mismatch(in)
			}
		default:
			return c.mismatch(in)
		}
	}
	return true
}

// vecOf is the number of elements that the spelling's .vec asks for.
func vecOf(in *ptx.Inst) int {
	i := in.Form.VecSlot()
	if i < 0 {
		return 1
	}
	switch in.Mods[i] {
	case isa.ModV2:
		return 2
	case isa.ModV4:
		return 4
	case isa.ModV8:
		return 8
	}
	return 1
}
