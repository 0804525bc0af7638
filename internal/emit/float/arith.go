package float

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Writer writes operations on floats, IEEE 754's with subnormal numbers on and rounded to nearest; all else is written out.
type Writer struct {
	*ll.Func
	Target Target
	Flush  bool // the machine flushes f32's subnormals, which the whole kernel wants
}

// Target is what machines have in ways of their own.
type Target struct {
	Fail func(format string, args ...any) // gives up on the kernel
	// Fence keeps a number apart from LLVM's folding.
	Fence func(x ll.Val) ll.Val
	// Directed is an operation rounded as in says, not to nearest.
	Directed func(in *ir.Inst, t ir.Type, a []ll.Val) ll.Val
	// ToF32 and ToF16 round an f64, an f32, not to nearest.
	ToF32, ToF16 func(x ll.Val, rnd ir.Rnd) ll.Val
	Half         bool // there are instructions for f16
	X86          bool // no vectors for fptosi.sat, and minima that give the second operand of a NaN
	// Order16 compares halves where LLVM may not; nil where it may.
	Order16 func(p ll.Pred, x, y ll.Val) ll.Val
}

// NeedsFlush reports an f32 operation that must flush by itself: it asks for it, and neither does the machine nor will either do.
func (w *Writer) NeedsFlush(in *ir.Inst) bool { return in.FTZ && !w.Flush && !in.EitherFTZ }

// Flushed is an operand of type t as in wants it.
func (w *Writer) Flushed(in *ir.Inst, t ir.Type, x ll.Val) ll.Val {
	if t != ir.F32 && t != ir.F16 || !in.FTZ || t == ir.F32 && !w.NeedsFlush(in) {
		return x
	}
	return w.FlushBits(x, t)
}

// FlushBits turns subnormals into zeros of their sign.
func (w *Writer) FlushBits(x ll.Val, t ir.Type) ll.Val {
	f := Formats[t]
	b := w.Bits(x)
	tiny := w.ICmp("eq", w.And(b, b.Int(int64(f.Inf))), b.Int(0))
	zero := w.Bitcast(w.And(b, b.Int(int64(f.Sign))), x.T)
	return w.Select(tiny, zero, x)
}

// FlushTiny flushes the result r of an f32 operation on args as the hardware and x86's flush mode do: by the result rounded as if
// exponents had no end. What only rounds up to the least normal number because subnormals are coarser is flushed too. Sums are exact
// there, and a reciprocal or a root never comes near.
func (w *Writer) FlushTiny(in *ir.Inst, r ll.Val, args []ll.Val) ll.Val {
	f := Formats[ir.F32]
	b := w.Bits(r)
	tiny := w.ICmp("eq", w.And(b, b.Int(int64(f.Inf))), b.Int(0))
	const up, bound, step = 0x5f800000, 0x20800000, 0x14000000 // 2^64, 2^-62 = least × 2^64, 2^-87
	scale := func(x ll.Val) ll.Val { return w.FMul(x, x.Float(up)) }
	below := func(x ll.Val) { // x is the result times 2^64, or overflows and says nothing
		tiny = w.Or(tiny, w.FCmp("olt", w.Intr("fabs", x), x.Float(bound)))
	}
	switch {
	case in.Op == ir.FMul:
		below(w.Arith(in, ir.F32, []ll.Val{scale(args[0]), args[1]}))
	case in.Op == ir.FFma:
		below(w.Arith(in, ir.F32, []ll.Val{scale(args[0]), args[1], scale(args[2])}))
	case (in.Op == ir.FDiv || in.Op == ir.FRcp) && in.Rnd != ir.RN:
		below(w.Arith(in, ir.F32, []ll.Val{scale(args[0]), args[1]}))
	case in.Op == ir.FDiv:
		// |a/b| is below least - 2^-151, half a step: |a|×2^64 - |b|×2^-62 + |b|×2^-87 is negative.
		x, y := w.Intr("fabs", args[0]), w.Intr("fabs", args[1])
		d := w.Intr("fma", y, y.Float(bound|1<<31), scale(x))
		d = w.Intr("fma", y, y.Float(step), d)
		tiny = w.Or(tiny, w.FCmp("olt", d, d.Float(0)))
	}
	return w.Select(tiny, w.Bitcast(w.And(b, b.Int(int64(f.Sign))), r.T), r)
}

