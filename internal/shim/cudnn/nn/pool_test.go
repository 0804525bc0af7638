package nn

import (
	"math"
	"slices"
	"testing"
)

// ones has the same number everywhere.
func ones(v float64, dim ...int64) array {
	a := newArray(dim...)
	for i := range a.v {
		a.v[i] = v
	}
	return a
}

// scaled is what a layer leaves of a result and of what was there.
func (s Scale) of(result, before array) array {
	a := newArray(result.dim...)
	for i := range a.v {
		if a.v[i] = s.Alpha * result.v[i]; s.Beta != 0 {
			a.v[i] += s.Beta * before.v[i]
		}
	}
	return a
}

// fill is a tensor for a result, with numbers in it that count only with a beta.
func (r *rig) fill(e Elem, s Scale, dim []int64) (Tensor, array) {
	before := r.random(e, dim...)
	if s.Beta == 0 {
		for i := range before.v {
			before.v[i] = math.NaN()
		}
	}
	return r.put(e, before, r.strides(dim)), before
}

// windowOf calls f with every element of a window that is in the tensor.
func windowOf(p Pool, x array, out []int64, f func(index []int64, v float64)) (all int64) {
	all = 1
	index := slices.Clone(out)
	var walk func(d int)
	walk = func(d int) {
		if d == len(p.Window) {
			f(index, *x.at(index...))
			return
		}
		from := out[d+2]*p.Stride[d] - p.Pad[d]
		for i := from; i < from+p.Window[d]; i++ {
			if i >= 0 && i < x.dim[d+2] {
				index[d+2] = i
				walk(d + 1)
			}
		}
	}
	for _, w := range p.Window {
		all *= w
	}
	walk(0)
	return all
}

// poolRef is the result, and the gradient of the input for one of the result.
func poolRef(p Pool, x, dy array) (y, dx array) {
	y, dx = newArray(dy.dim...), newArray(x.dim...)
	dy.each(func(out []int64, g *float64) {
		best, most, sum, n := []int64(nil), math.Inf(-1), 0.0, int64(0)
		all := windowOf(p, x, out, func(index []int64, v float64) {
			n++
			sum += v
			if best == nil && !math.IsNaN(v) || v > most || p.NaN && math.IsNaN(v) && !math.IsNaN(most) {
				best, most = slices.Clone(index), v
			}
		})
		if p.Mode == PoolAveragePadded {
			n = all
		}
		switch {
		case p.Mode == PoolMax:
			*y.at(out...) = most
			if best != nil {
				*dx.at(best...) += *g
			}
		case n > 0:
			*y.at(out...) = sum / float64(n)
			windowOf(p, x, out, func(index []int64, _ float64) { *dx.at(index...) += *g / float64(n) })
		}
	})
	return y, dx
}

func TestPool(t *testing.T) {
	r := onDevice(t)
	limit := poolLimit
	defer func() { poolLimit = limit }()
	for i := range r.times(120) {
		if poolLimit = limit; i%4 == 0 { // every index as if it needed 64 bits
			poolLimit = 0
		}
		n := 1 + r.rng.IntN(3)
		p := Pool{Mode: PoolMode(r.rng.IntN(3)), NaN: r.coin()}
		dim, out := []int64{r.pick(1, 2, 3), r.pick(1, 3, 5)}, []int64(nil)
		if !r.tiny && n < 3 && r.coin() { // lanes walk the channels, more of them than a warp has
			dim[1] = r.pick(17, 33, 40)
		}
		out = append(out, dim...)
		for d := range n {
			in, w := r.pick(4, 5, 7, 9), r.pick(1, 2, 3, 4)
			if !r.tiny && d == n-1 && dim[1] < 6 { // rows of several warps
				in = r.pick(4, 5, 9, 20, 33, 70)
			}
			pad, s := r.rng.Int64N(w), r.pick(1, 2, 3)
			p.Window, p.Pad, p.Stride = append(p.Window, w), append(p.Pad, pad), append(p.Stride, s)
			dim, out = append(dim, in), append(out, 1+(in+2*pad-w)/s)
		}
		e := floats[r.rng.IntN(4)]
		x, s := r.random(e, dim...), r.scale()
		for range r.rng.IntN(3) { // ties, and a NaN now and then
			x.v[r.rng.IntN(len(x.v))] = x.v[r.rng.IntN(len(x.v))]
			if p.Mode == PoolMax {
				x.v[r.rng.IntN(len(x.v))] = math.NaN()
			}
		}
		dy := r.random(e, out...)
		want, grad := poolRef(p, x, dy)
		in, g := r.put(e, x, r.strides(dim)), r.put(e, dy, r.strides(out))
		y, before := r.fill(e, s, out)
		r.ok(r.Pool(p, s, in, y))
		r.near("pool", y, s.of(want, before), ones(10, out...), 64)
		dx, old := r.fill(e, s, dim)
		r.ok(r.PoolBackward(p, s, in, g, dx))
		r.near("gradient", dx, s.of(grad, old), ones(20, dim...), 64)
	}
	if err := r.Pool(Pool{Window: []int64{2}, Pad: []int64{0}, Stride: []int64{1}}, Plain, Make(0, F32, 1, 1, 4, 4), Make(0, F32, 1, 1, 3, 3)); err != ErrShape {
		t.Errorf("a window of one dimension over two: %v", err)
	}
}
