package approx

const (
	one64  = 0x3ff0000000000000
	nan64  = 0x7fffffff00000000 // recorded on sm_90
	sign64 = 1 << 63
	tiny64 = 0x0010000000000000
	upper  = 0xffffffff00000000 // the 1.11.20 part the gross forms work on
)

// RcpF64 is rcp.approx.ftz.f64: of the upper 32 bits of x, to the upper 32 bits of the result, the lower being zero.
// The hardware is a unit of the last kept bit above that for some operands.
func RcpF64[V any](b Ops[V], x V) V {
	v := flush64(b, b.AsF64(b.AndI64(b.AsI64(x), b.I64(upper))))
	r := flush64(b, b.DivF64(b.F64(one64), v))
	return gross(b, r)
}

// RsqrtF64 is rsqrt.approx.f64 (within one ulp), and with ftz the gross rsqrt.approx.ftz.f64.
func RsqrtF64[V any](b Ops[V], x V, ftz bool) V {
	if !ftz {
		return b.DivF64(b.F64(one64), b.SqrtF64(x))
	}
	v := flush64(b, b.AsF64(b.AndI64(b.AsI64(x), b.I64(upper))))
	return gross(b, b.DivF64(b.F64(one64), b.SqrtF64(v)))
}

// gross keeps the upper 32 bits of r, which is a NaN where the upper half of the operand is one.
func gross[V any](b Ops[V], r V) V {
	return b.Select(b.NaNF64(r), b.F64(nan64), b.AsF64(b.AndI64(b.AsI64(r), b.I64(upper))))
}

func flush64[V any](b Ops[V], x V) V {
	bits := b.AsI64(x)
	small := b.LtF64(b.AsF64(b.AndI64(bits, b.I64(sign64-1))), b.F64(tiny64))
	return b.Select(small, b.AsF64(b.AndI64(bits, b.I64(sign64))), x)
}
