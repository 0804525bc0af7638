package nn

import (
	"math"
	"testing"
)

// lrnRef is the result; means may be missing.
func lrnRef(l LRN, x, mean array) array {
	y := newArray(x.dim...)
	before := (l.N - 1) / 2
	y.each(func(at []int64, v *float64) {
		sum, m, center := 0.0, float64(l.N), 0.0
		if mean.v != nil {
			center = *mean.at(at...)
		}
		if l.Spatial {
			m = math.Pow(m, float64(len(x.dim)-2))
		}
		x.each(func(i []int64, v *float64) {
			for d := range i {
				wide := l.Spatial && d > 1 || !l.Spatial && d == 1
				if off := i[d] - at[d]; off != 0 && (!wide || off < -before || off > l.N-1-before) {
					return
				}
			}
			sum += (*v - center) * (*v - center)
		})
		*v = *x.at(at...) * math.Pow(l.K+l.Alpha/m*sum, -l.Beta)
	})
	return y
}

// slope is the derivative of the sum of g·f(x) by every element of x.
func slope(x, g array, f func() array) array {
	d := newArray(x.dim...)
	total := func() (s float64) {
		for i, v := range f().v {
			s += v * g.v[i]
		}
		return s
	}
	const h = 1e-5
	for i, v := range x.v {
		x.v[i] = v + h
		up := total()
		x.v[i] = v - h
		d.v[i] = (up - total()) / (2 * h)
		x.v[i] = v
	}
	return d
}

func TestLRN(t *testing.T) {
	r := onDevice(t)
	for range r.times(16) {
		dim := []int64{r.pick(1, 2), r.pick(2, 6, 9), r.pick(1, 3), r.pick(2, 4)}
		l := LRN{N: r.pick(1, 2, 3, 5), Alpha: 0.5 + r.rng.Float64(), Beta: 0.3 + r.rng.Float64(), K: 0.5 + r.rng.Float64(), Spatial: r.coin()}
		if l.Spatial {
			l.N |= 1 // the gradient of even windows is the H200's, which is none: see the recorded results
		}
		e, s := floats[r.rng.IntN(4)], r.scale()
		x, dy := r.random(e, dim...), r.random(e, dim...)
		var mean array
		var means, dmean Tensor
		if l.Spatial && r.coin() {
			mean = r.random(e, dim...)
			means = r.put(e, mean, r.strides(dim))
			dmean = r.empty(e, dim, r.strides(dim))
			s = Plain
		}
		in := r.put(e, x, r.strides(dim))
		y, before := r.fill(e, s, dim)
		r.ok(r.LRN(l, s, in, means, y))
		r.near("LRN", y, s.of(lrnRef(l, x, mean), before), ones(20, dim...), 64)
		grad := slope(x, dy, func() array { return lrnRef(l, x, mean) })
		dx, old := r.fill(e, s, dim)
		r.ok(r.LRNBackward(l, s, in, means, r.put(e, dy, r.strides(dim)), dx, dmean))
		r.near("gradient", dx, s.of(grad, old), ones(1e6, dim...), 64)
		if dmean.Addr != 0 {
			r.near("gradient of the means", dmean, slope(mean, dy, func() array { return lrnRef(l, x, mean) }), ones(1e6, dim...), 64)
		}
	}
}
