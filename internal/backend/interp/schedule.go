package interp

import "math/bits"

// warp is up to 32 threads. Threads at the same place run together; of several places the innermost call and there the
// lowest address runs first, so that threads that diverged meet again at the first common address.
type warp struct {
	b       *block
	index   int
	threads []*thread
	live    uint32 // not exited

	pc      int32   // of the instruction that runs
	current *thread // the thread it runs for
	turn    uint64
	streak  int    // instructions since a group was last chosen for fairness
	prefer  uint32 // group chosen for fairness,
	left    int    // and for how many instructions
	yielded bool   // a thread said that it waits for others
}

const (
	// patience is how long the lowest address may keep others of the warp waiting: a lock's holder may be above its spinners.
	patience = 2048
	// favour is how long a group that was kept waiting then runs.
	favour = 256
)

// group picks the threads that run next. limit is the lowest address at which another thread of the same depth waits.
func (w *warp) group() (mask uint32, limit int32) {
	if w.streak > patience || w.yielded {
		w.favourOldest()
	}
	mask, limit = w.lowest(w.live & w.prefer)
	if mask == 0 {
		w.prefer = 0
		mask, limit = w.lowest(w.live)
	}
	return mask, limit
}

// lowest finds, among the runnable threads of set, those at the innermost call and lowest address.
func (w *warp) lowest(set uint32) (mask uint32, limit int32) {
	depth, best := -1, int32(0)
	limit = 1<<31 - 1
	for s := set; s != 0; s &= s - 1 {
		i := bits.TrailingZeros32(s)
		t := w.threads[i]
		if t.state != running {
			continue
		}
		d, a := len(t.calls), t.addr()
		switch {
		case d > depth:
			depth, best, mask, limit = d, a, 1<<i, 1<<31-1
		case d < depth:
		case a == best:
			mask |= 1 << i
		case a < best:
			limit = best
			best, mask = a, 1<<i
		default:
			limit = min(limit, a)
		}
	}
	return mask, limit
}

// favourOldest lets the group that has not run for longest run for a while.
func (w *warp) favourOldest() {
	w.streak, w.yielded = 0, false
	var oldest *thread
	for s := w.live; s != 0; s &= s - 1 {
		t := w.threads[bits.TrailingZeros32(s)]
		if t.state == running && (oldest == nil || t.lastRun < oldest.lastRun) {
			oldest = t
		}
	}
	if oldest == nil {
		return
	}
	w.prefer, w.left = 0, favour
	for s := w.live; s != 0; s &= s - 1 {
		i := bits.TrailingZeros32(s)
		if t := w.threads[i]; t.state == running && t.addr() == oldest.addr() && len(t.calls) == len(oldest.calls) {
			w.prefer |= 1 << i
		}
	}
}

// run executes up to budget instructions and reports how many it did; 0: no thread of the warp can go on.
func (w *warp) run(budget int) (used int) {
	for used < budget {
		mask, limit := w.group()
		if mask == 0 {
			return used
		}
		w.turn++
		n := w.together(mask, limit, budget-used)
		used += n
		w.streak += n
		if w.left -= n; w.left <= 0 {
			w.prefer = 0
		}
		if w.yielded {
			return used
		}
	}
	return used
}

// together runs the threads of mask, which are at one address below limit, until they may part or others are met.
func (w *warp) together(mask uint32, limit int32, budget int) (used int) {
	first := w.threads[bits.TrailingZeros32(mask)]
	code, pc := first.code, first.pc
	for s := mask; s != 0; s &= s - 1 {
		w.threads[bits.TrailingZeros32(s)].lastRun = w.turn
	}
	for used < budget && code.base+pc < limit {
		in := &code.insts[pc]
		active := mask
		if in.pred >= 0 {
			active = w.guard(in, mask)
		}
		used++
		w.pc = pc
		if in.jumps || in.warp != nil {
			w.leave(in, code, pc, mask, active)
			return used
		}
		for s := active; s != 0; {
			i := bits.TrailingZeros32(s)
			if in.down {
				i = bits.Len32(s) - 1
			}
			s &^= 1 << i
			t := w.threads[i]
			w.current = t
			in.lane(t)
		}
		pc++
	}
	for s := mask; s != 0; s &= s - 1 {
		w.threads[bits.TrailingZeros32(s)].pc = pc
	}
	return used
}

// guard is the threads of mask whose predicate holds.
func (w *warp) guard(in *inst, mask uint32) (active uint32) {
	want := uint64(1)
	if in.not {
		want = 0
	}
	for s := mask; s != 0; s &= s - 1 {
		i := bits.TrailingZeros32(s)
		if w.threads[i].r[in.pred] == want {
			active |= 1 << i
		}
	}
	return active
}

// leave runs an instruction after which threads may be at different places.
func (w *warp) leave(in *inst, code *code, pc int32, mask, active uint32) {
	for s := mask; s != 0; s &= s - 1 {
		w.threads[bits.TrailingZeros32(s)].pc = pc + 1
	}
	if active == 0 {
		return
	}
	if in.warp != nil {
		w.current = w.threads[bits.TrailingZeros32(active)]
		in.warp(w, active)
		return
	}
	for s := active; s != 0; s &= s - 1 {
		t := w.threads[bits.TrailingZeros32(s)]
		w.current = t
		in.lane(t)
	}
}

// each calls f for the threads of mask, in order of lanes.
func (w *warp) each(mask uint32, f func(t *thread)) {
	for s := mask; s != 0; s &= s - 1 {
		t := w.threads[bits.TrailingZeros32(s)]
		w.current = t
		f(t)
	}
}

// exited takes a thread out of the warp: barriers and *.sync instructions no longer wait for it.
func (w *warp) exited(t *thread) {
	w.live &^= 1 << t.lane
	w.b.live--
	w.settle()
	w.b.threadExited()
}

// meet makes the threads of active wait until every live thread of their masks executes the same *.sync instruction;
// then do runs for all of them, once. They need not be at the same address, so that arrive leaves in syncArg and syncDst what
// do needs of each thread.
func (w *warp) meet(active uint32, sig int, maskOf operand, arrive func(t *thread), do func(w *warp, members uint32)) {
	w.each(active, func(t *thread) {
		arrive(t)
		t.state, t.syncSig, t.syncMask, t.syncDo = waiting, sig, uint32(maskOf.get(t)), do
	})
	w.settle()
}

// settle completes every *.sync instruction for which all live members have arrived.
func (w *warp) settle() {
	for s := w.live; s != 0; s &= s - 1 {
		t := w.threads[bits.TrailingZeros32(s)]
		if t.state != waiting || t.syncDo == nil {
			continue
		}
		members := t.syncMask&w.live | 1<<t.lane
		if !w.arrived(t, members) {
			continue
		}
		do := t.syncDo
		w.eachQuiet(members, func(m *thread) { m.state, m.syncDo = running, nil })
		do(w, members)
	}
}

func (w *warp) arrived(t *thread, members uint32) bool {
	for s := members; s != 0; s &= s - 1 {
		m := w.threads[bits.TrailingZeros32(s)]
		if m.state != waiting || m.syncDo == nil || m.syncSig != t.syncSig || m.syncMask != t.syncMask {
			return false
		}
	}
	return true
}

func (w *warp) eachQuiet(mask uint32, f func(t *thread)) {
	for s := mask; s != 0; s &= s - 1 {
		f(w.threads[bits.TrailingZeros32(s)])
	}
}
