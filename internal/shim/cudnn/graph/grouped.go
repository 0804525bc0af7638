package graph

import (
	"slices"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// groupedFactors are the tensors of a product in groups: tokens, weights or the gradient of the result, the result or the gradient of the
// weights, and where the groups begin.
func groupedFactors(o *operation) (token, weight, out, offsets *tensor) {
	g := o.g
	if o.kind == dnn.CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_BWD_DESCRIPTOR {
		return g.tensor(dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_TOKEN_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_DOUTPUT_DESC),
			g.tensor(dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_DWEIGHT_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_FIRST_TOKEN_OFFSET_DESC)
	}
	return g.tensor(dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_TOKEN_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_WEIGHT_DESC),
		g.tensor(dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_OUTPUT_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_FIRST_TOKEN_OFFSET_DESC)
}

func checkGrouped(o *operation) error {
	// How gathered and scattered tokens are counted is not public.
	if mode := dnn.CudnnMoeGroupedMatmulMode_t(o.g.whole(dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_MODE, 0)); mode != dnn.CUDNN_MOE_GROUPED_MATMUL_MODE_NONE {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "a grouped product of mode %d", mode)
	}
	token, weight, out, offsets := groupedFactors(o)
	if slices.ContainsFunc([]*tensor{token, weight, out}, func(t *tensor) bool { return len(t.dim) != 3 }) {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a grouped product of %v and %v to %v", token.dim, weight.dim, out.dim)
	}
	groups := offsets.shape().Count()
	rows, depth, columns := token.dim[1], token.dim[2], out.dim[2]
	fits := groups%weight.dim[0] == 0 && slices.Equal(weight.dim[1:], []int64{depth, columns}) && slices.Equal(out.dim, []int64{1, rows, columns})
	if o.kind == dnn.CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_BWD_DESCRIPTOR {
		fits = slices.Equal(out.dim, []int64{groups, depth, columns}) && slices.Equal(weight.dim, []int64{1, rows, columns})
	}
	if !fits || token.dim[0] != 1 {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a product of %v and %v to %v in %d groups", token.dim, weight.dim, out.dim, groups)
	}
	if slices.ContainsFunc([]*tensor{token, weight, out}, func(t *tensor) bool { return !t.elem.Float() || t.ragged != nil }) || offsets.elem != nn.S32 || !offsets.shape().IsPacked() {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "a grouped product of %v and %v to %v by %v", token.elem, weight.elem, out.elem, offsets.elem)
	}
	return nil
}

func runGrouped(x *exec, o *operation) error {
	token, weight, out, offsets := groupedFactors(o)
	if o.kind == dnn.CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_BWD_DESCRIPTOR {
		return x.GroupedBackward(x.tensor(token), x.tensor(weight), x.tensor(out), x.tensor(offsets))
	}
	return x.Grouped(x.tensor(token), x.tensor(weight), x.tensor(out), x.tensor(offsets))
}
