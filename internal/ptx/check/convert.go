package check

import (
	"fmt"

	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// cvtSpelling is the manual's table of which rounding and saturation a conversion takes.
func cvtSpelling(c *checker, in *ptx.Inst) bool {
	if !cvtNeeds(c, in) {
		return false
	}
	if in.Form.Slot("rnd") < 0 || len(in.Form.Operands()) != 2 || in.Form.Slot("ftz") < 0 {
		return true // the packed and narrow forms say it all in their rows
	}
	d, a := in.Type("dtype"), in.Type("atype")
	rnd := in.Mod("rnd")
	bad := func(format string, args ...any) bool {
		c.errorf(in.Pos, format, args...)
		return false
	}
	intRnd := rnd == isa.ModRni || rnd == isa.ModRzi || rnd == isa.ModRmi || rnd == isa.ModRpi
	switch {
	case !d.IsFloat() && !a.IsFloat():
		if rnd != 0 {
			return bad("Rounding modifier is not allowed for instruction 'cvt'")
		}
		if in.Has(isa.ModSat) && holdsAll(d, a) {
			return bad("Illegal modifier '.sat' for instruction 'cvt'")
		}
	case !d.IsFloat(): // float to integer
		if !intRnd {
			return bad("Integer rounding modifier is required for instruction 'cvt'")
		}
	case !a.IsFloat(): // integer to float
		if rnd == 0 || intRnd {
			return bad("Floating point rounding modifier is required for instruction 'cvt'")
		}
	case d.Bits() == a.Bits() && d != a || a == isa.BF16 && d != a: // the assembler does not ask for one here
		if intRnd {
			return bad("Integer rounding modifier is not allowed for instruction 'cvt'")
		}
	case d.Bits() < a.Bits():
		if rnd == 0 || intRnd {
			return bad("Floating point rounding modifier is required for instruction 'cvt'")
		}
	case d == a:
		if rnd != 0 && !intRnd {
			return bad("Floating point rounding modifier is not allowed for instruction 'cvt'")
		}
	default: // widening is exact
		if rnd != 0 {
			return bad("Rounding modifier is not allowed for instruction 'cvt'")
		}
	}
	if in.Has(isa.ModSat) && (d == isa.BF16 || a == isa.BF16) {
		return bad("Illegal modifier '.sat' for instruction 'cvt'")
	}
	if in.Has(isa.ModFtz) && d != isa.F32 && a != isa.F32 {
		return bad("Illegal modifier '.ftz' for instruction 'cvt'")
	}
	return true
}

// holdsAll reports whether integer type d has every value of a, so that there is nothing to saturate.
func holdsAll(d, a isa.Type) bool {
	if d.IsSigned() == a.IsSigned() {
		return d.Bits() >= a.Bits()
	}
	return d.IsSigned() && d.Bits() > a.Bits()
}

// cvtNeeds are versions and targets that depend on types and words together.
func cvtNeeds(c *checker, in *ptx.Inst) bool {
	d, a := in.Type("dtype"), in.Type("atype")
	switch {
	case in.Mod("satfinite") != 0 && d == isa.TF32 && in.Form.SM == 90:
		return c.need(in, isa.Need{PTX: isa.V(8, 6), SM: 100}, ".satfinite on cvt.tf32.f32 with .rn or .rz")
	case in.Mod("satfinite") != 0 && in.Form.SM == 80:
		return c.need(in, isa.Need{PTX: isa.V(8, 1)}, ".satfinite on cvt")
	case in.Form.SM == 89 && c.m.Target.SM < 90:
		return c.need(in, isa.Need{PTX: isa.V(8, 1)}, "cvt with FP8 types on sm_89")
	case d == isa.BF16 && a == isa.F32:
		return c.need(in, isa.Need{PTX: isa.V(7, 0), SM: 80}, ".bf16")
	case d == isa.F32 && a == isa.BF16: // the manual says 9.0; the assembler, and LLVM, have it from 8.0 on
		return c.need(in, isa.Need{SM: 80}, ".bf16") && c.need(in, isa.Need{PTX: isa.V(7, 1)}, "cvt with .f32.bf16")
	case (d == isa.BF16 || a == isa.BF16) && in.Form.SM == 0:
		return c.need(in, isa.Need{PTX: isa.V(7, 8), SM: 90}, fmt.Sprintf("cvt with .%v.%v", d, a))
	}
	return true
}

// cvtaSpelling: the spaces that came later.
func cvtaSpelling(c *checker, in *ptx.Inst) bool {
	switch in.Mod("space") {
	case isa.ModConst:
		return c.need(in, isa.Need{PTX: isa.V(3, 1)}, "cvta/isspacep with .const state space")
	case isa.ModParam, isa.ModParamEntry:
		return c.need(in, isa.Need{PTX: isa.V(7, 7), SM: 70}, "cvta/isspacep with .param state space")
	}
	return true
}

// cvtRule: conversions from and to .bf16 take no wider registers.
func cvtRule(c *checker, in *ptx.Inst) {
	d, a := in.Type("dtype"), in.Type("atype")
	if d != isa.BF16 && a != isa.BF16 {
		return
	}
	for i, t := range []isa.Type{d, a} {
		if o := &in.Args[i]; o.Kind == ptx.OpReg && c.b.Regs[o.Reg].Type.Bits() != t.Bits() && t.IsFloat() {
			c.mismatch(in)
			return
		}
	}
}
