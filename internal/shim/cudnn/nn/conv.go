package nn

import (
	"slices"

	"kudzu/internal/shim"
)

var convKernels = module("convolutions", "conv")

// Conv is how a filter moves: output o of a dimension has the inputs o·Stride − Pad + r·Dilation of the filter's taps r. What lies
// outside of the input is zero, so padding at the end is whatever the size of the output needs. Tensors are [images, channels, sizes …],
// filters [output channels, input channels of a group, sizes …].
type Conv struct {
	Pad, Stride, Dilation []int64
	Groups                int64
	Flip                  bool // the filter is turned, as mathematics has it
}

// Scale is what becomes of a result: Alpha × result + Beta × what was there. What was there is not looked at if Beta is 0.
type Scale struct{ Alpha, Beta float64 }

// Plain leaves the result as it is.
var Plain = Scale{Alpha: 1}

// Act is an activation that an operation ends with.
type Act uint32

// The activations.
const (
	ActNone Act = iota
	ActReLU
	ActClipped // not above Epilogue.Top
)

// Epilogue is what a forward convolution ends with, after scaling: a bias a channel of the output, and an activation.
type Epilogue struct {
	Bias Tensor // without address: none. Its elements are one run
	Act  Act
	Top  float64
}

// spatial is a dimension of images as the kernels have three.
type spatial struct {
	in, out, filter       int64
	pad, stride, dilation int64
	flip                  bool
}

// convShape is a convolution with three dimensions. Its strides are of images, channels, and the dimensions.
type convShape struct {
	batch, groups     int64
	c, k              int64 // of a group
	axes              [3]spatial
	x, w, y           Tensor
	inAt, tapAt, oAt  [3]int64 // strides of the dimensions
	elem              Elem     // of the sums
	empty, emptyInner bool
}

// shape checks that the tensors fit.
func (c Conv) shape(x, w, y Tensor) (*convShape, error) {
	n := len(x.Dim) - 2
	if x.Check() != nil || w.Check() != nil || y.Check() != nil || n < 1 || n > 3 || len(w.Dim) != n+2 || len(y.Dim) != n+2 ||
		len(c.Pad) != n || len(c.Stride) != n || len(c.Dilation) != n || c.Groups < 1 {
		return nil, ErrShape
	}
	s := &convShape{batch: x.Dim[0], groups: c.Groups, c: w.Dim[1], k: w.Dim[0] / c.Groups, x: x, w: w, y: y, elem: x.Type.Sum()}
	if y.Dim[0] != x.Dim[0] || x.Dim[1] != s.c*c.Groups || y.Dim[1] != w.Dim[0] || w.Dim[0]%c.Groups != 0 {
		return nil, ErrShape
	}
	for i := range s.axes {
		s.axes[i] = spatial{in: 1, out: 1, filter: 1, stride: 1, dilation: 1}
		if d := i - (3 - n); d >= 0 {
			s.axes[i] = spatial{x.Dim[d+2], y.Dim[d+2], w.Dim[d+2], c.Pad[d], c.Stride[d], c.Dilation[d], c.Flip}
			s.inAt[i], s.tapAt[i], s.oAt[i] = x.Stride[d+2], w.Stride[d+2], y.Stride[d+2]
			if c.Stride[d] < 1 || c.Dilation[d] < 1 || c.Pad[d] < 0 {
				return nil, ErrShape
			}
		}
	}
	if !slices.Contains(summable, x.Type) || w.Type.Sum() != s.elem {
		return nil, ErrUnsupported
	}
	return s, nil
}

// summable are the types that there are kernels to read.
var summable = []Elem{F32, F64, F16, BF16, E4M3, E5M2, S8, U8}

// stored are the types that sums are written as.
var stored = map[Elem][]Elem{F32: {F32, F16, BF16}, F64: {F64}, S32: {S32, F32, S8}}

// ConvForward is y = act(alpha conv(x, w) + beta y + bias).
func (r *Run) ConvForward(c Conv, x, w, y Tensor, scale Scale, end Epilogue) error {
	s, err := c.shape(x, w, y)
	if err != nil {
		return err
	}
	if end.Bias.Addr != 0 && end.Bias.Count() != y.Dim[1] {
		return ErrShape
	}
	if s.elem == F64 && x.Type != w.Type {
		return ErrUnsupported
	}
	if end.Bias.Addr == 0 && end.Act == ActNone {
		if done, err := r.elsewhere(scale, &Work{Kind: WorkForward, X: x, W: w, Y: y, Conv: c}); done || err != nil {
			return err
		}
	}
	if p, ok := s.product(); ok && p.fast() && end.Bias.Addr == 0 && end.Act == ActNone {
		return r.Matmul(p.w, p.x, p.y, scale)
	}
	p := forwardPlan(s)
	if d, ok := s.asPlanes(p, false); ok && !y.Empty() {
		return r.planes(d, "depthPlane_", x, w, y, end, scale)
	}
	return r.convolve(p, scale, end)
}

// ConvData is dx = alpha × the gradient of x + beta dx, for the gradient dy of y.
func (r *Run) ConvData(c Conv, w, dy, dx Tensor, scale Scale) error {
	s, err := c.shape(dx, w, dy)
	if err != nil {
		return err
	}
	if dy.Type.Sum() != s.elem || s.elem == S32 {
		return ErrUnsupported
	}
	if done, err := r.elsewhere(scale, &Work{Kind: WorkData, X: dx, W: w, Y: dy, Conv: c}); done || err != nil {
		return err
	}
	if p, ok := s.product(); ok && p.fast() {
		return r.Matmul(transposed(p.w), p.y, p.x, scale)
	}
	p := dataPlan(s)
	if d, ok := s.asPlanes(p, false); ok && !dx.Empty() {
		return r.planes(d, "depthPlane_", dy, w, dx, Epilogue{}, scale)
	}
	return r.convolve(p, scale, Epilogue{})
}

// ConvWorkspace is the memory that an operation would like to have. It works with less, in memory of the handle.
func (c Conv) ConvWorkspace(kind ConvKind, x, w, y Tensor) (int64, error) {
	s, err := c.shape(x, w, y)
	if err != nil {
		return 0, err
	}
	switch kind {
	case ConvKindForward:
		return forwardPlan(s).layout(), nil
	case ConvKindData:
		return dataPlan(s).layout(), nil
	case ConvKindFilter:
	}
	return filterPlan(s).layout(), nil
}

// ConvKind is one of the three operations of a convolution.
type ConvKind int

// The operations.
const (
	ConvKindForward ConvKind = iota
	ConvKindData
	ConvKindFilter
)

// floorDiv rounds down.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && a < 0 {
		q--
	}
	return q
}

func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }

// put lays an axis out as Axis of kernels/conv.cu.
func (a *axis) put(q *shim.Params) {
	q.U64(uint64(a.size), uint64(a.stride))
	for _, v := range []int64{a.taps, a.q0, a.dq, a.step, int64(flag(a.byTap)), a.phases, a.left, a.content, a.extent, a.filter, a.filterStep, 0} {
		q.U32(uint32(int32(v)))
	}
	q.U64(uint64(a.filterStride))
}

func flag(v bool) uint32 {
	if v {
		return 1
	}
	return 0
}
