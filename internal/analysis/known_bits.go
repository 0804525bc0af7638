package analysis

import "kudzu/internal/ir"

const zerosDepth = 8 // operations that are looked through

// Zeros is known-bits analysis, of zeros alone: the bits that an integer of at most 64 bits never has.
func Zeros(v *ir.Value) uint64 { return zeros(v, zerosDepth) }

func zeros(v *ir.Value, depth int) uint64 {
	w := v.Type.Bits()
	if v.Type.IsFloat() || w > 64 {
		return 0
	}
	all := ^uint64(0) >> (64 - w)
	if v.Const {
		return ^v.Bits & all
	}
	d := v.Def
	if d == nil || depth == 0 {
		return 0
	}
	of := func(i int) uint64 { return zeros(d.Args[i], depth-1) }
	switch d.Op {
	case ir.Copy:
		return of(0)
	case ir.Keep:
		return of(v.Index)
	case ir.And:
		return of(0) | of(1)
	case ir.Or, ir.Xor:
		return of(0) & of(1)
	case ir.Select:
		return of(1) & of(2)
	case ir.ZExt:
		if d.Args[0].Type.IsFloat() || d.Args[0].Type.Bits() > 64 {
			return 0
		}
		return of(0) | all&^(^uint64(0)>>(64-d.Args[0].Type.Bits()))
	case ir.Trunc:
		return of(0) & all
	case ir.Shl:
		if n := d.Args[1]; n.Const && n.Bits < uint64(w) {
			return (of(0)<<n.Bits | (1<<n.Bits - 1)) & all
		}
	case ir.ShrU:
		if n := d.Args[1]; n.Const && n.Bits < uint64(w) {
			return of(0)>>n.Bits | all&^(all>>n.Bits)
		}
	}
	return 0
}
