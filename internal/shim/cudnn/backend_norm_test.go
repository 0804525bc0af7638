package cudnn

import (
	"math"
	"testing"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// graphNorm is a norm: its axes follow from the sizes of what it knows, and those of scale and bias.
type graphNorm struct {
	mode         dnn.CudnnBackendNormMode_t
	stats, scale []int64
}

var normSizes = []int64{3, 6, 4, 5}

var normCases = []graphNorm{
	{dnn.CUDNN_BATCH_NORM, []int64{1, 6, 1, 1}, []int64{1, 6, 1, 1}},
	{dnn.CUDNN_LAYER_NORM, []int64{3, 1, 1, 1}, []int64{1, 6, 4, 5}},
	{dnn.CUDNN_INSTANCE_NORM, []int64{3, 6, 1, 1}, []int64{1, 6, 1, 1}},
	{dnn.CUDNN_RMS_NORM, []int64{3, 1, 1, 1}, []int64{1, 6, 4, 5}},
}

// group is the number of the element of a tensor of fewer sizes that is used for element i of one of normSizes.
func group(dim []int64, i int) int {
	t := nn.Tensor{Dim: normSizes, Stride: make([]int64, 4)}
	s := nn.Packed(dim...)
	for d := range dim {
		if dim[d] != 1 {
			t.Stride[d] = s[d]
		}
	}
	return int(place(t, int64(i)))
}

// normed computes a norm in f64: means, inverse deviations, variances and normed elements.
func normed(c graphNorm, xs []float64, eps float64) (mean, inv, variance, hat []float64) {
	n := int(c.stats[0] * c.stats[1])
	mean, inv, variance, hat = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, len(xs))
	per := float64(len(xs) / n)
	if c.mode != dnn.CUDNN_RMS_NORM {
		for i, v := range xs {
			mean[group(c.stats, i)] += v / per
		}
	}
	for i, v := range xs {
		d := v - mean[group(c.stats, i)]
		variance[group(c.stats, i)] += d * d / per
	}
	for g := range inv {
		inv[g] = 1 / math.Sqrt(variance[g]+eps)
	}
	for i, v := range xs {
		hat[i] = (v - mean[group(c.stats, i)]) * inv[group(c.stats, i)]
	}
	return mean, inv, variance, hat
}

func TestBackendNorms(t *testing.T) {
	const eps = 1e-3
	for _, c := range normCases {
		for _, e := range []nn.Elem{nn.F32, nn.BF16} {
			n := newOpGraph(t)
			bound := map[nn.Elem]float64{nn.F32: 2e-5, nn.BF16: 2e-2}[e]
			x, xs := n.input(e, nn.ChannelsLast(normSizes...), normSizes...)
			y, ys := n.output(e, nn.Packed(normSizes...), normSizes...)
			mean, means := n.output(nn.F32, nn.Packed(c.stats...), c.stats...)
			inv, invs := n.output(nn.F32, nn.Packed(c.stats...), c.stats...)
			scale, scales := n.input(nn.F32, nn.Packed(c.scale...), c.scale...)
			bias, biases := n.input(nn.F32, nn.Packed(c.scale...), c.scale...)
			list := []attr{{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_MODE, c.mode}, {dnn.CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, dnn.CUDNN_NORM_FWD_TRAINING}, {dnn.CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, x},
				{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, inv}, {dnn.CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, scale}, {dnn.CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, bias},
				{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, n.value(eps)}, {dnn.CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, y}}
			var old []float64
			var now func() []float64
			if c.mode != dnn.CUDNN_RMS_NORM {
				list = append(list, attr{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, mean})
			}
			if c.mode == dnn.CUDNN_BATCH_NORM {
				var from, to backendDesc
				from, old = n.input(nn.F32, nn.Packed(c.stats...), c.stats...)
				to, now = n.output(nn.F32, nn.Packed(c.stats...), c.stats...)
				list = append(list, attr{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, from}, attr{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, to},
					attr{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, n.value(0.25)})
			}
			n.op(dnn.CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR, list...)
			n.run()
			wantMean, wantInv, variance, hat := normed(c, xs, eps)
			if c.mode != dnn.CUDNN_RMS_NORM {
				near(t, "mean", means(), 1e-5, func(i int) float64 { return wantMean[i] })
			}
			near(t, "inverse deviation", invs(), 1e-5, func(i int) float64 { return wantInv[i] })
			near(t, "y", ys(), bound, func(i int) float64 { return hat[i]*scales[group(c.scale, i)] + biases[group(c.scale, i)] })
			if now != nil {
				near(t, "running variance", now(), 1e-5, func(i int) float64 { return 0.75*old[i] + 0.25*variance[i]*60/59 })
			}
		}
	}
}

