package nn

// axis is one dimension of the planes that a convolution reads (kernels/conv.cu).
type axis struct {
	size, stride          int64 // of the source
	taps, q0, dq, step    int64
	byTap                 bool
	phases                int64
	left, content, extent int64
	filter, filterStep    int64
	filterStride          int64
	start, outStep, count int64 // which outputs these are
	right                 int64 // zeros that are read behind the content
}

// convPass is one launch of tiles for each piece of the sums: the outputs of one remainder of the stride. Forward there is one.
type convPass struct {
	axes                       [3]axis
	at, filterAt, rows, panels int64 // in the workspace
	taps, steps                int64
	plain                      bool // the steps of a column lie together in the filter
}

// convPlan is a convolution over planes of its source.
type convPlan struct {
	source, dest      Tensor
	filterTensor      Tensor
	elem              Elem
	batch, groups     int64
	channels, columns int64 // of a group
	column, channel   int64 // strides of the filter
	group             int64
	passes            []convPass
	destAt            [3]int64
	inPlace           bool

	part                     int64 // images that are copied at a time
	planes, sums, tail, size int64 // in the workspace; the zeros behind the planes; all
}

// partBytes is how much of the planes is made at a time, so that it stays in a cache. A variable for tests.
var partBytes int64 = 16 << 20

// width is how many columns a tile has.
func (p *convPlan) width() int64 {
	switch {
	case p.columns == 1:
		return 1
	case p.elem == F64:
		return 6
	}
	return 12
}

// deepest is how many steps of a sum are made at a time, what a tile of kernels/conv.cu packs.
func (p *convPlan) deepest() int64 {
	switch {
	case p.columns == 1:
		return maxSide
	case p.elem == F64:
		return 192
	}
	return 384
}

// forwardAxis: output o has the inputs o·stride + q, q = r·dilation − pad, which is element o + ⌊q/stride⌋ of the phase q mod stride.
func forwardAxis(s spatial, stride, filterStride int64) axis {
	a := axis{size: s.in, stride: stride, taps: s.filter, q0: -s.pad, dq: s.dilation, step: s.stride, phases: s.stride,
		filterStep: 1, filterStride: filterStride, outStep: 1, count: s.out}
	if s.flip {
		a.q0, a.dq = (s.filter-1)*s.dilation-s.pad, -s.dilation
	}
	if s.filter < s.stride {
		a.byTap, a.phases = true, s.filter
	}
	low, high := floorDiv(-s.pad, s.stride), floorDiv((s.filter-1)*s.dilation-s.pad, s.stride)
	a.surround(low, s.out-1+high, ceilDiv(s.in, s.stride))
	return a
}

// surround sets how the content lies, of which elements first … last are read: the zeros behind a row are those before the next.
func (a *axis) surround(first, last, content int64) {
	a.left = max(0, -first)
	a.content = max(0, min(content, last+1))
	a.right = max(0, last+1-a.content)
	a.extent = max(a.left+a.content+max(0, a.right-a.left), a.count, 1)
}

// dataAxes: input i + pad = t·stride + phase has the outputs t − (r·dilation − phase)/stride of the taps where that is whole: a
// plain filter for every phase, over planes that serve them all.
func dataAxes(s spatial, stride, filterStride int64) []axis {
	var list []axis
	low, high, count := int64(0), int64(-1), int64(0)
	for phase := range s.stride {
		t0 := ceilDiv(s.pad-phase, s.stride)
		a := axis{size: s.out, stride: stride, step: 1, phases: 1, filterStride: filterStride, start: t0*s.stride + phase - s.pad, outStep: s.stride}
		a.count = max(0, floorDiv(s.in-1+s.pad-phase, s.stride)-t0+1)
		first := true
		for r := range s.filter {
			at := r
			if s.flip {
				at = s.filter - 1 - r
			}
			if (at*s.dilation-phase)%s.stride != 0 {
				continue
			}
			q := t0 - (at*s.dilation-phase)/s.stride
			switch {
			case first:
				a.filter, a.q0, first = r, q, false
			case a.taps == 1:
				a.filterStep, a.dq = r-a.filter, q-a.q0
			}
			a.taps++
			low, high = min(low, q), max(high, a.count-1+q)
		}
		count = max(count, a.count)
		list = append(list, a)
	}
	for i := range list {
		own := list[i].count
		list[i].count = count // one grid for all
		list[i].surround(low, high, s.out)
		list[i].count = own
	}
	return list
}

func forwardPlan(s *convShape) *convPlan {
	p := &convPlan{source: s.x, dest: s.y, filterTensor: s.w, elem: s.elem, batch: s.batch, groups: s.groups, channels: s.c, columns: s.k,
		column: s.w.Stride[0], channel: s.w.Stride[1], group: s.k * s.w.Stride[0], destAt: s.oAt}
	var pass convPass
	for i, a := range s.axes {
		pass.axes[i] = forwardAxis(a, s.inAt[i], s.tapAt[i])
	}
	p.passes = []convPass{pass}
	p.settle()
	return p
}

