package ptx

import (
	"kudzu/internal/ptx/isa"
)

// nameKind tells what a local name stands for.
type nameKind uint8

const (
	nameReg nameKind = iota
	nameVar
	nameLabel
	nameTable
	nameProto
)

type local struct {
	kind nameKind
	idx  int32 // register, label, table or prototype
	v    *Var
}

// family is a parameterised register declaration, %r<100>. Registers enter the tree when they are first used, so that a
// hostile count costs nothing.
type family struct {
	prefix string
	count  int64
	typ    isa.Type
	vec    uint8
	idx    []int32
	sparse map[int64]int32
}

// denseMax is where a family's index becomes a map.
const denseMax = 1 << 16

// scope is one { } of a body.
type scope struct {
	names map[string]local
	fams  []*family
	refs  int // labelRefs from here on belong to this scope
	open  int
}

// labelRef is a use of a label not yet declared.
type labelRef struct {
	name  string
	pos   Pos
	inst  int32 // instruction; -1: an entry of table
	arg   int32
	table int32
}

func (p *parser) pushScope(open int) {
	if len(p.scopes) >= maxDepth {
		p.fail("Blocks nested too deeply")
	}
	p.scopes = append(p.scopes, scope{refs: len(p.refs), open: open})
}

// popScope closes the innermost block and settles the label uses that it can.
func (p *parser) popScope() {
	s := &p.scopes[len(p.scopes)-1]
	outer := p.refs[:s.refs]
	for _, r := range p.refs[s.refs:] {
		if l, ok := s.names[r.name]; ok {
			p.settle(r, l)
		} else {
			outer = append(outer, r)
		}
	}
	p.refs = outer
	p.scopes = p.scopes[:len(p.scopes)-1]
	if len(p.scopes) == 0 {
		for _, r := range p.refs {
			p.rep.Report(r.pos, "Unknown symbol '%s'", r.name)
		}
		p.refs = p.refs[:0]
	}
}

func (p *parser) settle(r labelRef, l local) {
	if r.inst < 0 {
		if int(r.arg) >= len(p.b.Tables[r.table].Labels) {
			return // the table was faulty
		}
		if l.kind != nameLabel {
			p.rep.Report(r.pos, "Label expected, not '%s'", r.name)
			return
		}
		p.b.Tables[r.table].Labels[r.arg] = l.idx
		return
	}
	o := &p.b.Insts[r.inst].Args[r.arg]
	switch l.kind {
	case nameLabel:
		if o.Kind != OpLabel {
			p.rep.Report(r.pos, "Arguments mismatch for instruction '%v'", p.b.Insts[r.inst].Op())
			return
		}
		o.Label = l.idx
	case nameTable, nameProto:
		if o.Kind == OpLabel {
			p.rep.Report(r.pos, "Label expected for argument %d of instruction '%v'", r.arg, p.b.Insts[r.inst].Op())
			return
		}
		o.Kind, o.Table = OpTable, l.idx
		if l.kind == nameProto {
			o.Kind = OpProto
		}
	default:
		p.rep.Report(r.pos, "Label expected, not '%s'", r.name)
	}
}

// dropRefs forgets the label uses of an instruction that turned out faulty.
func (p *parser) dropRefs() {
	for n := len(p.refs); n > 0 && int(p.refs[n-1].inst) == len(p.b.Insts); n-- {
		p.refs = p.refs[:n-1]
	}
}

// declare enters a local name in the innermost block.
func (p *parser) declare(name string, pos Pos, l local) bool {
	s := &p.scopes[len(p.scopes)-1]
	_, twice := s.names[name]
	if !twice {
		for _, f := range s.fams {
			if _, in := f.member(name); in {
				twice = true
				break
			}
		}
	}
	if twice {
		what := "variable"
		if l.kind == nameLabel {
			what = "label"
		}
		p.rep.Report(pos, "Duplicate definition of %s '%s'", what, name)
		return false
	}
	if s.names == nil {
		s.names = map[string]local{}
	}
	s.names[name] = l
	return true
}

// member reports whether name is one of the family, and which. As the vendor's assembler does, it takes all digits at the
// name's end for the number, so that a family whose prefix ends in a digit has no members.
func (f *family) member(name string) (int64, bool) {
	prefix, n, ok := split(name)
	return n, ok && n < f.count && prefix == f.prefix
}

// split cuts the number off a name's end.
func split(name string) (prefix string, n int64, ok bool) {
	i := len(name)
	for i > 0 && isDec(name[i-1]) {
		i--
	}
	if i == 0 || i == len(name) {
		return "", 0, false
	}
	n, ok = number(name[i:])
	return name[:i], n, ok
}

// number reads decimal digits without leading zeros.
func number(s string) (int64, bool) {
	if s == "" || len(s) > 18 || s[0] == '0' && len(s) > 1 {
		return 0, false
	}
	var n int64
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, true
}

// declareFamily enters %r<100>.
func (p *parser) declareFamily(f *family, pos Pos) {
	s := &p.scopes[len(p.scopes)-1]
	for _, g := range s.fams {
		if g.prefix == f.prefix && min(f.count, g.count) > 0 {
			p.rep.Report(pos, "Duplicate definition of variable '%s0'", f.prefix)
			return
		}
	}
	for name := range s.names {
		if _, in := f.member(name); in {
			p.rep.Report(pos, "Duplicate definition of variable '%s'", name)
			return
		}
	}
	s.fams = append(s.fams, f)
}

// famReg is the tree's index of member n.
func (p *parser) famReg(f *family, n int64) int32 {
	if n < denseMax {
		for int64(len(f.idx)) <= n {
			if cap(f.idx) == 0 {
				f.idx = make([]int32, 0, min(f.count, 256))
			}
			f.idx = append(f.idx, 0)
		}
		if f.idx[n] == 0 {
			f.idx[n] = p.newReg(Reg{Name: f.prefix, Num: int32(n), Type: f.typ, Vec: f.vec}) + 1
		}
		return f.idx[n] - 1
	}
	i, ok := f.sparse[n]
	if !ok {
		if f.sparse == nil {
			f.sparse = map[int64]int32{}
		}
		i = p.newReg(Reg{Name: f.prefix, Num: int32(n), Type: f.typ, Vec: f.vec})
		f.sparse[n] = i
	}
	return i
}

func (p *parser) newReg(r Reg) int32 {
	p.b.Regs = append(p.b.Regs, r)
	return int32(len(p.b.Regs) - 1)
}

// findLocal looks a name up, innermost block first.
func (p *parser) findLocal(name string) (local, bool) {
	prefix, num, numbered := split(name) // once: most registers are members of a family
	for d := len(p.scopes) - 1; d >= 0; d-- {
		s := &p.scopes[d]
		for _, f := range s.fams {
			if numbered && num < f.count && f.prefix == prefix {
				return local{kind: nameReg, idx: p.famReg(f, num)}, true
			}
		}
		if s.names != nil {
			if l, ok := s.names[name]; ok {
				return l, true
			}
		}
	}
	return local{}, false
}
