package graph

import (
	"math"
	"slices"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// attention adds an attention as products, what is done to the scores, and a softmax.
func (e *expansion) attention(o *operation) {
	g, t := o.g, attentionOf(o)
	k, v := e.paged(o, t.k, dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_KDESC), e.paged(o, t.v, dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_VDESC)
	keys := min(k.dim[2], v.dim[2])
	if k.dim[2] != keys || v.dim[2] != keys {
		e.err = fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "%d keys and %d values", k.dim[2], v.dim[2])
		return
	}
	seqQ, seqKV := e.lengths(t.seqQ, g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_CU_SEQ_LEN_QDESC)), e.lengths(t.seqKV, g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_CU_SEQ_LEN_KVDESC))
	scores := []int64{t.q.dim[0], t.q.dim[1], t.q.dim[2], keys}
	s := between(nn.F32, scores...)
	e.matmul(t.q, turned(k), s, nil, nil)
	by := []*tensor{t.scale, g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_QDESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_KDESC)}
	s = e.times(s, between(nn.F32, scores...), by...)
	s = e.modified(o, s)
	s = e.padded(s, seqQ, seqKV)
	p := e.softmaxed(o, t.stats, s)
	p = e.dropped(g, p)
	e.most(p, g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_AMAX_SDESC))
	if t.q.elem.Size() == 1 {
		p = e.times(p, between(t.q.elem, scores...), orOne(g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SCALE_SDESC)))
	}
	descale := []*tensor{g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_SDESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_VDESC)}
	amax, scale := g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_AMAX_ODESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SCALE_ODESC)
	if amax == nil && scale == nil && descale[0] == nil && descale[1] == nil {
		e.matmul(p, v, t.o, seqQ, seqKV)
		return
	}
	out := between(nn.F32, t.o.dim...)
	e.matmul(p, v, out, seqQ, seqKV)
	out = e.times(out, between(nn.F32, t.o.dim...), descale...)
	e.most(out, amax)
	e.point(dnn.CUDNN_POINTWISE_MUL, t.o, out, orOne(scale))
}

// turned is a tensor with its last two sides exchanged.
func turned(t *tensor) *tensor {
	u := *t
	u.dim, u.stride = swapped(t.dim), swapped(t.stride)
	u.turned = !t.turned
	return &u
}

func swapped(list []int64) []int64 {
	out := slices.Clone(list)
	n := len(out)
	out[n-2], out[n-1] = out[n-1], out[n-2]
	return out
}

func orOne(t *tensor) *tensor {
	if t == nil {
		return number(nn.F32, 4, 1)
	}
	return t
}

// times adds products with numbers, of which some may be missing. The last is what to is.
func (e *expansion) times(x, to *tensor, by ...*tensor) *tensor {
	by = slices.DeleteFunc(by, func(t *tensor) bool { return t == nil })
	for i, b := range by {
		y := to
		if i < len(by)-1 {
			y = between(nn.F32, to.dim...)
		}
		x = e.point(dnn.CUDNN_POINTWISE_MUL, y, x, b)
	}
	return x
}

// modified adds what an attention does to its scores.
func (e *expansion) modified(o *operation, s *tensor) *tensor {
	ops, from, to := modifierOf(o)
	if len(ops) == 0 {
		return s
	}
	in := *s
	in.uid = from
	e.point(dnn.CUDNN_POINTWISE_IDENTITY, &in, s)
	for _, m := range ops {
		e.ops = append(e.ops, m)
		for _, y := range m.out {
			if y.uid == to {
				s = y
			}
		}
	}
	return s
}

// lengths are those of sequences, of which perhaps the sums are given.
func (e *expansion) lengths(t, sums *tensor) *tensor {
	if sums == nil {
		return t
	}
	n := sums.dim[0] - 1
	at := func(i int64) *tensor {
		part := between(sums.elem, append([]int64{n}, sums.dim[1:]...)...)
		start := make([]int64, len(sums.dim))
		start[0] = i
		limit := slices.Clone(sums.dim)
		limit[0] = i + n
		e.add(dnn.CUDNN_BACKEND_OPERATION_SLICE_DESCRIPTOR, with{dnn.CUDNN_ATTR_OPERATION_SLICE_XDESC, the(sums)}, with{dnn.CUDNN_ATTR_OPERATION_SLICE_YDESC, the(part)},
			with{dnn.CUDNN_ATTR_OPERATION_SLICE_START_INDICES, value{wholes: start}}, with{dnn.CUDNN_ATTR_OPERATION_SLICE_LIMIT_INDICES, value{wholes: limit}})
		return part
	}
	return e.point(dnn.CUDNN_POINTWISE_SUB, between(nn.S32, append([]int64{n}, sums.dim[1:]...)...), at(1), at(0))
}

