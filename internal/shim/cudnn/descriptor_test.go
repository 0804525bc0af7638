package cudnn

import (
	"slices"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

const (
	f32  = dnn.CUDNN_DATA_FLOAT
	nchw = dnn.CUDNN_TENSOR_NCHW
	nhwc = dnn.CUDNN_TENSOR_NHWC
)

// made is a new descriptor that ends with the test.
func made[H ~uint64](t *testing.T, create func() (uint64, error), end func(H) error) H {
	t.Helper()
	h, err := create()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := end(H(h)); err != nil {
			t.Error(err)
		}
	})
	return H(h)
}

// wants compares a code.
func wants(t *testing.T, what string, err error, code dnn.CudnnStatus_t) {
	t.Helper()
	got := dnn.CUDNN_STATUS_SUCCESS
	if err != nil {
		got = dnn.CudnnStatus_t(Code(err))
	}
	if got != code {
		t.Errorf("%s: code %d (%v), not %d", what, got, err, code)
	}
}

func array(v ...int32) hostmem.Ptr { return hostmem.Of(&v[0]) }

const (
	success = dnn.CUDNN_STATUS_SUCCESS
	bad     = dnn.CUDNN_STATUS_BAD_PARAM
	refused = dnn.CUDNN_STATUS_NOT_SUPPORTED
)

func TestTensorDescriptors(t *testing.T) {
	th := new(Thread)
	h := made(t, th.CreateTensorDescriptor, th.DestroyTensorDescriptor)
	wants(t, "4d", th.SetTensor4dDescriptor(h, nhwc, f32, 2, 3, 4, 5), success)
	kind, n, c, y, x, ns, cs, ys, xs, err := th.GetTensor4dDescriptor(h)
	if got := []int32{n, c, y, x, ns, cs, ys, xs}; err != nil || kind != f32 || !slices.Equal(got, []int32{2, 3, 4, 5, 60, 1, 15, 3}) {
		t.Errorf("NHWC is %d of type %d, %v", got, kind, err)
	}
	if size, err := th.GetTensorSizeInBytes(h); err != nil || size != 480 {
		t.Errorf("%d bytes, %v", size, err)
	}
	wants(t, "vectors", th.SetTensor4dDescriptor(h, dnn.CUDNN_TENSOR_NCHW_VECT_C, dnn.CUDNN_DATA_INT8x4, 2, 8, 3, 5), success)
	if size, _ := th.GetTensorSizeInBytes(h); size != 240 {
		t.Errorf("vectors have %d bytes, not 240", size)
	}
	wants(t, "strides with gaps", th.SetTensorNdDescriptor(h, dnn.CUDNN_DATA_HALF, 3, array(2, 3, 4), array(100, 10, 2)), success)
	if size, _ := th.GetTensorSizeInBytes(h); size != 2*(100+20+6+1) {
		t.Errorf("gaps: %d bytes", size)
	}
	dim, stride := make([]int32, 8), make([]int32, 8)
	kind, n, err = th.GetTensorNdDescriptor(h, 2, hostmem.Of(&dim[0]), hostmem.Of(&stride[0]))
	if err != nil || kind != dnn.CUDNN_DATA_HALF || n != 3 || !slices.Equal(dim[:3], []int32{2, 3, 0}) || !slices.Equal(stride[:3], []int32{100, 10, 0}) {
		t.Errorf("two of %d dimensions: %d, strides %d, type %d, %v", n, dim, stride, kind, err)
	}
	wants(t, "Ex", th.SetTensorNdDescriptorEx(h, nhwc, f32, 5, array(2, 3, 4, 5, 6)), success)
	if _, _, err = th.GetTensorNdDescriptor(h, 8, hostmem.Nil, hostmem.Of(&stride[0])); err != nil || !slices.Equal(stride[:5], []int32{360, 1, 90, 18, 3}) {
		t.Errorf("strides %d, %v", stride, err)
	}
	if _, n, _, _, x, ns, _, _, xs, err := th.GetTensor4dDescriptor(h); err != nil || n != 2 || x != 5 || ns != 360 || xs != 18 {
		t.Errorf("the first four of five dimensions: %d to %d, strides %d to %d, %v", n, x, ns, xs, err)
	}
	other := made(t, th.CreateFilterDescriptor, th.DestroyFilterDescriptor)
	for _, c := range []struct {
		what string
		err  error
		code dnn.CudnnStatus_t
	}{
		{"no channels", th.SetTensor4dDescriptor(h, nchw, f32, 1, 0, 1, 1), bad},
		{"a type that is none", th.SetTensor4dDescriptor(h, nchw, 99, 1, 1, 1, 1), bad},
		{"a format that is none", th.SetTensor4dDescriptor(h, 7, f32, 1, 1, 1, 1), bad},
		{"vectors of 3 channels", th.SetTensor4dDescriptor(h, dnn.CUDNN_TENSOR_NCHW_VECT_C, dnn.CUDNN_DATA_INT8x4, 1, 3, 1, 1), bad},
		{"nine dimensions", th.SetTensorNdDescriptor(h, f32, 9, array(1, 1, 1, 1, 1, 1, 1, 1, 1), array(1, 1, 1, 1, 1, 1, 1, 1, 1)), refused},
		{"no strides", th.SetTensorNdDescriptor(h, f32, 4, array(1, 1, 1, 1), hostmem.Nil), bad},
		{"too many elements", th.SetTensor4dDescriptor(h, nchw, f32, 1<<16, 1<<15, 1, 1), refused},
		{"a stride of 0", th.SetTensor4dDescriptorEx(h, f32, 1, 1, 1, 2, 1, 1, 1, 0), bad},
		{"a stride below 0", th.SetTensor4dDescriptorEx(h, f32, 1, 1, 1, 2, 1, 1, 1, -1), success},
		{"one dimension", th.SetTensorNdDescriptor(h, f32, 1, array(1), array(1)), bad},
		{"a type of backend descriptors", th.SetTensor4dDescriptor(h, nchw, dnn.CUDNN_DATA_INT64, 1, 1, 1, 1), bad},
		{"a filter", th.SetTensor4dDescriptor(tensorDesc(other), nchw, f32, 1, 1, 1, 1), bad},
		{"NULL", th.SetTensor4dDescriptor(0, nchw, f32, 1, 1, 1, 1), bad},
		{"no NULL to destroy", th.DestroyTensorDescriptor(0), success},
		{"a filter to destroy", th.DestroyTensorDescriptor(tensorDesc(other)), bad},
	} {
		wants(t, c.what, c.err, c.code)
	}
}

