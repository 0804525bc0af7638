package nn

import (
	"math"
	"slices"
	"testing"

	"kudzu/internal/hostmem"
)

func TestDropout(t *testing.T) {
	r := onDevice(t)
	state := r.empty(U8, []int64{DropoutState}, []int64{1}).Addr
	for _, rate := range []float64{0, 0.25, 0.9, 1} {
		dim := []int64{3, r.pick(5, 40), 7}
		n := 3 * dim[1] * 7
		x, dy := ones(1, dim...), r.random(F32, dim...)
		in, g := r.put(F32, x, r.strides(dim)), r.put(F32, dy, r.strides(dim))
		mask := r.empty(U8, []int64{DropoutMask(n)}, []int64{1}).Addr
		seeded := func(seed uint64) []float64 {
			y := r.empty(F32, dim, r.strides(dim))
			if seed != 0 {
				r.ok(r.DropoutSeed(state, seed))
			}
			r.ok(r.Dropout(rate, state, mask, in, y))
			return r.get(y).v
		}
		first, next := seeded(9), seeded(0)
		again := seeded(9)
		dx := r.empty(F32, dim, r.strides(dim))
		r.ok(r.Undrop(rate, mask, g, dx))
		stay, grads := 0, r.get(dx).v
		for i, v := range again {
			want := float32(0)
			if v != 0 {
				stay++
				want = float32(dy.v[i] / (1 - rate))
			}
			if math.Abs(grads[i]-float64(want)) > 1e-6*math.Abs(grads[i]) {
				t.Fatalf("rate %g: the gradient of element %d is %g, not %g", rate, i, grads[i], want)
			}
			if v != 0 && float32(v) != float32(1/(1-rate)) {
				t.Fatalf("rate %g: element %d is %g", rate, i, v)
			}
		}
		if !slices.Equal(first, again) || rate > 0 && rate < 1 && slices.Equal(first, next) {
			t.Errorf("rate %g: the same seed %v, the numbers after it the same %v", rate, slices.Equal(first, again), slices.Equal(first, next))
		}
		if share, tolerance := float64(stay)/float64(n), 4/math.Sqrt(float64(n)); math.Abs(share-(1-rate)) > tolerance {
			t.Errorf("rate %g: %.3f stay", rate, share)
		}
		if used := hostmem.Load[uint64](hostmem.Ptr(state + 8)); used != uint64(n) {
			t.Errorf("%d numbers used, not %d", used, n)
		}
	}
}
