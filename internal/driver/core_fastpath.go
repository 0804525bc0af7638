package driver

import (
	"runtime"
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/spec/cu"
)

// The fast path: where the device can (backend.FastPath), a launch or a wait that is like one before is made by C without
// Go. What is decided here is which calls are so plain that nothing but a change could give them another answer:
//
//   - no stream is captured, in any context: captures refuse calls, or take them;
//   - launches into the legacy stream, while its context has no blocking stream: there is nothing to be ordered with;
//   - launches into a blocking stream, until the legacy stream next looks at what the blocking streams have;
//   - launches into a non-blocking stream;
//   - waits for a stream, or for a context that has the legacy stream only, and whether a stream is done;
//   - questions whose answer no call changes that does not say so: the current device, the state of a primary context, whether a
//     stream is captured.
//
// Whoever changes what a call was checked against changes it first and then calls changed: handles that end, captures that
// begin, faults, streams that are made, attributes of functions, references of textures, primary contexts that wake.

// findFastPath looks whether there is such a device.
func (s *state) findFastPath() {
	for _, d := range s.devices {
		if x, ok := d.dev.(backend.FastPath); ok {
			s.fast = x
		}
	}
	for _, d := range s.devices {
		d.pools.excess = &counters(s, d, 1)[0]
	}
}

// changed ends every ticket.
func (s *state) changed() {
	if s.fast != nil {
		s.fast.Changed()
	}
}

// EndTickets is for whoever names functions otherwise (LaunchNamed), when a name may mean something else from now on.
func (t *Thread) EndTickets() {
	if s := current.Load(); s != nil && s.ready.Load() {
		s.changed()
	}
}

// generation is what a ticket for the call that begins now is good for; 0: it gets none.
func generation() uint64 {
	s := current.Load()
	if s == nil || !s.ready.Load() || s.fast == nil {
		return 0
	}
	gen := s.fast.Generation()
	if s.captureN.Load() != 0 { // looked at after the generation, as all that is checked
		return 0
	}
	return gen
}

// counters are words that C may count in, freed with their owner.
func counters[T any](s *state, owner *T, n int) []atomic.Uint64 {
	if s.fast == nil {
		return make([]atomic.Uint64, n)
	}
	words, free := s.fast.Counters(n)
	runtime.AddCleanup(owner, func(free func()) { free() }, free)
	return words
}

// Generation is what an answer to the call that begins now is good for, for AnsweredDevice and AnsweredChosen.
func Generation() uint64 { return generation() }

// answered lets C give an answer again that was found since the generation was read: to a question about of, in the current context.
func (t *Thread) answered(gen uint64, ask backend.Ask, of uint64, value ...uint32) {
	if gen == 0 || t.Depth == 0 || t.Depth > MaxContextStack || !t.steady(gen) {
		return
	}
	var v [2]uint32
	copy(v[:], value)
	key := backend.TicketKey{Thread: &t.Tickets, Generation: gen, Context: t.Stack[t.Depth-1]}
	current.Load().fast.Answered(key, ask, of, v)
}

// AnsweredDevice is answered for the runtime's question for the current device.
func (t *Thread) AnsweredDevice(gen uint64, dev cu.CUdevice) {
	t.answered(gen, backend.AskDevice, 0, uint32(dev))
}

// AnsweredChosen says that the current context is the one that the choice of a device leads to.
func (t *Thread) AnsweredChosen(gen uint64, dev cu.CUdevice) {
	t.answered(gen, backend.AskChosen, uint64(dev))
}

// steady reports whether the generation is the one of the thread's call before: a ticket costs more than it saves where every call is
// followed by a change.
func (t *Thread) steady(gen uint64) bool {
	was := t.Passed
	t.Passed = gen
	return was == gen
}

// ticket lets C make launches like sc's, which was put into st a moment ago.
//
// Preconditions: what begin takes is held.
func (t *Thread) ticket(sc *scratch, f *Function, stream cu.CUstream, st *Stream) {
	c, l := st.ctx, &sc.launch
	q, ok := st.q.(backend.FastPathQueue)
	if !ok || launchBlocking() || l.Cooperative || l.Cluster != [3]uint32{} {
		return
	}
	key := t.ticketKey(sc.gen, stream, st)
	if key.Generation == 0 {
		return
	}
	key.Func = sc.name
	limits := backend.LaunchLimits{Shared: uint32(f.launchRoom(&f.facts))}
	for i := range limits.Grid {
		limits.Grid[i] = uint32(c.dev.info.MaxGrid[i])
	}
	q.TicketLaunch(key, f.kernel, l, limits, st.put)
}

// ticketKey is for work like that which is being put into st; with generation 0 there is no ticket for it.
//
// Preconditions: what begin takes is held.
func (t *Thread) ticketKey(gen uint64, stream cu.CUstream, st *Stream) (key backend.TicketKey) {
	c := st.ctx
	if gen == 0 || t.Depth == 0 || t.Depth > MaxContextStack || st.kind == legacyStream && len(c.blockers()) > 0 || !t.steady(gen) {
		return key
	}
	switch st.kind {
	case legacyStream:
		c.aloneTickets.Store(true)
	case blockingStream:
		c.dirtyTickets.Store(true)
	case nonBlockingStream:
	}
	return backend.TicketKey{Thread: &t.Tickets, Generation: gen, Stream: uint64(stream), Context: t.Stack[t.Depth-1]}
}

// notAlone ends the legacy stream's tickets: a blocking stream is about to get work. What C put in is not counted in legacySeq, as
// long as nobody asked.
//
// Preconditions: order is held for writing.
func (c *Context) notAlone() {
	if c.aloneTickets.Swap(false) {
		c.state.changed()
		c.legacySeq++
	}
}

// dirtied ends the blocking streams' tickets: what C puts in does not say that a stream is dirty.
//
// Preconditions: order is held for writing.
func (c *Context) dirtied() {
	if c.dirtyTickets.Swap(false) {
		c.state.changed()
	}
}

// passWait lets C wait for st, for which t has just waited.
func (t *Thread) passWait(gen uint64, stream cu.CUstream, st *Stream) {
	q, ok := st.q.(backend.FastPathQueue)
	if !ok || t.Depth == 0 || st.kind == legacyStream && len(st.ctx.blockers()) > 0 {
		return
	}
	key := backend.TicketKey{Thread: &t.Tickets, Generation: gen, Stream: uint64(stream), Context: t.Stack[t.Depth-1]}
	if t.steady(gen) {
		q.TicketWait(key, st.put, st.synced, [2]*atomic.Uint64{st.ctx.dev.pools.excess})
	}
}

// passWaitAll lets C wait for the current context, for which t has just waited.
func (t *Thread) passWaitAll(gen uint64) {
	c, err := t.context()
	if err != nil {
		return
	}
	st := c.legacy.Load()
	q, ok := st.q.(backend.FastPathQueue)
	if !ok {
		return
	}
	c.mu.Lock()
	only := c.alive.Load() && len(c.streams)+len(c.perThread)+len(c.zombies) == 0
	c.mu.Unlock()
	key := backend.TicketKey{Thread: &t.Tickets, Generation: gen, Stream: backend.AllStreams, Context: uint64(c.handle)}
	if only && t.steady(gen) {
		q.TicketWait(key, st.put, st.synced, [2]*atomic.Uint64{c.dev.pools.excess, c.staged})
	}
}
