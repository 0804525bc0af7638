package nn

import "kudzu/internal/shim"

var groupedKernels = module("grouped products", "grouped")

// Grouped multiplies rows with the matrix of their group: out [1, rows, columns] of tokens [1, rows, depth] and weights [experts, depth,
// columns]. Offsets are the first row of each group, of 32 bits on the device; group g has the weights g modulo the experts.
func (r *Run) Grouped(token, weight, out, offsets Tensor) error {
	return r.groups("grouped", token, weight, out, offsets, weight.Dim[0], out.Dim[1]*over(out.Dim[2], warp))
}

// GroupedBackward is the gradient of the weights [groups, depth, columns], of tokens and the gradient of what they gave.
func (r *Run) GroupedBackward(token, dout, dweight, offsets Tensor) error {
	return r.groups("groupedBack", token, dout, dweight, offsets, 1, dweight.Dim[0]*dweight.Dim[1]*over(dweight.Dim[2], warp))
}

func (r *Run) groups(name string, token, weight, out, offsets Tensor, experts, work int64) error {
	if len(token.Dim) != 3 || len(weight.Dim) != 3 || len(out.Dim) != 3 || offsets.Type != S32 || !offsets.IsPacked() {
		return ErrShape
	}
	var q shim.Params
	for _, t := range []Tensor{token, weight, out} {
		if !t.Type.Float() || t.Type >= E2M1 {
			return ErrUnsupported
		}
		putStrided(&q, t)
	}
	q.U64(offsets.Addr, uint64(token.Dim[1]), uint64(token.Dim[2]), uint64(out.Dim[2]))
	q.U32(uint32(token.Type), uint32(weight.Type), uint32(out.Type), uint32(offsets.Count()), uint32(experts), 0)
	return r.launch(groupedKernels, name, spread(work), oneWarp, &q)
}
