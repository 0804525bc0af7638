package warp

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// unpair sees a packed pair as twice as many elements; pair is the way back.
func (e *emitter) unpair(x ll.Val, t ir.Type) ll.Val {
	el, packed := emit.Element(t)
	if !packed {
		return x
	}
	n, _ := x.T.Split()
	vt := ll.Vec(2*n, typ(el))
	return e.Bitcast(x, vt)
}

func (e *emitter) pair(x ll.Val, t ir.Type, n int) ll.Val {
	if _, packed := emit.Element(t); !packed {
		return x
	}
	vt := ll.Vec(n, "i32")
	return e.Bitcast(x, vt)
}

// needsFlush reports an operation that must flush by itself: it asks for it, and the processor's mode does not do it.
func (e *emitter) needsFlush(in *ir.Inst) bool { return in.FTZ && !e.flush && !in.EitherFTZ }

// flushed is an operand as in wants it.
func (e *emitter) flushed(in *ir.Inst, t ir.Type, x ll.Val) ll.Val {
	if t != ir.F32 && t != ir.F16 || !in.FTZ || t == ir.F32 && !e.needsFlush(in) {
		return x
	}
	return e.flushBits(x, t)
}

// flushBits turns subnormals into zeros of their sign.
func (e *emitter) flushBits(x ll.Val, t ir.Type) ll.Val {
	f := emit.Formats[t]
	b := e.Bits(x)
	tiny := e.ICmp("eq", e.And(b, b.Int(int64(f.Inf))), b.Int(0))
	zero := e.Recast(e.And(b, b.Int(int64(f.Sign))), typ(t))
	return e.Select(tiny, zero, x)
}

// flushTiny flushes the result r of an f32 operation on args as the hardware and x86's flush mode do: by the result rounded
// as if exponents had no end. What only rounds up to the least normal number because subnormals are coarser is flushed too.
// Sums are exact there, and a reciprocal or a root never comes near.
func (e *emitter) flushTiny(in *ir.Inst, r ll.Val, args []ll.Val) ll.Val {
	f := emit.Formats[ir.F32]
	b := e.Bits(r)
	tiny := e.ICmp("eq", e.And(b, b.Int(int64(f.Inf))), b.Int(0))
	const up, bound, step = 0x5f800000, 0x20800000, 0x14000000 // 2^64, 2^-62 = least × 2^64, 2^-87
	scale := func(x ll.Val) ll.Val { return e.FMul(x, x.Float(up)) }
	below := func(x ll.Val) { // x is the result times 2^64, or overflows and says nothing
		tiny = e.Or(tiny, e.FCmp("olt", e.Intr("fabs", x), x.Float(bound)))
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
		d := e.Intr("fma", y, y.Float(bound|1<<31), scale(x))
		d = e.Intr("fma", y, y.Float(step), d)
		tiny = e.Or(tiny, e.FCmp("olt", d, d.Float(0)))
	}
	return e.Select(tiny, e.Recast(e.And(b, b.Int(int64(f.Sign))), typ(ir.F32)), r)
}

// allFlushed reports a kernel that may run with the processor's flush mode: every f32 operation asks for flushing or does
// not mind, some asks, and there is no f64 arithmetic.
func allFlushed(f *ir.Func) bool {
	some := false
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			if !floatSensitive(in) {
				continue
			}
			for _, v := range append(append([]*ir.Value(nil), in.Args...), in.Results...) {
				if v.Type == ir.F64 {
					return false
				}
			}
			if !in.FTZ {
				return false
			}
			some = some || !in.EitherFTZ
		}
	}
	return some
}

// floatSensitive reports an operation whose result may depend on the flush mode.
func floatSensitive(in *ir.Inst) bool {
	wide := func(vs []*ir.Value) bool {
		for _, v := range vs {
			switch v.Type {
			case ir.F32, ir.F64, ir.BF16, ir.BF16x2: // bf16 is computed in f32, and its subnormals are f32's
				return true
			}
		}
		return false
	}
	switch in.Op {
	case ir.FAdd, ir.FSub, ir.FMul, ir.FDiv, ir.FFma, ir.FSqrt, ir.FRcp, ir.FMin, ir.FMax, ir.FCmp, ir.FRound, ir.FRelu, ir.FToS, ir.FToU:
		return wide(in.Args)
	case ir.FExt:
		return in.Args[0].Type == ir.F32
	case ir.FTrunc: // to bf16 on bits; a subnormal number of f32 becomes a zero of f16 unless it is rounded away from zero
		away := in.Rnd != ir.RN && in.Rnd != ir.RZ
		return in.Args[0].Type == ir.F64 || in.Results[0].Type == ir.F16 && away
	case ir.Mma:
		return true
	case ir.Atomic, ir.Redux:
		if in.AtomOp == ir.AtomExch {
			return false
		}
		return len(in.Args) > 1 && wide(in.Args[1:]) || in.Op == ir.Redux && wide(in.Args[:1])
	}
	return false
}

