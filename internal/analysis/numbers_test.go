package analysis_test

import (
	"math"
	"math/rand"
	"testing"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// TestNumbersHold computes random expressions of random numbers, infinities and NaNs: what Numbers says of a value must hold for each.
func TestNumbersHold(t *testing.T) {
	rng := rand.New(rand.NewSource(7))
	odd := []float32{0, float32(math.Copysign(0, -1)), 1, -1, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1e-40, -1e-40, math.MaxFloat32, 128, -151, 0x1p-126}
	some := func() float32 {
		if rng.Intn(3) == 0 {
			return float32(rng.NormFloat64() * math.Exp(rng.NormFloat64()*8))
		}
		return odd[rng.Intn(len(odd))]
	}
	known := 0
	for range 4000 {
		e := &expression{rng: rng, some: some}
		for range 2 + rng.Intn(4) {
			e.input()
		}
		for range 3 + rng.Intn(20) {
			e.grow()
		}
		m := analysis.Numbers{}
		for range 20 {
			e.compute()
			for i, v := range e.vals {
				iv, ok := m.Of(v)
				x := float64(e.is[i])
				if !ok || v.Const {
					continue
				}
				known++
				if x != x || x < iv.Lo || x > iv.Hi {
					t.Fatalf("%v of %v is %v, said to be within %v", v.Def.Op, e.operands(v.Def), x, iv)
				}
			}
		}
	}
	if known < 10000 {
		t.Errorf("only %d values were known", known)
	}
}

// expression is a list of values, each of earlier ones, with what they are.
type expression struct {
	rng  *rand.Rand
	some func() float32
	vals []*ir.Value
	is   []float32
	how  []func() float32
}

func (e *expression) put(v *ir.Value, how func() float32) {
	e.vals, e.how, e.is = append(e.vals, v), append(e.how, how), append(e.is, 0)
}

func (e *expression) input() {
	v := &ir.Value{Type: ir.F32}
	v.Def = &ir.Inst{Op: ir.Load, Results: []*ir.Value{v}}
	e.put(v, e.some)
}

func (e *expression) compute() {
	for i, f := range e.how {
		e.is[i] = f()
	}
}

func (e *expression) operands(in *ir.Inst) (xs []float32) {
	for i, v := range e.vals {
		for _, a := range in.Args {
			if a == v {
				xs = append(xs, e.is[i])
			}
		}
	}
	return xs
}

// grow adds a value of earlier ones.
func (e *expression) grow() {
	pick := func() int {
		if e.rng.Intn(3) == 0 {
			c := e.some()
			e.put(&ir.Value{Type: ir.F32, Const: true, Bits: uint64(math.Float32bits(c))}, func() float32 { return c })
			return len(e.vals) - 1
		}
		return e.rng.Intn(len(e.vals))
	}
	i, j, k, l := pick(), pick(), pick(), pick()
	x, y, z, w := func() float32 { return e.is[i] }, func() float32 { return e.is[j] }, func() float32 { return e.is[k] }, func() float32 { return e.is[l] }
	add := func(in *ir.Inst, f func() float32, args ...int) {
		v := &ir.Value{Type: ir.F32, Def: in}
		in.Results = []*ir.Value{v}
		for _, a := range args {
			in.Args = append(in.Args, e.vals[a])
		}
		e.put(v, f)
	}
	switch e.rng.Intn(11) {
	case 0:
		add(&ir.Inst{Op: ir.FAdd}, func() float32 { return x() + y() }, i, j)
	case 1:
		add(&ir.Inst{Op: ir.FSub}, func() float32 { return x() - y() }, i, j)
	case 2:
		add(&ir.Inst{Op: ir.FMul}, func() float32 { return x() * y() }, i, j)
	case 3:
		add(&ir.Inst{Op: ir.FDiv}, func() float32 { return x() / y() }, i, j)
	case 4:
		add(&ir.Inst{Op: ir.FFma}, func() float32 { return float32(math.FMA(float64(x()), float64(y()), float64(z()))) }, i, j, k)
	case 5:
		add(&ir.Inst{Op: ir.FRcp}, func() float32 { return 1 / x() }, i)
	case 6:
		add(&ir.Inst{Op: ir.FSqrt}, func() float32 { return float32(math.Sqrt(float64(x()))) }, i)
	case 7:
		add(&ir.Inst{Op: ir.FAbs}, func() float32 { return float32(math.Abs(float64(x()))) }, i)
	case 8:
		add(&ir.Inst{Op: ir.FMin}, func() float32 { return least(x(), y()) }, i, j)
	case 9:
		add(&ir.Inst{Op: ir.FMax}, func() float32 { return -least(-x(), -y()) }, i, j)
	default:
		cmps := []struct {
			c     ir.Cmp
			holds func(a, b float32) bool
		}{{ir.LT, func(a, b float32) bool { return a < b }}, {ir.GE, func(a, b float32) bool { return a >= b }}, {ir.EQ, func(a, b float32) bool { return a == b }},
			{ir.GTU, func(a, b float32) bool { return !(a <= b) }}, {ir.LEU, func(a, b float32) bool { return !(a > b) }}, {ir.NAN, func(a, b float32) bool { return a != a || b != b }},
			{ir.NE, func(a, b float32) bool { return a < b || a > b }}, {ir.NEU, func(a, b float32) bool { return a != b }}}
		c := cmps[e.rng.Intn(len(cmps))]
		cond := &ir.Value{Type: ir.I1}
		cond.Def = &ir.Inst{Op: ir.FCmp, Attr: ir.Attr{Cmp: c.c}, Args: []*ir.Value{e.vals[i], e.vals[j]}, Results: []*ir.Value{cond}}
		if e.rng.Intn(2) == 0 { // of what is compared
			k, z = i, x
		} else if e.rng.Intn(2) == 0 {
			l, w = j, y
		}
		v := &ir.Value{Type: ir.F32}
		v.Def = &ir.Inst{Op: ir.Select, Args: []*ir.Value{cond, e.vals[k], e.vals[l]}, Results: []*ir.Value{v}}
		e.put(v, func() float32 {
			if c.holds(x(), y()) {
				return z()
			}
			return w()
		})
	}
}

// least is the smaller number, and the number where the other is a NaN.
func least(x, y float32) float32 {
	if x != x || y < x {
		return y
	}
	return x
}
