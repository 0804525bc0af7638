package simt

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// The common way of floating point: operations of IEEE 754 with subnormal numbers on, rounded to nearest; flushing is written
// out. Packed pairs are vectors of two while they are computed with.

// halves applies op to the parts of packed pairs, or to the values themselves.
func (e *emitter) halves(t ir.Type, a []ll.Val, op func(el ir.Type, a []ll.Val) ll.Val) ll.Val {
	el, packed := emit.Element(t)
	if !packed {
		return op(t, a)
	}
	vt := ll.Vec(2, typ(el))
	r := ll.Poison(vt)
	parts := make([]ll.Val, len(a))
	for i, x := range a {
		parts[i] = e.Bitcast(x, vt)
	}
	for j := range 2 {
		one := make([]ll.Val, len(a))
		for i, p := range parts {
			one[i] = e.Extract(p, j)
		}
		r = e.Insert(r, op(el, one), j)
	}
	return e.Bitcast(r, "i32")
}

// fc is a float constant given by its bits.
func fc(t ir.Type, bits uint64) ll.Val { return emit.Const(t, bits) }

// flushed is an operand as in wants it.
func (e *emitter) flushed(in *ir.Inst, t ir.Type, x ll.Val) ll.Val {
	if !in.FTZ || (in.EitherFTZ || e.flush) && t == ir.F32 || t != ir.F32 && t != ir.F16 {
		return x
	}
	return e.flushBits(x, t)
}

// flushBits turns subnormals into zeros of their sign.
func (e *emitter) flushBits(x ll.Val, t ir.Type) ll.Val {
	f := emit.Formats[t]
	b := e.Bits(x)
	tiny := e.ICmp("eq", e.And(b, b.Int(int64(f.Inf))), b.Int(0))
	zero := e.Bitcast(e.And(b, b.Int(int64(f.Sign))), x.T)
	return e.Select(tiny, zero, x)
}

// flushTiny flushes the result r of an f32 operation on args as the hardware does: by the result rounded as if exponents had no
// end. What only rounds up to the least normal number because subnormals are coarser is flushed too.
func (e *emitter) flushTiny(in *ir.Inst, r ll.Val, args []ll.Val) ll.Val {
	f := emit.Formats[ir.F32]
	b := e.Bits(r)
	tiny := e.ICmp("eq", e.And(b, b.Int(int64(f.Inf))), b.Int(0))
	const up, bound, step = 0x5f800000, 0x20800000, 0x14000000 // 2^64, 2^-62 = least × 2^64, 2^-87
	scale := func(x ll.Val) ll.Val { return e.FMul(x, fc(ir.F32, up)) }
	below := func(x ll.Val) { // x is the result times 2^64, or overflows and says nothing
		tiny = e.Or(tiny, e.FCmp("olt", e.Intr("fabs", x), fc(ir.F32, bound)))
	}
	switch {
	case in.Op == ir.FMul:
		below(e.arith(in, ir.F32, []ll.Val{scale(args[0]), args[1]}))
	case in.Op == ir.FFma:
		below(e.arith(in, ir.F32, []ll.Val{scale(args[0]), args[1], scale(args[2])}))
	case (in.Op == ir.FDiv || in.Op == ir.FRcp) && in.Rnd != ir.RN:
		below(e.arith(in, ir.F32, []ll.Val{scale(args[0]), args[1]}))
	case in.Op == ir.FDiv:
		// |a/b| is below least - 2^-151, half a step: |a|×2^64 - |b|×2^-62 + |b|×2^-87 is negative.
		x, y := e.Intr("fabs", args[0]), e.Intr("fabs", args[1])
		d := e.Intr("fma", y, fc(ir.F32, bound|1<<31), scale(x))
		d = e.Intr("fma", y, fc(ir.F32, step), d)
		tiny = e.Or(tiny, e.FCmp("olt", d, fc(ir.F32, 0)))
	}
	return e.Select(tiny, e.Bitcast(e.And(b, b.Int(int64(f.Sign))), "float"), r)
}

func emitArith(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	e.result(in, e.halves(t, e.operands(in), func(el ir.Type, a []ll.Val) ll.Val {
		args := make([]ll.Val, len(a))
		for i, x := range a {
			args[i] = e.flushed(in, el, x)
		}
		if in.Op == ir.FRcp {
			args = append([]ll.Val{fc(el, emit.Formats[el].One)}, args...)
		}
		r := e.arith(in, el, args)
		switch {
		case el == ir.F64 && e.dirty != nil && !e.computed[in.Results[0]]:
			r = e.pickNaN(in, r, a)
		case el == ir.F16 && in.FTZ:
			r = e.flushBits(r, el)
		case el == ir.F32 && in.FTZ && !in.EitherFTZ && !e.flush:
			r = e.flushTiny(in, r, args)
		}
		if in.Sat {
			r = e.saturate(r, el)
		}
		return r
	}))
}

