package graph

import (
	"slices"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

func checkMatmul(o *operation) error {
	g := o.g
	a, b, c := g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_ADESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_CDESC)
	for _, name := range []Attr{dnn.CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, dnn.CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC, dnn.CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC} {
		if g.ref(name) != nil {
			return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "a product whose sizes are on the device")
		}
	}
	n := len(c.dim)
	if n < 2 || len(a.dim) != n || len(b.dim) != n || a.dim[n-2] != c.dim[n-2] || b.dim[n-1] != c.dim[n-1] || a.dim[n-1] != b.dim[n-2] {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a product of %v and %v to %v", a.dim, b.dim, c.dim)
	}
	for i := range n - 2 {
		if c.dim[i]%a.dim[i] != 0 || c.dim[i]%b.dim[i] != 0 {
			return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a product of %v and %v to %v", a.dim, b.dim, c.dim)
		}
	}
	if slices.ContainsFunc([]*tensor{a, b, c}, func(t *tensor) bool { return t.elem == nn.Bool || t.elem == nn.S64 }) {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "a product of %v and %v to %v", a.elem, b.elem, c.elem)
	}
	return nil
}

func runMatmul(x *exec, o *operation) error {
	g := o.g
	a, b, c := x.tensor(g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_ADESC)), x.tensor(g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC)), x.tensor(g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_CDESC))
	// Where several of an axis share one matrix, as heads that share keys do, the axis is two.
	for i := 0; i < len(c.Dim)-2; i++ {
		least := c.Dim[i]
		for _, t := range []nn.Tensor{a, b} {
			if t.Dim[i] != 1 {
				least = min(least, t.Dim[i])
			}
		}
		if least == c.Dim[i] {
			continue
		}
		a, b, c = split(a, i, least), split(b, i, least), split(c, i, least)
		i++
	}
	return x.Matmul(a, b, c, nn.Plain)
}

// split makes two axes of one, the first of n elements.
func split(t nn.Tensor, axis int, n int64) nn.Tensor {
	outer, inner := n, t.Dim[axis]/n
	if t.Dim[axis] == 1 {
		outer, inner = 1, 1
	}
	t.Dim = slices.Insert(slices.Clone(t.Dim), axis, outer)
	t.Stride = slices.Insert(slices.Clone(t.Stride), axis, t.Stride[axis]*inner)
	t.Dim[axis+1] = inner
	return t
}