// TestBackendNormInference uses statistics that it is given, or computes and forgets them.
func TestBackendNormInference(t *testing.T) {
	for _, c := range normCases {
		n := newOpGraph(t)
		x, xs := n.input(nn.F32, nn.Packed(normSizes...), normSizes...)
		y, ys := n.output(nn.F32, nn.Packed(normSizes...), normSizes...)
		scale, scales := n.input(nn.F32, nn.Packed(c.scale...), c.scale...)
		list := []attr{{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_MODE, c.mode}, {dnn.CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, dnn.CUDNN_NORM_FWD_INFERENCE}, {dnn.CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, x},
			{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, scale}, {dnn.CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, n.value(0.5)}, {dnn.CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, y}}
		mean, inv, _, _ := normed(c, xs, 0.5)
		if c.mode == dnn.CUDNN_BATCH_NORM {
			var m, i backendDesc
			m, mean = n.input(nn.F32, nn.Packed(c.stats...), c.stats...)
			i, inv = n.input(nn.F32, nn.Packed(c.stats...), c.stats...)
			list = append(list, attr{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, m}, attr{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, i})
		}
		n.op(dnn.CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR, list...)
		n.run()
		near(t, "y", ys(), 1e-5, func(i int) float64 {
			g := group(c.stats, i)
			return (xs[i] - mean[g]) * inv[g] * scales[group(c.scale, i)]
		})
	}
}

// TestBackendNormGradients compares with differences of the sum of dy × y.
func TestBackendNormGradients(t *testing.T) {
	const eps, h = 1e-3, 1e-4
	for _, c := range normCases {
		n := newOpGraph(t)
		x, xs := n.input(nn.F32, nn.Packed(normSizes...), normSizes...)
		dy, dys := n.input(nn.F32, nn.ChannelsLast(normSizes...), normSizes...)
		scale, scales := n.input(nn.F32, nn.Packed(c.scale...), c.scale...)
		meanIn, inv, _, hat := normed(c, xs, eps)
		mean, means := n.input(nn.F32, nn.Packed(c.stats...), c.stats...)
		n.fill(means, meanIn)
		invD, invs := n.input(nn.F32, nn.Packed(c.stats...), c.stats...)
		n.fill(invs, inv)
		dx, dxs := n.output(nn.F32, nn.Packed(normSizes...), normSizes...)
		ds, dss := n.output(nn.F32, nn.Packed(c.scale...), c.scale...)
		db, dbs := n.output(nn.F32, nn.Packed(c.scale...), c.scale...)
		list := []attr{{dnn.CUDNN_ATTR_OPERATION_NORM_BWD_MODE, c.mode}, {dnn.CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, x}, {dnn.CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, dy},
			{dnn.CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, scale}, {dnn.CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, invD}, {dnn.CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, dx},
			{dnn.CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, ds}, {dnn.CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, db}}
		if c.mode != dnn.CUDNN_RMS_NORM {
			list = append(list, attr{dnn.CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, mean})
		}
		n.op(dnn.CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR, list...)
		n.run()
		loss := func() (s float64) {
			_, _, _, hat := normed(c, xs, eps)
			for i, v := range hat {
				s += v * scales[group(c.scale, i)] * dys[i]
			}
			return s
		}
		near(t, "dx", dxs()[:40], 1e-3, func(i int) float64 {
			was := xs[i]
			xs[i] = was + h
			up := loss()
			xs[i] = was - h
			down := loss()
			xs[i] = was
			return (up - down) / (2 * h)
		})
		sum := func(of func(i int) float64) func(int) float64 {
			return func(g int) (s float64) {
				for i := range xs {
					if group(c.scale, i) == g {
						s += of(i)
					}
				}
				return s
			}
		}
		near(t, "dscale", dss(), 1e-4, sum(func(i int) float64 { return dys[i] * hat[i] }))
		near(t, "dbias", dbs(), 1e-4, sum(func(i int) float64 { return dys[i] }))
	}
}

