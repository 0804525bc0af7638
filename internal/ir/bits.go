package ir

const zerosDepth = 8 // operations that are looked through

// Zeros are the bits that an integer of at most 64 bits never has.
func Zeros(v *Value) uint64 { return zeros(v, zerosDepth) }

func zeros(v *Value, depth int) uint64 {
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
	case Copy:
		return of(0)
	case Keep:
		return of(v.Index)
	case And:
		return of(0) | of(1)
	case Or, Xor:
		return of(0) & of(1)
	case Select:
		return of(1) & of(2)
	case ZExt:
		if d.Args[0].Type.IsFloat() || d.Args[0].Type.Bits() > 64 {
			return 0
		}
		return of(0) | all&^(^uint64(0)>>(64-d.Args[0].Type.Bits()))
	case Trunc:
		return of(0) & all
	case Shl:
		if n := d.Args[1]; n.Const && n.Bits < uint64(w) {
			return (of(0)<<n.Bits | 1<<n.Bits - 1) & all
		}
	case ShrU:
		if n := d.Args[1]; n.Const && n.Bits < uint64(w) {
			return of(0)>>n.Bits | all&^(all>>n.Bits)
		}
	}
	return 0
}
