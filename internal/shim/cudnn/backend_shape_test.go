package cudnn

import (
	"math"
	"testing"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// TestBackendShapes moves elements: a reshape of a tensor with gaps, a transpose, a slice and a concatenation.
func TestBackendShapes(t *testing.T) {
	n := newOpGraph(t)
	x, xs := n.input(nn.F32, []int64{40, 9, 2}, 3, 4, 4)
	y, ys := n.output(nn.F32, nn.Packed(6, 8), 6, 8)
	n.op(dnn.CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x}, attr{dnn.CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y})
	turned, ts := n.output(nn.F16, nn.Packed(4, 3, 4), 4, 3, 4)
	n.op(dnn.CUDNN_BACKEND_OPERATION_TRANSPOSE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_TRANSPOSE_XDESC, x}, attr{dnn.CUDNN_ATTR_OPERATION_TRANSPOSE_YDESC, turned},
		attr{dnn.CUDNN_ATTR_OPERATION_TRANSPOSE_PERMUTATION, []int64{2, 0, 1}})
	part, ps := n.output(nn.F32, nn.Packed(2, 2, 4), 2, 2, 4)
	n.op(dnn.CUDNN_BACKEND_OPERATION_SLICE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_SLICE_XDESC, x}, attr{dnn.CUDNN_ATTR_OPERATION_SLICE_YDESC, part},
		attr{dnn.CUDNN_ATTR_OPERATION_SLICE_START_INDICES, []int64{1, 1, 0}}, attr{dnn.CUDNN_ATTR_OPERATION_SLICE_LIMIT_INDICES, []int64{3, 4, 4}}, attr{dnn.CUDNN_ATTR_OPERATION_SLICE_STRIDES, []int64{1, 2, 1}})
	more, ms := n.input(nn.F32, nn.Packed(3, 2, 4), 3, 2, 4)
	both, bs := n.output(nn.F32, nn.Packed(3, 6, 4), 3, 6, 4)
	n.op(dnn.CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_CONCAT_AXIS, int64(1)}, attr{dnn.CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS, []backendDesc{x, more}},
		attr{dnn.CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC, both})
	n.run()
	near(t, "reshape", ys(), 0, func(i int) float64 { return xs[i] })
	near(t, "transpose", ts(), 1e-3, func(i int) float64 { return xs[i/4%3*16+i%4*4+i/12] })
	near(t, "slice", ps(), 0, func(i int) float64 { return xs[(i/8+1)*16+(i/4%2*2+1)*4+i%4] })
	near(t, "concatenation", bs(), 0, func(i int) float64 {
		if row := i / 4 % 6; row >= 4 {
			return ms[i/24*8+(row-4)*4+i%4]
		}
		return xs[i/24*16+i/4%6*4+i%4]
	})
}

