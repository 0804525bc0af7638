package ptx

import (
	"strconv"
	"strings"

	"kudzu/internal/ptx/isa"
)

// body reads a function's { … }. It reports every fault, going on at the next statement.
func (p *parser) body(f *Func) {
	p.fn, p.b = f, f.Body
	p.scopes = p.scopes[:0]
	p.refs = p.refs[:0]
	p.arena, p.elems = nil, nil
	p.statics = 0
	p.reserve()
	p.pushScope(p.start)
	p.next()
	for _, v := range f.Results {
		p.declareParam(v)
	}
	for _, v := range f.Params {
		p.declareParam(v)
	}
	for len(p.scopes) > 0 && p.tok != tEOF && !p.rep.Full() {
		p.statements()
	}
	if len(p.scopes) > 0 {
		if !p.rep.Full() && !p.cut {
			p.rep.Report(Pos(len(p.text)), "Parsing error near '': syntax error")
		}
		p.scopes, p.refs = p.scopes[:0], p.refs[:0]
	}
	p.fn, p.b = nil, nil
}

// reserve sizes the body's slices from its text, so that appending rarely copies.
func (p *parser) reserve() {
	end := p.skip.braces(p.start)
	if end < 0 {
		end = len(p.text)
	}
	n := strings.Count(p.text[p.start:end], ";")
	p.b.Insts = make([]Inst, 0, min(n, (end-p.start)/5, 1<<20)) // bounded: the text may be all semicolons
}

func (p *parser) declareParam(v *Var) {
	if v.Name == "_" {
		return
	}
	if v.Space == SpaceReg {
		i := p.newReg(Reg{Name: v.Name, Num: -1, Type: v.Type, Vec: uint8(v.Vec)})
		p.declare(v.Name, v.Pos, local{kind: nameReg, idx: i})
		return
	}
	p.declare(v.Name, v.Pos, local{kind: nameVar, v: v})
}

// statements reads statements until the body ends or one is faulty; it then has skipped that one.
func (p *parser) statements() {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(bailout); !ok {
				panic(r)
			}
			p.dropRefs()
			p.syncStatement()
		}
	}()
	for len(p.scopes) > 0 {
		switch p.tok {
		case tIdent:
			p.instruction(-1, false)
		case '@':
			p.guarded()
		case tDot:
			p.directive()
		case '{':
			p.pushScope(p.start)
			p.next()
		case '}':
			p.b.End = Pos(p.start)
			p.popScope()
			p.next()
		case tEOF:
			return
		default:
			p.failNear()
		}
	}
}

// syncStatement skips past the next ; or to the next brace that is a statement's.
func (p *parser) syncStatement() {
	vec := 0
	for p.tok != tEOF {
		switch p.tok {
		case ';':
			p.next()
			return
		case '{':
			vec++
		case '}':
			if vec == 0 {
				return
			}
			vec--
		}
		p.next()
	}
}

// guarded reads @p or @!p and the instruction after it.
func (p *parser) guarded() {
	p.next()
	not := p.accept('!')
	pos := p.start
	name := p.ident()
	l, ok := p.findLocal(name)
	switch {
	case !ok:
		p.rep.Report(Pos(pos), "Unknown symbol '%s'", name)
	case l.kind != nameReg || p.b.Regs[l.idx].Type != isa.Pred:
		p.rep.Report(Pos(pos), "Predicate register expected, not '%s'", name)
		ok = false
	}
	if !ok {
		l.idx = -1
	}
	if p.tok != tIdent {
		p.failNear()
	}
	p.instruction(l.idx, not)
}

