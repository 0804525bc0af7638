package baseline

import (
	"strconv"
	"strings"

	"kudzu/internal/baseline/x86"
)

// Directed rounding without AVX-512 is a piece of assembly that sets the rounding mode, computes, and sets it back; its
// operands are $0, $1, …: first the results, then what it is given, the result last in each instruction.

// modalOps are the instructions in it.
var modalOps = map[string]x86.Op{
	"vaddps": x86.VADDPS, "vaddpd": x86.VADDPD, "vsubps": x86.VSUBPS, "vsubpd": x86.VSUBPD, "vmulps": x86.VMULPS, "vmulpd": x86.VMULPD,
	"vdivps": x86.VDIVPS, "vdivpd": x86.VDIVPD, "vsqrtps": x86.VSQRTPS, "vsqrtpd": x86.VSQRTPD, "vcvtpd2ps": x86.VCVTPD2PS,
	"vfmadd213ps": x86.VFMADD213PS, "vfmadd213pd": x86.VFMADD213PD,
}

// modal writes a call of assembly: in.sub is its text and the operands' constraints.
func modal(g *gen, in *inst) {
	text, constraints, _ := strings.Cut(strings.TrimPrefix(in.sub, "asm "), "|")
	cons := strings.Split(constraints, ",")
	results := 0
	for results < len(cons) && strings.HasPrefix(cons[results], "=") {
		results++
	}
	for line := range strings.SplitSeq(text, `\0A\09`) {
		name, rest, _ := strings.Cut(line, " ")
		var ops []int
		for w := range strings.SplitSeq(rest, ", ") {
			n, err := strconv.Atoi(strings.TrimPrefix(w, "$"))
			if err != nil || n >= results+len(in.args) {
				fail("assembly %q", line)
			}
			ops = append(ops, n)
		}
		if name == "vldmxcsr" {
			g.Ldmxcsr(g.pointerIn(x86.RCX, in.args[ops[0]-results]))
			continue
		}
		op, ok := modalOps[name]
		if !ok {
			fail("assembly %q", line)
		}
		g.modalLine(in, op, ops, cons[:results+len(in.args)])
	}
}

// modalLine writes one instruction of it. An operand whose constraint is the result's number is in the result's register.
func (g *gen) modalLine(in *inst, op x86.Op, ops []int, cons []string) {
	results := len(cons) - len(in.args)
	dst := ops[len(ops)-1]
	t, off := in.t, 0
	if in.t.kind == aggregate {
		t, off = g.aggregates[in.t.bits][dst], g.field(in.t, dst)
	}
	const l = x86.Width(1)
	var regs []x86.Reg
	for _, n := range ops[:len(ops)-1] {
		regs = append(regs, g.reg(in.args[n-results], 0, l))
	}
	r := g.fresh()
	for i, c := range cons[results:] {
		if c == strconv.Itoa(dst) {
			g.V(x86.VMOVDQU, l, r, 0, g.rm(in.args[i], 0, l))
		}
	}
	src := x86.Reg(0)
	if len(regs) == 2 {
		src = regs[1]
	}
	g.V(op, l, r, src, x86.R(regs[0]))
	n := g.size(t)
	g.put(in.res, off, x86.Width(n/32), r, n)
}
