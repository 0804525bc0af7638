package cudnn

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// Passes through networks by the calls from before cuDNN 8. Those without Ex have a tensor for every time; sequences are packed.

// stepped begins a pass over tensors of all times.
func (t *Thread) stepped(h Handle, desc rnnDesc, time int32, xDesc, yDesc hostmem.Ptr) *rnnCall {
	c := t.on(h)
	x, lengths := c.steps(time, xDesc)
	y, ends := c.steps(time, yDesc)
	r := &rnnCall{call: c, n: c.of(desc, x), s: packed(lengths, time)}
	c.need(slices.Equal(lengths, ends) && x.kind == y.kind, badParam, "inputs and results differ")
	c.need(c.err != nil || y.dim[1] == r.n.Dirs*r.n.Proj, badParam, "results of %v", y.dim)
	return r
}

// described begins a pass over sequences, which are packed unless the network allows gaps.
func (t *Thread) described(h Handle, desc rnnDesc, xDesc, yDesc rnnDataDesc) *rnnCall {
	c := t.on(h)
	x, y := take[sequences](c, xDesc), take[sequences](c, yDesc)
	c.need(x.batch > 0 && x.batch == y.batch && x.longest == y.longest && x.layout == y.layout && x.kind == y.kind, badParam, "inputs and results differ")
	gaps := take[network](c, desc).paddingMode == dnn.CUDNN_RNN_PADDED_IO_ENABLED
	c.need(gaps || x.layout == dnn.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, badParam, "layout %d without padding", x.layout)
	r := &rnnCall{call: c, n: c.of(desc, tensor{kind: x.kind, dim: []int64{int64(x.batch), int64(x.vector)}})}
	c.need(c.err != nil || int64(y.vector) == r.n.Dirs*r.n.Proj, badParam, "results of %d elements", y.vector)
	if c.err == nil {
		r.s = x.layoutOf()
		r.s.Fill = y.layoutOf().Fill
	}
	return r
}

// weighed checks a filter that stands for all weights.
func (c *rnnCall) weighed(h filterDesc, w hostmem.Ptr) *rnnCall {
	f := take[filter](c.call, h)
	c.need(c.err != nil || w != hostmem.Nil && f.dim != nil && count(f.dim) >= c.n.Weights() && elems[f.kind] == c.n.Type, badParam, "weights of %v", f.dim)
	return c
}

// space is memory of a program.
type space struct {
	at   hostmem.Ptr
	size uint64
}

func (c *rnnCall) forward(x, y hostmem.Ptr, states nn.RNNStates, w hostmem.Ptr, work, reserve space, train bool) error {
	c.need(x != hostmem.Nil && y != hostmem.Nil, badParam, "no memory")
	c.spaces(work.at, work.size, reserve.at, reserve.size, train)
	return c.run(func() error {
		return c.n.Forward(&c.Run, c.s, uint64(x), uint64(y), states, uint64(w), uint64(reserve.at))
	})
}

func (c *rnnCall) backward(dy, dx hostmem.Ptr, g nn.RNNGradients, w hostmem.Ptr, work, reserve space) error {
	c.need(dy != hostmem.Nil && dx != hostmem.Nil, badParam, "no memory")
	c.spaces(work.at, work.size, reserve.at, reserve.size, true)
	return c.run(func() error {
		return c.n.BackwardData(&c.Run, c.s, uint64(dy), uint64(dx), g, uint64(w), uint64(reserve.at))
	})
}

// gather adds to the gradients of the weights, as all older calls do.
func (c *rnnCall) gather(dw hostmem.Ptr, work, reserve space) error {
	c.spaces(work.at, work.size, reserve.at, reserve.size, true)
	return c.run(func() error { return c.n.BackwardWeights(&c.Run, c.s, uint64(dw), uint64(reserve.at), true) })
}

func statesOf(hx, cx, hy, cy hostmem.Ptr) nn.RNNStates {
	return nn.RNNStates{H: uint64(hx), C: uint64(cx), HOut: uint64(hy), COut: uint64(cy)}
}

