package interp

import (
	"math/bits"

	"kudzu/internal/backend"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// Asynchronous copies are done when they are issued: every way to wait for them allows that, and nothing may depend on
// their being late. Groups therefore need no bookkeeping.

// decodeCpAsync copies 4, 8 or 16 bytes, of which those past srcsize, or all with ignore, are zero.
func decodeCpAsync(d *decoder) step {
	to, from := d.place("d", "dst"), d.place("a", "src")
	size, part, ignore := d.src("size"), d.srcOr("srcsize", ^uint64(0)), d.srcOr("ignore", 0)
	return step{lane: func(t *thread) {
		n := size.get(t)
		dst := t.mem(to.space, to.at(t), n, n)
		m := min(part.get(t), n)
		if ignore.get(t) != 0 {
			m = 0
		}
		if m > 0 {
			copy(dst, t.mem(from.space, from.at(t), m, n))
		}
		clear(dst[m:])
	}}
}

// decodeCpAsyncMbarrierArrive arrives when the thread's copies are done: now. Without .noinc the arrival was added first.
func decodeCpAsyncMbarrierArrive(d *decoder) step {
	p, noinc := d.sharedPlace("a"), d.has(isa.ModNoinc)
	return step{lane: func(t *thread) {
		t.mbar(&p, p.at(t), func(m *mbarrier) {
			if !noinc {
				m.pending++
			}
			m.arrive(t, 1)
		})
	}}
}

// bulk is a bulk copy's operands.
type bulk struct {
	to, from, bar place
	size          operand
	hasBar        bool
	ctas          operand // multicast
	multicast     bool
}

func (d *decoder) bulk() *bulk {
	b := &bulk{to: d.place("d", "dst"), from: d.place("a", "src"), size: d.src("size")}
	if b.hasBar = d.present("mbar"); b.hasBar {
		b.bar = d.sharedPlace("mbar")
	}
	if b.multicast = d.has(isa.ModMulticastCluster) && d.present("ctamask"); b.multicast {
		b.ctas = d.src("ctamask")
	}
	return b
}

// each calls f for every destination: one, or one in each block of a multicast, and then signals its mbarrier.
func (b *bulk) each(t *thread, f func(to []byte, n uint64)) {
	n := b.size.get(t)
	if n%16 != 0 {
		t.fault(backend.FaultInstruction, "bulk copy of a size that is not a multiple of 16")
	}
	at, bar := b.to.at(t), uint64(0)
	if b.hasBar {
		bar = b.bar.at(t)
	}
	one := func(rank uint64) {
		if n > 0 {
			f(t.mem(b.to.space, at|rank, n, 16), n)
		}
		if b.hasBar {
			t.completeTx(&b.bar, bar|rank, n)
		}
	}
	if !b.multicast {
		one(0)
		return
	}
	at &= 1<<rankShift - 1
	bar &= 1<<rankShift - 1
	for s := uint16(b.ctas.get(t)); s != 0; s &= s - 1 {
		one(uint64(bits.TrailingZeros16(s)+rankFirst) << rankShift)
	}
}

// decodeCpAsyncBulk copies; .cp_mask copies the bytes of every 16 that the mask names; .ignore_oob neither reads the first left
// nor the last right bytes of the source, and leaves what they would be copied to as it is (any value is allowed there).
func decodeCpAsyncBulk(d *decoder) step {
	b := d.bulk()
	byteMask, left, right := d.srcOr("bytemask", 0xffff), d.srcOr("left", 0), d.srcOr("right", 0)
	return step{lane: func(t *thread) {
		m, l, r := byteMask.get(t), left.get(t), right.get(t)
		if l > 15 || r > 15 {
			t.fault(backend.FaultInstruction, "bulk copy that ignores more than 15 bytes at an end")
		}
		b.each(t, func(to []byte, n uint64) {
			at := b.from.at(t)
			if at%16 != 0 {
				t.mem(b.from.space, at, n, 16) // the fault of an address that is not aligned
			}
			if l+r >= n {
				return
			}
			from := t.mem(b.from.space, at+l, n-l-r, 1)
			for i := range from {
				if m>>((uint64(i)+l)%16)&1 == 1 {
					to[uint64(i)+l] = from[i]
				}
			}
		})
	}}
}

// decodeCpReduceAsyncBulk combines element by element; each element is atomic.
func decodeCpReduceAsyncBulk(d *decoder) step {
	b := d.bulk()
	typ := d.typ()
	op := d.atomicOf(d.in.Mod("op"), typ)
	size := typ.Bytes()
	global := b.to.space == ptx.SpaceGlobal
	return step{lane: func(t *thread) {
		b.each(t, func(to []byte, n uint64) {
			from := t.mem(b.from.space, b.from.at(t), n, 16)
			for i := 0; i+size <= len(from); i += size {
				v := load(from[i:][:size])
				cell := to[i : i+size : i+size]
				if global {
					atomicHost(cell, func(old uint64) uint64 { return op(old, v, 0, true) })
				} else {
					store(cell, op(load(cell), v, 0, true))
				}
			}
		})
	}}
}

// decodeStAsync stores, then signals the mbarrier with the bytes stored.
func decodeStAsync(d *decoder) step {
	st := decodeSt(d)
	if !d.present("mbar") {
		return st
	}
	bar := d.sharedPlace("mbar")
	n := uint64(d.typ().Bytes() * d.vec())
	return step{lane: func(t *thread) {
		st.lane(t)
		t.completeTx(&bar, bar.at(t), n)
	}}
}

// decodeRedAsync reduces, then signals.
func decodeRedAsync(d *decoder) step {
	red := decodeAtom(d)
	if !d.present("mbar") {
		return red
	}
	bar := d.sharedPlace("mbar")
	n := uint64(d.typ().Bytes())
	return step{lane: func(t *thread) {
		red.lane(t)
		t.completeTx(&bar, bar.at(t), n)
	}}
}

// decodeStBulk clears memory.
func decodeStBulk(d *decoder) step {
	p, n := d.place("a", "space"), d.src("size")
	return step{lane: func(t *thread) { clear(t.mem(p.space, p.at(t), n.get(t), 8)) }}
}