func dataPlan(s *convShape) *convPlan {
	p := &convPlan{source: s.y, dest: s.x, filterTensor: s.w, elem: s.elem, batch: s.batch, groups: s.groups, channels: s.k, columns: s.c,
		column: s.w.Stride[1], channel: s.w.Stride[0], group: s.k * s.w.Stride[0], destAt: s.inAt}
	var lists [3][]axis
	for i, a := range s.axes {
		lists[i] = dataAxes(a, s.oAt[i], s.tapAt[i])
	}
	for _, z := range lists[0] {
		for _, y := range lists[1] {
			for _, x := range lists[2] {
				if z.count > 0 && y.count > 0 && x.count > 0 {
					p.passes = append(p.passes, convPass{axes: [3]axis{z, y, x}})
				}
			}
		}
	}
	p.settle()
	return p
}

// settle finds what follows from the axes.
func (p *convPlan) settle() {
	for i := range p.passes {
		s := &p.passes[i]
		s.taps = s.axes[0].taps * s.axes[1].taps * s.axes[2].taps
		s.steps = s.taps * p.channels
		s.plain = p.channel == s.taps || p.channels == 1
		run := int64(1)
		for d := 2; d >= 0; d-- {
			a := &s.axes[d]
			s.plain = s.plain && (a.taps == 1 && a.filter == 0 || a.filter == 0 && a.filterStep == 1 && a.filterStride == run)
			run *= a.taps
		}
	}
	p.inPlace = p.readsInPlace()
	p.part = p.batch
	if !p.inPlace {
		bytes := p.planeImage() * p.groups * p.channels * p.phases() * p.elem.Size()
		p.part = max(1, min(p.batch, partBytes/max(bytes, 1)))
	}
}

// readsInPlace reports a source that is its own planes, and makes the axes say so. What a last panel would read past the end of a
// small image, or waste at the end of many, is worth the copy.
func (p *convPlan) readsInPlace() bool {
	if len(p.passes) != 1 || p.source.Type != p.elem {
		return false
	}
	a := p.passes[0].axes
	for i := range a {
		if a[i].step != 1 || a[i].left != 0 || a[i].right != 0 {
			return false
		}
	}
	if a[2].size > 1 && a[2].stride != 1 {
		return false
	}
	pitch := []int64{a[2].extent, a[1].extent}
	if a[1].size > 1 {
		pitch[0] = a[1].stride
	}
	if a[0].size > 1 {
		if pitch[0] == 0 || a[0].stride%pitch[0] != 0 {
			return false
		}
		pitch[1] = a[0].stride / pitch[0]
	}
	if pitch[0] < a[2].size || pitch[1] < a[1].size {
		return false
	}
	a[2].extent, a[1].extent = pitch[0], pitch[1]
	one := convPass{axes: a}
	if m := one.positions(1); m < warp || m < 8*warp && p.batch > 1 {
		return false
	}
	p.passes[0].axes = a
	return true
}

// positions is how many there are up to the last output of n images.
func (s *convPass) positions(n int64) int64 {
	a := &s.axes
	return (((n-1)*a[0].extent+a[0].count-1)*a[1].extent+a[1].count-1)*a[2].extent + a[2].count
}

// planeImage is the elements of one image in a plane; all passes have the same.
func (p *convPlan) planeImage() int64 {
	if len(p.passes) == 0 {
		return 0
	}
	a := &p.passes[0].axes
	return a[0].extent * a[1].extent * a[2].extent
}

func (p *convPlan) phases() int64 {
	if len(p.passes) == 0 {
		return 1
	}
	a := &p.passes[0].axes
	return a[0].phases * a[1].phases * a[2].phases
}

// plane is the distance of planes, for n images.
func (p *convPlan) plane(n int64) int64 {
	if p.inPlace {
		return p.source.Stride[1]
	}
	return n * p.planeImage()
}

// layout places everything in the workspace, and returns its size.
func (p *convPlan) layout() int64 {
	at := int64(0)
	take := func(bytes int64) int64 {
		here := at
		at += round256(bytes)
		return here
	}
	size, wide := p.elem.Size(), p.width()
	columns := over(p.columns, wide)
	sums := int64(0)
	for i := range p.passes {
		s := &p.passes[i]
		s.at, s.filterAt = take(s.steps*4), take(s.steps*8)
		s.rows = take(p.part * s.axes[0].extent * s.axes[1].extent * 8)
		s.panels = take(p.groups * columns * wide * s.steps * size)
		if s.steps > p.deepest() {
			images, n := p.split()
			sums = max(sums, images*p.groups*over(s.positions(n), warp)*warp*columns*wide*size)
		}
		p.tail = max(p.tail, s.beyond())
	}
	p.sums = take(sums)
	if !p.inPlace {
		p.planes = take((p.part*p.planeImage()*p.phases()*p.groups*p.channels + p.tail) * size)
	}
	p.size = at
	return at
}

// split: in place every image has positions of its own, otherwise a part is one image.
func (p *convPlan) split() (images, positions int64) {
	if p.inPlace {
		return p.batch, 1
	}
	return 1, p.part
}

// beyond is how far behind its planes a pass may read.
func (s *convPass) beyond() int64 {
	far := int64(0)
	for _, a := range s.axes {
		far = far*a.extent + a.left + a.right + a.extent
	}
	return far + 2*warp
}