// clean is v in n lanes with the bits that others may see.
func (e *emitter) clean(v *ir.Value, n int) ll.Val { return e.cleaned(v, e.of(v, n), n) }

func emitArith(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	el, _ := emit.Element(t)
	e.each(in, func(n int, a []ll.Val) ll.Val {
		args := make([]ll.Val, len(a))
		for i, x := range a {
			args[i] = e.flushed(in, el, e.unpair(x, t))
		}
		if in.Op == ir.FRcp {
			args = append([]ll.Val{args[0].Float(emit.Formats[el].One)}, args...)
		}
		if el == ir.F64 && (in.Op == ir.FAdd || in.Op == ir.FMul || in.Op == ir.FFma) {
			// Of two NaN operands the hardware keeps the second's payload, x86 the first's.
			args[0], args[1] = args[1], args[0]
		}
		r := e.arith(in, el, args)
		if el == ir.F64 && !e.computed[in.Results[0]] {
			r = e.pickNaN(in, r, a)
		}
		if el == ir.F16 && in.FTZ {
			r = e.flushBits(r, el)
		}
		if el == ir.F32 && e.needsFlush(in) {
			r = e.flushTiny(in, r, args)
		}
		if in.Sat {
			r = e.saturate(r, el)
		}
		return e.pair(r, t, n)
	})
}

// sqrt is a square root behind a fence. LLVM 22 turns a test of the root for NaN into a test of its operand for numbers below
// zero, and its code generator then takes the root itself for the NaN that is selected there, whatever bits that one has.
func (e *emitter) sqrt(x ll.Val) ll.Val {
	return e.Intr("arithmetic.fence", e.Intr("sqrt", x))
}

