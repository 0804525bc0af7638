package nn

import (
	"fmt"
	"math"
	"testing"
)

// normKinds are the norms there are, for a tensor of [batch, channels, height, width]: the shapes of statistics and of parameters, as
// which dimensions they have.
var normKinds = []struct {
	name        string
	stat, param [4]bool
}{
	{"batch", [4]bool{1: true}, [4]bool{1: true}}, {"activation", [4]bool{1: true, 2: true, 3: true}, [4]bool{1: true, 2: true, 3: true}},
	{"layer", [4]bool{0: true}, [4]bool{1: true, 2: true, 3: true}}, {"instance", [4]bool{0: true, 1: true}, [4]bool{1: true}},
	{"last", [4]bool{0: true, 1: true, 2: true}, [4]bool{3: true}}, {"group", [4]bool{0: true, 1: true}, [4]bool{1: true, 2: true}},
}

func shaped(dim []int64, has [4]bool) []int64 {
	s := make([]int64, 4)
	for d := range s {
		s[d] = 1
		if has[d] {
			s[d] = dim[d]
		}
	}
	return s
}

// normWant computes a norm and its gradients in f64.
type normWant struct{ y, mean, vari, dx, dz, dscale, dbias array }

func wantNorm(x, scale, bias, z, dy array, stat []int64, eps float64, rms, relu bool) normWant {
	w := normWant{y: newArray(x.dim...), mean: newArray(stat...), vari: newArray(stat...), dx: newArray(x.dim...), dz: newArray(x.dim...), dscale: newArray(scale.dim...), dbias: newArray(scale.dim...)}
	ref := func(a array, at []int64) *float64 {
		i := make([]int64, len(at))
		for d := range at {
			if a.dim[d] != 1 {
				i[d] = at[d]
			}
		}
		return a.at(i...)
	}
	n := float64(len(x.v) / len(w.mean.v))
	if !rms {
		x.each(func(at []int64, v *float64) { *ref(w.mean, at) += *v / n })
	}
	x.each(func(at []int64, v *float64) {
		*ref(w.vari, at) += (*v - *ref(w.mean, at)) * (*v - *ref(w.mean, at)) / n
	})
	hat := func(at []int64) float64 {
		return (*x.at(at...) - *ref(w.mean, at)) / math.Sqrt(*ref(w.vari, at)+eps)
	}
	one, two := newArray(stat...), newArray(stat...)
	w.y.each(func(at []int64, v *float64) {
		*v = hat(at)**ref(scale, at) + *ref(bias, at) + *z.at(at...)
		g := *dy.at(at...)
		if relu && *v <= 0 {
			*v, g = 0, 0
		}
		*w.dz.at(at...) = g
		*ref(w.dscale, at) += g * hat(at)
		*ref(w.dbias, at) += g
		*ref(one, at) += g * *ref(scale, at) / n
		*ref(two, at) += g * *ref(scale, at) * hat(at) / n
	})
	w.dx.each(func(at []int64, v *float64) {
		*v = *w.dz.at(at...)**ref(scale, at) - hat(at)**ref(two, at)
		if !rms {
			*v -= *ref(one, at)
		}
		*v /= math.Sqrt(*ref(w.vari, at) + eps)
	})
	return w
}

