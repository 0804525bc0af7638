package ptx

import (
	"strings"

	"kudzu/internal/ptx/isa"
)

// ParseModule reads a whole module. The error, if any, is an ErrorList with every fault the parser found; the module is then
// nil. The tree's strings are substrings of text.
func ParseModule(text string) (*Module, error) {
	p := newParser(text)
	p.module()
	if err := p.rep.Err(); err != nil {
		return nil, err
	}
	return p.m, nil
}

// ParsePartial is ParseModule that also returns what could be read of a faulty module: the tree without the statements and
// items that have faults. It is for reporting more faults, not for execution; names that were not found are nil in it.
func ParsePartial(text string) (*Module, error) {
	p := newParser(text)
	p.module()
	return p.m, p.rep.Err()
}

// maxText bounds a module's text: positions are 32 bits.
const maxText = 1<<31 - 1

type parser struct {
	scanner
	rep  *Reporter
	m    *Module
	skip skipper

	index *Index      // set: only index, do not read bodies and initialisers
	inits bool        // but do read initialisers
	ends  map[int]int // where bodies end, by their opening brace; nil: not known yet
	stray int         // the first place where an item should begin and cannot; -1: none

	// Of the body being read.
	fn     *Func
	b      *Body
	scopes []scope
	spell  map[string]*isa.Spelling
	args   []Operand // scratch: operands of the instruction being read
	arena  []Operand
	elems  []Operand
	refs   []labelRef

	statics int // variables of the global and constant space so far

	older map[*isa.Mod]Older // what words stand for something unsaid; nil in newer modules
}

// bailout unwinds to the statement loop after an error was reported.
type bailout struct{}

func newParser(text string) *parser {
	p := &parser{
		m:     &Module{Text: text, AddressSize: 64, syms: map[string]symbol{}},
		rep:   NewReporter(text),
		spell: map[string]*isa.Spelling{},
		stray: -1,
	}
	p.text = text
	p.skip = newSkipper(text)
	p.bad = func(pos int, format string, args ...any) { p.rep.Report(Pos(pos), format, args...) }
	return p
}

func (p *parser) failAt(pos int, format string, args ...any) {
	p.rep.Report(Pos(pos), format, args...)
	panic(bailout{})
}

func (p *parser) fail(format string, args ...any) { p.failAt(p.start, format, args...) }

// failNear reports a syntax error at the current token.
func (p *parser) failNear() {
	p.fail("Parsing error near '%s': syntax error", clip(p.lit()))
}

func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}

func (p *parser) expect(t token) {
	if p.tok != t {
		p.failNear()
	}
	p.next()
}

func (p *parser) accept(t token) bool {
	if p.tok == t {
		p.next()
		return true
	}
	return false
}

func (p *parser) ident() string {
	if p.tok != tIdent {
		p.failNear()
	}
	s := p.lit()
	p.next()
	return s
}

// module reads every item; after a faulty one it goes on at the next.
func (p *parser) module() {
	if len(p.text) > maxText {
		p.rep.Report(0, "Module of %d bytes is too large", len(p.text))
		return
	}
	p.next()
	p.header()
	for p.tok != tEOF && !p.rep.Full() {
		p.items()
	}
	names := map[string]bool{}
	for _, v := range p.m.statics {
		if _, taken := p.m.syms[v.Symbol]; taken || names[v.Symbol] {
			p.rep.Report(v.Pos, "Duplicate definition of variable '%s'", v.Symbol)
		}
		names[v.Symbol] = true
	}
}

// items reads items until the end or the first fault, after which it has skipped to a place to go on.
func (p *parser) items() {
	at := p.start
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(bailout); !ok {
				panic(r)
			}
			p.syncItem(at)
		}
	}()
	for p.tok != tEOF {
		at = p.start
		p.item()
	}
}

