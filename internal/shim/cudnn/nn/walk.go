package nn

import (
	"slices"

	"kudzu/internal/shim"
)

// walk is a way over the elements of tensors of one shape, where sides of 1 serve all: some dimensions are kept, a statistic for each
// of their indices, the others summed over (kernels/norm.cu).
type walk struct {
	tensors      []Tensor
	kept, summed []line
	columns      bool // lanes are statistics, not what is summed over
}

// line is a dimension, and its stride in every tensor.
type line struct {
	n    int64
	step []int64
}

// newWalk plans the way over the first tensor's elements. keep says which of its dimensions are kept.
func newWalk(keep func(d int) bool, tensors ...Tensor) (*walk, error) {
	x := tensors[0]
	for _, t := range tensors {
		if t.Addr == 0 {
			continue
		}
		if t.Check() != nil || len(t.Dim) != len(x.Dim) {
			return nil, ErrShape
		}
		for d, n := range t.Dim {
			if n != x.Dim[d] && n != 1 {
				return nil, ErrShape
			}
		}
	}
	w := &walk{tensors: tensors}
	order := make([]int, len(x.Dim))
	for d := range order {
		order[d] = d
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(x.Stride[b] - x.Stride[a]) })
	order = slices.DeleteFunc(order, func(d int) bool { return x.Dim[d] == 1 })
	w.kept = lines(x, tensors, slices.DeleteFunc(slices.Clone(order), func(d int) bool { return !keep(d) }))
	w.summed = lines(x, tensors, slices.DeleteFunc(order, keep))
	if len(w.summed) == 0 {
		w.summed = []line{{n: 1, step: make([]int64, len(tensors))}}
	}
	if len(w.kept) > 0 {
		w.columns = w.summed[len(w.summed)-1].step[0] != 1 && w.kept[len(w.kept)-1].step[0] == 1
	}
	return w, nil
}

// lines are some dimensions of the first tensor, in their order; neighbours that every tensor walks as one are one.
func lines(x Tensor, tensors []Tensor, order []int) []line {
	if len(order) == 0 {
		return nil
	}
	dim, steps := make([]int64, len(order)), make([][]int64, len(tensors))
	for i, t := range tensors {
		steps[i] = make([]int64, len(order))
		for k, d := range order {
			dim[k] = x.Dim[d]
			if t.Addr != 0 && t.Dim[d] > 1 {
				steps[i][k] = t.Stride[d]
			}
		}
	}
	dim, steps = Merge(dim, steps...)
	list := make([]line, len(dim))
	for k, n := range dim {
		list[k] = line{n: n, step: make([]int64, len(tensors))}
		for i := range tensors {
			list[k].step[i] = steps[i][k]
		}
	}
	return list
}

func count(list []line) int64 {
	n := int64(1)
	for _, l := range list {
		n *= l.n
	}
	return n
}

// put lays a Walk out, and the tensors in their order.
func (w *walk) put(q *shim.Params) {
	q.U32(uint32(len(w.kept)), uint32(len(w.summed)))
	for _, list := range [][]line{w.kept, w.summed} {
		var sides []int64
		for _, l := range list {
			sides = append(sides, l.n)
		}
		putSides(q, sides)
	}
	q.U64(uint64(count(w.kept)), uint64(count(w.summed)))
	for i, t := range w.tensors {
		q.U64(t.Addr)
		for _, list := range [][]line{w.kept, w.summed} {
			var steps []int64
			for _, l := range list {
				steps = append(steps, l.step[i])
			}
			putSides(q, steps)
		}
	}
}

// near reports that some of the tensors have the one line that lanes go along with stride 1. Others do not have it, as statistics have no
// stride where they serve many.
func (w *walk) near(some ...int) bool {
	along := w.summed
	if w.columns {
		along = w.kept
	}
	if len(along) != 1 {
		return false
	}
	for i, t := range w.tensors {
		want := int64(0)
		if slices.Contains(some, i) {
			want = 1
		}
		if t.Addr != 0 && along[0].step[i] != want {
			return false
		}
	}
	return true
}

// launch runs a kernel of kernels/norm.cu that takes this way. near: as the method of this name says, of the tensors that the kernel
// takes it of.
func (w *walk) launch(r *Run, k *shim.Kernels, name, types string, q *shim.Params, near bool) error {
	n := count(w.kept)
	way := "_rows_"
	if w.columns {
		way, n = "_columns_", over(n, warp)
	}
	if near {
		way = "_near_"
	}
	return r.launch(k, name+way+types, spread(n), oneWarp, q)
}
