package approx

// Bit patterns of f32 constants used throughout.
const (
	one32  = 0x3f800000
	inf32  = 0x7f800000
	nan32  = 0x7fffffff // the canonical NaN
	sign32 = 0x80000000
	tiny32 = 0x00800000 // 2^-126, the smallest normal
	magic  = 0x4b400000 // 1.5×2^23: adding it rounds |x| < 2^22 to an integer, left in the low bits
)

// flush32 gives the zero of x's sign for a subnormal x.
func flush32[V any](b Ops[V], x V) V {
	bits := b.AsI32(x)
	small := b.LtU32(b.AndI32(bits, b.I32(^uint32(sign32))), b.I32(tiny32))
	return b.AsF32(b.Select(small, b.AndI32(bits, b.I32(sign32)), bits))
}

func flushIf[V any](b Ops[V], ftz bool, x V) V {
	if ftz {
		return flush32(b, x)
	}
	return x
}

func abs32[V any](b Ops[V], x V) V {
	return b.AsF32(b.AndI32(b.AsI32(x), b.I32(^uint32(sign32))))
}

// horner is c[0] + x(c[1] + x(c[2] + …)).
func horner[V any](b Ops[V], x V, c ...uint32) V {
	r := b.F32(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		r = b.FmaF32(x, r, b.F32(c[i]))
	}
	return r
}

// Rcp is rcp.approx{.ftz}.f32, correctly rounded.
func Rcp[V any](b Ops[V], x V, ftz bool) V {
	// No reciprocal of an f32 rounds up to 2^-126, so that flushing afterwards is the same in every mode.
	return flushIf(b, ftz, b.DivF32(b.F32(one32), flushIf(b, ftz, x)))
}

// Sqrt is sqrt.approx{.ftz}.f32, correctly rounded.
func Sqrt[V any](b Ops[V], x V, ftz bool) V { return b.SqrtF32(flushIf(b, ftz, x)) }

// Rsqrt is rsqrt.approx{.ftz}.f32, within one ulp.
func Rsqrt[V any](b Ops[V], x V, ftz bool) V {
	return b.DivF32(b.F32(one32), b.SqrtF32(flushIf(b, ftz, x)))
}

// Div is div.approx{.ftz}.f32: x times the reciprocal of y, which is 0 for |y| > 2^126. Both are scaled where y is subnormal.
func Div[V any](b Ops[V], x, y V, ftz bool) V {
	x, y = flushIf(b, ftz, x), flushIf(b, ftz, y)
	if !ftz {
		tiny, up := b.LtF32(abs32(b, y), b.F32(tiny32)), b.F32(0x4b800000) // 2^24
		x = b.Select(tiny, b.MulF32(x, up), x)
		y = b.Select(tiny, b.MulF32(y, up), y)
	}
	r := flush32(b, b.DivF32(b.F32(one32), y))
	q := b.MulF32(x, r)
	if !ftz {
		return q
	}
	// Decide on the product scaled by 2^64 whether it is subnormal; the smaller factor takes the scale.
	const scale = 0x5f800000
	small := b.LtF32(abs32(b, x), b.F32(one32))
	xs := b.Select(small, b.MulF32(x, b.F32(scale)), x)
	rs := b.Select(small, r, b.MulF32(r, b.F32(scale)))
	tiny := b.LtF32(abs32(b, b.MulF32(xs, rs)), b.F32(0x20800000)) // 2^-62
	return zeroIf(b, tiny, q, x, y)
}

// DivFull is div.full{.ftz}.f32, correctly rounded.
func DivFull[V any](b Ops[V], x, y V, ftz bool) V {
	x, y = flushIf(b, ftz, x), flushIf(b, ftz, y)
	q := b.DivF32(x, y)
	if !ftz {
		return q
	}
	// |x/y| < 2^-126 if |x| < 2^-126 |y|, exact for |y| >= 1; under that no quotient of normals is subnormal.
	tiny := b.LtF32(abs32(b, x), b.MulF32(abs32(b, y), b.F32(tiny32)))
	return zeroIf(b, b.And(tiny, b.LtF32(abs32(b, y), b.F32(inf32))), q, x, y)
}

// zeroIf is the zero of the sign of x×y where tiny holds, else q.
func zeroIf[V any](b Ops[V], tiny, q, x, y V) V {
	sign := b.AndI32(b.XorI32(b.AsI32(x), b.AsI32(y)), b.I32(sign32))
	return b.Select(tiny, b.AsF32(sign), q)
}

