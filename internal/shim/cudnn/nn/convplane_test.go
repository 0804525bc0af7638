package nn

import (
	"fmt"
	"math"
	"testing"
)

// TestDepthPlanes: depthwise convolutions of images that fit into shared memory, all three operations in all types; each must have been
// done there some times.
func TestDepthPlanes(t *testing.T) {
	r := onDevice(t)
	there := map[string]int{}
	for i := range r.times(64) {
		e := planeTypes[i%len(planeTypes)]
		c := r.depthCase(1 + i/len(planeTypes)%2)
		if i%3 == 0 {
			c = plain(r.pick(1, 3, 9), 1, r.pick(1, 2), r.pick(5, 7, 14), 2*r.pick(1, 2)+1, r.pick(1, 2), r.pick(1, 2), r.pick(2, 4))
		}
		if i%5 == 1 { // one filter a group, of several channels: planes for the gradient of the input
			c.c, c.k = r.pick(2, 4, 9), 1
			c.size()
		}
		s := r.scale()
		x, w, y := r.random(e, c.xDim...), r.random(e, c.wDim...), r.random(e, c.yDim...)
		tx, tw, ty := r.put(e, x, Packed(c.xDim...)), r.put(e, w, Packed(c.wDim...)), r.put(e, y, Packed(c.yDim...))
		what := fmt.Sprint(e, " ", c, s)
		check := func(name string, dim []int64, terms int, run func(to Tensor) error, add func(a, b, d int64) (int64, float64)) {
			sh, err := c.shape(tx, tw, ty)
			r.ok(err)
			plan := forwardPlan(sh)
			if name == "data" {
				plan = dataPlan(sh)
			}
			if _, ok := sh.asPlanes(plan, name == "filter"); ok {
				there[name]++
			}
			to, old := r.target(e, s, dim)
			want, size := newArray(dim...), newArray(dim...)
			c.each(x, y, func(a, b, d int64) {
				at, v := add(a, b, d)
				want.v[at] += v
				size.v[at] += math.Abs(v)
			})
			blend(s, want, size, old)
			r.ok(run(to))
			r.near(name+" "+what, to, want, size, terms)
		}
		check("forward", c.yDim, int(product(c.filter)), func(to Tensor) error { return r.ConvForward(c.Conv, tx, tw, to, s, Epilogue{}) },
			func(a, b, d int64) (int64, float64) { return d, x.v[a] * w.v[b] })
		check("data", c.xDim, int(c.k*product(c.filter)), func(to Tensor) error { return r.ConvData(c.Conv, tw, ty, to, s) },
			func(a, b, d int64) (int64, float64) { return a, y.v[d] * w.v[b] })
		check("filter", c.wDim, int(c.batch*product(c.out)), func(to Tensor) error { return r.ConvFilter(c.Conv, tx, ty, to, s) },
			func(a, b, d int64) (int64, float64) { return b, y.v[d] * x.v[a] })
	}
	// A bias and an activation.
	c := plain(3, 1, 2, 9, 3, 1, 1, 5)
	x, w, bias := r.random(F32, c.xDim...), r.random(F32, c.wDim...), r.random(F32, c.k*c.Groups)
	to, want, size := r.empty(F32, c.yDim, Packed(c.yDim...)), newArray(c.yDim...), newArray(c.yDim...)
	c.each(x, want, func(a, b, d int64) {
		want.v[d] += x.v[a] * w.v[b]
		size.v[d] += math.Abs(x.v[a] * w.v[b])
	})
	want.each(func(at []int64, v *float64) { *v = min(max(*v+bias.v[at[1]], 0), 1.5) })
	size.each(func(at []int64, v *float64) { *v += math.Abs(bias.v[at[1]]) })
	end := Epilogue{Bias: r.put(F32, bias, []int64{1}), Act: ActClipped, Top: 1.5}
	r.ok(r.ConvForward(c.Conv, r.put(F32, x, Packed(c.xDim...)), r.put(F32, w, Packed(c.wDim...)), to, Plain, end))
	r.near("bias", to, want, size, int(product(c.filter))+1)
	for _, name := range []string{"forward", "data", "filter"} {
		if there[name] < 8 && !r.tiny {
			t.Errorf("%s: %d of the convolutions in shared memory", name, there[name])
		}
	}
	t.Log(there)
}
