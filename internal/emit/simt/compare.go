package simt

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
)

var intCmps = map[ir.Cmp]string{ir.EQ: "eq", ir.NE: "ne", ir.LT: "slt", ir.LE: "sle", ir.GT: "sgt", ir.GE: "sge", ir.LO: "ult", ir.LS: "ule", ir.HI: "ugt", ir.HS: "uge"}

// Ordered comparisons are false for a NaN, but PTX's plain ne is ordered too.
var floatCmps = map[ir.Cmp]string{ir.EQ: "oeq", ir.NE: "one", ir.LT: "olt", ir.LE: "ole", ir.GT: "ogt", ir.GE: "oge",
	ir.EQU: "ueq", ir.NEU: "une", ir.LTU: "ult", ir.LEU: "ule", ir.GTU: "ugt", ir.GEU: "uge", ir.NUM: "ord", ir.NAN: "uno"}

func emitICmp(e *emitter, in *ir.Inst) {
	e.result(in, e.cmp(intCmps[in.Cmp], e.val(in.Args[0]), e.val(in.Args[1])))
}

func emitFCmp(e *emitter, in *ir.Inst) {
	t := in.Args[0].Type
	x, y := e.flushed(in, t, e.val(in.Args[0])), e.flushed(in, t, e.val(in.Args[1]))
	if t == ir.BF16 {
		x, y = e.widenBF16(x), e.widenBF16(y)
	}
	switch emit.Apart(in) {
	case 0:
		x = e.fence(x)
	case 1:
		y = e.fence(y)
	}
	e.result(in, e.fcmp(floatCmps[in.Cmp], x, y))
}

func emitSelect(e *emitter, in *ir.Inst) {
	a, b := e.val(in.Args[1]), e.val(in.Args[2])
	if !e.dirty[in.Results[0]] { // one side's NaNs are made by arithmetic, the other's may not be touched
		a, b = e.clean(in.Args[1]), e.clean(in.Args[2])
	}
	e.result(in, e.sel(e.val(in.Args[0]), a, b))
}

// emitFTest looks at the bits.
func emitFTest(e *emitter, in *ir.Inst) {
	f := emit.Formats[in.Args[0].Type]
	b := e.bits(e.val(in.Args[0]))
	mag := e.op2("and", b, k(b, int64(f.Sign-1)))
	inf, least, zero := k(b, int64(f.Inf)), k(b, int64(f.Least)), k(b, 0)
	switch in.Test {
	case ir.TestFinite:
		e.result(in, e.cmp("ult", mag, inf))
	case ir.TestInfinite:
		e.result(in, e.cmp("eq", mag, inf))
	case ir.TestNumber:
		e.result(in, e.cmp("ule", mag, inf))
	case ir.TestNaN:
		e.result(in, e.cmp("ugt", mag, inf))
	case ir.TestNormal: // zero counts as normal (recorded on sm_90)
		e.result(in, e.op2("or", e.op2("and", e.cmp("uge", mag, least), e.cmp("ult", mag, inf)), e.cmp("eq", mag, zero)))
	case ir.TestSubnormal:
		e.result(in, e.op2("and", e.cmp("ult", mag, least), e.cmp("ne", mag, zero)))
	default:
		e.fail("testp %s", in.Test)
	}
}
