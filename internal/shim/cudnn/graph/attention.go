package graph

import (
	"slices"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// attentionTensors are those of an attention or its gradients, by what they are.
type attentionTensors struct{ q, k, v, o, stats, scale, seqQ, seqKV, dq, dk, dv, do *tensor }

func attentionOf(o *operation) attentionTensors {
	g := o.g
	if o.kind == dnn.CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR {
		t := attentionTensors{q: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC), k: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC), v: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC),
			o: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC), stats: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC), scale: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC),
			seqQ: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC), seqKV: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC)}
		if s := softmaxOf(o); s != nil && t.stats == nil {
			t.stats = s.g.tensor(dnn.CUDNN_ATTR_OPERATION_SOFTMAX_STATS_DESC)
		}
		return t
	}
	return attentionTensors{q: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC), k: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC), v: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC),
		o: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_ODESC), stats: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_STATSDESC), scale: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_SCALEDESC),
		seqQ: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_SEQ_LEN_QDESC), seqKV: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_SEQ_LEN_KVDESC), dq: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DQDESC),
		dk: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DKDESC), dv: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DVDESC), do: g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DODDESC)}
}

// softmaxOf is the softmax that an attention has of its own, or nil.
func softmaxOf(o *operation) *operation {
	if d := o.g.ref(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SOFTMAX_DESC); d != nil {
		return d.made.(*operation)
	}
	return nil
}

// modifierOf are the operations that an attention applies to its scores, and their tensors of the scores before and after.
func modifierOf(o *operation) (ops []*operation, from, to int64) {
	if d := o.g.ref(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH); d != nil {
		ops = d.made.(*graph).ops
	}
	return ops, o.g.whole(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_INPUT_UID, 0), o.g.whole(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_OUTPUT_UID, 0)
}

// undoneAttrs are attributes of attention that nothing here does.
var undoneAttrs = []Attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_BLOCK_MASK_DESC, dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_SINK_DESC, dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DSINK_DESC, dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_SUBGRAPH}

// expandedAttrs are attributes that the kernels of attention do not know: the attention is then made of other operations.
var expandedAttrs = []Attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_KDESC, dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_VDESC, dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_CU_SEQ_LEN_QDESC,
	dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_CU_SEQ_LEN_KVDESC, dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_PROBABILITY, dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_QDESC,
	dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_KDESC, dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_VDESC, dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_SDESC,
	dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SCALE_SDESC, dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SCALE_ODESC, dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_AMAX_SDESC, dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_AMAX_ODESC}

// softmaxExtras are attributes of a softmax that the kernels of attention do not know.
var softmaxExtras = []Attr{dnn.CUDNN_ATTR_OPERATION_SOFTMAX_MAX_DESC, dnn.CUDNN_ATTR_OPERATION_SOFTMAX_SUM_EXP_DESC, dnn.CUDNN_ATTR_OPERATION_SOFTMAX_SINK_DESC, dnn.CUDNN_ATTR_OPERATION_SOFTMAX_STATS_LOG2}

func (g given) hasAny(attrs []Attr) bool {
	return slices.ContainsFunc(attrs, func(a Attr) bool { _, ok := g[a]; return ok })
}

func checkAttention(o *operation) error {
	if o.g.hasAny(undoneAttrs) {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "an attention with blocks that are masked, or gradients of a changed one")
	}
	t := attentionOf(o)
	tableK, tableV := o.g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_KDESC), o.g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_VDESC)
	for _, table := range []*tensor{tableK, tableV} {
		if table != nil && len(table.dim) != 4 {
			return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a page table of sizes %v", table.dim)
		}
	}
	pagedK, pagedV := tableK != nil, tableV != nil
	if len(t.q.dim) != 4 || len(t.k.dim) != 4 || len(t.v.dim) != 4 || t.k.dim[3] != t.q.dim[3] || !pagedK && t.k.dim[0] != t.q.dim[0] || !pagedV && t.v.dim[0] != t.q.dim[0] ||
		!pagedK && !pagedV && t.v.dim[2] != t.k.dim[2] || t.q.dim[1]%t.k.dim[1] != 0 || t.q.dim[1]%t.v.dim[1] != 0 || !slices.Equal(t.o.dim, []int64{t.q.dim[0], t.q.dim[1], t.q.dim[2], t.v.dim[3]}) {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "an attention of %v, %v and %v to %v", t.q.dim, t.k.dim, t.v.dim, t.o.dim)
	}
	for _, x := range []*tensor{t.seqQ, t.seqKV} {
		if x != nil && x.elem != nn.S32 {
			return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "lengths of type %v", x.elem)
		}
	}
	direct, ok := directly(o, t)
	switch {
	case ok:
		o.direct = direct
		if direct.bias != nil {
			o.in = append(o.in, direct.bias)
		}
		if t.stats != nil && !slices.Contains(o.in, t.stats) && !slices.Contains(o.out, t.stats) {
			o.out = append(o.out, t.stats)
		}
	case o.kind == dnn.CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR:
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "gradients of an attention of %v, %v and %v", t.q.elem, t.k.elem, t.v.elem)
	default:
		o.apart = true
	}
	return nil
}

// direct is an attention that the kernels do at once: what is added to the scores, and which of them are seen.
type direct struct {
	bias        *tensor
	left, right func(x *exec) int64 // nil: no bound
	bottomRight bool
	delta       *tensor // of gradients: the sums of each row of dO O, where the graph has them
}