func TestFilterDescriptors(t *testing.T) {
	th := new(Thread)
	h := made(t, th.CreateFilterDescriptor, th.DestroyFilterDescriptor)
	wants(t, "4d", th.SetFilter4dDescriptor(h, f32, nchw, 8, 3, 2, 5), success)
	kind, f, k, c, y, x, err := th.GetFilter4dDescriptor(h)
	if got := []int32{k, c, y, x}; err != nil || kind != f32 || f != nchw || !slices.Equal(got, []int32{8, 3, 2, 5}) {
		t.Errorf("%d, type %d, format %d, %v", got, kind, f, err)
	}
	wants(t, "Nd", th.SetFilterNdDescriptor(h, dnn.CUDNN_DATA_HALF, nhwc, 5, array(8, 3, 2, 5, 7)), success)
	dim := make([]int32, 8)
	kind, f, n, err := th.GetFilterNdDescriptor(h, 8, hostmem.Of(&dim[0]))
	if err != nil || kind != dnn.CUDNN_DATA_HALF || f != nhwc || n != 5 || !slices.Equal(dim[:6], []int32{8, 3, 2, 5, 7, 0}) {
		t.Errorf("%d, %d dimensions, type %d, format %d, %v", dim, n, kind, f, err)
	}
	if size, err := th.GetFilterSizeInBytes(h); err != nil || size != 2*8*3*2*5*7 {
		t.Errorf("%d bytes, %v", size, err)
	}
	wants(t, "an empty window", th.SetFilter4dDescriptor(h, f32, nchw, 8, 3, 0, 5), bad)
	wants(t, "NULL", th.SetFilter4dDescriptor(0, f32, nchw, 8, 3, 1, 5), bad)
}

func TestTransformDescriptors(t *testing.T) {
	th := new(Thread)
	h := made(t, th.CreateTensorTransformDescriptor, th.DestroyTensorTransformDescriptor)
	src := made(t, th.CreateTensorDescriptor, th.DestroyTensorDescriptor)
	dst := made(t, th.CreateTensorDescriptor, th.DestroyTensorDescriptor)
	wants(t, "set", th.SetTensorTransformDescriptor(h, 4, nhwc, array(0, 1, 0, 2), array(0, 0, 0, 1), array(2, 3), dnn.CUDNN_TRANSFORM_FOLD), success)
	before, fold := make([]int32, 4), make([]int32, 4)
	f, direction, err := th.GetTensorTransformDescriptor(h, 4, hostmem.Of(&before[0]), hostmem.Nil, hostmem.Of(&fold[0]))
	if err != nil || f != nhwc || direction != dnn.CUDNN_TRANSFORM_FOLD || !slices.Equal(before, []int32{0, 1, 0, 2}) || !slices.Equal(fold, []int32{2, 3, 0, 0}) {
		t.Errorf("format %d, direction %d, padding %d, folds %d, %v", f, direction, before, fold, err)
	}
	wants(t, "tensor", th.SetTensor4dDescriptor(src, nchw, f32, 2, 3, 4, 6), success)
	size := uint64(0)
	wants(t, "result", th.InitTransformDest(h, src, dst, hostmem.Of(&size)), success)
	_, n, c, y, x, _, _, _, _, _ := th.GetTensor4dDescriptor(dst)
	if got := []int32{n, c, y, x}; !slices.Equal(got, []int32{2, 24, 2, 3}) || size != 4*2*24*6 {
		t.Errorf("the result has %d and %d bytes", got, size)
	}
	wants(t, "what cannot be folded", th.SetTensorTransformDescriptor(h, 4, nchw, hostmem.Nil, hostmem.Nil, array(3, 1), dnn.CUDNN_TRANSFORM_FOLD), success)
	wants(t, "result", th.InitTransformDest(h, src, dst, hostmem.Of(&size)), bad)
	wants(t, "two dimensions", th.SetTensorTransformDescriptor(h, 2, nchw, hostmem.Nil, hostmem.Nil, hostmem.Nil, 0), bad)
	wants(t, "nine dimensions", th.SetTensorTransformDescriptor(h, 9, nchw, hostmem.Nil, hostmem.Nil, hostmem.Nil, 0), refused)
}
