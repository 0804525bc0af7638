package progen

import (
	"fmt"
	"math/rand/v2"
)

// maker builds a program.
type maker struct {
	*rand.Rand
	catalog   *Catalog
	prog      *Program
	fuel      int // statements left
	whole     bool
	functions int // how many the program has
	calls     int // in the function being made
	calm      bool
	tags      int  // labels of statements so far
	deep      bool // choices and loops in each other, a dozen levels
}

// where is what may be written at a place.
type where struct {
	uniform  bool // all threads of the block are here
	function bool
	loops    int
	inLoop   bool // divergent loop around: it may be left
	depth    int
}

// shapes are the blocks: whole warps, warps of several rows, and warps with lanes that no thread has.
var shapes = [][3]uint32{
	{32, 1, 1}, {64, 1, 1}, {96, 1, 1}, {128, 1, 1}, {16, 4, 1}, {8, 4, 2}, {16, 2, 1}, {256, 1, 1},
	{33, 1, 1}, {7, 5, 1}, {1, 1, 1}, {16, 1, 1}, {16, 3, 1}, {8, 3, 1}, {5, 9, 1}, {5, 2, 3}, {40, 1, 1}, {20, 3, 1}, {100, 1, 1},
}

// New makes the program of a seed.
func New(c *Catalog, seed uint64) *Program {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 42)), catalog: c, prog: &Program{Seed: seed}}
	m.prog.Block = shapes[m.IntN(len(shapes))]
	m.prog.Grid = [3]uint32{uint32(1 + m.IntN(3)), 1, 1}
	if m.IntN(4) == 0 { // a worker runs several blocks, and rows of them
		m.prog.Grid = [3]uint32{uint32(2 + m.IntN(6)), uint32(1 + m.IntN(2)), 1}
	}
	m.prog.Uniform = m.Uint32() % 16
	m.whole = m.prog.blockThreads()%32 == 0
	if seed%3 == 0 {
		m.regularly()
		return m.prog
	}
	if m.IntN(16) == 0 {
		m.prog.Block, m.prog.Grid = [3]uint32{uint32(32 * (1 + m.IntN(4))), 1, 1}, [3]uint32{uint32(1 + m.IntN(3)), 1, 1}
		m.walking()
		return m.prog
	}
	if m.calm = m.IntN(8) == 0; m.calm {
		m.calmly()
		return m.prog
	}
	m.deep = m.IntN(10) == 0
	m.functions = m.IntN(4)
	for range m.functions {
		m.fuel, m.calls = 6, 0
		m.prog.functions = append(m.prog.functions, &function{m.list(where{function: true}, 3)})
	}
	m.fuel = 4 + m.IntN(24)
	for m.fuel > 0 {
		m.prog.body = append(m.prog.body, m.list(where{uniform: true}, 6)...)
	}
	if m.IntN(4) == 0 {
		m.prog.leave = m.guard()
	}
	return m.prog
}

func (m *maker) list(at where, upTo int) []*node {
	var out []*node
	for range 1 + m.IntN(upTo) {
		if m.fuel <= 0 {
			break
		}
		m.fuel--
		out = append(out, m.statement(at))
	}
	return out
}

// statement picks among what is allowed at a place.
func (m *maker) statement(at where) *node {
	if m.calm {
		return m.calmStatement(at)
	}
	n := m.IntN(100)
	deep := at.depth >= 4
	if m.deep && !at.function {
		if deep = at.depth >= 12; !deep && at.depth >= 1 { // straight down
			n = []int{46, 46, 56, 63, 66, n}[m.IntN(6)]
		}
	}
	switch {
	case n < 36:
		return m.plain()
	case n < 38:
		return m.vectorOrTable(at)
	case n < 45:
		return m.constant()
	case n < 55 && !deep:
		return m.choice(at)
	case n < 63 && (at.loops < 3 || m.deep && at.loops < maxLoops) && !deep:
		return m.loop(at)
	case n < 65 && !deep:
		return m.jump(at)
	case n < 67 && at.loops < 3 && !deep:
		return m.tangle(at)
	case n < 70 && at.inLoop:
		return &node{kind: escape, pred: m.guard(), again: m.IntN(2) == 0}
	case n < 73:
		return m.memory(at)
	case n < 74:
		return m.vectorOrTable(at)
	case n < 76 && !at.function:
		return m.again()
	case n < 78 && !at.function:
		return m.table(at)
	case n < 79 && !at.function:
		return m.atomic()
	case n < 80 && !at.function:
		return m.strideTable()
	case n < 84 && m.functions > 0 && (!at.function || at.loops == 0 && m.calls < 2):
		return m.call(at)
	case n < 86:
		return m.carry()
	case n < 87:
		return m.special(at)
	case n < 88 && !deep:
		return m.deadEnd(at)
	case n < 92 && at.uniform:
		return m.warp()
	case n < 94 && at.uniform && m.prog.blockThreads() <= 128:
		return m.network()
	case n < 95 && at.uniform && m.prog.blockThreads() >= 32:
		return m.histogram()
	case n < 97 && at.uniform:
		return m.exchange()
	case n < 99 && at.uniform && m.whole && m.prog.blockThreads() >= 64:
		if m.IntN(3) == 0 && m.prog.blockThreads()%64 == 0 {
			return m.handOver()
		}
		return m.byWarps()
	case at.uniform:
		return m.barrier()
	}
	return m.plain()
}