// arith is one operation on elements of type t, rounded as in says.
func (e *emitter) arith(in *ir.Inst, t ir.Type, a []ll.Val) ll.Val {
	switch {
	case t == ir.BF16:
		return e.arithBF16(in, a)
	case t == ir.F16 && in.FTZ && in.Op == ir.FMul && in.Rnd == ir.RN:
		return e.flushToF16(e.FMul(e.FPExt(a[0], "float"), e.FPExt(a[1], "float")))
	case in.Rnd != ir.RN:
		return e.directed(in, t, a)
	case in.Op == ir.FFma && t == ir.F16 && (in.FTZ || !e.cpu.fp16):
		narrow := func(x ll.Val) ll.Val { return e.FPTrunc(x, "half") }
		if in.FTZ {
			narrow = e.flushToF16
		}
		return e.fmaNarrow(e.FPExt(a[0], "float"), e.FPExt(a[1], "float"), e.FPExt(a[2], "float"), narrow)
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
	tiny := e.FCmp("olt", e.Intr("fabs", p), p.Float(0x387ff000))
	pb := e.Bits(p)
	zero := e.Recast(e.And(pb, pb.Int(-1<<31)), typ(ir.F32))
	return e.FPTrunc(e.Select(tiny, zero, p), "half")
}

// fmaNarrow is a fused operation on a narrow type with f32. The f32 result is rounded to odd, so that rounding it once more to
// the narrow type is as if it had been rounded once; what f32 rounded away is found with the product, which is exact. A product of bf16
// that overflows or underflows in f32 is not, but then f32's fma is: where the sum is finite again it has 15 bits at most, and a
// product below 2^-134 moves no sum off a number of bf16 by half a place.
func (e *emitter) fmaNarrow(a, b, c ll.Val, narrow func(ll.Val) ll.Val) ll.Val {
	p := e.FMul(a, b)
	s := e.Intr("fma", a, b, c)
	pv := e.FSub(s, c)
	cv := e.FSub(s, pv)
	err := e.FAdd(e.FSub(p, pv), e.FSub(c, cv))
	inexact := e.FCmp("one", err, err.Float(0))
	sb, eb := e.Bits(s), e.Bits(err)
	even := e.ICmp("eq", e.And(sb, sb.Int(1)), sb.Int(0))
	toward0 := e.ICmp("slt", e.Xor(sb, eb), sb.Int(0))
	moved := e.Add(sb, e.Select(toward0, sb.Int(-1), sb.Int(1)))
	r := e.Select(e.And(inexact, even), moved, sb)
	return narrow(e.Recast(r, typ(ir.F32)))
}

// saturate clamps to 0…1, a NaN to +0.
func (e *emitter) saturate(x ll.Val, t ir.Type) ll.Val {
	if t == ir.BF16 {
		return e.narrowBF16(e.saturate(e.widenBF16(x), ir.F32))
	}
	zero, one := x.Float(0), x.Float(emit.Formats[t].One)
	order := e.FCmp
	if t == ir.F16 && !e.cpu.fp16 && !e.cpu.arm64 {
		order = e.orderWide
	}
	x = e.Select(order("ogt", x, zero), x, zero)
	return e.Select(order("olt", x, one), x, one)
}

// chunks applies op to pieces of n lanes; a scalar is put into a vector.
func (e *emitter) chunks(a []ll.Val, n int, op func([]ll.Val) ll.Val) ll.Val {
	total, _ := a[0].T.Split()
	if total < n {
		parts := make([]ll.Val, len(a))
		for i, x := range a {
			if total == 1 {
				parts[i] = e.splatN(x, n)
			} else {
				parts[i] = e.Shuffle(x, x, rangeInts(0, n, func(j int) int { return j % total }))
			}
		}
		r := op(parts)
		if total == 1 {
			return e.Extract(r, 0)
		}
		return e.Shuffle(r, r, rangeInts(0, total, func(j int) int { return j }))
	}
	var out []ll.Val
	for at := 0; at < total; at += n {
		parts := make([]ll.Val, len(a))
		for i, x := range a {
			parts[i] = e.slice(x, at, n)
		}
		out = append(out, op(parts))
	}
	return e.concat(out)
}

func rangeInts(from, n int, f func(int) int) []int {
	r := make([]int, n)
	for i := range r {
		r[i] = f(from + i)
	}
	return r
}

// slice is lanes at … at+n-1 of x.
func (e *emitter) slice(x ll.Val, at, n int) ll.Val {
	if total, _ := x.T.Split(); at == 0 && total == n {
		return x
	}
	return e.Shuffle(x, x, rangeInts(at, n, func(j int) int { return j }))
}

// concat joins vectors of one type, a power of two of them.
func (e *emitter) concat(parts []ll.Val) ll.Val {
	for len(parts) > 1 {
		var next []ll.Val
		for i := 0; i < len(parts); i += 2 {
			n, _ := parts[i].T.Split()
			next = append(next, e.Shuffle(parts[i], parts[i+1], rangeInts(0, 2*n, func(j int) int { return j })))
		}
		parts = next
	}
	return parts[0]
}

func emitSign(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	el, _ := emit.Element(t)
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x := e.unpair(a[0], t)
		if in.FTZ && (el == ir.F32 || el == ir.F16) {
			x = e.flushBits(x, el)
		}
		if el == ir.F64 {
			return e.signF64(in.Op, x)
		}
		if el == ir.BF16 {
			mag := e.And(x, x.Int(0x7fff))
			nan := e.ICmp("ugt", mag, x.Int(0x7f80))
			r := mag
			if in.Op == ir.FNeg {
				r = e.Xor(x, x.Int(-0x8000))
			}
			return e.pair(e.Select(nan, x.Int(0x7fff), r), t, n)
		}
		if in.Op == ir.FNeg {
			return e.pair(e.FNeg(x), t, n)
		}
		return e.pair(e.Intr("fabs", x), t, n)
	})
}

// signF64 leaves a NaN's sign and payload, and makes it quiet.
func (e *emitter) signF64(op ir.Op, x ll.Val) ll.Val {
	var r ll.Val
	if op == ir.FNeg {
		r = e.FNeg(x)
	} else {
		r = e.Intr("fabs", x)
	}
	b := e.Bits(x)
	quiet := e.Recast(e.Or(b, b.Int(1<<51)), typ(ir.F64))
	return e.Select(e.FCmp("uno", x, x.Float(0)), quiet, r)
}

func emitCopysign(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	e.each(in, func(n int, a []ll.Val) ll.Val {
		el, _ := emit.Element(t)
		x, s := e.cleaned(in.Args[0], a[0], n), e.cleaned(in.Args[1], a[1], n)
		xb, sb := e.Bits(e.unpair(x, t)), e.Bits(e.unpair(s, t))
		f := emit.Formats[el]
		r := e.Or(e.And(xb, xb.Int(int64(f.Sign-1))), e.And(sb, sb.Int(int64(f.Sign))))
		return e.pair(e.Recast(r, typ(el)), t, n)
	})
}

