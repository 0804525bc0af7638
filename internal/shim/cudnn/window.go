package cudnn

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// Descriptors of operations that move a window: pooling and convolution.

type (
	poolDesc = dnn.CudnnPoolingDescriptor_t
	convDesc = dnn.CudnnConvolutionDescriptor_t
	poolMode = dnn.CudnnPoolingMode_t
	convMode = dnn.CudnnConvolutionMode_t
)

type pooling struct {
	mode                poolMode
	nan                 nanOpt
	window, pad, stride []int64
}

type convolution struct {
	pad, stride, dilation []int64
	mode                  convMode
	compute               dataType
	groups                int32
	math                  dnn.CudnnMathType_t
	reorder               dnn.CudnnReorderType_t
}

// below says that one of the values is less than least.
func below(least int64, v []int64) bool {
	return slices.ContainsFunc(v, func(x int64) bool { return x < least })
}

// CreatePoolingDescriptor makes one.
func (t *Thread) CreatePoolingDescriptor() (uint64, error) { return create(pooling{}) }

// DestroyPoolingDescriptor ends one.
func (t *Thread) DestroyPoolingDescriptor(h poolDesc) error { return destroy[pooling](h) }

func newPooling(v pooling) (pooling, error) {
	if !known(v.mode, dnn.CUDNN_POOLING_MAX_DETERMINISTIC) || !known(v.nan, dnn.CUDNN_PROPAGATE_NAN) {
		return v, because(badParam, "mode %d, NaN option %d", v.mode, v.nan)
	}
	if below(1, v.window) || below(1, v.stride) {
		return v, because(badParam, "window %d, padding %d, stride %d", v.window, v.pad, v.stride)
	}
	return v, nil
}

// SetPooling2dDescriptor describes pooling of images.
func (t *Thread) SetPooling2dDescriptor(h poolDesc, mode poolMode, nan nanOpt, wy, wx, py, px, sy, sx int32) error {
	return setNew[pooling](h)(newPooling(pooling{mode, nan, wide(wy, wx), wide(py, px), wide(sy, sx)}))
}

// SetPoolingNdDescriptor describes pooling over any number of dimensions.
func (t *Thread) SetPoolingNdDescriptor(h poolDesc, mode poolMode, nan nanOpt, n int32, window, pad, stride hostmem.Ptr) error {
	w, p, s, err := threeArrays(n, window, pad, stride)
	if err != nil {
		return err
	}
	if n == 0 {
		return because(badParam, "a window of no dimensions")
	}
	return setNew[pooling](h)(newPooling(pooling{mode, nan, w, p, s}))
}

// threeArrays reads what a window has in each dimension.
func threeArrays(n int32, a, b, c hostmem.Ptr) (x, y, z []int64, err error) {
	if n > maxDims-2 {
		return nil, nil, nil, because(notSupported, "a window of %d dimensions", n)
	}
	if x, err = ints(a, n); err != nil {
		return nil, nil, nil, err
	}
	if y, err = ints(b, n); err != nil {
		return nil, nil, nil, err
	}
	z, err = ints(c, n)
	return x, y, z, err
}

// GetPooling2dDescriptor tells all of it.
func (t *Thread) GetPooling2dDescriptor(h poolDesc) (mode poolMode, nan nanOpt, wy, wx, py, px, sy, sx int32, err error) {
	v, err := look[pooling](h)
	if err != nil {
		return
	}
	if len(v.window) != 2 {
		err = because(notSupported, "a window of %d dimensions, not 2", len(v.window))
		return
	}
	w, p, s := v.window, v.pad, v.stride
	return v.mode, v.nan, int32(w[0]), int32(w[1]), int32(p[0]), int32(p[1]), int32(s[0]), int32(s[1]), nil
}

// GetPoolingNdDescriptor tells all of it.
func (t *Thread) GetPoolingNdDescriptor(h poolDesc, want int32, window, pad, stride hostmem.Ptr) (mode poolMode, nan nanOpt, n int32, err error) {
	v, err := look[pooling](h)
	if err != nil {
		return 0, 0, 0, err
	}
	if want < 0 || want > maxDims-2 {
		return 0, 0, 0, because(notSupported, "%d dimensions asked for", want)
	}
	putInts(window, want, v.window)
	putInts(pad, want, v.pad)
	putInts(stride, want, v.stride)
	return v.mode, v.nan, int32(len(v.window)), nil
}

// result is the shape of what pooling gives.
func (v pooling) result(x tensor) ([]int64, error) {
	if len(x.dim) != len(v.window)+2 {
		return nil, because(badParam, "a window of %d dimensions over a tensor of %d", len(v.window), len(x.dim))
	}
	dim := slices.Clone(x.dim)
	for i, w := range v.window {
		d := 1 + floorDiv(dim[i+2]+2*v.pad[i]-w, v.stride[i])
		if d <= 0 {
			return nil, because(badParam, "a window of %d over %d elements", w, dim[i+2])
		}
		dim[i+2] = d
	}
	return dim, nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// GetPooling2dForwardOutputDim is the shape of the result.
func (t *Thread) GetPooling2dForwardOutputDim(h poolDesc, x tensorDesc) (n, c, y, w int32, err error) {
	var dim [4]int32
	err = t.GetPoolingNdForwardOutputDim(h, x, 4, hostmem.Of(&dim))
	return dim[0], dim[1], dim[2], dim[3], err
}

// GetPoolingNdForwardOutputDim is the shape of the result.
func (t *Thread) GetPoolingNdForwardOutputDim(h poolDesc, x tensorDesc, n int32, dims hostmem.Ptr) error {
	v, err := look[pooling](h)
	if err != nil {
		return err
	}
	in, err := look[tensor](x)
	if err != nil {
		return err
	}
	dim, err := v.result(in)
	if err != nil {
		return err
	}
	return giveShape(n, dims, dim)
}

// giveShape hands a shape to a program that expects one of n dimensions.
func giveShape(n int32, to hostmem.Ptr, dim []int64) error {
	if int(n) != len(dim) {
		return because(badParam, "%d dimensions asked for, not %d", n, len(dim))
	}
	if to == hostmem.Nil {
		return because(badParam, "nowhere to put a shape")
	}
	putInts(to, n, dim)
	return nil
}
