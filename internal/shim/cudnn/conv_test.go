package cudnn

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// convCase is a convolution of images in f32: 2 groups, 4 channels to 6, windows of 3 and 2, padded.
type convCase struct {
	*desk
	c       convDesc
	xd, yd  tensorDesc
	wd      filterDesc
	x, w, g []float32
}

const convX, convW, convY = 2 * 4 * 5 * 4, 6 * 2 * 3 * 2, 2 * 6 * 3 * 5

func newConv(t *testing.T) *convCase {
	d := onDesk(t)
	k := &convCase{desk: d, c: made(t, d.th.CreateConvolutionDescriptor, d.th.DestroyConvolutionDescriptor), xd: d.tensor(2, 4, 5, 4), yd: d.tensor(2, 6, 3, 5),
		wd: made(t, d.th.CreateFilterDescriptor, d.th.DestroyFilterDescriptor), x: d.random(convX), w: d.random(convW), g: d.random(convY)}
	d.ok(d.th.SetConvolution2dDescriptor(k.c, 1, 1, 2, 1, 1, 1, dnn.CUDNN_CROSS_CORRELATION, f32))
	d.ok(d.th.SetConvolutionGroupCount(k.c, 2))
	d.ok(d.th.SetFilter4dDescriptor(k.wd, f32, nchw, 6, 2, 3, 2))
	return k
}

// taps calls f with the indices of an output, an input and an element of the filter that belong together.
func taps(f func(y, x, w int)) {
	for y := range convY {
		n, k, p, q := y/90, y/15%6, y/5%3, y%5
		for w := range 12 {
			c, r, s := w/6, w/2%3, w%2
			u, v := p*2-1+r, q-1+s
			if u >= 0 && u < 5 && v >= 0 && v < 4 {
				f(y, ((n*4+k/3*2+c)*5+u)*4+v, k*12+w)
			}
		}
	}
}

func TestConvolutionCalls(t *testing.T) {
	k := newConv(t)
	want, dx, dw, db := make([]float64, convY), make([]float64, convX), make([]float64, convW), make([]float64, 6)
	taps(func(y, x, w int) {
		want[y] += float64(k.x[x]) * float64(k.w[w])
		dx[x] += float64(k.g[y]) * float64(k.w[w])
		dw[w] += float64(k.g[y]) * float64(k.x[x])
	})
	for y, g := range k.g {
		db[y/15%6] += float64(g)
	}
	x, w, g := put(k.desk, k.x), put(k.desk, k.w), put(k.desk, k.g)
	y, gx, gw, gb := k.memory(4*convY), k.memory(4*convX), k.memory(4*convW), k.memory(24)
	size, err := k.th.GetConvolutionForwardWorkspaceSize(k.h, k.xd, k.wd, k.c, k.yd, 1)
	k.ok(err)
	k.ok(k.th.ConvolutionForward(k.h, f(1), k.xd, x, k.wd, w, k.c, 1, k.memory(size), size, f(0), k.yd, y))
	k.same("convolution", y, want, 1e-5)
	size, err = k.th.GetConvolutionBackwardDataWorkspaceSize(k.h, k.wd, k.yd, k.c, k.xd, 1)
	k.ok(err)
	k.ok(k.th.ConvolutionBackwardData(k.h, f(1), k.wd, w, k.yd, g, k.c, 1, k.memory(size), size, f(0), k.xd, gx))
	k.same("gradient of the input", gx, dx, 1e-5)
	size, err = k.th.GetConvolutionBackwardFilterWorkspaceSize(k.h, k.xd, k.yd, k.c, k.wd, 1)
	k.ok(err)
	k.ok(k.th.ConvolutionBackwardFilter(k.h, f(1), k.xd, x, k.yd, g, k.c, 1, k.memory(size), size, f(0), k.wd, gw))
	k.same("gradient of the filter", gw, dw, 1e-5)
	k.ok(k.th.ConvolutionBackwardBias(k.h, f(1), k.yd, g, f(0), k.tensor(1, 6, 1, 1), gb))
	k.same("gradient of the bias", gb, db, 1e-5)
	wants(t, "a bias of no tensor", k.th.ConvolutionBackwardBias(k.h, f(1), 0, g, f(0), 0, gb), bad)
	wants(t, "an algorithm that is none", k.th.ConvolutionForward(k.h, f(1), k.xd, x, k.wd, w, k.c, 8, 0, 0, f(0), k.yd, y), bad)
	wants(t, "one that was never there", k.th.ConvolutionForward(k.h, f(1), k.xd, x, k.wd, w, k.c, 3, 0, 0, f(0), k.yd, y), refused)
	wants(t, "another result", k.th.ConvolutionForward(k.h, f(1), k.xd, x, k.wd, w, k.c, 1, 0, 0, f(0), k.xd, y), bad)
}

