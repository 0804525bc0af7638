// Package truth derives, from the instruction table, kernels that show what every form computes: for each form a set of
// spellings that covers its words pairwise, on edge values and random bits, 64 lanes each. A real GPU's answers are
// recorded under testdata/isa; the executors are compared with them bit for bit.
//
// Only results are stored: spellings, kernels and inputs are made anew, the same every time.
package truth

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/ptx/isa/spell"
)

const (
	// Lanes is how many threads run a line: two warps.
	Lanes = 64
	// slotBytes is each lane's piece of memory for loads, stores and atomics.
	slotBytes = 64
	// spellings bounds the lines of one form.
	spellings = 24
	// profile is the newest PTX the recording driver takes, for the card it has.
	version, target, targetSM = "9.0", "sm_90", 90
)

var recording = spell.Profile{Target: target, Version: version}

// Line is one instruction to run.
type Line struct {
	Chapter string
	Text    string // the instruction with its semicolon
	Form    *isa.Form
	Mods    []isa.Mod

	profile spell.Profile // the module it stands in

	regs   []reg  // every register it names
	memory bool   // it reads or writes memory: the lane's piece is part of the result
	before string // sets the carry flag that the line reads
	after  string // reads the carry flag that the line sets into %cy
	edges  bool   // see EdgeLines
}

// reg is a register of a line.
type reg struct {
	name string
	fam  family
	typ  isa.Type // of the operand it is part of
	dest bool
	role string // the operand's name
}

// family is how a register of a prefix is declared, loaded and stored.
type family struct {
	prefix, decl, ld string
	bytes            int
}

var families = []family{
	{"b8_", ".b8", "b8", 1}, {"fd", ".f64", "f64", 8}, {"fh", ".f16", "b16", 2}, {"fx", ".f16x2", "b32", 4}, {"h", ".b16", "b16", 2}, {"r", ".b32", "b32", 4},
	{"d", ".b64", "b64", 8}, {"q", ".b128", "b128", 16}, {"f", ".f32", "f32", 4}, {"p", ".pred", "", 0},
}

// skipped are instructions whose effect is not a value of registers and own memory, or is not the same twice; each is
// covered by a case file or has nothing to record.
var skipped = map[isa.Op]string{
	isa.Bra: "control", isa.Brx: "control", isa.Call: "control", isa.Ret: "control", isa.Exit: "control", isa.Trap: "fault", isa.Brkpt: "fault",
	isa.Createpolicy: "opaque result", isa.Discard: "destroys", isa.Isspacep: "addresses", isa.Mapa: "addresses", isa.Getctarank: "addresses",
	isa.Ldu: "read-only data", isa.Cvta: "addresses", isa.Istypep: "textures", isa.Alloca: "addresses", isa.Stacksave: "addresses", isa.Stackrestore: "addresses",
}

// skippedChapters need objects that a plain kernel does not have.
var skippedChapters = []string{"texture", "surface", "wgmma", "tcgen05", "async", "mbarrier", "control", "sync", "special"}

// skippedLines are beginnings of lines that take addresses this harness does not make.
var skippedLines = []string{"cvta.", "multimem.", "wmma.load.", "wmma.store."}

func skips(text string) bool {
	return slices.ContainsFunc(skippedLines, func(p string) bool { return strings.HasPrefix(text, p) })
}

// Lines are all lines, in the order of the table; limit bounds the spellings of one form.
func Lines(limit int) []*Line {
	var all []*Line
	seen := map[string]bool{}
	for _, c := range isa.Chapters() {
		if slices.Contains(skippedChapters, c.Name) {
			continue
		}
		for _, f := range c.Forms {
			if _, skip := skipped[f.Op]; skip || f.SM > targetSM || f.Arch != "" || f.PTX > isa.V(9, 0) {
				continue
			}
			n := limit
			if c.Name == "convert" {
				n = 8 * limit // two types and a rounding mode, all of which matter together
			}
			for _, mods := range spell.Pairwise(f, n) {
				text := spell.Line(f, mods, false, -1)
				if seen[text] || skips(text) {
					continue
				}
				seen[text] = true
				if l := newLine(recording, c.Name, text); l != nil {
					all = append(all, l)
				}
			}
		}
	}
	return all
}

