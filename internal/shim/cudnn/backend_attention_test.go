package cudnn

import (
	"math"
	"testing"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// seen is what an attention of the tests does to its scores, in f64.
type seen struct {
	bias   func(b, h, i, j int) float64 // added
	masked func(b, i, j int) bool
	kept   func(b, h, i, j int) float64 // what a probability is multiplied by
	sink   func(h int) float64
}

const (
	attBatch, attHeads, attKeyHeads, attQueries, attKeys, attSize = 2, 4, 2, 9, 11, 8
	attScale                                                      = 0.5
)

// attentionRef is element i of what an attention gives, and of its row the logarithm of the sum.
func attentionRef(s seen, qs, ks, vs []float64, i int) (out, stat float64) {
	row := i / attSize
	b, h, q := row/attQueries/attHeads, row/attQueries%attHeads, row%attQueries
	head := b*attKeyHeads + h/(attHeads/attKeyHeads)
	total := 0.0
	for j := range attKeys {
		if s.masked != nil && s.masked(b, q, j) {
			continue
		}
		dot := 0.0
		for x := range attSize {
			dot += qs[row*attSize+x] * ks[(head*attKeys+j)*attSize+x]
		}
		dot *= attScale
		if s.bias != nil {
			dot += s.bias(b, h, q, j)
		}
		w := math.Exp(dot)
		total += w
		if s.kept != nil {
			w *= s.kept(b, h, q, j)
		}
		out += w * vs[(head*attKeys+j)*attSize+i%attSize]
	}
	if s.sink != nil {
		total += math.Exp(s.sink(h))
	}
	if total == 0 {
		return 0, math.Inf(-1)
	}
	return out / total, math.Log(total)
}

// softmaxed is the sum of values, weighted by the softmax of scores.
func softmaxed(n int, of func(j int) (score, v float64)) float64 {
	total, out := 0.0, 0.0
	for j := range n {
		score, v := of(j)
		total += math.Exp(score)
		out += math.Exp(score) * v
	}
	return out / total
}

// attentionOp is an attention of tests while it is made.
type attentionOp struct {
	*opGraph
	q, k, v, o []int64
	scores     []int64
	in, end    backendDesc // scores before and after what is done to them
	sub        []backendDesc
	more       []attr
	soft       []attr // of the softmax, if it has any
}

// step begins an operation on the scores: x is what there is, y what follows.
func (a *attentionOp) step() (x, y backendDesc) {
	if a.in == 0 {
		a.in = a.virtual(nn.F32, a.scores...)
		a.end = a.in
	}
	x, a.end = a.end, a.virtual(nn.F32, a.scores...)
	return x, a.end
}

func (a *attentionOp) band(mode dnn.CudnnPointwiseMode_t, attrs ...attr) {
	x, y := a.step()
	a.sub = append(a.sub, a.make(dnn.CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR, append(attrs, attr{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_XDESC, x},
		attr{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_YDESC, y}, attr{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_BDESC, a.value(float32(math.Inf(-1)))},
		attr{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_COMPARISON_MODE, mode})...))
}

// lengths are two numbers in memory.
func (a *attentionOp) lengths(v ...float64) backendDesc {
	d, vs := a.input(nn.S32, []int64{1, 1, 1, 1}, int64(len(v)), 1, 1, 1)
	a.fillAs(nn.S32, vs, v)
	return d
}

// TestBackendAttentionForms is attention with what may be done to its scores, each against f64: by kernels that know it, or by
// operations in the place of them.
func TestBackendAttentionForms(t *testing.T) {
	causal := func(b, i, j int) bool { return j > i }
	for name, form := range map[string]func(a *attentionOp) seen{
		"plain": func(*attentionOp) seen { return seen{} },
		"causal": func(a *attentionOp) seen {
			a.band(dnn.CUDNN_POINTWISE_CMP_GE)
			return seen{masked: causal}
		},
		"window": func(a *attentionOp) seen {
			a.band(dnn.CUDNN_POINTWISE_CMP_GE, attr{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SHIFT_RIGHT_BOUND_DESC, a.value(2)})
			a.band(dnn.CUDNN_POINTWISE_CMP_GT, attr{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_LEFT_BOUND_DESC, a.value(3)})
			return seen{masked: func(_, i, j int) bool { return j > i+2 || j <= i-3 }}
		},
		"strictly below": func(a *attentionOp) seen { // a comparison that the kernels do not know
			a.band(dnn.CUDNN_POINTWISE_CMP_GT, attr{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SHIFT_RIGHT_BOUND_DESC, a.value(1)})
			return seen{masked: func(_, i, j int) bool { return j >= i+1 }}
		},
		"last corner": func(a *attentionOp) seen {
			a.band(dnn.CUDNN_POINTWISE_CMP_GE, attr{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SEQ_LEN_KVDESC, a.value(attKeys)}, attr{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SEQ_LEN_QDESC, a.value(attQueries)})
			return seen{masked: func(_, i, j int) bool { return j > i+attKeys-attQueries }}
		},
		"bias": func(a *attentionOp) seen {
			x, y := a.step()
			bias, bs := a.input(nn.F16, nn.Packed(1, attHeads, attQueries, attKeys), 1, attHeads, attQueries, attKeys)
			a.ops, a.sub = nil, append(a.sub, a.pointOf(dnn.CUDNN_POINTWISE_ADD, y, x, bias))
			a.band(dnn.CUDNN_POINTWISE_CMP_GE)
			return seen{masked: causal, bias: func(_, h, i, j int) float64 { return bs[(h*attQueries+i)*attKeys+j] }}
		},
		"slopes": func(a *attentionOp) seen {
			x, y := a.step()
			row, col, away := a.virtual(nn.S32, a.scores...), a.virtual(nn.S32, a.scores...), a.virtual(nn.S32, a.scores...)
			slopes, ss := a.input(nn.F32, nn.Packed(1, attHeads, 1, 1), 1, attHeads, 1, 1)
			far := a.virtual(nn.F32, a.scores...)
			a.sub = append(a.sub, a.indexOf(2, row, x), a.indexOf(3, col, x), a.pointOf(dnn.CUDNN_POINTWISE_SUB, away, col, row), a.pointOf(dnn.CUDNN_POINTWISE_MUL, far, away, slopes), a.pointOf(dnn.CUDNN_POINTWISE_ADD, y, x, far))
			return seen{bias: func(_, h, i, j int) float64 { return ss[h] * float64(j-i) }}
		},
		"lengths": func(a *attentionOp) seen {
			a.more = append(a.more, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC, a.lengths(9, 4)}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC, a.lengths(5, 11)})
			return seen{masked: func(b, i, j int) bool { return i >= []int{9, 4}[b] || j >= []int{5, 11}[b] }}
		},
		"lengths, last corner": func(a *attentionOp) seen {
			q, k := a.lengths(6, 4), a.lengths(7, 11)
			a.more = append(a.more, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC, q}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC, k})
			a.band(dnn.CUDNN_POINTWISE_CMP_GE, attr{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SEQ_LEN_KVDESC, k}, attr{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SEQ_LEN_QDESC, q})
			return seen{masked: func(b, i, j int) bool {
				nq, nk := []int{6, 4}[b], []int{7, 11}[b]
				return i >= nq || j >= nk || j > i+nk-nq
			}}
		},
		"sums of lengths": func(a *attentionOp) seen {
			q, k := a.lengths(3, 9, 13), a.lengths(0, 7, 18)
			a.more = append(a.more, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_CU_SEQ_LEN_QDESC, q}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_CU_SEQ_LEN_KVDESC, k})
			a.band(dnn.CUDNN_POINTWISE_CMP_GE, attr{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_CU_SEQ_LEN_KVDESC, k}, attr{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_CU_SEQ_LEN_QDESC, q})
			return seen{masked: func(b, i, j int) bool {
				nq, nk := []int{6, 4}[b], []int{7, 11}[b]
				return i >= nq || j >= nk || j > i+nk-nq
			}}
		},
		"sink": func(a *attentionOp) seen {
			sink, ss := a.input(nn.F32, nn.Packed(1, attHeads, 1, 1), 1, attHeads, 1, 1)
			a.soft = append(a.soft, attr{dnn.CUDNN_ATTR_OPERATION_SOFTMAX_SINK_DESC, sink})
			return seen{sink: func(h int) float64 { return ss[h] }}
		},
		"dropout": func(a *attentionOp) seen {
			dump, ds := a.output(nn.F32, nn.Packed(a.scores...), a.scores...)
			seed, _ := a.input(nn.S64, []int64{1, 1, 1, 1}, 1, 1, 1, 1)
			offset, _ := a.input(nn.S64, []int64{1, 1, 1, 1}, 1, 1, 1, 1)
			a.more = append(a.more, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_PROBABILITY, 0.25}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_SEED_DESC, seed},
				attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_OFFSET_DESC, offset}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_RNG_DUMP_DESC, dump})
			return seen{kept: func(b, h, i, j int) float64 { return ds()[((b*attHeads+h)*attQueries+i)*attKeys+j] / 0.75 }}
		},
	} {
		t.Run(name, func(t *testing.T) { attentionForm(t, form) })
	}
}