func TestNorm(t *testing.T) {
	r := onDevice(t)
	for i := range r.times(120) {
		kind := normKinds[i%len(normKinds)]
		e := []Elem{F32, F64, F16, BF16}[i/len(normKinds)%4]
		p := []Elem{e, e.Sum()}[i%2]
		dim := []int64{r.pick(1, 2, 3, 5), r.pick(2, 1, 3, 40), r.pick(1, 3, 9), r.pick(2, 4, 33)}
		stat, par := shaped(dim, kind.stat), shaped(dim, kind.param)
		rms, relu, eps := i%4 == 3, i%3 == 2, 0.1
		x, z, dy := r.random(e, dim...), r.random(e, dim...), r.random(e, dim...)
		scale, bias := r.random(p, par...), r.random(p, par...)
		if relu { // far from where rounding decides what passes
			for j := range z.v {
				z.v[j] = e.Value(e.Bytes(z.v[j] + 8*float64(j%3-1)))
			}
		}
		want := wantNorm(x, scale, bias, z, dy, stat, eps, rms, relu)
		what := fmt.Sprint(i, " ", kind.name, " ", e, p, dim, " rms ", rms, " relu ", relu)
		put := func(e Elem, a array) Tensor { return r.put(e, a, r.strides(a.dim)) }
		sum := e.Sum()
		run := r.random(sum, stat...)
		n := Norm{X: put(e, x), Y: r.empty(e, dim, r.strides(dim)), Scale: put(p, scale), Bias: put(p, bias), Z: put(e, z), Stat: stat,
			Mean: r.empty(sum, stat, Packed(stat...)), Dev: r.empty(sum, stat, Packed(stat...)), RMS: rms, Eps: eps, ReLU: relu,
			RunMean: put(sum, run), RunVar: put(sum, run), Factor: 0.25}
		n.NextMean, n.NextVar = r.empty(sum, stat, Packed(stat...)), n.RunVar
		r.ok(r.Run.Norm(n))
		r.close(what+" y", n.Y, want.y)
		dev, next, nextVar := newArray(stat...), newArray(stat...), newArray(stat...)
		count := float64(len(x.v) / len(dev.v))
		for j := range dev.v {
			dev.v[j] = 1 / math.Sqrt(want.vari.v[j]+eps)
			next.v[j] = 0.75*run.v[j] + 0.25*want.mean.v[j]
			nextVar.v[j] = 0.75*run.v[j] + 0.25*want.vari.v[j]*count/max(count-1, 1)
		}
		r.close(what+" mean", n.Mean, want.mean)
		r.close(what+" deviation", n.Dev, dev)
		r.close(what+" next mean", n.NextMean, next)
		r.close(what+" next variance", n.NextVar, nextVar)
		r.normBack(what, n, put(e, dy), want, i)
		// with the statistics given, the result is the same
		n.RunMean, n.RunVar, n.NextMean, n.NextVar = Tensor{}, Tensor{}, Tensor{}, Tensor{}
		n.Known = KnownDeviation
		if i%2 == 0 {
			n.Known, n.Dev = KnownVariance, put(sum, want.vari)
		}
		n.Y = r.empty(e, dim, r.strides(dim))
		r.ok(r.Run.Norm(n))
		r.close(what+" y of known statistics", n.Y, want.y)
	}
}

// normBack checks the gradients of a norm that was computed.
func (r *rig) normBack(what string, n Norm, dy Tensor, want normWant, i int) {
	r.t.Helper()
	e, p := n.X.Type, n.Scale.Type
	dim, par := n.X.Dim, n.Scale.Dim
	b := NormBackward{X: n.X, Dy: dy, Dx: r.empty(e, dim, r.strides(dim)), Dz: r.empty(e, dim, r.strides(dim)), Scale: n.Scale, Y: n.Y, Stat: n.Stat,
		Mean: n.Mean, Dev: n.Dev, DScale: r.empty(p, par, r.strides(par)), DBias: r.empty(p, par, r.strides(par)), RMS: n.RMS, ReLU: n.ReLU, Eps: n.Eps}
	if i%5 == 0 {
		b.Mean, b.Dev = Tensor{}, Tensor{}
	}
	r.ok(r.NormBackward(b))
	r.close(what+" dx", b.Dx, want.dx)
	r.close(what+" dz", b.Dz, want.dz)
	r.close(what+" dscale", b.DScale, want.dscale)
	r.close(what+" dbias", b.DBias, want.dbias)
}

// TestNormBlend: results are added to what was there.
func TestNormBlend(t *testing.T) {
	r := onDevice(t)
	dim, stat := []int64{2, 3, 4, 5}, []int64{1, 3, 1, 1}
	x, scale, bias, old := r.random(F32, dim...), r.random(F32, stat...), r.random(F32, stat...), r.random(F32, dim...)
	want := wantNorm(x, scale, bias, newArray(dim...), old, stat, 1e-5, false, false)
	s := Scale{Alpha: 2, Beta: -0.5}
	y := r.put(F32, old, ChannelsLast(dim...))
	tx, ts, tb := r.put(F32, x, ChannelsLast(dim...)), r.put(F32, scale, Packed(stat...)), r.put(F32, bias, Packed(stat...))
	r.ok(r.Run.Norm(Norm{X: tx, Y: y, Scale: ts, Bias: tb, Stat: stat, Eps: 1e-5, Blending: s}))
	dx, ds, db := r.put(F32, old, Packed(dim...)), r.put(F32, scale, Packed(stat...)), r.put(F32, bias, Packed(stat...))
	r.ok(r.NormBackward(NormBackward{X: tx, Dy: r.put(F32, old, Packed(dim...)), Dx: dx, Scale: ts, Stat: stat, DScale: ds, DBias: db, Eps: 1e-5, Data: s, Params: s}))
	for _, c := range []struct {
		t         Tensor
		want, old array
	}{{y, want.y, old}, {dx, want.dx, old}, {ds, want.dscale, scale}, {db, want.dbias, bias}} {
		for i := range c.want.v {
			c.want.v[i] = 2*c.want.v[i] - 0.5*c.old.v[i]
		}
		r.close("blended", c.t, c.want)
	}
}
