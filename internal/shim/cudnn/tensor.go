package cudnn

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

type (
	dataType   = dnn.CudnnDataType_t
	format     = dnn.CudnnTensorFormat_t
	tensorDesc = dnn.CudnnTensorDescriptor_t
	filterDesc = dnn.CudnnFilterDescriptor_t
	nanOpt     = dnn.CudnnNanPropagation_t
)

// tensor is the value of a tensor descriptor. Strides count elements; with vectors (NCHW_VECT_C) an element is a vector, and the
// channels are those of all vectors.
type tensor struct {
	kind   dataType
	dim    []int64
	stride []int64
	vector bool // format NCHW_VECT_C
}

// filter is the value of a filter descriptor.
type filter struct {
	kind   dataType
	format format
	dim    []int64
}

// bits are the sizes of elements, by type. With a vector it is that of all of it.
var bits = [...]int64{
	dnn.CUDNN_DATA_FLOAT: 32, dnn.CUDNN_DATA_DOUBLE: 64, dnn.CUDNN_DATA_HALF: 16, dnn.CUDNN_DATA_INT8: 8, dnn.CUDNN_DATA_INT32: 32,
	dnn.CUDNN_DATA_INT8x4: 32, dnn.CUDNN_DATA_UINT8: 8, dnn.CUDNN_DATA_UINT8x4: 32, dnn.CUDNN_DATA_INT8x32: 256,
	dnn.CUDNN_DATA_BFLOAT16: 16, dnn.CUDNN_DATA_INT64: 64, dnn.CUDNN_DATA_BOOLEAN: 8, dnn.CUDNN_DATA_FP8_E4M3: 8,
	dnn.CUDNN_DATA_FP8_E5M2: 8, dnn.CUDNN_DATA_FAST_FLOAT_FOR_FP8: 32, dnn.CUDNN_DATA_FP8_E8M0: 8, dnn.CUDNN_DATA_FP4_E2M1: 4,
	dnn.CUDNN_DATA_INT4: 4, dnn.CUDNN_DATA_UINT4: 4, dnn.CUDNN_DATA_UINT32: 32, dnn.CUDNN_DATA_COMPLEX_FP32: 64,
	dnn.CUDNN_DATA_COMPLEX_FP64: 128, dnn.CUDNN_DATA_BYTE_BOOLEAN: 8, dnn.CUDNN_DATA_FP8_E5M3: 8,
}

// lanes is how many channels an element of a type has.
func lanes(k dataType) int64 {
	switch k {
	case dnn.CUDNN_DATA_INT8x4, dnn.CUDNN_DATA_UINT8x4:
		return 4
	case dnn.CUDNN_DATA_INT8x32:
		return 32
	}
	return 1
}

// mostElements is what a tensor may have.
const mostElements = 1 << 31

// plainDims checks what tensors and filters share. The types after BFLOAT16 are those of backend descriptors only.
func plainDims(kind dataType, dim []int64) error {
	if !known(kind, dnn.CUDNN_DATA_BFLOAT16) {
		return because(badParam, "data type %d", kind)
	}
	n := int64(1)
	for _, d := range dim {
		if d <= 0 {
			return because(badParam, "dimensions %d", dim)
		}
		if n *= d; n >= mostElements {
			return because(notSupported, "dimensions %d: too many elements", dim)
		}
	}
	return nil
}

// strided is a tensor with the strides of a program.
func strided(kind dataType, dim, stride []int64) (tensor, error) {
	if err := plainDims(kind, dim); err != nil {
		return tensor{}, err
	}
	if slices.Contains(stride, 0) {
		return tensor{}, because(badParam, "strides %d", stride)
	}
	if span(dim, stride) > mostElements {
		return tensor{}, because(notSupported, "strides %d: too far apart", stride)
	}
	return tensor{kind: kind, dim: dim, stride: stride}, nil
}

// span is how many elements lie from the first to the last.
func span(dim, stride []int64) int64 {
	n := int64(1)
	for i, d := range dim {
		n += (d - 1) * stride[i]
	}
	return n
}

// formed is a tensor without gaps.
func formed(f format, kind dataType, dim []int64) (tensor, error) {
	if err := plainDims(kind, dim); err != nil {
		return tensor{}, err
	}
	if !known(f, dnn.CUDNN_TENSOR_NCHW_VECT_C) {
		return tensor{}, because(badParam, "format %d", f)
	}
	if v := lanes(kind); f == dnn.CUDNN_TENSOR_NCHW_VECT_C && (v == 1 || dim[1]%v != 0) {
		return tensor{}, because(badParam, "%d channels of type %d in format %d", dim[1], kind, f)
	}
	return tensor{kind: kind, dim: dim, stride: packedStrides(f, kind, dim), vector: f == dnn.CUDNN_TENSOR_NCHW_VECT_C}, nil
}

