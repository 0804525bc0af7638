package cudnn

import (
	"math"
	"math/rand/v2"
	"testing"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// groupNorm is a norm of x with a statistic for each of the groups of an image's channels.
type groupNorm struct {
	mode   dnn.CudnnBackendNormMode_t
	dim    []int64
	groups int64
	elem   nn.Elem
	stride []int64
}

func (c *groupNorm) stats() []int64 { return ones(len(c.dim), c.dim[0], c.groups) }
func (c *groupNorm) scale() []int64 { return ones(len(c.dim), 1, c.dim[1]) }

// ones are n sizes that are 1 but for the first.
func ones(n int, first ...int64) []int64 {
	for len(first) < n {
		first = append(first, 1)
	}
	return first
}

// of is the number of an element's channel and of its group.
func (c *groupNorm) of(i int) (channel, group int) {
	inner := int64(1)
	for _, d := range c.dim[2:] {
		inner *= d
	}
	at := int64(i) / inner
	ch := at % c.dim[1]
	return int(ch), int(at/c.dim[1]*c.groups + ch/(c.dim[1]/c.groups))
}

// normed computes means, inverse deviations and normed elements in f64.
func (c *groupNorm) normed(xs []float64, eps float64) (mean, inv, hat []float64) {
	n := int(c.dim[0] * c.groups)
	mean, inv, hat = make([]float64, n), make([]float64, n), make([]float64, len(xs))
	per := float64(len(xs) / n)
	for i, v := range xs {
		if _, g := c.of(i); c.mode != dnn.CUDNN_RMS_NORM {
			mean[g] += v / per
		}
	}
	for i, v := range xs {
		_, g := c.of(i)
		inv[g] += (v - mean[g]) * (v - mean[g]) / per
	}
	for g, v := range inv {
		inv[g] = 1 / math.Sqrt(v+eps)
	}
	for i, v := range xs {
		_, g := c.of(i)
		hat[i] = (v - mean[g]) * inv[g]
	}
	return mean, inv, hat
}

// groupNorms are norms of sizes that are drawn: odd ones, 1, one to three dimensions of space; without gaps, channels last, with gaps.
func groupNorms(n int) []groupNorm {
	rng := rand.New(rand.NewPCG(22, 1))
	var list []groupNorm
	for i := range n {
		c := groupNorm{mode: []dnn.CudnnBackendNormMode_t{dnn.CUDNN_GROUP_NORM, dnn.CUDNN_LAYER_NORM, dnn.CUDNN_RMS_NORM}[i%3], elem: []nn.Elem{nn.F32, nn.BF16, nn.F16}[rng.IntN(3)]}
		c.groups = 1 + rng.Int64N(5)
		c.dim = []int64{1 + rng.Int64N(3), c.groups * (1 + rng.Int64N(5))}
		for range 1 + rng.IntN(3) {
			c.dim = append(c.dim, 1+rng.Int64N(7))
		}
		switch rng.IntN(3) {
		case 0:
			c.stride = nn.Packed(c.dim...)
		case 1:
			c.stride = nn.ChannelsLast(c.dim...)
		case 2:
			wide := append([]int64{}, c.dim...)
			for d := range wide {
				wide[d] += rng.Int64N(3)
			}
			c.stride = nn.Packed(wide...)
		}
		list = append(list, c)
	}
	return list
}

// TestBackendGroupNorm is the forward norm, with statistics that are written, and with those given.
func TestBackendGroupNorm(t *testing.T) {
	const eps = 1e-3
	for i, c := range groupNorms(36) {
		training := i%4 != 3
		n := newOpGraph(t)
		x, xs := n.input(c.elem, c.stride, c.dim...)
		y, ys := n.output(nn.F32, nn.Packed(c.dim...), c.dim...)
		scale, scales := n.input(nn.F32, nn.Packed(c.scale()...), c.scale()...)
		bias, biases := n.input(nn.F32, nn.Packed(c.scale()...), c.scale()...)
		wantMean, wantInv, hat := c.normed(xs, eps)
		mean, means := n.input(nn.F32, nn.Packed(c.stats()...), c.stats()...)
		meanID := n.ids
		phase := dnn.CUDNN_NORM_FWD_TRAINING
		if !training {
			phase = dnn.CUDNN_NORM_FWD_INFERENCE
			n.fill(means, wantMean)
		}
		inv, invs := n.input(nn.F32, nn.Packed(c.stats()...), c.stats()...)
		invID := n.ids
		if !training {
			n.fill(invs, wantInv)
		}
		list := []attr{{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_MODE, c.mode}, {dnn.CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, phase}, {dnn.CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, x},
			{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, inv}, {dnn.CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, scale}, {dnn.CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, bias},
			{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, n.value(eps)}, {dnn.CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, y}}
		if c.mode != dnn.CUDNN_RMS_NORM {
			list = append(list, attr{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, mean})
		}
		n.op(dnn.CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR, list...)
		n.run()
		if c.mode != dnn.CUDNN_RMS_NORM {
			near(t, "mean", n.read(nn.F32, meanID), 1e-5, func(i int) float64 { return wantMean[i] })
		}
		near(t, "inverse deviation", n.read(nn.F32, invID), 1e-5, func(i int) float64 { return wantInv[i] })
		near(t, "y", ys(), 2e-5, func(i int) float64 {
			ch, _ := c.of(i)
			return hat[i]*scales[ch] + biases[ch]
		})
	}
}

// TestBackendGroupNormGradients compares with the gradients in f64, and one of each norm with differences of the sum of dy × y.
func TestBackendGroupNormGradients(t *testing.T) {
	const eps, h = 1e-3, 1e-5
	for _, c := range groupNorms(36) {
		n := newOpGraph(t)
		x, xs := n.input(c.elem, c.stride, c.dim...)
		dy, dys := n.input(c.elem, nn.Packed(c.dim...), c.dim...)
		scale, scales := n.input(nn.F32, nn.Packed(c.scale()...), c.scale()...)
		wantMean, wantInv, hat := c.normed(xs, eps)
		mean, means := n.input(nn.F32, nn.Packed(c.stats()...), c.stats()...)
		n.fill(means, wantMean)
		inv, invs := n.input(nn.F32, nn.Packed(c.stats()...), c.stats()...)
		n.fill(invs, wantInv)
		dx, dxs := n.output(nn.F32, c.stride, c.dim...)
		ds, dss := n.output(nn.F32, nn.Packed(c.scale()...), c.scale()...)
		db, dbs := n.output(nn.F32, nn.Packed(c.scale()...), c.scale()...)
		list := []attr{{dnn.CUDNN_ATTR_OPERATION_NORM_BWD_MODE, c.mode}, {dnn.CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, x}, {dnn.CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, dy},
			{dnn.CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, scale}, {dnn.CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, inv}, {dnn.CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, dx},
			{dnn.CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, ds}, {dnn.CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, db}}
		if c.mode != dnn.CUDNN_RMS_NORM {
			list = append(list, attr{dnn.CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, mean})
		}
		n.op(dnn.CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR, list...)
		n.run()
		along, whole := make([]float64, len(wantInv)), make([]float64, len(wantInv))
		dscale, dbias := make([]float64, c.dim[1]), make([]float64, c.dim[1])
		per := float64(len(xs) / len(wantInv))
		for i := range xs {
			ch, g := c.of(i)
			along[g] += dys[i] * scales[ch] * hat[i] / per
			whole[g] += dys[i] * scales[ch] / per
			dscale[ch] += dys[i] * hat[i]
			dbias[ch] += dys[i]
		}
		want := func(i int) float64 {
			ch, g := c.of(i)
			v := dys[i]*scales[ch] - hat[i]*along[g]
			if c.mode != dnn.CUDNN_RMS_NORM {
				v -= whole[g]
			}
			return v * wantInv[g]
		}
		loss := func() (s float64) {
			_, _, hat := c.normed(xs, eps)
			for i, v := range hat {
				ch, _ := c.of(i)
				s += v * scales[ch] * dys[i]
			}
			return s
		}
		was := xs[0]
		xs[0] = was + h
		up := loss()
		xs[0] = was - h
		slope := (up - loss()) / (2 * h)
		xs[0] = was
		if w := want(0); math.Abs(slope-w) > 1e-4*math.Max(1, math.Abs(w)) {
			t.Fatalf("the slope of %v along the first element is %v, its gradient %v", c, slope, w)
		}
		bound := 1e-4 * math.Max(1, wantInv[0])
		near(t, "dx", dxs(), bound, want)
		near(t, "dscale", dss(), 1e-4, func(i int) float64 { return dscale[i] })
		near(t, "dbias", dbs(), 1e-4, func(i int) float64 { return dbias[i] })
	}
}

// TestBackendGroupNormMisuse: groups that do not divide the channels, two ideas of how many there are, none, and nothing to norm.
func TestBackendGroupNormMisuse(t *testing.T) {
	forward := func(mode dnn.CudnnBackendNormMode_t, dim, mean, inv []int64) error {
		n := newOpGraph(t)
		scale := ones(len(dim), 1, dim[1])
		list := []attr{{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_MODE, mode}, {dnn.CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, dnn.CUDNN_NORM_FWD_TRAINING}}
		for name, dim := range map[dnn.CudnnBackendAttributeName_t][]int64{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_XDESC: dim, dnn.CUDNN_ATTR_OPERATION_NORM_FWD_YDESC: dim, dnn.CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC: scale,
			dnn.CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC: mean, dnn.CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC: inv} {
			if dim != nil {
				d, _ := n.describe(nn.F32, dim, nn.Packed(dim...))
				list = append(list, attr{name, d})
			}
		}
		list = append(list, attr{dnn.CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, n.value(1)})
		_, err := n.try(dnn.CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR, list...)
		return err
	}
	for _, c := range []struct {
		mode           dnn.CudnnBackendNormMode_t
		dim, mean, inv []int64
		want           dnn.CudnnStatus_t
	}{
		{dnn.CUDNN_GROUP_NORM, []int64{2, 6, 5}, []int64{2, 3, 1}, []int64{2, 3, 1}, dnn.CUDNN_STATUS_SUCCESS},
		{dnn.CUDNN_GROUP_NORM, []int64{2, 6, 5}, []int64{2, 4, 1}, []int64{2, 4, 1}, dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH},
		{dnn.CUDNN_GROUP_NORM, []int64{2, 6, 5}, []int64{2, 3, 1}, []int64{2, 2, 1}, dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH},
		{dnn.CUDNN_INSTANCE_NORM, []int64{2, 6, 5}, []int64{2, 3, 1}, []int64{2, 3, 1}, dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH},
		{dnn.CUDNN_GROUP_NORM, []int64{2, 6, 5}, nil, nil, dnn.CUDNN_STATUS_NOT_SUPPORTED},
		{dnn.CUDNN_GROUP_NORM, []int64{2, 6, 0}, []int64{2, 3, 1}, []int64{2, 3, 1}, dnn.CUDNN_STATUS_NOT_SUPPORTED},
	} {
		err, got := forward(c.mode, c.dim, c.mean, c.inv), dnn.CUDNN_STATUS_SUCCESS
		if err != nil {
			got = dnn.CudnnStatus_t(Code(err))
		}
		if got != c.want {
			t.Errorf("mode %d of %v with %v and %v answers %v, not %d", c.mode, c.dim, c.mean, c.inv, err, c.want)
		}
	}
}
