package nn

import "kudzu/internal/shim"

var bitKernels = module("bits of elements", "bits")

// Positive writes a bit for every element of a tensor without gaps, in the order of memory: whether it is above zero.
func (r *Run) Positive(x Tensor, words uint64) error {
	if x.Span() != x.Count() {
		return ErrUnsupported
	}
	var q shim.Params
	q.U64(x.Addr, words).U32(uint32(x.Type), 0).U64(uint64(x.Count()))
	return r.launch(bitKernels, "positive", threads(x.Count()), oneWarp, &q)
}

// Keep copies those elements of a tensor without gaps whose bit is set to one that lies in the same way. The others become zero.
func (r *Run) Keep(x, to Tensor, words uint64) error {
	if x.Span() != x.Count() || !SameShape(x, to) || !to.runs(x.Stride) || x.Type != to.Type {
		return ErrUnsupported
	}
	var q shim.Params
	q.U64(x.Addr, to.Addr, words).U32(uint32(x.Type), 0).U64(uint64(x.Count()))
	return r.launch(bitKernels, "keep", threads(x.Count()), oneWarp, &q)
}
