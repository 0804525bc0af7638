package nn

import (
	"math"

	"kudzu/internal/shim"
)

var dropoutKernels = module("dropout", "dropout")

// DropoutState is the memory that random numbers come from: a seed, and how many were used.
const DropoutState = 16

// DropoutMask is the size of the mask of n elements, in bytes.
func DropoutMask(n int64) int64 { return over(n, 32) * 4 }

// DropoutSeed makes a state new.
func (r *Run) DropoutSeed(state, seed uint64) error {
	return r.launch(dropoutKernels, "dropoutSeed", [3]uint32{1, 1, 1}, oneWarp, new(shim.Params).U64(state, seed))
}

// kept is the factor of elements that stay.
func kept(rate float64) float64 {
	if rate >= 1 {
		return 0
	}
	return 1 / (1 - rate)
}

// Dropout makes y of x: each element is dropped with probability rate, and what stays is scaled up. The mask is for Undrop.
func (r *Run) Dropout(rate float64, state, mask uint64, x, y Tensor) error {
	if _, err := checked(x, y); err != nil || !SameShape(x, y) {
		return ErrShape
	}
	n := x.Count()
	if n == 0 {
		return nil
	}
	dim, runs := Merge(x.Dim, x.Stride, y.Stride)
	bound := uint64(math.RoundToEven(min(max(rate, 0), 1) * (1 << 32)))
	var q shim.Params
	putSizes(&q, dim)
	putStrided(&q, Tensor{Addr: x.Addr, Stride: runs[0]})
	putStrided(&q, Tensor{Addr: y.Addr, Stride: runs[1]})
	q.U32(uint32(x.Type), uint32(y.Type)).U64(uint64(n), state, mask, bound).F64(kept(rate))
	if err := r.launch(dropoutKernels, "dropoutForward", threads(n), oneWarp, &q); err != nil {
		return err
	}
	return r.launch(dropoutKernels, "dropoutAdvance", [3]uint32{1, 1, 1}, oneWarp, new(shim.Params).U64(state, uint64(n)))
}

// Undrop makes the gradient dx of that of the result, with the mask that Dropout left.
func (r *Run) Undrop(rate float64, mask uint64, dy, dx Tensor) error {
	if _, err := checked(dy, dx); err != nil || !SameShape(dy, dx) {
		return ErrShape
	}
	n := dy.Count()
	if n == 0 {
		return nil
	}
	dim, runs := Merge(dy.Dim, dy.Stride, dx.Stride)
	var q shim.Params
	putSizes(&q, dim)
	putStrided(&q, Tensor{Addr: dy.Addr, Stride: runs[0]})
	putStrided(&q, Tensor{Addr: dx.Addr, Stride: runs[1]})
	q.U32(uint32(dy.Type), uint32(dx.Type)).U64(uint64(n), mask).F64(kept(rate))
	return r.launch(dropoutKernels, "dropoutBackward", threads(n), oneWarp, &q)
}
