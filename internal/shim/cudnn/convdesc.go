package cudnn

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// CreateConvolutionDescriptor makes one.
func (t *Thread) CreateConvolutionDescriptor() (uint64, error) {
	return create(convolution{groups: 1, mode: dnn.CUDNN_CROSS_CORRELATION})
}

// DestroyConvolutionDescriptor ends one.
func (t *Thread) DestroyConvolutionDescriptor(h convDesc) error { return destroy[convolution](h) }

func (t *Thread) setConvolution(h convDesc, v convolution) error {
	if !known(v.mode, dnn.CUDNN_CROSS_CORRELATION) || !computes(v.compute) && v.compute != dnn.CUDNN_DATA_INT32 {
		return because(badParam, "mode %d in type %d", v.mode, v.compute)
	}
	if below(0, v.pad) || below(1, v.stride) || below(1, v.dilation) {
		return because(badParam, "padding %d, stride %d, dilation %d", v.pad, v.stride, v.dilation)
	}
	return alter(h, func(now *convolution) {
		now.pad, now.stride, now.dilation, now.mode, now.compute = v.pad, v.stride, v.dilation, v.mode, v.compute
	})
}

// SetConvolution2dDescriptor describes the convolution of images.
func (t *Thread) SetConvolution2dDescriptor(h convDesc, py, px, sy, sx, dy, dx int32, mode convMode, compute dataType) error {
	return t.setConvolution(h, convolution{pad: wide(py, px), stride: wide(sy, sx), dilation: wide(dy, dx), mode: mode, compute: compute})
}

// SetConvolutionNdDescriptor describes a convolution over any number of dimensions.
func (t *Thread) SetConvolutionNdDescriptor(h convDesc, n int32, pad, stride, dilation hostmem.Ptr, mode convMode, compute dataType) error {
	p, s, d, err := threeArrays(n, pad, stride, dilation)
	if err != nil {
		return err
	}
	return t.setConvolution(h, convolution{pad: p, stride: s, dilation: d, mode: mode, compute: compute})
}

// GetConvolution2dDescriptor tells all of it.
func (t *Thread) GetConvolution2dDescriptor(h convDesc) (py, px, sy, sx, dy, dx int32, mode convMode, compute dataType, err error) {
	v, err := look[convolution](h)
	if err != nil {
		return
	}
	if len(v.pad) != 2 {
		err = because(badParam, "a window of %d dimensions, not 2", len(v.pad))
		return
	}
	p, s, d := v.pad, v.stride, v.dilation
	return int32(p[0]), int32(p[1]), int32(s[0]), int32(s[1]), int32(d[0]), int32(d[1]), v.mode, v.compute, nil
}

// GetConvolutionNdDescriptor tells all of it.
func (t *Thread) GetConvolutionNdDescriptor(h convDesc, want int32, pad, stride, dilation hostmem.Ptr) (n int32, mode convMode, compute dataType, err error) {
	v, err := look[convolution](h)
	if err != nil {
		return 0, 0, 0, err
	}
	if want < 0 {
		return 0, 0, 0, because(badParam, "%d dimensions asked for", want)
	}
	if want > maxDims-2 {
		return 0, 0, 0, because(notSupported, "%d dimensions asked for", want)
	}
	putInts(pad, want, v.pad)
	putInts(stride, want, v.stride)
	putInts(dilation, want, v.dilation)
	return int32(len(v.pad)), v.mode, v.compute, nil
}

// SetConvolutionGroupCount splits the channels into groups.
func (t *Thread) SetConvolutionGroupCount(h convDesc, n int32) error {
	if n < 1 {
		return because(badParam, "%d groups", n)
	}
	return alter(h, func(v *convolution) { v.groups = n })
}

// GetConvolutionGroupCount is the number of groups.
func (t *Thread) GetConvolutionGroupCount(h convDesc) (int32, error) {
	v, err := look[convolution](h)
	return v.groups, err
}

// SetConvolutionMathType says which units may compute. There is one way here.
func (t *Thread) SetConvolutionMathType(h convDesc, m dnn.CudnnMathType_t) error {
	if !known(m, dnn.CUDNN_FMA_MATH) {
		return because(badParam, "math type %d", m)
	}
	return alter(h, func(v *convolution) { v.math = m })
}

// GetConvolutionMathType tells what was set.
func (t *Thread) GetConvolutionMathType(h convDesc) (dnn.CudnnMathType_t, error) {
	v, err := look[convolution](h)
	return v.math, err
}

// SetConvolutionReorderType says whether filters of INT8x32 are to be reordered.
func (t *Thread) SetConvolutionReorderType(h convDesc, r dnn.CudnnReorderType_t) error {
	if !known(r, dnn.CUDNN_NO_REORDER) {
		return because(badParam, "reorder type %d", r)
	}
	return alter(h, func(v *convolution) { v.reorder = r })
}

// GetConvolutionReorderType tells what was set.
func (t *Thread) GetConvolutionReorderType(h convDesc) (dnn.CudnnReorderType_t, error) {
	v, err := look[convolution](h)
	return v.reorder, err
}

// result is the shape of what a convolution gives.
func (v convolution) result(x tensor, w filter) ([]int64, error) {
	if len(x.dim) != len(w.dim) || len(x.dim) != len(v.pad)+2 {
		return nil, because(badParam, "a window of %d dimensions, a filter of %d, a tensor of %d", len(v.pad), len(w.dim), len(x.dim))
	}
	groups := int64(v.groups)
	if x.dim[1] != w.dim[1]*groups || w.dim[0]%groups != 0 {
		return nil, because(badParam, "%d channels, filters %d, %d groups", x.dim[1], w.dim, groups)
	}
	dim := slices.Clone(x.dim)
	dim[1] = w.dim[0]
	for i := range v.pad {
		extent := (w.dim[i+2]-1)*v.dilation[i] + 1
		d := 1 + floorDiv(dim[i+2]+2*v.pad[i]-extent, v.stride[i])
		if d <= 0 {
			return nil, because(badParam, "a window of %d over %d elements", extent, dim[i+2])
		}
		dim[i+2] = d
	}
	return dim, nil
}

// GetConvolution2dForwardOutputDim is the shape of the result.
func (t *Thread) GetConvolution2dForwardOutputDim(h convDesc, x tensorDesc, w filterDesc) (n, c, y, z int32, err error) {
	var dim [4]int32
	err = t.GetConvolutionNdForwardOutputDim(h, x, w, 4, hostmem.Of(&dim))
	return dim[0], dim[1], dim[2], dim[3], err
}

// GetConvolutionNdForwardOutputDim is the shape of the result.
func (t *Thread) GetConvolutionNdForwardOutputDim(h convDesc, x tensorDesc, w filterDesc, n int32, dims hostmem.Ptr) error {
	v, err := look[convolution](h)
	if err != nil {
		return err
	}
	in, err := look[tensor](x)
	if err != nil {
		return err
	}
	by, err := look[filter](w)
	if err != nil {
		return err
	}
	dim, err := v.result(in, by)
	if err != nil {
		return err
	}
	return giveShape(n, dims, dim)
}
