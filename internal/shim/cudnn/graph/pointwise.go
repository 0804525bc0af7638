package graph

import (
	"math"
	"slices"

	"kudzu/internal/shim/cudnn/fuse"
	"kudzu/internal/spec/dnn"
)

// pointRow is a mode of pointwise operations: the operation of package fuse, how many tensors it takes, and the attributes of the
// descriptor that follow them.
type pointRow struct {
	op    fuse.Op
	args  int
	with  []Attr
	back  bool    // the tensors are dy and x, or y
	fromY fuse.Op // what computes the gradient from y
}

var (
	reluBounds = []Attr{dnn.CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, dnn.CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, dnn.CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE}
	eluAlpha   = []Attr{dnn.CUDNN_ATTR_POINTWISE_ELU_ALPHA}
	softBeta   = []Attr{dnn.CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA}
	swishBeta  = []Attr{dnn.CUDNN_ATTR_POINTWISE_SWISH_BETA}
)

// defaults are the attributes that are not 0 unless they are set.
var defaults = map[Attr]float64{
	dnn.CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP: math.Inf(1), dnn.CUDNN_ATTR_POINTWISE_ELU_ALPHA: 1,
	dnn.CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA: 1, dnn.CUDNN_ATTR_POINTWISE_SWISH_BETA: 1,
}

