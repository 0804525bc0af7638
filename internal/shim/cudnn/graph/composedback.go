package graph

import (
	"slices"

	"kudzu/internal/spec/dnn"
)

// pattern follows the operations of a graph from tensor to tensor, and remembers those that it met. Once something is not as it should
// be, all that follows is nil.
type pattern struct {
	*composition
	met []*operation
}

func (p *pattern) meet(o *operation) *operation {
	if o != nil && !slices.Contains(p.met, o) {
		p.met = append(p.met, o)
	}
	return o
}

// made is the operation that writes a tensor, if it is of a kind.
func (p *pattern) made(t *tensor, kind Kind) *operation {
	if t == nil {
		return nil
	}
	if o := p.writer[t.uid]; o != nil && o.kind == kind {
		return p.meet(o)
	}
	return nil
}

// reads is the only operation of those that read a tensor for which a condition holds.
func (p *pattern) reads(t *tensor, is func(o *operation) bool) (found *operation) {
	if t == nil {
		return nil
	}
	for _, o := range p.reader[t.uid] {
		if is(o) {
			if found != nil {
				return nil
			}
			found = o
		}
	}
	return p.meet(found)
}

// turnedLeft is the product whose left operand is the transpose of a tensor, by a reshape.
func (p *pattern) turnedLeft(t *tensor) *operation {
	if o := p.reads(t, isTurn); o != nil {
		return p.reads(o.out[0], leftOf(o.out[0]))
	}
	return nil
}

// isTurn reports a reshape that transposes.
func isTurn(o *operation) bool {
	return o.kind == dnn.CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR && len(o.in[0].dim) == 4 && len(o.out[0].dim) == 4 &&
		o.g.whole(dnn.CUDNN_ATTR_OPERATION_RESHAPE_MODE, 0) != int64(dnn.CUDNN_RESHAPE_LOGICAL) && o.in[0].shape().Span() == o.in[0].shape().Count() &&
		slices.Equal(o.out[0].dim, swapped(o.in[0].dim)) && slices.Equal(o.out[0].stride, swapped(o.in[0].stride))
}

func isPoint(mode dnn.CudnnPointwiseMode_t) func(o *operation) bool {
	return func(o *operation) bool {
		return o.kind == dnn.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR && pointMode(o) == mode && o.g.float(alphas[0], 1) == 1 && o.g.float(alphas[1], 1) == 1
	}
}

// leftOf reports a product whose left operand is a tensor.
func leftOf(t *tensor) func(o *operation) bool {
	return func(o *operation) bool {
		return plainProduct(o) && o.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_ADESC).uid == t.uid
	}
}

// shared is what follows a product of every head, with those added that share keys: the product's result, or the sum.
func (p *pattern) shared(o *operation, heads int64) *tensor {
	c := o.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_CDESC)
	if c.dim[1] == heads {
		return c
	}
	sum := p.reads(c, func(o *operation) bool { return isReduction(o) && reductionOf(o) == dnn.CUDNN_REDUCE_TENSOR_ADD })
	if sum == nil || sum.out[0].dim[1] != heads || !slices.Equal(sum.out[0].dim[2:], c.dim[2:]) || sum.out[0].dim[0] != c.dim[0] {
		return nil
	}
	return sum.out[0]
}

// gradients is the operation that computes the gradients of an attention, whose probabilities an exponential makes, and what it stands for:
//
//	P = exp(changes(scale Q Kᵀ) − stats)    dV = Pᵀ dO
//	dS = P (dO Vᵀ − delta) scale            dQ = dS K, dK = dSᵀ Q
//
// delta stays what the program makes it.
func (c *composition) gradients(exp *operation) (*operation, []*operation) {
	p := &pattern{composition: c}
	changes, first := c.changesOf(exp.in[0])
	if !plainProduct(first) || len(changes) == 0 {
		return nil, nil
	}
	t, delta := p.gradientTensors(first, factor(changes[0], first.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_CDESC)), exp.out[0])
	if t == nil {
		return nil, nil
	}
	d, extra := t.changed(changes)
	if d == nil || !t.plain(delta) || !c.closed(append(p.met, append(changes, exp, first)...), *t) {
		return nil, nil
	}
	whole, err := buildOperation(dnn.CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR, collect([]with{
		{dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC, the(t.q)}, {dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC, the(t.k)}, {dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC, the(t.v)},
		{dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_ODESC, the(t.o)}, {dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_STATSDESC, the(t.stats)}, {dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_SCALEDESC, the(t.scale)},
		{dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DODDESC, the(t.do)}, {dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DQDESC, the(t.dq)}, {dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DKDESC, the(t.dk)},
		{dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DVDESC, the(t.dv)}}))
	if err != nil || whole.direct == nil {
		return nil, nil // the single operations may do what the whole one refuses
	}
	d.delta = delta
	whole.direct = d
	whole.in = append(append(whole.in, delta), extra...)
	return whole, append(p.met, append(changes, first)...)
}

