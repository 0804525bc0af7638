package truth

import (
	"encoding/binary"
	"math"
	"slices"

	"kudzu/internal/ptx/isa"
)

// Tolerance is how far a result may be from the recorded one, and why.
type Tolerance struct {
	Ulp    float64 // representable numbers between the two
	Abs    float64 // or this difference
	Rel    float64 // or this part of the line's largest finite result
	Reason string
}

// tolerances are the instructions whose bits the manual does not define. Each bound is the sum of the manual's error for
// the hardware and for us.
var tolerances = []struct {
	op   isa.Op
	word isa.Mod  // must be present
	typ  isa.Type // of the line, if it matters; the first row that fits counts
	t    Tolerance
}{
	{isa.Rcp, isa.ModApprox, isa.F64, Tolerance{1 << 32, 0, 0, "a gross approximation, of the upper 32 bits: one unit of them"}},
	{isa.Rsqrt, isa.ModApprox, isa.F64, Tolerance{1 << 32, 0, 0, "a gross approximation, of the upper 32 bits: one unit of them"}},
	{isa.Rcp, isa.ModApprox, 0, Tolerance{2, 0, 0, "1 ulp each"}},
	{isa.Sqrt, isa.ModApprox, 0, Tolerance{4, 0, 0, "relative error 2^-23 each"}},
	{isa.Rsqrt, isa.ModApprox, 0, Tolerance{4, 0, 0, "relative error 2^-22.9 each"}},
	{isa.Div, isa.ModApprox, 0, Tolerance{4, 0, 0, "2 ulp each"}},
	{isa.Div, isa.ModFull, 0, Tolerance{4, 0, 0, "2 ulp each"}},
	{isa.Sin, isa.ModApprox, 0, Tolerance{0, 1.9e-6, 0, "absolute error 2^-20.5 each, in [-pi, pi]"}},
	{isa.Cos, isa.ModApprox, 0, Tolerance{0, 1.9e-6, 0, "absolute error 2^-20.5 each, in [-pi, pi]"}},
	{isa.Lg2, isa.ModApprox, 0, Tolerance{4, 4.8e-7, 0, "absolute error 2^-22 between 0.5 and 2, relative 2^-22 elsewhere"}},
	{isa.Ex2, isa.ModApprox, 0, Tolerance{4, 0, 0, "relative error 2^-22.5 each"}},
	{isa.Tanh, isa.ModApprox, 0, Tolerance{32768, 0, 0, "relative error 2^-11 each"}},
}

// floatMatrix: both cut off what is far below the largest addend, which the result may have cancelled.
var floatMatrix = Tolerance{Ulp: 2, Abs: 1e-2, Rel: 0x1p-22, Reason: "order of additions is not documented"}

// Tolerance is the line's; the zero value wants equal bits.
func (l *Line) Tolerance() Tolerance {
	if i := l.toleranceRow(); i >= 0 {
		return tolerances[i].t
	}
	if l.matrix() && l.floatMatrix() {
		return floatMatrix
	}
	return Tolerance{}
}

// toleranceRow is the row of tolerances that is for the line, -1 if none is.
func (l *Line) toleranceRow() int {
	for i, r := range tolerances {
		if r.op == l.Form.Op && slices.Contains(l.Mods, r.word) && (r.typ == isa.TypeNone || len(l.regs) > 0 && l.regs[0].typ == r.typ) {
			return i
		}
	}
	return -1
}

func (l *Line) floatMatrix() bool {
	for _, s := range []string{"dtype", "atype", "type"} {
		if w := word(l.Form, l.Mods, s); w != 0 && w.Type().IsFloat() {
			return true
		}
	}
	return false
}

// Allows reports whether got is near enough to want as a value of type t, where the line's largest result is most.
func (n Tolerance) Allows(t isa.Type, got, want uint64, most float64) bool {
	if n.Reason == "" {
		return false
	}
	ulp, abs := distance(t, got, want)
	return ulp <= n.Ulp || abs <= max(n.Abs, n.Rel*most)
}

// largest is the largest finite magnitude among the recorded f32 and f64 results.
func (l *Line) largest(want []byte) float64 {
	most := 0.0
	for lane := range Lanes {
		off := lane * l.OutBytes()
		for _, r := range l.regs {
			if !r.dest {
				continue
			}
			v := math.Abs(number(r.typ, binary.LittleEndian.Uint64(want[off:])))
			if !math.IsInf(v, 0) && v > most {
				most = v
			}
			off += outBytes(r)
		}
	}
	return most
}

// number is a value of a type that has a scale, NaN for others.
func number(t isa.Type, v uint64) float64 {
	switch t {
	case isa.F64:
		return math.Float64frombits(v)
	case isa.F32:
		return float64(math.Float32frombits(uint32(v)))
	}
	return math.NaN()
}

// distance is how far two values of a type are from each other: representable numbers between them, and their difference. Two
// NaNs are the same; one NaN, or a type without a scale, is infinitely far.
func distance(t isa.Type, got, want uint64) (ulp, abs float64) {
	var a, b float64
	switch t {
	case isa.F64:
		a, b, ulp = math.Float64frombits(got), math.Float64frombits(want), ulps(got, want, 64)
	case isa.F32:
		a, b, ulp = float64(math.Float32frombits(uint32(got))), float64(math.Float32frombits(uint32(want))), ulps(got, want, 32)
	default:
		return math.Inf(1), math.Inf(1)
	}
	if math.IsNaN(a) || math.IsNaN(b) {
		if math.IsNaN(a) && math.IsNaN(b) {
			return 0, 0
		}
		return math.Inf(1), math.Inf(1)
	}
	return ulp, math.Abs(a - b)
}

func ulps(a, b uint64, bits int) float64 {
	sign := uint64(1) << (bits - 1)
	order := func(v uint64) float64 {
		if v&sign != 0 {
			return -float64(v &^ sign)
		}
		return float64(v)
	}
	return math.Abs(order(a) - order(b))
}

// Group is a tolerance and the lines it is for.
type Group struct {
	Name string
	Tolerance
	Has func(*Line) bool
}

// Groups are all tolerances, the matrix operations last.
func Groups() []Group {
	var all []Group
	for i, r := range tolerances {
		name := r.op.String() + r.word.String()
		if r.typ != isa.TypeNone {
			name += r.typ.String()
		}
		all = append(all, Group{name, r.t, func(l *Line) bool { return l.toleranceRow() == i }})
	}
	return append(all, Group{"mma, wmma of floating-point numbers", floatMatrix, func(l *Line) bool { return l.matrix() && l.floatMatrix() }})
}

// Deviation is how far results are from the recorded ones.
type Deviation struct {
	Values, Same int
	Ulp, Abs     float64 // the largest; infinities and NaNs that only one of the two has are counted in Far
	Far          int
}

// Deviation compares the line's registers with the recorded ones and adds to d.
func (l *Line) Deviation(d *Deviation, got, want []byte) {
	stride := l.OutBytes()
	for lane := range Lanes {
		off := lane * stride
		for _, r := range l.regs {
			if !r.dest {
				continue
			}
			g, w := binary.LittleEndian.Uint64(got[off:]), binary.LittleEndian.Uint64(want[off:])
			d.Values++
			ulp, abs := distance(r.typ, g, w)
			switch {
			case g == w:
				d.Same++
			case math.IsInf(abs, 1) || math.IsNaN(abs):
				d.Far++
			default:
				d.Ulp, d.Abs = max(d.Ulp, ulp), max(d.Abs, abs)
			}
			off += outBytes(r)
		}
	}
}
