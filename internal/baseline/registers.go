package baseline

import "kudzu/internal/baseline/x86"

// cache says what vector registers hold: bytes of a value from an offset on, as far as a register reaches. It is good for
// one block. A result is written to its slot when its register is wanted for something else, when something reads the slot,
// or at the end of the block; never if nothing reads it any more.
type cache struct {
	at    map[held]x86.Reg
	in    [32]held
	dirty [32]bool   // the slot is still to be written
	used  [32]uint32 // when it was last given out or read
	tick  uint32
	start uint32 // tick at the start of the instruction: what was used since is in use
}

func (c *cache) touch(r x86.Reg) {
	c.tick++
	c.used[r] = c.tick
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
	g.nums.reset()
}

// flush writes the slots that are behind their registers.
func (g *gen) flush() {
	for r := range g.regs.dirty {
		if g.regs.dirty[r] {
			g.spill(x86.Reg(r))
		}
	}
	for i := range g.nums.dirty {
		g.spillScalar(i)
	}
}

// sync writes the slot of a value.
func (g *gen) sync(v int32) {
	for i, n := range g.nums.in {
		if n == v {
			g.spillScalar(i)
		}
	}
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
	if g.isDead(k.base) {
		return
	}
	if n := g.size(g.f.types[k.base]); n <= 8 {
		g.storeLow(g.slot(k.base), r, n)
		return
	}
	g.V(x86.VMOVDQUStore, k.l, r, 0, x86.M(x86.At(framePtr, g.fr.slots[k.base]+k.off)))
}

// fresh is a register to write: one that holds nothing that is still read, else the one that was used longest ago.
func (g *gen) fresh() x86.Reg {
	c := &g.regs
	best, free := 0, false
	for r := range g.vectorRegs() {
		idle := c.used[r] <= c.start && (!c.in[r].set || c.in[r].base >= 0 && g.isDead(c.in[r].base))
		if idle && !free || idle == free && c.used[r] < c.used[best] {
			best, free = r, idle
		}
	}
	if c.in[best].set {
		if c.dirty[best] {
			g.spill(x86.Reg(best))
		}
		delete(c.at, c.in[best])
		c.in[best].set = false
	}
	c.touch(x86.Reg(best))
	return x86.Reg(best)
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
	if r, ok := g.held(o, off, l); ok {
		g.regs.touch(r)
		return x86.R(r)
	}
	return x86.M(g.mem(o).Plus(int32(off)))
}

// held is a register that has these bytes: as many, as the low part of more, or fewer if the value ends there. The upper
// half of another register is taken out of it. Memory would be slow: what was just written there in other pieces than it is
// read in has to reach the cache first.
func (g *gen) held(o operand, off int, l x86.Width) (x86.Reg, bool) {
	k := g.key(o, off, l)
	if r, ok := g.regs.at[k]; ok {
		return r, true
	}
	for k.l = l + 1; k.l <= g.widest(); k.l++ {
		if r, ok := g.regs.at[k]; ok {
			return r, true
		}
	}
	for k.l = l; k.l > 0 && g.size(o.t)-off <= (k.l-1).Bytes(); {
		k.l--
		if r, ok := g.regs.at[k]; ok {
			return r, true
		}
	}
	if l >= g.widest() {
		return 0, false
	}
	k.l, k.off = l+1, k.off-int32(l.Bytes())
	from, ok := g.regs.at[k]
	if !ok {
		return 0, false
	}
	g.regs.touch(from)
	r := g.fresh()
	g.VI([...]x86.Op{x86.VEXTRACTI128, x86.VEXTRACTI256}[l], l+1, from, 0, x86.R(r), 1)
	g.remember(r, g.key(o, off, l))
	return r, true
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

// pooled is bytes of the pool in a register.
func (g *gen) pooled(at int32, l x86.Width) x86.Reg {
	k := held{base: -1, con: -1, off: at, l: l, set: true}
	if r, ok := g.regs.at[k]; ok {
		g.regs.touch(r)
		return r
	}
	r := g.fresh()
	g.V(x86.VMOVDQU, l, r, 0, x86.M(x86.Constant(at)))
	g.remember(r, k)
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
	if size := g.size(g.f.types[v]); size > 8 || n == size && (n == 4 || n == 8) {
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
		if isWord(n) {
			g.load(x86.RAX, retyped(o, bitsOf(o.t)))
			g.Store(n, to, x86.RAX)
		} else {
			g.move(to, g.mem(o), n)
		}
		return
	}
	g.pieces(n, func(off int, l x86.Width, _ int) {
		r := g.reg(o, off, l)
		g.V(x86.VMOVDQUStore, l, r, 0, x86.M(to.Plus(int32(off))))
	})
}
