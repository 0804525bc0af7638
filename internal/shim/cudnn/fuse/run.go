package fuse

import (
	"math"
	"runtime"
	"slices"

	"kudzu/internal/shim"
	"kudzu/internal/shim/cudnn/nn"
)

// Args is what a program runs on: tensors in the order of In, After, Index and Out, whose strides of 0 say that an element is used
// again, and numbers in the order of Scalar.
type Args struct {
	Tensors []nn.Tensor
	Numbers []float64
	Wholes  []int64 // in place of Numbers, where it is not nil: seeds have more bits than an f64
}

// launch is one launch of a program: axes that are kept and axes that are reduced, fastest first, strides in bytes.
type launch struct {
	p       *Program
	args    Args
	kept    []axis
	reduced []axis
}

// Run computes the program for all indices of the sizes. Axes that are marked are reduced.
func (p *Program) Run(r *nn.Run, dim []int64, reduce []bool, a Args) error {
	if len(a.Tensors) != len(p.slots) || max(len(a.Numbers), len(a.Wholes)) < p.scalars || (len(p.reduced) > 0) != slices.Contains(reduce, true) {
		return nn.ErrShape
	}
	axes, ok := p.axes(dim, a.Tensors)
	if !ok {
		return nn.ErrShape
	}
	var kept, reduced []axis
	for i, x := range axes {
		switch {
		case x.size == 0 && (i >= len(reduce) || !reduce[i]):
			return nil
		case x.size == 0:
			return nn.ErrUnsupported
		case i < len(reduce) && reduce[i]:
			reduced = append(reduced, x)
		default:
			kept = append(kept, x)
		}
	}
	l := &launch{p: p, args: a, kept: collapse(kept, p.order()), reduced: collapse(reduced, p.order())}
	if len(kept) == 0 {
		l.kept = []axis{{1, make([]int64, len(p.slots))}}
	}
	if len(p.reduced) == 0 {
		return l.pieces(r)
	}
	if len(reduced) == 0 {
		l.reduced = []axis{{1, make([]int64, len(p.slots))}}
	}
	return l.reduce(r)
}

// axes are the sizes with the strides of all tensors in bytes. A tensor has the sizes, or 1 where its element is used again.
func (p *Program) axes(dim []int64, tensors []nn.Tensor) ([]axis, bool) {
	axes := make([]axis, len(dim))
	for i, d := range dim {
		axes[i] = axis{d, make([]int64, len(tensors))}
	}
	for t, x := range tensors {
		if len(x.Dim) != len(dim) || len(x.Stride) != len(dim) {
			return nil, false
		}
		for i, d := range dim {
			switch {
			case x.Dim[i] == d && d != 1:
				axes[i].stride[t] = x.Stride[i] * p.slots[t].size()
			case x.Dim[i] != 1:
				if d != 1 || x.Dim[i] != d {
					return nil, false
				}
			}
		}
	}
	return axes, true
}

// order is the slots by how much they say in the order of axes: what is written, then what is read.
func (p *Program) order() []int {
	var out, in, after []int
	for i := range p.slots {
		switch {
		case slices.ContainsFunc(p.stores, func(s store) bool { return s.slot == i }) && !p.slots[i].after:
			out = append(out, i)
		case p.slots[i].after:
			after = append(after, i)
		default:
			in = append(in, i)
		}
	}
	return append(append(out, in...), after...)
}

// pieces launches as often as indices of 31 bits need it.
func (l *launch) pieces(r *nn.Run) error {
	if count(l.kept) < maxCount {
		return l.point(r)
	}
	last := len(l.kept) - 1
	whole := l.kept[last]
	if whole.size == 1 {
		return nn.ErrUnsupported
	}
	for _, part := range [][2]int64{{0, whole.size / 2}, {whole.size / 2, whole.size - whole.size/2}} {
		half := *l
		half.kept = slices.Clone(l.kept)
		half.kept[last].size = part[1]
		half.args.Tensors = slices.Clone(l.args.Tensors)
		for i := range half.args.Tensors {
			half.args.Tensors[i].Addr += uint64(part[0] * whole.stride[i])
		}
		if err := half.pieces(r); err != nil {
			return err
		}
	}
	return nil
}

