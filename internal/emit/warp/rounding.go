package warp

import (
	"fmt"
	"slices"
	"strings"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Directed rounding. AVX-512 has it in the instruction. Elsewhere the processor's mode is changed around the operation,
// inside one piece of assembly, so that nothing of LLVM's comes between; a piece does up to four registers' worth.

// modeOp is an instruction as the two assemblers spell them; %d, %a, %b, %c stand for registers.
type modeOp struct {
	x86, arm string
	narrow   bool // the result has half the width of its operand
}

// %t is ps or pd on x86, 4s or 2d on arm64. The fused operation's result starts as a on x86, as c on arm64.
var modeOps = map[ir.Op]modeOp{
	ir.FAdd:   {x86: "vadd%t %b, %a, %d", arm: "fadd %d.%t, %a.%t, %b.%t"},
	ir.FSub:   {x86: "vsub%t %b, %a, %d", arm: "fsub %d.%t, %a.%t, %b.%t"},
	ir.FMul:   {x86: "vmul%t %b, %a, %d", arm: "fmul %d.%t, %a.%t, %b.%t"},
	ir.FDiv:   {x86: "vdiv%t %b, %a, %d", arm: "fdiv %d.%t, %a.%t, %b.%t"},
	ir.FRcp:   {x86: "vdiv%t %b, %a, %d", arm: "fdiv %d.%t, %a.%t, %b.%t"},
	ir.FSqrt:  {x86: "vsqrt%t %a, %d", arm: "fsqrt %d.%t, %a.%t"},
	ir.FFma:   {x86: "vfmadd213%t %c, %b, %d", arm: "fmla %d.%t, %a.%t, %b.%t"},
	ir.FTrunc: {x86: "vcvtpd2ps %a, %d", arm: "fcvtn %d.2s, %a.2d", narrow: true},
}

// Bits of the modes: MXCSR with all exceptions masked, FPCR.
var (
	x86Rounding = map[ir.Rnd]int64{ir.RN: 0, ir.RM: 1 << 13, ir.RP: 2 << 13, ir.RZ: 3 << 13}
	armRounding = map[ir.Rnd]int64{ir.RN: 0, ir.RP: 1 << 22, ir.RM: 2 << 22, ir.RZ: 3 << 22}
)

const (
	x86Masked, x86Flush = 0x1f80, 0x8040
	armFlush            = 1 << 24
)

// modal does op on f32 or f64 operands under a rounding mode; conversions have f64 operands.
func (e *emitter) modal(op ir.Op, rnd ir.Rnd, a []ll.Val) ll.Val {
	row, ok := modeOps[op]
	if _, known := x86Rounding[rnd]; !ok || !known || !e.cpu.modal {
		e.unsupported("%s rounded %s on this processor", op, rnd)
	}
	total, elem := a[0].T.Split()
	size := 32 // bytes of a register
	if e.cpu.arm64 {
		size = 16
	}
	lanes := size / 4
	if elem == "double" {
		lanes = size / 8
	}
	if total < lanes {
		return e.chunks(a, lanes, func(p []ll.Val) ll.Val { return e.modalGroup(row, rnd, [][]ll.Val{p})[0] })
	}
	var out []ll.Val
	for at := 0; at < total; at += 4 * lanes {
		var group [][]ll.Val
		for i := at; i < min(at+4*lanes, total); i += lanes {
			var regs []ll.Val
			for _, x := range a {
				regs = append(regs, e.slice(x, i, lanes))
			}
			group = append(group, regs)
		}
		out = append(out, e.modalGroup(row, rnd, group)...)
	}
	return e.concat(out)
}

// modalGroup is one piece of assembly: the mode set, the operation on each row of registers, the mode set back.
func (e *emitter) modalGroup(row modeOp, rnd ir.Rnd, group [][]ll.Val) []ll.Val {
	n, elem := group[0][0].T.Split()
	text, reg, suffix := row.x86, "x", "ps"
	if elem == "double" {
		suffix = "pd"
	}
	if e.cpu.arm64 {
		text, reg, suffix = row.arm, "w", "4s"
		if elem == "double" {
			suffix = "2d"
		}
	}
	rt := group[0][0].T
	if row.narrow {
		rt = ll.Vec(n, "float")
	}
	// The fused operation's result is also one of its operands.
	tied := -1
	if len(group[0]) == 3 {
		if tied = 0; e.cpu.arm64 {
			tied = 2
		}
	}
	var cons, args, body []string
	for range group {
		cons = append(cons, "=&"+reg)
	}
	next := len(group)
	for i, regs := range group {
		names := strings.NewReplacer("%t", suffix, "%d", fmt.Sprintf("$%d", i),
			"%a", fmt.Sprintf("$%d", next), "%b", fmt.Sprintf("$%d", next+1), "%c", fmt.Sprintf("$%d", next+2))
		body = append(body, names.Replace(text))
		for j, x := range regs {
			c := reg
			if j == tied {
				c = fmt.Sprint(i)
			}
			cons, args = append(cons, c), append(args, x.String())
		}
		next += len(regs)
	}
	set, back := e.modeWords(rnd, next, &cons, &args)
	all := strings.Join(append(append([]string{set}, body...), back), `\0A\09`)
	ret := rt
	if len(group) > 1 {
		ret = ll.Struct(slices.Repeat([]ll.Type{rt}, len(group))...)
	}
	r := e.Op(ret, `call %s asm sideeffect "%s", "%s"(%s)`, ret, all, strings.Join(cons, ","), strings.Join(args, ", "))
	if len(group) == 1 {
		return []ll.Val{r}
	}
	out := make([]ll.Val, len(group))
	for i := range out {
		out[i] = e.ExtractValue(r, i)
	}
	return out
}

// modeWords adds the operands of the mode's change, numbered from next on, and gives its instructions.
func (e *emitter) modeWords(rnd ir.Rnd, next int, cons, args *[]string) (set, back string) {
	if e.cpu.arm64 {
		usual := int64(0)
		if e.Flush {
			usual = armFlush
		}
		for _, m := range []int64{usual | armRounding[rnd], usual} {
			*cons, *args = append(*cons, "r"), append(*args, ll.Int("i64", m).String())
		}
		return fmt.Sprintf("msr fpcr, $%d", next), fmt.Sprintf("msr fpcr, $%d", next+1)
	}
	usual := int64(x86Masked)
	if e.Flush {
		usual |= x86Flush
	}
	for _, m := range []int64{usual | x86Rounding[rnd], usual} {
		key := fmt.Sprintf("mxcsr %d", m)
		p, ok := e.scratch[key]
		if !ok {
			p = e.Alloca("i32", 4)
			e.scratch[key] = p
		}
		e.Store(ll.Int("i32", int64(m)), p, 0)
		*cons, *args = append(*cons, "*m"), append(*args, "ptr elementtype(i32) "+p.S)
	}
	*cons = append(*cons, "~{memory}")
	return fmt.Sprintf("vldmxcsr $%d", next), fmt.Sprintf("vldmxcsr $%d", next+1)
}

// directed rounds towards zero or an infinity.
func (e *emitter) directed(in *ir.Inst, t ir.Type, a []ll.Val) ll.Val {
	if t != ir.F32 && t != ir.F64 {
		e.unsupported("%s of %s rounded %s", in.Op, t, in.Rnd)
	}
	mode := embedded[in.Rnd]
	if !e.cpu.avx512 || mode == 0 {
		return e.modal(in.Op, in.Rnd, a)
	}
	ps, lanes := "ps", 16
	if t == ir.F64 {
		ps, lanes = "pd", 8
	}
	name := map[ir.Op]string{ir.FAdd: "add", ir.FSub: "sub", ir.FMul: "mul", ir.FDiv: "div", ir.FRcp: "div", ir.FFma: "vfmadd", ir.FSqrt: "sqrt"}[in.Op]
	return e.chunks(a, lanes, func(parts []ll.Val) ll.Val {
		return e.Call(parts[0].T, "llvm.x86.avx512."+name+"."+ps+".512", append(parts, ll.Int("i32", mode))...)
	})
}

// embedded is the rounding operand of AVX-512's instructions: the mode, no exceptions.
var embedded = map[ir.Rnd]int64{ir.RM: 9, ir.RP: 10, ir.RZ: 11}

// directedIToF converts integers of 32 and 64 bits.
func (e *emitter) directedIToF(in *ir.Inst, name ll.Conv, x ll.Val, to ir.Type) ll.Val {
	wide := x.T.ElemBits() == 64
	if to == ir.F16 || to == ir.BF16 { // by way of f32, rounded to odd
		return e.Narrow(in.Rnd, e.OddF32(e.OddFromInt(name, x)), ir.F32, to)
	}
	mode := embedded[in.Rnd]
	if !e.cpu.avx512 || mode == 0 {
		if !wide { // exact as a double, so to is f32
			return e.modal(ir.FTrunc, in.Rnd, []ll.Val{e.Convert(name, x, "double")})
		}
		if to == ir.F32 {
			return e.modal(ir.FTrunc, in.Rnd, []ll.Val{e.OddFromInt(name, x)})
		}
		return e.DirectedFromLong(name, x, func(high, low ll.Val) ll.Val { return e.modal(ir.FAdd, in.Rnd, []ll.Val{high, low}) })
	}
	lanes := 16
	if wide {
		lanes = 8
	}
	return e.chunks([]ll.Val{x}, lanes, func(p []ll.Val) ll.Val {
		t := p[0].T.WithElem(typ(to))
		return e.IntrOf(t, "x86.avx512."+string(name)+".round", []ll.Type{t, p[0].T}, p[0], ll.Int("i32", mode))
	})
}

func (e *emitter) directedF64ToF32(x ll.Val, rnd ir.Rnd) ll.Val {
	mode := embedded[rnd]
	if !e.cpu.avx512 || mode == 0 {
		return e.modal(ir.FTrunc, rnd, []ll.Val{x})
	}
	return e.chunks([]ll.Val{x}, 8, func(p []ll.Val) ll.Val {
		zero := ll.Zero("<8 x float>")
		return e.Call("<8 x float>", "llvm.x86.avx512.mask.cvtpd2ps.512", p[0], zero, ll.Int("i8", -1), ll.Int("i32", mode))
	})
}

// directedToHalf rounds f32 to f16. x86 has the rounding in the instruction; elsewhere the bits are cut and counted up.
func (e *emitter) directedToHalf(x ll.Val, rnd ir.Rnd) ll.Val {
	imm, ok := map[ir.Rnd]int64{ir.RM: 1, ir.RP: 2, ir.RZ: 3}[rnd]
	if !ok {
		e.unsupported("cvt of f32 to f16 rounded %s", rnd)
	}
	var r ll.Val
	switch {
	case e.cpu.avx512:
		r = e.chunks([]ll.Val{x}, 16, func(p []ll.Val) ll.Val {
			zero := ll.Zero("<16 x i16>")
			return e.Call("<16 x i16>", "llvm.x86.avx512.mask.vcvtps2ph.512", p[0], ll.Int("i32", imm), zero, ll.Int("i16", -1))
		})
	case e.cpu.modal && !e.cpu.arm64:
		r = e.chunks([]ll.Val{x}, 8, func(p []ll.Val) ll.Val {
			return e.Call("<8 x i16>", "llvm.x86.vcvtps2ph.256", p[0], ll.Int("i32", imm))
		})
	default:
		return e.CutToHalf(x, rnd)
	}
	return e.Recast(r, "half")
}
