package float

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Orders are the comparisons that are not the same with their operands swapped, as comparisons of signed integers.
var Orders = map[ir.Cmp]ll.Pred{ir.LT: "slt", ir.LE: "sle", ir.GT: "sgt", ir.GE: "sge", ir.LTU: "slt", ir.LEU: "sle", ir.GTU: "sgt", ir.GEU: "sge"}

// Preds name the comparisons of floats. Ordered comparisons are false for a NaN, but PTX's plain ne is ordered too.
var Preds = map[ir.Cmp]ll.Pred{ir.EQ: "oeq", ir.NE: "one", ir.LT: "olt", ir.LE: "ole", ir.GT: "ogt", ir.GE: "oge",
	ir.EQU: "ueq", ir.NEU: "une", ir.LTU: "ult", ir.LEU: "ule", ir.GTU: "ugt", ir.GEU: "uge", ir.NUM: "ord", ir.NAN: "uno"}

// Apart gives the operand of a comparison of numbers that has to be kept apart from the same value elsewhere, on a target that has
// instructions for minnum and maxnum; -1: neither has to. LLVM makes these of x < 0 ? x : 0 without minding that they order -0
// before +0: of x = -0 that is +0, their result is -0. It does so where it knows that the constant, or both operands, are no NaN.
func Apart(in *ir.Inst) int {
	if Orders[in.Cmp] == "" {
		return -1
	}
	for i, a := range in.Args[:2] {
		if a.Const {
			if f := Formats[a.Type]; a.Bits&(f.Sign-1) >= f.Least {
				return -1 // not zero, even if it is flushed
			}
			return i
		}
	}
	seen := map[*ir.Value]bool{}
	if neverNaN(in.Args[0], seen) && neverNaN(in.Args[1], seen) {
		return 0
	}
	return -1
}

// fromNumbers are the operations whose result LLVM may know to be no NaN if it knows that of every operand.
var fromNumbers = map[ir.Op]bool{ir.SToF: true, ir.UToF: true, ir.FExt: true, ir.FTrunc: true, ir.FNeg: true, ir.FAbs: true, ir.FAdd: true, ir.FSub: true, ir.FMul: true, ir.FDiv: true,
	ir.FFma: true, ir.FSqrt: true, ir.FRcp: true, ir.FMin: true, ir.FMax: true, ir.FCopysign: true, ir.FRound: true, ir.FRelu: true, ir.Select: true, ir.Phi: true, ir.Copy: true, ir.Bitcast: true}

// neverNaN says that LLVM might know that v is no NaN: it may say so of too many.
func neverNaN(v *ir.Value, seen map[*ir.Value]bool) bool {
	if v.Const || seen[v] || !v.Type.IsFloat() {
		return true
	}
	if v.Def == nil || !fromNumbers[v.Def.Op] {
		return false
	}
	seen[v] = true
	for _, a := range v.Def.Args {
		if !neverNaN(a, seen) {
			return v.Def.Op == ir.FMin || v.Def.Op == ir.FMax // the other operand's number
		}
	}
	return true
}
