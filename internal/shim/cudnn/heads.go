package cudnn

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// layer is the attention that a descriptor says.
func (v heads) layer() nn.Heads {
	h := nn.Heads{Type: elems[v.kind], N: int64(v.n), Scale: v.scale, Bias: v.mode&dnn.CUDNN_ATTN_ENABLE_PROJ_BIASES != 0}
	for i := range h.In {
		h.In[i] = int64(v.in[i])
	}
	for i := range h.Proj {
		h.Proj[i] = int64(v.proj[i])
	}
	return h
}

// largest are the sequences that a descriptor allows.
func (v heads) largest() (queries, keys nn.HeadRows) {
	queries = nn.HeadRows{Time: int64(v.longQ), Batch: int64(v.batch), Beams: int64(v.beam)}
	keys = nn.HeadRows{Time: int64(v.longK), Batch: int64(v.batch), Beams: int64(v.beam)}
	return queries, keys
}

// rows are the vectors of a descriptor, in the order of memory.
func (v seqData) rows() nn.HeadRows {
	width := v.dim[dnn.CUDNN_SEQDATA_VECT_DIM]
	return nn.HeadRows{Time: v.dim[dnn.CUDNN_SEQDATA_TIME_DIM], Batch: v.dim[dnn.CUDNN_SEQDATA_BATCH_DIM], Beams: v.dim[dnn.CUDNN_SEQDATA_BEAM_DIM],
		StepTime: v.stride(dnn.CUDNN_SEQDATA_TIME_DIM) / width, StepBatch: v.stride(dnn.CUDNN_SEQDATA_BATCH_DIM) / width,
		StepBeam: v.stride(dnn.CUDNN_SEQDATA_BEAM_DIM) / width}
}

// GetMultiHeadAttnBuffers is the memory that calls take, for the largest sequences.
func (t *Thread) GetMultiHeadAttnBuffers(h Handle, desc attnDesc) (weights, work, reserve uint64, err error) {
	c := t.on(h)
	v := take[heads](c, desc)
	c.need(v.n > 0, badParam, "attention that was never described")
	if c.err != nil {
		return 0, 0, 0, c.err
	}
	l := v.layer()
	q, k := v.largest()
	w, r := l.HeadsMemory(q, k)
	return uint64(l.Weights() * l.Type.Size()), uint64(w), uint64(r), nil
}

// GetMultiHeadAttnWeights describes one of the weights, and where it is; one that is not there has no address.
func (t *Thread) GetMultiHeadAttnWeights(h Handle, desc attnDesc, kind dnn.CudnnMultiHeadAttnWeightKind_t, size uint64, weights hostmem.Ptr, wDesc tensorDesc, at hostmem.Ptr) error {
	c := t.on(h)
	v := take[heads](c, desc)
	c.need(known(kind, dnn.CUDNN_MH_ATTN_O_BIASES) && at != hostmem.Nil && v.n > 0, badParam, "weight %d, or no place for its address", kind)
	take[tensor](c, wDesc)
	if c.err != nil {
		return c.err
	}
	l := v.layer()
	w := l.Weight(int(kind))
	if w.Dim[0] == 0 {
		hostmem.Store(at, uint64(0))
		return nil
	}
	c.need(size >= uint64(l.Weights()*l.Type.Size()), badParam, "%d bytes of weights", size)
	return c.run(func() error {
		address := uint64(0)
		if weights != hostmem.Nil {
			address = uint64(weights) + uint64(w.At*l.Type.Size())
		}
		hostmem.Store(at, address)
		return set(wDesc, tensor{kind: v.kind, dim: w.Dim[:], stride: w.Stride[:]})
	})
}

// headsCall is what the calls of attention have in common.
type headsCall struct {
	*call
	n nn.HeadsRun
}

// sequenced begins a call on sequences of queries, keys, values and results.
func (t *Thread) sequenced(h Handle, desc attnDesc, q, k, v, o seqDataDesc, weightSize uint64, weights hostmem.Ptr) *headsCall {
	c := &headsCall{call: t.on(h)}
	a := take[heads](c.call, desc)
	var s [4]seqData
	for i, d := range []seqDataDesc{q, k, v, o} {
		s[i] = take[seqData](c.call, d)
		c.need(c.err != nil || s[i].dim != nil && s[i].kind == a.kind, badParam, "sequences that were never described, or of another type")
	}
	if c.err != nil {
		return c
	}
	l := a.layer()
	for i, width := range []int64{l.In[0], l.In[1], l.In[2], l.Out()} {
		c.need(s[i].dim[dnn.CUDNN_SEQDATA_VECT_DIM] == width, badParam, "vectors of %d, not %d", s[i].dim[dnn.CUDNN_SEQDATA_VECT_DIM], width)
	}
	rows := [4]nn.HeadRows{s[0].rows(), s[1].rows(), s[2].rows(), s[3].rows()}
	most, mostKeys := a.largest()
	c.need(rows[0] == rows[3] && rows[1] == rows[2] && rows[0].Batch == rows[1].Batch, badParam, "sequences of different sizes or orders")
	c.need(rows[1].Beams == 1 || rows[1].Beams == rows[0].Beams, badParam, "%d beams of keys", rows[1].Beams)
	c.need(rows[0].Time <= most.Time && rows[0].Batch <= most.Batch && rows[0].Beams <= most.Beams && rows[1].Time <= mostKeys.Time, badParam, "sequences that are larger than the descriptor allows")
	c.need(weightSize >= uint64(l.Weights()*l.Type.Size()) && (weights != hostmem.Nil || l.Weights() == 0), badParam, "%d bytes of weights", weightSize)
	c.n = nn.HeadsRun{Heads: l, Run: &c.Run, Queries: rows[0], Keys: rows[1], Only: -1, WeightsAt: uint64(weights)}
	for _, d := range []dropoutDesc{a.drop, a.dropPost} {
		if d != 0 {
			c.need(take[dropping](c.call, d).rate == 0, notSupported, "dropout in attention of several heads")
		}
	}
	return c
}

