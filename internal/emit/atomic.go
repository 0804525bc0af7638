package emit

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// RMW names the operations of atomicrmw on integers.
var RMW = map[ir.AtomOp]string{ir.AtomAdd: "add", ir.AtomMinS: "min", ir.AtomMinU: "umin", ir.AtomMaxS: "max", ir.AtomMaxU: "umax", ir.AtomAnd: "and",
	ir.AtomOr: "or", ir.AtomXor: "xor", ir.AtomExch: "xchg", ir.AtomInc: "uinc_wrap", ir.AtomDec: "udec_wrap"}

var combineOps = map[ir.AtomOp]ll.Bin{ir.AtomAdd: "add", ir.AtomAnd: "and", ir.AtomOr: "or", ir.AtomXor: "xor"}
var combineIntrs = map[ir.AtomOp]string{ir.AtomMinS: "smin", ir.AtomMinU: "umin", ir.AtomMaxS: "smax", ir.AtomMaxU: "umax"}

// Combine is an atomic operation on integers by itself: what memory holds after old met x. False: there is no such operation.
func Combine(b *ll.Func, op ir.AtomOp, old, x ll.Val) (r ll.Val, ok bool) {
	if name := combineOps[op]; name != "" {
		return b.Binary(name, old, x), true
	}
	if name := combineIntrs[op]; name != "" {
		return b.Intr(name, old, x), true
	}
	switch op {
	case ir.AtomExch:
		return x, true
	case ir.AtomInc: // past the bound it starts at 0
		return b.Select(b.ICmp("uge", old, x), old.Int(0), b.Add(old, old.Int(1))), true
	case ir.AtomDec:
		wrap := b.Or(b.ICmp("eq", old, old.Int(0)), b.ICmp("ugt", old, x))
		return b.Select(wrap, x, b.Sub(old, old.Int(1))), true
	}
	return ll.Val{}, false
}