// pointModes are the modes. Those that are no operation of package fuse have none here, and are written out below.
var pointModes = map[dnn.CudnnPointwiseMode_t]pointRow{
	dnn.CUDNN_POINTWISE_ADD: {op: fuse.Add, args: 2}, dnn.CUDNN_POINTWISE_ADD_SQUARE: {args: 2}, dnn.CUDNN_POINTWISE_DIV: {op: fuse.Div, args: 2},
	dnn.CUDNN_POINTWISE_MAX: {op: fuse.Max, args: 2}, dnn.CUDNN_POINTWISE_MIN: {op: fuse.Min, args: 2}, dnn.CUDNN_POINTWISE_MOD: {op: fuse.Mod, args: 2},
	dnn.CUDNN_POINTWISE_MUL: {op: fuse.Mul, args: 2}, dnn.CUDNN_POINTWISE_POW: {op: fuse.Pow, args: 2}, dnn.CUDNN_POINTWISE_SUB: {op: fuse.Sub, args: 2},
	dnn.CUDNN_POINTWISE_ABS: {op: fuse.Abs, args: 1}, dnn.CUDNN_POINTWISE_CEIL: {op: fuse.Ceil, args: 1}, dnn.CUDNN_POINTWISE_COS: {op: fuse.Cos, args: 1},
	dnn.CUDNN_POINTWISE_EXP: {op: fuse.Exp, args: 1}, dnn.CUDNN_POINTWISE_FLOOR: {op: fuse.Floor, args: 1}, dnn.CUDNN_POINTWISE_LOG: {op: fuse.Log, args: 1},
	dnn.CUDNN_POINTWISE_NEG: {op: fuse.Neg, args: 1}, dnn.CUDNN_POINTWISE_RSQRT: {op: fuse.Rsqrt, args: 1}, dnn.CUDNN_POINTWISE_SIN: {op: fuse.Sin, args: 1},
	dnn.CUDNN_POINTWISE_SQRT: {op: fuse.Sqrt, args: 1}, dnn.CUDNN_POINTWISE_TAN: {op: fuse.Tan, args: 1}, dnn.CUDNN_POINTWISE_ERF: {op: fuse.Erf, args: 1},
	dnn.CUDNN_POINTWISE_IDENTITY: {args: 1}, dnn.CUDNN_POINTWISE_RECIPROCAL: {op: fuse.Reciprocal, args: 1},
	dnn.CUDNN_POINTWISE_ATAN2: {op: fuse.Atan2, args: 2}, dnn.CUDNN_POINTWISE_FLOOR_MOD: {op: fuse.FloorMod, args: 2},

	dnn.CUDNN_POINTWISE_RELU_FWD: {op: fuse.Relu, args: 1, with: reluBounds}, dnn.CUDNN_POINTWISE_TANH_FWD: {op: fuse.Tanh, args: 1},
	dnn.CUDNN_POINTWISE_SIGMOID_FWD: {op: fuse.Sigmoid, args: 1}, dnn.CUDNN_POINTWISE_ELU_FWD: {op: fuse.Elu, args: 1, with: eluAlpha},
	dnn.CUDNN_POINTWISE_GELU_FWD: {op: fuse.Gelu, args: 1}, dnn.CUDNN_POINTWISE_SOFTPLUS_FWD: {op: fuse.Softplus, args: 1, with: softBeta},
	dnn.CUDNN_POINTWISE_SWISH_FWD: {op: fuse.Swish, args: 1, with: swishBeta}, dnn.CUDNN_POINTWISE_GELU_APPROX_TANH_FWD: {op: fuse.GeluTanh, args: 1},

	dnn.CUDNN_POINTWISE_RELU_BWD:             {op: fuse.ReluBwd, args: 2, with: reluBounds, back: true, fromY: fuse.ReluBwd},
	dnn.CUDNN_POINTWISE_TANH_BWD:             {op: fuse.TanhBwd, args: 2, back: true, fromY: fuse.TanhBwdY},
	dnn.CUDNN_POINTWISE_SIGMOID_BWD:          {op: fuse.SigmoidBwd, args: 2, back: true, fromY: fuse.SigmoidBwdY},
	dnn.CUDNN_POINTWISE_ELU_BWD:              {op: fuse.EluBwd, args: 2, with: eluAlpha, back: true, fromY: fuse.EluBwdY},
	dnn.CUDNN_POINTWISE_GELU_BWD:             {op: fuse.GeluBwd, args: 2, back: true},
	dnn.CUDNN_POINTWISE_SOFTPLUS_BWD:         {op: fuse.SoftplusBwd, args: 2, with: softBeta, back: true, fromY: fuse.SoftplusBwdY},
	dnn.CUDNN_POINTWISE_SWISH_BWD:            {op: fuse.SwishBwd, args: 2, with: swishBeta, back: true},
	dnn.CUDNN_POINTWISE_GELU_APPROX_TANH_BWD: {op: fuse.GeluTanhBwd, args: 2, back: true},

	dnn.CUDNN_POINTWISE_CMP_EQ: {op: fuse.Equal, args: 2}, dnn.CUDNN_POINTWISE_CMP_NEQ: {op: fuse.NotEqual, args: 2}, dnn.CUDNN_POINTWISE_CMP_GT: {op: fuse.Greater, args: 2},
	dnn.CUDNN_POINTWISE_CMP_GE: {op: fuse.GreaterEqual, args: 2}, dnn.CUDNN_POINTWISE_CMP_LT: {op: fuse.Less, args: 2}, dnn.CUDNN_POINTWISE_CMP_LE: {op: fuse.LessEqual, args: 2},
	dnn.CUDNN_POINTWISE_LOGICAL_AND: {op: fuse.And, args: 2}, dnn.CUDNN_POINTWISE_LOGICAL_OR: {op: fuse.Or, args: 2}, dnn.CUDNN_POINTWISE_LOGICAL_NOT: {op: fuse.Not, args: 1},
	dnn.CUDNN_POINTWISE_GEN_INDEX: {args: 1}, dnn.CUDNN_POINTWISE_BINARY_SELECT: {args: 3},
}

// pointMode is the mode of an operation.
func pointMode(o *operation) dnn.CudnnPointwiseMode_t {
	return dnn.CudnnPointwiseMode_t(given(o.g.ref(dnn.CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR).values).whole(dnn.CUDNN_ATTR_POINTWISE_MODE, 0))
}

// pointArgs are the tensors that an operation of a mode takes.
func pointArgs(o *operation) []*tensor {
	row := pointModes[pointMode(o)]
	x, y := o.g.tensor(dnn.CUDNN_ATTR_OPERATION_POINTWISE_XDESC), o.g.tensor(dnn.CUDNN_ATTR_OPERATION_POINTWISE_YDESC)
	if row.back {
		if x == nil && row.fromY != 0 {
			x = y
		}
		return []*tensor{o.g.tensor(dnn.CUDNN_ATTR_OPERATION_POINTWISE_DYDESC), x}
	}
	all := []*tensor{x, o.g.tensor(dnn.CUDNN_ATTR_OPERATION_POINTWISE_BDESC), o.g.tensor(dnn.CUDNN_ATTR_OPERATION_POINTWISE_TDESC)}
	return all[:row.args]
}

