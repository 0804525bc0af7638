package cudnn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// desk is a handle with tensors of f32, which a test on these devices can look into.
type desk struct {
	t   *testing.T
	th  *Thread
	h   Handle
	rng *rand.Rand
}

func onDesk(t *testing.T) *desk {
	t.Helper()
	th, h := open(t)
	return &desk{t, th, h, rand.New(rand.NewPCG(3, 9))}
}

func (d *desk) ok(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// memory is n bytes of the device.
func (d *desk) memory(n uint64) hostmem.Ptr {
	d.t.Helper()
	p, err := d.th.driver().MemAlloc(max(n, 1))
	d.ok(err)
	d.t.Cleanup(func() { _ = d.th.driver().MemFree(p) })
	return hostmem.Ptr(p)
}

// put has values on the device.
func put[T any](d *desk, v []T) hostmem.Ptr {
	d.t.Helper()
	var one T
	p := d.memory(uint64(len(v)) * uint64(sizeOf(one)))
	copy(hostmem.Slice[T](p, len(v)), v)
	return p
}

func sizeOf(v any) int {
	switch v.(type) {
	case float64, int64, uint64:
		return 8
	case uint8:
		return 1
	}
	return 4
}

// read waits for n values.
func read[T any](d *desk, p hostmem.Ptr, n int) []T {
	d.t.Helper()
	d.ok(d.th.driver().CtxSynchronize())
	return slices.Clone(hostmem.Slice[T](p, n))
}

// tensor describes one without gaps.
func (d *desk) tensor(dim ...int32) tensorDesc {
	d.t.Helper()
	h := made(d.t, d.th.CreateTensorDescriptor, d.th.DestroyTensorDescriptor)
	d.ok(d.th.SetTensorNdDescriptorEx(h, nchw, f32, int32(len(dim)), hostmem.Of(&dim[0])))
	return h
}

// random are n numbers.
func (d *desk) random(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(d.rng.NormFloat64())
	}
	return v
}

// same compares with what should be.
func (d *desk) same(what string, p hostmem.Ptr, want []float64, limit float64) {
	d.t.Helper()
	for i, g := range read[float32](d, p, len(want)) {
		if e := math.Abs(float64(g) - want[i]); !(e <= limit*(1+math.Abs(want[i]))) {
			d.t.Fatalf("%s: element %d is %g, not %g", what, i, g, want[i])
		}
	}
}

func f(v float32) hostmem.Ptr { return hostmem.Of(&v) }

func TestPoolingCalls(t *testing.T) {
	d := onDesk(t)
	xd, yd := d.tensor(1, 2, 4, 4), d.tensor(1, 2, 2, 2)
	p := made(t, d.th.CreatePoolingDescriptor, d.th.DestroyPoolingDescriptor)
	x, g := d.random(32), d.random(8)
	for _, mode := range []poolMode{dnn.CUDNN_POOLING_MAX, dnn.CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING} {
		d.ok(d.th.SetPooling2dDescriptor(p, mode, 0, 2, 2, 0, 0, 2, 2))
		want, grad := make([]float64, 8), make([]float64, 32)
		for o := range 8 {
			at := func(i int) int { return o/4*16 + (o/2%2*2+i/2)*4 + o%2*2 + i%2 }
			best, sum := 0, 0.0
			for i := range 4 {
				sum += float64(x[at(i)])
				if x[at(i)] > x[at(best)] {
					best = i
				}
			}
			if want[o] = float64(x[at(best)]); mode == dnn.CUDNN_POOLING_MAX {
				grad[at(best)] += 2 * float64(g[o])
				continue
			}
			want[o] = sum / 4
			for i := range 4 {
				grad[at(i)] += 2 * float64(g[o]) / 4
			}
		}
		in, dy, y, dx := put(d, x), put(d, g), d.memory(32), d.memory(128)
		d.ok(d.th.PoolingForward(d.h, p, f(1), xd, in, f(0), yd, y))
		d.same("pooling", y, want, 1e-6)
		d.ok(d.th.PoolingBackward(d.h, p, f(2), yd, y, yd, dy, xd, in, f(0), xd, dx))
		d.same("gradient", dx, grad, 1e-6)
	}
	wants(t, "a result of another shape", d.th.PoolingForward(d.h, p, f(1), xd, d.memory(4), f(0), d.tensor(1, 3, 2, 2), d.memory(4)), bad)
	wants(t, "no factor", d.th.PoolingForward(d.h, p, hostmem.Nil, xd, d.memory(4), f(0), yd, d.memory(4)), bad)
}

func TestSoftmaxCalls(t *testing.T) {
	d := onDesk(t)
	xd := d.tensor(2, 3, 1, 2)
	x, g := d.random(12), d.random(12)
	want, grad := make([]float64, 12), make([]float64, 12)
	for row := range 4 {
		at := func(c int) int { return row/2*6 + c*2 + row%2 }
		sum, dot := 0.0, 0.0
		for c := range 3 {
			sum += math.Exp(float64(x[at(c)]))
		}
		for c := range 3 {
			want[at(c)] = math.Exp(float64(x[at(c)])) / sum
			dot += want[at(c)] * float64(g[at(c)])
		}
		for c := range 3 {
			grad[at(c)] = want[at(c)] * (float64(g[at(c)]) - dot)
		}
	}
	y, dx := d.memory(48), d.memory(48)
	d.ok(d.th.SoftmaxForward(d.h, dnn.CUDNN_SOFTMAX_ACCURATE, dnn.CUDNN_SOFTMAX_MODE_CHANNEL, f(1), xd, put(d, x), f(0), xd, y))
	d.same("softmax", y, want, 1e-6)
	d.ok(d.th.SoftmaxBackward(d.h, dnn.CUDNN_SOFTMAX_ACCURATE, dnn.CUDNN_SOFTMAX_MODE_CHANNEL, f(1), xd, y, xd, put(d, g), f(0), xd, dx))
	d.same("gradient", dx, grad, 1e-6)
	wants(t, "mode", d.th.SoftmaxForward(d.h, 1, 2, f(1), xd, y, f(0), xd, y), bad)
}

