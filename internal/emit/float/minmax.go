package float

import (
	"math"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// MinMax is a minimum or a maximum: a NaN gives the other operand, or NaN where asked; -0 is less than +0. With XorSign it is of the
// magnitudes, with the product's sign.
type MinMax struct {
	Max, NaN, XorSign bool
	Magnitudes        bool    // both have no sign, so that zeros are alike
	NoZeros           bool    // not both are zeros, or the second is the one that is wanted
	Number            [2]bool // operands that are never NaN
}

// MinMaxOf is what an operation asks for.
func MinMaxOf(in *ir.Inst) MinMax {
	return MinMax{Max: in.Op == ir.FMax, NaN: in.NaN, XorSign: in.XorSign}
}

// MinMaxBits compares the bits as numbers of sign and magnitude, in which -0 is below +0, for targets whose LLVM has no minimum.
func (w *Writer) MinMaxBits(m MinMax, x, y ll.Val, t ir.Type) ll.Val {
	f := Formats[t]
	a, b := w.Bits(x), w.Bits(y)
	mag := func(v ll.Val) ll.Val { return w.And(v, v.Int(int64(f.Sign-1))) }
	isNaN := func(v ll.Val) ll.Val { return w.ICmp("ugt", mag(v), v.Int(int64(f.Inf))) }
	an, bn := isNaN(a), isNaN(b)
	var sign ll.Val
	if m.XorSign {
		xs := w.Xor(a, b)
		sign = w.And(xs, xs.Int(int64(f.Sign)))
		a, b = mag(a), mag(b)
	}
	key := func(v ll.Val) ll.Val { return w.ordered(v, f) }
	cmp := ll.Pred("slt")
	if m.Max {
		cmp = "sgt"
	}
	r := w.Select(w.ICmp(cmp, key(a), key(b)), a, b)
	if !m.NaN {
		r = w.Select(an, b, w.Select(bn, a, r)) // of two NaNs the second
	}
	if m.XorSign {
		r = w.Or(mag(r), sign)
	}
	switch { // a NaN has no other's sign
	case m.NaN:
		r = w.Select(w.Or(an, bn), r.Int(int64(f.NaN)), r)
	case t == ir.F64:
		r = w.Select(w.And(an, bn), w.Or(r, r.Int(1<<51)), r)
	default:
		r = w.Select(w.And(an, bn), r.Int(int64(f.NaN)), r)
	}
	return w.Bitcast(r, x.T)
}

// ordered turns the order of the negative numbers over, so that bits compare as integers; it turns itself back.
func (w *Writer) ordered(b ll.Val, f Format) ll.Val {
	s := w.AShr(b, b.Int(int64(f.Bits-1)))
	return w.Xor(b, w.And(s, b.Int(int64(f.Sign-1))))
}

// Key is an integer for each float of 32 bits, so that the smaller or larger of two keys is that of the float that a minimum or maximum
// gives. Of NaNs, which lose, it is beyond the others.
func (w *Writer) Key(m MinMax, x ll.Val) ll.Val {
	b := w.Bits(x)
	k := b
	if !m.Magnitudes {
		k = w.ordered(b, Formats[ir.F32])
	}
	return w.Select(w.FCmp("uno", x, x), b.Int(m.beyond()), k)
}

// Unkey is the float of a key.
func (w *Writer) Unkey(m MinMax, k ll.Val) ll.Val {
	f := Formats[ir.F32]
	b := k
	if !m.Magnitudes {
		b = w.ordered(k, f)
	}
	return w.Recast(w.Select(w.ICmp("eq", k, k.Int(m.beyond())), k.Int(int64(f.NaN)), b), "float")
}

// beyond is the key of NaN.
func (m MinMax) beyond() int64 {
	if m.Max {
		return math.MinInt32
	}
	return math.MaxInt32
}

// MinMax is by LLVM's minimum and maximum, for targets that have instructions for them.
func (w *Writer) MinMax(m MinMax, x, y ll.Val, t ir.Type) ll.Val {
	var sign ll.Val
	f := Formats[t]
	if m.XorSign {
		xb := w.Xor(w.Bits(x), w.Bits(y))
		sign = w.And(xb, xb.Int(int64(f.Sign)))
		x, y = w.Intr("fabs", x), w.Intr("fabs", y)
	}
	if !m.NaN && t == ir.F32 && w.Target.X86 {
		r := w.minMaxX86(m, x, y)
		if m.XorSign {
			r = w.Recast(w.Or(w.And(w.Bits(r), w.Bits(r).Int(int64(f.Sign-1))), sign), "float")
		}
		return r
	}
	if !m.NaN {
		xn, yn := w.isNaN(x, t), w.isNaN(y, t)
		number := w.Select(xn, y, x)
		if t == ir.F64 {
			x = number // of two NaNs the second's payload; the others have one NaN
		}
		x, y = number, w.Select(yn, x, y)
	}
	name := "minimum"
	if m.Max {
		name = "maximum"
	}
	var r ll.Val
	if t == ir.F16 && !w.Target.Half {
		r = w.minMaxHalf(m, x, y)
	} else {
		r = w.Intr(name, x, y)
	}
	if m.XorSign {
		b := w.Bits(r)
		r = w.Bitcast(w.Or(w.And(b, b.Int(int64(f.Sign-1))), sign), r.T)
	}
	return r
}

// ZeroOf are the bits of the zero of f32 that a minimum or a maximum of two zeros is if it is one of them: x86's instructions give it
// where it is the second operand.
func ZeroOf(op ir.Op) uint64 {
	if op == ir.FMax {
		return 0
	}
	return Formats[ir.F32].Sign
}

// minMaxX86 is by x86's instructions, which give the second operand where one is a NaN or both are zeros. Zeros of different signs are
// equal, and their bits' conjunction is +0, as the bits of other equal numbers are the numbers.
func (w *Writer) minMaxX86(m MinMax, x, y ll.Val) ll.Val {
	pred, zero := ll.Pred("olt"), w.Or
	if m.Max {
		pred, zero = "ogt", w.And
	}
	if m.Number[0] && !m.Number[1] {
		x, y, m.Number[1] = y, x, true
	}
	r := w.Select(w.FCmp(pred, x, y), x, y)
	if !m.Magnitudes && !m.NoZeros && !m.XorSign {
		r = w.Select(w.FCmp("oeq", x, y), w.Recast(zero(w.Bits(x), w.Bits(y)), "float"), r)
	}
	if m.Number[1] {
		return r
	}
	return w.Select(w.FCmp("uno", y, y), x, r)
}

// minMaxHalf compares halves as integers: without instructions for them LLVM 19 goes through them one by one, and loses the NaN
// beside a -0. Through f32 it is the same, because that is narrowed again.
func (w *Writer) minMaxHalf(m MinMax, x, y ll.Val) ll.Val {
	f := Formats[ir.F16]
	xb, yb := w.Bits(x), w.Bits(y)
	name := "smin"
	if m.Max {
		name = "smax"
	}
	r := w.ordered(w.Intr(name, w.ordered(xb, f), w.ordered(yb, f)), f)
	if m.NaN {
		nan := func(b ll.Val) ll.Val { return w.ICmp("ugt", w.And(b, b.Int(int64(f.Sign-1))), b.Int(int64(f.Inf))) }
		r = w.Select(w.Or(nan(xb), nan(yb)), r.Int(int64(f.NaN)), r)
	}
	return w.Bitcast(r, x.T)
}