// Recorded are the lines of a record, in its order. They are read from it, not derived anew: a row of the table that is
// written otherwise tomorrow must not lose what a card once said.
func Recorded(record []Answer) ([]*Line, error) {
	var all []*Line
	for _, r := range record {
		if skips(r.Text) {
			continue
		}
		l := newLine(recording, r.Chapter, r.Text)
		if l == nil || l.Text != r.Text || Lanes*l.OutBytes() != len(r.Bytes) {
			return nil, fmt.Errorf("%s: the record has a line that cannot be run", r.Text)
		}
		all = append(all, l)
	}
	return all, nil
}

// newLine reads the registers of a line off its syntax tree; nil if the line is not one that can be run alone.
func newLine(p spell.Profile, chapter, text string) *Line {
	const addresses = ".reg .b64 aglobal, ashared, alocal;\n" // for a text that was a Line's already
	src := spell.Prologue(p) + addresses + text + "\n" + spell.Epilogue
	m, err := ptx.ParseModule(src)
	if err != nil || len(m.Funcs) != 1 || m.Funcs[0].Body == nil {
		return nil
	}
	body := m.Funcs[0].Body
	if len(body.Insts) != 2 || check.Module(m) != nil { // the line and ret
		return nil
	}
	in := &body.Insts[0]
	l := &Line{Chapter: chapter, Text: text, Form: in.Form, Mods: in.Mods, profile: p}
	ok := true
	for i := range in.Args {
		o := &in.Form.Operands()[i]
		ok = ok && l.collect(body, &in.Args[i], o, in.Form.OperandType(i, in.Mods, 64))
	}
	l.carries()
	if !ok || !slices.ContainsFunc(l.regs, func(r reg) bool { return r.dest }) && !l.memory {
		return nil
	}
	return l
}

// carries puts instructions around a line that uses the carry flag: half the lanes come in with it set.
func (l *Line) carries() {
	sum, difference := "add", "sub"
	op := sum
	switch l.Form.Op {
	case isa.Subc:
		op = difference
		l.before = "sub.cc.u32 %cy, %i, 32;"
	case isa.Addc, isa.Madc:
		l.before = "add.cc.u32 %cy, %i, 0xffffffe0;"
	case isa.Sub:
		op = difference
	}
	if slices.Contains(l.Mods, isa.ModCc) {
		l.after = op + "c.u32 %cy, 0, 0;"
	}
}

// collect takes an operand's registers; false for shapes that cannot be run (symbols, labels, foreign spaces).
func (l *Line) collect(body *ptx.Body, a *ptx.Operand, o *isa.Operand, t isa.Type) bool {
	switch a.Kind {
	case ptx.None, ptx.OpImm, ptx.OpSink:
		return true
	case ptx.OpReg:
		r := &body.Regs[a.Reg]
		name := r.Name
		if r.Num >= 0 {
			name = fmt.Sprintf("%s%d", r.Name, r.Num)
		}
		i := slices.IndexFunc(families, func(f family) bool { return f.prefix == r.Name })
		if i < 0 {
			return false
		}
		if r.Type == isa.Pred {
			t = isa.Pred
		}
		if k := slices.IndexFunc(l.regs, func(r reg) bool { return r.name == name }); k >= 0 {
			l.regs[k].dest = l.regs[k].dest || o.Dest
			return true
		}
		l.regs = append(l.regs, reg{name, families[i], t, o.Dest, o.Name})
		return true
	case ptx.OpVec, ptx.OpPair:
		for i := range a.Elems {
			if !l.collect(body, &a.Elems[i], o, t) {
				return false
			}
		}
		return true
	case ptx.OpAddr:
		return l.address(a)
	}
	return false
}