func attentionForm(t *testing.T, form func(a *attentionOp) seen) {
	a := &attentionOp{opGraph: newOpGraph(t), q: []int64{attBatch, attHeads, attQueries, attSize}, k: []int64{attBatch, attKeyHeads, attKeys, attSize}, scores: []int64{attBatch, attHeads, attQueries, attKeys}}
	row := []int64{attBatch, attHeads, attQueries, 1}
	qd, qs := a.input(nn.F16, nn.Packed(a.q...), a.q...)
	kd, ks := a.input(nn.F16, nn.Packed(a.k...), a.k...)
	vd, vs := a.input(nn.F16, nn.Packed(a.k...), a.k...)
	od, os := a.output(nn.F16, nn.Packed(a.q...), a.q...)
	stats, ss := a.output(nn.F32, nn.Packed(row...), row...)
	want := form(a)
	attrs := append(a.more, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, qd}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, kd}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, vd},
		attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, od}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, a.value(attScale)})
	soft := a.make(dnn.CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR, append(a.soft, attr{dnn.CUDNN_ATTR_OPERATION_SOFTMAX_XDESC, a.virtual(nn.F32, a.scores...)},
		attr{dnn.CUDNN_ATTR_OPERATION_SOFTMAX_YDESC, a.virtual(nn.F32, a.scores...)}, attr{dnn.CUDNN_ATTR_OPERATION_SOFTMAX_STATS_DESC, stats})...)
	attrs = append(attrs, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SOFTMAX_DESC, soft})
	if a.sub != nil {
		sub := a.make(dnn.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATIONGRAPH_OPS, a.sub})
		attrs = append(attrs, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH, sub}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_INPUT_UID, a.uid(a.in)}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_OUTPUT_UID, a.uid(a.end)})
	}
	a.ops = nil
	a.op(dnn.CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, attrs...)
	a.run()
	near(t, "o", os(), 3e-3, func(i int) float64 { out, _ := attentionRef(want, qs, ks, vs, i); return out })
	got := ss()
	for i, g := range got {
		_, w := attentionRef(want, qs, ks, vs, i*attSize)
		if g != w && !(math.Abs(g-w) < 1e-3) {
			t.Fatalf("the logarithm of row %d is %v, not %v", i, g, w)
		}
	}
}
