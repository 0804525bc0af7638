package analysis

import (
	"math"

	"kudzu/internal/ir"
)

// Interval has the numbers from Lo to Hi, infinities among them.
type Interval struct{ Lo, Hi float64 }

// Numbers finds f32 values that are never NaN, and between which numbers they lie. Rounding may take them no farther: bounds are
// rounded outwards. Results are kept, so the function must not change meanwhile.
type Numbers map[*ir.Value]number

type number struct {
	Interval
	known bool
}

// least is the least normal number: what is less may be flushed to zero.
const least = 0x1p-126

// everything is what a number is at all.
var everything = Interval{math.Inf(-1), math.Inf(1)}

// Of is where v lies, false if it may be a NaN.
func (m Numbers) Of(v *ir.Value) (Interval, bool) {
	if v.Type != ir.F32 {
		return everything, false
	}
	if v.Const {
		f := float64(math.Float32frombits(uint32(v.Bits)))
		return Interval{f, f}, f == f
	}
	if r, ok := m[v]; ok {
		return r.Interval, r.known
	}
	iv, ok := m.result(v)
	if ok {
		iv = iv.rounded()
	}
	m[v] = number{iv, ok}
	return iv, ok
}

func (m Numbers) result(v *ir.Value) (Interval, bool) {
	in := v.Def
	if in == nil || len(in.Results) != 1 {
		return everything, false
	}
	if in.Sat { // a NaN becomes 0
		return Interval{0, 1}, true
	}
	switch in.Op {
	case ir.SToF, ir.UToF:
		return Interval{-0x1p64, 0x1p64}, true
	case ir.FMin, ir.FMax:
		return m.minMax(in)
	case ir.Select:
		a, known := m.where(in.Args[1], in.Args[0], true)
		b, too := m.where(in.Args[2], in.Args[0], false)
		return a.or(b), known && too
	case ir.FAdd, ir.FSub, ir.FMul, ir.FDiv, ir.FFma, ir.FRcp, ir.FSqrt, ir.FNeg, ir.FAbs, ir.FRound, ir.Copy:
		return m.arithmetic(in)
	}
	return everything, false
}

func (m Numbers) arithmetic(in *ir.Inst) (Interval, bool) {
	var a [3]Interval
	for i, x := range in.Args {
		iv, ok := m.Of(x)
		if !ok {
			return everything, false
		}
		a[i] = iv
	}
	switch in.Op {
	case ir.FAdd:
		return a[0].add(a[1])
	case ir.FSub:
		return a[0].add(a[1].neg())
	case ir.FMul:
		return a[0].mul(a[1])
	case ir.FFma:
		p, ok := a[0].mul(a[1])
		if !ok {
			return p, false
		}
		return p.add(a[2])
	case ir.FRcp:
		if a[0].hasZero() {
			return everything, true
		}
		return Interval{1 / a[0].Hi, 1 / a[0].Lo}, true
	case ir.FDiv:
		if a[1].hasZero() || a[0].hasInf() && a[1].hasInf() {
			return everything, false
		}
		return a[0].mul(Interval{1 / a[1].Hi, 1 / a[1].Lo})
	case ir.FSqrt:
		return Interval{math.Sqrt(max(a[0].Lo, 0)), math.Sqrt(max(a[0].Hi, 0))}, a[0].Lo >= 0
	case ir.FNeg:
		return a[0].neg(), true
	case ir.FAbs:
		return Interval{0, max(math.Abs(a[0].Lo), math.Abs(a[0].Hi))}, true
	case ir.FRound:
		return Interval{a[0].Lo - 1, a[0].Hi + 1}, true
	}
	return a[0], true // Copy
}

// minMax gives the other operand where one is a NaN, unless NaNs are asked for.
func (m Numbers) minMax(in *ir.Inst) (Interval, bool) {
	a, known := m.Of(in.Args[0])
	b, too := m.Of(in.Args[1])
	switch {
	case in.XorSign || !known && !too || in.NaN && !(known && too):
		return everything, false
	case !known:
		a = everything
	case !too:
		b = everything
	}
	r := Interval{min(a.Lo, b.Lo), min(a.Hi, b.Hi)}
	if in.Op == ir.FMax {
		r = Interval{max(a.Lo, b.Lo), max(a.Hi, b.Hi)}
	}
	return r, true
}