// Arith is one operation on elements of type t, rounded as in says.
func (w *Writer) Arith(in *ir.Inst, t ir.Type, a []ll.Val) ll.Val {
	switch {
	case t == ir.BF16:
		return w.ArithBF16(in, a)
	case t == ir.F16 && in.FTZ && in.Op == ir.FMul && in.Rnd == ir.RN:
		return w.flushToF16(w.FMul(w.FPExt(a[0], "float"), w.FPExt(a[1], "float")))
	case in.Rnd != ir.RN:
		return w.Target.Directed(in, t, a)
	case t == ir.F16 && in.Op == ir.FFma && (in.FTZ || !w.Target.Half):
		s := w.oddFma(w.FPExt(a[0], "float"), w.FPExt(a[1], "float"), w.FPExt(a[2], "float"))
		if in.FTZ {
			return w.flushToF16(s)
		}
		return w.FPTrunc(s, "half")
	case in.Op == ir.FFma:
		return w.Intr("fma", a...)
	case in.Op == ir.FSqrt:
		return w.Sqrt(a[0])
	}
	return w.Binary(Arith[in.Op], a[0], a[1])
}

// Sqrt is a square root behind a fence. LLVM 22 turns a test of the root for NaN into a test of its operand for numbers below
// zero, and its code generator then takes the root itself for the NaN that is selected there, whatever bits that one has.
func (w *Writer) Sqrt(x ll.Val) ll.Val { return w.Target.Fence(w.Intr("sqrt", x)) }

// flushToF16 narrows a product or a fused sum, exact or rounded to odd, and flushes by that: what only rounds up to the least normal
// number is flushed too.
func (w *Writer) flushToF16(p ll.Val) ll.Val {
	tiny := w.FCmp("olt", w.Intr("fabs", p), p.Float(0x387ff000))
	b := w.Bits(p)
	zero := w.Bitcast(w.And(b, b.Int(-1<<31)), p.T)
	return w.FPTrunc(w.Select(tiny, zero, p), "half")
}

// ArithBF16 computes in f32. Twice eight bits and two fit in 24, so rounding twice is harmless for all but the fused operation,
// which rounds to odd first.
func (w *Writer) ArithBF16(in *ir.Inst, a []ll.Val) ll.Val {
	if in.Rnd != ir.RN {
		w.Target.Fail("%s of bf16 with a directed rounding", in.Op)
	}
	x := make([]ll.Val, len(a))
	for i, y := range a {
		x[i] = w.WidenBF16(y)
	}
	switch in.Op {
	case ir.FFma:
		return w.NarrowBF16(w.oddFma(x[0], x[1], x[2]))
	case ir.FSqrt:
		return w.NarrowBF16(w.Sqrt(x[0]))
	}
	return w.NarrowBF16(w.Binary(Arith[in.Op], x[0], x[1]))
}

// oddFma is a fused operation on a narrow type with f32. The f32 result is rounded to odd, so that rounding it once more to the
// narrow type is as if it had been rounded once; what f32 rounded away is found with the product, which is exact. A product of bf16
// that overflows or underflows in f32 is not, but then f32's fma is: where the sum is finite again it has 15 bits at most, and a
// product below 2^-134 moves no sum off a number of bf16 by half a place.
func (w *Writer) oddFma(a, b, c ll.Val) ll.Val {
	p := w.FMul(a, b)
	s := w.Intr("fma", a, b, c)
	pv := w.FSub(s, c)
	cv := w.FSub(s, pv)
	err := w.FAdd(w.FSub(p, pv), w.FSub(c, cv))
	inexact := w.FCmp("one", err, err.Float(0))
	sb, eb := w.Bits(s), w.Bits(err)
	even := w.ICmp("eq", w.And(sb, sb.Int(1)), sb.Int(0))
	toward0 := w.ICmp("slt", w.Xor(sb, eb), sb.Int(0))
	moved := w.Add(sb, w.Select(toward0, sb.Int(-1), sb.Int(1)))
	return w.Bitcast(w.Select(w.And(inexact, even), moved, sb), s.T)
}

