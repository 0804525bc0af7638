package interp

import (
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// decodeMov moves, packs a vector into a register and unpacks one.
func decodeMov(d *decoder) step {
	do, t := d.arg("d")
	so, _ := d.arg("a")
	if n := d.vec(); n > 1 {
		return d.movVector(n)
	}
	if do.Kind == ptx.OpVec {
		return d.unpack(do, so, t)
	}
	dst := d.dest(do)
	if t == isa.B128 {
		return d.mov128(dst, so)
	}
	if so.Kind == ptx.OpReg && !so.Neg && so.Imm == 0 {
		src := d.regSlot(so)
		return step{lane: func(t *thread) { t.r[dst] = t.r[src] }}
	}
	a, m := d.source(so, t), mask(t.Bits())
	return step{lane: func(t *thread) { t.r[dst] = a.get(t) & m }}
}

// movVector moves element by element; all are read before any is written.
func (d *decoder) movVector(n int) step {
	dst, src := d.dests("d"), d.srcs("a")
	if len(dst) != len(src) {
		d.bad("%d elements from %d", len(dst), len(src))
	}
	return step{lane: func(t *thread) {
		var v [8]uint64
		for i := range src {
			v[i] = src[i].get(t)
		}
		for i, slot := range dst {
			t.r[slot] = v[i]
		}
	}}
}

// unpack cuts a value into the registers of {a, b, …}, lowest first.
func (d *decoder) unpack(do, so *ptx.Operand, t isa.Type) step {
	n := len(do.Elems)
	w := t.Bits() / n
	if w == 0 || w*n != t.Bits() {
		d.bad("%d elements of a %s", n, t)
	}
	dst := make([]int32, n)
	for i := range do.Elems {
		dst[i] = d.dest(&do.Elems[i])
	}
	a := d.source(so, t)
	if t == isa.B128 {
		return step{lane: func(t *thread) {
			v := a.get2(t)
			for i, slot := range dst {
				t.r[slot] = v[i*w/64] >> (i * w % 64) & mask(w)
			}
		}}
	}
	return step{lane: func(t *thread) {
		v := a.get(t)
		for i, slot := range dst {
			t.r[slot] = v >> (i * w) & mask(w)
		}
	}}
}

func (d *decoder) mov128(dst int32, so *ptx.Operand) step {
	if so.Kind != ptx.OpVec {
		a := d.source(so, isa.B128)
		return step{lane: func(t *thread) {
			v := a.get2(t)
			t.r[dst], t.r[dst+1] = v[0], v[1]
		}}
	}
	n := len(so.Elems)
	w := 128 / n
	elems := make([]operand, n)
	for i := range so.Elems {
		elems[i] = d.source(&so.Elems[i], isa.BitsType(w))
	}
	return step{lane: func(t *thread) {
		var v [2]uint64
		for i := range elems {
			v[i*w/64] |= (elems[i].get(t) & mask(w)) << (i * w % 64)
		}
		t.r[dst], t.r[dst+1] = v[0], v[1]
	}}
}

// shuffleFrom is the lane a thread reads from, and whether it is in range.
func shuffleFrom(mode isa.Mod, lane, b, c uint32) (from uint32, ok bool) {
	seg, cval, bval := c>>8&31, c&31, b&31
	maxLane := lane&seg | cval&^seg
	switch mode {
	case isa.ModUp:
		from, ok = lane-bval, int32(lane)-int32(bval) >= int32(maxLane)
	case isa.ModDown:
		from = lane + bval
		ok = from <= maxLane
	case isa.ModBfly:
		from = lane ^ bval
		ok = from <= maxLane
	default: // .idx
		from = lane&seg | bval&^seg
		ok = from <= maxLane
	}
	if !ok {
		from = lane
	}
	return from, ok
}

// decodeShfl exchanges values among the threads of a warp. A lane that does not take part gives the reader's own value
// (unrecorded: the manual leaves it open).
func decodeShfl(d *decoder) step {
	mode := d.in.Mod("mode")
	dst, p := d.pair("d")
	a, b, c := d.src("a"), d.src("b"), d.src("c")
	arrive := func(t *thread) {
		t.syncArg[0] = a.get(t)
		t.syncArg[1] = b.get(t) | c.get(t)<<32
		t.syncDst = [2]int32{dst, p}
	}
	do := func(w *warp, members uint32) {
		w.eachQuiet(members, func(t *thread) {
			from, ok := shuffleFrom(mode, uint32(t.lane), uint32(t.syncArg[1]), uint32(t.syncArg[1]>>32))
			v := t.syncArg[0]
			if members>>from&1 == 1 {
				v = w.threads[from].syncArg[0]
			}
			t.r[t.syncDst[1]] = bit(ok)
			t.r[t.syncDst[0]] = v
		})
	}
	return d.converge(arrive, do)
}

// converge makes a step of an instruction that the threads of a membermask execute together; without .sync, those that are here.
func (d *decoder) converge(arrive func(t *thread), do func(w *warp, members uint32)) step {
	if !d.present("membermask") {
		return step{warp: func(w *warp, active uint32) {
			w.each(active, arrive)
			do(w, active)
		}}
	}
	sig, members := d.signature(), d.src("membermask")
	return step{warp: func(w *warp, active uint32) { w.meet(active, sig, members, arrive, do) }}
}

// decodeIsspacep asks which window a generic address is in.
func decodeIsspacep(d *decoder) step {
	dst := d.dst("p")
	o, _ := d.arg("a")
	a := d.source(o, isa.U64)
	want, own := d.spaceOf("space"), d.has(isa.ModSharedCta)
	return step{lane: func(t *thread) {
		space, at := generic(a.get(t))
		ok := space == want
		switch {
		case want == ptx.SpaceConst:
			ok = space == ptx.SpaceGlobal && t.w.b.g.env.isConst(at)
		case want == ptx.SpaceGlobal:
			ok = ok && !t.w.b.g.env.isConst(at)
		case own && ok:
			r := at >> rankShift
			ok = r == 0 || r == uint64(t.w.b.rank)+rankFirst
		}
		t.r[dst] = bit(ok)
	}}
}

// window is the generic address of address 0 of a space.
func window(s ptx.Space) uint64 {
	switch s {
	case ptx.SpaceShared:
		return sharedWindow
	case ptx.SpaceLocal:
		return localWindow
	case ptx.SpaceParam:
		return paramWindow
	}
	return 0
}

func decodeCvta(d *decoder) step {
	o, _ := d.arg("a")
	space := d.spaceOf("space")
	if o.Kind == ptx.OpVar {
		space = d.varSpace(o.Var, space)
	}
	base := window(space)
	return d.un(func(a uint64) uint64 { return a + base })
}

func decodeCvtaTo(d *decoder) step {
	space := d.spaceOf("space")
	base, m := window(space), mask(d.typ().Bits())
	if space == ptx.SpaceShared { // its addresses have 32 bits
		m = mask(32)
	}
	return d.un(func(a uint64) uint64 { return (a - base) & m })
}

// decodeMapa is the address of a shared variable in another block of the cluster.
func decodeMapa(d *decoder) step {
	dst, a, b := d.dst("d"), d.src("a"), d.src("b")
	base := uint64(0)
	if d.spaceOf("space") == ptx.SpaceGeneric {
		base = sharedWindow
		if o, _ := d.arg("a"); o.Kind == ptx.OpVar && o.Var != nil && o.Var.Space == ptx.SpaceShared {
			a = operand{slot: -2, fn: func(a operand) func(t *thread) uint64 {
				return func(t *thread) uint64 { return a.get(t) + sharedWindow }
			}(a)}
		}
	}
	return step{lane: func(t *thread) {
		at := (a.get(t) - base) & (1<<rankShift - 1)
		t.r[dst] = base + at | (b.get(t)+rankFirst)<<rankShift
	}}
}

func decodeGetctarank(d *decoder) step {
	dst, a := d.dst("d"), d.src("a")
	base := uint64(0)
	if d.spaceOf("space") == ptx.SpaceGeneric {
		base = sharedWindow
	}
	return step{lane: func(t *thread) {
		if r := (a.get(t) - base) >> rankShift & 0xff; r >= rankFirst {
			t.r[dst] = r - rankFirst
		} else {
			t.r[dst] = uint64(t.w.b.rank)
		}
	}}
}
