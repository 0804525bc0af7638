package cudnn

import (
	"math"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// TestCTCCalls: two samples of three times and three letters, with the labels [1] and [2 1]. All paths are written out.
func TestCTCCalls(t *testing.T) {
	d := onDesk(t)
	x := d.random(18)
	p := func(n, s, a int) float64 {
		sum := 0.0
		for k := range 3 {
			sum += math.Exp(float64(x[(s*2+n)*3+k]))
		}
		return math.Exp(float64(x[(s*2+n)*3+a])) / sum
	}
	paths := [][][3]int{
		{{1, 1, 1}, {1, 1, 0}, {1, 0, 0}, {0, 1, 1}, {0, 0, 1}, {0, 1, 0}},
		{{2, 2, 1}, {2, 1, 1}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}},
	}
	cost, grad := make([]float64, 2), make([]float64, 18)
	for n, all := range paths {
		total := 0.0
		with := [3][3]float64{}
		for _, path := range all {
			q := p(n, 0, path[0]) * p(n, 1, path[1]) * p(n, 2, path[2])
			total += q
			for s, a := range path {
				with[s][a] += q
			}
		}
		cost[n] = -math.Log(total)
		for s := range 3 {
			for a := range 3 {
				grad[(s*2+n)*3+a] = p(n, s, a) - with[s][a]/total
			}
		}
	}
	xd := d.tensor(3, 2, 3)
	k := made(t, d.th.CreateCTCLossDescriptor, d.th.DestroyCTCLossDescriptor)
	d.ok(d.th.SetCTCLossDescriptorV8(k, f32, dnn.CUDNN_LOSS_NORMALIZATION_SOFTMAX, 0, 2))
	labels, lengths, times := []int32{1, 2, 1}, []int32{1, 2}, []int32{3, 3}
	in, costs, g := put(d, x), d.memory(8), d.memory(72)
	size, err := d.th.GetCTCLossWorkspaceSize(d.h, xd, xd, hostmem.Of(&labels[0]), hostmem.Of(&lengths[0]), hostmem.Of(&times[0]), 0, k)
	d.ok(err)
	d.ok(d.th.CTCLoss(d.h, xd, in, hostmem.Of(&labels[0]), hostmem.Of(&lengths[0]), hostmem.Of(&times[0]), costs, xd, g, 0, k, d.memory(size), size))
	d.same("loss", costs, cost, 1e-5)
	d.same("gradient", g, grad, 1e-5)
	size, err = d.th.GetCTCLossWorkspaceSizeV8(d.h, 1, k, xd, xd)
	d.ok(err)
	costs, g = d.memory(8), d.memory(72)
	d.ok(d.th.CTCLossV8(d.h, 1, k, xd, in, put(d, labels), put(d, lengths), put(d, times), costs, xd, g, size, d.memory(size)))
	d.same("loss", costs, cost, 1e-5)
	d.same("gradient", g, grad, 1e-5)
	labels[0] = 0
	wants(t, "a blank as a label", d.th.CTCLoss(d.h, xd, in, hostmem.Of(&labels[0]), hostmem.Of(&lengths[0]), hostmem.Of(&times[0]), costs, xd, g, 0, k, d.memory(size), size), bad)
	wants(t, "little workspace", d.th.CTCLossV8(d.h, 1, k, xd, in, in, in, in, costs, xd, g, 8, d.memory(8)), bad)
}

// TestSpatialCalls: an image turned by a quarter, where every place is a pixel, and the gradients of that.
func TestSpatialCalls(t *testing.T) {
	d := onDesk(t)
	xd := d.tensor(1, 2, 3, 3)
	s := made(t, d.th.CreateSpatialTransformerDescriptor, d.th.DestroySpatialTransformerDescriptor)
	d.ok(d.th.SetSpatialTransformerNdDescriptor(s, 0, f32, 4, array(1, 2, 3, 3)))
	theta, grid := put(d, []float32{0, -1, 0, 1, 0, 0}), d.memory(72)
	d.ok(d.th.SpatialTfGridGeneratorForward(d.h, s, theta, grid))
	want := make([]float64, 18)
	for i := range 9 {
		want[2*i], want[2*i+1] = float64(1-i/3), float64(i%3-1)
	}
	d.same("grid", grid, want, 1e-6)
	x, g := d.random(18), d.random(18)
	y, dx, dg, dtheta := d.memory(72), d.memory(72), d.memory(72), d.memory(24)
	d.ok(d.th.SpatialTfSamplerForward(d.h, s, f(1), xd, put(d, x), grid, f(0), xd, y))
	turned, back := make([]float64, 18), make([]float64, 18)
	for i := range 18 {
		from := i/9*9 + i%3*3 + 2 - i%9/3
		turned[i] = float64(x[from])
		back[from] = float64(g[i])
	}
	d.same("turned", y, turned, 1e-6)
	d.ok(d.th.SpatialTfSamplerBackward(d.h, s, f(1), xd, put(d, x), f(0), xd, dx, f(1), xd, put(d, g), grid, f(0), dg))
	d.same("gradient of the image", dx, back, 1e-6)
	d.ok(d.th.SpatialTfGridGeneratorBackward(d.h, s, dg, dtheta))
	sums := make([]float64, 6)
	for i, v := range read[float32](d, dg, 18) {
		for k, c := range []float64{float64(i/2%3 - 1), float64(i/2/3 - 1), 1} {
			sums[i%2*3+k] += c * float64(v)
		}
	}
	d.same("gradient of the map", dtheta, sums, 1e-5)
}