// instruction reads a label, or an instruction with its operands and the semicolon. The current token is an identifier.
func (p *parser) instruction(pred int32, not bool) {
	start := p.start
	for p.end < len(p.text) && p.text[p.end] == '.' { // the whole dotted spelling is one word here
		e := dotEnd(p.text, p.end)
		if e == p.end+1 {
			break
		}
		p.end = e
	}
	text := p.text[start:p.end]
	p.next()
	if p.tok == ':' {
		if pred >= 0 || strings.IndexByte(text, '.') >= 0 {
			p.failNear()
		}
		p.label(text, start)
		return
	}
	for p.tok == tDot { // "add .u32": words may stand apart
		text += p.lit()
		p.next()
	}
	sp := p.spell[text]
	if sp == nil {
		sp = p.lookup(text)
		p.spell[sp.Text] = sp
	}
	if len(sp.Cands) == 0 {
		p.unknown(sp, start)
	}
	in := Inst{Pos: Pos(start), Pred: pred, Not: not}
	p.args = p.args[:0]
	base := p.room()
	switch sp.Cands[0].Form.Op {
	case isa.Call:
		p.call(sp.Cands[0], &in)
	case isa.Bra, isa.Brx:
		p.branch(sp.Cands[0], &in)
	default:
		if p.tok != ';' {
			for {
				n := len(p.arena)
				if n-base == maxOperands {
					p.arena = p.arena[:base]
					p.failAt(start, "Arguments mismatch for instruction '%s'", mnemonic(sp))
				}
				p.arena = p.arena[:n+1]
				p.operand(&p.arena[n], 0)
				if p.tok != ',' {
					break
				}
				p.next()
			}
		}
		if p.tok != ';' {
			p.failNear()
		}
		if !p.choose(sp, &in, base) {
			p.badArgs(sp, start, base)
		}
	}
	p.expect(';')
	if p.older != nil && len(in.Mods) > 0 {
		in.Older = p.older[&in.Mods[0]]
	}
	p.b.Insts = append(p.b.Insts, in)
}

func mnemonic(sp *isa.Spelling) string {
	first, _, _ := strings.Cut(sp.Text, ".")
	return first
}

// unknown reports a spelling that no form has, and skips the instruction.
func (p *parser) unknown(sp *isa.Spelling, start int) {
	first := mnemonic(sp)
	if !isa.Known(first) {
		p.failAt(start, "Not a name of any known instruction: '%s'", clip(first))
	}
	if strings.HasPrefix(sp.Text, warpgroupProduct+".") {
		p.badProduct(sp, start)
	}
	if sp.Bad != "" {
		at := start + strings.Index(sp.Text, sp.Bad)
		p.failAt(at, "Unknown modifier '%s'", clip(sp.Bad))
	}
	for _, w := range sp.Words {
		if w.Type() != isa.TypeNone {
			p.failAt(start, "Unexpected instruction types or modifiers specified for '%s': '%s'", first, clip(sp.Text))
		}
	}
	p.failAt(start, "Illegal modifier for instruction '%s': '%s'", first, clip(sp.Text))
}

func (p *parser) label(name string, start int) {
	p.next()
	if p.tok == tDot {
		switch p.lit() {
		case ".branchtargets", ".calltargets":
			p.table(name, start)
			return
		case ".callprototype":
			p.prototype(name, start)
			return
		}
	}
	i := int32(len(p.b.Labels))
	p.b.Labels = append(p.b.Labels, Label{Pos(start), name, int32(len(p.b.Insts))})
	p.declare(name, Pos(start), local{kind: nameLabel, idx: i})
}

// table reads .branchtargets or .calltargets after its label.
func (p *parser) table(name string, start int) {
	t := Table{Pos: Pos(start), Name: name}
	i := int32(len(p.b.Tables))
	branch := p.lit() == ".branchtargets"
	p.next()
	p.b.Tables = append(p.b.Tables, t)
	p.declare(name, Pos(start), local{kind: nameTable, idx: i})
	for p.tok != ';' {
		pos := p.start
		n := p.ident()
		if branch {
			if p.accept('<') { // N0<3> is N00, N01, …: kept as written names
				p.fail("Parameterized labels are not supported in .branchtargets")
			}
			t.Labels = append(t.Labels, -1)
			p.refs = append(p.refs, labelRef{name: n, pos: Pos(pos), inst: -1, arg: int32(len(t.Labels) - 1), table: i})
		} else {
			if p.m.Func(n) == nil {
				p.rep.Report(Pos(pos), "Unknown symbol '%s'", n)
			}
			t.Funcs = append(t.Funcs, n)
		}
		if !p.accept(',') {
			break
		}
	}
	p.b.Tables[i] = t
	p.expect(';')
}

