package lower

import (
	"slices"

	"kudzu/internal/approx"
	"kudzu/internal/ir"
	"kudzu/internal/ptx/isa"
)

var roundings = map[isa.Mod]ir.Rnd{
	isa.ModRn: ir.RN, isa.ModRz: ir.RZ, isa.ModRm: ir.RM, isa.ModRp: ir.RP, isa.ModRna: ir.RNA, isa.ModRs: ir.RS,
	isa.ModRni: ir.RN, isa.ModRzi: ir.RZ, isa.ModRmi: ir.RM, isa.ModRpi: ir.RP,
}

// mode is the rounding, flushing and saturation an arithmetic instruction asks for.
func (x *inst) mode() ir.Attr {
	a := ir.Attr{Rnd: roundings[x.Mod("rnd")], FTZ: x.Has(isa.ModFtz), Sat: x.Has(isa.ModSat)}
	if x.opts.NVIDIA && x.Mod("rnd") == 0 && (x.Op() == isa.Add || x.Op() == isa.Sub || x.Op() == isa.Mul) {
		a.Contract = true
	}
	return a
}

// floats reads the operands as the instruction's float type; mixed forms widen the narrow ones to f32.
func (x *inst) floats(names ...string) []*ir.Value {
	var vs []*ir.Value
	for _, n := range names {
		v := x.arg(n)
		if x.kindOf() == isa.F32 && (v.Type == ir.F16 || v.Type == ir.BF16) {
			v = x.b.Emit(ir.FExt, ir.F32, ir.Attr{}, v)
		}
		vs = append(vs, v)
	}
	return vs
}

// arith lowers d = op(args) for every float type: f32x2 is two f32 in 64 bits.
func (x *inst) arith(op ir.Op, attr ir.Attr, args ...*ir.Value) {
	if x.kindOf() != isa.F32x2 {
		v := x.opWith(op, attr, args...)
		if x.Has(isa.ModRelu) {
			v = x.op(ir.FRelu, v)
		}
		x.result(v)
		return
	}
	var lo, hi []*ir.Value
	for _, a := range args {
		u := x.b.EmitN(ir.Unpack, []ir.Type{ir.F32, ir.F32}, ir.Attr{}, a)
		lo, hi = append(lo, u.Results[0]), append(hi, u.Results[1])
	}
	l := x.opWith(op, attr, lo...)
	h := x.opWith(op, attr, hi...)
	x.result(x.b.Emit(ir.Pack, ir.I64, ir.Attr{}, l, h))
}

// other is the name of the second operand: mixed-precision forms call it c.
func (x *inst) other() string {
	if x.has("b") {
		return "b"
	}
	return "c"
}

func lowerFloatAdd(x *inst) { x.arith(ir.FAdd, x.mode(), x.floats("a", x.other())...) }

func lowerFloatSub(x *inst) { x.arith(ir.FSub, x.mode(), x.floats("a", x.other())...) }

func lowerFloatMul(x *inst) { x.arith(ir.FMul, x.mode(), x.floats("a", "b")...) }

func lowerFma(x *inst) {
	v := x.floats("a", "b", "c")
	if x.Has(isa.ModOob) {
		x.fmaOob(v)
		return
	}
	x.arith(ir.FFma, x.mode(), v...)
}

// fmaOob is fma.oob of halves: 0 where a factor is the NaN that tensor copies fill with outside the tensor.
func (x *inst) fmaOob(v []*ir.Value) {
	r := x.opWith(ir.FFma, x.mode(), v...)
	if x.Has(isa.ModRelu) {
		r = x.op(ir.FRelu, r)
	}
	parts := func(v *ir.Value) []*ir.Value {
		if v.Type.Bits() == 16 {
			return []*ir.Value{x.cast(v, ir.I16)}
		}
		return x.b.EmitN(ir.Unpack, []ir.Type{ir.I16, ir.I16}, ir.Attr{}, v).Results
	}
	a, b, d := parts(v[0]), parts(v[1]), slices.Clone(parts(r))
	filled := func(v *ir.Value) *ir.Value { // of either sign
		return x.icmp(ir.EQ, x.op(ir.And, v, ir.ConstInt(ir.I16, 0x7fff)), ir.ConstInt(ir.I16, 0x7ff7))
	}
	for i := range d {
		out := x.op(ir.Or, filled(a[i]), filled(b[i]))
		d[i] = x.sel(out, ir.ConstInt(ir.I16, 0), d[i])
	}
	if len(d) == 1 {
		x.result(x.cast(d[0], r.Type))
		return
	}
	x.result(x.b.Emit(ir.Pack, r.Type, ir.Attr{}, d...))
}

func lowerFloatDiv(x *inst) {
	a, b := x.arg("a"), x.arg("b")
	ftz := x.Has(isa.ModFtz)
	switch {
	case x.Has(isa.ModApprox):
		x.result(approx.Div(x.approx(ftz), a, b, ftz))
	case x.Has(isa.ModFull):
		x.result(approx.DivFull(x.approx(ftz), a, b, ftz))
	default:
		x.result(x.opWith(ir.FDiv, x.mode(), a, b))
	}
}

func lowerFloatAbs(x *inst) {
	x.result(x.opWith(ir.FAbs, ir.Attr{FTZ: x.Has(isa.ModFtz)}, x.arg("a")))
}

func lowerFloatNeg(x *inst) {
	x.result(x.opWith(ir.FNeg, ir.Attr{FTZ: x.Has(isa.ModFtz)}, x.arg("a")))
}

