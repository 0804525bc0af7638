// Package emit is what the emitters (emit/warp for CPUs, emit/simt for GPUs) say alike of IR in LLVM's words. Floats are emit/float's.
package emit

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

var types = [ir.NumTypes]ll.Type{ir.Void: "void", ir.I1: "i1", ir.I8: "i8", ir.I16: "i16", ir.I32: "i32", ir.I64: "i64", ir.I128: "i128", ir.F16: "half",
	ir.BF16: "i16", ir.F32: "float", ir.F64: "double", ir.F16x2: "i32", ir.BF16x2: "i32"}

// Type is the LLVM type of one lane. bf16 and packed pairs are held as their bits.
func Type(t ir.Type) ll.Type { return types[t] }

// Const is an IR constant given by its bits.
func Const(t ir.Type, bits uint64) ll.Val {
	switch t {
	case ir.F16, ir.F32, ir.F64:
		return ll.Float(types[t], bits)
	case ir.BF16:
		t = ir.I16
	case ir.F16x2, ir.BF16x2:
		t = ir.I32
	}
	return ll.Int(types[t], ir.ConstInt(t, bits).Int())
}

// IntPreds name the comparisons of integers.
var IntPreds = map[ir.Cmp]ll.Pred{ir.EQ: "eq", ir.NE: "ne", ir.LT: "slt", ir.LE: "sle", ir.GT: "sgt", ir.GE: "sge", ir.LO: "ult", ir.LS: "ule", ir.HI: "ugt", ir.HS: "uge"}
