package approx

// The 16-bit forms compute in f32 and cut the result off, as the hardware does (recorded on sm_90). Values are 16 bits in an i32.

const nan16 = 0x7fff // canonical NaN of f16 and bf16

// Ex2F16 is ex2.approx.f16.
func Ex2F16[V any](b Ops[V], x V) V { return f16(b, x, func(v V) V { return ex2Half(b, v) }) }

// TanhF16 is tanh.approx.f16.
func TanhF16[V any](b Ops[V], x V) V { return f16(b, x, func(v V) V { return tanhHalf(b, v) }) }

// Ex2BF16 is ex2.approx.ftz.bf16.
func Ex2BF16[V any](b Ops[V], x V) V { return bf16(b, x, func(v V) V { return ex2Half(b, v) }) }

// ex2Half is ex2 before it is cut off. Under 2^-23 the argument is zero to the hardware.
func ex2Half[V any](b Ops[V], v V) V {
	return b.Select(b.LtF32(abs32(b, v), b.F32(0x34000000)), b.F32(one32), Ex2(b, v, true))
}

// TanhBF16 is tanh.approx.bf16.
func TanhBF16[V any](b Ops[V], x V) V { return bf16(b, x, func(v V) V { return tanhHalf(b, v) }) }

// tanhHalf is tanh before it is cut off. Under 2^-8+2^-15 it is the argument, and from 8 on one.
func tanhHalf[V any](b Ops[V], v V) V {
	a := abs32(b, v)
	one := b.AsF32(b.OrI32(b.I32(one32), b.AndI32(b.AsI32(v), b.I32(sign32))))
	r := b.Select(b.LtF32(a, b.F32(0x41000000)), Tanh(b, v), one)
	return b.Select(b.LtF32(a, b.F32(0x3b810000)), v, r)
}

func f16[V any](b Ops[V], x V, fn func(V) V) V {
	v := b.F16ToF32(x)
	r := fn(v)
	h := b.F32ToF16(r) // to nearest; one less where that was away from zero, but infinity from 2^16 on
	away := b.And(b.LtF32(abs32(b, r), abs32(b, b.F16ToF32(h))), b.LtF32(abs32(b, r), b.F32(0x47800000)))
	h = b.SubI32(h, b.Select(away, b.I32(1), b.I32(0)))
	return b.Select(b.NaNF32(v), b.I32(nan16), h)
}

// bf16 is the upper half of f32.
func bf16[V any](b Ops[V], x V, fn func(V) V) V {
	v := b.AsF32(b.ShlI32(x, 16))
	return b.Select(b.NaNF32(v), b.I32(nan16), b.ShrI32(b.AsI32(fn(v)), 16))
}
