package nn

import (
	"math"
	"slices"

	"kudzu/internal/shim"
)

var planeKernels = module("depthwise convolutions of small images", "depthplane")

// What kernels/depthplane.cu has: shared memory of a block in bytes, the most taps, taps whose gradients are made at a time, and elements
// of a row.
const (
	planeRoom     = 40960
	planeTaps     = 64
	planeTogether = 8
	planeStage    = 64
)

// depthPlane is a depthwise convolution whose images fit into shared memory.
type depthPlane struct {
	plan       *convPlan
	each       int64 // channels of the destination for one of the source
	filter     int64 // from the filter of a channel of the destination to that of the next
	rows, size int64 // of a plane; elements of all planes of an image
	positions  int64 // of the sums of a pass
	span       int64 // from the sums of a pass to those of the next
	part       int64 // images at a time, of a gradient
	passes     []convPass
	taps       [][2]int64 // where they begin in the planes, and where they are in the filter
	firsts     []int64    // taps of the passes
}

// planeTypes have kernels.
var planeTypes = []Elem{F32, F64, F16, BF16}

// asPlanes is a plan as one over planes in shared memory. filter: for the gradient of the filter. Not ok: it is not depthwise, too large, or
// has steps of more than 2.
func (s *convShape) asPlanes(p *convPlan, filter bool) (d *depthPlane, ok bool) {
	one := spatial{in: 1, out: 1, filter: 1, stride: 1, dilation: 1, flip: s.axes[0].flip}
	if p.channels != 1 || s.groups == 1 || s.axes[0] != one || s.x.Type != s.y.Type || s.x.Type != s.w.Type || !slices.Contains(planeTypes, s.x.Type) {
		return nil, false
	}
	for _, a := range s.axes {
		if a.stride > 2 || a.filter < a.stride {
			return nil, false
		}
	}
	if s.inAt[2] != 1 && s.axes[2].in > 1 || s.oAt[2] != 1 && s.axes[2].out > 1 {
		return nil, false
	}
	d = &depthPlane{plan: p, each: p.columns, filter: p.column, passes: slices.Clone(p.passes)}
	if p.columns == 1 {
		d.filter = p.group
	}
	if p.inPlace || p.group != p.columns*d.filter || !d.byParity() {
		return nil, false
	}
	return d, d.layout(filter)
}

// byParity puts four passes in the order of even and odd rows and columns of the destination.
func (d *depthPlane) byParity() bool {
	switch len(d.passes) {
	case 1:
		a := d.passes[0].axes
		return a[1].outStep == 1 && a[2].outStep == 1
	case 4:
		slices.SortFunc(d.passes, func(a, b convPass) int {
			return int(a.axes[1].start*2 + a.axes[2].start - b.axes[1].start*2 - b.axes[2].start)
		})
		for i, p := range d.passes {
			if p.axes[1].start != int64(i/2) || p.axes[2].start != int64(i%2) || p.axes[1].outStep != 2 || p.axes[2].outStep != 2 {
				return false
			}
		}
		return true
	}
	return false
}

// layout finds where taps and sums are, and whether all fits.
func (d *depthPlane) layout(filter bool) bool {
	far := int64(0)
	y, x := &d.passes[0].axes[1], &d.passes[0].axes[2]
	d.rows = y.left + y.content + y.right
	for i := range d.passes {
		p := &d.passes[i]
		d.firsts = append(d.firsts, int64(len(d.taps)))
		d.positions = max(d.positions, p.positions(1))
		for ry := range p.axes[1].taps {
			for rx := range p.axes[2].taps {
				qy, phaseY, filterY := p.axes[1].tap(ry)
				qx, phaseX, filterX := p.axes[2].tap(rx)
				at := ((phaseY*x.phases+phaseX)*d.rows+qy+y.left)*x.extent + qx + x.left
				d.taps = append(d.taps, [2]int64{at, filterY + filterX})
				far = max(far, at)
			}
		}
	}
	d.firsts = append(d.firsts, int64(len(d.taps)))
	d.span = (d.positions + 127) &^ 127
	d.size = max(far+d.span, y.phases*x.phases*d.rows*x.extent)
	if len(d.taps) > planeTaps || slices.ContainsFunc(d.taps, func(t [2]int64) bool { return t[0] < 0 || t[1] < 0 || t[1] > math.MaxUint32 }) {
		return false
	}
	room := planeRoom/d.plan.elem.Size() - planeStage
	if !filter {
		return planeTaps+d.size+d.span*int64(len(d.passes)) <= room
	}
	room -= over(int64(len(d.taps)), planeTogether) * planeTogether * warp
	d.part = min(room/(d.size+d.span), d.plan.batch)
	return d.part >= 1
}

// tap is where tap r of an axis begins in its plane, the plane, and where the tap is in the filter.
func (a *axis) tap(r int64) (at, phase, filter int64) {
	q := a.q0 + r*a.dq
	at = floorDiv(q, a.step)
	return at, q - at*a.step, (a.filter + r*a.filterStep) * a.filterStride
}

// planes launches it: source and destination of a convolution, or input and gradient of the output.
func (r *Run) planes(d *depthPlane, name string, source, w, y Tensor, end Epilogue, scale Scale) error {
	channels := d.plan.groups * d.each
	if channels > maxGrid || source.Dim[0] == 0 {
		return ErrUnsupported
	}
	sy, sx := &d.passes[0].axes[1], &d.passes[0].axes[2]
	rows, cols := func(t Tensor) int64 {
		if len(t.Dim) < 4 {
			return 1
		}
		return t.Dim[len(t.Dim)-2]
	}, func(t Tensor) int64 { return t.Dim[len(t.Dim)-1] }
	row := func(t Tensor) int64 {
		if len(t.Dim) < 4 {
			return 0
		}
		return t.Stride[len(t.Dim)-2]
	}
	var q shim.Params
	q.U64(source.Addr, w.Addr, y.Addr)
	for _, n := range []int64{source.Stride[0], source.Stride[1], row(source), y.Stride[0], y.Stride[1], row(y), d.filter} {
		q.U64(uint64(n))
	}
	for _, n := range []int64{source.Dim[0], d.each, rows(source), cols(source), rows(y), cols(y), sy.step, sx.step, sx.left, sy.left, sx.content, sy.content,
		sx.extent, d.rows, d.size, d.positions, d.span, int64(len(d.passes)), d.part} {
		q.U32(uint32(n))
	}
	for i := range 5 {
		q.U32(uint32(d.firsts[min(i, len(d.firsts)-1)]))
	}
	for i := range planeTaps {
		if i < len(d.taps) {
			q.U32(uint32(d.taps[i][0]), uint32(d.taps[i][1]))
		} else {
			q.U32(0, 0)
		}
	}
	q.F64(scale.Alpha, scale.Beta, end.Top).U64(end.Bias.Addr).U32(uint32(end.Bias.Type), uint32(end.Act))
	return r.launch(planeKernels, name+source.Type.String(), [3]uint32{uint32(channels), 1, 1}, oneWarp, &q)
}
