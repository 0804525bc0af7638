package check

import (
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// spellingRules are what the words of a spelling must satisfy together, beyond what a row can say; checked once a spelling.
var spellingRules = [isa.NumOps]func(*checker, *ptx.Inst) bool{
	isa.Ld: memorySpelling, isa.St: memorySpelling, isa.Ldu: memorySpelling,
	isa.Cvt: cvtSpelling,
}

// rules are checked for every instruction of the op, after its operands.
var rules = [isa.NumOps]func(*checker, *ptx.Inst){
	isa.Mov: movRule,
}

// memorySpelling checks vector sizes and which words go with which state space.
func memorySpelling(c *checker, in *ptx.Inst) bool {
	t := in.Type("type")
	vec := vecOf(in)
	bits := vec * t.Bits()
	space := spaceOfMod(in.Mod("space"))
	switch {
	case bits > 128 && (bits != 256 || t == isa.B128 || in.Op() == isa.Ldu):
		c.errorf(in.Pos, "Vector type too large, exceeds 128 bit limit")
		return false
	case bits == 256:
		if !c.need(in, isa.Need{PTX: isa.V(8, 8), SM: 100}, "256 bit wide load/store") {
			return false
		}
	case t == isa.B128:
		if !c.need(in, isa.Need{PTX: isa.V(8, 3), SM: 70}, ".b128") {
			return false
		}
	}
	if in.Has(isa.ModVolatile) {
		switch space {
		case ptx.SpaceConst, ptx.SpaceParam:
			c.errorf(in.Pos, "Modifier '.volatile' cannot be applied to '%v' space", in.Mod("space"))
			return false
		case ptx.SpaceLocal:
			return c.need(in, isa.Need{PTX: isa.V(9, 1)}, "ld/st with .local.volatile")
		}
	}
	return true
}

// movRule checks packing and unpacking moves: mov.b64 d, {a, b}.
func movRule(c *checker, in *ptx.Inst) {
	if in.Mod("vec") != 0 {
		return
	}
	d, a := &in.Args[0], &in.Args[1]
	dv, av := c.isVector(d), c.isVector(a)
	switch {
	case !dv && !av:
		return
	case dv && av:
		c.errorf(in.Pos, "Illegal vector-vector operands for vector-scalar or scalar-vector mov instruction")
		return
	}
	t := in.Type("type")
	if !t.IsBits() {
		c.mismatch(in)
		return
	}
	v := a
	if dv {
		v = d
	}
	n, bits := c.vectorShape(v)
	if n < 2 || bits*n != t.Bits() {
		c.mismatch(in)
	}
}

func (c *checker) isVector(o *ptx.Operand) bool {
	return o.Kind == ptx.OpVec || o.Kind == ptx.OpReg && c.b.Regs[o.Reg].Vec > 1 && o.Elem < 0
}

// vectorShape is how many elements a vector operand has and how wide they are (0 if they differ).
func (c *checker) vectorShape(o *ptx.Operand) (n, bits int) {
	if o.Kind == ptx.OpReg {
		r := &c.b.Regs[o.Reg]
		return int(r.Vec), r.Type.Bits()
	}
	for i := range o.Elems {
		e := &o.Elems[i]
		if e.Kind != ptx.OpReg {
			continue
		}
		b := c.b.Regs[e.Reg].Type.Bits()
		if c.b.Regs[e.Reg].Type == isa.Pred {
			return 0, 0
		}
		if bits != 0 && b != bits {
			return 0, 0
		}
		bits = b
	}
	return len(o.Elems), bits
}
