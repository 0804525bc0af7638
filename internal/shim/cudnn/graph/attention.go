package graph

import (
	"slices"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// attentionAttrs are attributes of attention that change what is computed, and that nothing here does.
var attentionAttrs = map[Kind][]Attr{
	dnn.CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR: {dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_BLOCK_MASK_DESC, dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_KDESC,
		dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_VDESC, dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH, dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SOFTMAX_DESC,
		dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_CU_SEQ_LEN_QDESC, dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_CU_SEQ_LEN_KVDESC, dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_QDESC,
		dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_SEED_DESC, dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_PROBABILITY},
	dnn.CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR: {dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_SINK_DESC, dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DSINK_DESC, dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_SUBGRAPH},
}

// attentionTensors are those of an attention or its gradients, by what they are.
type attentionTensors struct{ q, k, v, o, stats, scale, seqQ, seqKV, dq, dk, dv, do *tensor }

func attentionOf(o *operation) attentionTensors {
	g := o.g
	if o.kind == dnn.CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR {
		return attentionTensors{q: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC), k: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC), v: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC),
			o: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC), stats: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC), scale: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC),
			seqQ: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC), seqKV: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC)}
	}
	return attentionTensors{q: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC), k: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC), v: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC),
		o: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_ODESC), stats: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_STATSDESC), scale: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_SCALEDESC),
		seqQ: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_SEQ_LEN_QDESC), seqKV: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_SEQ_LEN_KVDESC), dq: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DQDESC),
		dk: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DKDESC), dv: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DVDESC), do: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DODDESC)}
}

func checkAttention(o *operation) error {
	for _, a := range attentionAttrs[o.kind] {
		if _, ok := o.g[a]; ok {
			return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "an attention with attribute %d", a)
		}
	}
	t := attentionOf(o)
	if len(t.q.dim) != 4 || len(t.k.dim) != 4 || len(t.v.dim) != 4 || t.k.dim[0] != t.q.dim[0] || t.v.dim[0] != t.q.dim[0] || t.k.dim[3] != t.q.dim[3] || t.v.dim[2] != t.k.dim[2] ||
		t.q.dim[1]%t.k.dim[1] != 0 || !slices.Equal(t.o.dim, []int64{t.q.dim[0], t.q.dim[1], t.q.dim[2], t.v.dim[3]}) {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "an attention of %v, %v and %v to %v", t.q.dim, t.k.dim, t.v.dim, t.o.dim)
	}
	for _, x := range []*tensor{t.q, t.k, t.v, t.o} {
		if x.elem != nn.F32 && x.elem != nn.F16 && x.elem != nn.BF16 {
			return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "an attention of %v", x.elem)
		}
		if x.ragged != nil && (x.unit != 1 || x.ragged.elem != nn.S32 && x.ragged.elem != nn.S64) {
			return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "sequences that begin at multiples of %d %v", x.unit, x.ragged.elem)
		}
	}
	if t.scale != nil && !t.scale.byValue || t.k.dim[1] != t.v.dim[1] {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "an attention whose scale is on the device, or with other heads of values than of keys")
	}
	for _, x := range []*tensor{t.seqQ, t.seqKV} {
		if x != nil && x.elem != nn.S32 {
			return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "lengths of type %v", x.elem)
		}
	}
	return nil
}

func runAttention(x *exec, o *operation) error {
	t := attentionOf(o)
	of := func(t *tensor) nn.Tensor {
		if t == nil {
			return nn.Tensor{}
		}
		return x.tensor(t)
	}
	ragged := func(t *tensor) nn.Ragged {
		if t == nil || t.ragged == nil {
			return nn.Ragged{}
		}
		return nn.Ragged{At: x.tensor(t.ragged).Addr, Wide: t.ragged.elem == nn.S64}
	}
	a := nn.Attention{Scale: 1, SeqQ: of(t.seqQ).Addr, SeqKV: of(t.seqKV).Addr, RaggedQ: ragged(t.q), RaggedK: ragged(t.k), RaggedV: ragged(t.v), RaggedO: ragged(t.o), RaggedStats: ragged(t.stats)}
	if t.scale != nil {
		a.Scale = x.number(t.scale)
	}
	if t.dq == nil {
		return x.Attention(a, of(t.q), of(t.k), of(t.v), of(t.o), of(t.stats))
	}
	return x.AttentionBackward(a, of(t.q), of(t.k), of(t.v), of(t.do), of(t.stats), nn.Gradients{Q: of(t.dq), K: of(t.dk), V: of(t.dv)})
}