func (m *maker) reg(prefix string) string { return name(prefix, m.IntN(pool(prefix))) }

// guard is a predicate or its opposite.
func (m *maker) guard() string {
	s := m.reg("p")
	if m.IntN(2) == 0 {
		s = "!" + s
	}
	return s
}

func lines(l ...string) *node { return &node{lines: l} }

// plain is an operation of the table, now and then guarded.
func (m *maker) plain() *node {
	e := &m.catalog.entries[m.IntN(m.catalog.Len())]
	s := e.fill(m.IntN)
	if m.IntN(6) == 0 {
		s = "@" + m.guard() + " " + s
	}
	return lines(s)
}

// constant is an operation with a constant operand, of the kind compilers emit most.
func (m *maker) constant() *node {
	r, s, p := m.reg("r"), m.reg("r"), m.reg("p")
	k := []int64{0, 1, 2, 3, 4, 7, 8, 31, 32, 33, 64, 255, 256, 1000, -1, -2, 0x7fffffff, -0x80000000}[m.IntN(18)]
	cmp := []string{"eq", "ne", "lt", "le", "gt", "ge"}[m.IntN(6)]
	f := []string{"0f00000000", "0f80000000", "0f3F800000", "0f7F800000", "0f00000001", "0fC0490FDB", "0f7FC00000", "0f4B000001"}[m.IntN(8)]
	switch m.IntN(12) {
	case 0:
		return lines(fmt.Sprintf("add.s32 %s, %s, %d;", r, s, k))
	case 1:
		return lines(fmt.Sprintf("mul.lo.s32 %s, %s, %d;", r, s, k))
	case 2:
		return lines(fmt.Sprintf("and.b32 %s, %s, %d;", r, s, k))
	case 3:
		return lines(fmt.Sprintf("shl.b32 %s, %s, %d;", r, s, k&63))
	case 4:
		return lines(fmt.Sprintf("shr.%s %s, %s, %d;", []string{"s32", "u32"}[m.IntN(2)], r, s, k&63))
	case 5:
		return lines(fmt.Sprintf("setp.%s.%s %s, %s, %d;", cmp, []string{"s32", "u32"}[m.IntN(2)], p, s, k))
	case 6:
		return lines(fmt.Sprintf("setp.%s.f32 %s, %s, %s;", cmp, p, m.reg("f"), f))
	case 7:
		return lines(fmt.Sprintf("fma.rn.f32 %s, %s, %s, %s;", m.reg("f"), m.reg("f"), f, m.reg("f")))
	case 8:
		return lines(fmt.Sprintf("div.%s %s, %s, %d;", []string{"s32", "u32"}[m.IntN(2)], r, s, max(k, -7)|1))
	case 9:
		return lines(fmt.Sprintf("rem.%s %s, %s, %d;", []string{"s32", "u32"}[m.IntN(2)], r, s, max(k, -7)|1))
	case 10:
		return lines(fmt.Sprintf("mad.wide.u32 %s, %s, %d, %s;", m.reg("d"), s, k&0xff, m.reg("d")))
	default:
		return lines(fmt.Sprintf("mov.u32 %s, %d;", r, k))
	}
}

// choice is an if; where all threads are together it may be one that they all decide alike.
func (m *maker) choice(at where) *node {
	in := at
	in.depth++
	n := &node{kind: choice, pred: m.guard()}
	if at.uniform && m.IntN(3) == 0 {
		n.pred = "sp"
		n.lines = []string{fmt.Sprintf("setp.lt.u32 sp, uni, %d;", m.IntN(16))}
		if m.IntN(2) == 0 && !at.function {
			n.lines = []string{"mov.u32 w1, %ctaid.x;", "setp.eq.u32 sp, w1, 0;"}
		}
	} else {
		in.uniform = false
	}
	n.a = m.list(in, 4)
	if m.IntN(2) == 0 {
		n.b = m.list(in, 4)
	}
	return n
}

// maxLoops is how many loops may be in each other: lc0 … lc7 count, and recursion has none.
const maxLoops = 6

// loop runs up to eight times, one inside another less: the interpreter has to live with the product.
func (m *maker) loop(at where) *node {
	in := at
	in.depth++
	in.loops++
	n := &node{kind: loop, until: m.IntN(3) == 0}
	switch {
	case at.uniform && m.IntN(3) == 0:
		n.lines = []string{fmt.Sprintf("and.b32 lc, uni, %d;", 7>>at.loops)}
		in.inLoop = false
	case m.IntN(4) == 0:
		n.lines = []string{fmt.Sprintf("mov.u32 lc, %d;", m.IntN(6)>>at.loops)}
		in.inLoop = !at.uniform
	default:
		n.lines = []string{fmt.Sprintf("and.b32 lc, %s, %d;", m.reg("r"), 7>>at.loops)}
		in.uniform, in.inLoop = false, true
	}
	n.a = m.list(in, 4)
	return n
}

