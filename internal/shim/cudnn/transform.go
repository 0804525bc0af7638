package cudnn

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// laned is a tensor whose channels are split into vectors of n, whether they lie together or not.
func laned(v tensor, n int64) tensor {
	k := int64(1)
	if v.vector {
		k = n
	}
	x := tensor{kind: v.kind, dim: slices.Insert(slices.Clone(v.dim), 2, n)}
	x.dim[1] /= n
	for _, s := range v.stride {
		x.stride = append(x.stride, s*k)
	}
	lane := int64(1)
	if !v.vector {
		lane = v.stride[1]
		x.stride[1] *= n
	}
	x.stride = slices.Insert(x.stride, 2, lane)
	switch v.kind {
	case dnn.CUDNN_DATA_INT8x4, dnn.CUDNN_DATA_INT8x32:
		x.kind = dnn.CUDNN_DATA_INT8
	case dnn.CUDNN_DATA_UINT8x4:
		x.kind = dnn.CUDNN_DATA_UINT8
	}
	return x
}

// pair are two tensors of one shape; vectors of channels become a dimension.
func (c *call) pair(a tensor, p hostmem.Ptr, b tensor, q hostmem.Ptr) (x, y nn.Tensor) {
	if a.vector || b.vector {
		n := max(lanes(a.kind), lanes(b.kind))
		fits := len(a.dim) > 1 && len(b.dim) > 1 && a.dim[1]%n == 0 && b.dim[1]%n == 0 && (!a.vector || lanes(a.kind) == n) && (!b.vector || lanes(b.kind) == n)
		if c.need(fits, notSupported, "vectors of %d and %d channels", lanes(a.kind), lanes(b.kind)); c.err != nil {
			return
		}
		a, b = laned(a, n), laned(b, n)
	}
	return c.at(a, p), c.at(b, q)
}

// copied is y = alpha x + beta y.
func (c *call) copied(s nn.Scale, x, y nn.Tensor) error {
	e := express(x, y)
	return e.put(c, e.in(x), s, y)
}

// between are the factors of a copy between types: f64 if one of them is.
func (c *call) between(from, to nn.Elem, alpha, beta hostmem.Ptr) nn.Scale {
	if from == nn.F64 {
		to = from
	}
	return c.scale(to, alpha, beta)
}

// TransformTensor copies x to y, whatever their strides are.
func (t *Thread) TransformTensor(h Handle, alpha hostmem.Ptr, xDesc tensorDesc, x, beta hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr) error {
	c := t.on(h)
	in, out := c.pair(take[tensor](c, xDesc), x, take[tensor](c, yDesc), y)
	s := c.between(in.Type, out.Type, alpha, beta)
	c.need(nn.SameShape(in, out), badParam, "%v from %v", out.Dim, in.Dim)
	return c.run(func() error { return c.copied(s, in, out) })
}

// transform copies with padding. Foldings are not there: in which order channels are folded is not known.
func (c *call) transform(v transform, s nn.Scale, from tensor, p hostmem.Ptr, to tensor, q hostmem.Ptr) error {
	want, err := v.result(from.dim)
	c.fail(err)
	c.need(slices.Equal(want, to.dim), badParam, "%v from %v", to.dim, from.dim)
	c.need(!slices.ContainsFunc(v.folds(), func(f int64) bool { return f != 1 }), notSupported, "folds %d", v.fold)
	x, y := c.pair(from, p, to, q)
	before := v.padding(v.before)
	padded := !slices.Equal(from.dim, to.dim)
	c.need(!padded || len(x.Dim) == len(from.dim), notSupported, "padded vectors")
	return c.run(func() error {
		if padded {
			e := express(y)
			edge := e.number(0)
			if s.Beta != 0 {
				edge = e.times(e.in(y), s.Beta)
				s.Beta = 1
			}
			if err := e.put(c, edge, nn.Plain, y); err != nil {
				return err
			}
			for i, b := range before {
				y = y.At(i, b, x.Dim[i])
			}
		}
		return c.copied(s, x, y)
	})
}

// TransformTensorEx copies x to y as a descriptor says.
func (t *Thread) TransformTensorEx(h Handle, desc transformDesc, alpha hostmem.Ptr, xDesc tensorDesc, x, beta hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr) error {
	c := t.on(h)
	v, from, to := take[transform](c, desc), take[tensor](c, xDesc), take[tensor](c, yDesc)
	s := c.between(elems[from.kind], elems[to.kind], alpha, beta)
	return c.run(func() error { return c.transform(v, s, from, x, to, y) })
}

// TransformFilter does the same to filters.
func (t *Thread) TransformFilter(h Handle, desc transformDesc, alpha hostmem.Ptr, xDesc filterDesc, x, beta hostmem.Ptr, yDesc filterDesc, y hostmem.Ptr) error {
	c := t.on(h)
	v, from, to := take[transform](c, desc), take[filter](c, xDesc), take[filter](c, yDesc)
	s := c.between(elems[from.kind], elems[to.kind], alpha, beta)
	return c.run(func() error { return c.transform(v, s, from.tensor(), x, to.tensor(), y) })
}
