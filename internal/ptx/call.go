package ptx

import "kudzu/internal/ptx/isa"

// branch reads the operands of bra and brx.idx, whose labels may be declared later.
func (p *parser) branch(c isa.Candidate, in *Inst) {
	in.Form, in.Mods = c.Form, c.Mods
	n := 1
	if in.Op() == isa.Brx {
		n = 2
	}
	in.Args = p.takeArgs(n)
	if n == 2 {
		p.operand(&in.Args[0], 0)
		if in.Args[0].Kind != OpReg && in.Args[0].Kind != OpImm {
			p.failAt(int(in.Pos), "Arguments mismatch for instruction 'brx.idx'")
		}
		p.expect(',')
	}
	if n == 1 {
		in.Args[0] = p.labelUse(OpLabel, 0)
		return
	}
	// The vendor's assembler wants the table declared before; nothing is lost by taking it later too.
	in.Args[1] = p.labelUse(OpTable, 1)
}

// labelUse reads a name that is, or will be, a label. It always leaves the settling to the end of the block, because an
// inner block may declare a nearer label later.
func (p *parser) labelUse(kind OperandKind, arg int32) Operand {
	pos := p.start
	name := p.ident()
	p.refs = append(p.refs, labelRef{name: name, pos: Pos(pos), inst: int32(len(p.b.Insts)), arg: arg})
	return Operand{Pos: Pos(pos), Kind: kind, Elem: -1, Reg: -1, Label: -1, Table: -1, Name: name}
}

// call reads (results), callee, (arguments), targets. Absent parts are operands of kind None.
func (p *parser) call(c isa.Candidate, in *Inst) {
	in.Form, in.Mods = c.Form, c.Mods
	none := Operand{Elem: -1, Reg: -1}
	in.Args = p.takeArgs(4)
	in.Args[0], in.Args[1], in.Args[2], in.Args[3] = none, none, none, none
	if p.tok == '(' {
		in.Args[0] = p.callList()
		p.expect(',')
	}
	pos := p.start
	name := p.ident()
	o := &in.Args[1]
	*o = none
	o.Pos = Pos(pos)
	l, isLocal := p.findLocal(name)
	switch {
	case isLocal && l.kind == nameReg:
		o.Kind, o.Reg = OpReg, l.idx
	case !isLocal && p.m.Func(name) != nil:
		o.Kind, o.Name = OpFunc, name
	case isLocal || p.m.Var(name) != nil:
		p.failAt(pos, "Arguments mismatch for instruction 'call'")
	default:
		p.failAt(pos, "Unknown symbol '%s'", name)
	}
	if !p.accept(',') {
		return
	}
	if p.tok == '(' {
		in.Args[2] = p.callList()
		if !p.accept(',') {
			return
		}
	}
	p.callTargets(in)
}

func (p *parser) callTargets(in *Inst) {
	pos := p.start
	name := p.ident()
	in.Args[3] = Operand{Pos: Pos(pos), Elem: -1, Reg: -1, Table: -1}
	o := &in.Args[3]
	l, ok := p.findLocal(name)
	switch {
	case ok && l.kind == nameTable:
		o.Kind, o.Table = OpTable, l.idx
	case ok && l.kind == nameProto:
		o.Kind, o.Table = OpProto, l.idx
	case ok:
		p.failAt(pos, "Call target or prototype expected, not '%s'", name)
	case p.m.Func(name) != nil: // a function's name serves as a prototype
		o.Kind, o.Name = OpFunc, name
	default:
		p.refs = append(p.refs, labelRef{name: name, pos: Pos(pos), inst: int32(len(p.b.Insts)), arg: 3})
		o.Kind, o.Name = OpProto, name
	}
}

func (p *parser) callList() Operand {
	o := Operand{Pos: Pos(p.start), Kind: OpArgs, Elem: -1, Reg: -1}
	p.next()
	o.Elems = p.operandList(')', 0)
	return o
}
