package cudnn

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/fuse"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

type (
	fwdAlgo    = dnn.CudnnConvolutionFwdAlgo_t
	dataAlgo   = dnn.CudnnConvolutionBwdDataAlgo_t
	filterAlgo = dnn.CudnnConvolutionBwdFilterAlgo_t
)

// convolving is a call of a convolution: input, filter and result, or their gradients.
type convolving struct {
	*call
	conv    nn.Conv
	desc    convolution
	x, w, y nn.Tensor
}

// nowhere stands for memory where only shapes count.
const nowhere = hostmem.Ptr(1)

// convolve begins a call. Where there is no memory, only shapes are known.
func (t *Thread) convolve(h Handle, desc convDesc, xDesc tensorDesc, x hostmem.Ptr, wDesc filterDesc, w hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr) *convolving {
	c := t.on(h)
	return c.convolve(take[convolution](c, desc), take[tensor](c, xDesc), x, take[filter](c, wDesc), w, take[tensor](c, yDesc), y)
}

// convolve is the same with what the descriptors say.
func (c *call) convolve(desc convolution, in tensor, x hostmem.Ptr, by filter, w hostmem.Ptr, out tensor, y hostmem.Ptr) *convolving {
	v := &convolving{call: c, desc: desc}
	if c.err != nil {
		return v
	}
	dim, err := v.desc.result(in, by)
	c.fail(err)
	c.need(slices.Equal(dim, out.dim), badParam, "%v convolved with %v is %v, not %v", in.dim, by.dim, dim, out.dim)
	v.conv = nn.Conv{Pad: v.desc.pad, Stride: v.desc.stride, Dilation: v.desc.dilation, Groups: int64(v.desc.groups), Flip: v.desc.mode == dnn.CUDNN_CONVOLUTION}
	v.x, v.w, v.y = c.at(in, x), c.at(by.tensor(), w), c.at(out, y)
	return v
}

// space is the workspace of one of the operations.
func (v *convolving) space(kind nn.ConvKind) (uint64, error) {
	if v.err != nil {
		return 0, v.err
	}
	n, err := v.conv.ConvWorkspace(kind, v.x, v.w, v.y)
	return uint64(n), err
}

// direct is an algorithm that was never there.
const direct = int32(dnn.CUDNN_CONVOLUTION_FWD_ALGO_DIRECT)

// algorithm checks one. They all are the same here.
func (c *call) algorithm(a, count int32, forward bool) {
	c.need(a >= 0 && a < count, badParam, "algorithm %d", a)
	c.need(!forward || a != direct, notSupported, "algorithm %d", a)
}

// ConvolutionForward is y = alpha x*w + beta y.
func (t *Thread) ConvolutionForward(h Handle, alpha hostmem.Ptr, xDesc tensorDesc, x hostmem.Ptr, wDesc filterDesc, w hostmem.Ptr, desc convDesc, algo fwdAlgo, work hostmem.Ptr, size uint64, beta hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr) error {
	c := t.convolve(h, desc, xDesc, x, wDesc, w, yDesc, y)
	c.algorithm(int32(algo), int32(dnn.CUDNN_CONVOLUTION_FWD_ALGO_COUNT), true)
	s := c.scale(c.y.Type, alpha, beta)
	c.with(work, size)
	return c.run(func() error {
		return c.elsewhere("ConvolutionForward", s, func() error { return c.ConvForward(c.conv, c.x, c.w, c.y, s, nn.Epilogue{}) })
	})
}

// ConvolutionBackwardData is the gradient of x.
func (t *Thread) ConvolutionBackwardData(h Handle, alpha hostmem.Ptr, wDesc filterDesc, w hostmem.Ptr, dyDesc tensorDesc, dy hostmem.Ptr, desc convDesc, algo dataAlgo, work hostmem.Ptr, size uint64, beta hostmem.Ptr, dxDesc tensorDesc, dx hostmem.Ptr) error {
	c := t.convolve(h, desc, dxDesc, dx, wDesc, w, dyDesc, dy)
	c.algorithm(int32(algo), int32(dnn.CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT), false)
	s := c.scale(c.x.Type, alpha, beta)
	c.with(work, size)
	return c.run(func() error {
		return c.elsewhere("ConvolutionBackwardData", s, func() error { return c.ConvData(c.conv, c.w, c.y, c.x, s) })
	})
}

