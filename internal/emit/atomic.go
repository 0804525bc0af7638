package emit

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// RMW names the operations of atomicrmw on integers.
var RMW = map[ir.AtomOp]string{ir.AtomAdd: "add", ir.AtomMinS: "min", ir.AtomMinU: "umin", ir.AtomMaxS: "max", ir.AtomMaxU: "umax", ir.AtomAnd: "and",
	ir.AtomOr: "or", ir.AtomXor: "xor", ir.AtomExch: "xchg", ir.AtomInc: "uinc_wrap", ir.AtomDec: "udec_wrap"}

// Writer is what Combine writes with: an emitter's own ways, which know the target.
type Writer struct {
	Op2   func(op string, x, y ll.Val) ll.Val
	Intr  func(name string, a ...ll.Val) ll.Val
	Cmp   func(cond string, x, y ll.Val) ll.Val
	Sel   func(c, x, y ll.Val) ll.Val
	Const func(like ll.Val, c int64) ll.Val
}

var combineOps = map[ir.AtomOp]string{ir.AtomAdd: "add", ir.AtomAnd: "and", ir.AtomOr: "or", ir.AtomXor: "xor"}
var combineIntrs = map[ir.AtomOp]string{ir.AtomMinS: "smin", ir.AtomMinU: "umin", ir.AtomMaxS: "smax", ir.AtomMaxU: "umax"}

// Combine is an atomic operation on integers by itself: what memory holds after old met x. False: there is no such operation.
func (w Writer) Combine(op ir.AtomOp, old, x ll.Val) (r ll.Val, ok bool) {
	if name := combineOps[op]; name != "" {
		return w.Op2(name, old, x), true
	}
	if name := combineIntrs[op]; name != "" {
		return w.Intr(name, old, x), true
	}
	switch op {
	case ir.AtomExch:
		return x, true
	case ir.AtomInc: // past the bound it starts at 0
		return w.Sel(w.Cmp("uge", old, x), w.Const(old, 0), w.Op2("add", old, w.Const(old, 1))), true
	case ir.AtomDec:
		wrap := w.Op2("or", w.Cmp("eq", old, w.Const(old, 0)), w.Cmp("ugt", old, x))
		return w.Sel(wrap, x, w.Op2("sub", old, w.Const(old, 1))), true
	}
	return ll.Val{}, false
}