// where is what v is if a condition holds, or does not: a value that was compared with a number is one where the comparison is ordered.
func (m Numbers) where(v, cond *ir.Value, holds bool) (Interval, bool) {
	iv, known := m.Of(v)
	d := cond.Def
	if v.Const || d == nil || d.Op != ir.FCmp || d.Args[0].Type != ir.F32 {
		return iv, known
	}
	c, other := d.Cmp, d.Args[1]
	if !holds {
		var ok bool
		if c, ok = opposite[c]; !ok {
			return iv, known
		}
	}
	if v == other {
		c, other = c.Swapped(), d.Args[0]
	} else if v != d.Args[0] {
		return iv, known
	}
	bound, ok := m.Of(other)
	if c == ir.NUM {
		return iv, true
	} else if !ok {
		return iv, known
	}
	if d.FTZ { // which compares subnormal numbers as zeros
		bound = Interval{bound.Lo - least, bound.Hi + least}
	}
	switch c {
	case ir.LT, ir.LE:
		bound.Lo = math.Inf(-1)
	case ir.GT, ir.GE:
		bound.Hi = math.Inf(1)
	case ir.EQ:
	default:
		return iv, known
	}
	if known {
		bound = bound.and(iv)
	}
	return bound, true
}

// opposite are the ordered comparisons that hold where one does not.
var opposite = map[ir.Cmp]ir.Cmp{ir.LTU: ir.GE, ir.LEU: ir.GT, ir.GTU: ir.LE, ir.GEU: ir.LT, ir.NEU: ir.EQ, ir.NAN: ir.NUM}

func (a Interval) or(b Interval) Interval { return Interval{min(a.Lo, b.Lo), max(a.Hi, b.Hi)} }

// and of intervals that have nothing in common is one of them: what is there is never computed.
func (a Interval) and(b Interval) Interval {
	r := Interval{max(a.Lo, b.Lo), min(a.Hi, b.Hi)}
	if r.Lo > r.Hi {
		return a
	}
	return r
}

func (a Interval) neg() Interval { return Interval{-a.Hi, -a.Lo} }

func (a Interval) hasInf() bool { return math.IsInf(a.Lo, -1) || math.IsInf(a.Hi, 1) }

func (a Interval) hasZero() bool { return a.Lo < least && a.Hi > -least }

// NoZero reports that a has no zero, nor what may be flushed to one.
func (a Interval) NoZero() bool { return !a.hasZero() }

// add is a NaN of infinities of both signs.
func (a Interval) add(b Interval) (Interval, bool) {
	up, down := math.Inf(1), math.Inf(-1)
	if a.Hi == up && b.Lo == down || a.Lo == down && b.Hi == up {
		return everything, false
	}
	return Interval{a.Lo + b.Lo, a.Hi + b.Hi}, true
}

// mul is a NaN of an infinity and a zero.
func (a Interval) mul(b Interval) (Interval, bool) {
	if a.hasInf() && b.hasZero() || a.hasZero() && b.hasInf() {
		return everything, false
	}
	p, q, r, s := a.Lo*b.Lo, a.Lo*b.Hi, a.Hi*b.Lo, a.Hi*b.Hi
	return Interval{min(p, q, r, s), max(p, q, r, s)}, true
}

// rounded has what numbers of the interval may become as f32, in any direction, flushed or not.
func (a Interval) rounded() Interval {
	r := Interval{-outwards(-a.Lo), outwards(a.Hi)}
	if r.hasZero() {
		r = r.or(Interval{})
	}
	return r
}

// outwards is the largest f32 that numbers up to x may be rounded to.
func outwards(x float64) float64 {
	switch {
	case x > math.MaxFloat32:
		return math.Inf(1)
	case x < -math.MaxFloat32:
		return -math.MaxFloat32
	case x <= 0:
		return min(0, x-x*0x1p-22+0x1p-149)
	}
	return x + x*0x1p-22 + 0x1p-149
}