// jump is a switch on a value.
func (m *maker) jump(at where) *node {
	in := at
	in.depth++
	in.uniform = false
	ways := 2 + m.IntN(3)
	n := &node{kind: jump, lines: []string{fmt.Sprintf("rem.u32 sw, %s, %d;", m.reg("r"), ways)}}
	for range ways {
		n.parts = append(n.parts, m.list(in, 3))
	}
	return n
}

// carry is a sum, a difference or a product over several words: one instruction hands its carry to the next, with others between that
// leave it alone.
func (m *maker) carry() *node {
	sub := m.IntN(4) // of 3 all, of 2 some
	var out []string
	add := func(first, more bool) {
		typ, prefix := []string{"u32", "s32"}[m.IntN(2)], "r"
		if m.IntN(3) == 0 {
			typ, prefix = []string{"u64", "s64"}[m.IntN(2)], "d"
		}
		op := "add"
		switch {
		case sub == 3 || sub == 2 && m.IntN(2) == 0:
			op = "sub"
		case m.IntN(3) == 0:
			op = "mad"
		}
		head := op
		if !first {
			head += "c"
		}
		if op == "mad" {
			head += []string{".lo", ".hi"}[m.IntN(2)]
		}
		if more {
			head += ".cc"
		}
		s := fmt.Sprintf("%s.%s %s, %s, %s", head, typ, m.reg(prefix), m.reg(prefix), m.reg(prefix))
		if op == "mad" {
			s += ", " + m.reg(prefix)
		}
		out = append(out, s+";")
		if m.IntN(4) == 0 {
			out = append(out, m.constant().lines...)
		}
	}
	add(true, true)
	for range m.IntN(5) {
		add(false, true)
	}
	add(false, false)
	return lines(out...)
}

// deadEnd is a way that no thread takes and that ends there, though nothing says so: with a trap, or with one on each side of a branch.
func (m *maker) deadEnd(at where) *node {
	in := at
	in.depth, in.uniform = in.depth+1, false
	n := &node{kind: choice, lines: []string{"setp.gt.u32 sp, uni, 99;"}, pred: "!sp"}
	if m.IntN(2) == 0 { // as far as one can see, some lanes
		n.lines = []string{fmt.Sprintf("and.b32 w1, %s, 255;\n\tsetp.gt.u32 sp, w1, 255;", m.reg("r"))}
	}
	trap := func() []*node { return append(m.list(in, 2), lines("trap;")) }
	if m.IntN(2) == 0 {
		n.a = trap()
		return n
	}
	in.depth++
	half := &node{kind: choice, pred: m.guard(), a: trap(), b: trap()}
	n.a = append(m.list(in, 1), half)
	return n
}

// special reads a special register that does not depend on time or place.
func (m *maker) special(at where) *node {
	regs := []string{"%tid.x", "%tid.y", "%ntid.x", "%ctaid.x", "%nctaid.x", "%laneid", "%lanemask_lt", "%lanemask_ge", "%lanemask_eq"}
	return lines(fmt.Sprintf("mov.u32 %s, %s;", m.reg("r"), regs[m.IntN(len(regs))]))
}

// call calls a function, by name or through a table; a function only if it may still go deeper.
func (m *maker) call(at where) *node {
	level := fmt.Sprintf("and.b32 w1, %s, 3;", m.reg("r"))
	if at.function {
		m.calls++
		level = "sub.u32 w1, lvl, 1;"
	}
	out := []string{level, "{", "\t.param .b32 a0, a1, a2, q0;", fmt.Sprintf("\tst.param.b32 [a0], %s;", m.reg("r")), fmt.Sprintf("\tst.param.b32 [a1], %s;", m.reg("r")), "\tst.param.b32 [a2], w1;"}
	if m.IntN(3) == 0 {
		out = append(out, fmt.Sprintf("\trem.u32 w2, %s, %d;", m.reg("r"), m.functions), "\tmov.u64 w3, pointers;", "\tmad.wide.u32 w3, w2, 8, w3;", "\tld.global.u64 w3, [w3];",
			"\tproto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _, .param .b32 _);", "\tcall (q0), w3, (a0, a1, a2), proto;")
	} else {
		out = append(out, fmt.Sprintf("\tcall (q0), call%d, (a0, a1, a2);", m.IntN(m.functions)))
	}
	c := lines(append(out, fmt.Sprintf("\tld.param.b32 %s, [q0];", m.reg("r")), "}")...)
	if !at.function {
		return c
	}
	return &node{kind: choice, lines: []string{"setp.eq.u32 sp, lvl, 0;"}, pred: "sp", a: []*node{c}}
}

// tangle is a loop with two entries.
func (m *maker) tangle(at where) *node {
	in := at
	in.depth++
	in.loops++
	in.uniform, in.inLoop = false, true
	return &node{kind: tangle, lines: []string{fmt.Sprintf("and.b32 lc, %s, %d;", m.reg("r"), 7>>at.loops)}, pred: m.guard(), a: m.list(in, 3), b: m.list(in, 3)}
}
