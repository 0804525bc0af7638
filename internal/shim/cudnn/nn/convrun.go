package nn

import (
	"fmt"
	"math"
	"slices"

	"kudzu/internal/shim"
)

// convolve runs a plan.
func (r *Run) convolve(p *convPlan, scale Scale, end Epilogue) error {
	if p.dest.Empty() {
		return nil
	}
	size := p.layout()
	if !slices.Contains(stored[p.elem], p.dest.Type) || p.planeImage()*p.phases()*p.part*p.groups*p.channels >= maxSide || p.inPlace && p.source.Span() >= maxSide {
		return ErrUnsupported
	}
	base, done, err := r.scratch(size)
	if err != nil {
		return err
	}
	defer done()
	for i := range p.passes {
		if err := r.packFilter(p, &p.passes[i], base); err != nil {
			return err
		}
	}
	for first := int64(0); first < p.batch; first += p.part {
		n := min(p.part, p.batch-first)
		from, to := p.source.At(0, first, n), p.dest.At(0, first, n)
		x := from.Addr
		if !p.inPlace {
			x = base + uint64(p.planes)
			if err := r.halo(p, from, x); err != nil {
				return err
			}
		}
		for i := range p.passes {
			if err := r.pass(p, &p.passes[i], convPart{base: base, x: x, n: n, to: to, scale: scale, end: end}); err != nil {
				return err
			}
		}
	}
	return nil
}

// convPart is some images of a convolution.
type convPart struct {
	base, x uint64
	n       int64
	to      Tensor
	scale   Scale
	end     Epilogue
}

func (p *convPlan) putAxes(q *shim.Params, s *convPass) {
	for i := range s.axes {
		s.axes[i].put(q)
	}
}

// tables writes where steps and rows are, for n images.
func (r *Run) tables(p *convPlan, s *convPass, base uint64, n int64) error {
	var q shim.Params
	p.putAxes(&q, s)
	q.U64(uint64(p.plane(n)), uint64(p.channel), base+uint64(s.at), base+uint64(s.filterAt)).U32(uint32(p.channels), uint32(n))
	q.U64(base+uint64(s.rows), uint64(p.dest.Stride[0]))
	for d := range 3 {
		q.U64(uint64(p.destAt[d]))
	}
	for _, f := range []func(a *axis) int64{func(a *axis) int64 { return a.start }, func(a *axis) int64 { return a.outStep }, func(a *axis) int64 { return a.count }} {
		for d := range 3 {
			q.U32(uint32(int32(f(&s.axes[d]))))
		}
	}
	q.U32(0)
	work := max(s.steps, n*s.axes[0].extent*s.axes[1].extent)
	return r.launch(convKernels, "tables", spread(over(work, warp)), oneWarp, &q)
}

// panelSteps are what one block packs at least, RUN of kernels/conv.cu.
const panelSteps = 512

// The forms of a filter, as kernels/conv.cu has them.
const (
	formAny uint32 = iota
	formRows
	formColumns
)

// packing is how the filter of a pass is packed, and how many blocks pack a panel.
func (p *convPlan) packing(s *convPass) (form uint32, blocks int64) {
	switch {
	case s.plain:
		return formRows, over(s.steps, panelSteps)
	case s.taps == 1 && p.column == 1:
		return formColumns, over(s.steps, panelSteps)
	}
	some := max(1, warp/s.taps)
	each := max(some, panelSteps/s.taps/some*some)
	return formAny, over(p.channels, each)
}

// packFilter writes the panels of a pass, and its tables.
func (r *Run) packFilter(p *convPlan, s *convPass, base uint64) error {
	if err := r.tables(p, s, base, p.part); err != nil || s.steps == 0 {
		return err
	}
	name := "panels_"
	if p.width() == 1 {
		name = "panels1_"
	}
	form, blocks := p.packing(s)
	from := p.filterTensor.Addr
	if form == formColumns { // its one tap
		for _, a := range s.axes {
			from += uint64(a.filter * a.filterStride * p.filterTensor.Type.Size())
		}
	}
	var q shim.Params
	q.U64(from, base+uint64(s.filterAt), base+uint64(s.panels), uint64(p.group), uint64(p.column), uint64(p.channel))
	q.U32(uint32(p.columns), uint32(s.steps), uint32(s.taps), form)
	columns := over(p.columns, p.width())
	if columns > maxGrid || p.groups > maxGrid || p.filterTensor.Span() >= maxSide {
		return ErrUnsupported
	}
	return r.launch(convKernels, name+p.filterTensor.Type.String(), [3]uint32{uint32(blocks), uint32(columns), uint32(p.groups)}, oneWarp, &q)
}

