package float

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Narrow converts x to a narrower float format.
func (w *Writer) Narrow(rnd ir.Rnd, x ll.Val, from, to ir.Type) ll.Val {
	switch {
	case from == ir.F64 && to == ir.F32 && rnd == ir.RN:
		return w.FPTrunc(x, "float")
	case from == ir.F64 && to == ir.F32:
		return w.Target.ToF32(x, rnd)
	case from == ir.F64:
		x = w.OddF32(x)
	case from == ir.BF16:
		x = w.WidenBF16(x)
	case from == ir.F16:
		x = w.FPExt(x, "float")
	}
	var r ll.Val
	switch {
	case to == ir.F16 && rnd == ir.RN:
		return w.FPTrunc(x, "half")
	case to == ir.F16:
		return w.Target.ToF16(x, rnd)
	case rnd == ir.RS:
		w.Target.Fail("stochastic rounding")
	case rnd == ir.RN:
		r = w.NarrowBF16(x)
	default:
		r = w.TruncBF16(x, rnd)
	}
	if from == ir.F64 { // whose NaNs keep sign and payload at the upper end
		b := w.Bits(x)
		r = w.Select(w.FCmp("uno", x, x), w.Trunc(w.LShr(b, b.Int(16)), "i16"), r)
	}
	return r
}

// FTrunc is the operation: flushed, narrowed, without negative numbers, saturated, as in says.
func (w *Writer) FTrunc(in *ir.Inst, x ll.Val) ll.Val {
	from, to := in.Args[0].Type, in.Results[0].Type
	if from == ir.F32 && in.FTZ && (!w.Flush || to == ir.BF16) { // bf16 is made of bits, which the mode does not reach
		x = w.FlushBits(x, from)
	}
	r := w.Narrow(in.Rnd, x, from, to)
	if to == ir.F32 && in.FTZ && !w.Flush {
		r = w.FlushBits(r, ir.F32)
		if from == ir.F64 {
			r = w.FlushCut(r, x, in.Rnd)
		}
	}
	if in.Relu {
		b := w.Bits(r)
		f := Formats[to]
		nan := w.ICmp("ugt", w.And(b, b.Int(int64(f.Sign-1))), b.Int(int64(f.Inf)))
		neg := w.And(w.ICmp("slt", b, b.Int(0)), w.Not(nan))
		r = w.Bitcast(w.Select(neg, b.Int(0), b), r.T)
	}
	if in.Sat {
		r = w.Saturate(r, to)
	}
	return r
}

// FlushCut makes a zero of r, an f32 that x of f64 was rounded to, if x is below the least normal number when rounded as if exponents had
// no end (see FlushTiny).
func (w *Writer) FlushCut(r, x ll.Val, rnd ir.Rnd) ll.Val {
	bound, less := uint64(0x380ffffff0000000), ll.Pred("olt") // 2^-126 - 2^-151
	if rnd != ir.RN {
		bound, less = 0x380fffffe0000000, "ole" // 2^-126 - 2^-150
	}
	tiny := w.FCmp(less, w.Intr("fabs", x), x.Float(bound))
	b := w.Bits(r)
	return w.Select(tiny, w.Bitcast(w.And(b, b.Int(-1<<31)), r.T), r)
}

// bf16 is held as its bits and computed in f32, whose upper half it is.

// WidenBF16 is exact.
func (w *Writer) WidenBF16(x ll.Val) ll.Val {
	b := w.ZExt(x, "i32")
	return w.Recast(w.Shl(b, b.Int(16)), "float")
}

// NarrowBF16 rounds to nearest even; NaNs become the canonical one.
func (w *Writer) NarrowBF16(x ll.Val) ll.Val {
	b := w.Bits(x)
	odd := w.And(w.LShr(b, b.Int(16)), b.Int(1))
	r := w.LShr(w.Add(b, w.Add(odd, b.Int(0x7fff))), b.Int(16))
	r = w.Select(w.FCmp("uno", x, x.Float(0)), r.Int(0x7fff), r)
	return w.Trunc(r, "i16")
}

// TruncBF16 rounds towards zero or an infinity, or ties away.
func (w *Writer) TruncBF16(x ll.Val, rnd ir.Rnd) ll.Val {
	b := w.Bits(x)
	some := w.ICmp("ne", w.And(b, b.Int(0xffff)), b.Int(0))
	neg := w.ICmp("slt", b, b.Int(0))
	r := w.LShr(b, b.Int(16))
	one := w.ZExt(some, "i32")
	switch rnd {
	case ir.RP:
		r = w.Add(r, w.Select(neg, b.Int(0), one))
	case ir.RM:
		r = w.Add(r, w.Select(neg, one, b.Int(0)))
	case ir.RNA:
		r = w.LShr(w.Add(b, b.Int(0x8000)), b.Int(16))
	}
	r = w.Select(w.FCmp("uno", x, x.Float(0)), r.Int(0x7fff), r)
	return w.Trunc(r, "i16")
}

// CutToHalf rounds to nearest, sees on which side that fell, and takes the neighbour if it is the wrong one.
func (w *Writer) CutToHalf(x ll.Val, rnd ir.Rnd) ll.Val {
	h := w.FPTrunc(x, "half")
	back := w.FPExt(h, "float")
	return w.Neighbour(h, rnd, w.FCmp("ogt", back, x), w.FCmp("olt", back, x))
}

// Neighbour is the number next to x on the side that rnd asks for, where x lies above or below what it stands for.
func (w *Writer) Neighbour(x ll.Val, rnd ir.Rnd, above, below ll.Val) ll.Val {
	b := w.Bits(x)
	neg := w.ICmp("slt", b, b.Int(0))
	one := func(c ll.Val) ll.Val { return w.ZExt(c, b.T.Elem()) }
	switch rnd {
	case ir.RZ:
		b = w.Sub(b, one(w.Select(neg, below, above)))
	case ir.RM:
		b = w.Select(neg, w.Add(b, one(above)), w.Sub(b, one(above)))
	case ir.RP:
		b = w.Select(neg, w.Sub(b, one(below)), w.Add(b, one(below)))
	default:
		w.Target.Fail("rounding %s", rnd)
	}
	return w.Bitcast(b, x.T)
}
