package graph

import (
	"slices"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// copies adds a part that copies a view of a tensor to another.
func (o *operation) copies(from *tensor, view func(nn.Tensor) nn.Tensor, to *tensor) {
	w := o.part(to, nil)
	w.out(to, w.viewed(from, view))
}

// checkReshape: elements keep their order. A view keeps them where they are, which is the same where neither tensor has gaps.
func checkReshape(o *operation) error {
	x, y := o.in[0], o.out[0]
	if x.shape().Count() != y.shape().Count() {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "sizes %v as %v", x.dim, y.dim)
	}
	logical := o.g.whole(dnn.CUDNN_ATTR_OPERATION_RESHAPE_MODE, 0) == int64(dnn.CUDNN_RESHAPE_LOGICAL)
	if s := x.shape().Span(); !logical && s == x.shape().Count() && s == y.shape().Span() {
		o.copies(x, func(t nn.Tensor) nn.Tensor { t.Dim, t.Stride = y.dim, y.stride; return t }, y)
		return nil
	}
	if !x.shape().IsPacked() {
		packed := o.hide(x.elem, x.dim)
		o.copies(x, nil, packed)
		x = packed
	}
	o.copies(x, func(t nn.Tensor) nn.Tensor { t.Dim, t.Stride = y.dim, nn.Packed(y.dim...); return t }, y)
	return nil
}

func checkTranspose(o *operation) error {
	x, y := o.in[0], o.out[0]
	order := o.g[dnn.CUDNN_ATTR_OPERATION_TRANSPOSE_PERMUTATION].wholes
	if len(order) != len(x.dim) || len(y.dim) != len(x.dim) {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "sizes %v in the order %v", x.dim, order)
	}
	seen := make([]bool, len(order))
	for i, from := range order {
		if from < 0 || from >= int64(len(order)) || seen[from] || y.dim[i] != x.dim[from] {
			return fail(dnn.CUDNN_STATUS_BAD_PARAM, "sizes %v in the order %v are not %v", x.dim, order, y.dim)
		}
		seen[from] = true
	}
	o.copies(x, func(t nn.Tensor) nn.Tensor {
		v := t
		v.Dim, v.Stride = slices.Clone(t.Dim), slices.Clone(t.Stride)
		for i, from := range order {
			v.Dim[i], v.Stride[i] = t.Dim[from], t.Stride[from]
		}
		return v
	}, y)
	return nil
}

func checkSlice(o *operation) error {
	x, y := o.in[0], o.out[0]
	from, to, step := o.g[dnn.CUDNN_ATTR_OPERATION_SLICE_START_INDICES].wholes, o.g[dnn.CUDNN_ATTR_OPERATION_SLICE_LIMIT_INDICES].wholes, o.g[dnn.CUDNN_ATTR_OPERATION_SLICE_STRIDES].wholes
	if step == nil {
		step = slices.Repeat([]int64{1}, len(x.dim))
	}
	if n := len(x.dim); len(from) != n || len(to) != n || len(step) != n || len(y.dim) != n {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a slice of %v from %v to %v by %v", x.dim, from, to, step)
	}
	for i := range from {
		if from[i] < 0 || to[i] > x.dim[i] || step[i] < 1 || from[i] >= to[i] || y.dim[i] != (to[i]-from[i]+step[i]-1)/step[i] {
			return fail(dnn.CUDNN_STATUS_BAD_PARAM, "a slice of %v from %v to %v by %v is not %v", x.dim, from, to, step, y.dim)
		}
	}
	o.copies(x, func(t nn.Tensor) nn.Tensor {
		t.Stride = slices.Clone(t.Stride)
		for i := range from {
			t.Addr += uint64(from[i] * t.Stride[i] * t.Type.Size())
			t.Stride[i] *= step[i]
		}
		t.Dim = y.dim
		return t
	}, y)
	return nil
}

func checkConcat(o *operation) error {
	y := o.out[0]
	axis := o.g.whole(dnn.CUDNN_ATTR_OPERATION_CONCAT_AXIS, 0)
	if axis < 0 || axis >= int64(len(y.dim)) {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "axis %d of %d", axis, len(y.dim))
	}
	at := int64(0)
	for _, x := range o.in {
		want := slices.Clone(y.dim)
		if len(x.dim) == len(want) {
			want[axis] = x.dim[axis]
		}
		if !slices.Equal(x.dim, want) || x.elem != y.elem {
			return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "%v is no part of %v along axis %d", x.dim, y.dim, axis)
		}
		begin, size := at, x.dim[axis]
		w := o.part(x, nil)
		v := w.in(x)
		w.args = append(w.args, argument{y, func(t nn.Tensor) nn.Tensor { return t.At(int(axis), begin, size) }})
		w.program.Out(y.elem, v)
		at += size
	}
	if at != y.dim[axis] {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "%d of %d along axis %d", at, y.dim[axis], axis)
	}
	return nil
}
