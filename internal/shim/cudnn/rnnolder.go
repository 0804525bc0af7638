package cudnn

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// Networks as the calls from before cuDNN 8 describe them: sizes and type of the inputs are those of the tensors of a call.

// SetRNNDescriptorV6 says what the network is. What other calls may set has its default: two biases, no projection, no bounds.
func (t *Thread) SetRNNDescriptorV6(h Handle, desc rnnDesc, hidden, layers int32, dropout dropoutDesc, input dnn.CudnnRNNInputMode_t, direction dnn.CudnnDirectionMode_t, cell dnn.CudnnRNNMode_t, algo dnn.CudnnRNNAlgo_t, prec dataType) error {
	c := t.on(h)
	v := network{algo: algo, cell: cell, bias: dnn.CUDNN_RNN_DOUBLE_BIAS, direction: direction, input: input, kind: prec, prec: prec,
		in: 1, hidden: hidden, proj: hidden, layers: layers, dropout: dropout, configured: true, older: true}
	c.fail(v.check())
	take[dropping](c, dropout)
	return c.run(func() error { return set(desc, v) })
}

// GetRNNDescriptorV6 tells all of it.
func (t *Thread) GetRNNDescriptorV6(h Handle, desc rnnDesc) (hidden, layers int32, dropout dropoutDesc, input dnn.CudnnRNNInputMode_t, direction dnn.CudnnDirectionMode_t, cell dnn.CudnnRNNMode_t, algo dnn.CudnnRNNAlgo_t, prec dataType, err error) {
	c := t.on(h)
	v := take[network](c, desc)
	return v.hidden, v.layers, v.dropout, v.input, v.direction, v.cell, v.algo, v.prec, c.err
}

// SetRNNBiasMode says which products have biases.
func (t *Thread) SetRNNBiasMode(desc rnnDesc, mode dnn.CudnnRNNBiasMode_t) error {
	if !known(mode, dnn.CUDNN_RNN_SINGLE_REC_BIAS) {
		return because(badParam, "bias %d", mode)
	}
	return alter(desc, func(v *network) { v.bias = mode })
}

// GetRNNBiasMode tells which products have biases.
func (t *Thread) GetRNNBiasMode(desc rnnDesc) (dnn.CudnnRNNBiasMode_t, error) {
	v, err := look[network](desc)
	return v.bias, err
}

// SetRNNMatrixMathType says how products may be computed.
func (t *Thread) SetRNNMatrixMathType(desc rnnDesc, math dnn.CudnnMathType_t) error {
	if !known(math, dnn.CUDNN_FMA_MATH) {
		return because(badParam, "math %d", math)
	}
	return alter(desc, func(v *network) { v.math = math })
}

// GetRNNMatrixMathType tells how products may be computed.
func (t *Thread) GetRNNMatrixMathType(desc rnnDesc) (dnn.CudnnMathType_t, error) {
	v, err := look[network](desc)
	return v.math, err
}

// SetRNNPaddingMode allows layouts with gaps in the Ex calls.
func (t *Thread) SetRNNPaddingMode(desc rnnDesc, mode uint32) error {
	if mode > dnn.CUDNN_RNN_PADDED_IO_ENABLED {
		return because(badParam, "padding %d", mode)
	}
	return alter(desc, func(v *network) { v.paddingMode = mode })
}

// GetRNNPaddingMode tells what SetRNNPaddingMode said.
func (t *Thread) GetRNNPaddingMode(desc rnnDesc) (uint32, error) {
	v, err := look[network](desc)
	return v.paddingMode, err
}

// SetRNNProjectionLayers makes the states of LSTM shorter. Results of another size than the states were never there.
func (t *Thread) SetRNNProjectionLayers(h Handle, desc rnnDesc, recurrent, out int32) error {
	c := t.on(h)
	v := take[network](c, desc)
	if v.proj = recurrent; recurrent == 0 {
		v.proj = v.hidden
	}
	c.need(recurrent >= 0 && out == 0, badParam, "projections to %d and %d elements", recurrent, out)
	c.fail(v.check())
	return c.run(func() error { return set(desc, v) })
}

