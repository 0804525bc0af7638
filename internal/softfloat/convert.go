package softfloat

import "math/bits"

// Convert changes x from format f to g. FTZ flushes a subnormal operand or result of f32 only, and nothing between f32 and f16.
func (f *Format) Convert(g *Format, x uint64, e Env) uint64 {
	if f == F32 && g != F16 {
		x = f.in(x, &e)
	}
	if f.IsNaN(x) {
		return g.convertNaN(f, x, &e)
	}
	if g != F32 {
		e.FTZ = false
	}
	switch {
	case f.IsInf(x):
		return g.convertInf(f.IsNeg(x), &e)
	}
	n := f.unpack(x)
	if !g.Signed && n.neg && n.sig != 0 {
		return 0 // unrecorded: a negative value to an unsigned format
	}
	return g.round(n.neg, u128{0, n.sig}, n.exp, false, &e)
}

func (g *Format) convertInf(neg bool, e *Env) uint64 {
	switch {
	case e.Sat:
		return g.saturate(g.Infinity(neg), e)
	case e.SatFinite:
		if !g.Signed && neg {
			return 0
		}
		return g.Largest(neg)
	case g.Inf:
		return g.Infinity(neg)
	case g.NaN:
		return g.sign(neg) | g.CanonicalNaN()
	}
	return g.Largest(neg)
}

// FromInt converts the low width bits of v, signed or not, to format f.
func (f *Format) FromInt(v uint64, width uint, signed bool, e Env) uint64 {
	v = v << (64 - width)
	neg := signed && int64(v) < 0
	if signed {
		v = uint64(int64(v) >> (64 - width))
	} else {
		v >>= 64 - width
	}
	if neg {
		v = -v
	}
	return f.round(neg, u128{0, v}, 0, false, &e)
}

// Int is an integer result: its low Width bits, two's complement.
type Int struct {
	Width  uint
	Signed bool
}

// ToInt rounds x to an integer and clamps it to the range of t. A NaN gives 0, or the value with only the top bit set
// where the operand is f64 or the result is 64 bits wide (PTX ISA, "cvt").
func (f *Format) ToInt(x uint64, t Int, e Env) uint64 {
	x = f.in(x, &e)
	if f.IsNaN(x) {
		if f == F64 || t.Width == 64 {
			return 1 << (t.Width - 1)
		}
		return 0
	}
	neg := f.IsNeg(x)
	limit := uint64(1)<<(t.Width-1)<<1 - 1 // of the magnitude
	if t.Signed {
		limit >>= 1
		if neg {
			limit++
		}
	} else if neg {
		limit = 0
	}
	mag := limit
	if !f.IsInf(x) {
		n := f.unpack(x)
		if n.exp+bits.Len64(n.sig) <= 65 {
			mag = min(n.integer(&e), limit)
		}
	}
	if neg {
		mag = -mag
	}
	return mag & (uint64(1)<<(t.Width-1)<<1 - 1)
}

// integer rounds the magnitude of n, below 2^65, to an integer; what does not fit is all ones.
func (n num) integer(e *Env) uint64 {
	if n.sig == 0 {
		return 0
	}
	if n.exp >= 0 {
		r := u128{0, n.sig}.shl(uint(n.exp))
		if r.hi != 0 {
			return ^uint64(0)
		}
		return r.lo
	}
	kept, up := roundAt(n.neg, u128{0, n.sig}, n.exp, false, 0, e)
	if up {
		kept++
	}
	return kept
}

// RoundInt rounds x to an integral value of the same format. The sign of a zero result is that of x.
func (f *Format) RoundInt(x uint64, e Env) uint64 {
	x = f.in(x, &e)
	if f.IsNaN(x) {
		return f.finishNaN(f.nanOf(x), &e)
	}
	if f.IsInf(x) || f.IsZero(x) {
		return f.saturate(x, &e)
	}
	n := f.unpack(x)
	if n.exp >= 0 {
		return f.saturate(x, &e)
	}
	return f.round(n.neg, u128{0, n.integer(&e)}, 0, false, &e)
}
