package check

import (
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// cvtSpelling is the manual's table of which rounding and saturation a conversion takes.
func cvtSpelling(c *checker, in *ptx.Inst) bool {
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
	case !d.IsFloat(): // float to integer
		if !intRnd {
			return bad("Integer rounding modifier is required for instruction 'cvt'")
		}
	case !a.IsFloat(): // integer to float
		if rnd == 0 || intRnd {
			return bad("Floating point rounding modifier is required for instruction 'cvt'")
		}
	case d.Bits() < a.Bits() || d.Bits() == a.Bits() && d != a:
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
	if in.Has(isa.ModFtz) && d != isa.F32 && a != isa.F32 {
		return bad("Illegal modifier '.ftz' for instruction 'cvt'")
	}
	return true
}
