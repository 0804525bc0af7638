package simt

import (
	"kudzu/internal/emit/float"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// AMD's own units for what PTX lets be approximate: within one unit in the last place, where PTX allows about two. LLVM scales around
// subnormal numbers, which these units do not know, unless the kernel flushes them.

// unitLast is the metadata node that says so (trailer).
const unitLast = "!fpmath !2"

// rough is a quotient or a root of f32 in which one unit in the last place does not matter; the reciprocal of a root is one instruction.
func (e *emitter) rough(in *ir.Inst, a []ll.Val) ll.Val {
	if in.Op == ir.FSqrt {
		e.mod.Declare("float", "llvm.sqrt.f32", "float")
		return e.fence(e.Op("float", "call contract float @llvm.sqrt.f32(%s), "+unitLast, a[0])) // as e.Sqrt
	}
	return e.Op("float", "fdiv contract %s, %s, "+unitLast, a[0], a[1].S)
}

// gcnExp2Log2 is v_exp_f32 and v_log_f32.
func gcnExp2Log2(e *emitter, in *ir.Inst) {
	name := "exp2"
	if in.Op == ir.FLog2 {
		name = "log2"
	}
	r := e.Intr(name, e.Flushed(in, ir.F32, e.val(in.Args[0])))
	if in.FTZ && !e.Flush && in.Op == ir.FExp2 {
		r = e.FlushBits(r, ir.F32)
	}
	e.result(in, r)
}

// gcnSign is a modifier of the instruction that reads the value; its NaN is made canonical where others see it.
func gcnSign(e *emitter, in *ir.Inst) {
	if !plainSign(in) {
		emitSign(e, in)
		return
	}
	t := in.Results[0].Type
	e.result(in, e.halves(t, e.operands(in), func(el ir.Type, a []ll.Val) ll.Val {
		x := a[0]
		if in.FTZ {
			x = e.FlushBits(x, el) // no arithmetic that would
		}
		if in.Op == ir.FAbs {
			return e.Intr("fabs", x)
		}
		return e.FNeg(x)
	}))
}

// plainSign reports a sign that AMD's instructions change for nothing.
func plainSign(in *ir.Inst) bool {
	switch in.Results[0].Type {
	case ir.F32, ir.F16, ir.F16x2:
		return true
	}
	return false
}

// gcnMinMax is v_min and v_max, for which -0 is less than +0, too, and which give the operand that is no NaN. A mode that flushes would flush
// what PTX does not say to.
func gcnMinMax(e *emitter, in *ir.Inst) {
	if !plainMinMax(in) || e.Flush && !in.FTZ && in.Results[0].Type == ir.F32 {
		emitMinMax(e, in)
		return
	}
	name := "minnum"
	if in.Op == ir.FMax {
		name = "maxnum"
	}
	t := in.Results[0].Type
	e.result(in, e.halves(t, e.operands(in), func(el ir.Type, a []ll.Val) ll.Val {
		x, y := e.Flushed(in, el, a[0]), e.Flushed(in, el, a[1])
		r := e.Intr(name, x, y)
		if in.NaN {
			r = e.Select(e.FCmp("uno", x, y), fc(el, float.Formats[el].NaN), r)
		}
		return r
	}))
}

// plainMinMax reports a minimum or maximum that AMD's instructions compute.
func plainMinMax(in *ir.Inst) bool {
	switch in.Results[0].Type {
	case ir.F32, ir.F16, ir.F16x2:
		return !in.XorSign
	}
	return false
}
