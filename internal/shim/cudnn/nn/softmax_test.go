package nn

import (
	"math"
	"testing"
)

// eachRow calls f for every row over n axes from the second on, with its length and where its elements are.
func eachRow(dim []int64, n int, f func(length int64, at func(i int64) int64)) {
	inner, after := int64(1), int64(1)
	for d := 1; d < len(dim); d++ {
		if d < 1+n {
			inner *= dim[d]
		} else {
			after *= dim[d]
		}
	}
	for row := range dim[0] * after {
		f(inner, func(i int64) int64 { return row/after*inner*after + i*after + row%after })
	}
}

// softmaxRef is the result.
func softmaxRef(mode SoftmaxMode, n int, x array) array {
	y := newArray(x.dim...)
	eachRow(x.dim, n, func(inner int64, at func(int64) int64) {
		top, sum := math.Inf(-1), 0.0
		for i := range inner {
			top = math.Max(top, x.v[at(i)])
		}
		for i := range inner {
			sum += math.Exp(x.v[at(i)] - top)
		}
		for i := range inner {
			v := x.v[at(i)] - top
			if y.v[at(i)] = v - math.Log(sum); mode != SoftmaxLog {
				y.v[at(i)] = math.Exp(v) / sum
			}
		}
	})
	return y
}

func TestSoftmax(t *testing.T) {
	r := onDevice(t)
	for range r.times(60) {
		dim := []int64{r.pick(1, 2, 3), r.pick(1, 5, 33, 70), r.pick(1, 2, 7), r.pick(1, 3, 6)}
		mode, e, s := SoftmaxMode(r.rng.IntN(3)), floats[r.rng.IntN(4)], r.scale()
		n := []int{1, 3}[r.rng.IntN(2)]
		x, dy := r.random(e, dim...), r.random(e, dim...)
		want := softmaxRef(mode, n, x)
		y, before := r.fill(e, s, dim)
		r.ok(r.Softmax(mode, s, 1, n, r.put(e, x, r.strides(dim)), y))
		r.near("softmax", y, s.of(want, before), ones(20, dim...), 64)
		for i := range want.v { // the gradient is that of the result as it is stored
			want.v[i] = e.Value(e.Bytes(want.v[i]))
		}
		grad := softmaxBack(mode, n, want, dy)
		dx, old := r.fill(e, s, dim)
		r.ok(r.SoftmaxBackward(mode, s, 1, n, r.put(e, want, r.strides(dim)), r.put(e, dy, r.strides(dim)), dx))
		r.near("gradient", dx, s.of(grad, old), ones(100, dim...), 200)
	}
}

// softmaxBack is the gradient, of a result that was rounded.
func softmaxBack(mode SoftmaxMode, n int, y, dy array) array {
	dx := newArray(y.dim...)
	eachRow(y.dim, n, func(inner int64, at func(int64) int64) {
		dot := 0.0
		for i := range inner {
			if mode == SoftmaxLog {
				dot += dy.v[at(i)]
			} else {
				dot += dy.v[at(i)] * y.v[at(i)]
			}
		}
		for i := range inner {
			v, g := y.v[at(i)], dy.v[at(i)]
			if dx.v[at(i)] = v * (g - dot); mode == SoftmaxLog {
				dx.v[at(i)] = g - math.Exp(v)*dot
			}
		}
	})
	return dx
}

// TestSoftmaxEdges: rows of -inf, and sums that only one of the ways survives.
func TestSoftmaxEdges(t *testing.T) {
	r := onDevice(t)
	x := newArray(3, 4)
	copy(x.v, []float64{math.Inf(-1), 0, 0, math.Inf(-1), 200, 200, 0, 0, math.Inf(-1), math.Inf(-1), math.Inf(-1), math.Inf(-1)})
	in := r.put(F32, x, Packed(3, 4))
	y := r.empty(F32, x.dim, Packed(3, 4))
	r.ok(r.Softmax(SoftmaxAccurate, Plain, 1, 1, in, y))
	nan := math.NaN()
	r.near("accurate", y, array{x.dim, []float64{0, 0.5, 0.5, 0, 0.5, 0.5, 0, 0, nan, nan, nan, nan}}, ones(1, 3, 4), 8)
	r.ok(r.Softmax(SoftmaxFast, Plain, 1, 1, in, y))
	if got := r.get(y); !math.IsNaN(got.v[4]) || got.v[1] != 0.5 {
		t.Errorf("fast: %v", got.v)
	}
}
