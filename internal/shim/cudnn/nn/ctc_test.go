package nn

import (
	"math"
	"slices"
	"testing"
)

// ctcRef is the loss of one sample, by all paths that spell its label: probs are by time.
func ctcRef(probs [][]float64, label []int64) float64 {
	total := 0.0
	var walk func(t int, p float64, last int64, rest []int64)
	walk = func(t int, p float64, last int64, rest []int64) {
		if t == len(probs) {
			if len(rest) == 0 {
				total += p
			}
			return
		}
		walk(t+1, p*probs[t][0], 0, rest)
		if last != 0 {
			walk(t+1, p*probs[t][last], last, rest)
		}
		if len(rest) > 0 && rest[0] != last {
			walk(t+1, p*probs[t][rest[0]], rest[0], rest[1:])
		}
	}
	walk(0, 1, 0, label)
	return -math.Log(total)
}

// softRow are probabilities.
func softRow(x []float64) []float64 {
	p, sum := make([]float64, len(x)), 0.0
	for i, v := range x {
		p[i] = math.Exp(v)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

func TestCTC(t *testing.T) {
	r := onDevice(t)
	for i := range r.times(12) {
		e := []Elem{F32, F64}[i%2]
		T, N, A := r.pick(3, 4, 6), r.pick(1, 2, 3), r.pick(2, 3, 4)
		c := CTC{Softmax: r.coin(), Skip: r.coin(), Longest: 3}
		x := r.random(e, T, N, A)
		for range N {
			l := r.rng.Int64N(3)
			c.HostLabelLengths = append(c.HostLabelLengths, l)
			c.HostLengths = append(c.HostLengths, T-r.rng.Int64N(2))
			for range l {
				c.HostLabels = append(c.HostLabels, 1+r.rng.Int64N(A-1))
			}
		}
		c.HostLabels = append(c.HostLabels, 1) // more than is used, so that it is never empty
		activations := slices.Clone(x.v)
		if !c.Softmax {
			for row := range T * N {
				copy(vec(x.v, row, A), softRow(vec(x.v, row, A)))
			}
		}
		costs := r.empty(e, []int64{N}, []int64{1})
		c.Costs = costs.Addr
		c.X = r.put(e, x, r.strides(x.dim))
		grad, _ := r.fill(e, Plain, x.dim)
		c.Grad = grad
		r.ok(r.CTC(c))
		have, loss, first := r.get(grad), r.get(costs).v, int64(0)
		for n := range N {
			length, label := c.HostLengths[n], c.HostLabels[first:first+c.HostLabelLengths[n]]
			first += c.HostLabelLengths[n]
			rows, given := make([][]float64, length), activations
			if !c.Softmax {
				given = x.v
			}
			cost := func() float64 {
				for s := range rows {
					rows[s] = vec(given, int64(s)*N+n, A)
					if c.Softmax {
						rows[s] = softRow(rows[s])
					}
				}
				return ctcRef(rows, label)
			}
			least := int64(len(label))
			for i := range label {
				if i > 0 && label[i] == label[i-1] {
					least++
				}
			}
			want := cost()
			if length < least {
				want = 0
			}
			if !(math.Abs(loss[n]-want) <= 1e-5*(1+want)) {
				t.Fatalf("sample %d, label %d in %d: loss %g, not %g", n, label, length, loss[n], want)
			}
			for s := range T {
				for a := range A {
					i := (s*N+n)*A + a
					slope, old := math.NaN(), given[i]
					switch {
					case s < length && length >= least:
						given[i] = old + 1e-5
						slope = cost()
						given[i] = old - 1e-5
						slope = (slope - cost()) / 2e-5
						given[i] = old
						if !c.Softmax && slope == 0 {
							slope = old // what no path uses: see the kernel
						}
					case !c.Skip && length <= least:
						slope = 0
					}
					if g := *have.at(s, n, a); !(math.Abs(g-slope) <= 1e-5*(1+math.Abs(slope))) && !(math.IsNaN(g) && math.IsNaN(slope)) {
						t.Fatalf("sample %d, label %d: the gradient of letter %d at %d of %d is %g, not %g", n, label, a, s, length, g, slope)
					}
				}
			}
		}
	}
}

func TestSpatial(t *testing.T) {
	r := onDevice(t)
	for range r.times(10) {
		e := []Elem{F32, F64}[r.rng.IntN(2)]
		dim := []int64{r.pick(1, 2), r.pick(1, 3), r.pick(2, 4), r.pick(1, 3, 5)}
		in := []int64{dim[0], dim[1], r.pick(2, 3), r.pick(2, 4)}
		s, theta := Spatial{e, dim}, r.random(e, dim[0], 2, 3)
		grid := newArray(dim[0], dim[2], dim[3], 2)
		coordinate := func(i, n int64) float64 {
			if n == 1 {
				return -1
			}
			return -1 + 2*float64(i)/float64(n-1)
		}
		fill := func() array {
			grid.each(func(i []int64, v *float64) {
				x, y := coordinate(i[2], dim[3]), coordinate(i[1], dim[2])
				*v = *theta.at(i[0], i[3], 0)*x + *theta.at(i[0], i[3], 1)*y + *theta.at(i[0], i[3], 2)
			})
			return grid
		}
		fill()
		places := r.empty(e, grid.dim, Packed(grid.dim...))
		maps := r.put(e, theta, Packed(theta.dim...))
		r.ok(r.SpatialGrid(s, maps.Addr, places.Addr))
		r.near("grid", places, grid, ones(10, grid.dim...), 16)
		dgrid := r.random(e, grid.dim...)
		dtheta := r.empty(e, theta.dim, Packed(theta.dim...))
		r.ok(r.SpatialGridBackward(s, r.put(e, dgrid, Packed(grid.dim...)).Addr, dtheta.Addr))
		r.near("gradient of the maps", dtheta, slope(theta, dgrid, fill), ones(1e6, theta.dim...), 16)

		for i := range grid.v { // places that are no corners, some of them outside
			grid.v[i] = e.Value(e.Bytes(2.4*r.rng.Float64() - 1.2))
		}
		x, g := r.random(e, in...), r.random(e, dim...)
		sample := func() array {
			y := newArray(dim...)
			y.each(func(i []int64, v *float64) {
				px := (*grid.at(i[0], i[2], i[3], 0) + 1) * float64(in[3]-1) / 2
				py := (*grid.at(i[0], i[2], i[3], 1) + 1) * float64(in[2]-1) / 2
				for k := range int64(4) {
					u, w := int64(math.Floor(py))+k/2, int64(math.Floor(px))+k%2
					if u >= 0 && u < in[2] && w >= 0 && w < in[3] {
						*v += *x.at(i[0], i[1], u, w) * (1 - math.Abs(px-float64(w))) * (1 - math.Abs(py-float64(u)))
					}
				}
			})
			return y
		}
		b := r.scale()
		image, dy := r.put(e, x, r.strides(in)), r.put(e, g, r.strides(dim))
		at := r.put(e, grid, Packed(grid.dim...)).Addr
		y, old := r.fill(e, b, dim)
		r.ok(r.SpatialSample(s, b, image, at, y))
		r.near("sample", y, b.of(sample(), old), ones(100, dim...), 64)
		dx, was := r.fill(e, b, in)
		dg := r.empty(e, grid.dim, Packed(grid.dim...))
		r.ok(r.SpatialSampleBackward(s, b, image, dx, Plain, dy, at, dg.Addr))
		r.near("gradient of the image", dx, b.of(slope(x, g, sample), was), ones(1e6, in...), 64)
		r.near("gradient of the places", dg, slope(grid, g, sample), ones(1e7, grid.dim...), 64)
	}
}
