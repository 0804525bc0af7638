package check

import (
	"math"

	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// constantArg is the value of the operand called name, if it is a constant.
func constantArg(in *ptx.Inst, name string) (uint64, bool) {
	for i, o := range in.Form.Operands() {
		if o.Name == name && in.Args[i].Kind == ptx.OpImm {
			return in.Args[i].Imm, true
		}
	}
	return 0, false
}

// barRule: sixteen barriers, and whole warps at them.
func barRule(c *checker, in *ptx.Inst) {
	if n, ok := constantArg(in, "a"); ok && n > 15 {
		c.errorf(in.Pos, "Barrier number '%d' out of range, expected to be in range [0..15]", int64(n))
	}
	if n, ok := constantArg(in, "b"); ok && n%32 != 0 {
		c.errorf(in.Pos, "Number of threads participating in barrier must be in multiple of warp size")
	}
}

func policyRule(c *checker, in *ptx.Inst) {
	for i, o := range in.Form.Operands() {
		a := &in.Args[i]
		if o.Name != "fraction" || a.Kind != ptx.OpImm {
			continue
		}
		f := math.Float64frombits(a.Imm)
		if a.ImmKind == ptx.ImmF32 {
			f = float64(math.Float32frombits(uint32(a.Imm)))
		}
		if !(f > 0 && f <= 1) {
			c.errorf(a.Pos, "Argument 2 of instruction 'createpolicy.fractional': value '%f' out of range, expected to be in range (0.0..1.0]", f)
		}
	}
}

func setmaxnregRule(c *checker, in *ptx.Inst) {
	if n, ok := constantArg(in, "a"); ok && n%8 != 0 {
		c.errorf(in.Pos, "Argument 1 of instruction 'setmaxnreg': unexpected value '%d', expected to be multiple of 8", int64(n))
	}
}

func allocaRule(c *checker, in *ptx.Inst) {
	if n, ok := constantArg(in, "align"); ok && (n == 0 || n&(n-1) != 0) {
		c.errorf(in.Pos, "Alignment must be a power of two")
	}
}

// cvtaRule: the variable whose address is converted lies in the space that is named.
func cvtaRule(c *checker, in *ptx.Inst) {
	a := &in.Args[1]
	space := spaceOfMod(in.Mod("space"))
	if a.Kind == ptx.OpVar && a.Var != nil && space != ptx.SpaceGeneric && a.Var.Space != space {
		c.errorf(a.Pos, "State space mismatch between instruction and address in instruction '%v'", in.Op())
	}
	if a.Kind == ptx.OpFunc && in.Op() != isa.Mov {
		c.mismatch(in)
	}
}