// halo copies some images into planes.
func (r *Run) halo(p *convPlan, from Tensor, to uint64) error {
	var q shim.Params
	p.putAxes(&q, &p.passes[0])
	n := from.Dim[0]
	q.U32(uint32(n), 0).U64(uint64(from.Stride[0]), uint64(from.Stride[1]))
	channels := p.groups * p.channels
	q.U64(from.Addr, to).U32(uint32(channels), uint32(p.tail))
	return r.launch(convKernels, "halo_"+from.Type.String(), spread(channels*p.phases()*n), oneWarp, &q)
}

// pass computes the outputs of a pass, for some images.
func (r *Run) pass(p *convPlan, s *convPass, w convPart) error {
	if w.n != p.part {
		if err := r.tables(p, s, w.base, w.n); err != nil {
			return err
		}
	}
	workers, err := r.workers()
	if err != nil {
		return err
	}
	images, n := int64(1), w.n
	if p.inPlace {
		images, n = w.n, 1
	}
	m, wide := s.positions(n), p.width()
	panels, columns := over(m, warp), over(p.columns, wide)
	high := min(panels, 8)
	for high > 1 && over(panels, high)*images*p.groups < 2*workers {
		high = over(high, 2)
	}
	blocks := over(panels, high) * images * p.groups
	across := over(columns, max(1, min(columns, over(4*workers, blocks))))
	if images*p.groups > maxGrid {
		return ErrUnsupported
	}
	grid := [3]uint32{uint32(over(panels, high)), uint32(over(columns, across)), uint32(images * p.groups)}
	name := "tile_"
	if wide == 1 {
		name = "tile1_"
	}
	name += fmt.Sprintf("%s_%s", p.elem, p.dest.Type)
	var q shim.Params
	q.U64(w.x, w.base+uint64(s.panels), w.base+uint64(s.at))
	group := p.channels * p.phases() * p.plane(w.n)
	q.U64(uint64(p.source.Stride[0]), uint64(group), uint64(columns*wide*s.steps))
	piece := over(s.steps, max(1, over(s.steps, p.deepest())))
	q.U32(uint32(s.steps), uint32(piece), uint32(m), uint32(p.columns), uint32(p.groups), uint32(high), uint32(across), math.Float32bits(1))
	q.U64(w.base + uint64(p.sums))
	p.putLeave(&q, s, w)
	return r.launch(convKernels, name, grid, oneWarp, &q)
}

// putLeave lays out a Leave.
func (p *convPlan) putLeave(q *shim.Params, s *convPass, w convPart) {
	x := &s.axes[2]
	// Columns of a row begin at start: rows have the other dimensions' starts.
	y := w.to.Addr + uint64(x.start*p.destAt[2]*w.to.Type.Size())
	q.U64(y, uint64(w.to.Stride[0]), uint64(p.columns*w.to.Stride[1]), uint64(w.to.Stride[1]), uint64(x.outStep*p.destAt[2]))
	pitch, width, every := p.lines(s)
	q.U64(w.base+uint64(s.rows)).U32(uint32(pitch), uint32(width), uint32(every), 0)
	q.F64(w.scale.Alpha, w.scale.Beta, w.end.Top).U64(w.end.Bias.Addr).U32(uint32(w.end.Bias.Type), uint32(w.end.Act))
}

// lines is how the positions of a pass are stored: a row of the output after the other, or an image after the other if its rows lie
// together.
func (p *convPlan) lines(s *convPass) (pitch, width, every int64) {
	z, y, x := &s.axes[0], &s.axes[1], &s.axes[2]
	run := x.outStep * p.destAt[2] * x.count
	together := func(a *axis, stride int64) bool {
		return a.extent == a.count && (a.count == 1 || a.outStep*stride == run)
	}
	if x.extent != x.count || !together(y, p.destAt[1]) {
		return x.extent, x.count, 1
	}
	run *= y.count
	if !together(z, p.destAt[0]) {
		return x.extent, x.count, 1
	}
	n := x.count * y.count * z.count
	return n, n, y.count * z.count
}
