package cudnn

import (
	"math"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// poolWindows are the elements of a window of TestBackendPool that are in the image, with their places.
func poolWindows(row, column int) (at []int) {
	for u := range 3 {
		for v := range 2 {
			if r, c := row*2-1+u, column-1+v; r >= 0 && r < 9 && c >= 0 && c < 8 {
				at = append(at, r*8+c)
			}
		}
	}
	return at
}

// TestBackendPool pools forward and backward in each mode, with an index of the largest and without.
func TestBackendPool(t *testing.T) {
	image, pooled := []int64{2, 3, 9, 8}, []int64{2, 3, 5, 9}
	for _, c := range []struct {
		mode    dnn.CudnnResampleMode_t
		around  dnn.CudnnPaddingMode_t
		indexed bool
	}{
		{dnn.CUDNN_RESAMPLE_MAXPOOL, dnn.CUDNN_NEG_INF_PAD, true}, {dnn.CUDNN_RESAMPLE_MAXPOOL, dnn.CUDNN_NEG_INF_PAD, false},
		{dnn.CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING, dnn.CUDNN_ZERO_PAD, false}, {dnn.CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING, dnn.CUDNN_ZERO_PAD, false},
	} {
		n := newOpGraph(t)
		desc := n.make(dnn.CUDNN_BACKEND_RESAMPLE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_RESAMPLE_MODE, c.mode}, attr{dnn.CUDNN_ATTR_RESAMPLE_COMP_TYPE, dnn.CUDNN_DATA_FLOAT},
			attr{dnn.CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, int64(2)}, attr{dnn.CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, fractions{1, 1, 2, 2}}, attr{dnn.CUDNN_ATTR_RESAMPLE_POST_PADDINGS, []int64{1, 1}},
			attr{dnn.CUDNN_ATTR_RESAMPLE_STRIDES, []int64{2, 1}}, attr{dnn.CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, []int64{3, 2}}, attr{dnn.CUDNN_ATTR_RESAMPLE_PADDING_MODE, c.around})
		x, xs := n.input(nn.F16, nn.ChannelsLast(image...), image...)
		y, ys := n.output(nn.F16, nn.ChannelsLast(pooled...), pooled...)
		attrs := []attr{{dnn.CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, x}, {dnn.CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, y}, {dnn.CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, desc}}
		dy, dys := n.input(nn.F32, nn.Packed(pooled...), pooled...)
		dx, dxs := n.output(nn.F32, nn.Packed(image...), image...)
		back := []attr{{dnn.CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, dx}, {dnn.CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC, dy}, {dnn.CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC, desc}}
		var is func() []float64
		if c.indexed {
			var index backendDesc
			index, is = n.output(nn.S8, nn.Packed(pooled...), pooled...)
			attrs, back = append(attrs, attr{dnn.CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC, index}), append(back, attr{dnn.CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC, index})
		} else {
			back = append(back, attr{dnn.CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC, x})
		}
		n.op(dnn.CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR, attrs...)
		n.op(dnn.CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR, back...)
		n.run()
		gradient := make([]float64, len(xs))
		want := make([]float64, len(dys))
		for i, g := range dys {
			plane, at := i/45*72, poolWindows(i/9%5, i%9)
			if c.mode == dnn.CUDNN_RESAMPLE_MAXPOOL {
				best := at[0]
				for _, p := range at {
					if xs[plane+p] > xs[plane+best] {
						best = p
					}
				}
				want[i] = xs[plane+best]
				gradient[plane+best] += g
				continue
			}
			by := 6.0
			if c.mode == dnn.CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING {
				by = float64(len(at))
			}
			for _, p := range at {
				want[i] += xs[plane+p] / by
				gradient[plane+p] += g / by
			}
		}
		near(t, "pooled", ys(), 1e-3, func(i int) float64 { return want[i] })
		near(t, "gradient", dxs(), 1e-5, func(i int) float64 { return gradient[i] })
		if is == nil {
			continue
		}
		for i, v := range is() {
			u, w := int(v)/2, int(v)%2
			r, column := i/9%5*2-1+u, i%9-1+w
			if v < 0 || r < 0 || r >= 9 || column < 0 || column >= 8 || xs[i/45*72+r*8+column] != want[i] {
				t.Fatalf("the largest of window %d is said to be its element %v", i, v)
			}
		}
	}
}

// vector is a list as C++ keeps it.
type vector struct{ from, to, end hostmem.Ptr }

func vectorOf(list []int64) vector {
	p := hostmem.Of(&list[0])
	return vector{p, p.Add(uint64(8 * len(list))), p.Add(uint64(8 * len(list)))}
}

// TestBackendOtherSizes runs a plan on fewer rows than it was made for.
func TestBackendOtherSizes(t *testing.T) {
	n := newOpGraph(t)
	a, as := n.input(nn.F32, nn.Packed(6, 5), 6, 5)
	b, bs := n.input(nn.F32, nn.Packed(5, 7), 5, 7)
	c := n.virtual(nn.F32, 6, 7)
	y, ys := n.output(nn.F32, nn.Packed(6, 7), 6, 7)
	n.product(a, b, c)
	n.point(dnn.CUDNN_POINTWISE_EXP, y, c)
	plan := n.plan()
	dims := [][]int64{{4, 5}, {4, 7}, {4, 7}}
	strides := [][]int64{{5, 1}, {7, 1}, {7, 1}}
	ids := []int64{n.uid(a), n.uid(c), n.uid(y)}
	var shapes, steps []vector
	for i := range dims {
		shapes, steps = append(shapes, vectorOf(dims[i])), append(steps, vectorOf(strides[i]))
	}
	before := append([]float64(nil), ys()...)
	n.ok(n.th.BackendExecute(n.h, plan, n.pack(plan, attr{dnn.CUDNN_ATTR_VARIANT_PACK_OVERRIDE_UNIQUE_IDS, ids},
		attr{dnn.CUDNN_ATTR_VARIANT_PACK_OVERRIDE_SHAPES, pointers{uint64(hostmem.Of(&shapes[0]))}}, attr{dnn.CUDNN_ATTR_VARIANT_PACK_OVERRIDE_STRIDES, pointers{uint64(hostmem.Of(&steps[0]))}})))
	near(t, "y", ys(), 1e-5, func(i int) float64 {
		if i/7 >= 4 {
			return before[i]
		}
		sum := 0.0
		for k := range 5 {
			sum += as[i/7*5+k] * bs[k*7+i%7]
		}
		return math.Exp(sum)
	})
	shapes[0], steps[0] = vectorOf([]int64{4}), vectorOf([]int64{5})
	err := n.th.BackendExecute(n.h, plan, n.pack(plan, attr{dnn.CUDNN_ATTR_VARIANT_PACK_OVERRIDE_UNIQUE_IDS, ids[:1]},
		attr{dnn.CUDNN_ATTR_VARIANT_PACK_OVERRIDE_SHAPES, pointers{uint64(hostmem.Of(&shapes[0]))}}, attr{dnn.CUDNN_ATTR_VARIANT_PACK_OVERRIDE_STRIDES, pointers{uint64(hostmem.Of(&steps[0]))}}))
	if err == nil || Code(err) != int32(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH) {
		t.Errorf("a matrix of one dimension: %v", err)
	}
}
