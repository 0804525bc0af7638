package graph

import (
	"slices"

	"kudzu/internal/spec/dnn"
)

// composition finds attentions that a program gives as single operations: Q Kᵀ, what is done to the scores, a softmax, and the
// product with V; and their gradients. The kernels of attention do them at once, without scores in memory for all heads.
type composition struct {
	writer map[int64]*operation
	reader map[int64][]*operation
}

// composed are operations with an attention in place of those that it is made of.
func composed(ops []*operation) []*operation {
	if slices.ContainsFunc(ops, func(o *operation) bool { return o.refused != nil }) {
		return ops // such a graph does not run, and its operations may lack attributes
	}
	c := composition{map[int64]*operation{}, map[int64][]*operation{}}
	for _, o := range ops {
		for _, t := range o.out {
			c.writer[t.uid] = o
		}
		for _, t := range o.in {
			c.reader[t.uid] = append(c.reader[t.uid], o)
		}
	}
	for _, o := range ops {
		find := c.attention
		switch {
		case isPoint(dnn.CUDNN_POINTWISE_EXP)(o):
			find = c.gradients
		case o.kind != dnn.CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR:
			continue
		}
		if whole, parts := find(o); whole != nil {
			at := slices.Index(ops, o)
			ops = slices.Clone(ops)
			ops[at] = whole
			ops = slices.DeleteFunc(ops, func(p *operation) bool { return slices.Contains(parts, p) })
		}
	}
	return ops
}

// inner reports a tensor that only one operation reads and no program sees, and that operation.
func (c *composition) inner(t *tensor) (*operation, bool) {
	if !t.virtual || len(c.reader[t.uid]) != 1 {
		return nil, false
	}
	return c.reader[t.uid][0], true
}

// plainProduct reports a product of all of its tensors in f32.
func plainProduct(o *operation) bool {
	return o != nil && o.kind == dnn.CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR && len(o.in) == 2 && o.refused == nil &&
		dnn.CudnnDataType_t(given(o.g.ref(dnn.CUDNN_ATTR_OPERATION_MATMUL_DESC).values).whole(dnn.CUDNN_ATTR_MATMUL_COMP_TYPE, 0)) == dnn.CUDNN_DATA_FLOAT
}

// attention is the attention whose softmax this is, and what else it is made of; nil where it is none, or one that the kernels do not do.
func (c *composition) attention(softmax *operation) (*operation, []*operation) {
	p := softmax.g.tensor(dnn.CUDNN_ATTR_OPERATION_SOFTMAX_YDESC)
	last, ok := c.inner(p)
	if !ok || !plainProduct(last) || last.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_ADESC).uid != p.uid || softmax.g.hasAny(softmaxExtras) {
		return nil, nil
	}
	parts, first := c.changesOf(softmax.g.tensor(dnn.CUDNN_ATTR_OPERATION_SOFTMAX_XDESC))
	changes := parts
	if !plainProduct(first) {
		return nil, nil
	}
	q, v := first.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_ADESC), last.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC)
	k := turned(first.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC))
	at := first.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_CDESC)
	scale := (*tensor)(nil)
	if len(changes) > 0 {
		if scale = factor(changes[0], at); scale != nil {
			at, changes = changes[0].out[0], changes[1:]
		}
	}
	out := last.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_CDESC)
	stats := softmax.g.tensor(dnn.CUDNN_ATTR_OPERATION_SOFTMAX_STATS_DESC)
	for _, t := range []*tensor{q, k, v, out, stats} {
		if t != nil && (t.virtual || t.ragged != nil || len(t.dim) != 4) {
			return nil, nil
		}
	}
	d, extra := &direct{}, []*tensor{}
	for _, m := range changes {
		if !d.take(m, attentionTensors{q: q, k: k, v: v, o: out, stats: stats}, at.uid) {
			return nil, nil
		}
		at = m.out[0]
		extra = append(extra, slices.DeleteFunc(slices.Clone(m.in), func(t *tensor) bool { return t.virtual })...)
	}
	if v.dim[1] != k.dim[1] || q.dim[1]%k.dim[1] != 0 || q.dim[0] != k.dim[0] || q.dim[0] != v.dim[0] {
		return nil, nil
	}
	whole, err := buildOperation(dnn.CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, collect([]with{
		{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, the(q)}, {dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, the(k)}, {dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, the(v)},
		{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, the(out)}, {dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC, the(stats)}, {dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, the(scale)}}))
	if err != nil || whole.direct == nil {
		return nil, nil // the single operations may do what the whole one refuses
	}
	whole.direct = d
	whole.in = append(whole.in, extra...)
	return whole, append(parts, first, last)
}

// changesOf are the operations that make scores of a product, in their order, and who writes what the first of them reads.
func (c *composition) changesOf(t *tensor) (ops []*operation, first *operation) {
	for {
		if _, ok := c.inner(t); !ok {
			return nil, nil
		}
		o := c.writer[t.uid]
		if o == nil || len(o.out) != 1 || o.kind == dnn.CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR {
			slices.Reverse(ops)
			return ops, o
		}
		ops = append(ops, o)
		i := slices.IndexFunc(o.in, func(t *tensor) bool { return t.virtual })
		if i < 0 || len(ops) > maxChanges {
			return nil, nil
		}
		t = o.in[i]
	}
}

// maxChanges is more operations than any attention has that the kernels do.
const maxChanges = 8

// factor is the number that an operation multiplies the scores with, or nil.
func factor(o *operation, scores *tensor) *tensor {
	if o.kind != dnn.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR || pointMode(o) != dnn.CUDNN_POINTWISE_MUL || o.g.float(alphas[0], 1) != 1 || o.g.float(alphas[1], 1) != 1 {
		return nil
	}
	args := pointArgs(o)
	for i, t := range args {
		if t.byValue && args[1-i].uid == scores.uid {
			return t
		}
	}
	return nil
}
