package analysis

import (
	"math"
	"math/bits"

	"kudzu/internal/ir"
)

// Range is the interval in which an integer lies, both ends included, as a signed number of its type. An i1 is 0 or -1.
//
// Value-range analysis has one set of transfer functions, here; how far back it looks and what it knows of the values it begins
// with (the launch's shape, facts of a fixed point, known zero bits) is each user's own.
type Range struct{ Lo, Hi int64 }

var unbounded = Range{math.MinInt64, math.MaxInt64}

// RangeOf is what a type can hold; of a float or of more than 64 bits nothing is known.
func RangeOf(t ir.Type) Range {
	if t.IsFloat() || t.Bits() >= 64 {
		return unbounded
	}
	return Range{-1 << (t.Bits() - 1), 1<<(t.Bits()-1) - 1}
}

// SRegRange is where a special register lies. block is the launch's shape, or zero.
func SRegRange(s ir.SpecialReg, t ir.Type, block [3]uint32) Range {
	switch s {
	case ir.TidX, ir.TidY, ir.TidZ:
		if n := block[s-ir.TidX]; n > 0 {
			return Range{0, int64(n) - 1}
		}
		return Range{0, 1023}
	case ir.LaneID, ir.WarpID:
		return Range{0, 31}
	case ir.NtidX, ir.NtidY, ir.NtidZ:
		return Range{1, 1024}
	case ir.CtaidX, ir.NctaidX:
		return Range{0, RangeOf(t).Hi}
	case ir.CtaidY, ir.CtaidZ, ir.NctaidY, ir.NctaidZ:
		return Range{0, 65535}
	}
	return RangeOf(t)
}

// Transfer is where v lies if operand i of its definition lies in of(i): all that its type holds where the operation has no
// transfer function or may wrap.
func Transfer(v *ir.Value, of func(i int) Range) Range {
	d, all := v.Def, RangeOf(v.Type)
	if !counted(v.Type) {
		return all
	}
	arg := func(i int) Range {
		if t := d.Args[i].Type; counted(t) {
			return RangeOf(t).Intersect(of(i))
		}
		return unbounded
	}
	r := unbounded
	switch d.Op {
	case ir.Copy, ir.SExt, ir.Trunc:
		r = arg(0)
	case ir.ZExt:
		r = arg(0).unsigned(d.Args[0].Type.Bits())
	case ir.Select:
		r = arg(1).Union(arg(2))
	case ir.Neg:
		r = Range{0, 0}.Sub(arg(0))
	case ir.Not:
		r = Range{-1, -1}.Sub(arg(0))
	case ir.Add:
		r = arg(0).Add(arg(1))
	case ir.Sub:
		r = arg(0).Sub(arg(1))
	case ir.Mul:
		r = arg(0).Mul(arg(1))
	case ir.DivU:
		r = arg(0).divU(arg(1))
	case ir.RemU:
		r = arg(0).remU(arg(1))
	case ir.And:
		r = arg(0).and(arg(1))
	case ir.Or, ir.Xor:
		r = arg(0).or(arg(1))
	case ir.Shl, ir.ShrU, ir.ShrS:
		if n := d.Args[1]; n.Const && n.Bits < uint64(v.Type.Bits()) {
			r = arg(0).shift(d.Op, int(n.Bits), v.Type.Bits())
		}
	case ir.Popc, ir.Clz:
		r = Range{0, int64(d.Args[0].Type.Bits())}
	case ir.MinS:
		x, y := arg(0), arg(1)
		r = Range{min(x.Lo, y.Lo), min(x.Hi, y.Hi)}
	case ir.MaxS:
		x, y := arg(0), arg(1)
		r = Range{max(x.Lo, y.Lo), max(x.Hi, y.Hi)}
	case ir.MinU:
		if x, y := arg(0), arg(1); x.Lo >= 0 && y.Lo >= 0 {
			r = Range{min(x.Lo, y.Lo), min(x.Hi, y.Hi)}
		}
	case ir.MaxU:
		if x, y := arg(0), arg(1); x.Lo >= 0 && y.Lo >= 0 {
			r = Range{max(x.Lo, y.Lo), max(x.Hi, y.Hi)}
		}
	}
	if r.Within(all) {
		return r
	}
	return all
}

