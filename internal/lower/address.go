package lower

import (
	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// spaceOfVar is the IR space a variable's address is in. Parameters of functions live in local memory where they live in
// memory at all.
func spaceOfVar(v *ptx.Var) ir.Space {
	switch v.Space {
	case ptx.SpaceShared:
		return ir.Shared
	case ptx.SpaceLocal:
		return ir.Local
	case ptx.SpaceConst:
		return ir.Const
	case ptx.SpaceParam:
		if v.Role == ptx.KernelParam {
			return ir.ParamSpace
		}
		return ir.Local
	}
	return ir.Global
}

// variableAddr is the address of a variable in its own space, plus the operand's offset.
func (x *inst) variableAddr(o *ptx.Operand) *ir.Value {
	off := int64(o.Imm)
	v := o.Var
	if v == nil {
		return x.b.Emit(ir.VarAddr, ir.I64, ir.Attr{Sym: x.module(o.Name), Off: off})
	}
	switch spaceOfVar(v) {
	case ir.Shared:
		return x.b.Emit(ir.SharedAddr, ir.I64, ir.Attr{Sym: x.sharedName(v), Off: off})
	case ir.Local:
		return x.b.Emit(ir.LocalAddr, ir.I64, ir.Attr{Sym: x.slot(v), Off: off})
	case ir.ParamSpace:
		return x.b.Emit(ir.ParamAddr, ir.I64, ir.Attr{Off: off + int64(v.Offset)})
	}
	attr := ir.Attr{Sym: x.module(v.LinkName()), Off: off}
	if x.opts.GPU && v.Space == ptx.SpaceConst {
		attr.Space = ir.Const
	}
	return x.b.Emit(ir.VarAddr, ir.I64, attr)
}

// address is the i64 address an [operand] names, in space sp.
func (x *inst) address(o *ptx.Operand, sp ir.Space) *ir.Value {
	switch o.Base {
	case ptx.OpVar:
		a := x.variableAddr(o)
		if o.Var != nil && sp == ir.Generic {
			a = x.toGeneric(a, spaceOfVar(o.Var))
		}
		return a
	case ptx.OpImm:
		return ir.ConstInt(ir.I64, o.Imm)
	case ptx.OpReg:
		a := x.registerAddr(o)
		if a.Type.Bits() < 64 && (sp == ir.Generic || sp == ir.Global || sp == ir.Const) {
			x.fail("a 32-bit address of %s memory", sp)
		}
		return x.offset(a, sp)
	}
	x.fail("this address of %s", x.spelling())
	return nil
}

// registerAddr is the sum of register and number in an [operand], as wide as the register.
func (x *inst) registerAddr(o *ptx.Operand) *ir.Value {
	r := ptx.Operand{Kind: ptx.OpReg, Reg: o.Reg, Elem: o.Elem}
	a := x.read(x.regVar(&r))
	if a.Type.IsFloat() {
		a = x.cast(a, intOf(a.Type.Bits()))
	}
	if o.Imm != 0 {
		// The sum wraps at the register's width, as the hardware's does.
		a = x.op(ir.Add, a, ir.ConstInt(a.Type, o.Imm))
	}
	return a
}

// offset is an address in space sp as 64 bits. In a cluster the memory of a block before this one is below.
func (x *inst) offset(a *ir.Value, sp ir.Space) *ir.Value {
	return x.resize(a, 64, x.opts.Clusters && sp == ir.Shared)
}

// toGeneric turns an address of sp into a generic one. Global addresses are generic already, and so are constant ones but on GPUs.
func (l *lowerer) toGeneric(a *ir.Value, sp ir.Space) *ir.Value {
	if l.ownAddresses(sp) {
		return l.b.Emit(ir.ToGeneric, ir.I64, ir.Attr{Space: sp}, a)
	}
	return a
}

func (l *lowerer) fromGeneric(a *ir.Value, sp ir.Space) *ir.Value {
	if l.ownAddresses(sp) {
		return l.b.Emit(ir.FromGeneric, ir.I64, ir.Attr{Space: sp}, a)
	}
	return a
}

func (l *lowerer) ownAddresses(sp ir.Space) bool {
	switch sp {
	case ir.Shared, ir.Local, ir.ParamSpace:
		return true
	case ir.Const:
		return l.opts.GPU
	}
	return false
}

// spaceWord is the state space an instruction names: in its slot, or as a word that its form spells out.
func (x *inst) spaceWord() isa.Mod {
	if m := x.OptMod("space"); m != 0 {
		return m
	}
	for _, m := range x.Mods {
		switch m {
		case isa.ModGlobal, isa.ModShared, isa.ModSharedCta, isa.ModSharedCluster, isa.ModLocal, isa.ModConst, isa.ModParam:
			return m
		}
	}
	return 0
}

// space is what a .space word means here: .param is the kernel's parameter block, or local memory inside a function.
func (x *inst) space(m isa.Mod) ir.Space {
	switch m {
	case isa.ModGlobal:
		return ir.Global
	case isa.ModShared, isa.ModSharedCta, isa.ModSharedCluster:
		return ir.Shared
	case isa.ModLocal:
		return ir.Local
	case isa.ModConst:
		return ir.Const
	case isa.ModParamEntry:
		return ir.ParamSpace
	case isa.ModParamFunc:
		return ir.Local
	case isa.ModParam:
		if x.fr.fn.Kind == ptx.Entry {
			return ir.ParamSpace
		}
		return ir.Local
	}
	return ir.Generic
}
