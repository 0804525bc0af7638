package lower

import (
	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// irTypes are the IR's types of PTX's. Formats without arithmetic of their own (tf32, fp8, packed integers) are their bits.
var irTypes = func() (types [isa.NumTypes]ir.Type) {
	for t := range isa.NumTypes {
		types[t] = intOf(8 * t.Bytes())
	}
	types[isa.Pred] = ir.I1
	types[isa.F16], types[isa.BF16], types[isa.F32], types[isa.F64] = ir.F16, ir.BF16, ir.F32, ir.F64
	types[isa.F16x2], types[isa.BF16x2] = ir.F16x2, ir.BF16x2
	return types
}()

// elemType is the IR's type of a part of t.
func elemType(t isa.Type) ir.Type {
	elem, _ := t.Elem()
	return irTypes[elem]
}

// intOf is the integer type of so many bits.
func intOf(bits int) ir.Type {
	switch bits {
	case 1:
		return ir.I1
	case 8:
		return ir.I8
	case 16:
		return ir.I16
	case 32:
		return ir.I32
	case 64:
		return ir.I64
	case 128:
		return ir.I128
	}
	return ir.Void
}

// regTypes chooses the IR type each register's values have. A declared float stays one. A bit register (PTX since 9.0
// declares nearly all so) is what its instructions make of it: a float if they mostly compute floats with it,
// so that values need not be cast back and forth, which would cost a NaN canonicalisation each time.
func (l *lowerer) regTypes(fn *ptx.Func) []ir.Type {
	if t, ok := l.regTypeCache[fn]; ok {
		return t
	}
	body := fn.Body
	votes := make([][ir.NumTypes]int32, len(body.Regs))
	for i := range body.Insts {
		in := &body.Insts[i]
		if table[in.Op()].fn == nil {
			continue
		}
		for a := range in.Args {
			if a >= len(in.Form.Operands()) {
				break
			}
			t := in.Form.OperandType(a, in.Mods, l.m.AddressSize)
			vote(votes, body, &in.Args[a], t, in.Op())
		}
	}
	types := make([]ir.Type, len(body.Regs))
	for i, r := range body.Regs {
		types[i] = irTypes[r.Type]
		if r.Type.Class() != isa.ClassBits {
			continue
		}
		best, n := types[i], votes[i][types[i]]
		for t := ir.F16; t < ir.NumTypes; t++ {
			if votes[i][t] > 0 && votes[i][t] >= n {
				best, n = t, votes[i][t]
			}
		}
		types[i] = best
	}
	if l.regTypeCache == nil {
		l.regTypeCache = map[*ptx.Func][]ir.Type{}
	}
	l.regTypeCache[fn] = types
	return types
}

func vote(votes [][ir.NumTypes]int32, body *ptx.Body, o *ptx.Operand, t isa.Type, op isa.Op) {
	switch o.Kind {
	case ptx.OpReg:
		c := t.Class()
		if c == isa.ClassBits && neutral(op) || c != isa.ClassFloat && isMatrix(op) {
			return
		}
		if w := irTypes[t]; w.Bits() == body.Regs[o.Reg].Type.Bits() {
			votes[o.Reg][w]++
		}
	case ptx.OpAddr:
		if o.Base == ptx.OpReg {
			votes[o.Reg][irTypes[body.Regs[o.Reg].Type]]++
		}
	case ptx.OpVec, ptx.OpPair:
		if op == isa.Mov {
			return // packing moves say nothing about what the parts are
		}
		for i := range o.Elems {
			vote(votes, body, &o.Elems[i], t, op)
		}
	}
}

// neutral reports instructions that only carry .b bits from place to place.
func neutral(op isa.Op) bool {
	switch op {
	case isa.Mov, isa.Ld, isa.Ldu, isa.St, isa.Selp, isa.Shfl:
		return true
	}
	return false
}

// isMatrix reports instructions whose fragments are bits, whatever elements the bits are.
func isMatrix(op isa.Op) bool {
	switch op {
	case isa.Mma, isa.MmaSp, isa.WmmaLoad, isa.WmmaStore, isa.WmmaMma, isa.WgmmaMmaAsync, isa.WgmmaMmaAsyncSp, isa.Ldmatrix, isa.Stmatrix, isa.Movmatrix:
		return true
	}
	return false
}