// prototype reads .callprototype after its label: (results) _ (params).
func (p *parser) prototype(name string, start int) {
	f := &Func{Pos: Pos(start), Kind: DeviceFunc, Name: name}
	p.next()
	if p.tok == '(' {
		f.Results = p.params(FuncResult)
	}
	if p.ident() != "_" {
		p.failNear()
	}
	if p.tok == '(' {
		f.Params = p.params(FuncParam)
	}
	p.perf(f)
	layout(f.Params)
	layout(f.Results)
	p.expect(';')
	i := int32(len(p.b.Protos))
	p.b.Protos = append(p.b.Protos, f)
	p.declare(name, Pos(start), local{kind: nameProto, idx: i})
}

// directive reads a directive inside a body.
func (p *parser) directive() {
	switch w := p.lit(); w {
	case ".reg":
		p.registers()
	case ".local", ".shared", ".param", ".global", ".const", ".tex":
		p.localVars()
	case ".loc":
		p.loc()
	case ".file":
		p.file()
	case ".section":
		p.section()
	case ".pragma":
		d := p.pragma()
		d.Nums = []int64{int64(len(p.b.Insts))}
		p.b.Pragmas = append(p.b.Pragmas, d)
	default:
		p.failNear()
	}
}

// registers reads a .reg declaration.
func (p *parser) registers() {
	pos := p.start
	d := p.declHead()
	switch {
	case d.typ.Class() == isa.ClassOpaque:
		p.failAt(pos, "Invalid type of register")
	case d.vec > 1 && d.typ == isa.Pred:
		p.failAt(pos, "Predicate type can only be used to define scalar register variables")
	case d.vec*d.typ.Bits() > 128:
		p.failAt(pos, "Vector type too large, exceeds 128 bit limit")
	}
	for {
		at := Pos(p.start)
		name := p.ident()
		if p.accept('<') {
			n := p.unary(0)
			if n.isFloat() || n.bits > 1<<31-1 {
				p.failAt(int(at), "Invalid number of registers")
			}
			p.expect('>')
			p.declareFamily(&family{prefix: name, count: int64(n.bits), typ: d.typ, vec: uint8(d.vec)}, at)
		} else {
			i := p.newReg(Reg{Name: name, Num: -1, Type: d.typ, Vec: uint8(d.vec)})
			p.declare(name, at, local{kind: nameReg, idx: i})
		}
		if !p.accept(',') {
			break
		}
	}
	p.expect(';')
}

// paramsInside reports a kernel whose parameters are declared in its body, as all were before version 1.4.
func (p *parser) paramsInside() bool { return p.fn.Kind == Entry && p.m.Version < isa.V(1, 4) }

// localVars reads a variable declaration inside a body.
func (p *parser) localVars() {
	d := p.declHead()
	role := BodyVar
	if d.space == SpaceParam {
		role = CallParam
	}
	if role == CallParam && p.paramsInside() {
		role = KernelParam
	}
	for {
		v := p.variable(&d, role)
		if role == KernelParam {
			p.fn.Params = append(p.fn.Params, v)
			layout(p.fn.Params[max(0, len(p.fn.Params)-2):]) // behind the last one
			p.declareParam(v)
			if !p.accept(',') {
				break
			}
			continue
		}
		if d.space == SpaceGlobal || d.space == SpaceConst { // lives as long as the module, which may hold others of its name
			v.Symbol = p.fn.Name + "$" + v.Name + "$" + strconv.Itoa(p.statics)
			p.statics++
			p.m.statics = append(p.m.statics, v)
		}
		p.initialiser(v)
		p.b.Vars = append(p.b.Vars, v)
		p.declare(v.Name, v.Pos, local{kind: nameVar, v: v})
		if !p.accept(',') {
			break
		}
	}
	p.expect(';')
}