// syncItem skips to the next item: past the ; or the balanced braces of the one that began at from.
func (p *parser) syncItem(from int) {
	depth := 0
	if p.start == from && p.tok != tEOF {
		if p.tok == '{' {
			depth++
		}
		p.next()
	}
	for p.tok != tEOF {
		switch p.tok {
		case '{':
			depth++
		case '}':
			depth--
			if depth <= 0 {
				p.next()
				return
			}
		case ';':
			if depth <= 0 {
				p.next()
				return
			}
		case tDot:
			if depth <= 0 && isItemWord(p.lit()) && startsLine(p.text, p.start) {
				return
			}
		}
		p.next()
	}
}

func isItemWord(w string) bool {
	switch w {
	case ".entry", ".func", ".visible", ".extern", ".weak", ".common", ".global", ".const", ".shared":
		return true
	}
	return false
}

func startsLine(text string, i int) bool {
	for i > 0 && (text[i-1] == ' ' || text[i-1] == '\t') {
		i--
	}
	return i == 0 || text[i-1] == '\n'
}

// header reads .version, .target and .address_size, which come first.
func (p *parser) header() {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(bailout); !ok {
				panic(r)
			}
			p.syncItem(p.start)
		}
	}()
	if p.tok != tDot || p.lit() != ".version" {
		p.rep.Report(Pos(p.start), "Missing .version directive at start of file '%s'", clip(p.lit()))
		return
	}
	p.next()
	p.version()
	if p.tok != tDot || p.lit() != ".target" {
		p.rep.Report(Pos(p.start), "Missing .target directive")
		return
	}
	p.next()
	p.target()
	if p.tok == tDot && p.lit() == ".address_size" {
		p.addressSize()
	}
}

func (p *parser) version() {
	major, minor, ok := strings.Cut(p.lit(), ".")
	a, ok1 := readInt(major)
	b, ok2 := readInt(minor)
	if p.tok != tNumber || !ok || !ok1 || !ok2 || a.bits > 99 || b.bits > 99 {
		p.failNear()
	}
	p.m.Version = isa.V(int(a.bits), int(b.bits))
	if p.m.Version > isa.Latest || a.bits == 0 {
		p.rep.Report(Pos(p.start), "Unsupported .version %s; current version is '%d.%d'", p.lit(), isa.Latest.Major(), isa.Latest.Minor())
	}
	p.next()
}

func (p *parser) target() {
	seen := false
	for {
		pos := p.start
		w := p.ident()
		if rest, ok := strings.CutPrefix(w, "sm_"); ok {
			t, ok := isa.TargetOf(w)
			if !ok {
				p.rep.Report(Pos(pos), "Unknown .target '%s'", w)
			}
			if !seen { // of several, the first counts
				p.m.Target.SM, p.m.Target.Suffix = t.SM, strings.TrimLeft(rest, "0123456789")
			}
			seen = true
		} else {
			switch w {
			case "texmode_unified", "texmode_independent", "debug", "map_f64_to_f32":
				p.m.Target.Modes = append(p.m.Target.Modes, w)
			default:
				p.rep.Report(Pos(pos), "Unknown .target '%s'", w)
			}
		}
		if !p.accept(',') {
			break
		}
	}
	if !seen {
		p.rep.Report(Pos(p.start), "Missing .target architecture")
	}
}

func (p *parser) addressSize() {
	p.next()
	pos := p.start
	v := p.constant()
	if v.isFloat() || v.bits != 32 && v.bits != 64 {
		p.rep.Report(Pos(pos), "Invalid .address_size, must be 32 or 64")
		return
	}
	p.m.AddressSize = int(v.bits)
}