func TestLRNCalls(t *testing.T) {
	d := onDesk(t)
	xd := d.tensor(1, 4, 1, 3)
	l := made(t, d.th.CreateLRNDescriptor, d.th.DestroyLRNDescriptor)
	d.ok(d.th.SetLRNDescriptor(l, 3, 0.5, 0.75, 1.5))
	x, g := d.random(12), d.random(12)
	energy := func(c, i int, spatial bool) float64 {
		sum := 0.0
		for k := -1; k <= 1; k++ {
			a, b := c+k, i
			if spatial {
				a, b = c, i+k
			}
			if a >= 0 && a < 4 && b >= 0 && b < 3 {
				sum += float64(x[a*3+b]) * float64(x[a*3+b])
			}
		}
		if spatial {
			return 1.5 + 0.5/9*sum // the window is as high as it is wide
		}
		return 1.5 + 0.5/3*sum
	}
	in, dy, y, dx := put(d, x), put(d, g), d.memory(48), d.memory(48)
	for _, spatial := range []bool{false, true} {
		want, grad := make([]float64, 12), make([]float64, 12)
		for j := range 12 {
			c, i := j/3, j%3
			e := energy(c, i, spatial)
			want[j] = float64(x[j]) * math.Pow(e, -0.75)
			grad[j] += float64(g[j]) * math.Pow(e, -0.75)
			for k := -1; k <= 1; k++ {
				a, b, m := c+k, i, 3.0
				if spatial {
					a, b, m = c, i+k, 9
				}
				if a >= 0 && a < 4 && b >= 0 && b < 3 {
					grad[a*3+b] -= 2 * 0.5 / m * 0.75 * float64(x[a*3+b]) * float64(g[j]) * float64(x[j]) * math.Pow(e, -1.75)
				}
			}
		}
		if spatial {
			d.ok(d.th.DivisiveNormalizationForward(d.h, l, 0, f(1), xd, in, hostmem.Nil, y, y, f(0), xd, y))
			d.ok(d.th.DivisiveNormalizationBackward(d.h, l, 0, f(1), xd, in, hostmem.Nil, dy, dx, dx, f(0), xd, dx, hostmem.Nil))
		} else {
			d.ok(d.th.LRNCrossChannelForward(d.h, l, 0, f(1), xd, in, f(0), xd, y))
			d.ok(d.th.LRNCrossChannelBackward(d.h, l, 0, f(1), xd, y, xd, dy, xd, in, f(0), xd, dx))
		}
		d.same("LRN", y, want, 1e-5)
		d.same("gradient", dx, grad, 1e-5)
	}
}

func TestDropoutCalls(t *testing.T) {
	d := onDesk(t)
	xd := d.tensor(1, 1, 10, 10)
	size, err := d.th.DropoutGetStatesSize(d.h)
	d.ok(err)
	masks, err := d.th.DropoutGetReserveSpaceSize(xd)
	if err != nil || masks != 16 {
		t.Errorf("%d bytes of masks, %v", masks, err)
	}
	h := made(t, d.th.CreateDropoutDescriptor, d.th.DestroyDropoutDescriptor)
	states, mask := d.memory(size), d.memory(masks)
	x := d.random(100)
	in, y, dx := put(d, x), d.memory(400), d.memory(400)
	pass := func() []float32 {
		d.ok(d.th.DropoutForward(d.h, h, xd, in, xd, y, mask, masks))
		return read[float32](d, y, 100)
	}
	d.ok(d.th.SetDropoutDescriptor(h, d.h, 0.5, states, size, 77))
	first, second := pass(), pass()
	d.ok(d.th.SetDropoutDescriptor(h, d.h, 0.5, states, size, 77))
	again := pass()
	d.ok(d.th.RestoreDropoutDescriptor(h, d.h, 0.5, states, size, 77))
	if rest := pass(); !slices.Equal(first, again) || slices.Equal(first, second) || !slices.Equal(second, rest) {
		t.Error("masks do not follow the states")
	}
	d.ok(d.th.DropoutBackward(d.h, h, xd, in, xd, dx, mask, masks))
	if got := read[float32](d, dx, 100); !slices.Equal(got, second) {
		t.Error("the gradient has another mask")
	}
	for i, v := range second {
		if v != 0 && v != 2*x[i] {
			t.Errorf("element %d is %g, was %g", i, v, x[i])
		}
	}
	at := uint64(0)
	if rate, seed, err := d.th.GetDropoutDescriptor(h, d.h, hostmem.Of(&at)); err != nil || rate != 0.5 || seed != 77 || at != uint64(states) {
		t.Errorf("rate %g, seed %d, states at %#x, %v", rate, seed, at, err)
	}
	wants(t, "few states", d.th.SetDropoutDescriptor(h, d.h, 0.5, states, 4, 1), bad)
	wants(t, "no mask", d.th.DropoutForward(d.h, h, xd, in, xd, y, mask, 4), bad)
}
