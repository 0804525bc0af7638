package graph

import (
	"slices"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// expansion collects the operations that one of a graph is made of.
type expansion struct {
	ops []*operation
	err error // the first
}

// expanded are operations with those in place of them that no kernel does at once.
func expanded(ops []*operation) ([]*operation, error) {
	var e expansion
	for _, o := range ops {
		if o.apart {
			e.attention(o)
		} else {
			e.ops = append(e.ops, o)
		}
	}
	return e.ops, e.err
}

// with is an attribute and what it is set to.
type with struct {
	name Attr
	v    value
}

// add adds an operation.
func (e *expansion) add(k Kind, attrs ...with) {
	if e.err != nil {
		return
	}
	o, err := buildOperation(k, collect(attrs))
	if err != nil {
		e.err = err
		return
	}
	e.ops = append(e.ops, o)
}

func collect(attrs []with) given {
	g := given{}
	for _, a := range attrs {
		if len(a.v.refs) != 1 || a.v.refs[0] != nil {
			g[a.name] = a.v
		}
	}
	return g
}

// the is the value of an attribute that names a tensor; of none it is not set.
func the(t *tensor) value {
	if t == nil {
		return value{typ: dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, refs: []*Descriptor{nil}}
	}
	return value{typ: dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, refs: []*Descriptor{{kind: Tensor, final: true, made: t}}}
}

// settingsOf is the value of an attribute that names a descriptor of settings.
func settingsOf(k Kind, attrs ...with) value {
	return value{typ: dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, refs: []*Descriptor{{kind: k, final: true, values: collect(attrs)}}}
}

func wholeOf[T ~int32 | ~uint32 | ~int64](v T) value { return value{wholes: []int64{int64(v)}} }

var computeFloat = wholeOf(dnn.CUDNN_DATA_FLOAT)

// point adds a pointwise operation, and is what it computes.
func (e *expansion) point(mode dnn.CudnnPointwiseMode_t, y *tensor, args ...*tensor) *tensor {
	return e.pointAlong(mode, 0, y, args...)
}

func (e *expansion) pointAlong(mode dnn.CudnnPointwiseMode_t, axis int, y *tensor, args ...*tensor) *tensor {
	math := computeFloat
	if !slices.ContainsFunc(args, func(t *tensor) bool { return t.elem.Float() }) {
		math = wholeOf(dnn.CUDNN_DATA_INT64)
	}
	args = append(args, nil, nil)
	e.add(dnn.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, with{dnn.CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, settingsOf(Pointwise,
		with{dnn.CUDNN_ATTR_POINTWISE_MODE, wholeOf(mode)}, with{dnn.CUDNN_ATTR_POINTWISE_MATH_PREC, math}, with{dnn.CUDNN_ATTR_POINTWISE_AXIS, wholeOf(int64(axis))})},
		with{dnn.CUDNN_ATTR_OPERATION_POINTWISE_XDESC, the(args[0])}, with{dnn.CUDNN_ATTR_OPERATION_POINTWISE_BDESC, the(args[1])},
		with{dnn.CUDNN_ATTR_OPERATION_POINTWISE_TDESC, the(args[2])}, with{dnn.CUDNN_ATTR_OPERATION_POINTWISE_YDESC, the(y)})
	return y
}

// matmul adds a product. The sizes that are used of its sides may be on the device.
func (e *expansion) matmul(a, b, c *tensor, m, k *tensor) {
	e.add(dnn.CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, with{dnn.CUDNN_ATTR_OPERATION_MATMUL_ADESC, the(a)}, with{dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC, the(b)},
		with{dnn.CUDNN_ATTR_OPERATION_MATMUL_CDESC, the(c)}, with{dnn.CUDNN_ATTR_OPERATION_MATMUL_DESC, settingsOf(Matmul, with{dnn.CUDNN_ATTR_MATMUL_COMP_TYPE, computeFloat})},
		with{dnn.CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, the(m)}, with{dnn.CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC, the(k)})
}

// most adds the largest magnitude of a tensor, if there is a place for it.
func (e *expansion) most(x, to *tensor) {
	if to == nil {
		return
	}
	e.add(dnn.CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, with{dnn.CUDNN_ATTR_OPERATION_REDUCTION_XDESC, the(x)}, with{dnn.CUDNN_ATTR_OPERATION_REDUCTION_YDESC, the(to)},
		with{dnn.CUDNN_ATTR_OPERATION_REDUCTION_DESC, settingsOf(Reduction, with{dnn.CUDNN_ATTR_REDUCTION_OPERATOR, wholeOf(dnn.CUDNN_REDUCE_TENSOR_AMAX)},
			with{dnn.CUDNN_ATTR_REDUCTION_COMP_TYPE, computeFloat})})
}

// between is a tensor that only other operations see, without gaps.
func between(e nn.Elem, dim ...int64) *tensor {
	return &tensor{uid: nextHidden(), elem: e, dim: dim, stride: nn.Packed(dim...), virtual: true}
}

// number is a tensor of one element that is known.
func number(e nn.Elem, rank int, v float64) *tensor {
	t := between(e, slices.Repeat([]int64{1}, rank)...)
	t.virtual, t.byValue, t.known = false, true, &v
	return t
}
