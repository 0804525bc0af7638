package nn

import "kudzu/internal/shim"

var moveKernels = module("copies", "move")

// Move copies a tensor to another of the same sizes, of any strides and type.
func (r *Run) Move(from, to Tensor) error {
	if !SameShape(from, to) || from.Check() != nil || to.Check() != nil {
		return ErrShape
	}
	n := from.Count()
	if n == 0 {
		return nil
	}
	var q shim.Params
	putSizes(&q, from.Dim)
	putStrided(&q, from)
	putStrided(&q, to)
	q.U32(uint32(from.Type), uint32(to.Type)).U64(uint64(n))
	return r.launch(moveKernels, "move", spread(over(n, 8*warp)), oneWarp, &q)
}