// TestBackendBatchParts is a batch norm in parts: sums, what is made of them, and the gradients as a sum.
func TestBackendBatchParts(t *testing.T) {
	const eps = 1e-3
	c := normCases[0]
	n := newOpGraph(t)
	vector := func() (backendDesc, func() []float64) {
		t.Helper()
		return n.output(nn.F32, nn.Packed(c.stats...), c.stats...)
	}
	x, xs := n.input(nn.F32, nn.ChannelsLast(normSizes...), normSizes...)
	dy, dys := n.input(nn.F32, nn.Packed(normSizes...), normSizes...)
	scale, scales := vector()
	bias, biases := vector()
	sum, squares := n.virtual(nn.F32, c.stats...), n.virtual(nn.F32, c.stats...)
	n.op(dnn.CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_GENSTATS_MODE, dnn.CUDNN_GENSTATS_SUM_SQSUM}, attr{dnn.CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, dnn.CUDNN_DATA_FLOAT},
		attr{dnn.CUDNN_ATTR_OPERATION_GENSTATS_XDESC, x}, attr{dnn.CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, sum}, attr{dnn.CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, squares})
	old, olds := vector()
	mean, means := vector()
	inv, invs := vector()
	eqScale, eqScales := vector()
	eqBias, eqBiases := vector()
	running, runnings := vector()
	variance, _ := vector()
	n.op(dnn.CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_STATS_MODE, dnn.CUDNN_BN_FINALIZE_STATISTICS_TRAINING},
		attr{dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_MATH_PREC, dnn.CUDNN_DATA_FLOAT}, attr{dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SUM_DESC, sum}, attr{dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SQ_SUM_DESC, squares},
		attr{dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_SCALE_DESC, scale}, attr{dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_BIAS_DESC, bias}, attr{dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_MEAN_DESC, old},
		attr{dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_VAR_DESC, old}, attr{dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_MEAN_DESC, running}, attr{dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_VAR_DESC, variance},
		attr{dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_MEAN_DESC, mean}, attr{dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_INV_STD_DESC, inv}, attr{dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_SCALE_DESC, eqScale},
		attr{dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_BIAS_DESC, eqBias}, attr{dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_ACCUM_COUNT_DESC, n.value(60)}, attr{dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_EPSILON_DESC, n.value(eps)},
		attr{dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_EXP_AVERATE_FACTOR_DESC, n.value(0.25)})
	dscale, dscales := vector()
	dbias, dbiases := vector()
	byDy, byDys := vector()
	byX, byXs := vector()
	plus, pluses := vector()
	n.op(dnn.CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MATH_PREC, dnn.CUDNN_DATA_FLOAT}, attr{dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC, mean},
		attr{dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC, inv}, attr{dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC, scale}, attr{dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC, x},
		attr{dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC, dy}, attr{dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC, dscale}, attr{dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC, dbias},
		attr{dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC, byDy}, attr{dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC, byX}, attr{dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS, plus})
	n.run()
	wantMean, wantInv, _, hat := normed(c, xs, eps)
	near(t, "mean", means(), 1e-5, func(i int) float64 { return wantMean[i] })
	near(t, "inverse deviation", invs(), 1e-5, func(i int) float64 { return wantInv[i] })
	near(t, "running mean", runnings(), 1e-5, func(i int) float64 { return 0.75*olds()[i] + 0.25*wantMean[i] })
	near(t, "scale", eqScales(), 1e-5, func(i int) float64 { return scales()[i] * wantInv[i] })
	near(t, "bias", eqBiases(), 1e-5, func(i int) float64 { return biases()[i] - wantMean[i]*scales()[i]*wantInv[i] })
	a, b := make([]float64, 6), make([]float64, 6)
	for i := range xs {
		a[group(c.stats, i)] += dys[i] * hat[i]
		b[group(c.stats, i)] += dys[i]
	}
	near(t, "dscale", dscales(), 1e-4, func(i int) float64 { return a[i] })
	near(t, "dbias", dbiases(), 1e-4, func(i int) float64 { return b[i] })
	for i := range xs {
		g := group(c.stats, i)
		want := scales()[g] * wantInv[g] * (dys[i] - b[g]/60 - hat[i]*a[g]/60)
		if got := byDys()[g]*dys[i] + byXs()[g]*xs[i] + pluses()[g]; math.Abs(got-want) > 1e-4 {
			t.Fatalf("dx: element %d is %v, not %v", i, got, want)
		}
	}
}

// TestBackendGroupedReduction: neighbours along an axis become one, as gradients of keys that heads share do, with an operation after it.
func TestBackendGroupedReduction(t *testing.T) {
	n := newOpGraph(t)
	x, xs := n.input(nn.F16, nn.Packed(3, 6, 5, 8), 3, 6, 5, 8)
	sum := n.virtual(nn.F32, 3, 2, 5, 1)
	y, ys := n.output(nn.F32, nn.Packed(3, 2, 5, 1), 3, 2, 5, 1)
	n.reduction(dnn.CUDNN_REDUCE_TENSOR_ADD, x, sum)
	n.point(dnn.CUDNN_POINTWISE_MUL, y, sum, n.value(0.5))
	n.run()
	near(t, "sums", ys(), 1e-5, func(i int) float64 {
		b, g, row, total := i/10, i/5%2, i%5, 0.0
		for h := range 3 {
			for j := range 8 {
				total += xs[((b*6+g*3+h)*5+row)*8+j]
			}
		}
		return total / 2
	})
}
