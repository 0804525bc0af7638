package nn

import (
	"math"
	"slices"

	"kudzu/internal/shim"
)

// filterWork is the gradient of a filter: the planes of the forward convolution, the gradient of its output in panels of 32 channels,
// and sums over slices of the positions.
type filterWork struct {
	convPlan
	w            Tensor
	dyStep       int64
	panels       int64 // of 32 output channels of a group
	lanes, slabs int64 // in the workspace: the panels, and the sums
	slices, per  int64 // of an image or part, and positions of one
	total        int64 // slices of everything
}

// slabBytes is how much the sums of all slices may take.
const slabBytes = 64 << 20

// laneRows are what one block packs, LINES of kernels/conv.cu.
const laneRows = 8

func filterPlan(s *convShape) *filterWork {
	f := &filterWork{convPlan: *forwardPlan(s), w: s.w, dyStep: s.oAt[2], panels: over(s.k, warp)}
	pass := &f.passes[0]
	m, images := pass.positions(f.part), over(f.batch, f.part)
	if f.inPlace {
		m, images = pass.positions(1), f.batch
	}
	m = max(m, 1)
	slab := max(1, f.groups*f.panels*warp*pass.steps*f.elem.Size())
	f.slices = max(1, min(over(m, 1024), slabBytes/slab/max(images, 1)))
	f.per = over(m, f.slices)
	f.slices = over(m, f.per)
	f.total = f.slices * images
	return f
}

func (f *filterWork) layout() int64 {
	pass := &f.passes[0]
	at := f.convPlan.layout()
	f.lanes = at
	size := f.elem.Size()
	at += round256(f.groups * f.panels * f.part * f.planeImage() * warp * size)
	f.slabs = at
	return at + round256(f.total*f.groups*f.panels*warp*pass.steps*size)
}

// ConvFilter is dw = alpha × the gradient of w + beta dw, for the gradient dy of y.
func (r *Run) ConvFilter(c Conv, x, dy, dw Tensor, scale Scale) error {
	s, err := c.shape(x, dw, dy)
	if err != nil {
		return err
	}
	if dw.Empty() {
		return nil
	}
	if dy.Type.Sum() != s.elem || s.elem == S32 || !slices.Contains(stored[s.elem], dw.Type) || dy.Type == E4M3 || dy.Type == E5M2 {
		return ErrUnsupported
	}
	if done, err := r.elsewhere(scale, &Work{Kind: WorkFilter, X: x, W: dw, Y: dy, Conv: c}); done || err != nil {
		return err
	}
	if d, ok := s.asPlanes(forwardPlan(s), true); ok && !dy.Empty() {
		return r.planes(d, "depthPlaneFilter_", x, dw, dy, Epilogue{}, scale)
	}
	if s.depthwise(dy) {
		return r.depthFilter(s, dy, dw, scale)
	}
	if p, ok := s.product(); ok && !dy.Empty() && (p.x.Dim[0] == 1 || dw.Type == s.elem) {
		return r.productFilter(p, scale)
	}
	f := filterPlan(s)
	if dy.Empty() {
		f.total = 0
	}
	base, done, err := r.scratch(f.layout())
	if err != nil {
		return err
	}
	defer done()
	pass := &f.passes[0]
	if f.planeImage()*f.phases()*f.part*f.groups*f.channels >= maxSide || f.inPlace && x.Span() >= maxSide {
		return ErrUnsupported
	}
	if err := r.tables(&f.convPlan, pass, base, f.part); err != nil {
		return err
	}
	slice := int64(0)
	for first := int64(0); first < f.batch && f.total > 0; first += f.part {
		n := min(f.part, f.batch-first)
		if n != f.part {
			if err := r.tables(&f.convPlan, pass, base, n); err != nil {
				return err
			}
		}
		if err := r.filterPart(f, x.At(0, first, n), dy.At(0, first, n), base, slice); err != nil {
			return err
		}
		slice += f.slices
	}
	return r.gather(f, base, scale)
}

var rowKernels = module("gradients of filters with few channels", "convrows")

// What a block of kernels/convrows.cu has: output channels and steps. Up to fewChannels are its.
const (
	rowChannels = 4
	rowSteps    = 3
	fewChannels = 16
)

// byRows reports a gradient whose lanes are neighbours of a row, as it has few output channels.
func (f *filterWork) byRows(dy Tensor) bool {
	_, width, _ := f.lines(&f.passes[0])
	return !f.inPlace && f.columns <= fewChannels && f.dyStep == 1 && width >= warp && slices.Contains(planeTypes, dy.Type)
}

