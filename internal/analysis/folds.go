package analysis

import (
	"math/bits"

	"kudzu/internal/ir"
)

// A fold is an operation of each lane's number and its partner's, x and what a shuffle brings of it from the lane whose number differs in
// one bit, where it does not matter which of the two comes first: the result is the same in both lanes, to the bit. Five of them, one
// for each bit, are how programs add up a warp, and give all lanes one number.

// folding are the operations that do not tell their operands apart. f64 does where both are NaNs, and has its own test.
var folding = [ir.NumOps]bool{
	ir.Add: true, ir.Mul: true, ir.And: true, ir.Or: true, ir.Xor: true, ir.MinS: true, ir.MinU: true, ir.MaxS: true, ir.MaxU: true,
	ir.FAdd: true, ir.FMul: true, ir.FMin: true, ir.FMax: true,
}

// WholeWarp are the bits of a lane's number.
const WholeWarp = 31

// Fold reports a fold of x with the lanes whose numbers differ in bit, a power of two.
func Fold(in *ir.Inst) (x *ir.Value, bit int, ok bool) {
	if !folding[in.Op] || len(in.Args) != 2 || in.Rnd != ir.RN {
		return nil, 0, false
	}
	switch in.Results[0].Type {
	case ir.I16, ir.I32, ir.I64, ir.F16, ir.F32:
	default:
		return nil, 0, false
	}
	for i, x := range in.Args {
		if bit := partner(in.Args[1-i], x); bit != 0 {
			return x, bit, true
		}
	}
	return nil, 0, false
}

// partner is the bit by which the lane differs that y is x of; 0: y is something else. Shuffles of floats may go through integers.
func partner(y, x *ir.Value) int {
	d := y.Def
	if d == nil {
		return 0
	}
	if d.Op == ir.Bitcast {
		d = d.Args[0].Def
		if d == nil || len(d.Args) == 0 {
			return 0
		}
		if b := d.Args[0].Def; d.Op != ir.Shfl || b == nil || b.Op != ir.Bitcast || b.Args[0] != x {
			return 0
		}
	} else if d.Op != ir.Shfl || d.Args[0] != x {
		return 0
	}
	if d.Shuf != ir.ShufBfly || !d.Args[3].Const || uint32(d.Args[3].Bits) != 1<<32-1 {
		return 0
	}
	from, _, ok := ShuffleFrom(d)
	bit := from[0]
	if !ok || bits.OnesCount(uint(bit)) != 1 {
		return 0
	}
	for l := range from {
		if from[l] != l^bit {
			return 0
		}
	}
	return bit
}

// Folded is the bits of the lane's number that v does not depend on, because it was folded over them.
func Folded(v *ir.Value) int {
	all := 0
	for v.Def != nil && len(v.Def.Results) == 1 {
		x, bit, ok := Fold(v.Def)
		if !ok {
			break
		}
		all |= bit
		v = x
	}
	return all
}
