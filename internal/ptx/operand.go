package ptx

import (
	"kudzu/internal/ptx/isa"
)

// ElemSel in Operand.Elem says that Imm holds a video selector, such as .h1 or .b3210.
const ElemSel = -2

// Selector unpacks a video selector: 'b' or 'h' and the parts in written order ("b3210" is 3, 2, 1, 0).
func (o *Operand) Selector() (kind byte, parts []int) {
	n := int(o.Imm >> 40 & 0xff)
	for i := n - 1; i >= 0; i-- {
		parts = append(parts, int(o.Imm>>(4*i)&0xf))
	}
	return byte(o.Imm >> 32), parts
}

// selector packs ".b3210"; ok is false if w is none.
func selector(w string) (uint64, bool) {
	if len(w) < 3 || len(w) > 6 || w[1] != 'b' && w[1] != 'h' {
		return 0, false
	}
	imm := uint64(w[1])<<32 | uint64(len(w)-2)<<40
	for i := 2; i < len(w); i++ {
		if w[i] < '0' || w[i] > '7' {
			return 0, false
		}
		imm |= uint64(w[i]-'0') << (4 * (len(w) - 1 - i))
	}
	return imm, true
}

// operand reads one operand into o. o must not be in p.args, which grows meanwhile.
func (p *parser) operand(o *Operand, depth int) {
	*o = Operand{Pos: Pos(p.start), Elem: -1, Reg: -1}
	switch p.tok {
	case tIdent:
		p.named(o, depth)
	case '[':
		p.address(o, depth)
	case '{':
		p.vector(o, depth)
		if p.tok == '|' {
			p.pair(o, depth)
		}
	case '!':
		if class[p.peek()]&cStart != 0 {
			p.next()
			p.named(o, depth)
			o.Neg = true
			break
		}
		p.immediate(o)
	case '-':
		if c := p.peek(); class[c]&cStart != 0 {
			p.next()
			if p.lit() == "WARP_SZ" {
				p.next()
				o.Kind, o.Imm = OpImm, ^uint64(31)
				break
			}
			p.named(o, depth)
			o.Minus = true
			break
		}
		p.immediate(o)
	default:
		p.immediate(o)
	}
}

// peek is the first character after the current token and white space.
func (p *parser) peek() byte {
	i := p.end
	for i < len(p.text) && class[p.text[i]]&cSpace != 0 {
		i++
	}
	if i < len(p.text) {
		return p.text[i]
	}
	return 0
}

func (p *parser) immediate(o *Operand) {
	v := p.constant()
	o.Kind, o.ImmKind, o.Imm = OpImm, v.kind, v.bits
}

// named reads an operand that begins with a name.
func (p *parser) named(o *Operand, depth int) {
	start, end := p.start, p.end
	name := p.text[start:end]
	if name == "WARP_SZ" {
		p.immediate(o)
		return
	}
	p.next()
	switch {
	case name == "_":
		o.Kind = OpSink
	default:
		p.resolve(o, name, start)
	}
	if p.tok == tDot {
		p.suffix(o)
	}
	switch p.tok {
	case '|':
		p.pair(o, depth)
	case '+', '-':
		switch {
		case o.Kind == OpVar || o.Kind == OpFunc, o.Kind == OpReg && o.Elem == -1 && depth == 0 && p.tok == '+':
			p.offset(o)
		}
	case '[':
		if o.Kind == OpVar && o.Var != nil {
			p.element(o)
		}
	}
}

// element reads [3] after an array: so many of its scalars further, whatever its vectors and inner dimensions; ptxas counts so.
func (p *parser) element(o *Operand) {
	v := o.Var
	if len(v.Dims) == 0 {
		p.fail("Array indexing on non-array")
	}
	p.next()
	at := p.constant()
	if at.isFloat() || p.tok != ']' {
		p.failNear()
	}
	p.next()
	o.Imm = at.bits * uint64(v.Type.Bytes())
}

// resolve finds what a name stands for.
func (p *parser) resolve(o *Operand, name string, start int) {
	if l, ok := p.findLocal(name); ok {
		switch l.kind {
		case nameReg:
			o.Kind, o.Reg = OpReg, l.idx
		case nameVar:
			o.Kind, o.Var, o.Name = OpVar, l.v, name
		case nameLabel:
			o.Kind, o.Label = OpLabel, l.idx
		case nameTable:
			o.Kind, o.Table = OpTable, l.idx
		case nameProto:
			o.Kind, o.Table = OpProto, l.idx
		}
		return
	}
	if name[0] == '%' {
		if r := isa.SRegOf(name); r != isa.NoSReg {
			o.Kind, o.SReg = OpSReg, r
			return
		}
	}
	switch sym := p.m.syms[name]; {
	case sym.v != nil:
		o.Kind, o.Var, o.Name = OpVar, sym.v, name
	case sym.fn != nil:
		o.Kind, o.Name = OpFunc, name
	default:
		p.rep.Report(Pos(start), "Unknown symbol '%s'", clip(name))
		o.Kind, o.Name = OpVar, name
	}
}

