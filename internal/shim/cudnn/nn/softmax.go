package nn

import (
	"slices"

	"kudzu/internal/shim"
)

var softmaxKernels = module("softmax", "softmax")

// SoftmaxMode is how it is computed.
type SoftmaxMode uint32

// The modes: without and with a look at the largest element first, and the logarithm of the latter.
const (
	SoftmaxFast SoftmaxMode = iota
	SoftmaxAccurate
	SoftmaxLog
)

// rowSet is what a softmax sums over: the axes from one on, as many as are said; all others count rows.
type rowSet struct {
	outer, inner             []int64
	outerStride, innerStride [][]int64
}

func splitRows(axis, n int, ts ...Tensor) rowSet {
	var in, out [][]int64
	cut := func(v []int64) ([]int64, []int64) {
		return v[axis : axis+n], slices.Concat(v[:axis], v[axis+n:])
	}
	for _, t := range ts {
		a, b := cut(t.Stride)
		in, out = append(in, a), append(out, b)
	}
	a, b := cut(ts[0].Dim)
	var r rowSet
	r.inner, r.innerStride = Merge(a, in...)
	r.outer, r.outerStride = Merge(b, out...)
	return r
}

func volume(v []int64) int64 {
	n := int64(1)
	for _, d := range v {
		n *= d
	}
	return n
}

// softmax launches a kernel on rows. A warp has a row whose elements are neighbours; otherwise a thread has one, and its neighbours
// have those beside it.
func (r *Run) softmax(kernel string, mode SoftmaxMode, s Scale, axis, n int, ts ...Tensor) error {
	suffix, err := checked(ts...)
	if err != nil {
		return err
	}
	for _, t := range ts {
		if !SameShape(ts[0], t) || axis+n > len(t.Dim) {
			return ErrShape
		}
	}
	if ts[0].Empty() {
		return nil
	}
	w := splitRows(axis, n, ts...)
	count, length := volume(w.outer), volume(w.inner)
	inner := w.innerStride[0]
	near := uint32(0)
	grid := threads(count)
	if inner[len(inner)-1] == 1 || count < warp {
		near, grid = 1, spread(count)
	}
	var q shim.Params
	putSizes(&q, w.outer)
	putSizes(&q, w.inner)
	q.U64(uint64(count), uint64(length)).U32(uint32(mode), near)
	putScale(&q, s)
	for i, t := range ts {
		putStrided(&q, Tensor{Addr: t.Addr, Stride: w.outerStride[i]})
		putStrided(&q, Tensor{Addr: t.Addr, Stride: w.innerStride[i]})
	}
	if w.near(length, ts) {
		return r.launch(softmaxKernels, kernel+"_"+ts[0].Type.String(), spread(count), oneWarp, &q)
	}
	for _, t := range ts {
		q.U32(uint32(t.Type))
	}
	return r.launch(softmaxKernels, kernel+suffix, grid, oneWarp, &q)
}

// near reports rows whose elements are neighbours in every tensor, and of one type that there are kernels for.
func (w *rowSet) near(length int64, ts []Tensor) bool {
	for i, t := range ts {
		if len(w.inner) != 1 || w.innerStride[i][0] != 1 || t.Type != ts[0].Type {
			return false
		}
	}
	return length < maxSide && slices.Contains([]Elem{F32, F16, BF16}, ts[0].Type)
}

// Softmax makes y of x, over n axes from one on.
func (r *Run) Softmax(mode SoftmaxMode, s Scale, axis, n int, x, y Tensor) error {
	if axis+n <= len(x.Dim) && volume(x.Dim[axis+1:axis+n]) == 1 && SameShape(x, y) && x.Check() == nil && y.Check() == nil {
		if done, err := r.elsewhere(s, &Work{Kind: WorkSoftmax, X: x, Y: y, Mode: mode, Axis: axis}); done || err != nil {
			return err
		}
	}
	return r.softmax("softmaxForward", mode, s, axis, n, x, y)
}

// SoftmaxBackward makes the gradient dx of the result y and its gradient dy.
func (r *Run) SoftmaxBackward(mode SoftmaxMode, s Scale, axis, n int, y, dy, dx Tensor) error {
	return r.softmax("softmaxBackward", mode, s, axis, n, y, dy, dx)
}
