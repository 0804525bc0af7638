package pass

import (
	"math"
	"math/bits"

	"kudzu/internal/ir"
)

// lowBits are the bits that numbers of an integer type have.
func lowBits(t ir.Type) uint64 { return math.MaxUint64 >> (64 - t.Bits()) }

// evaluate computes an integer operation on constants of at most 64 bits; false where LLVM shall do it.
func evaluate(in *ir.Inst, t ir.Type) (uint64, bool) {
	arg := func(i int) uint64 { return in.Args[i].Bits }
	sarg := func(i int) int64 { return in.Args[i].Int() }
	w := uint64(in.Args[0].Type.Bits())
	switch in.Op {
	case ir.Add:
		return arg(0) + arg(1), true
	case ir.Sub:
		return arg(0) - arg(1), true
	case ir.Mul:
		return arg(0) * arg(1), true
	case ir.MulHiU:
		if w == 64 {
			hi, _ := bits.Mul64(arg(0), arg(1))
			return hi, true
		}
		return arg(0) * arg(1) >> w, w <= 32
	case ir.MulHiS:
		return uint64(sarg(0) * sarg(1) >> w), w <= 32
	case ir.DivU, ir.RemU:
		if arg(1) == 0 {
			return 0, false
		}
		if in.Op == ir.DivU {
			return arg(0) / arg(1), true
		}
		return arg(0) % arg(1), true
	case ir.DivS, ir.RemS:
		if arg(1) == 0 || sarg(1) == -1 {
			return 0, false
		}
		if in.Op == ir.DivS {
			return uint64(sarg(0) / sarg(1)), true
		}
		return uint64(sarg(0) % sarg(1)), true
	case ir.Neg:
		return -arg(0), true
	case ir.Not:
		return ^arg(0), true
	case ir.And:
		return arg(0) & arg(1), true
	case ir.Or:
		return arg(0) | arg(1), true
	case ir.Xor:
		return arg(0) ^ arg(1), true
	case ir.MinS:
		return uint64(min(sarg(0), sarg(1))), true
	case ir.MaxS:
		return uint64(max(sarg(0), sarg(1))), true
	case ir.MinU:
		return min(arg(0), arg(1)), true
	case ir.MaxU:
		return max(arg(0), arg(1)), true
	case ir.Shl:
		if arg(1) >= w {
			return 0, true
		}
		return arg(0) << arg(1), true
	case ir.ShrU:
		if arg(1) >= w {
			return 0, true
		}
		return arg(0) >> arg(1), true
	case ir.ShrS:
		return uint64(sarg(0) >> min(arg(1), w-1)), true
	case ir.Popc:
		return uint64(bits.OnesCount64(arg(0))), true
	case ir.Trunc, ir.ZExt:
		return arg(0), true
	case ir.SExt:
		return uint64(sarg(0)), true
	case ir.ICmp:
		return b2i(compare(in.Cmp, arg(0), arg(1), sarg(0), sarg(1))), true
	}
	return 0, false
}

func b2i(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func compare(c ir.Cmp, a, b uint64, sa, sb int64) bool {
	switch c {
	case ir.EQ:
		return a == b
	case ir.NE:
		return a != b
	case ir.LT:
		return sa < sb
	case ir.LE:
		return sa <= sb
	case ir.GT:
		return sa > sb
	case ir.GE:
		return sa >= sb
	case ir.LO:
		return a < b
	case ir.LS:
		return a <= b
	case ir.HI:
		return a > b
	case ir.HS:
		return a >= b
	}
	panic("BUG: float comparison of integers")
}