// pickNaN gives an f64 NaN the bits that NVIDIA's hardware gives it: the second operand's payload, else the third's, else the first's, made
// quiet, else the NaN of its own. What loops compute with further goes without (keptNaNs).
func (e *emitter) pickNaN(in *ir.Inst, r ll.Val, a []ll.Val) ll.Val {
	order := a
	switch in.Op {
	case ir.FFma:
		order = []ll.Val{a[0], a[2], a[1]}
	case ir.FDiv:
		order = []ll.Val{a[1], a[0]}
	}
	r = e.Select(e.FCmp("uno", r, r), fc(ir.F64, emit.Formats[ir.F64].NaN), r)
	for _, x := range order {
		b := e.Bits(x)
		r = e.Select(e.FCmp("uno", x, x), e.Bitcast(e.Or(b, b.Int(1<<51)), "double"), r)
	}
	return r
}

// sqrt is a square root behind a fence. LLVM 22 turns a test of the root for NaN into a test of its operand for numbers below
// zero, and its code generator then takes the root itself for the NaN that is selected there, whatever bits that one has.
func (e *emitter) sqrt(x ll.Val) ll.Val {
	return e.fence(e.Intr("sqrt", x))
}

// fence keeps a number apart from LLVM's folding. AMD's code generator (19 to 22) cannot select the intrinsic of a number that all
// lanes share and that a vector unit made: there it is a vector register that LLVM does not see into.
func (e *emitter) fence(x ll.Val) ll.Val {
	if _, ok := e.t.(amdgcn); ok {
		return e.Op(x.T, `call %s asm "", "=v,0"(%s)`, x.T, x)
	}
	return e.Intr("arithmetic.fence", x)
}

// arith is one operation on elements of type t, rounded as in says.
func (e *emitter) arith(in *ir.Inst, t ir.Type, a []ll.Val) ll.Val {
	switch {
	case t == ir.F32 && in.OneUlp:
		return e.rough(in, a)
	case t == ir.BF16:
		return e.arithBF16(in, a)
	case t == ir.F16 && in.FTZ && in.Op == ir.FMul && in.Rnd == ir.RN:
		return e.flushToF16(e.FMul(e.FPExt(a[0], "float"), e.FPExt(a[1], "float")))
	case in.Rnd != ir.RN:
		return e.directed(in, t, a)
	case t == ir.F16 && in.FTZ && in.Op == ir.FFma:
		return e.flushToF16(e.oddFma(e.FPExt(a[0], "float"), e.FPExt(a[1], "float"), e.FPExt(a[2], "float")))
	case in.Op == ir.FFma:
		return e.Intr("fma", a...)
	case in.Op == ir.FSqrt:
		return e.sqrt(a[0])
	}
	return e.Binary(emit.Arith[in.Op], a[0], a[1])
}

// flushToF16 narrows a product or a fused sum, exact or rounded to odd, and flushes by that: what only rounds up to the least normal
// number is flushed too.
func (e *emitter) flushToF16(p ll.Val) ll.Val {
	tiny := e.FCmp("olt", e.Intr("fabs", p), fc(ir.F32, 0x387ff000))
	pb := e.Bits(p)
	zero := e.Bitcast(e.And(pb, pb.Int(-1<<31)), "float")
	return e.FPTrunc(e.Select(tiny, zero, p), "half")
}

// arithBF16 computes in f32. Twice eight bits and two fit in 24, so rounding twice is harmless for all but the fused operation,
// which rounds to odd first.
func (e *emitter) arithBF16(in *ir.Inst, a []ll.Val) ll.Val {
	if in.Rnd != ir.RN {
		e.fail("%s of bf16 with a directed rounding", in.Op)
	}
	w := make([]ll.Val, len(a))
	for i, x := range a {
		w[i] = e.widenBF16(x)
	}
	switch in.Op {
	case ir.FFma:
		return e.narrowBF16(e.oddFma(w[0], w[1], w[2]))
	case ir.FSqrt:
		return e.narrowBF16(e.sqrt(w[0]))
	}
	return e.narrowBF16(e.Binary(emit.Arith[in.Op], w[0], w[1]))
}