// emitMinMax: a NaN gives the other operand, or NaN where asked; -0 is less than +0.
func emitMinMax(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	el, _ := emit.Element(t)
	e.each(in, func(n int, a []ll.Val) ll.Val {
		if in.XorSign { // .xorsign.abs looks at the signs, NaNs' too
			a = []ll.Val{e.cleaned(in.Args[0], a[0], n), e.cleaned(in.Args[1], a[1], n)}
		}
		x, y := e.unpair(a[0], t), e.unpair(a[1], t)
		if in.FTZ && (el == ir.F32 || el == ir.F16) {
			x, y = e.flushBits(x, el), e.flushBits(y, el)
		}
		if el == ir.BF16 {
			r := e.minMax(in, e.widenBF16(x), e.widenBF16(y), ir.F32)
			return e.pair(e.narrowBF16(r), t, n)
		}
		r := e.minMax(in, x, y, el)
		if el == ir.F64 && !e.computed[in.Results[0]] {
			r = e.quiet(r) // where both are NaNs; LLVM may see that as a copy
		}
		return e.pair(r, t, n)
	})
}

func (e *emitter) minMax(in *ir.Inst, x, y ll.Val, t ir.Type) ll.Val {
	var sign ll.Val
	f := emit.Formats[t]
	if in.XorSign { // .xorsign.abs
		xb := e.Xor(e.Bits(x), e.Bits(y))
		sign = e.And(xb, xb.Int(int64(f.Sign)))
		x, y = e.Intr("fabs", x), e.Intr("fabs", y)
	}
	name := "minimum"
	if in.Op == ir.FMax {
		name = "maximum"
	}
	if !in.NaN {
		xn, yn := e.FCmp("uno", x, x), e.FCmp("uno", y, y)
		number := e.Select(xn, y, x)
		if t == ir.F64 {
			x = number // of two NaNs the second's payload; the others have one NaN
		}
		x, y = number, e.Select(yn, x, y)
	}
	var r ll.Val
	if t == ir.F16 && !e.cpu.fp16 {
		r = e.minMaxHalf(in, x, y)
	} else {
		r = e.Intr(name, x, y)
	}
	if !sign.IsZero() {
		b := e.Bits(r)
		r = e.Recast(e.Or(e.And(b, b.Int(int64(f.Sign-1))), sign), typ(t))
	}
	return r
}

// minMaxHalf compares halves as integers: without instructions for them LLVM 19 goes through them one by one, and loses the NaN
// beside a -0. Through f32 it is the same, because that is narrowed again.
func (e *emitter) minMaxHalf(in *ir.Inst, x, y ll.Val) ll.Val {
	f := emit.Formats[ir.F16]
	order := func(b ll.Val) ll.Val { // which turns the order of the negative numbers over, and itself back
		return e.Xor(b, e.And(e.AShr(b, b.Int(15)), b.Int(int64(f.Sign-1))))
	}
	xb, yb := e.Bits(x), e.Bits(y)
	name := "smin"
	if in.Op == ir.FMax {
		name = "smax"
	}
	r := order(e.Intr(name, order(xb), order(yb)))
	if in.NaN {
		nan := func(b ll.Val) ll.Val { return e.ICmp("ugt", e.And(b, b.Int(int64(f.Sign-1))), b.Int(int64(f.Inf))) }
		r = e.Select(e.Or(nan(xb), nan(yb)), r.Int(int64(f.NaN)), r)
	}
	return e.Recast(r, typ(ir.F16))
}

var roundNames = map[ir.Rnd]string{ir.RN: "roundeven", ir.RZ: "trunc", ir.RM: "floor", ir.RP: "ceil"}

func emitFRound(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x := e.flushed(in, t, a[0])
		if t == ir.BF16 {
			return e.narrowBF16(e.roundIntegral(e.widenBF16(x), in.Rnd))
		}
		r := e.roundIntegral(x, in.Rnd)
		if in.Sat {
			r = e.saturate(r, t)
		}
		return r
	})
}

func (e *emitter) roundIntegral(x ll.Val, rnd ir.Rnd) ll.Val {
	name, ok := roundNames[rnd]
	if !ok {
		e.unsupported("rounding %s to an integer", rnd)
	}
	return e.Intr(name, x)
}

// emitFRelu: negative numbers and -0 become +0, NaN the canonical one.
func emitFRelu(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	el, _ := emit.Element(t)
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x := e.unpair(a[0], t)
		b := e.Bits(x)
		f := emit.Formats[el]
		mag := e.And(b, b.Int(int64(f.Sign-1)))
		nan := e.ICmp("ugt", mag, b.Int(int64(f.Inf)))
		neg := e.ICmp("slt", b, b.Int(0))
		r := e.Select(nan, b.Int(int64(f.NaN)), e.Select(neg, b.Int(0), b))
		return e.pair(e.Recast(r, typ(el)), t, n)
	})
}