// directly reports whether the kernels do an attention.
func directly(o *operation, t attentionTensors) (*direct, bool) {
	for _, x := range []*tensor{t.q, t.k, t.v, t.o} {
		if x.elem != nn.F32 && x.elem != nn.F16 && x.elem != nn.BF16 {
			return nil, false
		}
	}
	if s := softmaxOf(o); s != nil && s.g.hasAny(softmaxExtras) {
		return nil, false
	}
	if o.g.hasAny(expandedAttrs) || t.scale != nil && !t.scale.byValue || t.k.dim[1] != t.v.dim[1] {
		return nil, false
	}
	for _, x := range []*tensor{t.q, t.k, t.v, t.o, t.stats} {
		if x != nil && x.ragged != nil && (x.unit != 1 || t.seqQ == nil || t.seqKV == nil) {
			return nil, false
		}
	}
	d := &direct{}
	ops, at, end := modifierOf(o)
	for _, m := range ops {
		if len(m.in) == 0 || !slices.ContainsFunc(m.in, func(x *tensor) bool { return x.uid == at }) || !d.take(m, t, at) {
			return nil, false
		}
		at = m.out[0].uid
	}
	return d, at == end
}

// take adds an operation on the scores, if it is a bias or a bound.
func (d *direct) take(m *operation, t attentionTensors, at int64) bool {
	switch m.kind {
	case dnn.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
		args := pointArgs(m)
		if pointMode(m) != dnn.CUDNN_POINTWISE_ADD || d.bias != nil || m.g.float(dnn.CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1) != 1 || m.g.float(dnn.CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1) != 1 {
			return false
		}
		i := slices.IndexFunc(args, func(x *tensor) bool { return x.uid != at })
		if i < 0 || args[1-i].uid != at || args[i].virtual || args[i].byValue || len(args[i].dim) != 4 || args[i].ragged != nil {
			return false
		}
		d.bias = args[i]
		return true
	case dnn.CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR:
		return m.g.tensor(dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_XDESC).uid == at && d.bound(m, t)
	}
	return false
}

// bound takes a band mask, whose lengths are those of the attention, or numbers.
func (d *direct) bound(m *operation, t attentionTensors) bool {
	if m.g.hasAny([]Attr{bandLengths[0].sums, bandLengths[1].sums}) {
		return false
	}
	keys, queries := m.g.tensor(bandLengths[0].length), m.g.tensor(bandLengths[1].length)
	left, shift := m.g.tensor(dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_LEFT_BOUND_DESC), m.g.tensor(dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SHIFT_RIGHT_BOUND_DESC)
	corner := keys != nil && queries != nil && !keys.byValue
	if corner != (t.seqKV != nil && keys == t.seqKV && queries == t.seqQ) && corner || d.bottomRight != corner && (d.left != nil || d.right != nil) {
		return false
	}
	numbers := []*tensor{left, shift}
	if !corner {
		numbers = append(numbers, keys, queries)
	}
	if slices.ContainsFunc(numbers, func(n *tensor) bool { return n != nil && !n.byValue }) {
		return false
	}
	d.bottomRight = corner
	mode := bandMode(m)
	of := func(x *exec, n *tensor) int64 {
		if n == nil || corner && (n == keys || n == queries) {
			return 0
		}
		return int64(x.number(n))
	}
	switch {
	case left != nil && d.left == nil && mode == dnn.CUDNN_POINTWISE_CMP_GT:
		d.left = func(x *exec) int64 { return of(x, left) - of(x, keys) + of(x, queries) }
	case left == nil && d.right == nil && mode == dnn.CUDNN_POINTWISE_CMP_GE:
		d.right = func(x *exec) int64 { return of(x, shift) + of(x, keys) - of(x, queries) }
	default:
		return false
	}
	return true
}

func runAttention(x *exec, o *operation) error {
	t := attentionOf(o)
	of := func(t *tensor) nn.Tensor {
		if t == nil {
			return nn.Tensor{}
		}
		if t.ragged != nil {
			return x.lying(t)
		}
		return x.tensor(t)
	}
	ragged := func(t *tensor) nn.Ragged {
		if t == nil || t.ragged == nil {
			return nn.Ragged{}
		}
		return nn.Ragged{At: x.lying(t.ragged).Addr, Wide: t.ragged.elem == nn.S64}
	}
	a := nn.Attention{Scale: 1, SeqQ: of(t.seqQ).Addr, SeqKV: of(t.seqKV).Addr, RaggedQ: ragged(t.q), RaggedK: ragged(t.k), RaggedV: ragged(t.v), RaggedO: ragged(t.o), RaggedStats: ragged(t.stats),
		Bias: of(o.direct.bias), BottomRight: o.direct.bottomRight, Delta: of(o.direct.delta), HasLeft: o.direct.left != nil, HasRight: o.direct.right != nil}
	if t.scale != nil {
		a.Scale = x.number(t.scale)
	}
	if a.HasLeft {
		a.Left = o.direct.left(x)
	}
	if a.HasRight {
		a.Right = o.direct.right(x)
	}
	if t.dq == nil {
		return x.Attention(a, of(t.q), of(t.k), of(t.v), of(t.o), of(t.stats))
	}
	return x.AttentionBackward(a, of(t.q), of(t.k), of(t.v), of(t.do), of(t.stats), nn.Gradients{Q: of(t.dq), K: of(t.dk), V: of(t.dv)})
}