// TestBackendRandom: numbers are those of their distribution, and the same again for the same seed.
func TestBackendRandom(t *testing.T) {
	const count = 20000
	for _, c := range []struct {
		with           []attr
		mean, variance float64
	}{
		{[]attr{{dnn.CUDNN_ATTR_RNG_DISTRIBUTION, dnn.CUDNN_RNG_DISTRIBUTION_BERNOULLI}, {dnn.CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, 0.3}}, 0.3, 0.21},
		{[]attr{{dnn.CUDNN_ATTR_RNG_DISTRIBUTION, dnn.CUDNN_RNG_DISTRIBUTION_UNIFORM}, {dnn.CUDNN_ATTR_RNG_UNIFORM_DIST_MINIMUM, -1.0}, {dnn.CUDNN_ATTR_RNG_UNIFORM_DIST_MAXIMUM, 3.0}}, 1, 4.0 / 3},
		{[]attr{{dnn.CUDNN_ATTR_RNG_DISTRIBUTION, dnn.CUDNN_RNG_DISTRIBUTION_NORMAL}, {dnn.CUDNN_ATTR_RNG_NORMAL_DIST_MEAN, 2.0}, {dnn.CUDNN_ATTR_RNG_NORMAL_DIST_STANDARD_DEVIATION, 0.5}}, 2, 0.25},
	} {
		var first []float64
		for seed := range int64(3) {
			n := newOpGraph(t)
			y, ys := n.output(nn.F32, nn.Packed(10, count/10), 10, count/10)
			n.op(dnn.CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_RNG_YDESC, y}, attr{dnn.CUDNN_ATTR_OPERATION_RNG_SEED, seed / 2},
				attr{dnn.CUDNN_ATTR_OPERATION_RNG_DESC, n.make(dnn.CUDNN_BACKEND_RNG_DESCRIPTOR, c.with...)})
			n.run()
			got := ys()
			sum, squares, same := 0.0, 0.0, 0
			for i, v := range got {
				sum += v / count
				squares += v * v / count
				if first != nil && v == first[i] {
					same++
				}
			}
			if first == nil {
				first = append(first, got...)
			} else if (seed == 1) != (same == count) {
				t.Errorf("seed %d gives %d of %d numbers again", seed/2, same, count)
			}
			if v := squares - sum*sum; math.Abs(sum-c.mean) > 0.03 || math.Abs(v-c.variance) > 0.05*c.variance {
				t.Errorf("mean %v, variance %v, not %v and %v", sum, v, c.mean, c.variance)
			}
		}
	}
}

// TestBackendSoftmax is a softmax with its statistics.
func TestBackendSoftmax(t *testing.T) {
	n := newOpGraph(t)
	x, xs := n.input(nn.F16, nn.Packed(2, 3, 5, 70), 2, 3, 5, 70)
	y, ys := n.output(nn.F32, nn.Packed(2, 3, 5, 70), 2, 3, 5, 70)
	stats, ss := n.output(nn.F32, nn.Packed(2, 3, 5, 1), 2, 3, 5, 1)
	n.op(dnn.CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_SOFTMAX_XDESC, x}, attr{dnn.CUDNN_ATTR_OPERATION_SOFTMAX_YDESC, y}, attr{dnn.CUDNN_ATTR_OPERATION_SOFTMAX_STATS_DESC, stats})
	n.run()
	row := func(r int) (s float64) {
		for _, v := range xs[70*r : 70*r+70] {
			s += math.Exp(v)
		}
		return s
	}
	near(t, "softmax", ys(), 1e-5, func(i int) float64 { return math.Exp(xs[i]) / row(i/70) })
	near(t, "statistics", ss(), 1e-5, func(i int) float64 { return math.Log(row(i)) })
}

// TestBackendZeroFactor: what a pointwise operation takes zero times has no address, and is not read where it has one.
func TestBackendZeroFactor(t *testing.T) {
	const none, nan = false, true
	for _, side := range []bool{none, nan} {
		n := newOpGraph(t)
		dim := []int64{2, 3, 4, 5}
		x, xs := n.input(nn.F32, nn.Packed(dim...), dim...)
		z, zid := n.describe(nn.F32, dim, nn.Packed(dim...))
		n.ptrs[zid] = 0
		if side == nan {
			var zs []float64
			z, zs = n.input(nn.F32, nn.Packed(dim...), dim...)
			n.fill(zs, []float64{math.NaN()})
		}
		y, ys := n.output(nn.F32, nn.Packed(dim...), dim...)
		pw := n.make(dnn.CUDNN_BACKEND_POINTWISE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_POINTWISE_MODE, dnn.CUDNN_POINTWISE_ADD}, attr{dnn.CUDNN_ATTR_POINTWISE_MATH_PREC, dnn.CUDNN_DATA_FLOAT})
		n.op(dnn.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pw}, attr{dnn.CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x},
			attr{dnn.CUDNN_ATTR_OPERATION_POINTWISE_BDESC, z}, attr{dnn.CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y},
			attr{dnn.CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 2.0}, attr{dnn.CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 0.0})
		n.run()
		near(t, "y", ys(), 1e-6, func(i int) float64 { return 2 * xs[i] })
	}
}
