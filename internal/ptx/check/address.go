package check

import (
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// spaceOfMod is the state space that a word names.
func spaceOfMod(m isa.Mod) ptx.Space {
	switch m {
	case isa.ModConst:
		return ptx.SpaceConst
	case isa.ModGlobal:
		return ptx.SpaceGlobal
	case isa.ModLocal:
		return ptx.SpaceLocal
	case isa.ModParam, isa.ModParamEntry, isa.ModParamFunc:
		return ptx.SpaceParam
	case isa.ModShared, isa.ModSharedCta, isa.ModSharedCluster:
		return ptx.SpaceShared
	}
	return ptx.SpaceGeneric
}

// address checks [a]: the base's type, and its state space against the instruction's.
func (c *checker) address(in *ptx.Inst, a *ptx.Operand) bool {
	space, spaced := c.addressSpace(in, a)
	switch a.Base {
	case ptx.OpReg:
		r := &c.b.Regs[a.Reg]
		t := r.Type
		if !isIntOrBits(t) {
			c.errorf(a.Pos, "Illegal to use symbol '%s' of type .%v as address operand. Use integer or bit only.", r.Name, t)
			return false
		}
		if t == isa.B128 || r.Vec > 1 && a.Elem < 0 {
			c.errorf(a.Pos, "Illegal operand type for address/array-index")
			return false
		}
	case ptx.OpVar:
		if a.Var == nil || !spaced {
			return true
		}
		return c.varSpace(in, a, space)
	case ptx.OpImm:
		if spaced && space != ptx.SpaceLocal {
			c.errorf(a.Pos, "Immediate addresses allowed only for .local state space")
			return false
		}
	case ptx.OpFunc:
		return c.mismatch(in)
	}
	return true
}

// addressSpace is the space that the instruction gives to address a, and whether it says anything about it.
func (c *checker) addressSpace(in *ptx.Inst, a *ptx.Operand) (ptx.Space, bool) {
	f := in.Form
	if i := f.SpaceSlot(); i >= 0 {
		return spaceOfMod(in.Mods[i]), true
	}
	if in.Has(isa.ModGlobal) {
		return ptx.SpaceGlobal, f.Slot("dst") < 0
	}
	switch in.Op() {
	case isa.Ld, isa.St, isa.Atom, isa.Red, isa.Ldu:
		return ptx.SpaceGeneric, true
	}
	return ptx.SpaceGeneric, false
}

func (c *checker) varSpace(in *ptx.Inst, a *ptx.Operand, space ptx.Space) bool {
	v := a.Var
	if space == ptx.SpaceGeneric {
		// A variable's address is an address of its space; as a generic one it only does for .global and the like.
		if v.Space == ptx.SpaceParam || v.Space == ptx.SpaceReg {
			c.errorf(a.Pos, "State space mismatch between instruction and address in instruction '%v'", in.Op())
			return false
		}
		return true
	}
	if v.Space != space {
		c.errorf(a.Pos, "State space mismatch between instruction and address in instruction '%v'", in.Op())
		return false
	}
	if in.Pred >= 0 && v.Space == ptx.SpaceParam && v.Role == ptx.CallParam { // what a call takes and gives is there always
		c.errorf(in.Pos, "Illegal to predicate instruction '%v.param' with operand '%s'", in.Op(), v.Name)
		return false
	}
	if in.Op() == isa.Ld && v.Role == ptx.FuncResult {
		c.errorf(a.Pos, "Illegal to read function return parameter '%s'", v.Name)
		return false
	}
	if in.Op() == isa.St && v.Space == ptx.SpaceParam && (v.Role == ptx.KernelParam || v.Role == ptx.FuncParam) {
		c.errorf(a.Pos, "Illegal to write to function input parameter '%s'", v.Name)
		return false
	}
	return true
}
