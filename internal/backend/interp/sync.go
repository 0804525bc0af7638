package interp

import (
	"math/bits"

	"kudzu/internal/backend"
	"kudzu/internal/ptx/isa"
)

// namedBarriers is how many of a block's barriers programs name; the others are those of its warpgroups (wgmma).
const namedBarriers = 16

// barrier is one of a block's. Threads that arrive are counted; those of a warp whose threads have all arrived or
// exited count as 32, as on hardware, so that a partly filled last warp meets a count that is a multiple of 32.
type barrier struct {
	here   []uint32 // arrived threads of each warp
	want   uint64   // threads, 0: all of the block
	active bool
	wait   []*thread // those that wait; the others only arrived
	ones   uint64    // threads of bar.red whose predicate held
	total  uint64    // threads that gave a predicate
}

// arrive counts t at barrier id.
func (b *block) arrive(t *thread, id, want uint64, waits bool) *barrier {
	if id >= namedBarriers {
		t.fault(backend.FaultInstruction, "barrier number above 15")
	}
	return b.arriveAt(t, int(id), want, waits)
}

func (b *block) arriveAt(t *thread, id int, want uint64, waits bool) *barrier {
	bar := &b.barriers[id]
	if !bar.active {
		*bar = barrier{here: make([]uint32, len(b.warps)), active: true}
	}
	if want != 0 {
		bar.want = want
	}
	bar.here[t.w.index] |= 1 << t.lane
	if waits {
		t.state = waiting
		bar.wait = append(bar.wait, t)
	}
	return bar
}

// complete releases the barrier if everybody it waits for is there.
func (b *block) complete(bar *barrier) {
	if !bar.active || !b.full(bar) {
		return
	}
	waiters := bar.wait
	done := *bar
	*bar = barrier{}
	for _, t := range waiters {
		t.state = running
		if t.barResult != nil {
			t.barResult(&done, t)
			t.barResult = nil
		}
	}
}

func (b *block) full(bar *barrier) bool {
	var n uint64
	for i, w := range b.warps {
		here := bar.here[i]
		switch {
		case w.live&^here != 0 && bar.want == 0:
			return false
		case w.live&^here == 0 && here != 0:
			n += 32
		default:
			n += uint64(bits.OnesCount32(here))
		}
	}
	return bar.want == 0 || n >= bar.want
}

// threadExited: barriers do not wait for threads that are gone.
func (b *block) threadExited() {
	for i := range b.barriers {
		b.complete(&b.barriers[i])
	}
	b.cluster.complete()
}

// decodeBar is bar and barrier: sync, arrive and red.
func decodeBar(d *decoder) step {
	id, count := d.src("a"), d.srcOr("b", 0)
	if d.has(isa.ModArrive) {
		return step{warp: func(w *warp, active uint32) {
			w.each(active, func(t *thread) {
				bar := w.b.arrive(t, id.get(t), count.get(t), false)
				w.b.complete(bar)
			})
		}}
	}
	if d.has(isa.ModRed) {
		return d.barRed(id, count)
	}
	return step{warp: func(w *warp, active uint32) {
		var last *barrier
		w.each(active, func(t *thread) { last = w.b.arrive(t, id.get(t), count.get(t), true) })
		w.b.complete(last)
	}}
}

// barRed reduces a predicate over the threads of the barrier.
func (d *decoder) barRed(id, count operand) step {
	dst, c := d.dst("d"), d.src("c")
	var result func(bar *barrier, t *thread)
	switch d.in.Mod("op") {
	case isa.ModPopc:
		result = func(bar *barrier, t *thread) { t.r[dst] = bar.ones }
	case isa.ModAnd:
		result = func(bar *barrier, t *thread) { t.r[dst] = bit(bar.ones == bar.total) }
	case isa.ModOr:
		result = func(bar *barrier, t *thread) { t.r[dst] = bit(bar.ones != 0) }
	default:
		d.bad("reduction %s", d.in.Mod("op"))
	}
	return step{warp: func(w *warp, active uint32) {
		var last *barrier
		w.each(active, func(t *thread) {
			v := c.get(t)
			last = w.b.arrive(t, id.get(t), count.get(t), true)
			last.ones += v
			last.total++
			t.barResult = result
		})
		w.b.complete(last)
	}}
}

// decodeBarWarpSync waits for the threads of the mask.
func decodeBarWarpSync(d *decoder) step {
	return d.converge(func(*thread) {}, func(*warp, uint32) {})
}

// decodeFence: the threads of a block run one after the other and blocks take turns, so that memory is always in order.
func decodeFence(*decoder) step { return step{lane: func(*thread) {}} }

// cluster is the blocks that share a cluster; a launch without clusters has clusters of one block.
type cluster struct {
	blocks []*block
	phase  uint64
	wait   []*thread
}

// join makes the clusters of blocks that just became resident. A cluster's blocks are consecutive.
func (g *grid) join(resident []*block) {
	n := int(g.clusterSize())
	for i, b := range resident {
		if b.cluster == nil && b.rank == 0 && i+n <= len(resident) {
			c := &cluster{blocks: append([]*block(nil), resident[i:i+n]...)}
			for _, m := range c.blocks {
				m.cluster = c
			}
		}
	}
}

// complete starts the next phase when every live thread of the cluster has arrived.
func (c *cluster) complete() {
	any := false
	for _, b := range c.blocks {
		for _, w := range b.warps {
			for s := w.live; s != 0; s &= s - 1 {
				t := w.threads[bits.TrailingZeros32(s)]
				if t.clusterPhase <= c.phase {
					return
				}
				any = true
			}
		}
	}
	if !any {
		return
	}
	c.phase++
	waiters := c.wait
	c.wait = nil
	for _, t := range waiters {
		t.state = running
	}
}

// decodeBarrierCluster is barrier.cluster.arrive and .wait.
func decodeBarrierCluster(d *decoder) step {
	if d.has(isa.ModWait) {
		return step{warp: func(w *warp, active uint32) {
			c := w.b.cluster
			w.each(active, func(t *thread) {
				if t.clusterPhase > c.phase { // arrived in the phase that is not over
					t.state = waiting
					c.wait = append(c.wait, t)
				}
			})
		}}
	}
	return step{warp: func(w *warp, active uint32) {
		c := w.b.cluster
		w.each(active, func(t *thread) { t.clusterPhase = c.phase + 1 })
		c.complete()
	}}
}
