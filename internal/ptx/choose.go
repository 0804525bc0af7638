package ptx

import "kudzu/internal/ptx/isa"

// choose finds the first candidate form that the operands in the arena from base on fit, and fills the instruction. Fitting is about
// shapes (register, constant, address, predicate or not); widths and types are the checker's.
func (p *parser) choose(sp *isa.Spelling, in *Inst, base int) bool {
	args := p.arena[base:]
	for i := range sp.Cands {
		c := &sp.Cands[i]
		ops := c.Form.Operands()
		if len(args) > len(ops) {
			continue
		}
		if len(args) == len(ops) && p.fitsAll(c, ops, args) {
			in.Form, in.Mods = c.Form, c.Mods
			in.Args = args[:len(args):len(args)]
			p.settleArgs(c, ops, in.Args)
			return true
		}
		var at [maxOperands]int8
		if len(ops) <= maxOperands && p.arrange(c, ops, args, 0, 0, &at) {
			in.Form, in.Mods = c.Form, c.Mods
			p.arena = p.arena[:base+len(ops)]
			in.Args = p.arena[base : base+len(ops) : base+len(ops)]
			for j := len(ops) - 1; j >= 0; j-- { // from behind: arguments only move up
				if at[j] >= 0 {
					in.Args[j] = in.Args[at[j]]
				} else {
					in.Args[j] = Operand{Elem: -1, Reg: -1}
				}
			}
			p.settleArgs(c, ops, in.Args)
			return true
		}
	}
	return false
}

// settleArgs gives operands that can be written in several ways the one shape that the tree has for them: {r} is r where a memory
// instruction without .vec was given a vector of one, and a vector register is the list of its components.
func (p *parser) settleArgs(c *isa.Candidate, ops []isa.Operand, args []Operand) {
	for j := range ops {
		a := &args[j]
		switch a.Kind {
		case OpReg, OpSReg:
			p.spread(a)
		case OpTexAddr, OpPair:
			for i := range a.Elems {
				p.spread(&a.Elems[i])
			}
		case OpVec:
			if ops[j].VecSlot && len(a.Elems) == 1 {
				*a = a.Elems[0]
			}
		case OpImm:
			if n := vecSize(c); ops[j].VecSlot && n > 1 {
				p.cutConstant(a, n, c.Mods[ops[j].Slot].Type().Bits())
			}
		}
	}
}

// wholeVector is the size of a vector register without a component, 0 for other operands.
func (p *parser) wholeVector(o *Operand) int {
	switch {
	case o.Elem != -1:
	case o.Kind == OpReg && p.b.Regs[o.Reg].Vec > 1:
		return int(p.b.Regs[o.Reg].Vec)
	case o.Kind == OpSReg && o.SReg.Vec():
		return 4
	}
	return 0
}

// spread turns a whole vector register into the list of its components.
func (p *parser) spread(o *Operand) {
	n := p.wholeVector(o)
	if n == 0 {
		return
	}
	r := *o
	list := p.takeElems(n)
	for i := range list {
		list[i] = r
		list[i].Elem = int8(i)
	}
	*o = Operand{Pos: r.Pos, Kind: OpVec, Elem: -1, Reg: -1, Elems: list}
}

// cutConstant turns the constant of mov.v2.b32 d, 5 into the list {5, 0}: the assembler takes it for the bits of the whole vector.
func (p *parser) cutConstant(o *Operand, n, bits int) {
	list := p.takeElems(n)
	for i := range list {
		list[i] = Operand{Pos: o.Pos, Kind: OpImm, Elem: -1, Reg: -1}
		if at := i * bits; at < 64 {
			list[i].Imm = o.Imm >> at & (1<<bits - 1)
		}
	}
	*o = Operand{Pos: o.Pos, Kind: OpVec, Elem: -1, Reg: -1, Elems: list}
}

const maxOperands = 24

// room makes the arena take any instruction's operands without moving, and tells where they will begin.
func (p *parser) room() int {
	if cap(p.arena)-len(p.arena) < maxOperands {
		size := 2 * maxOperands
		if len(p.b.Insts) > 16 {
			size = 1024
		}
		p.arena = make([]Operand, 0, size)
	}
	return len(p.arena)
}

// takeArgs gives n operands of the body's arena.
func (p *parser) takeArgs(n int) []Operand {
	l := p.room()
	p.arena = p.arena[:l+n]
	return p.arena[l : l+n : l+n]
}

func (p *parser) fitsAll(c *isa.Candidate, ops []isa.Operand, args []Operand) bool {
	for j := range ops {
		o := &ops[j]
		if o.Optional && !wanted(c, o) || !p.fits(c, j, o, &args[j]) {
			return false
		}
	}
	return true
}