// oddFma is a fused operation of narrow numbers with f32, rounded to odd, so that rounding it once more is as if it had been
// rounded once; what f32 rounded away is found with the product, which is exact where it matters (emit/warp, fmaNarrow).
func (e *emitter) oddFma(a, b, c ll.Val) ll.Val {
	p := e.FMul(a, b)
	s := e.Intr("fma", a, b, c)
	pv := e.FSub(s, c)
	cv := e.FSub(s, pv)
	err := e.FAdd(e.FSub(p, pv), e.FSub(c, cv))
	inexact := e.FCmp("one", err, fc(ir.F32, 0))
	sb, eb := e.Bits(s), e.Bits(err)
	even := e.ICmp("eq", e.And(sb, sb.Int(1)), sb.Int(0))
	toward0 := e.ICmp("slt", e.Xor(sb, eb), sb.Int(0))
	moved := e.Add(sb, e.Select(toward0, sb.Int(-1), sb.Int(1)))
	return e.Bitcast(e.Select(e.And(inexact, even), moved, sb), "float")
}

// widenBF16 is exact.
func (e *emitter) widenBF16(x ll.Val) ll.Val {
	w := e.ZExt(x, "i32")
	return e.Bitcast(e.Shl(w, w.Int(16)), "float")
}

// narrowBF16 rounds to nearest even; NaNs become the canonical one.
func (e *emitter) narrowBF16(x ll.Val) ll.Val {
	b := e.Bits(x)
	odd := e.And(e.LShr(b, b.Int(16)), b.Int(1))
	r := e.LShr(e.Add(b, e.Add(odd, b.Int(0x7fff))), b.Int(16))
	r = e.Select(e.FCmp("uno", x, fc(ir.F32, 0)), r.Int(0x7fff), r)
	return e.Trunc(r, "i16")
}

// truncBF16 rounds towards zero or an infinity, or ties away.
func (e *emitter) truncBF16(x ll.Val, rnd ir.Rnd) ll.Val {
	b := e.Bits(x)
	some := e.ZExt(e.ICmp("ne", e.And(b, b.Int(0xffff)), b.Int(0)), "i32")
	neg := e.ICmp("slt", b, b.Int(0))
	r := e.LShr(b, b.Int(16))
	switch rnd {
	case ir.RP:
		r = e.Add(r, e.Select(neg, b.Int(0), some))
	case ir.RM:
		r = e.Add(r, e.Select(neg, some, b.Int(0)))
	case ir.RNA:
		r = e.LShr(e.Add(b, b.Int(0x8000)), b.Int(16))
	}
	r = e.Select(e.FCmp("uno", x, fc(ir.F32, 0)), r.Int(0x7fff), r)
	return e.Trunc(r, "i16")
}

// saturate clamps to 0…1, a NaN to +0.
func (e *emitter) saturate(x ll.Val, t ir.Type) ll.Val {
	if t == ir.BF16 {
		return e.narrowBF16(e.saturate(e.widenBF16(x), ir.F32))
	}
	zero, one := fc(t, 0), fc(t, emit.Formats[t].One)
	x = e.Select(e.FCmp("ogt", x, zero), x, zero)
	return e.Select(e.FCmp("olt", x, one), x, one)
}

// emitSign is FNeg and FAbs on the bits: a NaN becomes the canonical one, of f64 a quiet one.
func emitSign(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	e.result(in, e.halves(t, e.operands(in), func(el ir.Type, a []ll.Val) ll.Val {
		x := a[0]
		if in.FTZ && (el == ir.F32 || el == ir.F16) { // the mode does not reach operations on bits
			x = e.flushBits(x, el)
		}
		f := emit.Formats[el]
		b := e.Bits(x)
		mag := e.And(b, b.Int(int64(f.Sign-1)))
		nan := e.ICmp("ugt", mag, b.Int(int64(f.Inf)))
		r := mag
		if in.Op == ir.FNeg {
			r = e.Xor(b, b.Int(int64(f.Sign)))
		}
		other := b.Int(int64(f.NaN))
		if el == ir.F64 {
			other = e.Or(b, b.Int(1<<51))
		}
		return e.Bitcast(e.Select(nan, other, r), x.T)
	}))
}

func emitCopysign(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	e.result(in, e.halves(t, []ll.Val{e.clean(in.Args[0]), e.clean(in.Args[1])}, func(el ir.Type, a []ll.Val) ll.Val {
		f := emit.Formats[el]
		x, s := e.Bits(a[0]), e.Bits(a[1])
		r := e.Or(e.And(x, x.Int(int64(f.Sign-1))), e.And(s, s.Int(int64(f.Sign))))
		return e.Bitcast(r, a[0].T)
	}))
}