// filterRows makes the sums of some images, whose planes are made.
func (r *Run) filterRows(f *filterWork, dy Tensor, base uint64, n, slice int64) error {
	pass := &f.passes[0]
	pitch, width, every := f.lines(pass)
	rows := n * pass.axes[0].extent * pass.axes[1].extent / every
	var q shim.Params
	q.U64(dy.Addr, base+uint64(pass.rows), base+uint64(f.planes), base+uint64(pass.at), base+uint64(f.slabs))
	q.U64(uint64(f.columns*dy.Stride[1]), uint64(dy.Stride[1]), uint64(f.channels*f.phases()*f.plane(n)))
	for _, v := range []int64{f.columns, pass.steps, f.groups, slice, pitch, width, every, rows, over(rows, f.slices), 0} {
		q.U32(uint32(v))
	}
	if f.slices*f.groups > maxGrid {
		return ErrUnsupported
	}
	grid := [3]uint32{uint32(over(pass.steps, rowSteps)), uint32(over(f.columns, rowChannels)), uint32(f.slices * f.groups)}
	return r.launch(rowKernels, "filterRows_"+dy.Type.String(), grid, oneWarp, &q)
}

// filterPart makes the sums of some images, the first of which is slice.
func (r *Run) filterPart(f *filterWork, x, dy Tensor, base uint64, slice int64) error {
	pass := &f.passes[0]
	n, wide := x.Dim[0], int64(12)
	if f.elem == F64 {
		wide = 6
	}
	planes := x.Addr
	if !f.inPlace {
		planes = base + uint64(f.planes)
		if err := r.halo(&f.convPlan, x, planes); err != nil {
			return err
		}
	}
	if f.byRows(dy) {
		return r.filterRows(f, dy, base, n, slice)
	}
	pitch, width, every := f.lines(pass)
	rows := n * pass.axes[0].extent * pass.axes[1].extent / every
	var q shim.Params
	q.U64(dy.Addr, base+uint64(pass.rows), base+uint64(f.lanes), uint64(f.columns*dy.Stride[1]), uint64(dy.Stride[1]), uint64(f.dyStep))
	q.U32(uint32(f.columns), uint32(pitch), uint32(width), uint32(every), uint32(rows), 0)
	if f.panels > maxGrid || f.groups > maxGrid {
		return ErrUnsupported
	}
	grid := [3]uint32{uint32(over(rows, laneRows)), uint32(f.panels), uint32(f.groups)}
	if err := r.launch(convKernels, "lanes_"+dy.Type.String(), grid, oneWarp, &q); err != nil {
		return err
	}
	images, m := int64(1), pass.positions(n)
	if f.inPlace {
		images, m = n, pass.positions(1)
	}
	slices := over(m, f.per) // the last part may have fewer
	if slices < f.slices {
		slices = f.slices // those without positions write zeros
	}
	if images*slices*f.groups > maxGrid {
		return ErrUnsupported
	}
	var p shim.Params
	p.U64(base+uint64(f.lanes), planes, base+uint64(pass.at), base+uint64(f.slabs))
	p.U64(uint64(n*f.planeImage()), uint64(x.Stride[0]), uint64(f.channels*f.phases()*f.plane(n)), uint64(f.planeImage()))
	p.U32(uint32(m), uint32(slices), uint32(f.per), uint32(pass.steps), uint32(f.groups), uint32(f.panels), uint32(slice), math.Float32bits(1))
	grid = [3]uint32{uint32(over(pass.steps, wide)), uint32(f.panels), uint32(images * slices * f.groups)}
	return r.launch(convKernels, "filter_"+f.elem.String(), grid, oneWarp, &p)
}

// gather adds the slices up.
func (r *Run) gather(f *filterWork, base uint64, scale Scale) error {
	pass := &f.passes[0]
	var q shim.Params
	q.U64(base+uint64(f.slabs), base+uint64(pass.filterAt), f.w.Addr, uint64(f.group), uint64(f.column))
	q.F64(scale.Alpha, scale.Beta).U32(uint32(f.total), uint32(pass.steps), uint32(f.columns), flag(pass.plain))
	grid := [3]uint32{uint32(over(pass.steps, warp)), uint32(f.panels), uint32(f.groups)}
	return r.launch(convKernels, "gather_"+f.elem.String()+"_"+f.w.Type.String(), grid, oneWarp, &q)
}
