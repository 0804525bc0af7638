package emit

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Narrower is what Narrow writes with.
type Narrower struct {
	*ll.Func
	Fail func(format string, args ...any)

	Odd   func(f64 ll.Val) ll.Val  // f32, rounded to odd
	Widen func(bf16 ll.Val) ll.Val // f32
	BF16  func(f32 ll.Val) ll.Val  // the nearest
	// Rounded as the instruction says, not to nearest:
	Float, Half, CutBF16 func(x ll.Val) ll.Val
}

// Narrow converts x to a narrower float format.
func (w *Narrower) Narrow(rnd ir.Rnd, x ll.Val, from, to ir.Type) ll.Val {
	switch {
	case from == ir.F64 && to == ir.F32 && rnd == ir.RN:
		return w.FPTrunc(x, "float")
	case from == ir.F64 && to == ir.F32:
		return w.Float(x)
	case from == ir.F64:
		x = w.Odd(x)
	case from == ir.BF16:
		x = w.Widen(x)
	case from == ir.F16:
		x = w.FPExt(x, "float")
	}
	var r ll.Val
	switch {
	case to == ir.F16 && rnd == ir.RN:
		return w.FPTrunc(x, "half")
	case to == ir.F16:
		return w.Half(x)
	case rnd == ir.RS:
		w.Fail("stochastic rounding")
	case rnd == ir.RN:
		r = w.BF16(x)
	default:
		r = w.CutBF16(x)
	}
	if from == ir.F64 { // whose NaNs keep sign and payload at the upper end
		b := w.Bits(x)
		r = w.Select(w.FCmp("uno", x, x), w.Trunc(w.LShr(b, b.Int(16)), "i16"), r)
	}
	return r
}