// GetRNNProjectionLayers tells the size of the states.
func (t *Thread) GetRNNProjectionLayers(h Handle, desc rnnDesc) (recurrent, out int32, err error) {
	c := t.on(h)
	return take[network](c, desc).proj, 0, c.err
}

// RNNSetClip bounds the cells of LSTM.
func (t *Thread) RNNSetClip(h Handle, desc rnnDesc, mode clipMode, nan nanOpt, low, high float64) error {
	if err := t.on(h).err; err != nil {
		return err
	}
	return t.setClip(desc, mode, nan, low, high)
}

// RNNGetClip tells the bounds.
func (t *Thread) RNNGetClip(h Handle, desc rnnDesc) (clipMode, nanOpt, float64, float64, error) {
	c := t.on(h)
	v := take[network](c, desc)
	return v.clip, v.clipNaN, v.clipLow, v.clipHigh, c.err
}

// persistent is the plan of a network whose algorithm is persistent, for which there is nothing to build.
type persistent struct{ batch int32 }

type planDesc = dnn.CudnnPersistentRNNPlan_t

// CreatePersistentRNNPlan makes one.
func (t *Thread) CreatePersistentRNNPlan(desc rnnDesc, batch int32, kind dataType) (uint64, error) {
	v, err := look[network](desc)
	if err != nil {
		return 0, err
	}
	if v.algo != dnn.CUDNN_RNN_ALGO_PERSIST_DYNAMIC || batch < 1 {
		return 0, because(badParam, "algorithm %d, batch %d", v.algo, batch)
	}
	return create(persistent{batch})
}

// SetPersistentRNNPlan takes one.
func (t *Thread) SetPersistentRNNPlan(desc rnnDesc, h planDesc) error {
	if _, err := look[network](desc); err != nil {
		return err
	}
	_, err := look[persistent](h)
	return err
}

// DestroyPersistentRNNPlan ends one.
func (t *Thread) DestroyPersistentRNNPlan(h planDesc) error { return destroy[persistent](h) }

// of is the network for inputs of a tensor: vectors of a batch.
func (c *call) of(desc rnnDesc, x tensor) nn.RNN {
	v := take[network](c, desc)
	c.need(v.configured && v.older, badParam, "a network that was never described")
	c.need(len(x.dim) >= 2, badParam, "inputs of %d dimensions", len(x.dim))
	if c.err != nil {
		return nn.RNN{}
	}
	v.in, v.kind = int32(x.dim[1]), x.kind
	c.need(computesIn(v.kind, v.prec), notSupported, "data of type %d computed in %d", v.kind, v.prec)
	return c.built(v)
}

// steps are the tensors of all times, each of the vectors of the sequences that are not at their end.
func (c *call) steps(time int32, desc hostmem.Ptr) (tensor, []int64) {
	c.need(time > 0 && desc != hostmem.Nil, badParam, "%d times", time)
	if c.err != nil {
		return tensor{}, nil
	}
	var first tensor
	var lengths []int64
	for i, h := range hostmem.Slice[uint64](desc, int(time)) {
		x := take[tensor](c, tensorDesc(h))
		c.need(len(x.dim) >= 2, badParam, "vectors of %d dimensions", len(x.dim))
		if c.err != nil {
			return first, nil
		}
		if i == 0 {
			first, lengths = x, make([]int64, x.dim[0])
		}
		c.need(x.dim[0] >= 1 && x.dim[1] == first.dim[1] && x.kind == first.kind && x.dim[0] <= int64(len(lengths)), badParam, "%v after %v", x.dim, first.dim)
		for b := range min(x.dim[0], int64(len(lengths))) {
			c.need(lengths[b] == int64(i), badParam, "a batch that grows at time %d", i)
			lengths[b] = int64(i) + 1
		}
	}
	return first, lengths
}

// packed is the batch that tensors of all times describe.
func packed(lengths []int64, time int32) nn.Sequences {
	return nn.Sequences{Time: int64(time), Batch: int64(len(lengths)), Length: lengths, Packed: true}
}