func TestConvolutionBiasActivation(t *testing.T) {
	k := newConv(t)
	bias, z := k.random(6), k.random(convY)
	sum := make([]float64, convY)
	taps(func(y, x, w int) { sum[y] += 2 * float64(k.x[x]) * float64(k.w[w]) })
	a := made(t, k.th.CreateActivationDescriptor, k.th.DestroyActivationDescriptor)
	for mode, act := range map[dnn.CudnnActivationMode_t]func(float64) float64{
		dnn.CUDNN_ACTIVATION_RELU:     func(v float64) float64 { return max(v, 0) },
		dnn.CUDNN_ACTIVATION_IDENTITY: func(v float64) float64 { return v },
		dnn.CUDNN_ACTIVATION_TANH:     math.Tanh,
	} {
		k.ok(k.th.SetActivationDescriptor(a, mode, 0, 0))
		want := make([]float64, convY)
		for i := range want {
			want[i] = act(sum[i] + 0.5*float64(z[i]) + float64(bias[i/15%6]))
		}
		y := k.memory(4 * convY)
		k.ok(k.th.ConvolutionBiasActivationForward(k.h, f(2), k.xd, put(k.desk, k.x), k.wd, put(k.desk, k.w), k.c, 1, 0, 0, f(0.5), k.yd, put(k.desk, z), k.tensor(1, 6, 1, 1), put(k.desk, bias), a, k.yd, y))
		k.same("convolution, bias, activation", y, want, 1e-5)
	}
}

func TestConvolutionAlgorithms(t *testing.T) {
	k := newConv(t)
	if n := reflect.TypeFor[found]().Size(); n != perfSize {
		t.Errorf("an algorithm has %d bytes, not %d", n, perfSize)
	}
	list := make([]found, 8)
	to := hostmem.Of(&list[0])
	n, err := k.th.GetConvolutionForwardAlgorithmV7(k.h, k.xd, k.wd, k.c, k.yd, 8, to)
	if err != nil || n != 8 || list[0].Algo != dnn.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM || list[0].Status != 0 || list[7].Status != refused {
		t.Errorf("%d algorithms, %+v, %v", n, list, err)
	}
	if n, err := k.th.GetConvolutionBackwardDataAlgorithmV7(k.h, k.wd, k.yd, k.c, k.xd, 1, to); err != nil || n != 1 {
		t.Errorf("%d algorithms, %v", n, err)
	}
	if n, err := k.th.GetConvolutionBackwardFilterAlgorithmV7(k.h, k.xd, k.yd, k.c, k.wd, 8, to); err != nil || n != 7 {
		t.Errorf("%d algorithms, %v", n, err)
	}
	counts := make([]int32, 7)
	at := func(i int) hostmem.Ptr { return hostmem.Of(&counts[i]) }
	k.ok(k.th.FindConvolutionForwardAlgorithm(k.h, k.xd, k.wd, k.c, k.yd, 8, at(0), to))
	if list[0].Time <= 0 {
		t.Errorf("%g ms", list[0].Time)
	}
	k.ok(k.th.FindConvolutionBackwardDataAlgorithm(k.h, k.wd, k.yd, k.c, k.xd, 8, at(1), to))
	k.ok(k.th.FindConvolutionBackwardFilterAlgorithm(k.h, k.xd, k.yd, k.c, k.wd, 8, at(2), to))
	x, w, y := put(k.desk, k.x), put(k.desk, k.w), put(k.desk, k.g)
	k.ok(k.th.FindConvolutionForwardAlgorithmEx(k.h, k.xd, x, k.wd, w, k.c, k.yd, k.memory(4*convY), 2, at(3), to, 0, 0))
	k.ok(k.th.FindConvolutionBackwardDataAlgorithmEx(k.h, k.wd, w, k.yd, y, k.c, k.xd, k.memory(4*convX), 2, at(4), to, 0, 0))
	k.ok(k.th.FindConvolutionBackwardFilterAlgorithmEx(k.h, k.xd, x, k.yd, y, k.c, k.wd, k.memory(4*convW), 2, at(5), to, 0, 0))
	counts[6], err = k.th.GetConvolutionForwardAlgorithmMaxCount(k.h)
	k.ok(err)
	if want := []int32{8, 6, 7, 2, 2, 2, 8}; !slices.Equal(counts, want) {
		t.Errorf("%d algorithms, not %d", counts, want)
	}
	wants(t, "none wanted", k.th.FindConvolutionForwardAlgorithm(k.h, k.xd, k.wd, k.c, k.yd, 0, at(0), to), bad)
}

func TestReorder(t *testing.T) {
	d := onDesk(t)
	w := made(t, d.th.CreateFilterDescriptor, d.th.DestroyFilterDescriptor)
	d.ok(d.th.SetFilter4dDescriptor(w, dnn.CUDNN_DATA_INT8x32, dnn.CUDNN_TENSOR_NCHW_VECT_C, 2, 32, 1, 1))
	from := make([]uint8, 64)
	for i := range from {
		from[i] = uint8(3*i + 1)
	}
	to, bias, toBias := d.memory(64), put(d, []float32{1.5, -2}), d.memory(8)
	d.ok(d.th.ReorderFilterAndBias(d.h, w, 0, put(d, from), to, 1, bias, toBias))
	for i, v := range read[uint8](d, to, 64) {
		if v != from[i] {
			t.Fatalf("byte %d is %d, not %d", i, v, from[i])
		}
	}
	d.same("bias", toBias, []float64{1.5, -2}, 0)
}