// address points the line's address operand at the lane's own piece of the right memory.
func (l *Line) address(a *ptx.Operand) bool {
	space := word(l.Form, l.Mods, "space")
	to := ""
	switch space {
	case 0, isa.ModGlobal:
		to = "aglobal"
	case isa.ModShared, isa.ModSharedCta:
		to = "ashared"
	case isa.ModLocal:
		to = "alocal"
	case isa.ModParam, isa.ModParamEntry:
		return l.Form.Op == isa.Ld
	default:
		return false
	}
	if l.Form.Op == isa.Ldmatrix || l.Form.Op == isa.Stmatrix {
		to = "ashared"
	}
	open, end := strings.IndexByte(l.Text, '['), strings.IndexByte(l.Text, ']')
	if open < 0 || end < 0 || strings.Count(l.Text, "[") != 1 || l.memory {
		return false
	}
	l.Text = l.Text[:open+1] + to + l.Text[end:]
	l.memory = true
	return true
}

func word(f *isa.Form, mods []isa.Mod, slot string) isa.Mod {
	if i := f.Slot(slot); i >= 0 && i < len(mods) {
		return mods[i]
	}
	return 0
}

// InBytes and OutBytes are the bytes a lane reads and writes.
func (l *Line) InBytes() int { return 16*len(l.regs) + l.memoryBytes() }

// OutBytes is what one lane leaves: each destination in 8 bytes (a 128-bit one in 16), then its memory.
func (l *Line) OutBytes() int {
	n := 0
	for _, r := range l.regs {
		if r.dest {
			n += outBytes(r)
		}
	}
	if l.after != "" {
		n += 8
	}
	return n + l.memoryBytes()
}

func outBytes(r reg) int {
	if r.fam.bytes == 16 {
		return 16
	}
	return 8
}

func (l *Line) memoryBytes() int {
	if l.memory {
		return slotBytes
	}
	return 0
}

// Header begins a module of Kernels.
func Header() string { return header(recording) }

func header(p spell.Profile) string {
	return fmt.Sprintf(".version %s\n.target %s\n.address_size 64\n", p.Version, p.Target)
}

// Kernel writes the kernel that runs the line: (out, in, 64 bytes of parameters).
func (l *Line) Kernel(name string) string { return Batch(name, []*Line{l}) }

