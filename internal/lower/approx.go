package lower

import (
	"kudzu/internal/approx"
	"kudzu/internal/ir"
)

// approxOps emits the operations that package approx's definitions are made of. Where the definition flushes (ftz), its
// f32 operations give the same result with the processor's flush mode set or clear: they carry FTZ and EitherFTZ,
// so that they neither spoil a kernel that runs flushed nor cost flush code in one that does not.
type approxOps struct {
	l   *lowerer
	ftz bool
}

var _ approx.Ops[*ir.Value] = approxOps{}

func (x *inst) approx(ftz bool) approx.Ops[*ir.Value] { return approxOps{x.lowerer, ftz} }

func (o approxOps) f(op ir.Op, args ...*ir.Value) *ir.Value {
	return o.l.opWith(op, ir.Attr{FTZ: o.ftz, EitherFTZ: o.ftz}, args...)
}

// rough is f where the target may be as inexact as PTX is.
func (o approxOps) rough(op ir.Op, args ...*ir.Value) *ir.Value {
	return o.l.opWith(op, ir.Attr{FTZ: o.ftz, EitherFTZ: o.ftz, OneUlp: o.l.opts.Approximate}, args...)
}

// DivF32: of quotients only reciprocals may be rough. A product with one is not near enough where it is subnormal or the divisor is.
func (o approxOps) DivF32(a, b *ir.Value) *ir.Value {
	const one = 0x3f800000
	if a.Const && a.Bits == one {
		return o.rough(ir.FDiv, a, b)
	}
	return o.f(ir.FDiv, a, b)
}

func (o approxOps) SqrtF32(a *ir.Value) *ir.Value { return o.rough(ir.FSqrt, a) }

func (o approxOps) cmp(c ir.Cmp, a, b *ir.Value) *ir.Value {
	return o.l.b.Emit(ir.FCmp, ir.I1, ir.Attr{Cmp: c, FTZ: o.ftz, EitherFTZ: o.ftz}, a, b)
}

func (o approxOps) shift(op ir.Op, a *ir.Value, n uint) *ir.Value {
	return o.l.op(op, a, i32(int64(n)))
}

func (o approxOps) F32(bits uint32) *ir.Value { return ir.ConstInt(ir.F32, uint64(bits)) }
func (o approxOps) F64(bits uint64) *ir.Value { return ir.ConstInt(ir.F64, bits) }
func (o approxOps) I32(v uint32) *ir.Value    { return ir.ConstInt(ir.I32, uint64(v)) }
func (o approxOps) I64(v uint64) *ir.Value    { return ir.ConstInt(ir.I64, v) }

func (o approxOps) AddF32(a, b *ir.Value) *ir.Value    { return o.f(ir.FAdd, a, b) }
func (o approxOps) SubF32(a, b *ir.Value) *ir.Value    { return o.f(ir.FSub, a, b) }
func (o approxOps) MulF32(a, b *ir.Value) *ir.Value    { return o.f(ir.FMul, a, b) }
func (o approxOps) FmaF32(a, b, c *ir.Value) *ir.Value { return o.f(ir.FFma, a, b, c) }
func (o approxOps) DivF64(a, b *ir.Value) *ir.Value    { return o.l.op(ir.FDiv, a, b) }
func (o approxOps) SqrtF64(a *ir.Value) *ir.Value      { return o.l.op(ir.FSqrt, a) }

func (o approxOps) AddI32(a, b *ir.Value) *ir.Value      { return o.l.op(ir.Add, a, b) }
func (o approxOps) SubI32(a, b *ir.Value) *ir.Value      { return o.l.op(ir.Sub, a, b) }
func (o approxOps) AndI32(a, b *ir.Value) *ir.Value      { return o.l.op(ir.And, a, b) }
func (o approxOps) OrI32(a, b *ir.Value) *ir.Value       { return o.l.op(ir.Or, a, b) }
func (o approxOps) XorI32(a, b *ir.Value) *ir.Value      { return o.l.op(ir.Xor, a, b) }
func (o approxOps) ShlI32(a *ir.Value, n uint) *ir.Value { return o.shift(ir.Shl, a, n) }
func (o approxOps) ShrI32(a *ir.Value, n uint) *ir.Value { return o.shift(ir.ShrU, a, n) }
func (o approxOps) SarI32(a *ir.Value, n uint) *ir.Value { return o.shift(ir.ShrS, a, n) }
func (o approxOps) AndI64(a, b *ir.Value) *ir.Value      { return o.l.op(ir.And, a, b) }
func (o approxOps) AsI32(a *ir.Value) *ir.Value          { return o.l.cast(a, ir.I32) }
func (o approxOps) AsF32(a *ir.Value) *ir.Value          { return o.l.cast(a, ir.F32) }
func (o approxOps) AsI64(a *ir.Value) *ir.Value          { return o.l.cast(a, ir.I64) }
func (o approxOps) AsF64(a *ir.Value) *ir.Value          { return o.l.cast(a, ir.F64) }
func (o approxOps) LtF32(a, b *ir.Value) *ir.Value       { return o.cmp(ir.LT, a, b) }
func (o approxOps) EqF32(a, b *ir.Value) *ir.Value       { return o.cmp(ir.EQ, a, b) }
func (o approxOps) NaNF32(a *ir.Value) *ir.Value         { return o.cmp(ir.NAN, a, a) }
func (o approxOps) LtF64(a, b *ir.Value) *ir.Value {
	return o.l.b.Emit(ir.FCmp, ir.I1, ir.Attr{Cmp: ir.LT}, a, b)
}
func (o approxOps) NaNF64(a *ir.Value) *ir.Value {
	return o.l.b.Emit(ir.FCmp, ir.I1, ir.Attr{Cmp: ir.NAN}, a, a)
}
func (o approxOps) LtS32(a, b *ir.Value) *ir.Value     { return o.l.icmp(ir.LT, a, b) }
func (o approxOps) LtU32(a, b *ir.Value) *ir.Value     { return o.l.icmp(ir.LO, a, b) }
func (o approxOps) EqI32(a, b *ir.Value) *ir.Value     { return o.l.icmp(ir.EQ, a, b) }
func (o approxOps) Or(a, b *ir.Value) *ir.Value        { return o.l.op(ir.Or, a, b) }
func (o approxOps) And(a, b *ir.Value) *ir.Value       { return o.l.op(ir.And, a, b) }
func (o approxOps) Select(c, a, b *ir.Value) *ir.Value { return o.l.sel(c, a, b) }
func (o approxOps) S32ToF32(a *ir.Value) *ir.Value     { return o.l.b.Emit(ir.SToF, ir.F32, ir.Attr{}, a) }

// F16ToF32 and F32ToF16 hold halves as the low bits of an i32.
func (o approxOps) F16ToF32(a *ir.Value) *ir.Value {
	h := o.l.cast(o.l.b.Emit(ir.Trunc, ir.I16, ir.Attr{}, a), ir.F16)
	return o.l.b.Emit(ir.FExt, ir.F32, ir.Attr{}, h)
}

func (o approxOps) F32ToF16(a *ir.Value) *ir.Value {
	h := o.l.b.Emit(ir.FTrunc, ir.F16, ir.Attr{}, a)
	return o.l.b.Emit(ir.ZExt, ir.I32, ir.Attr{}, o.l.cast(h, ir.I16))
}