func slopesOf(dhy, dcy, dhx, dcx hostmem.Ptr) nn.RNNGradients {
	return nn.RNNGradients{H: uint64(dhx), C: uint64(dcx), HOut: uint64(dhy), COut: uint64(dcy)}
}

// RNNForwardInference runs sequences through a network.
func (t *Thread) RNNForwardInference(h Handle, desc rnnDesc, time int32, xDesc, x hostmem.Ptr, hxDesc tensorDesc, hx hostmem.Ptr, cxDesc tensorDesc, cx hostmem.Ptr, wDesc filterDesc, w, yDesc, y hostmem.Ptr, hyDesc tensorDesc, hy hostmem.Ptr, cyDesc tensorDesc, cy, work hostmem.Ptr, size uint64) error {
	return t.stepped(h, desc, time, xDesc, yDesc).weighed(wDesc, w).forward(x, y, statesOf(hx, cx, hy, cy), w, space{work, size}, space{}, false)
}

// RNNForwardTraining keeps what the gradients need.
func (t *Thread) RNNForwardTraining(h Handle, desc rnnDesc, time int32, xDesc, x hostmem.Ptr, hxDesc tensorDesc, hx hostmem.Ptr, cxDesc tensorDesc, cx hostmem.Ptr, wDesc filterDesc, w, yDesc, y hostmem.Ptr, hyDesc tensorDesc, hy hostmem.Ptr, cyDesc tensorDesc, cy, work hostmem.Ptr, size uint64, reserve hostmem.Ptr, kept uint64) error {
	return t.stepped(h, desc, time, xDesc, yDesc).weighed(wDesc, w).forward(x, y, statesOf(hx, cx, hy, cy), w, space{work, size}, space{reserve, kept}, true)
}

// RNNBackwardData makes the gradients of inputs and states.
func (t *Thread) RNNBackwardData(h Handle, desc rnnDesc, time int32, yDesc, y, dyDesc, dy hostmem.Ptr, dhyDesc tensorDesc, dhy hostmem.Ptr, dcyDesc tensorDesc, dcy hostmem.Ptr, wDesc filterDesc, w hostmem.Ptr, hxDesc tensorDesc, hx hostmem.Ptr, cxDesc tensorDesc, cx, dxDesc, dx hostmem.Ptr, dhxDesc tensorDesc, dhx hostmem.Ptr, dcxDesc tensorDesc, dcx, work hostmem.Ptr, size uint64, reserve hostmem.Ptr, kept uint64) error {
	return t.stepped(h, desc, time, dxDesc, dyDesc).weighed(wDesc, w).backward(dy, dx, slopesOf(dhy, dcy, dhx, dcx), w, space{work, size}, space{reserve, kept})
}

// RNNBackwardWeights adds to the gradients of the weights.
func (t *Thread) RNNBackwardWeights(h Handle, desc rnnDesc, time int32, xDesc, x hostmem.Ptr, hxDesc tensorDesc, hx, yDesc, y, work hostmem.Ptr, size uint64, dwDesc filterDesc, dw, reserve hostmem.Ptr, kept uint64) error {
	return t.stepped(h, desc, time, xDesc, yDesc).weighed(dwDesc, dw).gather(dw, space{work, size}, space{reserve, kept})
}

