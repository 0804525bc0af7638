package lower

import (
	"kudzu/internal/ir"
	"kudzu/internal/ptx/isa"
)

// Conversions with scale factors, and the fixed-point pairs: an s2f6 is a byte, two's complement, in 64ths.

// scales are the two scale factors as f32 exponents without bias: of the low part, then the high; and whether each is a NaN.
func (x *inst) scales() (exp, nan [2]*ir.Value) {
	s := i32(0x7f7f)
	if x.has("scale") {
		s = x.resize(x.arg("scale"), 32, false)
	}
	for i := range exp {
		b := x.op(ir.And, x.op(ir.ShrU, s, i32(int64(8*i))), i32(0xff))
		exp[i] = x.op(ir.Sub, b, i32(127))
		nan[i] = x.icmp(ir.EQ, b, i32(0xff))
	}
	return exp, nan
}

// scaleBy multiplies an f32 by 2^exp, |exp| < 250: by two powers, each of which is a normal number.
func (x *inst) scaleBy(v, exp *ir.Value) *ir.Value {
	half := x.op(ir.ShrS, exp, i32(1))
	for _, e := range []*ir.Value{half, x.op(ir.Sub, exp, half)} {
		p := x.cast(x.op(ir.Shl, x.op(ir.Add, e, i32(127)), i32(23)), ir.F32)
		v = x.opWith(ir.FMul, ir.Attr{Rnd: ir.RN}, v, p)
	}
	return v
}

// toFixed is cvt to .s2f6x2: each input over its scale factor, to the nearest 64th, within the byte's range; a NaN is the
// largest value.
func (x *inst) toFixed(a isa.Type) {
	var in [2]*ir.Value
	if a == isa.BF16x2 {
		u := x.b.EmitN(ir.Unpack, []ir.Type{ir.BF16, ir.BF16}, ir.Attr{}, x.cast(x.arg("a"), irTypes[a]))
		for i := range in {
			in[i] = x.b.Emit(ir.FExt, ir.F32, ir.Attr{}, u.Results[i])
		}
	} else {
		in = [2]*ir.Value{x.arg("b"), x.arg("a")}
	}
	exp, bad := x.scales()
	var out [2]*ir.Value
	for i, v := range in {
		nan := x.op(ir.Or, bad[i], x.b.Emit(ir.FCmp, ir.I1, ir.Attr{Cmp: ir.NAN}, v, v))
		v = x.scaleBy(v, x.op(ir.Sub, i32(6), exp[i]))
		r := x.b.Emit(ir.FToS, ir.I32, ir.Attr{Rnd: ir.RN}, v)
		least := int64(-128)
		if x.Has(isa.ModRelu) {
			least = 0
		}
		r = x.op(ir.MaxS, x.op(ir.MinS, r, i32(127)), i32(least))
		out[i] = x.op(ir.And, x.sel(nan, i32(127), r), i32(0xff))
	}
	r := x.op(ir.Or, out[0], x.op(ir.Shl, out[1], i32(8)))
	x.result(x.resize(r, 16, false))
}

// scaledPair is cvt to .bf16x2 from a narrow pair, times its scale factors.
func (x *inst) scaledPair(a isa.Type) {
	var in []*ir.Value
	exp, bad := x.scales()
	if a == isa.S2F6x2 {
		v := x.resize(x.arg("a"), 32, false)
		for i := range exp {
			b := x.op(ir.ShrS, x.op(ir.Shl, v, i32(int64(24-8*i))), i32(24))
			in = append(in, x.b.Emit(ir.SToF, ir.F32, ir.Attr{Rnd: ir.RN}, b))
			exp[i] = x.op(ir.Sub, exp[i], i32(6))
		}
	} else {
		for _, p := range x.widenNarrow(x.arg("a"), narrowFmts[narrowFormat(a)], 2) {
			in = append(in, x.b.Emit(ir.FExt, ir.F32, ir.Attr{}, p))
		}
	}
	for i := range in {
		v := x.sel(bad[i], ir.ConstInt(ir.F32, 0x7fffffff), x.scaleBy(in[i], exp[i]))
		in[i] = x.narrow(v, ir.BF16, ir.Attr{Rnd: ir.RN})
	}
	v := x.b.Emit(ir.Pack, ir.BF16x2, ir.Attr{}, in...)
	x.result(x.cast(v, irTypes[x.opType(0)]))
}
