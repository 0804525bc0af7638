package cudnn

import (
	"math"
	"testing"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// TestBackendAttentionComposed is attention given as products, what is done to the scores, and a softmax, each against f64. The kernels of
// attention do it at once, so that no scores are between operations, where they know all of it.
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
	need := a.between(plan)
	if (need == 0) != atOnce {
		t.Errorf("%d bytes between operations; done at once: %v", need, atOnce)
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

// TestBackendGradientsComposed are the gradients of a causal attention as cudnn-frontend gives them, as single operations, against f64.
func TestBackendGradientsComposed(t *testing.T) {
	gradientsComposed(t, nn.F32, false)
	gradientsComposed(t, nn.F32, true)   // another number follows, which the kernels do not know
	gradientsComposed(t, nn.E4M3, false) // the kernels do not read such a V, but the single operations do
}

func gradientsComposed(t *testing.T, v nn.Elem, odd bool) {
	q, k := []int64{attBatch, attHeads, attQueries, attSize}, []int64{attBatch, attKeyHeads, attKeys, attSize}
	scores, row := []int64{attBatch, attHeads, attQueries, attKeys}, []int64{attBatch, attHeads, attQueries, 1}
	a := &attentionOp{opGraph: newOpGraph(t), scores: scores}
	turn := func(d []int64) []int64 { return []int64{d[0], d[1], d[3], d[2]} }
	qd, qs := a.input(nn.F32, nn.Packed(q...), q...)
	_, ks := a.input(nn.F32, nn.Packed(k...), k...)
	kTurned, id := a.describe(nn.F32, turn(k), turn(nn.Packed(k...)))
	a.ptrs[id] = a.ptrs[id-1]
	_, vs := a.input(v, nn.Packed(k...), k...)
	vTurned, id := a.describe(v, turn(k), turn(nn.Packed(k...)))
	a.ptrs[id] = a.ptrs[id-1]
	dod, dos := a.input(nn.F32, nn.Packed(q...), q...)
	mask := seen{masked: func(_, i, j int) bool { return j > i }}
	rows := attBatch * attHeads * attQueries
	outs, stats := make([]float64, rows*attSize), make([]float64, rows)
	for i := range outs {
		outs[i], stats[i/attSize] = attentionRef(mask, qs, ks, vs, i)
	}
	od, os := a.input(nn.F32, nn.Packed(q...), q...)
	a.fill(os, outs)
	sd, ss := a.input(nn.F32, nn.Packed(row...), row...)
	a.fill(ss, stats)
	deltas, _ := a.output(nn.F32, nn.Packed(row...), row...)
	dqd, dq := a.output(nn.F32, nn.Packed(q...), q...)
	dkd, dk := a.output(nn.F32, nn.Packed(k...), k...)
	dvd, dv := a.output(nn.F32, nn.Packed(k...), k...)
	scale := a.value(attScale)
	virtual := func(d []int64) backendDesc { return a.virtual(nn.F32, d...) }
	reshaped := func(x backendDesc, dim []int64) backendDesc {
		y, _ := a.describe(nn.F32, turn(dim), turn(nn.Packed(dim...)), attr{dnn.CUDNN_ATTR_TENSOR_IS_VIRTUAL, true})
		a.op(dnn.CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x}, attr{dnn.CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y})
		return y
	}
	wide, sum := virtual(q), virtual(row)
	a.point(dnn.CUDNN_POINTWISE_MUL, wide, dod, od)
	a.reduction(dnn.CUDNN_REDUCE_TENSOR_ADD, wide, sum)
	a.point(dnn.CUDNN_POINTWISE_MUL, deltas, sum, a.value(1))
	raw, scaled, less, p := virtual(scores), virtual(scores), virtual(scores), virtual(scores)
	a.product(qd, kTurned, raw)
	a.point(dnn.CUDNN_POINTWISE_MUL, scaled, raw, scale)
	a.point(dnn.CUDNN_POINTWISE_SUB, less, scaled, sd)
	a.in, a.end = less, less
	a.band(dnn.CUDNN_POINTWISE_CMP_GE)
	a.ops = append(a.ops, a.sub...)
	a.point(dnn.CUDNN_POINTWISE_EXP, p, a.end)
	perHead := []int64{attBatch, attHeads, attKeys, attSize}
	dvHeads, dkHeads := virtual(perHead), virtual(perHead)
	a.product(reshaped(p, scores), dod, dvHeads)
	a.reduction(dnn.CUDNN_REDUCE_TENSOR_ADD, dvHeads, dvd)
	dp, away, slope, ds := virtual(scores), virtual(scores), virtual(scores), virtual(scores)
	a.product(dod, vTurned, dp)
	a.point(dnn.CUDNN_POINTWISE_SUB, away, dp, deltas)
	a.point(dnn.CUDNN_POINTWISE_MUL, slope, away, p)
	if odd {
		scale = a.value(attScale)
	}
	a.point(dnn.CUDNN_POINTWISE_MUL, ds, slope, scale)
	a.product(reshaped(ds, scores), qd, dkHeads)
	a.reduction(dnn.CUDNN_REDUCE_TENSOR_ADD, dkHeads, dkd)
	y, _ := a.describe(nn.F32, k, nn.Packed(k...), attr{dnn.CUDNN_ATTR_TENSOR_IS_VIRTUAL, true})
	a.op(dnn.CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_RESHAPE_XDESC, kTurned}, attr{dnn.CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y})
	a.product(ds, y, dqd)
	plan := a.plan()
	need := a.between(plan)
	if (need == 0) != (!odd && v == nn.F32) {
		t.Errorf("%d bytes between operations; type %v, an odd number: %v", need, v, odd)
	}
	a.ok(a.th.BackendExecute(a.h, plan, a.pack(plan)))
	wantQ, wantK, wantV := make([]float64, len(qs)), make([]float64, len(ks)), make([]float64, len(vs))
	for r := range rows {
		b, h, i := r/attQueries/attHeads, r/attQueries%attHeads, r%attQueries
		head := b*attKeyHeads + h/(attHeads/attKeyHeads)
		delta := 0.0
		for x := range attSize {
			delta += dos[r*attSize+x] * outs[r*attSize+x]
		}
		for j := 0; j <= i; j++ {
			at := (head*attKeys + j) * attSize
			s, g := 0.0, 0.0
			for x := range attSize {
				s += qs[r*attSize+x] * ks[at+x]
				g += dos[r*attSize+x] * vs[at+x]
			}
			w := math.Exp(s*attScale - stats[r])
			slope := w * (g - delta) * attScale
			for x := range attSize {
				wantV[at+x] += w * dos[r*attSize+x]
				wantQ[r*attSize+x] += slope * ks[at+x]
				wantK[at+x] += slope * qs[r*attSize+x]
			}
		}
	}
	near(t, "dQ", dq(), 1e-4, func(i int) float64 { return wantQ[i] })
	near(t, "dK", dk(), 1e-4, func(i int) float64 { return wantK[i] })
	near(t, "dV", dv(), 1e-4, func(i int) float64 { return wantV[i] })
}
