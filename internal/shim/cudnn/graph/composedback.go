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

// turnedOf is what a reshape makes of a matrix that is its transpose in the same memory.
func (p *pattern) turnedOf(t *tensor) *tensor {
	if o := p.reads(t, isTurn); o != nil {
		return o.out[0]
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
func (c *composition) gradients(exp *operation) (*operation, []*operation, error) {
	p := &pattern{composition: c}
	none := func() (*operation, []*operation, error) { return nil, nil, nil }
	changes, first := c.changesOf(exp.in[0])
	if !plainProduct(first) || len(changes) == 0 {
		return none()
	}
	q, kTurned, at := first.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_ADESC), first.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC), first.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_CDESC)
	scale := factor(changes[0], at)
	prob := exp.out[0]
	probTurned := p.turnedOf(prob)
	if scale == nil || probTurned == nil || len(kTurned.dim) != 4 {
		return none()
	}
	heads := kTurned.dim[1]
	toV := p.reads(probTurned, leftOf(probTurned))
	if toV == nil {
		return none()
	}
	do := toV.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC)
	dv := p.shared(toV, heads)
	slope := p.reads(prob, isPoint(dnn.CUDNN_POINTWISE_MUL))
	if slope == nil || dv == nil {
		return none()
	}
	args := pointArgs(slope)
	less := p.made(args[b2i(args[0].uid == prob.uid)], dnn.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)
	if less == nil || !isPoint(dnn.CUDNN_POINTWISE_SUB)(less) {
		return none()
	}
	toP, delta := p.made(pointArgs(less)[0], dnn.CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR), pointArgs(less)[1]
	scaled := p.reads(slope.out[0], isPoint(dnn.CUDNN_POINTWISE_MUL))
	if !plainProduct(toP) || scaled == nil || toP.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_ADESC).uid != do.uid {
		return none()
	}
	if again := factor(scaled, slope.out[0]); again == nil || again.uid != scale.uid {
		return none()
	}
	ds := scaled.out[0]
	dsTurned := p.turnedOf(ds)
	toQ := p.reads(ds, leftOf(ds))
	if dsTurned == nil || toQ == nil {
		return none()
	}
	toK := p.reads(dsTurned, leftOf(dsTurned))
	keys := p.made(toQ.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC), dnn.CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR)
	if toK == nil || toK.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC).uid != q.uid || keys == nil || !isTurn(keys) || keys.in[0].uid != kTurned.uid {
		return none()
	}
	t := attentionTensors{q: q, k: turned(kTurned), v: turned(toP.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC)), o: do, do: do, scale: scale,
		dq: toQ.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_CDESC), dk: p.shared(toK, heads), dv: dv}
	d := &direct{delta: delta}
	extra := []*tensor{delta}
	at = changes[0].out[0]
	for _, m := range changes[1:] {
		switch {
		case isPoint(dnn.CUDNN_POINTWISE_SUB)(m) && t.stats == nil && pointArgs(m)[0].uid == at.uid:
			t.stats = pointArgs(m)[1]
		case !d.take(m, t, at.uid):
			return none()
		default:
			extra = append(extra, slices.DeleteFunc(slices.Clone(m.in), func(t *tensor) bool { return t.virtual })...)
		}
		at = m.out[0]
	}
	if d.bias != nil || t.dk == nil || t.stats == nil {
		return none() // a bias has a gradient of its own
	}
	for _, x := range []*tensor{t.q, t.k, t.v, t.do, t.stats, t.dq, t.dk, t.dv, delta} {
		if len(x.dim) != 4 || x.ragged != nil || x.virtual && x != t.dq {
			return none()
		}
	}
	if delta.dim[3] != 1 || t.v.dim[1] != heads || t.q.dim[1]%heads != 0 || !c.closed(append(p.met, append(changes, exp, first)...), t) {
		return none()
	}
	whole, err := buildOperation(dnn.CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR, collect([]with{
		{dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC, the(t.q)}, {dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC, the(t.k)}, {dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC, the(t.v)},
		{dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_ODESC, the(t.o)}, {dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_STATSDESC, the(t.stats)}, {dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_SCALEDESC, the(scale)},
		{dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DODDESC, the(do)}, {dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DQDESC, the(t.dq)}, {dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DKDESC, the(t.dk)},
		{dnn.CUDNN_ATTR_OPERATION_SDPA_BWD_DVDESC, the(t.dv)}}))
	if err != nil || whole.direct == nil {
		return nil, nil, err
	}
	whole.direct = d
	whole.in = append(whole.in, extra...)
	return whole, append(p.met, append(changes, first)...), nil
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

// b2i is 1 for true.
func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
