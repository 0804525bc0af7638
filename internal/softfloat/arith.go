package softfloat

import "math/bits"

// in applies Env.FTZ to an operand.
func (f *Format) in(x uint64, e *Env) uint64 {
	if e.FTZ {
		return f.Flush(x)
	}
	return x
}

// Add is a + b.
func (f *Format) Add(a, b uint64, e Env) uint64 {
	if r, ok := f.fastAdd(a, b, &e); ok {
		return r
	}
	a, b = f.in(a, &e), f.in(b, &e)
	switch {
	case f.IsNaN(a) || f.IsNaN(b):
		return f.finishNaN(f.nanOf(b, a), &e)
	case f.IsInf(a):
		if f.IsInf(b) && f.IsNeg(a) != f.IsNeg(b) {
			return f.finishNaN(f.CanonicalNaN(), &e)
		}
		return f.saturate(a, &e)
	case f.IsInf(b):
		return f.saturate(b, &e)
	}
	x, y := f.unpack(a), f.unpack(b)
	return f.sum(x.neg, u128{0, x.sig}, x.exp, y.neg, u128{0, y.sig}, y.exp, &e)
}

// Sub is a - b. A NaN b keeps its sign where it propagates.
func (f *Format) Sub(a, b uint64, e Env) uint64 {
	if f.IsNaN(b) {
		return f.Add(a, b, e)
	}
	return f.Add(a, f.Neg(b), e)
}

// Mul is a × b.
func (f *Format) Mul(a, b uint64, e Env) uint64 {
	if r, ok := f.fastMul(a, b, &e); ok {
		return r
	}
	a, b = f.in(a, &e), f.in(b, &e)
	neg := f.IsNeg(a) != f.IsNeg(b)
	switch {
	case f.IsNaN(a) || f.IsNaN(b):
		return f.finishNaN(f.nanOf(b, a), &e)
	case f.IsInf(a) || f.IsInf(b):
		if f.IsZero(a) || f.IsZero(b) {
			return f.finishNaN(f.CanonicalNaN(), &e)
		}
		return f.saturate(f.Infinity(neg), &e)
	}
	x, y := f.unpack(a), f.unpack(b)
	return f.round(neg, mul64(x.sig, y.sig), x.exp+y.exp, false, &e)
}

// Fma is a × b + c, rounded once.
func (f *Format) Fma(a, b, c uint64, e Env) uint64 {
	if r, ok := f.fastFma(a, b, c, &e); ok {
		return r
	}
	a, b, c = f.in(a, &e), f.in(b, &e), f.in(c, &e)
	neg := f.IsNeg(a) != f.IsNeg(b)
	switch {
	case f.IsNaN(a) || f.IsNaN(b) || f.IsNaN(c):
		return f.finishNaN(f.nanOf(b, c, a), &e)
	case f.IsInf(a) || f.IsInf(b):
		if f.IsZero(a) || f.IsZero(b) || f.IsInf(c) && f.IsNeg(c) != neg {
			return f.finishNaN(f.CanonicalNaN(), &e)
		}
		return f.saturate(f.Infinity(neg), &e)
	case f.IsInf(c):
		return f.saturate(c, &e)
	}
	x, y, z := f.unpack(a), f.unpack(b), f.unpack(c)
	return f.sum(neg, mul64(x.sig, y.sig), x.exp+y.exp, z.neg, u128{0, z.sig}, z.exp, &e)
}

