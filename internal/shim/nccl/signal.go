package nccl

import (
	"errors"
	"math"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/ncclapi"
	"kudzu/internal/spec/rt"
)

// One-sided operations: a rank writes into a window of another, which has no part in it, and counts up a signal there. Windows have the
// same number on all ranks, because all register them in the same order.

// signal names a counter of a rank.
type signal struct {
	from         int
	index, where int32
}

// target is where a put goes.
type target struct {
	window       uint64 // 0: only the signal
	offset       uint64
	index, where int32
}

// maxSignals bounds numbers of signals and of their contexts, which travel in one word with the window's.
const maxSignals = 1 << 12

func (t *target) pack() uint64 {
	return uint64(putSignal)<<60 | uint64(t.index)<<48 | uint64(t.where)<<36 | t.window&(1<<36-1)
}

func unpack(h *header) target {
	return target{window: h.Call & (1<<36 - 1), offset: h.Scale, index: int32(h.Call >> 48 & (maxSignals - 1)), where: int32(h.Call >> 36 & (maxSignals - 1))}
}

// room is the memory of a put in this rank's window.
func (c *comm) room(t target, n uint64) ([]byte, error) {
	c.mu.Lock()
	w, ok := c.windows[t.window]
	c.mu.Unlock()
	if !ok || !w.shared || t.offset > w.size || n > w.size-t.offset {
		return nil, badArgument("ncclPutSignal: %d bytes at %d of window %d of rank %d", n, t.offset, t.window, c.rank)
	}
	return hostmem.Bytes(hostmem.Ptr(w.at+t.offset), n), nil
}

// ring counts a signal, and wakes who waits for it.
func (c *comm) ring(s signal) {
	c.mu.Lock()
	c.signals[s]++
	c.mu.Unlock()
	c.look()
}

func (c *comm) look() {
	select {
	case c.rung <- struct{}{}:
	default:
	}
}

// putSignal writes and signals.
func (o *op) putSignal(data []byte) error {
	c, to := o.c, o.to
	peer := c.peers[o.root]
	if peer == nil {
		p, err := c.post(puts, o.root, header{Call: to.pack(), Scale: to.offset}, data)
		return errors.Join(err, p.wait())
	}
	if len(data) > 0 {
		dst, err := peer.room(*to, uint64(len(data)))
		if err != nil {
			return err
		}
		copy(dst, data)
	}
	peer.ring(signal{c.rank, to.index, to.where})
	return nil
}

// servePuts does what a rank of another process puts here, until its connection ends.
func (c *comm) servePuts(s conn, from int) {
	for {
		var raw [headerSize]byte
		if s.read(raw[:]) != nil {
			return // the hub says what became of the rank
		}
		m := &message{c: c, src: from, s: s}
		m.decode(raw[:])
		if err := m.land(); err != nil {
			c.fail(err)
			return
		}
	}
}

// land takes one put.
func (m *message) land() error {
	to := unpack(&m.header)
	if m.Size > 0 {
		dst, err := m.c.room(to, m.Size)
		if err != nil {
			return err
		}
		if err := errors.Join(m.into(dst), m.end()); err != nil {
			return err
		}
	}
	m.c.ring(signal{m.src, to.index, to.where})
	return nil
}

// awaitSignals waits for signals, and counts them down.
func (c *comm) awaitSignals(list []ncclapi.NcclWaitSignalDesc_t) error {
	for {
		done, err := c.takeSignals(list)
		if done || err != nil {
			return err
		}
		select {
		case <-c.rung:
		case <-c.dead:
			return c.err()
		}
	}
}

// takeSignals counts down, once all are there.
func (c *comm) takeSignals(list []ncclapi.NcclWaitSignalDesc_t) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	want := map[signal]uint64{}
	for _, d := range list {
		want[signal{int(d.Peer), d.SigIdx, d.Ctx}] += uint64(d.OpCnt)
	}
	for s, n := range want {
		if c.signals[s] >= n {
			continue
		}
		if c.isAway[s.from] {
			return false, failf(ncclapi.NcclRemoteError, "rank %d has left", s.from)
		}
		return false, nil
	}
	for s, n := range want {
		c.signals[s] -= n
	}
	return true, nil
}

func checkSignal(index, where int32) error {
	if index < 0 || index >= maxSignals || where < 0 || where >= maxSignals {
		return badArgument("signal %d of context %d", index, where)
	}
	return nil
}

// PutSignal writes into a rank's window, and signals.
func (t *Thread) PutSignal(buf hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, peer int32, w ncclapi.NcclWindow_t, offset uint64, index, where int32, flags uint32, h ncclapi.NcclComm_t, s rt.CudaStream_t) error {
	if w == 0 || flags != 0 || offset > math.MaxInt64 {
		return badArgument("ncclPutSignal: window %#x, offset %d, flags %#x", w, offset, flags)
	}
	if err := checkSignal(index, where); err != nil {
		return err
	}
	o := &op{kind: putSignal, send: uint64(buf), count: n, typ: typ, root: int(peer), to: &target{uint64(w), offset, index, where}}
	return t.enqueue(o, h, nil, s)
}

// Signal only signals.
func (t *Thread) Signal(peer, index, where int32, flags uint32, h ncclapi.NcclComm_t, s rt.CudaStream_t) error {
	if flags != 0 {
		return badArgument("ncclSignal: flags %#x", flags)
	}
	if err := checkSignal(index, where); err != nil {
		return err
	}
	return t.enqueue(&op{kind: putSignal, root: int(peer), to: &target{index: index, where: where}}, h, nil, s)
}

// WaitSignal has a stream wait for signals of other ranks.
func (t *Thread) WaitSignal(n int32, at hostmem.Ptr, h ncclapi.NcclComm_t, s rt.CudaStream_t) error {
	if n < 1 || n > maxRanks || at == hostmem.Nil {
		return badArgument("ncclWaitSignal: %d descriptors", n)
	}
	c, err := find(h)
	if err != nil {
		return err
	}
	list := append([]ncclapi.NcclWaitSignalDesc_t(nil), hostmem.Slice[ncclapi.NcclWaitSignalDesc_t](at, int(n))...)
	for _, d := range list {
		if d.Peer < 0 || int(d.Peer) >= c.n || d.OpCnt < 0 {
			return badArgument("ncclWaitSignal: %d of rank %d", d.OpCnt, d.Peer)
		}
		if err := checkSignal(d.SigIdx, d.Ctx); err != nil {
			return err
		}
	}
	return t.enqueue(&op{kind: waitSignal, waits: list}, h, nil, s)
}
