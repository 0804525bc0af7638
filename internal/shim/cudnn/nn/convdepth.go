package nn

import "kudzu/internal/shim"

var depthKernels = module("depthwise convolutions", "depth")

// depthwise reports a filter whose gradient has kernels of its own: each output channel has one input channel, and images are wide, or
// their channels neighbours.
func (s *convShape) depthwise(dy Tensor) bool {
	return s.c == 1 && (s.axes[2].out >= 10 || s.channelsLast(dy)) && s.groups > 1 && s.x.Type == dy.Type && (s.x.Type == F32 || s.x.Type == F64 || s.x.Type == F16 || s.x.Type == BF16)
}

func (s *convShape) channelsLast(dy Tensor) bool {
	return s.x.Stride[1] == 1 && dy.Stride[1] == 1 && s.inAt[2] != 1
}

// depthFilter is ConvFilter for them.
func (r *Run) depthFilter(s *convShape, dy, dw Tensor, scale Scale) error {
	var q shim.Params
	ints := func(v ...int64) {
		for _, n := range v {
			q.U64(uint64(n))
		}
	}
	ints(s.batch, dw.Dim[0])
	for _, f := range []func(a spatial) int64{
		func(a spatial) int64 { return a.in }, func(a spatial) int64 { return a.out }, func(a spatial) int64 { return a.filter },
		func(a spatial) int64 { return a.pad }, func(a spatial) int64 { return a.stride }, func(a spatial) int64 { return a.dilation },
	} {
		for _, a := range s.axes {
			ints(f(a))
		}
	}
	ints(s.x.Stride[0], s.x.Stride[1])
	ints(s.inAt[:]...)
	ints(dy.Stride[0], dy.Stride[1])
	ints(s.oAt[:]...)
	ints(dw.Stride[0], 0)
	ints(s.tapAt[:]...)
	q.U64(s.x.Addr, dy.Addr, dw.Addr, uint64(s.k)).U32(flag(s.axes[2].flip), uint32(dw.Type))
	putScale(&q, scale)
	taps := product64(dw.Dim[2:])
	if s.channelsLast(dy) {
		return r.launch(depthKernels, "depthChannels_"+s.x.Type.String(), spread(over(dw.Dim[0], warp)*taps), oneWarp, &q)
	}
	return r.launch(depthKernels, "depthPlaces_"+s.x.Type.String(), spread(dw.Dim[0]*taps), oneWarp, &q)
}
