package cudnn

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// Batch norms, and the normalization calls, which are the same under other names.

type (
	bnMode   = dnn.CudnnBatchNormMode_t
	bnOps    = dnn.CudnnBatchNormOps_t
	normMode = dnn.CudnnNormMode_t
	normOps  = dnn.CudnnNormOps_t
	normAlgo = dnn.CudnnNormAlgo_t
)

// statistics is the shape of what a norm has a mean of: a channel, or an element of a sample.
func statistics(dim []int64, each bool) []int64 {
	s := make([]int64, len(dim))
	for i := range s {
		if s[i] = 1; i == 1 || each && i > 1 {
			s[i] = dim[i]
		}
	}
	return s
}

// parameters is the descriptor of scales, biases, means and variances for x.
func parameters(x tensor, each bool) tensor {
	kind := dataType(dnn.CUDNN_DATA_FLOAT)
	if x.kind == dnn.CUDNN_DATA_DOUBLE {
		kind = x.kind
	}
	dim := statistics(x.dim, each)
	return tensor{kind: kind, dim: dim, stride: packedStrides(dnn.CUDNN_TENSOR_NCHW, kind, dim)}
}

// DeriveBNTensorDescriptor describes the parameters for x.
func (t *Thread) DeriveBNTensorDescriptor(to, xDesc tensorDesc, mode bnMode) error {
	x, err := look[tensor](xDesc)
	if err != nil {
		return err
	}
	if !known(mode, dnn.CUDNN_BATCHNORM_SPATIAL_PERSISTENT) || x.dim == nil {
		return because(badParam, "mode %d of %v", mode, x.dim)
	}
	return set(to, parameters(x, mode == dnn.CUDNN_BATCHNORM_PER_ACTIVATION))
}

// DeriveNormTensorDescriptor describes the parameters for x.
func (t *Thread) DeriveNormTensorDescriptor(scale, mean, xDesc tensorDesc, mode normMode, groups int32) error {
	if groups != 1 {
		return because(badParam, "%d groups", groups)
	}
	if err := t.DeriveBNTensorDescriptor(scale, xDesc, bnMode(mode)); err != nil {
		return err
	}
	return t.DeriveBNTensorDescriptor(mean, xDesc, bnMode(mode))
}

// norming is a call of a norm; it is filled in from the arguments of either family.
type norming struct {
	*call
	each bool
	add  bool // with z
	relu bool
}

func (t *Thread) norm(h Handle, mode bnMode, ops bnOps, act activationDesc) *norming {
	c := &norming{call: t.on(h), each: mode == dnn.CUDNN_BATCHNORM_PER_ACTIVATION, add: ops == dnn.CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION}
	c.need(known(mode, dnn.CUDNN_BATCHNORM_SPATIAL_PERSISTENT) && known(ops, dnn.CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION), badParam, "mode %d, operations %d", mode, ops)
	if ops != dnn.CUDNN_BATCHNORM_OPS_BN {
		a := take[activation](c.call, act)
		c.need(a.mode == dnn.CUDNN_ACTIVATION_RELU || a.mode == dnn.CUDNN_ACTIVATION_IDENTITY, notSupported, "activation %d", a.mode)
		c.relu = a.mode == dnn.CUDNN_ACTIVATION_RELU
	}
	return c
}

// optional is a tensor that may be missing.
func (c *call) optional(v tensor, p hostmem.Ptr) nn.Tensor {
	if p == hostmem.Nil || c.err != nil {
		return nn.Tensor{}
	}
	return c.at(v, p)
}

// shaped takes a descriptor of parameters and checks that it is one of x.
func (c *norming) shaped(h tensorDesc, x nn.Tensor) tensor {
	v := take[tensor](c.call, h)
	if c.err == nil {
		c.need(count(v.dim) == count(statistics(x.Dim, c.each)) && len(v.dim) == len(x.Dim), badParam, "parameters %v of %v", v.dim, x.Dim)
	}
	return v
}

