package cudnn

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// Pooling, softmax and LRN.

// pool is what a descriptor says, for a tensor of a shape.
func (c *call) pool(h poolDesc) nn.Pool {
	v := take[pooling](c, h)
	mode := nn.PoolMax
	switch v.mode {
	case dnn.CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING:
		mode = nn.PoolAveragePadded
	case dnn.CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING:
		mode = nn.PoolAverage
	}
	return nn.Pool{Mode: mode, NaN: v.nan == dnn.CUDNN_PROPAGATE_NAN, Window: v.window, Pad: v.pad, Stride: v.stride}
}

// PoolingForward makes y of x.
func (t *Thread) PoolingForward(h Handle, desc poolDesc, alpha hostmem.Ptr, xDesc tensorDesc, x hostmem.Ptr, beta hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr) error {
	c := t.on(h)
	p, in, out := c.pool(desc), c.tensor(xDesc, x), c.tensor(yDesc, y)
	s := c.scale(in.Type, alpha, beta)
	c.need(in.Type == out.Type, badParam, "%v from %v", out.Type, in.Type)
	return c.run(func() error {
		return c.pooled("PoolingForward", desc, s, func() error { return c.Pool(p, s, in, out) }, in, out)
	})
}

// PoolingBackward makes dx of dy. What was largest is looked up in x.
func (t *Thread) PoolingBackward(h Handle, desc poolDesc, alpha hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr, dyDesc tensorDesc, dy hostmem.Ptr, xDesc tensorDesc, x, beta hostmem.Ptr, dxDesc tensorDesc, dx hostmem.Ptr) error {
	c := t.on(h)
	p, grad, out := c.pool(desc), c.tensor(dyDesc, dy), c.tensor(dxDesc, dx)
	in := out
	if p.Mode == nn.PoolMax {
		in = c.tensor(xDesc, x)
		c.need(nn.SameShape(c.tensor(yDesc, y), grad), badParam, "the result and its gradient differ")
	}
	s := c.scale(grad.Type, alpha, beta)
	return c.run(func() error {
		own := func() error { return c.PoolBackward(p, s, in, grad, out) }
		if p.Mode == nn.PoolMax { // others look for what they kept of the forward pass
			return own()
		}
		return c.pooled("PoolingBackward", desc, s, own, grad, out)
	})
}

// axes are what softmax sums over.
func (c *call) axes(algo dnn.CudnnSoftmaxAlgorithm_t, mode dnn.CudnnSoftmaxMode_t, like nn.Tensor) (nn.SoftmaxMode, int) {
	c.need(known(algo, dnn.CUDNN_SOFTMAX_LOG) && known(mode, dnn.CUDNN_SOFTMAX_MODE_CHANNEL), badParam, "algorithm %d, mode %d", algo, mode)
	n := 1
	if mode == dnn.CUDNN_SOFTMAX_MODE_INSTANCE {
		n = len(like.Dim) - 1
	}
	return nn.SoftmaxMode(algo), n
}

// SoftmaxForward makes y of x.
func (t *Thread) SoftmaxForward(h Handle, algo dnn.CudnnSoftmaxAlgorithm_t, mode dnn.CudnnSoftmaxMode_t, alpha hostmem.Ptr, xDesc tensorDesc, x, beta hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr) error {
	c := t.on(h)
	in, out := c.tensor(xDesc, x), c.tensor(yDesc, y)
	m, n := c.axes(algo, mode, in)
	s := c.scale(in.Type, alpha, beta)
	c.need(in.Type == out.Type, badParam, "%v from %v", out.Type, in.Type)
	return c.run(func() error {
		return c.elsewhere(func() *Work {
			return &Work{Name: "SoftmaxForward", Tensors: outside(in, out), Scale: s, Algorithm: algo, Mode: mode}
		}, func() error { return c.Softmax(m, s, 1, n, in, out) })
	})
}

// SoftmaxBackward makes dx of y and dy.
func (t *Thread) SoftmaxBackward(h Handle, algo dnn.CudnnSoftmaxAlgorithm_t, mode dnn.CudnnSoftmaxMode_t, alpha hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr, dyDesc tensorDesc, dy, beta hostmem.Ptr, dxDesc tensorDesc, dx hostmem.Ptr) error {
	c := t.on(h)
	in, grad, out := c.tensor(yDesc, y), c.tensor(dyDesc, dy), c.tensor(dxDesc, dx)
	m, n := c.axes(algo, mode, in)
	s := c.scale(in.Type, alpha, beta)
	c.need(in.Type == out.Type && in.Type == grad.Type, badParam, "types %v, %v, %v", in.Type, grad.Type, out.Type)
	return c.run(func() error {
		return c.elsewhere(func() *Work {
			return &Work{Name: "SoftmaxBackward", Tensors: outside(in, grad, out), Scale: s, Algorithm: algo, Mode: mode}
		}, func() error { return c.SoftmaxBackward(m, s, 1, n, in, grad, out) })
	})
}