// Batch writes a kernel that runs several lines one after the other, each on its part of the input and the output.
func Batch(name string, lines []*Line) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".visible .entry %s(.param .u64 out, .param .u64 in, .param .align 16 .b8 kp[%d])\n{\n", name, slotBytes)
	in, out := 0, 0
	for _, l := range lines {
		b.WriteString("\t{\n") // a scope: the next line may use the same names
		l.body(&b, in, out)
		b.WriteString("\t}\n")
		in += Lanes * l.InBytes()
		out += Lanes * l.OutBytes()
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

// body is the line with its loads and stores, its part of the input and the output beginning at in and out.
func (l *Line) body(b *strings.Builder, in, out int) {
	p := func(format string, args ...any) { fmt.Fprintf(b, "\t"+format+"\n", args...) }
	p(".reg .b32 %%i, %%cy, %%w<%d>;\n\t.reg .b64 %%in, %%out, aglobal, ashared, ageneric, alocal, %%m<9>;\n\t.reg .pred %%z;", len(l.regs)+1)
	for _, r := range l.regs {
		p(".reg %s %s;", r.fam.decl, r.name)
	}
	if l.memory {
		p(".shared .align 128 .b8 piece[%d];\n\t.local .align 64 .b8 own[%d];", Lanes*slotBytes, slotBytes)
	}
	p("mov.u32 %%i, %%tid.x;\n\tld.param.u64 %%in, [in];\n\tld.param.u64 %%out, [out];")
	p("add.u64 %%in, %%in, %d;\n\tadd.u64 %%out, %%out, %d;", in, out)
	p("mad.wide.u32 %%in, %%i, %d, %%in;\n\tmad.wide.u32 %%out, %%i, %d, %%out;", l.InBytes(), l.OutBytes())
	off := 0
	for i, r := range l.regs {
		if r.fam.decl == ".pred" {
			p("ld.global.u32 %%w%d, [%%in+%d];\n\tsetp.ne.u32 %s, %%w%d, 0;", i, off, r.name, i)
		} else {
			p("ld.global.%s %s, [%%in+%d];", r.fam.ld, r.name, off)
		}
		off += 16
	}
	if l.memory {
		l.fillMemory(p, off)
	}
	if l.before != "" {
		p("%s", l.before)
	}
	p("%s", l.instruction())
	if l.after != "" {
		p("%s", l.after)
	}
	l.results(p)
}

// instruction is the line as the kernel has it. Without a space in its spelling it takes a generic address, which that of a
// shared variable is not.
func (l *Line) instruction() string {
	if l.genericShared() {
		return strings.Replace(l.Text, "[ashared]", "[ageneric]", 1)
	}
	return l.Text
}

func (l *Line) genericShared() bool {
	_, space := l.place()
	return space == "shared" && word(l.Form, l.Mods, "space") == 0
}

// results stores the destinations, the carry flag and the lane's memory.
func (l *Line) results(p func(string, ...any)) {
	off := 0
	for i, r := range l.regs {
		if !r.dest {
			continue
		}
		if r.fam.decl == ".pred" {
			p("selp.u32 %%w%d, 1, 0, %s;\n\tst.global.u32 [%%out+%d], %%w%d;", i, r.name, off, i)
		} else {
			p("st.global.%s [%%out+%d], %s;", r.fam.ld, off, r.name)
		}
		off += outBytes(r)
	}
	if l.after != "" {
		p("st.global.u32 [%%out+%d], %%cy;", off)
		off += 8
	}
	if l.memory {
		l.showMemory(p, off)
	}
}

// place is the lane's piece and the space it is written and read through.
func (l *Line) place() (reg, space string) {
	switch {
	case strings.Contains(l.Text, "[ashared"):
		return "ashared", "shared"
	case strings.Contains(l.Text, "[alocal"):
		return "alocal", "local"
	}
	return "aglobal", "global"
}

func (l *Line) fillMemory(p func(string, ...any), off int) {
	// The lane's piece of global memory is the end of its input.
	p("add.u64 aglobal, %%in, %d;", off)
	p("mov.u64 ashared, piece;\n\tmad.wide.u32 ashared, %%i, %d, ashared;\n\tmov.u64 alocal, own;", slotBytes)
	if l.genericShared() {
		p("cvta.shared.u64 ageneric, ashared;")
	}
	to, space := l.place()
	if space == "global" {
		return
	}
	for k := range slotBytes / 8 {
		p("ld.global.b64 %%m%d, [%%in+%d];\n\tst.%s.b64 [%s+%d], %%m%d;", k, off+8*k, space, to, 8*k, k)
	}
	p("bar.sync 0;")
}

func (l *Line) showMemory(p func(string, ...any), off int) {
	from, space := l.place()
	if space == "shared" {
		p("bar.sync 0;")
	}
	for k := range slotBytes / 8 {
		p("ld.%s.b64 %%m%d, [%s+%d];\n\tst.global.b64 [%%out+%d], %%m%d;", space, k, from, 8*k, off+8*k, k)
	}
}

// seed makes a line's inputs its own.
func (l *Line) seed() uint64 {
	h := fnv.New64a()
	h.Write([]byte(l.Text))
	return h.Sum64()
}

// Register is a register that a line names.
type Register struct {
	Name, Prefix string
	Dest         bool
}

// Plain gives the registers of a line that is an operation on registers and nothing else: no memory, no carry flag.
func (l *Line) Plain() ([]Register, bool) {
	if l.memory || l.before != "" || l.after != "" {
		return nil, false
	}
	var all []Register
	for _, r := range l.regs {
		all = append(all, Register{r.name, r.fam.prefix, r.dest})
	}
	return all, true
}