// padded adds that what is past the end of a sequence is not seen.
func (e *expansion) padded(s, seqQ, seqKV *tensor) *tensor {
	for i, n := range []*tensor{seqQ, seqKV} {
		if n == nil {
			continue
		}
		index := e.pointAlong(dnn.CUDNN_POINTWISE_GEN_INDEX, 2+i, between(nn.S32, s.dim...), s)
		inside := e.point(dnn.CUDNN_POINTWISE_CMP_LT, between(nn.Bool, s.dim...), index, n)
		s = e.point(dnn.CUDNN_POINTWISE_BINARY_SELECT, between(nn.F32, s.dim...), s, number(nn.F32, 4, math.Inf(-1)), inside)
	}
	return s
}

// softmaxed adds the softmax of an attention.
func (e *expansion) softmaxed(o *operation, stats, s *tensor) *tensor {
	p := between(nn.F32, s.dim...)
	attrs := []with{{dnn.CUDNN_ATTR_OPERATION_SOFTMAX_XDESC, the(s)}, {dnn.CUDNN_ATTR_OPERATION_SOFTMAX_YDESC, the(p)}, {dnn.CUDNN_ATTR_OPERATION_SOFTMAX_STATS_DESC, the(stats)}}
	if own := softmaxOf(o); own != nil {
		for _, a := range []Attr{dnn.CUDNN_ATTR_OPERATION_SOFTMAX_MAX_DESC, dnn.CUDNN_ATTR_OPERATION_SOFTMAX_SUM_EXP_DESC, dnn.CUDNN_ATTR_OPERATION_SOFTMAX_SINK_DESC, dnn.CUDNN_ATTR_OPERATION_SOFTMAX_STATS_LOG2} {
			if v, ok := own.g[a]; ok {
				attrs = append(attrs, with{a, v})
			}
		}
	}
	e.add(dnn.CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR, attrs...)
	return p
}

// dropped adds the dropout of an attention.
func (e *expansion) dropped(g given, p *tensor) *tensor {
	probability := g.float(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_PROBABILITY, 0)
	if probability == 0 {
		return p
	}
	mask := g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_RNG_DUMP_DESC)
	if mask == nil {
		mask = between(nn.F32, p.dim...)
	}
	e.add(dnn.CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR, with{dnn.CUDNN_ATTR_OPERATION_RNG_YDESC, the(mask)},
		with{dnn.CUDNN_ATTR_OPERATION_RNG_SEED, the(g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_SEED_DESC))},
		with{dnn.CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC, the(g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_OFFSET_DESC))},
		with{dnn.CUDNN_ATTR_OPERATION_RNG_DESC, settingsOf(RNG, with{dnn.CUDNN_ATTR_RNG_DISTRIBUTION, wholeOf(dnn.CUDNN_RNG_DISTRIBUTION_BERNOULLI)},
			with{dnn.CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, value{floats: []float64{1 - probability}}})})
	return e.times(p, between(nn.F32, p.dim...), mask, number(nn.F32, 4, 1/(1-probability)))
}

// paged adds that keys or values are gathered from the pages of a cache, if they are in one.
func (e *expansion) paged(o *operation, t *tensor, table Attr) *tensor {
	pages := o.g.tensor(table)
	if pages == nil {
		return t
	}
	y := between(t.elem, pages.dim[0], t.dim[1], pages.dim[2]*t.dim[2], t.dim[3])
	e.add(dnn.CUDNN_BACKEND_OPERATION_PAGED_CACHE_LOAD_DESCRIPTOR, with{dnn.CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_CONTAINER_DESC, the(t)}, with{dnn.CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_YDESC, the(y)},
		with{dnn.CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_SEQUENCE_DESC, the(o.g.tensor(dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC))},
		with{dnn.CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_PAGE_TABLE_DESC, the(pages)})
	return y
}