func checkPointwise(o *operation) error {
	if len(o.in) == 0 && len(o.out) == 0 {
		o.refused = fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "a pointwise operation of nothing")
		return nil
	}
	if o.g.ref(dnn.CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR) == nil {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "a pointwise operation without a mode")
	}
	mode := pointMode(o)
	row, ok := pointModes[mode]
	if !ok {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "pointwise mode %d", mode)
	}
	if row.back != (o.g.ref(dnn.CUDNN_ATTR_OPERATION_POINTWISE_DXDESC) != nil) || len(o.out) != 1 {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "the results of pointwise mode %d", mode)
	}
	args := pointArgs(o)
	if slices.Contains(args, nil) {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "pointwise mode %d needs %d tensors", mode, len(args))
	}
	for _, t := range args {
		if !broadcasts(t.dim, o.out[0].dim) {
			o.refused = fail(dnn.CUDNN_STATUS_NOT_SUPPORTED_SHAPE, "sizes %v do not become %v", t.dim, o.out[0].dim)
		}
	}
	if axis := pointAxis(o); mode == dnn.CUDNN_POINTWISE_GEN_INDEX && (axis < 0 || axis >= len(o.out[0].dim)) {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "axis %d of %d", axis, len(o.out[0].dim))
	}
	o.in = slices.DeleteFunc(o.in, func(t *tensor) bool {
		used := false
		for i, a := range args {
			used = used || a.uid == t.uid && !o.unread(i, a)
		}
		return !used && slices.ContainsFunc(args, func(a *tensor) bool { return a.uid == t.uid })
	})
	return nil
}

// alphas are the factors of a pointwise operation's first two tensors.
var alphas = []Attr{dnn.CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, dnn.CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2}

// unread reports an argument in memory whose factor is 0. It is not read and needs no address: XLA gives none to the side input
// of a convolution that has none.
func (o *operation) unread(i int, t *tensor) bool {
	return !t.virtual && i < len(alphas) && o.g.float(alphas[i], 1) == 0
}

func pointAxis(o *operation) int {
	return int(given(o.g.ref(dnn.CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR).values).whole(dnn.CUDNN_ATTR_POINTWISE_AXIS, -1))
}

// broadcasts reports sizes that are those of to, or 1.
func broadcasts(from, to []int64) bool {
	if n := len(from) - len(to); n > 0 {
		if slices.ContainsFunc(from[:n], func(d int64) bool { return d != 1 }) {
			return false
		}
		from = from[n:]
	}
	for i, d := range from {
		if d != 1 && d != to[len(to)-len(from)+i] {
			return false
		}
	}
	return true
}

// mathKind is what is computed with.
func mathKind(g given, a Attr) fuse.Kind {
	switch dnn.CudnnDataType_t(g.whole(a, 0)) {
	case dnn.CUDNN_DATA_DOUBLE:
		return fuse.F64
	case dnn.CUDNN_DATA_INT32, dnn.CUDNN_DATA_INT8, dnn.CUDNN_DATA_UINT8:
		return fuse.S32
	case dnn.CUDNN_DATA_INT64:
		return fuse.S64
	case dnn.CUDNN_DATA_BOOLEAN:
		return fuse.Bool
	}
	return fuse.F32
}

// pointwise writes an operation.
func (w *writing) pointwise(o *operation) fuse.Value {
	g := given(o.g.ref(dnn.CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR).values)
	mode := pointMode(o)
	row := pointModes[mode]
	k := mathKind(g, dnn.CUDNN_ATTR_POINTWISE_MATH_PREC)
	p := &w.program
	if mode == dnn.CUDNN_POINTWISE_GEN_INDEX {
		return w.index(o.out[0], pointAxis(o))
	}
	var args []fuse.Value
	for i, t := range pointArgs(o) {
		if o.unread(i, t) {
			args = append(args, p.Const(k, 0))
			continue
		}
		args = append(args, w.in(t))
		if i < len(alphas) {
			if by := o.g.float(alphas[i], 1); by != 1 {
				args[i] = p.Do(k, fuse.Mul, args[i], p.Const(k, by))
			}
		}
	}
	op := row.op
	keep := dnn.CudnnNanPropagation_t(g.whole(dnn.CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, 0)) == dnn.CUDNN_PROPAGATE_NAN
	switch {
	case mode == dnn.CUDNN_POINTWISE_ADD_SQUARE:
		return p.Do(k, fuse.Add, args[0], p.Do(k, fuse.Mul, args[1], args[1]))
	case mode == dnn.CUDNN_POINTWISE_IDENTITY:
		return args[0]
	case mode == dnn.CUDNN_POINTWISE_BINARY_SELECT:
		return p.Do(k, fuse.Select, args[2], args[0], args[1])
	case mode == dnn.CUDNN_POINTWISE_MAX && keep:
		op = fuse.MaxNaN
	case mode == dnn.CUDNN_POINTWISE_MIN && keep:
		op = fuse.MinNaN
	case row.back && o.g.ref(dnn.CUDNN_ATTR_OPERATION_POINTWISE_XDESC) == nil:
		op = row.fromY
	}
	for _, a := range row.with {
		args = append(args, p.Const(fuse.F64, g.float(a, defaults[a])))
	}
	return p.Do(k, op, args...)
}

