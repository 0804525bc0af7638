package simt

import (
	"fmt"

	"kudzu/internal/emit"
	"kudzu/internal/emit/float"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// fillNVPTX fills the table of NVPTX's own ways.
func fillNVPTX() {
	put := func(way Way, fn emitFn, ops ...ir.Op) {
		for _, op := range ops {
			nvptxOwn[op], nvptxWays[op] = fn, way
		}
	}
	put(Assembly, nvShift, ir.Shl, ir.ShrU, ir.ShrS)
	put(Assembly, nvDiv, ir.DivS, ir.DivU, ir.RemS, ir.RemU)
	put(Assembly, nvSat, ir.AddSatS, ir.SubSatS)
	put(Assembly, nvField("bfe.s"), ir.BfeS)
	put(Assembly, nvField("bfe.u"), ir.BfeU)
	put(Assembly, nvField("bfi.b"), ir.Bfi)
	put(Assembly, nvFind, ir.BfindS, ir.BfindU)
	put(Assembly, nvWords, ir.Bmsk, ir.Fns, ir.Prmt, ir.Lop3, ir.Dp4a, ir.Dp2a)
	put(Native, nvFunnel, ir.FshL, ir.FshR)
	put(Native, nvArith, ir.FAdd, ir.FSub, ir.FMul, ir.FDiv, ir.FFma, ir.FSqrt, ir.FRcp)
	put(Native, nvMinMax, ir.FMin, ir.FMax)
	put(Assembly, nvSign, ir.FNeg, ir.FAbs)
	put(Assembly, nvFCmp, ir.FCmp)
	put(Assembly, nvConvert, ir.FToS, ir.FToU, ir.SToF, ir.UToF, ir.FExt, ir.FTrunc, ir.FRound)
	fillNVPTXMemory(put)
}

// one writes an instruction with one result.
func (e *emitter) one(in *ir.Inst, text string, args ...ll.Val) {
	e.result(in, e.asm(text, pure, []ll.Type{typ(in.Results[0].Type)}, args...)[0])
}

func nvShift(e *emitter, in *ir.Inst) {
	bits := in.Results[0].Type.Bits()
	if in.Args[1].Const || bits == 8 || bits == 128 {
		lanewise(emit.Shift)(e, in)
		return
	}
	name := map[ir.Op]string{ir.Shl: "shl.b", ir.ShrU: "shr.u", ir.ShrS: "shr.s"}[in.Op]
	e.one(in, fmt.Sprintf("%s%d $0, $1, $2;", name, bits), e.operands(in)...)
}

func nvDiv(e *emitter, in *ir.Inst) {
	bits := in.Results[0].Type.Bits()
	if emit.PlainDivisor(in) || bits == 8 || bits == 128 {
		lanewise(emit.Div)(e, in)
		return
	}
	name := map[ir.Op]string{ir.DivS: "div.s", ir.DivU: "div.u", ir.RemS: "rem.s", ir.RemU: "rem.u"}[in.Op]
	e.one(in, fmt.Sprintf("%s%d $0, $1, $2;", name, bits), e.operands(in)...)
}

func nvSat(e *emitter, in *ir.Inst) {
	if in.Results[0].Type != ir.I32 {
		emitters[in.Op](e, in)
		return
	}
	name := "add"
	if in.Op == ir.SubSatS {
		name = "sub"
	}
	e.one(in, name+".sat.s32 $0, $1, $2;", e.operands(in)...)
}

// nvField is bfe and bfi.
func nvField(name string) emitFn {
	return func(e *emitter, in *ir.Inst) {
		text := fmt.Sprintf("%s%d $0, $1, $2, $3", name, in.Results[0].Type.Bits())
		if in.Op == ir.Bfi {
			text += ", $4"
		}
		e.one(in, text+";", e.operands(in)...)
	}
}

func nvFind(e *emitter, in *ir.Inst) {
	sign := "u"
	if in.Op == ir.BfindS {
		sign = "s"
	}
	e.one(in, fmt.Sprintf("bfind.%s%d $0, $1;", sign, in.Args[0].Type.Bits()), e.operands(in)...)
}

// nvWords are instructions of 32 bits that the IR has as they are.
func nvWords(e *emitter, in *ir.Inst) {
	var text string
	sign := func(bit ir.Dot) string {
		if in.Dot&bit != 0 {
			return "s32"
		}
		return "u32"
	}
	switch in.Op {
	case ir.Bmsk:
		text = "bmsk.clamp.b32 $0, $1, $2;"
		if in.Wrap {
			text = "bmsk.wrap.b32 $0, $1, $2;"
		}
	case ir.Fns:
		text = "fns.b32 $0, $1, $2, $3;"
	case ir.Prmt:
		text = "prmt.b32 $0, $1, $2, $3;"
	case ir.Lop3:
		text = fmt.Sprintf("lop3.b32 $0, $1, $2, $3, %d;", in.Lut)
	case ir.Dp4a:
		text = fmt.Sprintf("dp4a.%s.%s $0, $1, $2, $3;", sign(ir.DotSignedA), sign(ir.DotSignedB))
	case ir.Dp2a:
		half := "lo"
		if in.Dot&ir.DotHigh != 0 {
			half = "hi"
		}
		text = fmt.Sprintf("dp2a.%s.%s.%s $0, $1, $2, $3;", half, sign(ir.DotSignedA), sign(ir.DotSignedB))
	}
	e.one(in, text, e.operands(in)...)
}

func nvFunnel(e *emitter, in *ir.Inst) {
	if in.Wrap {
		lanewise(emit.Fsh)(e, in)
		return
	}
	name := "l"
	if in.Op == ir.FshR {
		name = "r"
	}
	e.one(in, "shf."+name+".clamp.b32 $0, $1, $2, $3;", e.operands(in)...)
}

var floatNames = map[ir.Type]string{ir.F16: "f16", ir.BF16: "bf16", ir.F32: "f32", ir.F64: "f64", ir.F16x2: "f16x2", ir.BF16x2: "bf16x2"}

var nvRnd = map[ir.Rnd]string{ir.RN: "rn", ir.RZ: "rz", ir.RM: "rm", ir.RP: "rp"}

var nvNames = map[ir.Op]string{ir.FAdd: "add", ir.FSub: "sub", ir.FMul: "mul", ir.FDiv: "div", ir.FFma: "fma", ir.FSqrt: "sqrt", ir.FRcp: "rcp"}

// nvArith is plain LLVM where the instruction rounds to nearest and does no more, an intrinsic where there is one for the rounding and the
// flushing, and the instruction otherwise.
func nvArith(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	ftz := in.FTZ && !in.EitherFTZ
	a := e.operands(in)
	switch t {
	case ir.F32, ir.F64:
		suffix := map[ir.Type]string{ir.F32: "f", ir.F64: "d"}[t]
		simple := in.Rnd == ir.RN && !ftz && !in.Sat
		switch {
		case in.Sat || in.Op == ir.FSub && !simple || in.Contract:
			e.nvInstruction(in, ftz, a)
		case simple && (in.Op == ir.FAdd || in.Op == ir.FSub || in.Op == ir.FMul):
			e.result(in, e.Binary(float.Arith[in.Op], a[0], a[1]))
		default:
			name := "llvm.nvvm." + nvNames[in.Op] + "." + nvRnd[in.Rnd]
			if ftz {
				name += ".ftz"
			}
			e.result(in, e.Call(a[0].T, name+"."+suffix, a...))
		}
	case ir.F16, ir.F16x2:
		if in.Op == ir.FDiv || in.Op == ir.FSqrt || in.Op == ir.FRcp {
			emitArith(e, in)
			return
		}
		e.nvInstruction(in, in.FTZ, a)
	default:
		least := 90
		if in.Op == ir.FFma {
			least = 80
		}
		if e.t.(nvptx).sm < least || in.Op == ir.FDiv || in.Op == ir.FSqrt || in.Op == ir.FRcp {
			emitArith(e, in)
			return
		}
		e.nvInstruction(in, false, a)
	}
}

// nvInstruction writes the arithmetic instruction with its words.
func (e *emitter) nvInstruction(in *ir.Inst, ftz bool, a []ll.Val) {
	t := in.Results[0].Type
	text := nvNames[in.Op]
	if !in.Contract { // without a rounding the assembler may join a product and a sum
		text += "." + nvRnd[in.Rnd]
	}
	if ftz {
		text += ".ftz"
	}
	if in.Sat {
		text += ".sat"
	}
	text += "." + floatNames[t] + " $0"
	for i := range a {
		text += fmt.Sprintf(", $%d", i+1)
	}
	e.one(in, text+";", a...)
}

func nvMinMax(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	sm := e.t.(nvptx).sm
	narrow := t != ir.F32 && t != ir.F64
	if narrow && sm < 80 || in.NaN && sm < 80 || in.XorSign && sm < 86 {
		emitMinMax(e, in)
		return
	}
	text := "min"
	if in.Op == ir.FMax {
		text = "max"
	}
	if in.FTZ && t != ir.BF16 && t != ir.BF16x2 && t != ir.F64 {
		text += ".ftz"
	}
	if in.NaN {
		text += ".NaN"
	}
	if in.XorSign {
		text += ".xorsign.abs"
	}
	e.one(in, text+"."+floatNames[t]+" $0, $1, $2;", e.operands(in)...)
}

func nvSign(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	text := "neg"
	if in.Op == ir.FAbs {
		text = "abs"
	}
	if (t == ir.BF16 || t == ir.BF16x2) && e.t.(nvptx).sm < 80 {
		emitSign(e, in)
		return
	}
	if in.FTZ && t != ir.F64 && t != ir.BF16 && t != ir.BF16x2 {
		text += ".ftz"
	}
	e.one(in, text+"."+floatNames[t]+" $0, $1;", e.operands(in)...)
}

var nvCmps = map[ir.Cmp]string{ir.EQ: "eq", ir.NE: "ne", ir.LT: "lt", ir.LE: "le", ir.GT: "gt", ir.GE: "ge",
	ir.EQU: "equ", ir.NEU: "neu", ir.LTU: "ltu", ir.LEU: "leu", ir.GTU: "gtu", ir.GEU: "geu", ir.NUM: "num", ir.NAN: "nan"}

// nvFCmp is plain LLVM where nothing is flushed.
func nvFCmp(e *emitter, in *ir.Inst) {
	t := in.Args[0].Type
	ftz := in.FTZ && !in.EitherFTZ && (t == ir.F32 || t == ir.F16)
	if !ftz && t != ir.BF16 {
		emitFCmp(e, in)
		return
	}
	if t == ir.BF16 && e.t.(nvptx).sm < 90 {
		emitFCmp(e, in)
		return
	}
	text := "setp." + nvCmps[in.Cmp]
	if ftz {
		text += ".ftz"
	}
	e.one(in, text+"."+floatNames[t]+" $0, $1, $2;", e.operands(in)...)
}

// nvConvert is cvt in all its forms.
func nvConvert(e *emitter, in *ir.Inst) {
	from, to := in.Args[0].Type, in.Results[0].Type
	number := func(t ir.Type, signed bool) string {
		if n := floatNames[t]; n != "" {
			return n
		}
		if signed {
			return fmt.Sprintf("s%d", t.Bits())
		}
		return fmt.Sprintf("u%d", t.Bits())
	}
	signed := in.Op == ir.FToS || in.Op == ir.SToF
	bf16 := from == ir.BF16 || to == ir.BF16
	if bf16 && e.t.(nvptx).sm < 90 && !(from == ir.F32 && e.t.(nvptx).sm >= 80) || from.Bits() == 8 || from == ir.I128 {
		emitters[in.Op](e, in)
		return
	}
	text := "cvt"
	switch in.Op {
	case ir.FToS, ir.FToU, ir.FRound:
		text += "." + nvRnd[in.Rnd] + "i"
	case ir.SToF, ir.UToF:
		text += "." + nvRnd[in.Rnd]
	case ir.FTrunc:
		if in.Rnd == ir.RS || in.Rnd == ir.RNA {
			e.fail("cvt rounded %s", in.Rnd)
		}
		text += "." + nvRnd[in.Rnd]
		if in.Relu {
			text += ".relu"
		}
	}
	if in.FTZ && (from == ir.F32 || to == ir.F32) {
		text += ".ftz"
	}
	if in.Sat {
		text += ".sat"
	}
	e.one(in, fmt.Sprintf("%s.%s.%s $0, $1;", text, number(to, signed), number(from, signed)), e.operands(in)...)
}