func (c *call) lrn(h lrnDesc, spatial bool) nn.LRN {
	v := take[lrn](c, h)
	return nn.LRN{N: int64(v.n), Alpha: v.alpha, Beta: v.beta, K: v.k, Spatial: spatial}
}

// LRNCrossChannelForward makes y of x.
func (t *Thread) LRNCrossChannelForward(h Handle, desc lrnDesc, mode dnn.CudnnLRNMode_t, alpha hostmem.Ptr, xDesc tensorDesc, x, beta hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr) error {
	c := t.on(h)
	l, in, out := c.lrn(desc, false), c.tensor(xDesc, x), c.tensor(yDesc, y)
	s := c.scale(in.Type, alpha, beta)
	c.need(mode == dnn.CUDNN_LRN_CROSS_CHANNEL_DIM1, badParam, "mode %d", mode)
	return c.run(func() error { return c.LRN(l, s, in, nn.Tensor{}, out) })
}

// LRNCrossChannelBackward makes dx of x and dy.
func (t *Thread) LRNCrossChannelBackward(h Handle, desc lrnDesc, mode dnn.CudnnLRNMode_t, alpha hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr, dyDesc tensorDesc, dy hostmem.Ptr, xDesc tensorDesc, x, beta hostmem.Ptr, dxDesc tensorDesc, dx hostmem.Ptr) error {
	c := t.on(h)
	l, in, grad, out := c.lrn(desc, false), c.tensor(xDesc, x), c.tensor(dyDesc, dy), c.tensor(dxDesc, dx)
	s := c.scale(in.Type, alpha, beta)
	c.need(mode == dnn.CUDNN_LRN_CROSS_CHANNEL_DIM1, badParam, "mode %d", mode)
	c.need(nn.SameShape(c.tensor(yDesc, y), grad), badParam, "the result and its gradient differ")
	return c.run(func() error { return c.LRNBackward(l, s, in, nn.Tensor{}, grad, out, nn.Tensor{}) })
}

// means is a tensor that may be missing, described as another.
func (c *call) means(h tensorDesc, p hostmem.Ptr) nn.Tensor {
	if p == hostmem.Nil {
		return nn.Tensor{}
	}
	return c.tensor(h, p)
}

// DivisiveNormalizationForward makes y of x; the means are those of windows. No memory is needed for what is between.
func (t *Thread) DivisiveNormalizationForward(h Handle, desc lrnDesc, mode dnn.CudnnDivNormMode_t, alpha hostmem.Ptr, xDesc tensorDesc, x, means, temp, temp2, beta hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr) error {
	c := t.on(h)
	l, in, mean, out := c.lrn(desc, true), c.tensor(xDesc, x), c.means(xDesc, means), c.tensor(yDesc, y)
	s := c.scale(in.Type, alpha, beta)
	c.need(mode == dnn.CUDNN_DIVNORM_PRECOMPUTED_MEANS, badParam, "mode %d", mode)
	return c.run(func() error { return c.LRN(l, s, in, mean, out) })
}

// DivisiveNormalizationBackward makes dx, and dMeans where it is wanted, of x and dy.
func (t *Thread) DivisiveNormalizationBackward(h Handle, desc lrnDesc, mode dnn.CudnnDivNormMode_t, alpha hostmem.Ptr, xDesc tensorDesc, x, means, dy, temp, temp2, beta hostmem.Ptr, dxDesc tensorDesc, dx, dMeans hostmem.Ptr) error {
	c := t.on(h)
	l, in, mean, grad := c.lrn(desc, true), c.tensor(xDesc, x), c.means(xDesc, means), c.tensor(xDesc, dy)
	out, dmean := c.tensor(dxDesc, dx), c.means(dxDesc, dMeans)
	s := c.scale(in.Type, alpha, beta)
	c.need(mode == dnn.CUDNN_DIVNORM_PRECOMPUTED_MEANS, badParam, "mode %d", mode)
	return c.run(func() error { return c.LRNBackward(l, s, in, mean, grad, out, dmean) })
}