// counted reports a type whose numbers an interval can have as its ends.
func counted(t ir.Type) bool { return !t.IsFloat() && t.Bits() <= 64 }

// Within reports that no number of r lies outside s.
func (r Range) Within(s Range) bool { return r.Lo >= s.Lo && r.Hi <= s.Hi }

// Intersect is what r and s have in common; r if that is nothing, as of a value in code that is never reached.
func (r Range) Intersect(s Range) Range {
	if both := (Range{max(r.Lo, s.Lo), min(r.Hi, s.Hi)}); both.Lo <= both.Hi {
		return both
	}
	return r
}

// Union is the smallest interval that has r and s.
func (r Range) Union(s Range) Range { return Range{min(r.Lo, s.Lo), max(r.Hi, s.Hi)} }

// UpperU is the largest number of r as an unsigned number of w bits.
func (r Range) UpperU(w int) uint64 {
	if r.Lo >= 0 {
		return uint64(r.Hi)
	}
	return math.MaxUint64 >> (64 - min(w, 64))
}

// unsigned is r with its numbers read as unsigned ones of w bits.
func (r Range) unsigned(w int) Range {
	switch {
	case r.Lo >= 0:
		return r
	case w >= 64:
		return unbounded
	}
	return Range{0, 1<<w - 1}
}

// Add is where sums lie.
func (r Range) Add(s Range) Range {
	lo, hi := r.Lo+s.Lo, r.Hi+s.Hi
	if (lo < r.Lo) != (s.Lo < 0) || (hi < r.Hi) != (s.Hi < 0) {
		return unbounded
	}
	return Range{lo, hi}
}

// Sub is where differences lie.
func (r Range) Sub(s Range) Range {
	if s.Lo == math.MinInt64 {
		return unbounded
	}
	return r.Add(Range{-s.Hi, -s.Lo})
}

// Mul is where products lie, of numbers of at most 32 bits.
func (r Range) Mul(s Range) Range {
	if word := (Range{math.MinInt32, math.MaxInt32}); !r.Within(word) || !s.Within(word) {
		return unbounded
	}
	return Range{min(r.Lo*s.Lo, r.Lo*s.Hi, r.Hi*s.Lo, r.Hi*s.Hi), max(r.Lo*s.Lo, r.Lo*s.Hi, r.Hi*s.Lo, r.Hi*s.Hi)}
}

func (r Range) divU(s Range) Range {
	if r.Lo < 0 || s.Lo <= 0 {
		return unbounded
	}
	return Range{r.Lo / s.Hi, r.Hi / s.Lo}
}

func (r Range) remU(s Range) Range {
	switch {
	case s.Lo <= 0:
		return unbounded
	case r.Lo < 0:
		return Range{0, s.Hi - 1}
	}
	return Range{0, min(r.Hi, s.Hi-1)}
}

// and: a mask that is not negative bounds what is left.
func (r Range) and(s Range) Range {
	switch {
	case r.Lo >= 0 && s.Lo >= 0:
		return Range{0, min(r.Hi, s.Hi)}
	case s.Lo >= 0:
		return Range{0, s.Hi}
	case r.Lo >= 0:
		return Range{0, r.Hi}
	}
	return unbounded
}

// or, and exclusive or: no bit above the highest of either.
func (r Range) or(s Range) Range {
	if r.Lo < 0 || s.Lo < 0 {
		return unbounded
	}
	return Range{0, int64(uint64(1)<<bits.Len64(uint64(r.Hi|s.Hi)) - 1)}
}

// shift is where numbers of w bits lie that are shifted by n < w.
func (r Range) shift(op ir.Op, n, w int) Range {
	switch {
	case op == ir.Shl && r.Lo<<n>>n == r.Lo && r.Hi<<n>>n == r.Hi:
		return Range{r.Lo << n, r.Hi << n}
	case op == ir.ShrS || op == ir.ShrU && (r.Lo >= 0 || n == 0):
		return Range{r.Lo >> n, r.Hi >> n}
	case op == ir.ShrU:
		return Range{0, int64(uint64(math.MaxUint64) >> (64 - w + n))}
	}
	return unbounded
}