// packedStrides are those of a format without gaps.
func packedStrides(f format, kind dataType, dim []int64) []int64 {
	stride := make([]int64, len(dim))
	n := int64(1)
	next := func(i int) {
		stride[i] = n
		if n *= dim[i]; i == 1 && f == dnn.CUDNN_TENSOR_NCHW_VECT_C {
			n /= lanes(kind)
		}
	}
	if f == dnn.CUDNN_TENSOR_NHWC {
		next(1)
	}
	for i := len(dim) - 1; i >= 0; i-- {
		if i != 1 || f != dnn.CUDNN_TENSOR_NHWC {
			next(i)
		}
	}
	return stride
}

// bytes is the memory that a tensor spans.
func (x tensor) bytes() uint64 {
	dim := x.dim
	if x.vector {
		dim = slices.Clone(dim)
		dim[1] /= lanes(x.kind)
	}
	return uint64((span(dim, x.stride)*bits[x.kind] + 7) / 8)
}

// count is how many elements a tensor has.
func count(dim []int64) int64 {
	n := int64(1)
	for _, d := range dim {
		n *= d
	}
	return n
}

// CreateTensorDescriptor makes one.
func (t *Thread) CreateTensorDescriptor() (uint64, error) { return create(tensor{}) }

// DestroyTensorDescriptor ends one.
func (t *Thread) DestroyTensorDescriptor(h tensorDesc) error { return destroy[tensor](h) }

// SetTensor4dDescriptor describes images without gaps.
func (t *Thread) SetTensor4dDescriptor(h tensorDesc, f format, kind dataType, n, c, y, x int32) error {
	return setNew[tensor](h)(formed(f, kind, wide(n, c, y, x)))
}

// SetTensor4dDescriptorEx describes images with strides.
func (t *Thread) SetTensor4dDescriptorEx(h tensorDesc, kind dataType, n, c, y, x, ns, cs, ys, xs int32) error {
	return setNew[tensor](h)(strided(kind, wide(n, c, y, x), wide(ns, cs, ys, xs)))
}

// SetTensorNdDescriptor describes a tensor with strides.
func (t *Thread) SetTensorNdDescriptor(h tensorDesc, kind dataType, n int32, dims, strides hostmem.Ptr) error {
	dim, stride, err := twoArrays(n, dims, strides)
	if err != nil {
		return err
	}
	return setNew[tensor](h)(strided(kind, dim, stride))
}

// SetTensorNdDescriptorEx describes a tensor without gaps.
func (t *Thread) SetTensorNdDescriptorEx(h tensorDesc, f format, kind dataType, n int32, dims hostmem.Ptr) error {
	dim, _, err := twoArrays(n, dims, dims)
	if err != nil {
		return err
	}
	return setNew[tensor](h)(formed(f, kind, dim))
}

// twoArrays reads arrays of one length, which must be one that dimensions may have.
func twoArrays(n int32, a, b hostmem.Ptr) (x, y []int64, err error) {
	if n > maxDims {
		return nil, nil, because(notSupported, "%d dimensions", n)
	}
	if n < 2 {
		return nil, nil, because(badParam, "%d dimensions", n)
	}
	if x, err = ints(a, n); err != nil {
		return nil, nil, err
	}
	y, err = ints(b, n)
	return x, y, err
}

// setNew sets a descriptor to what a constructor gives, unless it fails.
func setNew[T any, H ~uint64](h H) func(T, error) error {
	return func(v T, err error) error {
		if _, unknown := look[T](h); unknown != nil {
			return unknown
		}
		if err != nil {
			return err
		}
		return replace(h, v)
	}
}

func wide(v ...int32) []int64 {
	w := make([]int64, len(v))
	for i, x := range v {
		w[i] = int64(x)
	}
	return w
}

// GetTensor4dDescriptor tells type, sizes and strides.
func (t *Thread) GetTensor4dDescriptor(h tensorDesc) (kind dataType, n, c, y, x, ns, cs, ys, xs int32, err error) {
	v, err := look[tensor](h)
	if err != nil {
		return
	}
	d, s := first4(v.dim), first4(v.stride)
	return v.kind, int32(d[0]), int32(d[1]), int32(d[2]), int32(d[3]), int32(s[0]), int32(s[1]), int32(s[2]), int32(s[3]), nil
}

// first4 are as many as a call for images tells, of however many there are.
func first4(v []int64) (four [4]int64) {
	copy(four[:], v)
	return four
}

// GetTensorNdDescriptor tells type, sizes and strides.
func (t *Thread) GetTensorNdDescriptor(h tensorDesc, want int32, dims, strides hostmem.Ptr) (kind dataType, n int32, err error) {
	v, err := look[tensor](h)
	if err != nil {
		return 0, 0, err
	}
	putInts(dims, want, v.dim)
	putInts(strides, want, v.stride)
	return v.kind, int32(len(v.dim)), nil
}

// GetTensorSizeInBytes is the memory from its first element to its last.
func (t *Thread) GetTensorSizeInBytes(h tensorDesc) (uint64, error) {
	v, err := look[tensor](h)
	if err != nil || v.dim == nil {
		return 0, err
	}
	return v.bytes(), nil
}
