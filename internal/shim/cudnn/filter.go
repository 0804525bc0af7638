package cudnn

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// newFilter checks what a filter is made of: output channels, input channels, extents of the window.
func newFilter(kind dataType, f format, dim []int64) (filter, error) {
	if len(dim) < 3 {
		return filter{}, because(badParam, "%d dimensions", len(dim))
	}
	x, err := formed(f, kind, dim)
	return filter{kind: kind, format: f, dim: x.dim}, err
}

// tensor is the filter's memory as a tensor.
func (f filter) tensor() tensor {
	return tensor{kind: f.kind, dim: f.dim, stride: packedStrides(f.format, f.kind, f.dim), vector: f.format == dnn.CUDNN_TENSOR_NCHW_VECT_C}
}

// CreateFilterDescriptor makes one.
func (t *Thread) CreateFilterDescriptor() (uint64, error) { return create(filter{}) }

// DestroyFilterDescriptor ends one.
func (t *Thread) DestroyFilterDescriptor(h filterDesc) error { return destroy[filter](h) }

// SetFilter4dDescriptor describes a filter of images.
func (t *Thread) SetFilter4dDescriptor(h filterDesc, kind dataType, f format, k, c, y, x int32) error {
	return setNew[filter](h)(newFilter(kind, f, wide(k, c, y, x)))
}

// SetFilterNdDescriptor describes a filter.
func (t *Thread) SetFilterNdDescriptor(h filterDesc, kind dataType, f format, n int32, dims hostmem.Ptr) error {
	dim, _, err := twoArrays(n, dims, dims)
	if err != nil {
		return err
	}
	return setNew[filter](h)(newFilter(kind, f, dim))
}

// GetFilter4dDescriptor tells type, format and sizes.
func (t *Thread) GetFilter4dDescriptor(h filterDesc) (kind dataType, f format, k, c, y, x int32, err error) {
	v, err := look[filter](h)
	if err != nil {
		return
	}
	d := first4(v.dim)
	return v.kind, v.format, int32(d[0]), int32(d[1]), int32(d[2]), int32(d[3]), nil
}

// GetFilterNdDescriptor tells type, format and sizes.
func (t *Thread) GetFilterNdDescriptor(h filterDesc, want int32, dims hostmem.Ptr) (kind dataType, f format, n int32, err error) {
	v, err := look[filter](h)
	if err != nil {
		return 0, 0, 0, err
	}
	putInts(dims, want, v.dim)
	return v.kind, v.format, int32(len(v.dim)), nil
}

// GetFilterSizeInBytes is the memory of a filter.
func (t *Thread) GetFilterSizeInBytes(h filterDesc) (uint64, error) {
	v, err := look[filter](h)
	if err != nil || v.dim == nil {
		return 0, err
	}
	return v.tensor().bytes(), nil
}
