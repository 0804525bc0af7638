package softfloat

// The rules the manual leaves to the hardware, one row each, so that a recording changes one line.

// nanRule says which NaN an arithmetic operation results in.
type nanRule struct {
	propagate bool // a NaN operand, made quiet, instead of the canonical NaN: b before c before a
}

// f32, f16 and bf16 arithmetic gives the canonical NaN whatever its operands were (PTX ISA, "Floating-Point Instructions").
// f64 keeps the payload of b, else of a; div, which is a subroutine, of a, else of b (recorded on sm_90); c between them in fma is unrecorded.
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

// convertNaN is the NaN g gets from a NaN x of f. Between f32 and f64 the payload is kept at the upper end (recorded on sm_90),
// but an f32 that .ftz looks at first has the canonical one. Formats without NaN give the largest value.
func (g *Format) convertNaN(f *Format, x uint64, e *Env) uint64 {
	switch {
	case e.Sat:
		return 0
	case !g.NaN:
		return g.Largest(false)
	case f == F32 && g == F64:
		if e.FTZ {
			x = f.CanonicalNaN()
		}
		return x>>31<<63 | 0x7ff8<<48 | (x&0x7fffff)<<29
	case f == F64 && g == F32 && !e.FTZ:
		return x>>63<<31 | 0x7fc<<20 | x>>29&0x7fffff
	}
	return g.CanonicalNaN()
}
