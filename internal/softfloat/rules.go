package softfloat

// The rules the manual leaves to the hardware, one row each, so that a recording changes one line.

// nanRule says which NaN an arithmetic operation results in.
type nanRule struct {
	propagate bool // a NaN operand, made quiet, instead of the canonical NaN: b before c before a
}

// f32, f16 and bf16 arithmetic gives the canonical NaN whatever its operands were (PTX ISA, "Floating-Point Instructions").
// f64 keeps the payload of b, else of a; div, which is a subroutine, of a, else of b (recorded on sm_90), and fma of b, else of c, else of a.
var nanRules = map[*Format]nanRule{
	F64: {propagate: true},
}

// nanOf is the NaN result of an operation on operands of format f, in the order in which they give their payload.
func (f *Format) nanOf(ops ...uint64) uint64 {
	if nanRules[f].propagate {
		for _, x := range ops {
			if f.IsNaN(x) {
				return f.Quiet(x)
			}
		}
	}
	return f.CanonicalNaN()
}

// Quiet sets the quiet bit of a NaN.
func (f *Format) Quiet(x uint64) uint64 { return x | 1<<(f.Frac-1)<<f.Shift }

// Propagates says whether operations of the format keep the payload of a NaN operand.
func (f *Format) Propagates() bool { return nanRules[f].propagate }

// convertNaN is the NaN g gets from a NaN x of f (recorded on sm_90). From and to f64 sign and payload are kept at the upper end,
// but an f32 that .ftz looks at first has the canonical one. bf16 to f32 without .ftz moves the bits, f32 to tf32 with .rna
// cuts them off. Everything else gives the canonical NaN, and formats without NaN the largest value.
func (g *Format) convertNaN(f *Format, x uint64, e *Env) uint64 {
	switch {
	case e.Sat:
		return 0
	case !g.NaN:
		return g.Largest(false)
	case f == g:
		return f.nanOf(x)
	case f == F32 && g == TF32 && e.Mode == RNA:
		r := x &^ (1<<13 - 1)
		if e.SatFinite {
			r -= 1 << 13
		}
		return r
	case f == BF16 && g == F32 && !e.FTZ:
		return x << 16
	case f == F64 && g.Inf, f.Inf && g == F64:
		if f == F32 && e.FTZ {
			x = f.CanonicalNaN()
		}
		payload := x&f.fracMask() | 1<<(f.Frac-1)
		if f.Frac > g.Frac {
			payload >>= f.Frac - g.Frac
		} else {
			payload <<= g.Frac - f.Frac
		}
		return (g.sign(f.IsNeg(x))>>g.Shift | uint64(g.expMask())<<g.Frac | payload) << g.Shift
	}
	return g.CanonicalNaN()
}
