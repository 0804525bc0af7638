package baseline

import "kudzu/internal/baseline/x86"

// scalarRegs are the general registers that hold values of a block; no template uses them for anything else.
var scalarRegs = [...]x86.Reg{x86.R9, x86.R10, x86.R12, x86.R13, x86.R14, x86.R15}

// keptRegs are those of them that a C function gives back as they were.
var keptRegs = [...]x86.Reg{x86.R12, x86.R13, x86.R14, x86.R15}

// scalars says what general registers hold: a value of at most 8 bytes each, zeros above it. Slots are written as late as
// those of vectors.
type scalars struct {
	in    [len(scalarRegs)]int32 // a value; -1: nothing
	dirty [len(scalarRegs)]bool
	used  [len(scalarRegs)]uint32 // when it was last read or written
	tick  uint32
	off   bool // in code that may be jumped over nothing is kept in registers
}

func (s *scalars) reset() {
	for i := range s.in {
		s.in[i] = -1
	}
	s.dirty = [len(scalarRegs)]bool{}
}

func (s *scalars) touch(i int) {
	s.tick++
	s.used[i] = s.tick
}

// isWord reports values that a general register holds as memory does.
func isWord(bytes int) bool { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 }

// scalarOf is the register that has an operand.
func (g *gen) scalarOf(o operand) (x86.Reg, bool) {
	if o.isConst() {
		return 0, false
	}
	p := g.fr.places[o.val]
	if p.base < 0 || p.off != 0 || g.size(o.t) > g.size(g.f.types[p.base]) {
		return 0, false
	}
	for i, v := range g.nums.in {
		if v == p.base {
			g.nums.touch(i)
			return scalarRegs[i], true
		}
	}
	return 0, false
}

// freshScalar is a register to write: the one that was used longest ago.
func (g *gen) freshScalar() int {
	s, oldest := &g.nums, 0
	for i := range s.in {
		if s.used[i] < s.used[oldest] {
			oldest = i
		}
	}
	g.spillScalar(oldest)
	s.in[oldest] = -1
	s.touch(oldest)
	return oldest
}

// spillScalar writes a register to its slot if that is behind it and may still be read.
func (g *gen) spillScalar(i int) {
	s := &g.nums
	if !s.dirty[i] {
		return
	}
	s.dirty[i] = false
	if v := s.in[i]; !g.isDead(v) {
		g.Store(g.size(g.f.types[v]), g.slot(v), scalarRegs[i])
	}
}

// isDead reports a value that nothing reads from here on.
func (g *gen) isDead(v int32) bool { return !g.fr.beyond[v] && g.fr.live[v].to < g.now }

// load is a scalar in a general register, zeros above it.
func (g *gen) load(r x86.Reg, o operand) {
	if v, ok := g.constantOf(o); ok {
		g.MovImm(r, v)
		return
	}
	n := g.size(o.t)
	if n > 8 {
		fail("a number of %d bytes", n)
	}
	if g.fr.addr.folded[o.val] {
		g.Lea(r, g.pointerIn(r, o))
		return
	}
	if c, ok := g.scalarOf(o); ok {
		g.ZeroExtend(n, r, x86.R(c))
		return
	}
	g.Load(n, r, g.mem(o))
	if p := g.fr.places[o.val]; p.off == 0 && p.base >= 0 && g.size(g.f.types[p.base]) == n && g.fr.live[p.base].to > g.now {
		g.keep(p.base, n, r)
	}
}

// keep has a copy of r, which is a value, in a register of its own.
func (g *gen) keep(v int32, n int, r x86.Reg) bool {
	if g.nums.off || !isWord(n) {
		return false
	}
	i := g.freshScalar()
	g.ZeroExtend(n, scalarRegs[i], x86.R(r))
	g.nums.in[i] = v
	return true
}