// ConvolutionBackwardFilter is the gradient of the filter.
func (t *Thread) ConvolutionBackwardFilter(h Handle, alpha hostmem.Ptr, xDesc tensorDesc, x hostmem.Ptr, dyDesc tensorDesc, dy hostmem.Ptr, desc convDesc, algo filterAlgo, work hostmem.Ptr, size uint64, beta hostmem.Ptr, dwDesc filterDesc, dw hostmem.Ptr) error {
	c := t.convolve(h, desc, xDesc, x, dwDesc, dw, dyDesc, dy)
	c.algorithm(int32(algo), int32(dnn.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT), false)
	s := c.scale(c.w.Type, alpha, beta)
	c.with(work, size)
	return c.run(func() error {
		return c.elsewhere("ConvolutionBackwardFilter", s, func() error { return c.ConvFilter(c.conv, c.x, c.y, c.w, s) })
	})
}

// ConvolutionBackwardBias is the gradient of a bias a channel.
func (t *Thread) ConvolutionBackwardBias(h Handle, alpha hostmem.Ptr, dyDesc tensorDesc, dy, beta hostmem.Ptr, dbDesc tensorDesc, db hostmem.Ptr) error {
	c := t.on(h)
	in, out := c.tensor(dyDesc, dy), c.tensor(dbDesc, db)
	s := c.scale(out.Type, alpha, beta)
	c.need(c.err != nil || len(in.Dim) == len(out.Dim) && out.Count() == out.Dim[1] && out.Dim[1] == in.Dim[1], badParam, "a bias %v of %v", out.Dim, in.Dim)
	return c.run(func() error {
		in, out := longer(in), longer(out)
		r := make([]bool, len(in.Dim))
		for i := range r {
			r[i] = i != 1
		}
		e := express(in, out)
		return e.store(c, e.Reduce(fuse.Add, e.in(in)), s, out, r, in.Dim)
	})
}

// ConvolutionBiasActivationForward is y = act(alpha1 x*w + alpha2 z + bias).
func (t *Thread) ConvolutionBiasActivationForward(h Handle, alpha1 hostmem.Ptr, xDesc tensorDesc, x hostmem.Ptr, wDesc filterDesc, w hostmem.Ptr, desc convDesc, algo fwdAlgo, work hostmem.Ptr, size uint64, alpha2 hostmem.Ptr, zDesc tensorDesc, z hostmem.Ptr, biasDesc tensorDesc, bias hostmem.Ptr, act activationDesc, yDesc tensorDesc, y hostmem.Ptr) error {
	c := t.convolve(h, desc, xDesc, x, wDesc, w, yDesc, y)
	c.algorithm(int32(algo), int32(dnn.CUDNN_CONVOLUTION_FWD_ALGO_COUNT), true)
	a := take[activation](c.call, act)
	s := c.scale(c.y.Type, alpha1, alpha2)
	b := c.tensor(biasDesc, bias)
	var add nn.Tensor
	if s.Beta != 0 {
		add = c.tensor(zDesc, z)
		c.need(nn.SameShape(add, c.y), badParam, "%v is added to %v", add.Dim, c.y.Dim)
	}
	c.with(work, size)
	return c.run(func() error {
		if add.Addr != 0 && add.Addr != c.y.Addr {
			if err := c.Move(add, c.y); err != nil {
				return err
			}
		}
		end := nn.Epilogue{Bias: b}
		switch a.mode {
		case dnn.CUDNN_ACTIVATION_RELU:
			end.Act = nn.ActReLU
		case dnn.CUDNN_ACTIVATION_CLIPPED_RELU:
			end.Act, end.Top = nn.ActClipped, a.coef
		}
		if err := c.ConvForward(c.conv, c.x, c.w, c.y, s, end); err != nil || end.Act != nn.ActNone || a.mode == dnn.CUDNN_ACTIVATION_IDENTITY {
			return err
		}
		e := express(c.y)
		return e.put(c.call, e.activate(a, e.in(c.y)), nn.Plain, c.y)
	})
}

// ReorderFilterAndBias copies: filters of INT8x32 lie here as they did.
func (t *Thread) ReorderFilterAndBias(h Handle, wDesc filterDesc, r dnn.CudnnReorderType_t, w, to hostmem.Ptr, withBias int32, bias, toBias hostmem.Ptr) error {
	c := t.on(h)
	f := take[filter](c, wDesc)
	c.need(known(r, dnn.CUDNN_NO_REORDER) && w != hostmem.Nil && to != hostmem.Nil, badParam, "reordering %d, or no memory", r)
	c.need(withBias == 0 || bias != hostmem.Nil && toBias != hostmem.Nil, badParam, "no memory of a bias")
	return c.run(func() error {
		n := int64(f.tensor().bytes())
		if err := c.Move(nn.Make(uint64(w), nn.S8, n), nn.Make(uint64(to), nn.S8, n)); err != nil || withBias == 0 {
			return err
		}
		return c.Move(nn.Make(uint64(bias), nn.F32, f.dim[0]), nn.Make(uint64(toBias), nn.F32, f.dim[0]))
	})
}
