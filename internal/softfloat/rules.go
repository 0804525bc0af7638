package softfloat

// The rules the manual leaves to the hardware, one row each, so that a recording changes one line.

// nanRule says which NaN an arithmetic operation results in.
type nanRule struct {
	propagate bool // the first NaN operand, made quiet, instead of the canonical NaN
}

// f32, f16 and bf16 arithmetic gives the canonical NaN whatever its operands were (PTX ISA, "Floating-Point Instructions").
// f64 keeps a payload: unrecorded; the generated NaN of f64 (Format.nan) likewise.
var nanRules = map[*Format]nanRule{
	F64: {propagate: true},
}

// tinyRule says when a result is subnormal for the purpose of .ftz.
type tinyRule uint8

const (
	tinyBefore tinyRule = iota // the exact result is below the smallest normal
	tinyAfter                  // the result rounded as if the exponent were unbounded is below it (x86's rule)
	tinyStored                 // the result rounded to the format is a subnormal
)

// flushRule is the .ftz rule. unrecorded: results within half an ulp under the smallest normal tell the three apart.
var flushRule = tinyAfter

// nan is the NaN result of an operation on operands of format f, of which at least one may be a NaN.
func (f *Format) nanOf(ops ...uint64) uint64 {
	if nanRules[f].propagate {
		for _, x := range ops {
			if f.IsNaN(x) {
				return x | 1<<(f.Frac-1)<<f.Shift
			}
		}
	}
	return f.CanonicalNaN()
}
