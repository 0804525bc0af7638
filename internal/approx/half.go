package approx

// The 16-bit forms compute in f32 and round once more. Values are 16 bits in an i32.

const nan16 = 0x7fff // canonical NaN of f16 and bf16

// Ex2F16 is ex2.approx.f16.
func Ex2F16[V any](b Ops[V], x V) V { return f16(b, x, func(v V) V { return Ex2(b, v, true) }) }

// TanhF16 is tanh.approx.f16.
func TanhF16[V any](b Ops[V], x V) V { return f16(b, x, func(v V) V { return Tanh(b, v) }) }

// Ex2BF16 is ex2.approx.ftz.bf16.
func Ex2BF16[V any](b Ops[V], x V) V { return bf16(b, x, func(v V) V { return Ex2(b, v, true) }) }

// TanhBF16 is tanh.approx.bf16.
func TanhBF16[V any](b Ops[V], x V) V { return bf16(b, x, func(v V) V { return Tanh(b, v) }) }

func f16[V any](b Ops[V], x V, fn func(V) V) V {
	v := b.F16ToF32(x)
	return b.Select(b.NaNF32(v), b.I32(nan16), b.F32ToF16(fn(v)))
}

// bf16 is the upper half of f32; rounding to nearest even is integer arithmetic on its bits.
func bf16[V any](b Ops[V], x V, fn func(V) V) V {
	v := b.AsF32(b.ShlI32(x, 16))
	r := b.AsI32(fn(v))
	odd := b.AndI32(b.ShrI32(r, 16), b.I32(1))
	h := b.ShrI32(b.AddI32(r, b.AddI32(odd, b.I32(0x7fff))), 16)
	return b.Select(b.NaNF32(v), b.I32(nan16), h)
}