// emitMinMax: a NaN gives the other operand, or NaN where asked; -0 is less than +0.
func emitMinMax(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	args := e.operands(in)
	if in.XorSign { // .xorsign.abs looks at the signs, NaNs' too
		args = []ll.Val{e.clean(in.Args[0]), e.clean(in.Args[1])}
	}
	e.result(in, e.halves(t, args, func(el ir.Type, a []ll.Val) ll.Val {
		x, y := a[0], a[1]
		if in.FTZ && (el == ir.F32 || el == ir.F16) {
			x, y = e.flushBits(x, el), e.flushBits(y, el)
		}
		return e.minMax(in.Op == ir.FMax, in.NaN, in.XorSign, x, y, el)
	}))
}

// minMax compares the bits as numbers of sign and magnitude, in which -0 is below +0.
func (e *emitter) minMax(largest, nan, xorsign bool, x, y ll.Val, t ir.Type) ll.Val {
	f := emit.Formats[t]
	a, b := e.Bits(x), e.Bits(y)
	mag := func(v ll.Val) ll.Val { return e.And(v, v.Int(int64(f.Sign-1))) }
	isNaN := func(v ll.Val) ll.Val { return e.ICmp("ugt", mag(v), v.Int(int64(f.Inf))) }
	an, bn := isNaN(a), isNaN(b)
	var sign ll.Val
	if xorsign {
		xs := e.Xor(a, b)
		sign = e.And(xs, xs.Int(int64(f.Sign)))
		a, b = mag(a), mag(b)
	}
	key := func(v ll.Val) ll.Val {
		s := e.AShr(v, v.Int(int64(v.T.Bits()-1)))
		return e.Xor(v, e.And(s, v.Int(int64(f.Sign-1))))
	}
	cmp := ll.Pred("slt")
	if largest {
		cmp = "sgt"
	}
	r := e.Select(e.ICmp(cmp, key(a), key(b)), a, b)
	if !nan {
		r = e.Select(an, b, e.Select(bn, a, r)) // of two NaNs the second
	}
	if xorsign {
		r = e.Or(mag(r), sign)
	}
	switch { // a NaN has no other's sign
	case nan:
		r = e.Select(e.Or(an, bn), r.Int(int64(f.NaN)), r)
	case t == ir.F64:
		r = e.Select(e.And(an, bn), e.Or(r, r.Int(1<<51)), r)
	default:
		r = e.Select(e.And(an, bn), r.Int(int64(f.NaN)), r)
	}
	return e.Bitcast(r, x.T)
}

var roundNames = map[ir.Rnd]string{ir.RN: "roundeven", ir.RZ: "trunc", ir.RM: "floor", ir.RP: "ceil"}

func emitFRound(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	x := e.flushed(in, t, e.val(in.Args[0]))
	var r ll.Val
	if t == ir.BF16 {
		r = e.narrowBF16(e.roundIntegral(e.widenBF16(x), in.Rnd))
	} else {
		r = e.roundIntegral(x, in.Rnd)
	}
	if in.Sat {
		r = e.saturate(r, t)
	}
	e.result(in, r)
}

func (e *emitter) roundIntegral(x ll.Val, rnd ir.Rnd) ll.Val {
	name, ok := roundNames[rnd]
	if !ok {
		e.fail("rounding %s to an integer", rnd)
	}
	return e.Intr(name, x)
}

// emitFRelu: negative numbers and -0 become +0, NaN the canonical one.
func emitFRelu(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	e.result(in, e.halves(t, e.operands(in), func(el ir.Type, a []ll.Val) ll.Val {
		return e.relu(a[0], el)
	}))
}

func (e *emitter) relu(x ll.Val, t ir.Type) ll.Val {
	f := emit.Formats[t]
	b := e.Bits(x)
	nan := e.ICmp("ugt", e.And(b, b.Int(int64(f.Sign-1))), b.Int(int64(f.Inf)))
	neg := e.ICmp("slt", b, b.Int(0))
	return e.Bitcast(e.Select(nan, b.Int(int64(f.NaN)), e.Select(neg, b.Int(0), b)), x.T)
}

// canonical gives NaNs the bits that the hardware gives them.
func (e *emitter) canonical(x ll.Val, t ir.Type) ll.Val {
	if t != ir.F16 && t != ir.F32 {
		return x
	}
	return e.Select(e.FCmp("uno", x, fc(t, 0)), fc(t, emit.Formats[t].NaN), x)
}