// Saturate clamps to 0…1, a NaN to +0.
func (w *Writer) Saturate(x ll.Val, t ir.Type) ll.Val {
	if t == ir.BF16 {
		return w.NarrowBF16(w.Saturate(w.WidenBF16(x), ir.F32))
	}
	order := w.FCmp
	if t == ir.F16 && w.Target.Order16 != nil {
		order = w.Target.Order16
	}
	zero, one := x.Float(0), x.Float(Formats[t].One)
	x = w.Select(order("ogt", x, zero), x, zero)
	return w.Select(order("olt", x, one), x, one)
}

// SignBits is FNeg or FAbs on the bits: a NaN becomes the canonical one, of f64 a quiet one.
func (w *Writer) SignBits(op ir.Op, x ll.Val, t ir.Type) ll.Val {
	f := Formats[t]
	b := w.Bits(x)
	mag := w.And(b, b.Int(int64(f.Sign-1)))
	nan := w.ICmp("ugt", mag, b.Int(int64(f.Inf)))
	r := mag
	if op == ir.FNeg {
		r = w.Xor(b, b.Int(int64(f.Sign)))
	}
	other := b.Int(int64(f.NaN))
	if t == ir.F64 {
		other = w.Or(b, b.Int(1<<51))
	}
	return w.Bitcast(w.Select(nan, other, r), x.T)
}

// Copysign is x with the sign of s.
func (w *Writer) Copysign(x, s ll.Val, t ir.Type) ll.Val {
	f := Formats[t]
	xb, sb := w.Bits(x), w.Bits(s)
	r := w.Or(w.And(xb, xb.Int(int64(f.Sign-1))), w.And(sb, sb.Int(int64(f.Sign))))
	return w.Bitcast(r, x.T)
}

// Relu makes +0 of negative numbers and -0, and NaN the canonical one.
func (w *Writer) Relu(x ll.Val, t ir.Type) ll.Val {
	f := Formats[t]
	b := w.Bits(x)
	nan := w.ICmp("ugt", w.And(b, b.Int(int64(f.Sign-1))), b.Int(int64(f.Inf)))
	neg := w.ICmp("slt", b, b.Int(0))
	return w.Bitcast(w.Select(nan, b.Int(int64(f.NaN)), w.Select(neg, b.Int(0), b)), x.T)
}

// Canonical gives NaNs the bits that NVIDIA's hardware gives them; f64 and bf16 are left as they are.
func (w *Writer) Canonical(x ll.Val, t ir.Type) ll.Val {
	if t != ir.F16 && t != ir.F32 {
		return x
	}
	return w.Select(w.isNaN(x, t), x.Float(Formats[t].NaN), x)
}

// isNaN tests the bits of a half where there are no instructions for halves: LLVM 19 compares those one by one, a hundred
// instructions for 32 lanes.
func (w *Writer) isNaN(x ll.Val, t ir.Type) ll.Val {
	if t != ir.F16 || w.Target.Half {
		return w.FCmp("uno", x, x.Float(0))
	}
	f := Formats[t]
	b := w.Bits(x)
	return w.ICmp("ugt", w.And(b, b.Int(int64(f.Sign-1))), b.Int(int64(f.Inf)))
}

// NaNOrder is a with the operand last whose NaN the hardware's result has where several are NaNs: the second, else the third, else the
// first, and div's the first.
func NaNOrder(op ir.Op, a []ll.Val) []ll.Val {
	switch op {
	case ir.FFma:
		return []ll.Val{a[0], a[2], a[1]}
	case ir.FDiv:
		return []ll.Val{a[1], a[0]}
	}
	return a
}
