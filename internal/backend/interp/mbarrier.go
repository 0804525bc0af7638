package interp

import (
	"kudzu/internal/backend"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// An mbarrier is 64 opaque bits in shared memory. Ours, from the lowest: pending arrivals (20 bits), expected arrivals of a
// phase (20 bits), transaction count (21 bits, two's complement), and in bit 63 the parity of the phase.
const (
	mbarCount   = 20
	mbarTx      = 2 * mbarCount
	mbarTxBits  = 21
	mbarPhase   = 63
	mbarMaximum = 1<<mbarCount - 1
)

type mbarrier struct {
	pending, expected uint64
	tx                int64
	phase             uint64
}

func unpackMbarrier(v uint64) mbarrier {
	return mbarrier{v & mbarMaximum, v >> mbarCount & mbarMaximum, signed(v>>mbarTx&mask(mbarTxBits), mbarTxBits), v >> mbarPhase}
}

func (m mbarrier) pack() uint64 {
	return m.pending | m.expected<<mbarCount | uint64(m.tx)&mask(mbarTxBits)<<mbarTx | m.phase<<mbarPhase
}

// settle begins the next phase when nothing is pending.
func (m *mbarrier) settle() {
	if m.pending == 0 && m.tx == 0 {
		m.phase ^= 1
		m.pending = m.expected
	}
}

// arrive counts n arrivals.
func (m *mbarrier) arrive(t *thread, n uint64) {
	if n > m.pending {
		t.fault(backend.FaultInstruction, "more arrivals at an mbarrier than it expects")
	}
	m.pending -= n
	m.settle()
}

// mbar changes the mbarrier at an address and returns its bits from before.
func (t *thread) mbar(p *place, at uint64, change func(m *mbarrier)) uint64 {
	b := t.mem(p.space, at, 8, 8)
	old := load(b)
	m := unpackMbarrier(old)
	change(&m)
	store(b, m.pack())
	return old
}

// completeTx takes n bytes off the transaction count.
func (t *thread) completeTx(p *place, at, n uint64) {
	t.mbar(p, at, func(m *mbarrier) {
		m.tx -= int64(n)
		m.settle()
	})
}

// sharedPlace is an address that can only be in shared memory: of a generic one the hardware takes the lower half, which is the
// same for addresses of the window and lets plain shared addresses pass (recorded for ldmatrix).
func (d *decoder) sharedPlace(name string) place {
	o, _ := d.arg(name)
	return d.placeOf(o, ptx.SpaceShared)
}

func decodeMbarrierInit(d *decoder) step {
	p, n := d.sharedPlace("a"), d.src("count")
	return step{lane: func(t *thread) {
		c := n.get(t)
		if c == 0 || c > mbarMaximum {
			t.fault(backend.FaultInstruction, "mbarrier.init with a count out of range")
		}
		t.mbar(&p, p.at(t), func(m *mbarrier) { *m = mbarrier{pending: c, expected: c} })
	}}
}

func decodeMbarrierInval(d *decoder) step {
	p := d.sharedPlace("a")
	return step{lane: func(t *thread) { t.mbar(&p, p.at(t), func(m *mbarrier) { *m = mbarrier{} }) }}
}

func decodeMbarrierExpectTx(d *decoder) step {
	p, n := d.sharedPlace("a"), d.src("count")
	return step{lane: func(t *thread) {
		c := int64(n.get(t))
		t.mbar(&p, p.at(t), func(m *mbarrier) { m.tx += c })
	}}
}

func decodeMbarrierCompleteTx(d *decoder) step {
	p, n := d.sharedPlace("a"), d.src("count")
	return step{lane: func(t *thread) { t.completeTx(&p, p.at(t), n.get(t)) }}
}

// decodeMbarrierArrive is arrive and arrive_drop, with .expect_tx and .noComplete. The result is the state from before.
func decodeMbarrierArrive(d *decoder) step {
	p, n := d.sharedPlace("a"), d.srcOr("count", 1)
	dst := d.dst("d")
	expect, stay, drop := d.has(isa.ModExpectTx), d.has(isa.ModNoComplete), d.in.Op() == isa.MbarrierArriveDrop
	return step{lane: func(t *thread) {
		c := n.get(t)
		t.r[dst] = t.mbar(&p, p.at(t), func(m *mbarrier) {
			if expect {
				m.tx += int64(c)
				c = 1
			}
			if drop {
				m.expected -= min(c, m.expected)
			}
			if stay && c >= m.pending {
				t.fault(backend.FaultInstruction, "mbarrier.arrive.noComplete would complete the phase")
			}
			m.arrive(t, c)
		})
	}}
}

// decodeMbarrierWait is test_wait and try_wait: has the phase of the state, or of the parity, ended? A try_wait that has to
// wait lets others run and answers no.
func decodeMbarrierWait(d *decoder) step {
	p, dst := d.sharedPlace("a"), d.dst("p")
	try := d.in.Op() == isa.MbarrierTryWait
	var state operand
	parity := d.has(isa.ModParity)
	if parity {
		state = d.src("parity")
	} else {
		state = d.src("state")
	}
	return step{lane: func(t *thread) {
		m := unpackMbarrier(load(t.mem(p.space, p.at(t), 8, 8)))
		want := state.get(t)
		if parity {
			want &= 1
		} else {
			want >>= mbarPhase
		}
		done := m.phase != want
		t.r[dst] = bit(done)
		if try && !done {
			t.w.yielded = true
		}
	}}
}

func decodeMbarrierPendingCount(d *decoder) step {
	dst, s := d.dst("d"), d.src("state")
	return step{lane: func(t *thread) { t.r[dst] = unpackMbarrier(s.get(t)).pending }}
}

// decodeTryCancel answers that nothing was cancelled: blocks that have not begun begin by themselves.
func decodeTryCancel(d *decoder) step {
	p, bar := d.sharedPlace("a"), d.sharedPlace("mbar")
	return step{lane: func(t *thread) {
		clear(t.mem(p.space, p.at(t), 16, 16))
		t.completeTx(&bar, bar.at(t), 16)
	}}
}

// decodeQueryCancel reads such an answer.
func decodeQueryCancel(d *decoder) step {
	if d.present("p") {
		dst, a := d.dst("p"), d.src("a")
		return step{lane: func(t *thread) { t.r[dst] = a.get2(t)[0] & 1 }}
	}
	dst := d.dests("d")
	return step{lane: func(t *thread) {
		for _, slot := range dst {
			t.r[slot] = 0
		}
	}}
}