const (
	blockSize = 256
	warp      = 32
)

// point launches lanes for the kept indices.
func (l *launch) point(r *nn.Run) error {
	s := shape{axes: len(l.kept), steps: l.steps(l.kept[0]), reduced: len(l.reduced)}
	if len(l.p.reduced) == 0 {
		s.reduced = 0
	}
	n := l.kept[0].size
	s.flat = len(l.kept) > 1 && n < warp
	if s.flat {
		n = count(l.kept)
		s.steps = nil
	}
	block := min(blockSize, (n+warp-1)/warp*warp)
	parts := (n + block - 1) / block
	grid := parts
	if !s.flat {
		grid *= count(l.kept[1:])
	}
	if grid >= maxCount {
		return nn.ErrUnsupported
	}
	return l.enqueue(r, s, grid, block, n, parts)
}

// steps are how far the slots go along an axis.
func (l *launch) steps(a axis) []step {
	s := make([]step, len(l.p.slots))
	for i, by := range a.stride {
		switch by {
		case 0:
		case l.p.slots[i].size():
			s[i] = next
		default:
			s[i] = far
		}
	}
	return s
}

func (l *launch) enqueue(r *nn.Run, s shape, grid, block, n, parts int64) error {
	c := l.p.compiled(s)
	axes := slices.Concat(l.kept, l.reduced)
	var q shim.Params
	for _, f := range c.facts {
		switch f.what {
		case address:
			q.U64(l.args.Tensors[f.slot].Addr)
		case number:
			q.U64(l.number(f.slot))
		case total:
			q.U32(uint32(n))
		case chunks:
			q.U32(uint32(parts))
		case size:
			q.U32(uint32(axes[f.axis].size))
		case multiplier:
			m, _ := divisor(axes[f.axis].size)
			q.U32(m)
		case shift:
			_, by := divisor(axes[f.axis].size)
			q.U32(by)
		case stride:
			q.U64(uint64(axes[f.axis].stride[f.slot]))
		}
	}
	defer runtime.KeepAlive(c) // its module stays until the launch is in the stream
	return c.kernels.Launch(r.D, r.Stream, "fused", [3]uint32{uint32(grid), 1, 1}, [3]uint32{uint32(block), 1, 1}, &q)
}

// number is a scalar as the kernel takes it.
func (l *launch) number(i int) uint64 {
	whole := false
	for _, n := range l.p.nodes {
		if n.from == fromScalar && n.slot == i {
			whole = n.kind == S64 || n.kind == S32
		}
	}
	switch {
	case whole && l.args.Wholes != nil:
		return uint64(l.args.Wholes[i])
	case whole:
		return uint64(int64(l.args.Numbers[i]))
	}
	return math.Float64bits(l.args.Numbers[i])
}

// reduce launches a reduction: a warp an index where neighbours in memory are reduced, otherwise a lane an index.
func (l *launch) reduce(r *nn.Run) error {
	if count(l.kept) >= maxCount || count(l.reduced) >= maxCount {
		return nn.ErrUnsupported
	}
	if !l.alongWarp() {
		return l.point(r)
	}
	s := shape{axes: len(l.kept), steps: l.steps(l.reduced[0]), reduced: len(l.reduced), lanes: true}
	return l.enqueue(r, s, count(l.kept), warp, 0, 0)
}

// alongWarp reports that the first axis that is reduced is closer together in memory than the first that is kept, and long enough.
func (l *launch) alongWarp() bool {
	if l.reduced[0].size < warp {
		return false
	}
	for i := range l.p.slots {
		a, b := abs(l.reduced[0].stride[i]), abs(l.kept[0].stride[i])
		if !l.p.slots[i].after && !l.p.slots[i].index && a != 0 {
			return l.kept[0].size < warp || b == 0 || a < b
		}
	}
	return true
}