// forward are the arguments of a norm that trains or infers.
type forward struct {
	alpha, beta         hostmem.Ptr
	xDesc, yDesc, zDesc tensorDesc
	x, y, z             hostmem.Ptr
	paramDesc, meanDesc tensorDesc
	scale, bias         hostmem.Ptr
	mean, variance      hostmem.Ptr // kept, or to be used
	savedMean, savedDev hostmem.Ptr
	factor, eps         float64
	infers              bool
}

func (c *norming) forward(a forward) error {
	x, y := c.tensor(a.xDesc, a.x), c.tensor(a.yDesc, a.y)
	c.need(nn.SameShape(x, y) && x.Type == y.Type, badParam, "%v of %v from %v of %v", y.Dim, y.Type, x.Dim, x.Type)
	param, stat := c.shaped(a.paramDesc, x), c.shaped(a.meanDesc, x)
	n := nn.Norm{X: x, Y: y, Eps: a.eps, ReLU: c.relu, Factor: a.factor, Stat: statistics(x.Dim, c.each), Blending: c.scale(x.Type, a.alpha, a.beta)}
	n.Scale, n.Bias = c.at(param, a.scale), c.at(param, a.bias)
	if c.add {
		n.Z = c.tensor(a.zDesc, a.z)
	}
	c.need(a.eps >= 0 && (a.infers || a.factor >= 0 && a.factor <= 1), badParam, "epsilon %g, factor %g", a.eps, a.factor)
	if a.infers {
		n.Known, n.Mean, n.Dev = nn.KnownVariance, c.at(stat, a.mean), c.at(stat, a.variance)
		return c.run(func() error { return c.Norm(n) })
	}
	c.need((a.mean == hostmem.Nil) == (a.variance == hostmem.Nil) && (a.savedMean == hostmem.Nil) == (a.savedDev == hostmem.Nil), badParam, "a mean without a variance")
	n.Mean, n.Dev = c.optional(stat, a.savedMean), c.optional(stat, a.savedDev)
	n.RunMean, n.RunVar = c.optional(stat, a.mean), c.optional(stat, a.variance)
	n.NextMean, n.NextVar = n.RunMean, n.RunVar
	return c.run(func() error { return c.Norm(n) })
}

// backward are the arguments of the gradients of a norm.
type backward struct {
	alpha, beta, alphaParam, betaParam hostmem.Ptr
	xDesc, yDesc, dyDesc               tensorDesc
	dzDesc, dxDesc                     tensorDesc
	x, y, dy, dz, dx                   hostmem.Ptr
	paramDesc, meanDesc                tensorDesc
	scale, dscale, dbias               hostmem.Ptr
	savedMean, savedDev                hostmem.Ptr
	eps                                float64
}

func (c *norming) backward(a backward) error {
	n := nn.NormBackward{X: c.tensor(a.xDesc, a.x), Dy: c.tensor(a.dyDesc, a.dy), Dx: c.tensor(a.dxDesc, a.dx), ReLU: c.relu, Eps: a.eps}
	for _, v := range []nn.Tensor{n.Dy, n.Dx} {
		c.need(nn.SameShape(n.X, v) && n.X.Type == v.Type, badParam, "%v of %v beside %v of %v", v.Dim, v.Type, n.X.Dim, n.X.Type)
	}
	param, stat := c.shaped(a.paramDesc, n.X), c.shaped(a.meanDesc, n.X)
	n.Stat, n.Data, n.Params = statistics(n.X.Dim, c.each), c.scale(n.X.Type, a.alpha, a.beta), c.scale(n.X.Type, a.alphaParam, a.betaParam)
	n.Scale, n.DScale, n.DBias = c.at(param, a.scale), c.at(param, a.dscale), c.at(param, a.dbias)
	c.need(a.eps >= 0 && (a.savedMean == hostmem.Nil) == (a.savedDev == hostmem.Nil), badParam, "epsilon %g, or a mean without a deviation", a.eps)
	n.Mean, n.Dev = c.optional(stat, a.savedMean), c.optional(stat, a.savedDev)
	if c.relu {
		n.Y = c.tensor(a.yDesc, a.y)
	}
	if c.add {
		n.Dz = c.tensor(a.dzDesc, a.dz)
	}
	return c.run(func() error { return c.NormBackward(n) })
}
