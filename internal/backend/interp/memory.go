package interp

import (
	"encoding/binary"

	"kudzu/internal/backend"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// Space finds the allocation an address is in. Memory of the host that is not in it is an illegal address, as on a GPU.
type Space interface {
	Find(addr uint64) (base, size uint64, ok bool)
}

// The windows of generic addresses. They are above every address of the machine, so that a generic address tells its space.
// A shared address is an offset, or, with the rank and rankFirst in the upper byte, an offset in a block of the cluster. That is none that
// an offset outside is likely to be.
const (
	sharedWindow = 1 << 56
	localWindow  = 1 << 57
	paramWindow  = 1 << 58
	windowSize   = 1 << 32
	rankShift    = 24
	rankFirst    = 0x61
)

// hardwareWindow is where shared memory ends for the hardware, of which the first KiB is its own: what lies behind is no illegal address
// but an illegal instruction (testdata/apps/outside.want).
const hardwareWindow = 1<<rankShift - 1024

// view is an allocation found before.
type view struct{ base, size uint64 }

// generic splits a generic address into its space and the address there.
func generic(addr uint64) (ptx.Space, uint64) {
	switch {
	case addr-sharedWindow < windowSize:
		return ptx.SpaceShared, addr - sharedWindow
	case addr-localWindow < windowSize:
		return ptx.SpaceLocal, addr - localWindow
	case addr-paramWindow < windowSize:
		return ptx.SpaceParam, addr - paramWindow
	}
	return ptx.SpaceGlobal, addr
}

// mem is the n bytes at addr of a space, checked.
func (t *thread) mem(space ptx.Space, addr, n, align uint64) []byte {
	given := addr
	if space == ptx.SpaceGeneric {
		space, addr = generic(addr)
	}
	if addr&(align-1) != 0 {
		t.faultAddr(backend.FaultMisaligned, given, "")
	}
	switch space {
	case ptx.SpaceShared:
		m := t.sharedOf(addr)
		if addr&(1<<rankShift-1) >= hardwareWindow {
			t.faultAddr(backend.FaultInstruction, given, "outside the window on shared memory")
		}
		return t.within(m[:cap(m)], addr&(1<<rankShift-1), n, given, "shared memory")
	case ptx.SpaceLocal:
		return t.within(t.local, addr, n, given, "local memory")
	case ptx.SpaceParam:
		return t.within(t.w.b.g.params, addr, n, given, "parameters")
	}
	t.check(addr, n)
	if w := t.w.b.g.watch; w != nil {
		w.touch(t, addr, n)
	}
	return hostBytes(addr, n)
}

func (t *thread) within(m []byte, addr, n, given uint64, what string) []byte {
	if addr > uint64(len(m)) || n > uint64(len(m))-addr {
		t.faultAddr(backend.FaultAddress, given, "outside the block's "+what)
	}
	return m[addr : addr+n : addr+n]
}

// sharedOf is the shared memory an address names: the block's own, or that of another block of its cluster.
func (t *thread) sharedOf(addr uint64) []byte {
	rank := addr >> rankShift
	if rank == 0 {
		return t.w.b.shared
	}
	c := t.w.b.cluster
	if c == nil || rank-rankFirst >= uint64(len(c.blocks)) {
		t.faultAddr(backend.FaultInstruction, addr, "no such block in the cluster")
	}
	return c.blocks[rank-rankFirst].shared
}

// check faults unless [addr, addr+n) is inside one allocation.
func (t *thread) check(addr, n uint64) {
	b := t.w.b
	for i := range b.views {
		if v := &b.views[i]; addr-v.base < v.size && n <= v.size-(addr-v.base) {
			return
		}
	}
	base, size, ok := b.g.env.space.Find(addr)
	if !ok || addr < base || addr-base >= size || n > size-(addr-base) {
		t.faultAddr(backend.FaultAddress, addr, "")
	}
	b.newest = (b.newest + 1) % len(b.views)
	b.views[b.newest] = view{base, size}
}

// forget drops remembered allocations after one was freed.
func (b *block) forget() { b.views = [4]view{} }

func load(m []byte) uint64 {
	switch len(m) {
	case 1:
		return uint64(m[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(m))
	case 4:
		return uint64(binary.LittleEndian.Uint32(m))
	case 8:
		return binary.LittleEndian.Uint64(m)
	}
	panic("BUG: load of an odd size")
}

func store(m []byte, v uint64) {
	switch len(m) {
	case 1:
		m[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(m, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(m, uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(m, v)
	default:
		panic("BUG: store of an odd size")
	}
}

// place is a decoded address: a space and how to compute the address in it.
type place struct {
	space ptx.Space
	base  operand
	off   uint64
}

func (p *place) at(t *thread) uint64 {
	a := p.base.get(t) + p.off
	if p.space == ptx.SpaceShared || p.space == ptx.SpaceLocal || p.space == ptx.SpaceParam {
		a &= 1<<32 - 1 // these spaces are 32 bits wide, and 32-bit registers may address them
	}
	return a
}

// place reads the address operand called name; the space is in the form's slot.
func (d *decoder) place(name, slot string) place {
	o, _ := d.arg(name)
	return d.placeOf(o, d.spaceOf(slot))
}

func (d *decoder) placeOf(o *ptx.Operand, space ptx.Space) place {
	p := place{space: space, off: o.Imm}
	base := o.Base
	if o.Kind != ptx.OpAddr {
		base = o.Kind
	}
	switch base {
	case ptx.OpReg:
		p.base = operand{slot: d.regSlot(o)}
		if space == ptx.SpaceParam && d.c.fn.Kind == ptx.DeviceFunc && !d.has(isa.ModParamEntry) {
			p.space = ptx.SpaceLocal
		}
	case ptx.OpVar:
		p.base = d.address(o.Var, o.Name, 0)
		p.off = o.Imm
		p.space = d.varSpace(o.Var, space)
	case ptx.OpImm, ptx.None:
		p.base, p.off = constant(o.Imm), 0
	default:
		d.bad("address of kind %d", base)
	}
	return p
}

// varSpace is the space in which a variable named in an address lies.
func (d *decoder) varSpace(v *ptx.Var, space ptx.Space) ptx.Space {
	if v == nil {
		return space
	}
	switch v.Space {
	case ptx.SpaceParam:
		if _, ok := d.u.params[v]; ok {
			return ptx.SpaceParam
		}
		return ptx.SpaceLocal
	case ptx.SpaceShared, ptx.SpaceLocal:
		return v.Space
	}
	return space
}

// vec is the number of elements the instruction moves.
func (d *decoder) vec() int {
	switch d.in.OptMod("vec") {
	case isa.ModV2:
		return 2
	case isa.ModV4:
		return 4
	case isa.ModV8:
		return 8
	}
	return 1
}

// decodeLd is ld and ldu: cache, eviction and ordering words change nothing when threads run one after the other.
func decodeLd(d *decoder) step {
	typ, n := d.typ(), d.vec()
	p := d.place("a", "space")
	dst := d.dests("d")
	if typ == isa.B128 {
		return ld128(p, dst)
	}
	size := uint64(typ.Bytes())
	widen := d.widen("d", typ)
	if n == 1 {
		slot := dst[0]
		return step{lane: func(t *thread) { t.r[slot] = widen(load(t.mem(p.space, p.at(t), size, size))) }}
	}
	total := size * uint64(n)
	// A warp's vectors side by side are a line that is written at once: behind a flag at its end, which the last lane reads, the other
	// lanes find the data that was written with it or before it.
	return step{down: true, lane: func(t *thread) {
		w := readVector(t.mem(p.space, p.at(t), total, total))
		for i, slot := range dst {
			at := uint64(i) * size
			t.r[slot] = widen(w[at/8] >> (at % 8 * 8) & mask(int(8*size)))
		}
	}}
}

func ld128(p place, dst []int32) step {
	total := 16 * uint64(len(dst))
	return step{down: true, lane: func(t *thread) {
		w := readVector(t.mem(p.space, p.at(t), total, total))
		for i, slot := range dst {
			t.r[slot], t.r[slot+1] = w[2*i], w[2*i+1]
		}
	}}
}

// widen extends a value of type t to the register of the operand called name: signed types with their sign.
func (d *decoder) widen(name string, t isa.Type) func(uint64) uint64 {
	bits := d.regBits(name)
	if !t.IsSigned() || bits <= t.Bits() {
		return func(v uint64) uint64 { return v }
	}
	from, m := t.Bits(), mask(bits)
	return func(v uint64) uint64 { return uint64(signed(v, from)) & m }
}

// regBits is the width of the first register of a destination.
func (d *decoder) regBits(name string) int {
	o, t := d.arg(name)
	for _, e := range elements(o) {
		if e.Kind == ptx.OpReg {
			return d.c.fn.Body.Regs[e.Reg].Type.Bits()
		}
	}
	return t.Bits()
}

// decodeSt is st.
func decodeSt(d *decoder) step {
	typ, n := d.typ(), d.vec()
	p := d.place("a", "space")
	src := d.srcs("b")
	size := uint64(typ.Bytes())
	total := size * uint64(len(src))
	if typ == isa.B128 {
		return step{lane: func(t *thread) {
			var w [4]uint64
			for i := range src {
				v := src[i].get2(t)
				w[2*i], w[2*i+1] = v[0], v[1]
			}
			writeVector(t.mem(p.space, p.at(t), total, total), &w)
		}}
	}
	if n == 1 {
		s := src[0]
		return step{lane: func(t *thread) { store(t.mem(p.space, p.at(t), size, size), s.get(t)) }}
	}
	return step{lane: func(t *thread) {
		var w [4]uint64
		for i := range src {
			at := uint64(i) * size
			w[at/8] |= src[i].get(t) & mask(int(8*size)) << (at % 8 * 8)
		}
		writeVector(t.mem(p.space, p.at(t), total, total), &w)
	}}
}

// decodeHint is an instruction that only advises caches. prefetch of a bad address is not a fault.
func decodeHint(d *decoder) step { return step{lane: func(*thread) {}} }

// decodeDiscard lets the contents become undefined; leaving them is allowed.
func decodeDiscard(d *decoder) step {
	p := d.place("a", "space")
	return step{lane: func(t *thread) { t.mem(p.space, p.at(t), 128, 128) }}
}

// decodeCreatepolicy makes an opaque policy; nothing reads it.
func decodeCreatepolicy(d *decoder) step {
	dst := d.dst("d")
	return step{lane: func(t *thread) { t.r[dst] = 0 }}
}