// RNNForwardInferenceEx runs sequences through a network. The arguments of attention must be NULL, here and in the other calls.
func (t *Thread) RNNForwardInferenceEx(h Handle, desc rnnDesc, xDesc rnnDataDesc, x hostmem.Ptr, hxDesc tensorDesc, hx hostmem.Ptr, cxDesc tensorDesc, cx hostmem.Ptr, wDesc filterDesc, w hostmem.Ptr, yDesc rnnDataDesc, y hostmem.Ptr, hyDesc tensorDesc, hy hostmem.Ptr, cyDesc tensorDesc, cy hostmem.Ptr, kDesc rnnDataDesc, keys hostmem.Ptr, cDesc rnnDataDesc, cAttn hostmem.Ptr, iDesc rnnDataDesc, iAttn hostmem.Ptr, qDesc rnnDataDesc, queries, work hostmem.Ptr, size uint64) error {
	c := t.described(h, desc, xDesc, yDesc).weighed(wDesc, w)
	c.need(keys == hostmem.Nil && cAttn == hostmem.Nil && iAttn == hostmem.Nil && queries == hostmem.Nil, notSupported, "attention")
	return c.forward(x, y, statesOf(hx, cx, hy, cy), w, space{work, size}, space{}, false)
}

// RNNForwardTrainingEx keeps what the gradients need.
func (t *Thread) RNNForwardTrainingEx(h Handle, desc rnnDesc, xDesc rnnDataDesc, x hostmem.Ptr, hxDesc tensorDesc, hx hostmem.Ptr, cxDesc tensorDesc, cx hostmem.Ptr, wDesc filterDesc, w hostmem.Ptr, yDesc rnnDataDesc, y hostmem.Ptr, hyDesc tensorDesc, hy hostmem.Ptr, cyDesc tensorDesc, cy hostmem.Ptr, kDesc rnnDataDesc, keys hostmem.Ptr, cDesc rnnDataDesc, cAttn hostmem.Ptr, iDesc rnnDataDesc, iAttn hostmem.Ptr, qDesc rnnDataDesc, queries, work hostmem.Ptr, size uint64, reserve hostmem.Ptr, kept uint64) error {
	c := t.described(h, desc, xDesc, yDesc).weighed(wDesc, w)
	c.need(keys == hostmem.Nil && cAttn == hostmem.Nil && iAttn == hostmem.Nil && queries == hostmem.Nil, notSupported, "attention")
	return c.forward(x, y, statesOf(hx, cx, hy, cy), w, space{work, size}, space{reserve, kept}, true)
}

// RNNBackwardDataEx makes the gradients of inputs and states.
func (t *Thread) RNNBackwardDataEx(h Handle, desc rnnDesc, yDesc rnnDataDesc, y hostmem.Ptr, dyDesc rnnDataDesc, dy hostmem.Ptr, dcDesc rnnDataDesc, dcAttn hostmem.Ptr, dhyDesc tensorDesc, dhy hostmem.Ptr, dcyDesc tensorDesc, dcy hostmem.Ptr, wDesc filterDesc, w hostmem.Ptr, hxDesc tensorDesc, hx hostmem.Ptr, cxDesc tensorDesc, cx hostmem.Ptr, dxDesc rnnDataDesc, dx hostmem.Ptr, dhxDesc tensorDesc, dhx hostmem.Ptr, dcxDesc tensorDesc, dcx hostmem.Ptr, dkDesc rnnDataDesc, dkeys, work hostmem.Ptr, size uint64, reserve hostmem.Ptr, kept uint64) error {
	c := t.described(h, desc, dxDesc, dyDesc).weighed(wDesc, w)
	c.need(dcAttn == hostmem.Nil && dkeys == hostmem.Nil, notSupported, "attention")
	return c.backward(dy, dx, slopesOf(dhy, dcy, dhx, dcx), w, space{work, size}, space{reserve, kept})
}

// RNNBackwardWeightsEx adds to the gradients of the weights.
func (t *Thread) RNNBackwardWeightsEx(h Handle, desc rnnDesc, xDesc rnnDataDesc, x hostmem.Ptr, hxDesc tensorDesc, hx hostmem.Ptr, yDesc rnnDataDesc, y, work hostmem.Ptr, size uint64, dwDesc filterDesc, dw, reserve hostmem.Ptr, kept uint64) error {
	return t.described(h, desc, xDesc, yDesc).weighed(dwDesc, dw).gather(dw, space{work, size}, space{reserve, kept})
}
