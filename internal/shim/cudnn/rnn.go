package cudnn

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// network is what a descriptor says.
func (c *call) network(h rnnDesc) nn.RNN {
	v := take[network](c, h)
	c.need(v.configured && !v.older, badParam, "a network that was never described")
	return c.built(v)
}

// built is the network of a value.
func (c *call) built(v network) nn.RNN {
	n := nn.RNN{Cell: nn.RNNCell(v.cell), Type: elems[v.kind], Layers: int64(v.layers), Dirs: 1 + int64(v.direction), In: int64(v.in), Hidden: int64(v.hidden),
		Proj: int64(v.proj), Skip: v.input == dnn.CUDNN_SKIP_INPUT, Clip: v.clip != dnn.CUDNN_RNN_CLIP_NONE, Low: v.clipLow, High: v.clipHigh,
		Bias:  v.bias == dnn.CUDNN_RNN_SINGLE_INP_BIAS || v.bias == dnn.CUDNN_RNN_DOUBLE_BIAS,
		BiasR: v.bias == dnn.CUDNN_RNN_SINGLE_REC_BIAS || v.bias == dnn.CUDNN_RNN_DOUBLE_BIAS}
	c.need(!n.Skip || n.In == n.Hidden, badParam, "input of %d elements for %d without a matrix", n.In, n.Hidden)
	if v.dropout != 0 && c.err == nil {
		d := take[dropping](c, v.dropout)
		n.Drop, n.State = float64(d.rate), d.states
	}
	return n
}

// layoutOf is what a descriptor says, as networks take it.
func (v sequences) layoutOf() nn.Sequences {
	s := nn.Sequences{Time: int64(v.longest), Batch: int64(v.batch), Length: v.length,
		Packed: v.layout == dnn.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, BatchFirst: v.layout == dnn.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED}
	if v.filled {
		e := elems[v.kind]
		b := make([]byte, 8)
		for i := range b {
			b[i] = byte(v.fill >> (8 * i))
		}
		f := e.Value(b)
		s.Fill = &f
	}
	return s
}

// GetRNNWeightSpaceSize is the memory of all weights.
func (t *Thread) GetRNNWeightSpaceSize(h Handle, desc rnnDesc) (uint64, error) {
	c := t.on(h)
	n := c.network(desc)
	if c.err != nil {
		return 0, c.err
	}
	return uint64(n.Weights() * n.Type.Size()), nil
}

// GetRNNWeightParams tells where a matrix and its bias are. What is not there has no address and no dimensions;
// what is not asked for has neither a descriptor nor a place.
func (t *Thread) GetRNNWeightParams(h Handle, desc rnnDesc, pseudo int32, size uint64, space hostmem.Ptr, number int32, mDesc tensorDesc, m hostmem.Ptr, bDesc tensorDesc, b hostmem.Ptr) error {
	c := t.on(h)
	n := c.network(desc)
	numbers := 2*n.Cell.Gates() + 1
	c.need(pseudo >= 0 && int64(pseudo) < n.Layers*n.Dirs && number >= 0 && int64(number) < numbers, badParam, "matrix %d of layer %d", number, pseudo)
	c.need(c.err != nil || size >= uint64(n.Weights()*n.Type.Size()), badParam, "%d bytes of weights", size)
	if c.err != nil {
		return c.err
	}
	kind := take[network](c, desc).kind
	matrix, bias := n.Weight(int64(pseudo), int64(number))
	for _, x := range []struct {
		piece nn.Piece
		desc  tensorDesc
		at    hostmem.Ptr
	}{{matrix, mDesc, m}, {bias, bDesc, b}} {
		if x.desc == 0 && x.at == hostmem.Nil {
			continue
		}
		if x.desc == 0 || x.at == hostmem.Nil {
			return because(badParam, "an address without a descriptor, or the other way round")
		}
		v, at := tensor{}, hostmem.Nil
		if x.piece.Rows > 0 {
			dim := []int64{1, x.piece.Rows, x.piece.Cols}
			v, at = tensor{kind: kind, dim: dim, stride: packedStrides(dnn.CUDNN_TENSOR_NCHW, kind, dim)}, space.Add(uint64(x.piece.At*n.Type.Size()))
		}
		if err := set(x.desc, v); err != nil {
			return err
		}
		hostmem.Store(x.at, uint64(at))
	}
	return nil
}

// GetRNNTempSpaceSizes is the memory that passes take.
func (t *Thread) GetRNNTempSpaceSizes(h Handle, desc rnnDesc, mode dnn.CudnnForwardMode_t, xDesc rnnDataDesc) (work, reserve uint64, err error) {
	c := t.on(h)
	n, x := c.network(desc), take[sequences](c, xDesc)
	c.need(known(mode, dnn.CUDNN_FWD_MODE_TRAINING), badParam, "mode %d", mode)
	c.need(x.batch > 0, badParam, "sequences that were never described")
	if c.err != nil {
		return 0, 0, c.err
	}
	// Who asks for training also infers with that workspace: without a reserve more of it is needed.
	w, _ := n.Memory(x.layoutOf(), false)
	_, r := n.Memory(x.layoutOf(), mode == dnn.CUDNN_FWD_MODE_TRAINING)
	return uint64(w), uint64(r), nil
}

// BuildRNNDynamic: there is nothing to build.
func (t *Thread) BuildRNNDynamic(h Handle, desc rnnDesc, batch int32) error {
	c := t.on(h)
	v := take[network](c, desc)
	c.need(v.algo == dnn.CUDNN_RNN_ALGO_PERSIST_DYNAMIC && batch > 0, badParam, "algorithm %d, batch %d", v.algo, batch)
	return c.err
}