// item reads one module-level directive.
func (p *parser) item() {
	if p.tok == '@' && strings.HasPrefix(p.text[p.start:], "@@") { // @@DWARF lines of old debug information
		p.end = p.start
		if n := strings.IndexByte(p.text[p.start:], '\n'); n >= 0 {
			p.end += n
		} else {
			p.end = len(p.text)
		}
		p.next()
		return
	}
	if p.tok != tDot {
		if p.stray < 0 {
			p.stray = p.start
		}
		p.failNear()
	}
	start := p.start
	link, attrs := Internal, []string(nil)
	for {
		switch w := p.lit(); w {
		case ".visible":
			link = Visible
		case ".extern":
			link = Extern
		case ".weak":
			link = Weak
		case ".common":
			link = Common
		case ".attribute":
			attrs = append(attrs, p.attribute()...)
			continue
		default:
			p.itemOf(w, start, link, attrs)
			return
		}
		p.next()
		if p.tok != tDot {
			p.failNear()
		}
	}
}

func (p *parser) itemOf(w string, start int, link Linkage, attrs []string) {
	switch w {
	case ".entry", ".func":
		p.function(start, link, attrs)
	case ".global", ".const", ".shared", ".tex", ".local", ".param", ".reg", ".sreg":
		p.moduleVars(start, link, attrs)
	case ".file":
		p.file()
	case ".section":
		p.section()
	case ".pragma":
		p.m.Pragmas = append(p.m.Pragmas, p.pragma())
	case ".alias":
		p.alias()
	case ".loc":
		p.loc()
	case ".version", ".target", ".address_size":
		p.fail("Duplicate or misplaced %s directive", w)
	default:
		p.failNear()
	}
}

// attribute reads .attribute(.managed, .unified(1, 2)).
func (p *parser) attribute() []string {
	p.next()
	p.expect('(')
	var all []string
	for {
		if p.tok != tDot {
			p.failNear()
		}
		from := p.start
		to := p.end
		if w := p.lit(); w != ".managed" && w != ".unified" {
			p.fail("Unknown attribute '%s'", w)
		}
		p.next()
		if p.accept('(') {
			p.constant()
			for p.accept(',') {
				p.constant()
			}
			to = p.end
			p.expect(')')
		}
		all = append(all, p.text[from+1:to])
		if !p.accept(',') {
			break
		}
	}
	p.expect(')')
	return all
}

func (p *parser) file() {
	p.next()
	n := p.constant()
	if p.tok != tString {
		p.failNear()
	}
	p.m.Files = append(p.m.Files, File{int(n.bits), strings.Trim(p.lit(), `"`)})
	p.next()
	for p.accept(',') { // time stamp, size
		p.constant()
	}
}

// section skips a debug section; its contents mean nothing here.
func (p *parser) section() {
	p.next()
	if p.tok != tDot {
		p.failNear()
	}
	p.next()
	if p.tok != '{' {
		p.failNear()
	}
	for p.tok != '}' {
		p.next()
		if p.tok == tEOF {
			p.failNear()
		}
	}
	p.next()
}

func (p *parser) pragma() Directive {
	d := Directive{Pos: Pos(p.start), Name: "pragma"}
	p.next()
	for {
		if p.tok != tString {
			p.failNear()
		}
		d.Strs = append(d.Strs, strings.Trim(p.lit(), `"`))
		p.next()
		if !p.accept(',') {
			break
		}
	}
	p.expect(';')
	return d
}

func (p *parser) alias() {
	a := Alias{Pos: Pos(p.start)}
	p.next()
	a.Name = p.ident()
	p.expect(',')
	a.Of = p.ident()
	p.expect(';')
	p.m.Aliases = append(p.m.Aliases, a)
}

// loc reads .loc and, in a body, keeps it.
func (p *parser) loc() {
	p.next()
	var n [3]int32
	for i := range n {
		n[i] = int32(p.constant().bits)
	}
	if p.b != nil {
		p.b.Locs = append(p.b.Locs, Loc{int32(len(p.b.Insts)), n[0], n[1], n[2]})
	}
	for p.accept(',') {
		switch w := p.ident(); w {
		case "function_name":
			p.ident()
			if p.accept('+') {
				p.constant()
			}
		case "inlined_at":
			for range 3 {
				p.constant()
			}
		default:
			p.failNear()
		}
	}
}