// gradientTensors follows the probabilities to the gradients, and gives the tensors of all of it but the stats, and delta; nil where something
// is not as it should be. first is Q Kᵀ.
func (p *pattern) gradientTensors(first *operation, scale, prob *tensor) (t *attentionTensors, delta *tensor) {
	q, kTurned := first.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_ADESC), first.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC)
	toV := p.turnedLeft(prob)
	if scale == nil || toV == nil || len(kTurned.dim) != 4 {
		return nil, nil
	}
	heads := kTurned.dim[1]
	t = &attentionTensors{q: q, k: turned(kTurned), do: toV.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC), scale: scale, dv: p.shared(toV, heads)}
	t.o = t.do // the kernels read O for delta only
	toP, delta, ds := p.softmaxGradient(prob, scale)
	if ds == nil || toP.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_ADESC).uid != t.do.uid {
		return nil, nil
	}
	t.v = turned(toP.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC))
	toQ, toK := p.reads(ds, leftOf(ds)), p.turnedLeft(ds)
	if toQ == nil || toK == nil || toK.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC).uid != q.uid {
		return nil, nil
	}
	keys := p.made(toQ.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC), dnn.CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR)
	if keys == nil || !isTurn(keys) || keys.in[0].uid != kTurned.uid {
		return nil, nil
	}
	t.dq, t.dk = toQ.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_CDESC), p.shared(toK, heads)
	return t, delta
}

// softmaxGradient is dS = P (dO Vᵀ − delta) scale: the product dO Vᵀ, delta and dS; ds is nil where P is used in another way.
func (p *pattern) softmaxGradient(prob, scale *tensor) (toP *operation, delta, ds *tensor) {
	slope := p.reads(prob, isPoint(dnn.CUDNN_POINTWISE_MUL))
	if slope == nil {
		return nil, nil, nil
	}
	args := pointArgs(slope)
	other := args[0]
	if other.uid == prob.uid {
		other = args[1]
	}
	less := p.made(other, dnn.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)
	scaled := p.reads(slope.out[0], isPoint(dnn.CUDNN_POINTWISE_MUL))
	if less == nil || !isPoint(dnn.CUDNN_POINTWISE_SUB)(less) || scaled == nil {
		return nil, nil, nil
	}
	toP = p.made(pointArgs(less)[0], dnn.CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR)
	if again := factor(scaled, slope.out[0]); !plainProduct(toP) || again == nil || again.uid != scale.uid {
		return nil, nil, nil
	}
	return toP, pointArgs(less)[1], scaled.out[0]
}

// changed takes what is done to the scores after their factor: which of them are seen, and the stats that are subtracted. It also gives the
// tensors that this reads; d is nil where the kernels do not know it.
func (t *attentionTensors) changed(changes []*operation) (d *direct, extra []*tensor) {
	d = &direct{}
	at := changes[0].out[0]
	for _, m := range changes[1:] {
		switch {
		case isPoint(dnn.CUDNN_POINTWISE_SUB)(m) && t.stats == nil && pointArgs(m)[0].uid == at.uid:
			t.stats = pointArgs(m)[1]
		case !d.take(m, *t, at.uid):
			return nil, nil
		default:
			extra = append(extra, slices.DeleteFunc(slices.Clone(m.in), func(t *tensor) bool { return t.virtual })...)
		}
		at = m.out[0]
	}
	if d.bias != nil {
		return nil, nil // a bias has a gradient of its own
	}
	return d, extra
}

// plain reports gradients of tensors as the kernels take them.
func (t *attentionTensors) plain(delta *tensor) bool {
	for _, x := range []*tensor{t.q, t.k, t.v, t.do, t.stats, t.dq, t.dk, t.dv, delta} {
		if x == nil || len(x.dim) != 4 || x.ragged != nil || x.virtual && x != t.dq {
			return false
		}
	}
	return delta.dim[3] == 1 && t.v.dim[1] == t.k.dim[1] && t.q.dim[1]%t.k.dim[1] == 0
}

// closed reports operations of whose results only these read any but the gradients.
func (c *composition) closed(ops []*operation, t attentionTensors) bool {
	for _, o := range ops {
		for _, y := range o.out {
			if y == t.dq || y == t.dk || y == t.dv {
				continue
			}
			if !y.virtual || slices.ContainsFunc(c.reader[y.uid], func(r *operation) bool { return !slices.Contains(ops, r) }) {
				return false
			}
		}
	}
	return true
}
