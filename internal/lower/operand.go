package lower

import (
	"kudzu/internal/image"
	"math"

	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// index finds the operand called name, -1 if the form has none or it was left out.
func (x *inst) index(name string) int {
	for i := range x.ops {
		if x.ops[i].Name == name {
			if i >= len(x.Args) || x.Args[i].Kind == ptx.None {
				return -1
			}
			return i
		}
	}
	return -1
}

// opType is the PTX type of operand i.
func (x *inst) opType(i int) isa.Type { return x.Form.OperandType(i, x.Mods, x.m.AddressSize) }

// has reports that the operand called name was written.
func (x *inst) has(name string) bool { return x.index(name) >= 0 }

// arg is the operand called name as a value of its type.
func (x *inst) arg(name string) *ir.Value {
	i := x.index(name)
	if i < 0 {
		panic("BUG: " + x.spelling() + " has no operand " + name)
	}
	return x.value(&x.Args[i], x.opType(i))
}

// argAs is the operand called name, read as type t.
func (x *inst) argAs(name string, t isa.Type) *ir.Value { return x.value(&x.Args[x.index(name)], t) }

// elems are the elements of a vector operand, each as type t; a scalar operand is its own only element.
func (x *inst) elems(name string, t isa.Type) []*ir.Value {
	o := &x.Args[x.index(name)]
	if o.Kind != ptx.OpVec {
		return []*ir.Value{x.value(o, t)}
	}
	var vs []*ir.Value
	for i := range o.Elems {
		vs = append(vs, x.value(&o.Elems[i], t))
	}
	return vs
}

// value reads an operand as a value of PTX type t.
func (x *inst) value(o *ptx.Operand, t isa.Type) *ir.Value {
	var v *ir.Value
	switch o.Kind {
	case ptx.OpReg:
		v = x.asType(x.regValue(o), t)
	case ptx.OpImm:
		v = immediate(o, t)
	case ptx.OpSReg:
		v = x.asType(x.special(o), t)
	case ptx.OpVar:
		if isOpaque(o.Var) {
			v = x.asType(x.opaque(o), t)
			break
		}
		v = x.asType(x.variableAddr(o), t)
	case ptx.OpFunc:
		id := ir.ConstInt(ir.I64, image.FuncID(o.Name))
		if x.opts.NVIDIA {
			id = x.functionAddr(o.Name)
		}
		v = x.asType(id, t)
	case ptx.OpVec:
		v = x.pack(o, t)
	case ptx.OpSink:
		return ir.ConstInt(irTypes[t], 0)
	default:
		x.fail("this operand of %s", x.spelling())
	}
	if o.Neg {
		v = x.not(v)
	}
	if o.Minus {
		if v.Type.IsFloat() {
			v = x.b.Emit(ir.FNeg, v.Type, ir.Attr{}, v)
		} else {
			v = x.op(ir.Neg, v)
		}
	}
	return v
}

// regVar is the SSA variable of a register operand.
func (x *inst) regVar(o *ptx.Operand) variable {
	r := x.fr.regs[o.Reg]
	if o.Elem > 0 {
		r += variable(o.Elem)
	}
	return r
}

// regValue reads a register operand: the register, plus a constant if there is one. The sum wraps at the register's width.
func (x *inst) regValue(o *ptx.Operand) *ir.Value {
	v := x.read(x.regVar(o))
	if o.Imm == 0 || o.Elem == ptx.ElemSel {
		return v
	}
	w := intOf(v.Type.Bits())
	return x.op(ir.Add, x.cast(v, w), ir.ConstInt(w, o.Imm))
}

// asType reads v, which may be wider, as PTX type t: the low bits count.
func (x *inst) asType(v *ir.Value, t isa.Type) *ir.Value {
	want := irTypes[t]
	if v.Type == want {
		return v
	}
	return x.cast(x.resize(v, want.Bits(), t.IsSigned()), want)
}

// resize gives v's bits in an integer of so many, cut or extended; v itself if it has that many.
func (x *inst) resize(v *ir.Value, bits int, signed bool) *ir.Value {
	have := v.Type.Bits()
	if have == bits {
		return v
	}
	if v.Type.IsFloat() {
		v = x.cast(v, intOf(have))
	}
	if v.Const && bits <= 64 {
		if signed {
			return ir.ConstInt(intOf(bits), uint64(v.Int()))
		}
		return ir.ConstInt(intOf(bits), v.Bits)
	}
	op := ir.ZExt
	switch {
	case have > bits:
		op = ir.Trunc
	case signed:
		op = ir.SExt
	}
	return x.b.Emit(op, intOf(bits), ir.Attr{}, v)
}

// cast reads v's bits as another type of the same width.
func (l *lowerer) cast(v *ir.Value, t ir.Type) *ir.Value {
	if v.Type == t {
		return v
	}
	if v.Const {
		return ir.ConstInt(t, v.Bits)
	}
	if l.isUndef(v) {
		return l.undef(t)
	}
	if v.Def != nil && v.Def.Op == ir.Bitcast {
		if a := l.resolve(v.Def.Args[0]); a.Type == t {
			return a // casting back
		}
	}
	return l.b.Emit(ir.Bitcast, t, ir.Attr{}, v)
}

// immediate is a constant operand as the instruction's type wants it.
func immediate(o *ptx.Operand, t isa.Type) *ir.Value {
	w := irTypes[t]
	bits := o.Imm
	switch {
	case w == ir.F64 || w == ir.I64 && o.ImmKind == ptx.ImmF64:
		if o.ImmKind == ptx.ImmF32 {
			bits = math.Float64bits(float64(math.Float32frombits(uint32(bits))))
		}
	case w.Bits() == 32 && o.ImmKind == ptx.ImmF64:
		bits = uint64(math.Float32bits(float32(math.Float64frombits(bits))))
	case w == ir.I1:
		if bits != 0 {
			bits = 1
		}
	}
	return ir.ConstInt(w, bits)
}

// set writes v, a value of operand i's type, to the destination operand i: a register of that width or wider.
func (x *inst) set(i int, v *ir.Value) { x.setOperand(&x.Args[i], x.opType(i), v) }

// result writes the first destination.
func (x *inst) result(v *ir.Value) { x.set(0, v) }

func (x *inst) setOperand(o *ptx.Operand, t isa.Type, v *ir.Value) {
	switch o.Kind {
	case ptx.OpSink, ptx.None:
		return
	case ptx.OpReg:
		x.setVar(x.regVar(o), t, v)
	case ptx.OpPair:
		x.setOperand(&o.Elems[0], t, v)
	default:
		x.fail("this destination of %s", x.spelling())
	}
}

// setVar writes a register, extending as t's sign says where the register is wider, and selecting under a guard.
func (x *inst) setVar(r variable, t isa.Type, v *ir.Value) {
	want := x.vars[r]
	v = x.cast(x.resize(v, want.Bits(), t.IsSigned()), want)
	if x.choose != nil {
		old := x.read(r)
		switch {
		case x.choose.Const && x.choose.Bits == 0:
			v = old
		case x.choose.Const || x.isUndef(old) || old == v:
		default:
			v = x.b.Emit(ir.Select, want, ir.Attr{}, x.choose, v, old)
		}
	}
	x.write(r, v)
}

// second writes the second half of a d|p destination, if it is there.
func (x *inst) second(i int, t isa.Type, v func() *ir.Value) {
	if o := &x.Args[i]; o.Kind == ptx.OpPair && o.Elems[1].Kind != ptx.OpSink {
		x.setOperand(&o.Elems[1], t, v())
	}
}

// wantsSecond reports that a d|p destination has a second half that is kept.
func (x *inst) wantsSecond(i int) bool {
	o := &x.Args[i]
	return o.Kind == ptx.OpPair && o.Elems[1].Kind != ptx.OpSink
}

// setElems writes a vector destination (or a scalar one) of operand i.
func (x *inst) setElems(i int, t isa.Type, vs []*ir.Value) {
	o := &x.Args[i]
	if o.Kind != ptx.OpVec {
		x.setOperand(o, t, vs[0])
		return
	}
	for j := range vs {
		x.setOperand(&o.Elems[j], t, vs[j])
	}
}

// bare is the type to carry the bits of t in, to or from operand o: the register's own where t is untyped and they are as
// wide, so that no cast is needed.
func (x *inst) bare(o *ptx.Operand, t isa.Type) ir.Type {
	w := irTypes[t]
	if o.Kind == ptx.OpReg && t.Class() == isa.ClassBits {
		if r := x.vars[x.fr.regs[o.Reg]]; r.Bits() == w.Bits() {
			return r
		}
	}
	return w
}

// bareValue reads an operand that is only moved: in its register's own type if the widths agree.
func (x *inst) bareValue(o *ptx.Operand, t isa.Type) *ir.Value {
	if o.Kind == ptx.OpReg && !o.Neg && !o.Minus {
		if v := x.regValue(o); v.Type.Bits() == irTypes[t].Bits() {
			return v
		}
	}
	return x.value(o, t)
}

// Small builders.

// op emits an operation whose result has the type of its first argument.
func (l *lowerer) op(op ir.Op, args ...*ir.Value) *ir.Value {
	return l.b.Emit(op, args[0].Type, ir.Attr{}, args...)
}

func (l *lowerer) opWith(op ir.Op, attr ir.Attr, args ...*ir.Value) *ir.Value {
	return l.b.Emit(op, args[0].Type, attr, args...)
}

func (l *lowerer) not(v *ir.Value) *ir.Value {
	if v.Const {
		return ir.ConstInt(v.Type, ^v.Bits)
	}
	if v.Def != nil && v.Def.Op == ir.Not {
		return l.resolve(v.Def.Args[0])
	}
	return l.op(ir.Not, v)
}

func (l *lowerer) sel(c, a, b *ir.Value) *ir.Value {
	return l.b.Emit(ir.Select, a.Type, ir.Attr{}, c, a, b)
}

func (l *lowerer) icmp(c ir.Cmp, a, b *ir.Value) *ir.Value {
	return l.b.Emit(ir.ICmp, ir.I1, ir.Attr{Cmp: c}, a, b)
}

func i32(n int64) *ir.Value { return ir.ConstInt(ir.I32, uint64(n)) }

func i64(n int64) *ir.Value { return ir.ConstInt(ir.I64, uint64(n)) }

func constOf(t ir.Type, n int64) *ir.Value { return ir.ConstInt(t, uint64(n)) }