// suffix reads .x or .h1 after a register.
func (p *parser) suffix(o *Operand) {
	w := p.lit()
	elem := int8(-1)
	if len(w) == 2 {
		switch w[1] {
		case 'x', 'r':
			elem = 0
		case 'y', 'g':
			elem = 1
		case 'z', 'b':
			elem = 2
		case 'w', 'a':
			elem = 3
		}
	}
	switch {
	case elem >= 0 && (o.Kind == OpSReg && o.SReg.Vec() || o.Kind == OpReg && int(elem) < int(p.b.Regs[o.Reg].Vec)):
		o.Elem = elem
	case o.Kind == OpReg:
		imm, ok := selector(w)
		if !ok {
			p.fail("Illegal vector element or selector '%s'", clip(w))
		}
		o.Elem, o.Imm = ElemSel, imm
	default:
		p.failNear()
	}
	p.next()
}

// offset reads +4, -4 or +-4 after a symbol or address register.
func (p *parser) offset(o *Operand) {
	v := p.binary(9, 0) // the sign is the unary one: "sym + 4" leaves "+ 4"
	if v.isFloat() {
		p.failNear()
	}
	o.Imm = v.bits
}

// pair reads |q after a destination.
func (p *parser) pair(o *Operand, depth int) {
	if depth > 1 {
		p.failNear()
	}
	p.next()
	second := Operand{Pos: Pos(p.start), Elem: -1, Reg: -1}
	if p.tok != tIdent {
		p.failNear()
	}
	p.named(&second, depth+2)
	first := *o
	e := p.takeElems(2)
	e[0], e[1] = first, second
	*o = Operand{Pos: first.Pos, Kind: OpPair, Elem: -1, Reg: -1, Elems: e}
}

// takeElems gives n operands of the body's arena.
func (p *parser) takeElems(n int) []Operand {
	if cap(p.elems)-len(p.elems) < n {
		p.elems = make([]Operand, 0, max(64, n))
	}
	l := len(p.elems)
	p.elems = p.elems[:l+n]
	return p.elems[l : l+n : l+n]
}

// maxVector bounds { … } operands; wgmma and tcgen05 have up to 256 registers.
const maxVector = 512

// vector reads {a, b, …}.
func (p *parser) vector(o *Operand, depth int) {
	p.next()
	o.Kind = OpVec
	o.Elems = p.operandList('}', depth)
}

func (p *parser) operandList(end token, depth int) []Operand {
	if depth > 3 {
		p.fail("Operands nested too deeply")
	}
	base := len(p.args)
	for p.tok != end {
		var e Operand
		p.operand(&e, depth+1)
		p.args = append(p.args, e)
		if len(p.args)-base > maxVector {
			p.fail("Vector operand is too long")
		}
		if !p.accept(',') {
			break
		}
	}
	p.expect(end)
	list := p.takeElems(len(p.args) - base)
	copy(list, p.args[base:])
	p.args = p.args[:base]
	return list
}

// address reads [a], [a+4], [240], and the lists of texture and tensor instructions.
func (p *parser) address(o *Operand, depth int) {
	p.next()
	o.Kind = OpAddr
	switch p.tok {
	case tIdent:
		if p.lit() == "WARP_SZ" {
			p.immediate(o)
			o.Kind, o.Base = OpAddr, OpImm
			break
		}
		name, start := p.lit(), p.start
		p.next()
		base := Operand{Elem: -1, Reg: -1}
		p.resolve(&base, name, start)
		if p.tok == tDot {
			p.suffix(&base)
		}
		if p.tok == '|' || p.tok == ',' {
			p.texAddress(o, base, depth)
			return
		}
		o.Base, o.Reg, o.Elem, o.Var, o.Name = base.Kind, base.Reg, base.Elem, base.Var, base.Name
		switch base.Kind {
		case OpReg, OpVar, OpFunc:
		default:
			p.failAt(start, "Illegal address operand '%s'", clip(name))
		}
		if p.tok == '+' || p.tok == '-' {
			p.offset(o)
		}
		if p.tok == ',' {
			base := *o
			base.Kind = o.Base
			base.Base = None
			p.texAddress(o, base, depth)
			return
		}
	default:
		p.immediate(o)
		o.Kind, o.Base = OpAddr, OpImm
	}
	p.expect(']')
	if p.tok == tDot {
		if p.lit() != ".unified" {
			p.failNear()
		}
		o.Unified = true
		p.next()
	}
}

// texAddress reads the rest of [a, b, c] after its first operand.
func (p *parser) texAddress(o *Operand, first Operand, depth int) {
	if depth > 0 {
		p.failNear()
	}
	p.expect(',')
	base := len(p.args)
	first.Pos = o.Pos + 1
	p.args = append(p.args, first)
	for {
		var e Operand
		p.operand(&e, depth+1)
		p.args = append(p.args, e)
		if !p.accept(',') {
			break
		}
		if len(p.args)-base > 8 {
			p.failNear()
		}
	}
	p.expect(']')
	o.Kind = OpTexAddr
	o.Elems = p.takeElems(len(p.args) - base)
	copy(o.Elems, p.args[base:])
	p.args = p.args[:base]
}
