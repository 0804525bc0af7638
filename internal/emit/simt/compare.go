package simt

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
)

func emitICmp(e *emitter, in *ir.Inst) {
	e.result(in, e.ICmp(emit.IntPreds[in.Cmp], e.val(in.Args[0]), e.val(in.Args[1])))
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
	e.result(in, e.FCmp(emit.FloatPreds[in.Cmp], x, y))
}

func emitSelect(e *emitter, in *ir.Inst) {
	a, b := e.val(in.Args[1]), e.val(in.Args[2])
	if !e.dirty[in.Results[0]] { // one side's NaNs are made by arithmetic, the other's may not be touched
		a, b = e.clean(in.Args[1]), e.clean(in.Args[2])
	}
	e.result(in, e.Select(e.val(in.Args[0]), a, b))
}

// emitFTest looks at the bits.
func emitFTest(e *emitter, in *ir.Inst) {
	f := emit.Formats[in.Args[0].Type]
	b := e.Bits(e.val(in.Args[0]))
	mag := e.And(b, b.Int(int64(f.Sign-1)))
	inf, least, zero := b.Int(int64(f.Inf)), b.Int(int64(f.Least)), b.Int(0)
	switch in.Test {
	case ir.TestFinite:
		e.result(in, e.ICmp("ult", mag, inf))
	case ir.TestInfinite:
		e.result(in, e.ICmp("eq", mag, inf))
	case ir.TestNumber:
		e.result(in, e.ICmp("ule", mag, inf))
	case ir.TestNaN:
		e.result(in, e.ICmp("ugt", mag, inf))
	case ir.TestNormal: // zero counts as normal (recorded on sm_90)
		e.result(in, e.Or(e.And(e.ICmp("uge", mag, least), e.ICmp("ult", mag, inf)), e.ICmp("eq", mag, zero)))
	case ir.TestSubnormal:
		e.result(in, e.And(e.ICmp("ult", mag, least), e.ICmp("ne", mag, zero)))
	default:
		e.fail("testp %s", in.Test)
	}
}
