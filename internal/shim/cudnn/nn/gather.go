package nn

import "kudzu/internal/shim"

var gatherKernels = module("packed sequences", "gather")

// putLying lays out a Lying of kernels/gather.cu.
func putLying(q *shim.Params, t Tensor) {
	q.U64(t.Addr)
	for _, s := range t.Stride {
		q.U64(uint64(s))
	}
}

// putShape lays out a Shape.
func putShape(q *shim.Params, t Tensor) {
	for _, d := range t.Dim {
		q.U32(uint32(d))
	}
	q.U32(uint32(t.Type.Size()), uint32(t.SequenceAxis()))
}

// SequenceAxis is the side of a tensor of [batch, heads, positions, elements] that counts positions. The last two may be exchanged:
// positions are farther apart.
func (t Tensor) SequenceAxis() int {
	if t.Dim[3] > 1 && t.Stride[3] > t.Stride[2] {
		return 3
	}
	return 2
}

// eachOf launches a kernel for n elements.
func (r *Run) eachOf(name string, n int64, q *shim.Params) error {
	const block = 128
	return r.launch(gatherKernels, name, [3]uint32{uint32(min(over(n, block), 1<<20)), 1, 1}, [3]uint32{block, 1, 1}, q)
}

// Sequences copies between a tensor whose sequences lie packed and one without gaps: out of it, where what is past the end of a sequence
// becomes zero, or with back into it. A sequence begins at an offset, of 32 or 64 bits, times unit.
func (r *Run) Sequences(lying, dense, offsets Tensor, unit int64, back bool) error {
	if !SameShape(lying, dense) || lying.Type != dense.Type || len(lying.Dim) != 4 || offsets.Type != S32 && offsets.Type != S64 {
		return ErrShape
	}
	var q shim.Params
	putShape(&q, lying)
	putLying(&q, lying)
	putLying(&q, dense)
	q.U64(offsets.Addr, uint64(unit)).U32(flag(offsets.Type == S64), flag(back)).U64(uint64(lying.Count()))
	return r.eachOf("packedSequences", lying.Count(), &q)
}

// Pages copies to [batch, heads, positions, elements] from a container [pages, heads, positions of a page, elements]: table, [batch, 1,
// pages, 1], says which. What is past the 32-bit lengths becomes zero; without an address all is there. The last two sides of y may be
// exchanged.
func (r *Run) Pages(container, table, y Tensor, lengths uint64) error {
	if len(container.Dim) != 4 || len(table.Dim) != 4 || len(y.Dim) != 4 || container.Type != y.Type || table.Type != S32 {
		return ErrShape
	}
	if s := y.SequenceAxis(); y.Dim[5-s] != container.Dim[3] || y.Dim[1] != container.Dim[1] || table.Dim[0] != y.Dim[0] || table.Dim[2]*container.Dim[2] < y.Dim[s] {
		return ErrShape
	}
	var q shim.Params
	putShape(&q, y)
	putLying(&q, container)
	putLying(&q, y)
	putLying(&q, table)
	q.U64(lengths).U32(uint32(container.Dim[2]), uint32(container.Dim[0])).U64(uint64(y.Count()))
	return r.eachOf("pages", y.Count(), &q)
}
