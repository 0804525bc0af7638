package softfloat

import "math"

// The shortcuts through Go's own floats. Each is exactly right: Go's float32 and float64 operations round once to nearest
// even; products are never used inside an addition unless they are exact, so that a compiler that fuses changes nothing.
// All of them give up (ok false) on NaN results, and on modes other than to-nearest.

func f32(x uint64) float32 { return math.Float32frombits(uint32(x)) }
func f64(x uint64) float64 { return math.Float64frombits(x) }

// plain reports that e needs nothing but rounding to nearest even.
func (e *Env) plain() bool { return e.Mode == RN && !e.FTZ && !e.Sat }

// done32 finishes a float32 result: NaNs, and results near the subnormals under FTZ, take the slow way.
func done32(r float32, e *Env) (uint64, bool) {
	b := math.Float32bits(r)
	m := b &^ (1 << 31)
	if m > 0x7f800000 || e.FTZ && m <= 0x00800000 {
		return 0, false
	}
	if e.Sat {
		return F32.saturate(uint64(b), e), true
	}
	return uint64(b), true
}

// ok32 reports that operands may take the fast way: nearest rounding, and no subnormal operand under FTZ.
func ok32(e *Env, ops ...uint64) bool {
	if e.Mode != RN || e.SatFinite {
		return false
	}
	if e.FTZ {
		for _, x := range ops {
			if x&0x7f800000 == 0 && x&0x7fffff != 0 {
				return false
			}
		}
	}
	return true
}

func done64(r float64, e *Env) (uint64, bool) {
	if r != r || !e.plain() || e.SatFinite {
		return 0, false
	}
	return math.Float64bits(r), true
}

func (f *Format) fastAdd(a, b uint64, e *Env) (uint64, bool) {
	switch {
	case f == F32 && ok32(e, a, b):
		return done32(f32(a)+f32(b), e)
	case f == F64:
		return done64(f64(a)+f64(b), e)
	}
	return 0, false
}

func (f *Format) fastMul(a, b uint64, e *Env) (uint64, bool) {
	switch {
	case f == F32 && ok32(e, a, b):
		return done32(float32(f32(a)*f32(b)), e)
	case f == F64:
		return done64(float64(f64(a)*f64(b)), e)
	}
	return 0, false
}

func (f *Format) fastDiv(a, b uint64, e *Env) (uint64, bool) {
	switch {
	case f == F32 && ok32(e, a, b):
		return done32(f32(a)/f32(b), e)
	case f == F64:
		return done64(f64(a)/f64(b), e)
	}
	return 0, false
}

func (f *Format) fastSqrt(a uint64, e *Env) (uint64, bool) {
	switch {
	case f == F32 && ok32(e, a):
		// The root of a 24-bit significand rounded to 53 bits is never within 2^-29 of a midpoint of 24 bits.
		return done32(float32(math.Sqrt(float64(f32(a)))), e)
	case f == F64:
		return done64(math.Sqrt(f64(a)), e)
	}
	return 0, false
}

// fastFma of f32: the product is exact in float64; the sum is made odd where it is inexact, which makes the second rounding
// harmless (the sum has 53 bits, more than 2×24+2).
func (f *Format) fastFma(a, b, c uint64, e *Env) (uint64, bool) {
	switch {
	case f == F32 && ok32(e, a, b, c):
		p, z := float64(f32(a))*float64(f32(b)), float64(f32(c))
		s := p + z
		if s != s || math.IsInf(s, 0) {
			return 0, false
		}
		t := s - p
		if err := (p - (s - t)) + (z - t); err != 0 {
			bits := math.Float64bits(s)
			if bits&1 == 0 {
				if (err > 0) == (s > 0) {
					bits++
				} else {
					bits--
				}
				s = math.Float64frombits(bits)
			}
		}
		return done32(float32(s), e)
	case f == F64:
		return done64(math.FMA(f64(a), f64(b), f64(c)), e)
	}
	return 0, false
}
