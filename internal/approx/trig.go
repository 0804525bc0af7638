package approx

// Sin is sin.approx{.ftz}.f32, Cos cos.approx{.ftz}.f32.
//
// The argument reduction is the hardware's: x/2π rounded towards zero to f32, of which the integer part is dropped. It is
// what makes the manual's error bounds (2^-20.5 up to 2π, 2^-14.7 up to 100π), and keeping it keeps large arguments alike.
func Sin[V any](b Ops[V], x V, ftz bool) V {
	x = flushIf(b, ftz, x)
	r := circle(b, x, 0)
	// Under 2^-64 the sine is x; the reduction would meet subnormals.
	r = b.Select(b.LtF32(abs32(b, x), b.F32(0x1f800000)), x, r)
	return domain(b, x, r)
}

// Cos is cos.approx{.ftz}.f32; see Sin.
func Cos[V any](b Ops[V], x V, ftz bool) V {
	x = flushIf(b, ftz, x)
	r := circle(b, x, 1)
	r = b.Select(b.LtF32(abs32(b, x), b.F32(0x1f800000)), b.F32(one32), r)
	return domain(b, x, r)
}

// domain gives NaN for infinities and NaNs.
func domain[V any](b Ops[V], x, r V) V {
	return b.Select(b.LtF32(abs32(b, x), b.F32(inf32)), r, b.F32(nan32))
}

// circle is the sine of x plus shift quarter turns.
func circle[V any](b Ops[V], x V, shift uint32) V {
	t := turns(b, x)
	// Drop whole turns: adding ±2^23 rounds to an integer; from 2^23 on there is no fraction.
	bits := b.AsI32(t)
	m := b.AsF32(b.OrI32(b.AndI32(bits, b.I32(sign32)), b.I32(0x4b000000)))
	whole := b.SubF32(b.AddF32(t, m), m)
	whole = b.Select(b.LtF32(abs32(b, t), b.F32(0x4b000000)), whole, t)
	r := b.SubF32(t, whole)
	// Nearest quarter turn.
	k := b.FmaF32(r, b.F32(0x40800000), b.F32(magic))
	s := b.FmaF32(b.SubF32(k, b.F32(magic)), b.F32(0xbe800000), r) // exact
	q := b.AddI32(b.AsI32(k), b.I32(shift))
	z := b.MulF32(s, s)
	// sin 2πs = 2π s + s(lo + z P(z)) with lo the part of 2π below its f32; cos 2πs = 1 + z Q(z).
	sin := b.FmaF32(s, b.F32(0x40c90fdb), b.MulF32(s, horner(b, z, 0xb43bbd2e, 0xc2255de7, 0x42a335df, 0xc29965f6, 0x42260b73)))
	cos := horner(b, z, one32, 0xc19de9e6, 0x4281e0f1, 0xc2aae3e1, 0x426d261b)
	v := b.Select(b.EqI32(b.AndI32(q, b.I32(1)), b.I32(0)), sin, cos)
	return b.AsF32(b.XorI32(b.AsI32(v), b.ShlI32(b.AndI32(q, b.I32(2)), 30)))
}

// turns is x/2π rounded towards zero: the nearest product, one ulp less where it is larger than the exact one.
func turns[V any](b Ops[V], x V) V {
	const inv = 0x3e22f983 // 1/2π
	p := b.MulF32(x, b.F32(inv))
	bits := b.AsI32(p)
	err := b.AsI32(b.FmaF32(x, b.F32(inv), b.AsF32(b.XorI32(bits, b.I32(sign32))))) // exact - p
	away := b.LtS32(b.XorI32(err, bits), b.I32(0))                                  // signs differ
	zero := b.EqI32(b.ShlI32(err, 1), b.I32(0))
	return b.AsF32(b.SubI32(bits, b.Select(zero, b.I32(0), b.Select(away, b.I32(1), b.I32(0)))))
}