// floatMinMax lowers min and max, of three values too. XorSign is .xorsign.abs; .abs alone (three values) takes magnitudes.
func floatMinMax(op ir.Op) func(*inst) {
	return func(x *inst) {
		attr := ir.Attr{FTZ: x.Has(isa.ModFtz), NaN: x.Has(isa.ModNaN), XorSign: x.Has(isa.ModXorsign)}
		a, b := x.arg("a"), x.arg("b")
		if !x.has("c") {
			x.result(x.opWith(op, attr, a, b))
			return
		}
		c := x.arg("c")
		if x.Has(isa.ModAbs) {
			a, b, c = x.op(ir.FAbs, a), x.op(ir.FAbs, b), x.op(ir.FAbs, c)
		}
		x.result(x.opWith(op, attr, x.opWith(op, attr, a, b), c))
	}
}

var tests = map[isa.Mod]ir.FloatTest{
	isa.ModFinite: ir.TestFinite, isa.ModInfinite: ir.TestInfinite, isa.ModNumber: ir.TestNumber,
	isa.ModNotanumber: ir.TestNaN, isa.ModNormal: ir.TestNormal, isa.ModSubnormal: ir.TestSubnormal,
}

func lowerTestp(x *inst) {
	x.result(x.b.Emit(ir.FTest, ir.I1, ir.Attr{Test: tests[x.Mod("op")]}, x.arg("a")))
}

// lowerCopysign: PTX takes the sign of a and the magnitude of b.
func lowerCopysign(x *inst) { x.result(x.op(ir.FCopysign, x.arg("b"), x.arg("a"))) }

func lowerRcp(x *inst) {
	a, ftz := x.arg("a"), x.Has(isa.ModFtz)
	switch {
	case !x.Has(isa.ModApprox):
		x.result(x.opWith(ir.FRcp, x.mode(), a))
	case a.Type == ir.F64:
		x.result(approx.RcpF64(x.approx(false), a))
	default:
		x.result(approx.Rcp(x.approx(ftz), a, ftz))
	}
}

func lowerSqrt(x *inst) {
	a, ftz := x.arg("a"), x.Has(isa.ModFtz)
	if x.Has(isa.ModApprox) {
		x.result(approx.Sqrt(x.approx(ftz), a, ftz))
		return
	}
	x.result(x.opWith(ir.FSqrt, x.mode(), a))
}

func lowerRsqrt(x *inst) {
	a, ftz := x.arg("a"), x.Has(isa.ModFtz)
	if a.Type == ir.F64 {
		x.result(approx.RsqrtF64(x.approx(false), a, ftz))
		return
	}
	x.result(approx.Rsqrt(x.approx(ftz), a, ftz))
}

// unaryApprox lowers an f32 function of package approx.
func unaryApprox(fn func(b approx.Ops[*ir.Value], v *ir.Value, ftz bool) *ir.Value) func(*inst) {
	return func(x *inst) {
		ftz := x.Has(isa.ModFtz)
		x.result(fn(x.approx(ftz), x.arg("a"), ftz))
	}
}

// halves applies a function of 16-bit floats, given as bits in an i32, to a scalar or to both parts of a packed pair.
func (x *inst) halves(fn func(b approx.Ops[*ir.Value], v *ir.Value) *ir.Value, a *ir.Value) *ir.Value {
	b := x.approx(true)
	one := func(h *ir.Value) *ir.Value {
		bits := x.resize(x.cast(h, ir.I16), 32, false)
		return x.cast(x.resize(fn(b, bits), 16, false), h.Type)
	}
	var elem ir.Type
	switch a.Type {
	case ir.F16x2:
		elem = ir.F16
	case ir.BF16x2:
		elem = ir.BF16
	default:
		return one(a)
	}
	u := x.b.EmitN(ir.Unpack, []ir.Type{elem, elem}, ir.Attr{}, a)
	lo, hi := one(u.Results[0]), one(u.Results[1])
	return x.b.Emit(ir.Pack, a.Type, ir.Attr{}, lo, hi)
}

func isBF16(t ir.Type) bool { return t == ir.BF16 || t == ir.BF16x2 }

func lowerEx2(x *inst) {
	a := x.arg("a")
	switch {
	case a.Type == ir.F32 && x.opts.Approximate:
		x.result(x.opWith(ir.FExp2, ir.Attr{FTZ: x.Has(isa.ModFtz)}, a))
	case a.Type == ir.F32:
		unaryApprox(approx.Ex2[*ir.Value])(x)
	case isBF16(a.Type):
		x.result(x.halves(approx.Ex2BF16[*ir.Value], a))
	default:
		x.result(x.halves(approx.Ex2F16[*ir.Value], a))
	}
}

func lowerLg2(x *inst) {
	if x.opts.Approximate {
		x.result(x.opWith(ir.FLog2, ir.Attr{FTZ: x.Has(isa.ModFtz)}, x.arg("a")))
		return
	}
	unaryApprox(approx.Lg2[*ir.Value])(x)
}

func lowerTanh(x *inst) {
	a := x.arg("a")
	switch {
	case a.Type == ir.F32:
		x.result(approx.Tanh(x.approx(true), a)) // the same whether subnormals are flushed or not: no kernel must do without the flush mode for it
	case isBF16(a.Type):
		x.result(x.halves(approx.TanhBF16[*ir.Value], a))
	default:
		x.result(x.halves(approx.TanhF16[*ir.Value], a))
	}
}