// sizes are those of the memory of passes.
func (t *Thread) sizes(h Handle, desc rnnDesc, time int32, xDesc hostmem.Ptr) (work, reserve int64, err error) {
	c := t.on(h)
	x, lengths := c.steps(time, xDesc)
	n := c.of(desc, x)
	if c.err != nil {
		return 0, 0, c.err
	}
	s := packed(lengths, time)
	infers, _ := n.Memory(s, false) // one size is for both
	work, reserve = n.Memory(s, true)
	return max(work, infers), reserve, nil
}

// GetRNNWorkspaceSize is the memory that a pass takes.
func (t *Thread) GetRNNWorkspaceSize(h Handle, desc rnnDesc, time int32, xDesc hostmem.Ptr) (uint64, error) {
	work, _, err := t.sizes(h, desc, time, xDesc)
	return uint64(work), err
}

// GetRNNTrainingReserveSize is the memory from a forward pass to the gradients.
func (t *Thread) GetRNNTrainingReserveSize(h Handle, desc rnnDesc, time int32, xDesc hostmem.Ptr) (uint64, error) {
	_, reserve, err := t.sizes(h, desc, time, xDesc)
	return uint64(reserve), err
}

// GetRNNParamsSize is the memory of all weights.
func (t *Thread) GetRNNParamsSize(h Handle, desc rnnDesc, xDesc tensorDesc, kind dataType) (uint64, error) {
	c := t.on(h)
	x := take[tensor](c, xDesc)
	n := c.of(desc, x)
	c.need(x.kind == kind, badParam, "weights of type %d for inputs of %d", kind, x.kind)
	if c.err != nil {
		return 0, c.err
	}
	return uint64(n.Weights() * n.Type.Size()), nil
}

// piece tells where a matrix or a bias is.
func (t *Thread) piece(h Handle, desc rnnDesc, pseudo int32, xDesc tensorDesc, wDesc filterDesc, w hostmem.Ptr, number int32, to filterDesc, at hostmem.Ptr, bias bool) error {
	c := t.on(h)
	x := take[tensor](c, xDesc)
	n, all := c.of(desc, x), take[filter](c, wDesc)
	c.need(pseudo >= 0 && int64(pseudo) < n.Layers*n.Dirs && number >= 0 && int64(number) < 2*n.Cell.Gates()+1 && at != hostmem.Nil, badParam, "matrix %d of layer %d", number, pseudo)
	c.need(c.err != nil || all.dim != nil && count(all.dim) >= n.Weights(), badParam, "weights of %v", all.dim)
	if c.err != nil {
		return c.err
	}
	p, b := n.Weight(int64(pseudo), int64(number))
	if bias {
		p = b
	}
	f, addr := filter{}, hostmem.Nil
	if p.Rows > 0 {
		f, addr = filter{kind: x.kind, format: dnn.CUDNN_TENSOR_NCHW, dim: []int64{1, p.Rows, p.Cols}}, w.Add(uint64(p.At*n.Type.Size()))
	}
	if err := set(to, f); err != nil {
		return err
	}
	hostmem.Store(at, uint64(addr))
	return nil
}

// GetRNNLinLayerMatrixParams tells where a matrix is.
func (t *Thread) GetRNNLinLayerMatrixParams(h Handle, desc rnnDesc, pseudo int32, xDesc tensorDesc, wDesc filterDesc, w hostmem.Ptr, number int32, to filterDesc, at hostmem.Ptr) error {
	return t.piece(h, desc, pseudo, xDesc, wDesc, w, number, to, at, false)
}

// GetRNNLinLayerBiasParams tells where a bias is.
func (t *Thread) GetRNNLinLayerBiasParams(h Handle, desc rnnDesc, pseudo int32, xDesc tensorDesc, wDesc filterDesc, w hostmem.Ptr, number int32, to filterDesc, at hostmem.Ptr) error {
	return t.piece(h, desc, pseudo, xDesc, wDesc, w, number, to, at, true)
}
