package simt

import (
	"fmt"
	"strings"

	"kudzu/internal/emit/float"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Directed rounding on AMD's GPUs: the mode register is changed around the one instruction, in inline assembly so that nothing
// gets between. NVIDIA's instructions have the rounding in them.

// gcnModes are the rounding's bits of the mode register, for f32 and again for f64 and f16.
var gcnModes = map[ir.Rnd]int{ir.RP: 1 | 1<<2, ir.RM: 2 | 2<<2, ir.RZ: 3 | 3<<2}

var gcnInstructions = map[ir.Op]map[ir.Type]string{
	ir.FAdd: {ir.F32: "v_add_f32 $0, $1, $2", ir.F64: "v_add_f64 $0, $1, $2"},
	ir.FSub: {ir.F32: "v_sub_f32 $0, $1, $2", ir.F64: "v_add_f64 $0, $1, -$2"},
	ir.FMul: {ir.F32: "v_mul_f32 $0, $1, $2", ir.F64: "v_mul_f64 $0, $1, $2"},
	ir.FFma: {ir.F32: "v_fma_f32 $0, $1, $2, $3", ir.F64: "v_fma_f64 $0, $1, $2, $3"},
}

// modal is one instruction with another rounding.
func (e *emitter) modal(op ir.Op, rnd ir.Rnd, t ir.Type, a []ll.Val) ll.Val {
	mode, ok := gcnModes[rnd]
	text := gcnInstructions[op][t]
	if !ok || text == "" {
		e.fail("%s of %s rounded %s", op, t, rnd)
	}
	set := func(m int) string { return fmt.Sprintf("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), %d", m) }
	cons := "=&v" + strings.Repeat(",v", len(a))
	var args []string
	for _, x := range a {
		args = append(args, x.String())
	}
	return e.Op(a[0].T, `call %s asm "%s\0A%s\0A%s", "%s"(%s) nounwind memory(none)`, a[0].T, set(mode), text, set(0), cons, strings.Join(args, ", "))
}

// directed rounds towards zero or an infinity.
func (e *emitter) directed(in *ir.Inst, t ir.Type, a []ll.Val) ll.Val {
	switch in.Op {
	case ir.FAdd, ir.FSub, ir.FMul, ir.FFma:
		return e.modal(in.Op, in.Rnd, t, a)
	}
	switch t {
	case ir.F32:
		// A quotient or root of f32 numbers that is no f32 number is too far from one for the f64 result to be it.
		var d ll.Val
		if in.Op == ir.FSqrt {
			d = e.Sqrt(e.FPExt(a[0], "double"))
		} else {
			d = e.FDiv(e.FPExt(a[0], "double"), e.FPExt(a[1], "double"))
		}
		return e.cutToFloat(d, in.Rnd)
	case ir.F64:
		return e.directedF64(in, a)
	}
	e.fail("%s of %s rounded %s", in.Op, t, in.Rnd)
	return ll.Val{}
}

// directedF64 rounds a quotient or root to nearest, sees by the remainder on which side that is, and takes the neighbour if it is the
// wrong one. The remainder of a small number would be lost among the subnormals: a is at least 2^-1074, and the remainder of that at least
// 2^-1178, so it is taken of larger ones.
func (e *emitter) directedF64(in *ir.Inst, a []ll.Val) ll.Val {
	const half, whole = 0x4630000000000000, 0x4c70000000000000 // 2^100, 2^200
	small := e.FCmp("olt", e.Intr("fabs", a[0]), fc(ir.F64, 0x20b0000000000000))
	scale := func(x ll.Val, by uint64) ll.Val {
		return e.FMul(x, e.Select(small, fc(ir.F64, by), fc(ir.F64, float.Formats[ir.F64].One)))
	}
	var q, rest ll.Val // rest has the sign of the exact result minus q, times the divisor's
	if in.Op == ir.FSqrt {
		q = e.Sqrt(a[0])
		big := scale(q, half)
		rest = e.Intr("fma", e.FNeg(big), big, scale(a[0], whole))
	} else {
		q = e.FDiv(a[0], a[1])
		rest = e.Intr("fma", e.FNeg(scale(q, whole)), a[1], scale(a[0], whole))
		neg := e.FCmp("olt", a[1], fc(ir.F64, 0))
		rest = e.Select(neg, e.FNeg(rest), rest)
	}
	above, below := e.FCmp("olt", rest, fc(ir.F64, 0)), e.FCmp("ogt", rest, fc(ir.F64, 0)) // q is above, below the exact result
	return e.Neighbour(q, in.Rnd, above, below)
}

// cutToFloat rounds f64 to f32.
func (e *emitter) cutToFloat(d ll.Val, rnd ir.Rnd) ll.Val {
	f := e.FPTrunc(d, "float")
	back := e.FPExt(f, "double")
	r := e.Neighbour(f, rnd, e.FCmp("ogt", back, d), e.FCmp("olt", back, d))
	if !e.Flush {
		return r
	}
	// Where the machine flushes, the neighbours of zero are the least normal numbers. What is left of the others has no place; nor has
	// what only reaches the least normal number because subnormals are coarser.
	b := e.Bits(r)
	away := e.ICmp("eq", e.And(b, b.Int(1<<31-1)), b.Int(1))
	r = e.Select(away, e.Bitcast(e.Add(b, b.Int(int64(float.Formats[ir.F32].Least-1))), "float"), r)
	return e.FlushCut(e.FlushBits(r, ir.F32), d, rnd)
}

func (e *emitter) directedIToF(in *ir.Inst, name ll.Conv, x ll.Val, to ir.Type) ll.Val {
	switch to {
	case ir.F32:
		return e.cutToFloat(e.OddFromInt(name, x), in.Rnd)
	case ir.F64:
		return e.DirectedFromLong(name, x, func(high, low ll.Val) ll.Val { return e.modal(ir.FAdd, in.Rnd, ir.F64, []ll.Val{high, low}) })
	}
	return e.Narrow(in.Rnd, e.OddF32(e.OddFromInt(name, x)), ir.F32, to)
}
