package cudnn

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

type transformDesc = dnn.CudnnTensorTransformDescriptor_t

// transform is the value of a transform descriptor: padding, then folding of the spatial dimensions into channels or back.
type transform struct {
	n             int32
	to            format
	before, after []int64 // nil: none
	fold          []int64 // of the spatial dimensions; nil: 1
	direction     dnn.CudnnFoldingDirection_t
}

// CreateTensorTransformDescriptor makes one.
func (t *Thread) CreateTensorTransformDescriptor() (uint64, error) { return create(transform{}) }

// DestroyTensorTransformDescriptor ends one.
func (t *Thread) DestroyTensorTransformDescriptor(h transformDesc) error {
	return destroy[transform](h)
}

// optionalInts reads an array that may be missing.
func optionalInts(p hostmem.Ptr, n int32) []int64 {
	if p == hostmem.Nil {
		return nil
	}
	v, _ := ints(p, n)
	return v
}

// SetTensorTransformDescriptor says what is done to a tensor.
func (t *Thread) SetTensorTransformDescriptor(h transformDesc, n uint32, to format, before, after, fold hostmem.Ptr, direction dnn.CudnnFoldingDirection_t) error {
	if n > maxDims {
		return because(notSupported, "%d dimensions", n)
	}
	if n <= 2 || !known(direction, dnn.CUDNN_TRANSFORM_UNFOLD) || !known(to, dnn.CUDNN_TENSOR_NCHW_VECT_C) {
		return because(badParam, "%d dimensions, direction %d, format %d", n, direction, to)
	}
	v := transform{n: int32(n), to: to, direction: direction, before: optionalInts(before, int32(n)), after: optionalInts(after, int32(n)), fold: optionalInts(fold, int32(n)-2)}
	if below(0, v.before) || below(0, v.after) || below(1, v.fold) {
		return because(badParam, "padding %d and %d, folds %d", v.before, v.after, v.fold)
	}
	return set(h, v)
}

// GetTensorTransformDescriptor tells all of it.
func (t *Thread) GetTensorTransformDescriptor(h transformDesc, want uint32, before, after, fold hostmem.Ptr) (format, dnn.CudnnFoldingDirection_t, error) {
	v, err := look[transform](h)
	if err != nil {
		return 0, 0, err
	}
	n := int32(min(want, maxDims))
	putInts(before, n, v.padding(v.before))
	putInts(after, n, v.padding(v.after))
	putInts(fold, n-2, v.folds())
	return v.to, v.direction, nil
}

// padding is that of all dimensions.
func (v transform) padding(p []int64) []int64 {
	if p == nil {
		return make([]int64, v.n)
	}
	return p
}

// folds are those of all spatial dimensions.
func (v transform) folds() []int64 {
	if v.fold == nil {
		return slices.Repeat([]int64{1}, max(int(v.n)-2, 0))
	}
	return v.fold
}

// result is the shape of what is made of a shape.
func (v transform) result(dim []int64) ([]int64, error) {
	if int(v.n) != len(dim) {
		return nil, because(badParam, "a transform of %d dimensions of a tensor of %d", v.n, len(dim))
	}
	to := slices.Clone(dim)
	before, after := v.padding(v.before), v.padding(v.after)
	for i := range to {
		to[i] += before[i] + after[i]
	}
	for i, f := range v.folds() {
		switch {
		case v.direction == dnn.CUDNN_TRANSFORM_FOLD && to[i+2]%f == 0:
			to[i+2] /= f
			to[1] *= f
		case v.direction == dnn.CUDNN_TRANSFORM_UNFOLD && to[1]%f == 0:
			to[i+2] *= f
			to[1] /= f
		default:
			return nil, because(badParam, "dimensions %d folded by %d", to, v.folds())
		}
	}
	return to, nil
}

// InitTransformDest describes what a transform makes of a tensor.
func (t *Thread) InitTransformDest(h transformDesc, src, dst tensorDesc, size hostmem.Ptr) error {
	v, err := look[transform](h)
	if err != nil {
		return err
	}
	x, err := look[tensor](src)
	if err != nil {
		return err
	}
	if size == hostmem.Nil {
		return because(badParam, "nowhere to put the size")
	}
	dim, err := v.result(x.dim)
	if err != nil {
		return err
	}
	y, err := formed(v.to, x.kind, dim)
	if err != nil {
		return err
	}
	hostmem.Store(size, y.bytes())
	return set(dst, y)
}
