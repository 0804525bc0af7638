package softfloat

// Order is the result of a comparison.
type Order uint8

// The four orders.
const (
	Less Order = 1 << iota
	Equal
	Greater
	Unordered
)

// Compare orders a and b; zeros of either sign are equal.
func (f *Format) Compare(a, b uint64, ftz bool) Order {
	if f.IsNaN(a) || f.IsNaN(b) {
		return Unordered
	}
	if ftz {
		a, b = f.Flush(a), f.Flush(b)
	}
	if f.IsZero(a) && f.IsZero(b) || a == b {
		return Equal
	}
	if f.key(a) < f.key(b) {
		return Less
	}
	return Greater
}

// key maps values to integers of the same order, -0 below +0.
func (f *Format) key(x uint64) int64 {
	m := int64(f.Abs(x))
	if f.IsNeg(x) {
		return -m - 1
	}
	return m
}

// MinMax is how Min and Max treat special operands.
type MinMax struct {
	FTZ     bool
	NaN     bool // a NaN operand gives the canonical NaN instead of the other operand
	XorSign bool // .xorsign.abs: of the magnitudes, with the product's sign
}

// Min is the smaller of a and b, -0 being smaller than +0.
func (f *Format) Min(a, b uint64, m MinMax) uint64 { return f.pick(a, b, m, false) }

// Max is the larger of a and b, +0 being larger than -0.
func (f *Format) Max(a, b uint64, m MinMax) uint64 { return f.pick(a, b, m, true) }

func (f *Format) pick(a, b uint64, m MinMax, larger bool) uint64 {
	neg := f.IsNeg(a) != f.IsNeg(b)
	if m.FTZ {
		a, b = f.Flush(a), f.Flush(b)
	}
	r := a
	switch {
	case f.IsNaN(a) && f.IsNaN(b), m.NaN && (f.IsNaN(a) || f.IsNaN(b)):
		return f.nanOf(b, a)
	case f.IsNaN(a):
		r = b
	case f.IsNaN(b):
	default:
		x, y := a, b
		if m.XorSign {
			x, y = f.Abs(a), f.Abs(b)
		}
		if (f.key(y) > f.key(x)) == larger && x != y {
			r = b
		}
	}
	if m.XorSign {
		return f.Abs(r) | f.sign(neg)
	}
	return r
}

// Relu is max(x, +0), a NaN becoming the canonical one.
func (f *Format) Relu(x uint64) uint64 {
	switch {
	case f.IsNaN(x):
		return f.CanonicalNaN()
	case f.IsNeg(x):
		return 0
	}
	return x
}
