package ptx

import "strconv"

var elemWords = [...]string{".x", ".y", ".z", ".w"}

// operand writes one operand.
func (p *printer) operand(b *Body, o *Operand) {
	if o.Neg {
		p.s("!")
	}
	if o.Minus {
		p.s("-")
	}
	switch o.Kind {
	case None:
	case OpReg:
		p.s(p.regs[o.Reg])
		p.elem(o)
		p.offset(o)
	case OpSReg:
		p.s(o.SReg.String())
		p.elem(o)
	case OpImm:
		p.imm(o)
	case OpVar:
		p.varName(o)
		p.offset(o)
	case OpFunc:
		p.s(o.Name)
		p.offset(o)
	case OpAddr:
		p.s("[")
		switch o.Base {
		case OpReg:
			p.s(p.regs[o.Reg])
			p.elem(o)
			p.offset(o)
		case OpVar:
			p.varName(o)
			p.offset(o)
		case OpFunc:
			p.s(o.Name)
			p.offset(o)
		default:
			p.imm(o)
		}
		p.s("]")
		if o.Unified {
			p.s(".unified")
		}
	case OpVec:
		p.list("{", o.Elems, ", ", "}", b)
	case OpTexAddr:
		p.list("[", o.Elems, ", ", "]", b)
	case OpArgs:
		p.list("(", o.Elems, ", ", ")", b)
	case OpPair:
		p.list("", o.Elems, "|", "", b)
	case OpLabel:
		p.s(p.names[&b.Labels[o.Label]])
	case OpTable:
		p.s(p.names[&b.Tables[o.Table]])
	case OpProto:
		p.s(p.names[b.Protos[o.Table]])
	case OpSink:
		p.s("_")
	}
}

func (p *printer) varName(o *Operand) {
	if n, ok := p.names[o.Var]; ok && o.Var != nil {
		p.s(n)
		return
	}
	p.s(o.Name)
}

func (p *printer) list(open string, elems []Operand, sep, end string, b *Body) {
	p.s(open)
	for i := range elems {
		if i > 0 {
			p.s(sep)
		}
		p.operand(b, &elems[i])
	}
	p.s(end)
}

func (p *printer) elem(o *Operand) {
	switch {
	case o.Elem >= 0:
		p.s(elemWords[o.Elem])
	case o.Elem == ElemSel:
		kind, parts := o.Selector()
		p.s("." + string(rune(kind)))
		for _, n := range parts {
			p.s(strconv.Itoa(n))
		}
	}
}

func (p *printer) offset(o *Operand) {
	if o.Imm != 0 && o.Elem != ElemSel {
		p.s("+" + strconv.FormatInt(int64(o.Imm), 10))
	}
}

func (p *printer) imm(o *Operand) {
	switch o.ImmKind {
	case ImmInt:
		p.s(strconv.FormatInt(int64(o.Imm), 10))
	case ImmUint:
		p.s(strconv.FormatUint(o.Imm, 10) + "U")
	case ImmF32:
		p.f("0f%08X", uint32(o.Imm))
	case ImmF64:
		p.f("0d%016X", o.Imm)
	}
}
