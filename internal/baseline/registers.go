package baseline

import "kudzu/internal/baseline/x86"

// cache says what vector registers hold: bytes of a value from an offset on, as far as a register reaches. It is good for
// one block. A result is written to its slot when its register is wanted for something else, when something reads the slot,
// or at the end of the block; never if nothing reads it any more.
type cache struct {
	at    map[held]x86.Reg
	in    [32]held
	dirty [32]bool // the slot is still to be written
	next  int
}

type held struct {
	base, con, off int32 // a place
	l              x86.Width
	set            bool
}

// vectorRegs is how many registers there are to go round.
func (g *gen) vectorRegs() int {
	if g.target.AVX512 {
		return 32
	}
	return 16
}

// widest is the widest register.
func (g *gen) widest() x86.Width {
	if g.target.AVX512 {
		return 2
	}
	return 1
}

// forget says that registers hold nothing known. What slots still lack is written first.
func (g *gen) forget() {
	g.flush()
	g.reset()
}

// reset says that registers hold nothing: at the start of a block.
func (g *gen) reset() {
	g.regs.dirty = [32]bool{}
	clear(g.regs.at)
	if g.regs.at == nil {
		g.regs.at = map[held]x86.Reg{}
	}
	for i := range g.regs.in {
		g.regs.in[i].set = false
	}
	g.flags.valid = false
}

// flush writes the slots that are behind their registers.
func (g *gen) flush() {
	for r := range g.regs.dirty {
		if g.regs.dirty[r] {
			g.spill(x86.Reg(r))
		}
	}
}

// sync writes the slot of a value.
func (g *gen) sync(v int32) {
	for r, d := range g.regs.dirty {
		if d && g.regs.in[r].base == v {
			g.spill(x86.Reg(r))
		}
	}
}

// spill writes a register to the slot that it is the newer copy of, if anything may still read that.
func (g *gen) spill(r x86.Reg) {
	g.regs.dirty[r] = false
	k := g.regs.in[r]
	if !g.fr.beyond[k.base] && g.fr.live[k.base].to < g.now {
		return
	}
	g.V(x86.VMOVDQUStore, k.l, r, 0, x86.M(x86.At(framePtr, g.fr.slots[k.base]+k.off)))
}

// fresh is a register to write: the one that was given out longest ago.
func (g *gen) fresh() x86.Reg {
	c := &g.regs
	r := c.next
	c.next = (c.next + 1) % g.vectorRegs()
	if c.in[r].set {
		if c.dirty[r] {
			g.spill(x86.Reg(r))
		}
		delete(c.at, c.in[r])
		c.in[r].set = false
	}
	return x86.Reg(r)
}

// soon is how many registers one instruction may need: one that is given out again so soon is not read from. Without
// AVX-512 there are fewer to spare, and none needs as many.
func (g *gen) soon() int {
	if g.target.AVX512 {
		return 12
	}
	return 8
}

func (g *gen) key(o operand, off int, l x86.Width) held {
	if o.isConst() {
		return held{-1, o.con, int32(off), l, true}
	}
	p := g.fr.places[o.val]
	return held{p.base, p.con, p.off + int32(off), l, true}
}

// rm is the operand's bytes from off on, in a register if one has them.
func (g *gen) rm(o operand, off int, l x86.Width) x86.RM {
	if r, ok := g.regs.at[g.key(o, off, l)]; ok {
		n := g.vectorRegs()
		if (int(r)-g.regs.next+n)%n >= g.soon() {
			return x86.R(r)
		}
	}
	return x86.M(g.mem(o).Plus(int32(off)))
}

// reg is the operand's bytes in a register.
func (g *gen) reg(o operand, off int, l x86.Width) x86.Reg {
	rm := g.rm(o, off, l)
	if rm.IsReg {
		return rm.Reg
	}
	r := g.fresh()
	g.V(x86.VMOVDQU, l, r, 0, rm)
	g.remember(r, g.key(o, off, l))
	return r
}

func (g *gen) remember(r x86.Reg, k held) {
	c := &g.regs
	if old, ok := c.at[k]; ok && old != r {
		c.in[old].set = false
	}
	if c.in[r].set && c.in[r] != k {
		if c.dirty[r] {
			g.spill(r)
		}
		delete(c.at, c.in[r])
	}
	c.at[k], c.in[r] = r, k
}

// put writes a register to the result's bytes from off on; n bytes count, of a slot that has room for all of it.
func (g *gen) put(v int32, off int, l x86.Width, r x86.Reg, n int) {
	g.remember(r, g.key(operand{val: v}, off, l))
	if n >= 16 || g.size(g.f.types[v]) > 8 {
		g.regs.dirty[r] = true
		return
	}
	g.storeLow(g.slot(v).Plus(int32(off)), r, n)
}

// storeLow writes the low bytes of a vector register.
func (g *gen) storeLow(m x86.Mem, r x86.Reg, n int) {
	switch n {
	case 8:
		g.V(x86.VMOVQStore, 0, r, 0, x86.M(m))
	case 4:
		g.V(x86.VMOVDStore, 0, r, 0, x86.M(m))
	default:
		g.V(x86.VMOVDStore, 0, r, 0, x86.R(x86.RAX))
		g.Store(n, m, x86.RAX)
	}
}

// pieces calls f for each register's worth of a value of n bytes: its offset, the register's width, and the bytes that
// count.
func (g *gen) pieces(n int, f func(off int, l x86.Width, n int)) {
	w := g.widest()
	for off := 0; off < n; off += w.Bytes() {
		left := min(n-off, w.Bytes())
		l := w
		for l > 0 && left <= (l-1).Bytes() {
			l--
		}
		f(off, l, left)
	}
}

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
	g.Load(n, r, g.mem(o))
}

// store writes a general register to the result's slot.
func (g *gen) store(v int32, r x86.Reg) {
	n := g.size(g.f.types[v])
	if n > 8 {
		fail("a number of %d bytes", n)
	}
	g.Store(n, g.slot(v), r)
}

// move copies n bytes between memory. Slots have room for whole registers from 16 bytes on.
func (g *gen) move(to, from x86.Mem, n int) {
	if n <= 8 {
		size := container(n * 8)
		g.Load(size, x86.RAX, from)
		g.Store(size, to, x86.RAX)
		return
	}
	g.pieces(n, func(off int, l x86.Width, _ int) {
		r := g.fresh()
		g.V(x86.VMOVDQU, l, r, 0, x86.M(from.Plus(int32(off))))
		g.V(x86.VMOVDQUStore, l, r, 0, x86.M(to.Plus(int32(off))))
	})
}

// moveFrom copies an operand of n bytes, from registers where they have it.
func (g *gen) moveFrom(to x86.Mem, o operand, n int) {
	if n <= 8 {
		if v, ok := g.constantOf(o); ok && v == uint64(int64(int32(v))) {
			g.StoreImm(container(n*8), to, int32(v))
			return
		}
		g.move(to, g.mem(o), n)
		return
	}
	g.pieces(n, func(off int, l x86.Width, _ int) {
		r := g.reg(o, off, l)
		g.V(x86.VMOVDQUStore, l, r, 0, x86.M(to.Plus(int32(off))))
	})
}
