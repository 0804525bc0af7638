package lower

import (
	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

func lowerCvt(x *inst) {
	d, a := x.Type("dtype"), x.Type("atype")
	switch {
	case d == isa.S2F6x2:
		x.toFixed(a)
	case a == isa.S2F6x2 || x.Has(isa.ModScaledN2Ue8m0):
		x.scaledPair(a)
	case narrowFormat(d) != fmtNone:
		x.toFormat(d, a)
	case narrowFormat(a) != fmtNone:
		x.fromFormat(d, a)
	case d == isa.F16x2 || d == isa.BF16x2:
		x.toPair(d)
	default:
		x.result(x.convert(x.arg("a"), d, a))
	}
}

// convert turns v of PTX type from into PTX type to, as cvt's modifiers say.
func (x *inst) convert(v *ir.Value, to, from isa.Type) *ir.Value {
	sf, df := irTypes[from].IsFloat(), irTypes[to].IsFloat()
	switch {
	case sf && df:
		return x.floatToFloat(v, irTypes[to])
	case sf:
		return x.floatToInt(v, to)
	case df:
		return x.intToFloat(v, to, from)
	}
	return x.intToInt(v, to, from)
}

func (x *inst) intToInt(v *ir.Value, to, from isa.Type) *ir.Value {
	if x.Has(isa.ModSat) {
		v = x.clampInt(v, to, from)
	}
	return x.resize(v, to.Bits(), from.IsSigned())
}

// clampInt limits v to what type to can hold. It works in v's own width: a type that holds every value of from limits nothing.
func (x *inst) clampInt(v *ir.Value, to, from isa.Type) *ir.Value {
	n, m := to.Bits(), from.Bits()
	t := v.Type
	switch {
	case from.IsSigned() && to.IsSigned():
		if n < m {
			v = x.op(ir.MaxS, x.op(ir.MinS, v, constOf(t, 1<<(n-1)-1)), constOf(t, -1<<(n-1)))
		}
	case from.IsSigned():
		v = x.op(ir.MaxS, v, constOf(t, 0))
		if n < m {
			v = x.op(ir.MinS, v, constOf(t, 1<<n-1))
		}
	case to.IsSigned():
		if n <= m {
			v = x.op(ir.MinU, v, constOf(t, 1<<(n-1)-1))
		}
	default:
		if n < m {
			v = x.op(ir.MinU, v, constOf(t, 1<<n-1))
		}
	}
	return v
}

func (x *inst) intToFloat(v *ir.Value, to, from isa.Type) *ir.Value {
	op := ir.UToF
	if from.IsSigned() {
		op = ir.SToF
	}
	if v.Type == ir.I8 || v.Type == ir.I16 {
		v = x.resize(v, 32, from.IsSigned())
	}
	if to == isa.F16 {
		return x.intToHalf(v, from.IsSigned())
	}
	return x.saturate(x.b.Emit(op, irTypes[to], ir.Attr{Rnd: roundings[x.Mod("rnd")]}, v))
}

// intToHalf goes through f32: beyond ±2^17 every integer rounds as ±2^17 does, and below that f32 is exact.
func (x *inst) intToHalf(v *ir.Value, signed bool) *ir.Value {
	lim := constOf(v.Type, 1<<17)
	op := ir.UToF
	if signed {
		op = ir.SToF
		v = x.op(ir.MaxS, x.op(ir.MinS, v, lim), constOf(v.Type, -1<<17))
	} else {
		v = x.op(ir.MinU, v, lim)
	}
	f := x.b.Emit(op, ir.F32, ir.Attr{}, x.resize(v, 32, signed))
	return x.saturate(x.b.Emit(ir.FTrunc, ir.F16, ir.Attr{Rnd: roundings[x.Mod("rnd")]}, f))
}

// saturate limits a float to 0…1 where .sat was written; a NaN becomes 0.
func (x *inst) saturate(v *ir.Value) *ir.Value {
	if !x.Has(isa.ModSat) {
		return v
	}
	one := map[ir.Type]uint64{ir.F16: 0x3c00, ir.BF16: 0x3f80, ir.F32: 0x3f800000, ir.F64: 0x3ff0000000000000}[v.Type]
	return x.op(ir.FMin, x.op(ir.FMax, v, ir.ConstInt(v.Type, 0)), ir.ConstInt(v.Type, one))
}

// floatToInt saturates to the range of to, as PTX says every such conversion does. Narrow integers go through 32 bits.
func (x *inst) floatToInt(v *ir.Value, to isa.Type) *ir.Value {
	attr := ir.Attr{Rnd: roundings[x.Mod("rnd")], FTZ: x.Has(isa.ModFtz)}
	op, wide := ir.FToU, isa.U32
	if to.IsSigned() {
		op, wide = ir.FToS, isa.S32
	}
	if to.Bits() >= 32 {
		return x.b.Emit(op, irTypes[to], attr, v)
	}
	r := x.clampInt(x.b.Emit(op, ir.I32, attr, v), to, wide)
	if v.Type == ir.F64 && !to.IsSigned() {
		// A NaN in f64 gives the integer's top bit, whatever its width; only signed clamping keeps that.
		nan := x.b.Emit(ir.FCmp, ir.I1, ir.Attr{Cmp: ir.NAN}, v, v)
		r = x.sel(nan, i32(1<<(to.Bits()-1)), r)
	}
	return x.resize(r, to.Bits(), false)
}

func (x *inst) floatToFloat(v *ir.Value, to ir.Type) *ir.Value {
	have := v.Type
	// Between f32 and f16 .ftz flushes nothing: neither subnormals of f16 nor those of f32, which .rm and .rp round to one of f16's.
	attr := ir.Attr{Rnd: roundings[x.Mod("rnd")], FTZ: x.Has(isa.ModFtz) && have != ir.F16 && to != ir.F16}
	switch {
	case have == to:
		return x.sameFloat(v, attr)
	case have == ir.BF16 && to == ir.F32 && !attr.FTZ:
		// The bits moved up, NaN payloads and all.
		b := x.op(ir.Shl, x.resize(x.cast(v, ir.I16), 32, false), i32(16))
		return x.saturate(x.cast(b, ir.F32))
	case have.Bits() < to.Bits():
		return x.saturate(x.b.Emit(ir.FExt, to, ir.Attr{FTZ: attr.FTZ}, v))
	case have.Bits() == 16: // f16 and bf16: exact in f32
		return x.narrow(x.b.Emit(ir.FExt, ir.F32, ir.Attr{}, v), to, attr)
	}
	return x.narrow(v, to, attr)
}

// sameFloat is cvt within one type: to an integral value, flushed, saturated, or just a copy. Of f16 and bf16 the hardware
// makes an addition of nothing, which leaves one NaN.
func (x *inst) sameFloat(v *ir.Value, attr ir.Attr) *ir.Value {
	switch x.Mod("rnd") {
	case isa.ModRni, isa.ModRzi, isa.ModRmi, isa.ModRpi:
		v = x.opWith(ir.FRound, attr, v)
	default:
		switch {
		case attr.FTZ:
			v = x.flush(v)
		case v.Type.Bits() == 16:
			nan := x.b.Emit(ir.FCmp, ir.I1, ir.Attr{Cmp: ir.NAN}, v, v)
			v = x.sel(nan, ir.ConstInt(v.Type, 0x7fff), v)
		}
	}
	return x.saturate(v)
}

// flush turns subnormals into zeros of their sign and NaNs into the canonical one, as the hardware's conversion does: negating
// twice does both, and unlike multiplying by one it is nothing that an optimiser takes for a copy.
func (x *inst) flush(v *ir.Value) *ir.Value {
	return x.op(ir.FNeg, x.opWith(ir.FNeg, ir.Attr{FTZ: true}, v))
}

var maxFinite = map[ir.Type]uint64{ir.F16: 0x477fe000, ir.BF16: 0x7f7f0000} // as f32

// narrow rounds to a smaller float. .satfinite limits to finite values first, which rounding then cannot leave; .relu
// replaces negative results by 0.
func (x *inst) narrow(v *ir.Value, to ir.Type, attr ir.Attr) *ir.Value {
	if x.Has(isa.ModSatfinite) {
		m := maxFinite[to]
		v = x.opWith(ir.FMin, ir.Attr{NaN: true}, v, ir.ConstInt(ir.F32, m))
		v = x.opWith(ir.FMax, ir.Attr{NaN: true}, v, ir.ConstInt(ir.F32, m|1<<31))
	}
	attr.Relu = x.Has(isa.ModRelu)
	return x.saturate(x.b.Emit(ir.FTrunc, to, attr, v))
}

// toPair is cvt.f16x2.f32 d, a, b: a is the high half. With .rs the random bits are a further argument, 16 for each half.
func (x *inst) toPair(d isa.Type) {
	if !x.has("b") {
		x.fail("%s", x.spelling())
	}
	elem := elemType(d)
	if x.Has(isa.ModRs) {
		f := halfFmts[d]
		most := f.max
		if x.Has(isa.ModSatfinite) {
			most--
		}
		v := x.packRandom([]*ir.Value{x.arg("b"), x.arg("a")}, f, x.arg("rbits"), most, x.Has(isa.ModRelu), ir.I32)
		x.result(x.cast(v, irTypes[d]))
		return
	}
	attr := ir.Attr{Rnd: roundings[x.Mod("rnd")]}
	lo := x.narrow(x.arg("b"), elem, attr)
	hi := x.narrow(x.arg("a"), elem, attr)
	x.result(x.b.Emit(ir.Pack, irTypes[d], ir.Attr{}, lo, hi))
}

// narrowFormat is the format of the values that t is made of.
func narrowFormat(t isa.Type) format {
	elem, _ := t.Elem()
	switch elem {
	case isa.E4M3:
		return fmtE4M3
	case isa.E5M2:
		return fmtE5M2
	case isa.E2M3:
		return fmtE2M3
	case isa.E3M2:
		return fmtE3M2
	case isa.E2M1:
		return fmtE2M1
	case isa.UE8M0:
		return fmtUE8M0
	case isa.TF32:
		return fmtTF32
	}
	return fmtNone
}

// toFormat packs f32 values (halves widen exactly) into a narrow format, the last operand lowest.
func (x *inst) toFormat(d, a isa.Type) {
	to := narrowFormat(d)
	attr := ir.Attr{Rnd: roundings[x.Mod("rnd")], Sat: x.Has(isa.ModSatfinite), Relu: x.Has(isa.ModRelu)}
	for _, m := range x.Mods {
		if m == isa.ModRna || m == isa.ModRs {
			attr.Rnd = roundings[m]
		}
	}
	var args []*ir.Value
	switch {
	case a == isa.F16x2 || a == isa.BF16x2:
		elem := elemType(a)
		u := x.b.EmitN(ir.Unpack, []ir.Type{elem, elem}, ir.Attr{}, x.cast(x.arg("a"), irTypes[a]))
		for _, r := range u.Results {
			args = append(args, x.b.Emit(ir.FExt, ir.F32, ir.Attr{}, r))
		}
	case x.Args[1].Kind == ptx.OpVec:
		vs := x.elems("a", isa.F32)
		for i := len(vs) - 1; i >= 0; i-- {
			args = append(args, vs[i])
		}
	case x.has("b"):
		args = []*ir.Value{x.arg("b"), x.arg("a")}
	default:
		args = []*ir.Value{x.arg("a")}
	}
	if to == fmtTF32 {
		x.result(x.tf32(args[0], attr.Rnd))
		return
	}
	if f, ok := narrowFmts[to]; ok && attr.Rnd == ir.RN && attr.Sat {
		x.result(x.packNarrow(args, f, attr.Relu, irTypes[d]))
		return
	}
	switch f, ok := narrowFmts[to]; {
	case ok && attr.Rnd == ir.RS && attr.Sat:
		x.result(x.packRandom(args, f, x.arg("rbits"), f.max, attr.Relu, irTypes[d]))
	case to == fmtUE8M0 && (attr.Rnd == ir.RZ || attr.Rnd == ir.RP):
		x.result(x.powers(args, attr.Rnd == ir.RP, attr.Sat, irTypes[d]))
	default:
		x.fail("%s", x.spelling())
	}
}

// fromFormat widens a pair to f16x2 (or bf16x2 from ue8m0).
func (x *inst) fromFormat(d, a isa.Type) {
	elem := elemType(d)
	var parts []*ir.Value
	if f, ok := narrowFmts[narrowFormat(a)]; ok {
		parts = x.widenNarrow(x.arg("a"), f, 2)
	} else {
		parts = x.fromPowers(x.arg("a"), 2) // ue8m0; only to bf16
	}
	if elem == ir.BF16 && parts[0].Type == ir.F16 {
		for i, p := range parts {
			parts[i] = x.narrow(x.b.Emit(ir.FExt, ir.F32, ir.Attr{}, p), ir.BF16, ir.Attr{Rnd: ir.RN})
		}
	}
	v := x.b.Emit(ir.Pack, irTypes[d], ir.Attr{}, parts...)
	if x.Has(isa.ModRelu) {
		v = x.op(ir.FRelu, v)
	}
	x.result(x.cast(v, irTypes[x.opType(0)]))
}

// lowerCvtPack saturates a and b to the small type and packs them: b lowest; with c, its low bits move up above them.
func lowerCvtPack(x *inst) {
	t := x.Type("dtype")
	n := t.Bits()
	part := func(name string) *ir.Value {
		v := x.clampInt(x.arg(name), t, isa.S32)
		return x.op(ir.And, v, i32(1<<n-1))
	}
	r := x.op(ir.Or, x.op(ir.Shl, part("a"), i32(int64(n))), part("b"))
	if x.has("c") {
		r = x.op(ir.Or, x.op(ir.Shl, x.arg("c"), i32(int64(2*n))), r)
	}
	x.result(r)
}
