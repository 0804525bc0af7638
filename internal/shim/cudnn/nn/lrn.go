package nn

import (
	"math"

	"kudzu/internal/shim"
)

var lrnKernels = module("local response normalization", "lrn")

// LRN is y = x·(K + Alpha/m·Σx²)^-Beta, with the sum over N channels, or over N elements of each spatial dimension; m is how many
// these are. With means the sum is of (x-μ)², where μ is the mean of the window's place.
type LRN struct {
	N              int64
	Alpha, Beta, K float64
	Spatial        bool
}

const lrnDims = 5

// put appends an LRN of kernels/lrn.cu for tensors with all dimensions, of which space are those of the space.
func (l LRN) put(q *shim.Params, x Tensor, space int) {
	for _, d := range x.Dim {
		q.U64(uint64(d))
	}
	before := (l.N - 1) / 2
	for _, far := range []int64{before, l.N - 1 - before} {
		for d := range lrnDims {
			if l.Spatial == (d >= lrnDims-space) && d > 0 && (l.Spatial || d == 1) {
				q.U64(uint64(far))
			} else {
				q.U64(0)
			}
		}
	}
	m := float64(l.N)
	if l.Spatial {
		m = math.Pow(m, float64(space))
	}
	q.F64(l.Alpha/m, l.Beta, l.K)
}

// same checks tensors of one shape, and gives them all dimensions. Those without memory are missing.
func same(ts ...*Tensor) (string, error) {
	var all []Tensor
	for _, t := range ts {
		if t.Addr == 0 {
			*t = Tensor{Type: ts[0].Type, Dim: ts[0].Dim, Stride: make([]int64, len(ts[0].Dim))}
		}
		if len(t.Dim) < 2 || len(t.Dim) > lrnDims {
			return "", ErrUnsupported
		}
		if !SameShape(*ts[0], *t) {
			return "", ErrShape
		}
		all = append(all, *t)
	}
	suffix, err := checked(all...)
	if err != nil {
		return "", err
	}
	for i, t := range ts {
		*t = flat(all[i], lrnDims)
	}
	return suffix, nil
}

// LRN makes y of x. Means are of x's type; a tensor without an address is none.
func (r *Run) LRN(l LRN, s Scale, x, mean, y Tensor) error {
	space := len(x.Dim) - 2
	suffix, err := same(&x, &mean, &y)
	if err != nil {
		return err
	}
	n := y.Count()
	var q shim.Params
	l.put(&q, x, space)
	putScale(&q, s)
	putStrided(&q, x)
	putStrided(&q, mean)
	putStrided(&q, y)
	q.U32(uint32(x.Type), uint32(y.Type)).U64(uint64(n))
	return r.launch(lrnKernels, "lrnForward"+suffix, threads(n), oneWarp, &q)
}

// LRNBackward makes the gradient dx of that of the result, and that of the means if dmean has an address.
func (r *Run) LRNBackward(l LRN, s Scale, x, mean, dy, dx, dmean Tensor) error {
	space := len(x.Dim) - 2
	suffix, err := same(&x, &mean, &dy, &dx, &dmean)
	if err != nil {
		return err
	}
	n := dx.Count()
	var q shim.Params
	l.put(&q, x, space)
	putScale(&q, s)
	for _, t := range []Tensor{x, mean, dy, dx, dmean} {
		putStrided(&q, t)
	}
	q.U32(uint32(x.Type), uint32(dy.Type), uint32(dx.Type)).U64(uint64(n))
	return r.launch(lrnKernels, "lrnBackward"+suffix, threads(n), oneWarp, &q)
}