// rnnCall is what all passes take.
type rnnCall struct {
	*call
	n nn.RNN
	s nn.Sequences
}

// passes begins a pass over sequences, which x and y describe alike.
func (t *Thread) passes(h Handle, desc rnnDesc, xDesc, yDesc rnnDataDesc, weights uint64) *rnnCall {
	c := t.on(h)
	r := &rnnCall{call: c, n: c.network(desc)}
	x, y := take[sequences](c, xDesc), take[sequences](c, yDesc)
	c.need(x.batch > 0 && x.batch == y.batch && x.longest == y.longest && x.layout == y.layout && x.kind == y.kind, badParam, "inputs and results differ")
	c.need(c.err != nil || int64(x.vector) == r.n.In && int64(y.vector) == r.n.Dirs*r.n.Proj && elems[x.kind] == r.n.Type, badParam, "vectors of %d and %d elements", x.vector, y.vector)
	c.need(c.err != nil || weights >= uint64(r.n.Weights()*r.n.Type.Size()), badParam, "%d bytes of weights", weights)
	if c.err == nil {
		r.s = x.layoutOf()
		r.s.Fill = y.layoutOf().Fill
	}
	return r
}

// spaces checks the memory that a program gives, and takes it.
func (c *rnnCall) spaces(work hostmem.Ptr, workSize uint64, reserve hostmem.Ptr, reserveSize uint64, train bool) {
	if c.err != nil {
		return
	}
	w, r := c.n.Memory(c.s, train)
	c.need(work != hostmem.Nil && workSize >= uint64(w), badParam, "%d bytes of workspace, not %d", workSize, w)
	c.need(!train || reserve != hostmem.Nil && reserveSize >= uint64(r), badParam, "%d bytes of reserve, not %d", reserveSize, r)
	c.need(!train || c.n.Drop == 0 || c.n.State != 0 || c.n.Layers == 1, badParam, "dropout without states")
	c.with(work, workSize)
}

// RNNForward runs sequences through a network.
func (t *Thread) RNNForward(h Handle, desc rnnDesc, mode dnn.CudnnForwardMode_t, lengths hostmem.Ptr, xDesc rnnDataDesc, x hostmem.Ptr, yDesc rnnDataDesc, y hostmem.Ptr, hDesc tensorDesc, hx, hy hostmem.Ptr, cDesc tensorDesc, cx, cy hostmem.Ptr, weightSize uint64, weights hostmem.Ptr, workSize uint64, work hostmem.Ptr, reserveSize uint64, reserve hostmem.Ptr) error {
	c := t.passes(h, desc, xDesc, yDesc, weightSize)
	train := mode == dnn.CUDNN_FWD_MODE_TRAINING
	c.need(known(mode, dnn.CUDNN_FWD_MODE_TRAINING) && x != hostmem.Nil && y != hostmem.Nil && weights != hostmem.Nil, badParam, "mode %d, or no memory", mode)
	c.spaces(work, workSize, reserve, reserveSize, train)
	if !train {
		reserve = hostmem.Nil
	}
	states := nn.RNNStates{H: uint64(hx), C: uint64(cx), HOut: uint64(hy), COut: uint64(cy)}
	return c.run(func() error {
		return c.n.Forward(&c.Run, c.s, uint64(x), uint64(y), states, uint64(weights), uint64(reserve))
	})
}

// RNNBackwardDataV8 makes the gradients of inputs and states.
func (t *Thread) RNNBackwardDataV8(h Handle, desc rnnDesc, lengths hostmem.Ptr, yDesc rnnDataDesc, y, dy hostmem.Ptr, xDesc rnnDataDesc, dx hostmem.Ptr, hDesc tensorDesc, hx, dhy, dhx hostmem.Ptr, cDesc tensorDesc, cx, dcy, dcx hostmem.Ptr, weightSize uint64, weights hostmem.Ptr, workSize uint64, work hostmem.Ptr, reserveSize uint64, reserve hostmem.Ptr) error {
	c := t.passes(h, desc, xDesc, yDesc, weightSize)
	c.need(dy != hostmem.Nil && dx != hostmem.Nil && weights != hostmem.Nil, badParam, "no memory")
	c.spaces(work, workSize, reserve, reserveSize, true)
	g := nn.RNNGradients{H: uint64(dhx), C: uint64(dcx), HOut: uint64(dhy), COut: uint64(dcy)}
	return c.run(func() error {
		return c.n.BackwardData(&c.Run, c.s, uint64(dy), uint64(dx), g, uint64(weights), uint64(reserve))
	})
}

// RNNBackwardWeightsV8 adds up the gradients of the weights, of what RNNBackwardDataV8 left in the reserve.
func (t *Thread) RNNBackwardWeightsV8(h Handle, desc rnnDesc, add dnn.CudnnWgradMode_t, lengths hostmem.Ptr, xDesc rnnDataDesc, x hostmem.Ptr, hDesc tensorDesc, hx hostmem.Ptr, yDesc rnnDataDesc, y hostmem.Ptr, weightSize uint64, dw hostmem.Ptr, workSize uint64, work hostmem.Ptr, reserveSize uint64, reserve hostmem.Ptr) error {
	c := t.passes(h, desc, xDesc, yDesc, weightSize)
	c.need(known(add, dnn.CUDNN_WGRAD_MODE_SET) && dw != hostmem.Nil, badParam, "mode %d, or no memory", add)
	c.spaces(work, workSize, reserve, reserveSize, true)
	return c.run(func() error {
		return c.n.BackwardWeights(&c.Run, c.s, uint64(dw), uint64(reserve), add == dnn.CUDNN_WGRAD_MODE_ADD)
	})
}
