package cudnn

import (
	"math"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/fuse"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// Operations element by element: expressions of package fuse.

// expression is a program, and what it runs on.
type expression struct {
	fuse.Program
	kind fuse.Kind // that is computed with
	args fuse.Args
}

// express begins an expression whose result has a type.
func express(like ...nn.Tensor) *expression {
	x := &expression{kind: fuse.F32}
	for _, t := range like {
		if t.Type == nn.F64 {
			x.kind = fuse.F64
		}
	}
	return x
}

// in is an element of a tensor.
func (x *expression) in(t nn.Tensor) fuse.Value {
	x.args.Tensors = append(x.args.Tensors, t)
	return x.In(t.Type)
}

// number is one that programs may change from run to run.
func (x *expression) number(v float64) fuse.Value {
	x.args.Numbers = append(x.args.Numbers, v)
	return x.Scalar(x.kind)
}

func (x *expression) do(op fuse.Op, args ...fuse.Value) fuse.Value { return x.Do(x.kind, op, args...) }

// times is a product with a factor; that of 1 costs nothing.
func (x *expression) times(v fuse.Value, factor float64) fuse.Value {
	if factor == 1 {
		return v
	}
	return x.do(fuse.Mul, v, x.number(factor))
}

// store puts a value, scaled, into a tensor and runs.
func (x *expression) store(c *call, v fuse.Value, s nn.Scale, to nn.Tensor, reduce []bool, dim []int64) error {
	v = x.times(v, s.Alpha)
	if s.Beta != 0 {
		before := fuse.Value(0)
		if reduce != nil {
			x.args.Tensors = append(x.args.Tensors, to)
			before = x.After(to.Type)
		} else {
			before = x.in(to)
		}
		v = x.do(fuse.Add, v, x.times(before, s.Beta))
	}
	x.args.Tensors = append(x.args.Tensors, to)
	x.Out(to.Type, v)
	return x.Run(&c.Run, dim, reduce, x.args)
}

// put is store of what is not reduced.
func (x *expression) put(c *call, v fuse.Value, s nn.Scale, to nn.Tensor) error {
	return x.store(c, v, s, to, nil, to.Dim)
}

// clamp keeps a value between bounds; a NaN stays where it is to be propagated, and is the lower bound otherwise.
func (x *expression) clamp(a activation, v fuse.Value, high float64) fuse.Value {
	most, least := fuse.Max, fuse.Min
	if a.nan == dnn.CUDNN_PROPAGATE_NAN {
		most, least = fuse.MaxNaN, fuse.MinNaN
	}
	v = x.do(most, v, x.Const(x.kind, 0))
	if math.IsInf(high, 1) {
		return v
	}
	return x.do(least, v, x.number(high))
}

// activate is the function of a descriptor.
func (x *expression) activate(a activation, v fuse.Value) fuse.Value {
	switch a.mode {
	case dnn.CUDNN_ACTIVATION_SIGMOID:
		return x.do(fuse.Sigmoid, v)
	case dnn.CUDNN_ACTIVATION_RELU:
		return x.clamp(a, v, math.Inf(1))
	case dnn.CUDNN_ACTIVATION_TANH:
		return x.do(fuse.Tanh, v)
	case dnn.CUDNN_ACTIVATION_CLIPPED_RELU:
		return x.clamp(a, v, a.coef)
	case dnn.CUDNN_ACTIVATION_ELU:
		return x.do(fuse.Elu, v, x.number(a.coef))
	case dnn.CUDNN_ACTIVATION_SWISH:
		return x.do(fuse.Swish, v, x.number(a.swish))
	}
	return v
}

// slope is the gradient of an input, of that of the result g and of input and result.
func (x *expression) slope(a activation, g fuse.Value, input, result func() fuse.Value) fuse.Value {
	zero := func() fuse.Value { return x.Const(x.kind, 0) }
	switch a.mode {
	case dnn.CUDNN_ACTIVATION_SIGMOID:
		return x.do(fuse.SigmoidBwdY, g, result())
	case dnn.CUDNN_ACTIVATION_TANH:
		return x.do(fuse.TanhBwdY, g, result())
	case dnn.CUDNN_ACTIVATION_RELU:
		return x.do(fuse.Select, x.do(fuse.Greater, input(), zero()), g, zero())
	case dnn.CUDNN_ACTIVATION_CLIPPED_RELU:
		v := input()
		inside := x.Do(fuse.Bool, fuse.And, x.do(fuse.Greater, v, zero()), x.do(fuse.Less, v, x.number(a.coef)))
		return x.do(fuse.Select, inside, g, zero())
	case dnn.CUDNN_ACTIVATION_ELU:
		return x.do(fuse.EluBwd, g, input(), x.number(a.coef))
	case dnn.CUDNN_ACTIVATION_SWISH:
		return x.do(fuse.SwishBwd, g, input(), x.number(a.swish))
	}
	return g
}

// ActivationForward makes y of x.
func (t *Thread) ActivationForward(h Handle, desc activationDesc, alpha hostmem.Ptr, xDesc tensorDesc, x, beta hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr) error {
	c := t.on(h)
	a, in, out := take[activation](c, desc), c.tensor(xDesc, x), c.tensor(yDesc, y)
	s := c.scale(in.Type, alpha, beta)
	c.need(nn.SameShape(in, out) && in.Type == out.Type, badParam, "%v of %v from %v of %v", out.Dim, out.Type, in.Dim, in.Type)
	return c.run(func() error {
		e := express(in)
		return e.put(c, e.activate(a, e.in(in)), s, out)
	})
}

// ActivationBackward makes dx of y, dy and x.
func (t *Thread) ActivationBackward(h Handle, desc activationDesc, alpha hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr, dyDesc tensorDesc, dy hostmem.Ptr, xDesc tensorDesc, x, beta hostmem.Ptr, dxDesc tensorDesc, dx hostmem.Ptr) error {
	c := t.on(h)
	a, result, grad := take[activation](c, desc), c.tensor(yDesc, y), c.tensor(dyDesc, dy)
	input, out := c.tensor(xDesc, x), c.tensor(dxDesc, dx)
	s := c.scale(grad.Type, alpha, beta)
	for _, v := range []nn.Tensor{result, grad, input} {
		c.need(nn.SameShape(v, out) && v.Type == out.Type, badParam, "%v of %v beside %v of %v", v.Dim, v.Type, out.Dim, out.Type)
	}
	return c.run(func() error {
		e := express(grad)
		g := e.in(grad)
		v := e.slope(a, g, func() fuse.Value { return e.in(input) }, func() fuse.Value { return e.in(result) })
		return e.put(c, v, s, out)
	})
}

// spreads says that a tensor has the sizes of another, or 1 where its elements are used again.
func (c *call) spreads(a, over nn.Tensor) {
	fits := len(a.Dim) == len(over.Dim)
	for i := range a.Dim {
		fits = fits && (a.Dim[i] == 1 || a.Dim[i] == over.Dim[i])
	}
	c.need(fits, badParam, "%v over %v", a.Dim, over.Dim)
}

// AddTensor adds A to C.
func (t *Thread) AddTensor(h Handle, alpha hostmem.Ptr, aDesc tensorDesc, a, beta hostmem.Ptr, cDesc tensorDesc, to hostmem.Ptr) error {
	c := t.on(h)
	in, out := c.tensor(aDesc, a), c.tensor(cDesc, to)
	s := c.scale(out.Type, alpha, beta)
	c.spreads(in, out)
	return c.run(func() error {
		e := express(in, out)
		return e.put(c, e.in(in), s, out)
	})
}

// OpTensor makes C of A and B. Those of one have no B.
func (t *Thread) OpTensor(h Handle, desc opTensorDesc, alpha1 hostmem.Ptr, aDesc tensorDesc, a, alpha2 hostmem.Ptr, bDesc tensorDesc, b, beta hostmem.Ptr, cDesc tensorDesc, to hostmem.Ptr) error {
	c := t.on(h)
	op, left, out := take[opTensor](c, desc), c.tensor(aDesc, a), c.tensor(cDesc, to)
	one := op.op == dnn.CUDNN_OP_TENSOR_SQRT || op.op == dnn.CUDNN_OP_TENSOR_NOT
	s := nn.Scale{Alpha: 1, Beta: c.number(out.Type, beta)}
	f1, f2, right := c.number(out.Type, alpha1), 1.0, left
	if !one {
		right, f2 = c.tensor(bDesc, b), c.number(out.Type, alpha2)
		c.spreads(right, out)
	}
	c.need(nn.SameShape(left, out), badParam, "%v from %v", out.Dim, left.Dim)
	return c.run(func() error {
		e := express(left, right, out)
		v := e.times(e.in(left), f1)
		if one {
			return e.put(c, e.single(op, v), s, out)
		}
		return e.put(c, e.both(op, v, e.times(e.in(right), f2)), s, out)
	})
}

func (x *expression) single(op opTensor, v fuse.Value) fuse.Value {
	if op.op == dnn.CUDNN_OP_TENSOR_SQRT {
		return x.do(fuse.Sqrt, v)
	}
	return x.do(fuse.Sub, x.Const(x.kind, 1), v)
}

func (x *expression) both(op opTensor, a, b fuse.Value) fuse.Value {
	ops := map[dnn.CudnnOpTensorOp_t][2]fuse.Op{
		dnn.CUDNN_OP_TENSOR_ADD: {fuse.Add, fuse.Add}, dnn.CUDNN_OP_TENSOR_MUL: {fuse.Mul, fuse.Mul},
		dnn.CUDNN_OP_TENSOR_MIN: {fuse.Min, fuse.MinNaN}, dnn.CUDNN_OP_TENSOR_MAX: {fuse.Max, fuse.MaxNaN},
	}
	return x.do(ops[op.op][op.nan], a, b)
}

// ScaleTensor multiplies y.
func (t *Thread) ScaleTensor(h Handle, yDesc tensorDesc, y, alpha hostmem.Ptr) error {
	c := t.on(h)
	out := c.tensor(yDesc, y)
	s := nn.Scale{Alpha: c.number(out.Type, alpha)}
	return c.run(func() error {
		e := express(out)
		return e.put(c, e.in(out), s, out)
	})
}

// SetTensor fills y with a value: of its type for integers; for others it is a factor, which is f32 for halves too.
func (t *Thread) SetTensor(h Handle, yDesc tensorDesc, y, value hostmem.Ptr) error {
	c := t.on(h)
	out := c.tensor(yDesc, y)
	c.need(value != hostmem.Nil, badParam, "no value")
	return c.run(func() error {
		e, v := express(out), 0.0
		if out.Type.Float() {
			v = c.number(out.Type, value)
		} else {
			v = out.Type.Value(hostmem.Bytes(value, uint64(out.Type.Size())))
		}
		return e.put(c, e.number(v), nn.Plain, out)
	})
}