// arrange places the arguments from i on at the operands from j on, leaving optional ones out where needed.
func (p *parser) arrange(c *isa.Candidate, ops []isa.Operand, args []Operand, i, j int, at *[maxOperands]int8) bool {
	if j == len(ops) {
		return i == len(args)
	}
	o := &ops[j]
	if i < len(args) && (!o.Optional || wanted(c, o)) && p.fits(c, j, o, &args[i]) {
		at[j] = int8(i)
		if p.arrange(c, ops, args, i+1, j+1, at) {
			return true
		}
	}
	if !o.Optional || demanded(c, o) {
		return false
	}
	at[j] = -1
	return p.arrange(c, ops, args, i, j+1, at)
}

// wanted reports whether an optional operand may be there: a cache policy comes with .L2::cache_hint, a CTA mask with .multicast.
func wanted(c *isa.Candidate, o *isa.Operand) bool {
	return o.With == 0 || hasMod(c.Mods, o.With)
}

func demanded(c *isa.Candidate, o *isa.Operand) bool {
	return o.With != 0 && hasMod(c.Mods, o.With)
}

func hasMod(mods []isa.Mod, m isa.Mod) bool {
	for _, x := range mods {
		if x == m {
			return true
		}
	}
	return false
}

// fits reports whether argument a has the shape operand o asks for.
func (p *parser) fits(c *isa.Candidate, j int, o *isa.Operand, a *Operand) bool {
	if a.Neg && !o.Not || a.Minus && !o.Minus {
		return false
	}
	switch a.Kind {
	case OpReg:
		return p.fitsReg(c, j, o, a)
	case OpImm:
		float := a.ImmKind == ImmF32 || a.ImmKind == ImmF64
		if o.Optional && o.Ref == isa.TypeFixed && o.Fixed.IsFloat() != float {
			return false
		}
		return o.Kinds&isa.KImm != 0 && (!inVector(c, o) || c.Form.Op == isa.Mov && (a.ImmKind == ImmInt || a.ImmKind == ImmUint))
	case OpSReg:
		if p.wholeVector(a) > 0 {
			return o.VecSlot && fitsVector(c, o, 4)
		}
		return o.Kinds&isa.KReg != 0 && !inVector(c, o)
	case OpVar, OpFunc:
		return o.Kinds&(isa.KReg|isa.KSym) != 0 && !inVector(c, o)
	case OpAddr:
		return o.Kinds&isa.KAddr != 0 && (!a.Unified || o.Unified)
	case OpTexAddr:
		return o.Kinds&isa.KTex != 0
	case OpVec:
		return fitsVector(c, o, len(a.Elems))
	case OpPair:
		return o.Kinds&isa.KPair != 0
	case OpSink:
		return o.Kinds&isa.KSink != 0
	case OpLabel:
		return o.Kinds&isa.KLabel != 0
	case OpTable:
		return o.Kinds&isa.KTable != 0
	case None, OpProto, OpArgs:
	}
	return false
}

// fitsReg is fits for a register, one element of a vector register, or all of it.
func (p *parser) fitsReg(c *isa.Candidate, j int, o *isa.Operand, a *Operand) bool {
	r := &p.b.Regs[a.Reg]
	if a.Elem == ElemSel {
		if o.Sel == "" {
			return false
		}
	} else if n := p.wholeVector(a); n > 0 {
		return a.Imm == 0 && fitsVector(c, o, n)
	} else if a.Imm != 0 && (o.Dest || r.Type == isa.Pred || r.Type.IsFloat() || r.Type.Bits() > 64) { // register + constant
		return false
	}
	if inVector(c, o) {
		return false
	}
	if o.Optional && o.Ref == isa.TypeFixed && o.Fixed.IsFloat() != r.Type.IsFloat() && !r.Type.IsBits() {
		return false // tells the optional operands of textures apart
	}
	return o.Kinds&isa.KReg != 0 && p.isPred(c, j, o) == (r.Type == isa.Pred)
}

// inVector reports an operand that the .v2, .v4 or .v8 of the instruction makes a vector.
func inVector(c *isa.Candidate, o *isa.Operand) bool { return o.VecSlot && hasVec(c) }

// fitsVector reports whether operand o takes a vector of n.
func fitsVector(c *isa.Candidate, o *isa.Operand, n int) bool {
	return o.Kinds&isa.KVec != 0 && (o.Vec <= 0 || int(o.Vec) == n) && (!o.VecSlot || vecSize(c) == n)
}

func (p *parser) isPred(c *isa.Candidate, j int, o *isa.Operand) bool {
	switch o.Ref {
	case isa.TypeFixed:
		return o.Fixed == isa.Pred
	case isa.TypeOfSlot:
		return c.Mods[o.Slot] == isa.ModPred
	}
	return false
}

func hasVec(c *isa.Candidate) bool { return vecSize(c) > 1 }

func vecSize(c *isa.Candidate) int {
	i := c.Form.VecSlot()
	if i < 0 {
		return 1
	}
	switch c.Mods[i] {
	case isa.ModV2:
		return 2
	case isa.ModV4:
		return 4
	case isa.ModV8:
		return 8
	}
	return 1
}
