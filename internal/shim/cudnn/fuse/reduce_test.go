package fuse

import (
	"math"
	"slices"
	"testing"

	"kudzu/internal/shim/cudnn/nn"
)

// TestReductions sums squares, multiplies and finds extremes along every set of axes, and scales what comes out.
func TestReductions(t *testing.T) {
	r := onDevice(t)
	for _, dim := range [][]int64{{1}, {100}, {3, 50}, {70, 3}, {2, 3, 4, 5}, {3, 40, 7, 9}, {2, 33, 65}, {5, 1, 64, 2}} {
		for axes := 1; axes < 1<<len(dim); axes++ {
			reduce, left := make([]bool, len(dim)), slices.Clone(dim)
			for i := range dim {
				if axes>>i&1 == 1 {
					reduce[i], left[i] = true, 1
				}
			}
			a := r.array(nn.F32, dim, layouts(dim)[axes%3], r.normal)
			b := r.array(nn.F32, left, nn.Packed(left...), r.normal)
			sum, most, least := r.array(nn.F32, left, nn.Packed(left...), r.normal), r.array(nn.F16, left, layouts(left)[1], r.normal), r.array(nn.F64, left, layouts(left)[2], r.normal)
			p := new(Program)
			x := p.In(nn.F32)
			total := p.Reduce(Add, p.Do(F32, Mul, x, x))
			p.Out(nn.F32, p.Do(F32, Mul, total, p.After(nn.F32)))
			p.Out(nn.F16, p.Reduce(Max, x))
			p.Out(nn.F64, p.Reduce(Min, x))
			r.ok(p.Run(&r.Run, dim, reduce, Args{Tensors: []nn.Tensor{a.Tensor, b.Tensor, sum.Tensor, most.Tensor, least.Tensor}}))
			for _, o := range []*array{sum, most, least} {
				r.back(o)
			}
			want := map[string][3]float64{}
			a.each(func(index []int64) {
				key := string(keptKey(index, reduce))
				w, ok := want[key]
				v := a.value(index)
				if !ok {
					w = [3]float64{0, math.Inf(-1), math.Inf(1)}
				}
				want[key] = [3]float64{w[0] + v*v, math.Max(w[1], v), math.Min(w[2], v)}
			})
			sum.each(func(index []int64) {
				w := want[string(keptKey(index, reduce))]
				got := [3]float64{sum.value(index), most.value(index), least.value(index)}
				if !near(nn.F32, got[0], w[0]*b.value(index), 1) || !near(nn.F16, got[1], w[1], 0) || got[2] != w[2] {
					t.Fatalf("%v reduced %v at %v: %v, not %v (times %v)", dim, reduce, index, got, w, b.value(index))
				}
			})
		}
	}
}

// keptKey is an index without the axes that are reduced.
func keptKey(index []int64, reduce []bool) []byte {
	var key []byte
	for i, x := range index {
		if !reduce[i] {
			key = append(key, byte(x), ',')
		}
	}
	return key
}

// TestReduceKinds: products, whole numbers, and extremes that keep a NaN.
func TestReduceKinds(t *testing.T) {
	r := onDevice(t)
	dim, left := []int64{3, 45}, []int64{3, 1}
	one := func() float64 { return 1 + r.rng.NormFloat64()/8 }
	for _, c := range []struct {
		op   Op
		e    nn.Elem
		pull func() float64
		fold func(a, b float64) float64
	}{
		{Mul, nn.F32, one, func(a, b float64) float64 { return a * b }},
		{Mul, nn.F64, one, func(a, b float64) float64 { return a * b }},
		{Add, nn.S32, func() float64 { return r.normal() * 1e7 }, func(a, b float64) float64 { return a + b }},
		{Add, nn.S8, func() float64 { return r.normal() }, func(a, b float64) float64 { return a + b }},
		{Max, nn.S64, func() float64 { return r.normal() * 1e12 }, math.Max},
		{Min, nn.S32, func() float64 { return r.normal() * 1e7 }, math.Min},
		{MaxNaN, nn.F32, func() float64 {
			if r.rng.IntN(60) == 0 {
				return math.NaN()
			}
			return r.normal()
		}, math.Max},
		{MinNaN, nn.F64, r.normal, math.Min},
	} {
		a, out := r.array(c.e, dim, nn.Packed(dim...), c.pull), r.array(nn.F64, left, nn.Packed(left...), r.normal)
		p := new(Program)
		p.Out(nn.F64, p.Reduce(c.op, p.In(c.e)))
		r.ok(p.Run(&r.Run, dim, []bool{false, true}, Args{Tensors: []nn.Tensor{a.Tensor, out.Tensor}}))
		r.back(out)
		for i := range dim[0] {
			want := a.value([]int64{i, 0})
			for j := int64(1); j < dim[1]; j++ {
				want = c.fold(want, a.value([]int64{i, j}))
			}
			if got := out.value([]int64{i, 0}); math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-13*math.Abs(want) {
				t.Errorf("%v of %v: %v, not %v", c.op, c.e, got, want)
			}
		}
	}
}