// sum rounds the exact sum of two finite values. Significands have at most 106 bits, and one of them at most 64.
func (f *Format) sum(xneg bool, x u128, xexp int, yneg bool, y u128, yexp int, e *Env) uint64 {
	switch {
	case x.isZero() && y.isZero():
		if xneg == yneg {
			return f.saturate(f.sign(xneg), e)
		}
		return f.saturate(f.sign(e.Mode == RM), e)
	case x.isZero():
		return f.round(yneg, y, yexp, false, e)
	case y.isZero():
		return f.round(xneg, x, xexp, false, e)
	}
	const top = 125 // both leading bits here: room for a carry, and at least 19 zero bits below
	sx, sy := uint(top-x.len()), uint(top-y.len())
	x, xexp = x.shl(sx), xexp-int(sx)
	y, yexp = y.shl(sy), yexp-int(sy)
	if xexp < yexp || xexp == yexp && x.less(y) {
		xneg, x, xexp, yneg, y, yexp = yneg, y, yexp, xneg, x, xexp
	}
	y, sticky := y.shrSticky(uint(xexp - yexp))
	if xneg == yneg {
		return f.round(xneg, x.add(y), xexp, sticky, e)
	}
	d := x.sub(y)
	if sticky { // the exact difference is d - ε
		d = d.sub(u128{0, 1})
	}
	if d.isZero() && !sticky {
		return f.saturate(f.sign(e.Mode == RM), e)
	}
	return f.round(xneg, d, xexp, sticky, e)
}

// Div is a / b.
func (f *Format) Div(a, b uint64, e Env) uint64 {
	if r, ok := f.fastDiv(a, b, &e); ok {
		return r
	}
	a, b = f.in(a, &e), f.in(b, &e)
	neg := f.IsNeg(a) != f.IsNeg(b)
	switch {
	case f.IsNaN(a) || f.IsNaN(b):
		return f.finishNaN(f.nanOf(a, b), &e)
	case f.IsInf(a) && f.IsInf(b) || f.IsZero(a) && f.IsZero(b):
		return f.finishNaN(f.CanonicalNaN(), &e)
	case f.IsInf(a) || f.IsZero(b):
		return f.saturate(f.Infinity(neg), &e)
	case f.IsInf(b) || f.IsZero(a):
		return f.saturate(f.sign(neg), &e)
	}
	x, y := f.unpack(a), f.unpack(b)
	sx, sy := bits.LeadingZeros64(x.sig), bits.LeadingZeros64(y.sig)
	// The dividend is x<<sx << 63 < y<<sy << 64: the quotient has 63 or 64 bits.
	q, r := bits.Div64(x.sig<<sx>>1, x.sig<<sx<<63, y.sig<<sy)
	return f.round(neg, u128{0, q}, x.exp-sx-(y.exp-sy)-63, r != 0, &e)
}

// Sqrt is the square root of a.
func (f *Format) Sqrt(a uint64, e Env) uint64 {
	if r, ok := f.fastSqrt(a, &e); ok {
		return r
	}
	a = f.in(a, &e)
	switch {
	case f.IsNaN(a):
		return f.finishNaN(f.nanOf(a), &e)
	case f.IsZero(a):
		return f.saturate(a, &e)
	case f.IsNeg(a):
		return f.finishNaN(f.CanonicalNaN(), &e)
	case f.IsInf(a):
		return f.saturate(a, &e)
	}
	x := f.unpack(a)
	s := bits.LeadingZeros64(x.sig)
	sig, exp := u128{x.sig << s, 0}, x.exp-s-64
	if exp&1 != 0 {
		sig, exp = sig.shr(1), exp+1
	}
	root, exact := isqrt(sig)
	return f.round(false, u128{0, root}, exp/2, !exact, &e)
}

// isqrt is the integer square root, bit by bit.
func isqrt(n u128) (root uint64, exact bool) {
	var rem u128
	for i := 63; i >= 0; i-- {
		rem = rem.shl(2).add(n.shr(uint(2 * i)).and(3))
		try := u128{0, root}.shl(2).add(u128{0, 1})
		root <<= 1
		if !rem.less(try) {
			rem = rem.sub(try)
			root |= 1
		}
	}
	return root, rem.isZero()
}

func (a u128) and(m uint64) u128 { return u128{0, a.lo & m} }

// Rcp is 1 / a.
func (f *Format) Rcp(a uint64, e Env) uint64 { return f.Div(f.One(), a, e) }