func isReduction(o *operation) bool {
	return o.kind == dnn.CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR
}

func checkReduction(o *operation) error {
	if o.g.ref(dnn.CUDNN_ATTR_OPERATION_REDUCTION_DESC) == nil || o.g.ref(dnn.CUDNN_ATTR_OPERATION_REDUCTION_SUBGRAPH) != nil || len(o.in) != 1 {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "a reduction without an operator, or of groups")
	}
	if x, y := o.in[0], o.out[0]; len(x.dim) != len(y.dim) || !divides(y.dim, x.dim) {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "sizes %v reduced to %v", x.dim, y.dim)
	}
	if op := reductionOf(o); op < dnn.CUDNN_REDUCE_TENSOR_ADD || op > dnn.CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "reduction operator %d", op)
	}
	return nil
}

// divides reports sizes that are parts of others.
func divides(parts, of []int64) bool {
	for i, n := range parts {
		if n == 0 || of[i]%n != 0 {
			return false
		}
	}
	return true
}

func reductionOf(o *operation) dnn.CudnnReduceTensorOp_t {
	return dnn.CudnnReduceTensorOp_t(given(o.g.ref(dnn.CUDNN_ATTR_OPERATION_REDUCTION_DESC).values).whole(dnn.CUDNN_ATTR_REDUCTION_OPERATOR, 0))
}

// reduce writes a reduction.
func (w *writing) reduce(o *operation) fuse.Value {
	k := mathKind(given(o.g.ref(dnn.CUDNN_ATTR_OPERATION_REDUCTION_DESC).values), dnn.CUDNN_ATTR_REDUCTION_COMP_TYPE)
	p := &w.program
	x := p.As(k, w.in(o.in[0]))
	switch reductionOf(o) {
	case dnn.CUDNN_REDUCE_TENSOR_MUL:
		return p.Reduce(fuse.Mul, x)
	case dnn.CUDNN_REDUCE_TENSOR_MIN:
		return p.Reduce(fuse.Min, x)
	case dnn.CUDNN_REDUCE_TENSOR_MAX:
		return p.Reduce(fuse.Max, x)
	case dnn.CUDNN_REDUCE_TENSOR_AMAX:
		return p.Reduce(fuse.Max, p.Do(k, fuse.Abs, x))
	case dnn.CUDNN_REDUCE_TENSOR_NORM1:
		return p.Reduce(fuse.Add, p.Do(k, fuse.Abs, x))
	case dnn.CUDNN_REDUCE_TENSOR_NORM2:
		return p.Do(fuse.F64, fuse.Sqrt, p.Reduce(fuse.Add, p.Do(k, fuse.Mul, x, x)))
	case dnn.CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
		return p.Reduce(fuse.Mul, p.Do(k, fuse.Select, p.Do(k, fuse.Equal, x, p.Const(k, 0)), p.Const(k, 1), x))
	case dnn.CUDNN_REDUCE_TENSOR_AVG:
		from, to := o.in[0], o.out[0]
		n := w.number(fuse.F64, func(x *exec) float64 { return float64(x.sides(from).Count()) / float64(x.sides(to).Count()) })
		return p.Do(fuse.F64, fuse.Div, p.Reduce(fuse.Add, x), n)
	}
	return p.Reduce(fuse.Add, x)
}
