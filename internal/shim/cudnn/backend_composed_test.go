package cudnn

import (
	"math"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// TestBackendAttentionComposed is attention given as products, what is done to the scores, and a softmax, each against f64. The kernels of
// attention do it at once, so that no scores are in the workspace, where they know all of it.
func TestBackendAttentionComposed(t *testing.T) {
	causal := func(b, i, j int) bool { return j > i }
	for name, c := range map[string]struct {
		at   bool // it is done at once
		form func(a *attentionOp) seen
	}{
		"plain": {true, func(*attentionOp) seen { return seen{} }},
		"causal": {true, func(a *attentionOp) seen {
			a.band(dnn.CUDNN_POINTWISE_CMP_GE)
			return seen{masked: causal}
		}},
		"window": {true, func(a *attentionOp) seen {
			a.band(dnn.CUDNN_POINTWISE_CMP_GE, attr{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SHIFT_RIGHT_BOUND_DESC, a.value(2)})
			a.band(dnn.CUDNN_POINTWISE_CMP_GT, attr{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_LEFT_BOUND_DESC, a.value(3)})
			return seen{masked: func(_, i, j int) bool { return j > i+2 || j <= i-3 }}
		}},
		"bias": {true, func(a *attentionOp) seen {
			x, y := a.step()
			bias, bs := a.input(nn.F16, nn.Packed(1, attHeads, attQueries, attKeys), 1, attHeads, attQueries, attKeys)
			a.sub = append(a.sub, a.pointOf(dnn.CUDNN_POINTWISE_ADD, y, x, bias))
			a.band(dnn.CUDNN_POINTWISE_CMP_GE)
			return seen{masked: causal, bias: func(_, h, i, j int) float64 { return bs[(h*attQueries+i)*attKeys+j] }}
		}},
		"sink": {false, func(a *attentionOp) seen {
			sink, ss := a.input(nn.F32, nn.Packed(1, attHeads, 1, 1), 1, attHeads, 1, 1)
			a.soft = append(a.soft, attr{dnn.CUDNN_ATTR_OPERATION_SOFTMAX_SINK_DESC, sink})
			return seen{sink: func(h int) float64 { return ss[h] }}
		}},
		"strictly below": {false, func(a *attentionOp) seen {
			a.band(dnn.CUDNN_POINTWISE_CMP_GT, attr{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SHIFT_RIGHT_BOUND_DESC, a.value(1)})
			return seen{masked: func(_, i, j int) bool { return j >= i+1 }}
		}},
	} {
		t.Run(name, func(t *testing.T) { attentionComposed(t, c.form, c.at) })
	}
}

func attentionComposed(t *testing.T, form func(a *attentionOp) seen, atOnce bool) {
	a := &attentionOp{opGraph: newOpGraph(t), q: []int64{attBatch, attHeads, attQueries, attSize}, k: []int64{attBatch, attKeyHeads, attKeys, attSize}, scores: []int64{attBatch, attHeads, attQueries, attKeys}}
	row := []int64{attBatch, attHeads, attQueries, 1}
	qd, qs := a.input(nn.F16, nn.Packed(a.q...), a.q...)
	_, ks := a.input(nn.F16, nn.Packed(a.k...), a.k...)
	s := nn.Packed(a.k...)
	turned, id := a.describe(nn.F16, []int64{attBatch, attKeyHeads, attSize, attKeys}, []int64{s[0], s[1], s[3], s[2]})
	a.ptrs[id] = a.ptrs[id-1]
	vd, vs := a.input(nn.F16, nn.Packed(a.k...), a.k...)
	od, os := a.output(nn.F16, nn.Packed(a.q...), a.q...)
	stats, ss := a.output(nn.F32, nn.Packed(row...), row...)
	a.in = a.virtual(nn.F32, a.scores...)
	a.end = a.in
	want := form(a)
	raw, p := a.virtual(nn.F32, a.scores...), a.virtual(nn.F16, a.scores...)
	a.ops = nil // programs do not give them in the order that they run in
	a.product(p, vd, od)
	a.product(qd, turned, raw)
	a.point(dnn.CUDNN_POINTWISE_MUL, a.in, raw, a.value(attScale))
	a.ops = append(a.ops, a.sub...)
	a.op(dnn.CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR, append(a.soft, attr{dnn.CUDNN_ATTR_OPERATION_SOFTMAX_XDESC, a.end},
		attr{dnn.CUDNN_ATTR_OPERATION_SOFTMAX_YDESC, p}, attr{dnn.CUDNN_ATTR_OPERATION_SOFTMAX_STATS_DESC, stats})...)
	plan := a.plan()
	var need int64
	_, err := a.th.BackendGetAttribute(plan, dnn.CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, dnn.CUDNN_TYPE_INT64, 1, hostmem.Of(&need))
	a.ok(err)
	if (need == 0) != atOnce {
		t.Errorf("%d bytes of workspace; done at once: %v", need, atOnce)
	}
	a.ok(a.th.BackendExecute(a.h, plan, a.pack(plan)))
	near(t, "o", os(), 3e-3, func(i int) float64 { out, _ := attentionRef(want, qs, ks, vs, i); return out })
	for i, g := range ss() {
		_, w := attentionRef(want, qs, ks, vs, i*attSize)
		if g != w && !(math.Abs(g-w) < 1e-3) {
			t.Fatalf("the logarithm of row %d is %v, not %v", i, g, w)
		}
	}
}