// Ex2 is ex2.approx{.ftz}.f32: 2^x = 2^n × 2^f with n the nearest integer and a polynomial for |f| <= 1/2.
func Ex2[V any](b Ops[V], x V, ftz bool) V {
	const hi, lo = 0x43000000, 0xc3170000              // 128: exactly inf comes out; -151: everything is zero there
	v := b.Select(b.LtF32(x, b.F32(hi)), x, b.F32(hi)) // a number, which a NaN's result does not depend on
	v = b.Select(b.LtF32(b.F32(lo), v), v, b.F32(lo))
	t := b.AddF32(v, b.F32(magic))
	f := b.SubF32(v, b.SubF32(t, b.F32(magic)))
	n := b.SubI32(b.AsI32(t), b.I32(magic))
	p := horner(b, f, one32, 0x3f317218, 0x3e75fdee, 0x3d635773, 0x3c1d96a9, 0x3aafa007, 0x3920fd85)
	var r V
	if ftz {
		bits := b.AddI32(b.AsI32(p), b.ShlI32(n, 23))
		r = b.AsF32(b.Select(b.LtS32(bits, b.I32(tiny32)), b.I32(0), bits))
	} else {
		// Under 2^-120 go through 2^(n+64), so that only the last step rounds to a subnormal.
		low := b.LtS32(n, b.I32(^uint32(119)))
		n = b.Select(low, b.AddI32(n, b.I32(64)), n)
		down := b.Select(low, b.F32(0x1f800000), b.F32(one32))
		r = b.MulF32(b.AsF32(b.AddI32(b.AsI32(p), b.ShlI32(n, 23))), down)
	}
	return b.Select(b.NaNF32(x), b.F32(nan32), r)
}

// Lg2 is lg2.approx{.ftz}.f32: the exponent plus a polynomial over [√½, √2).
func Lg2[V any](b Ops[V], x V, ftz bool) V {
	x = flushIf(b, ftz, x)
	v, bias := x, b.F32(0)
	if !ftz {
		small := b.LtF32(x, b.F32(tiny32))
		v = b.Select(small, b.MulF32(x, b.F32(0x4b800000)), x) // 2^24
		bias = b.Select(small, b.F32(0x41c00000), bias)        // 24
	}
	bits := b.AsI32(v)
	e := b.SarI32(b.SubI32(bits, b.I32(0x3f3504f3)), 23) // √½
	f := b.SubF32(b.AsF32(b.SubI32(bits, b.ShlI32(e, 23))), b.F32(one32))
	p := horner(b, f, 0x3fb8aa3b, 0xbf38aa38, 0x3ef6384b, 0xbeb8ad3b, 0x3e93bf19, 0xbe755e42, 0x3e51831d, 0xbe43a651, 0x3e3ea305, 0xbde1277c)
	r := b.FmaF32(f, p, b.SubF32(b.S32ToF32(e), bias))
	r = b.Select(b.EqF32(x, b.F32(inf32)), x, r)
	r = b.Select(b.EqF32(x, b.F32(0)), b.F32(sign32|inf32), r)
	bad := b.Or(b.LtF32(x, b.F32(0)), b.NaNF32(x))
	return b.Select(bad, b.F32(nan32), r)
}

// Tanh is tanh.approx.f32, which keeps subnormals: an odd polynomial, or 1 - 2/(1+e^2x).
func Tanh[V any](b Ops[V], x V) V {
	a := abs32(b, x)
	z := b.MulF32(a, a)
	near := b.FmaF32(b.MulF32(a, z), horner(b, z, 0xbeaaaa99, 0x3e088364, 0xbd5c1587, 0x3ca8cfa4, 0xbbb99cdf), a)
	c := b.Select(b.LtF32(a, b.F32(0x41200000)), a, b.F32(0x41200000)) // 10
	e := Ex2(b, b.MulF32(c, b.F32(0x4038aa3b)), true)                  // 2/ln 2
	far := b.SubF32(b.F32(one32), b.DivF32(b.F32(0x40000000), b.AddF32(e, b.F32(one32))))
	r := b.Select(b.LtF32(a, b.F32(0x3f200000)), near, far) // 0.625
	r = b.AsF32(b.OrI32(b.AsI32(r), b.AndI32(b.AsI32(x), b.I32(sign32))))
	r = b.Select(b.LtF32(a, b.F32(0x35800000)), x, r) // 2^-20: x itself, untouched by arithmetic that might flush it
	return b.Select(b.NaNF32(x), b.F32(nan32), r)
}