// store makes a general register the result.
func (g *gen) store(v int32, r x86.Reg) {
	n := g.size(g.f.types[v])
	if n > 8 {
		fail("a number of %d bytes", n)
	}
	if g.keep(v, n, r) {
		for i, in := range g.nums.in {
			g.nums.dirty[i] = g.nums.dirty[i] || in == v
		}
		return
	}
	g.Store(n, g.slot(v), r)
}

// loadSigned is a scalar in a register, its sign above it.
func (g *gen) loadSigned(r x86.Reg, o operand, t typ) {
	size := container(int(t.bits))
	if _, known := g.constantOf(o); !known && int(t.bits) == size*8 {
		g.SignExtend(size, r, g.scalar(o))
		return
	}
	g.load(r, o)
	if t.bits < 64 {
		g.ShiftImm(x86.SHL, 8, x86.R(r), uint8(64-t.bits))
		g.ShiftImm(x86.SAR, 8, x86.R(r), uint8(64-t.bits))
	}
}

// scalar is an operand where it is: in a register or in memory.
func (g *gen) scalar(o operand) x86.RM {
	if c, ok := g.scalarOf(o); ok {
		return x86.R(c)
	}
	return x86.M(g.mem(o))
}

// isTrue sets the flags to "not equal" where a condition holds.
func (g *gen) isTrue(o operand) {
	g.AluImm(x86.CMP, 1, g.scalar(o), 0)
}

// condition makes a condition of the flags the result.
func (g *gen) condition(v int32, c x86.Cond) {
	g.Setcc(c, x86.R(x86.RAX))
	g.store(v, x86.RAX)
}

// number is an operand of 4 or 8 bytes in a register that keeps it, or in one that nothing else is in.
func (g *gen) number(o operand) x86.Reg {
	if c, ok := g.scalarOf(o); ok {
		return c
	}
	i := g.freshScalar()
	if p := g.fr.places[o.val]; !g.nums.off && p.base >= 0 && p.off == 0 && g.size(g.f.types[p.base]) == g.size(o.t) && !g.fr.addr.folded[o.val] {
		g.Load(g.size(o.t), scalarRegs[i], g.mem(o))
		g.nums.in[i] = p.base
	} else {
		g.load(scalarRegs[i], o)
	}
	return scalarRegs[i]
}

// result is the register that a number of n bytes is to be computed in; false where none may be kept.
func (g *gen) result(v int32, n int) (x86.Reg, bool) {
	if g.nums.off || g.size(g.f.types[v]) != n {
		return 0, false
	}
	i := g.freshScalar()
	g.nums.in[i], g.nums.dirty[i] = v, true
	return scalarRegs[i], true
}

// inPlace computes a number of 32 or 64 bits in its register; false: not this operation.
func (g *gen) inPlace(in *inst, t typ, size int) bool {
	a, b := in.args[0], in.args[1]
	op, simple := alus[in.op]
	if !simple && in.op != "mul" || t.bits != 32 && t.bits != 64 || a.isConst() || g.nums.off || g.fr.places[a.val].base < 0 {
		return false
	}
	v, known := g.constantOf(b)
	if size == 4 {
		v = uint64(int64(int32(v)))
	}
	if known && (!simple || v != uint64(int64(int32(v)))) {
		return false
	}
	x := g.number(a)
	var y x86.RM
	if !known {
		y = g.scalar(b)
	}
	d, ok := g.result(in.res, size)
	switch {
	case !ok:
		return false
	case known && in.op == "add" && size == 4:
		g.Lea4(d, x86.At(x, int32(v)))
	case known && in.op == "add":
		g.Lea(d, x86.At(x, int32(v)))
	case known:
		g.Mov(size, d, x)
		g.AluImm(op, size, x86.R(d), int32(v))
	case simple:
		g.Mov(size, d, x)
		g.Alu(op, size, d, y)
	default:
		g.Mov(size, d, x)
		g.Imul(size, d, y)
	}
	return true
}