// seen are the windows and the lengths.
func (c *headsCall) seen(from, to, queryLength, keyLength hostmem.Ptr) {
	if c.err != nil {
		return
	}
	var err error
	if c.n.From, err = ints(from, int32(c.n.Queries.Time)); err == nil {
		c.n.To, err = ints(to, int32(c.n.Queries.Time))
	}
	c.fail(err)
	c.need(queryLength != hostmem.Nil && keyLength != hostmem.Nil, badParam, "no lengths")
	c.n.QueryLength, c.n.KeyLength = uint64(queryLength), uint64(keyLength)
}

// spaces are the program's memory.
func (c *headsCall) spaces(work hostmem.Ptr, workSize uint64, reserve hostmem.Ptr, reserveSize uint64, kept bool) {
	if c.err != nil {
		return
	}
	w, r := c.n.HeadsMemory(c.n.Queries, c.n.Keys)
	if kept {
		w -= r
	}
	c.need(work != hostmem.Nil && workSize >= uint64(w), badParam, "%d bytes of workspace, not %d", workSize, w)
	c.need(!kept || reserve != hostmem.Nil && reserveSize >= uint64(r), badParam, "%d bytes of reserve, not %d", reserveSize, r)
	c.n.WorkSpace = uint64(work)
	if kept {
		c.n.ReserveSpace = uint64(reserve)
	}
}

func anyNil(p ...hostmem.Ptr) bool { return slices.Contains(p, hostmem.Nil) }

// MultiHeadAttnForward makes the result; with a reserve for gradients of it.
func (t *Thread) MultiHeadAttnForward(h Handle, desc attnDesc, only int32, from, to, queryLength, keyLength hostmem.Ptr, qDesc seqDataDesc, q, residual hostmem.Ptr, kDesc seqDataDesc, k hostmem.Ptr, vDesc seqDataDesc, v hostmem.Ptr, oDesc seqDataDesc, o hostmem.Ptr, weightSize uint64, weights hostmem.Ptr, workSize uint64, work hostmem.Ptr, reserveSize uint64, reserve hostmem.Ptr) error {
	c := t.sequenced(h, desc, qDesc, kDesc, vDesc, oDesc, weightSize, weights)
	c.need(!anyNil(q, k, v, o), badParam, "no memory")
	c.seen(from, to, queryLength, keyLength)
	train := reserve != hostmem.Nil && reserveSize > 0
	c.spaces(work, workSize, reserve, reserveSize, train)
	c.need(only < 0 || !train && int64(only) < c.n.Queries.Time, badParam, "step %d of %d", only, c.n.Queries.Time)
	c.n.Only = int64(max(only, -1))
	return c.run(func() error {
		return c.n.Forward([3]uint64{uint64(q), uint64(k), uint64(v)}, uint64(residual), uint64(o))
	})
}

// MultiHeadAttnBackwardData makes the gradients of queries, keys and values.
func (t *Thread) MultiHeadAttnBackwardData(h Handle, desc attnDesc, from, to, queryLength, keyLength hostmem.Ptr, oDesc seqDataDesc, dout hostmem.Ptr, qDesc seqDataDesc, dq, q hostmem.Ptr, kDesc seqDataDesc, dk, k hostmem.Ptr, vDesc seqDataDesc, dv, v hostmem.Ptr, weightSize uint64, weights hostmem.Ptr, workSize uint64, work hostmem.Ptr, reserveSize uint64, reserve hostmem.Ptr) error {
	c := t.sequenced(h, desc, qDesc, kDesc, vDesc, oDesc, weightSize, weights)
	c.need(!anyNil(dout, q, k, v, dq, dk, dv), badParam, "no memory")
	c.seen(from, to, queryLength, keyLength)
	c.spaces(work, workSize, reserve, reserveSize, true)
	return c.run(func() error {
		return c.n.BackwardData(uint64(dout), [3]uint64{uint64(q), uint64(k), uint64(v)}, [3]uint64{uint64(dq), uint64(dk), uint64(dv)})
	})
}

// MultiHeadAttnBackwardWeights makes the gradients of the weights, of what MultiHeadAttnBackwardData left in the reserve.
func (t *Thread) MultiHeadAttnBackwardWeights(h Handle, desc attnDesc, add dnn.CudnnWgradMode_t, qDesc seqDataDesc, q hostmem.Ptr, kDesc seqDataDesc, k hostmem.Ptr, vDesc seqDataDesc, v hostmem.Ptr, oDesc seqDataDesc, dout hostmem.Ptr, weightSize uint64, weights, dw hostmem.Ptr, workSize uint64, work hostmem.Ptr, reserveSize uint64, reserve hostmem.Ptr) error {
	c := t.sequenced(h, desc, qDesc, kDesc, vDesc, oDesc, weightSize, weights)
	c.need(known(add, dnn.CUDNN_WGRAD_MODE_SET) && !anyNil(q, k, v, dw), badParam, "mode %d, or no memory", add)
	c.spaces(work, workSize, reserve, reserveSize, true)
	return c.run(func() error {
		return c.n.BackwardWeights([3]uint64{uint64(q), uint64(k), uint64(v)}, uint64(dw), add == dnn.CUDNN_WGRAD_MODE_ADD)
	})
}
