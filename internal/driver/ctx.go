package driver

import (
	"errors"
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/driver/orderlock"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// Context owns streams, events, modules and memory on one device. A created context lives from create to destroy; a
// device's primary context is one object for good that is alive while it is retained.
//
// Lock order: Device.mu, Context.order, Stream.mu, then Context.mu or tailMu. None but Device.mu is held while waiting for
// work, and none while a caller's memory is touched, so a bad pointer or a slow kernel cannot block other threads.
type Context struct {
	state   *state
	dev     *Device
	handle  cu.CUcontext
	id      uint64
	primary bool
	green   *Green // whose context this is; nil for others
	alive   atomic.Bool
	domain  atomic.Uint64 // of faults: new at each waking, so that a fault does not outlive a reset
	fault   atomic.Int32  // sticky Result of a kernel fault, 0 if none

	order     orderlock.RWLock // see Stream.begin
	legacySeq uint64           // guarded by order: pieces of work put into the legacy stream
	legacy    atomic.Pointer[Stream]
	blocking  atomic.Pointer[[]*Stream] // those that the legacy stream waits for; written under mu, replaced, never changed in place

	// Tickets were given that the order concerns (core_fastpath.go): for the legacy stream, which had it to itself, and for blocking ones.
	aloneTickets, dirtyTickets atomic.Bool
	staged                     *atomic.Uint64 // len(staging), where C sees it

	tailMu lockrank.Mutex[lockrank.DriverTail] // held under order, for legacyTail only
	tail   backend.Fence                       // guarded by tailMu: end of the legacy stream at tailAt
	tailAt uint64                              // guarded by tailMu

	mu        lockrank.Mutex[lockrank.DriverContext]
	flags     uint32                              // guarded by mu, as the rest
	refs      int                                 // cuCtxAttach
	limits    [numLimits]uint64                   //
	cache     cu.CUfunc_cache                     //
	streams   map[*Stream]struct{}                // created ones
	perThread map[uint64]*Stream                  // by Thread.ID
	events    map[*Event]struct{}                 //
	modules   map[*Module]struct{}                //
	discarded map[backend.Program][]cu.CUfunction // of modules that only graphs have, with what graphOnly has of them
	zombies   []*Stream                           // destroyed while busy
	peers     map[cu.CUcontext]*Device            // CtxEnablePeerAccess: the other context's
	loaded    map[*Library]*Module                // libraries used here
	staging   []stagedCopy                        // buffers of copies in flight

	lanes      []backend.Queue // queues of graphs that no executable has
	laneQueues []backend.Queue // all queues of graphs
}

const (
	schedMask      = cu.CU_CTX_SCHED_MASK
	coredumpFlags  = uint32(cu.CU_CTX_COREDUMP_ENABLE | cu.CU_CTX_USER_COREDUMP_ENABLE)
	ctxFlagsMask   = uint32(cu.CU_CTX_FLAGS_MASK)
	contextVersion = 3020 // what cuCtxGetApiVersion answers for every way to make a context
)

// checkFlags refuses what cuCtxCreate refuses.
func checkFlags(flags uint32) error {
	switch cu.CUctx_flags(flags) & schedMask {
	case cu.CU_CTX_SCHED_AUTO, cu.CU_CTX_SCHED_SPIN, cu.CU_CTX_SCHED_YIELD, cu.CU_CTX_SCHED_BLOCKING_SYNC:
	default:
		return errInvalidValue
	}
	if flags&^ctxFlagsMask != 0 {
		return errInvalidValue
	}
	return nil
}

// normalFlags is how flags read back: a user-triggered core dump implies core dumps.
func normalFlags(flags uint32) uint32 {
	if flags&uint32(cu.CU_CTX_USER_COREDUMP_ENABLE) != 0 {
		flags = flags&^uint32(cu.CU_CTX_USER_COREDUMP_ENABLE) | uint32(cu.CU_CTX_COREDUMP_ENABLE)
	}
	return flags
}

// newContext makes a context that is not alive yet.
func (s *state) newContext(d *Device, primary bool) (*Context, error) {
	c := &Context{state: s, dev: d, primary: primary, id: s.contextN.Add(1)}
	c.staged = &counters(s, c, 1)[0]
	h := s.contexts.New(c)
	if h == 0 {
		return nil, errOutOfMemory
	}
	c.handle = cu.CUcontext(h)
	return c, nil
}

// wake makes a context usable.
func (c *Context) wake(flags uint32) error {
	c.domain.Store(c.state.domainN.Add(1))
	q, err := c.newQueue(leastPriority)
	if err != nil {
		return plain(err)
	}
	c.order.Lock()
	c.legacySeq, c.tail, c.tailAt = 0, nil, 0
	c.order.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flags, c.refs, c.limits, c.cache = flags, 1, defaultLimits, 0
	c.streams, c.perThread = map[*Stream]struct{}{}, map[uint64]*Stream{}
	c.blocking.Store(nil)
	c.events, c.modules, c.loaded = map[*Event]struct{}{}, map[*Module]struct{}{}, map[*Library]*Module{}
	c.peers = nil
	legacy := c.streamOn(q, legacyStream, 0)
	legacy.traceStream()
	c.legacy.Store(legacy)
	c.fault.Store(0)
	c.alive.Store(true)
	return nil
}

// newQueue makes a queue whose faults end this context only, where the device can tell contexts apart.
func (c *Context) newQueue(priority int32) (backend.Queue, error) {
	if d, ok := c.dev.dev.(backend.Domains); ok {
		return d.NewQueueIn(c.domain.Load(), int(-priority))
	}
	return c.dev.dev.NewQueue(int(-priority))
}

// put ends a context: waits for its work and frees all it owns. The object stays, for a primary context to wake again.
func (c *Context) put() {
	c.mu.Lock()
	if !c.alive.Swap(false) {
		c.mu.Unlock()
		return
	}
	all := c.allStreams()
	streams, events, modules, lanes, peers := c.streams, c.events, c.modules, c.laneQueues, c.peers
	discarded := c.discarded
	c.lanes, c.laneQueues, c.discarded = nil, nil, nil
	c.streams, c.events, c.modules, c.perThread, c.zombies, c.loaded, c.peers = nil, nil, nil, nil, nil, nil, nil
	c.blocking.Store(nil)
	c.mu.Unlock()
	c.state.changed()

	c.state.dropCaptures(func(st *Stream) bool { return st.ctx == c }, true)
	for st := range streams {
		if c.green == nil { // a green context's streams stay as handles
			c.state.streams.Delete(handle.Value(st.handle))
		}
	}
	for e := range events {
		c.state.events.Delete(handle.Value(e.handle))
		e.unshare()
	}
	for _, st := range all {
		_ = st.q.Close() // waits; a fault was said when it was seen
	}
	for _, q := range lanes {
		_ = q.Close()
	}
	for m := range modules {
		m.drop()
	}
	for p, kept := range discarded {
		c.state.unload(p, kept)
	}
	for _, a := range c.state.allocs.takeAll(func(a *alloc) bool { return a.ctx == c && a.kind != allocMapped }) {
		a.release()
	}
	for _, d := range peers {
		_ = bring(c.dev, d, false) // nobody is left to hear of it
	}
	forgetCoredumps(c.id)
	c.state.dropArrays(c)
	c.state.forgetPools(c)
	c.releaseStaging(true)
}

// allStreams is every stream with a queue, the legacy one first.
//
// Preconditions: c.mu is held.
func (c *Context) allStreams() []*Stream {
	all := append(make([]*Stream, 0, 1+len(c.streams)+len(c.perThread)+len(c.zombies)), c.legacy.Load())
	for st := range c.streams {
		all = append(all, st)
	}
	for _, st := range c.perThread {
		all = append(all, st)
	}
	return append(all, c.zombies...)
}

// usable answers the sticky fault, or that the context is gone.
func (c *Context) usable() error {
	if !c.alive.Load() {
		return errDestroyed
	}
	if f := c.fault.Load(); f != 0 {
		return Result(f)
	}
	return nil
}

// top is the current context, alive or not; nil if there is none or it was destroyed.
func (t *Thread) top(s *state) (c *Context, set bool) {
	if t.Depth == 0 || t.Depth > MaxContextStack {
		return nil, false
	}
	return s.contexts.Get(handle.Value(t.Stack[t.Depth-1])), true
}

// context is the current context, ready for work.
func (t *Thread) context() (*Context, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	c, set := t.top(s)
	switch {
	case !set:
		return nil, errInvalidContext
	case c == nil:
		return nil, errDestroyed
	}
	return c, c.usable()
}

// contextOf is the context with handle h, or the current one if h is 0.
func (t *Thread) contextOf(h cu.CUcontext) (*Context, error) {
	if h == 0 {
		return t.context()
	}
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	c := s.contexts.Get(handle.Value(h))
	if c == nil || !c.alive.Load() {
		return nil, errInvalidContext
	}
	return c, nil
}

// CtxCreate makes a context and pushes it.
func (t *Thread) CtxCreate(flags uint32, dev cu.CUdevice) (cu.CUcontext, error) {
	d, err := t.device(dev)
	if err != nil {
		return 0, err
	}
	if err := checkFlags(flags); err != nil {
		return 0, err
	}
	if !t.room() {
		return 0, errOutOfMemory
	}
	c, err := current.Load().newContext(d, false)
	if err != nil {
		return 0, err
	}
	if err := c.wake(normalFlags(flags)); err != nil {
		c.state.contexts.Delete(handleValue(c.handle))
		return 0, err
	}
	t.push(c.handle)
	return c.handle, nil
}

// CtxCreateV3 is CtxCreate with execution affinity, which no device here has.
func (t *Thread) CtxCreateV3(params hostmem.Ptr, n int32, flags uint32, dev cu.CUdevice) (cu.CUcontext, error) {
	if n > 0 && params == hostmem.Nil { // fewer than none are none, as the real driver has it
		return 0, errInvalidValue
	}
	if n > 0 {
		return 0, Result(cu.CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)
	}
	return t.CtxCreate(flags, dev)
}

// CtxCreateV4 is CtxCreate with optional parameters for affinity or graphics, neither of which is offered.
func (t *Thread) CtxCreateV4(params hostmem.Ptr, flags uint32, dev cu.CUdevice) (cu.CUcontext, error) {
	if params != hostmem.Nil {
		p := hostmem.Load[cu.CUctxCreateParams](params)
		if p.NumExecAffinityParams != 0 || p.ExecAffinityParams != 0 {
			return 0, Result(cu.CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)
		}
		if p.CigParams != 0 {
			return 0, errNotSupported
		}
	}
	return t.CtxCreate(flags, dev)
}

// CtxDestroy ends a context, and pops it if it is the caller's current one. Where else it is current, it stays there dead.
func (t *Thread) CtxDestroy(h cu.CUcontext) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	if h == 0 {
		return errInvalidValue
	}
	c := s.contexts.Get(handle.Value(h))
	if c == nil || c.primary || c.green != nil || s.contexts.Delete(handle.Value(h)) == nil {
		return errInvalidContext
	}
	s.graves.add(h, c.epitaph())
	if t.Depth > 0 && t.Stack[t.Depth-1] == uint64(h) {
		t.pop()
	}
	c.put()
	return nil
}

// known accepts what may stand on the stack: any context that lives or lived. The real driver accepts a destroyed one too,
// which programs rely on when they restore what was current.
func (s *state) known(h cu.CUcontext) bool {
	return s.contexts.Get(handle.Value(h)) != nil || s.contexts.Stale(handle.Value(h))
}

// CtxPushCurrent makes h current above what is.
func (t *Thread) CtxPushCurrent(h cu.CUcontext) error {
	s, err := t.enter()
	switch {
	case err != nil:
		return err
	case h == 0:
		return errInvalidValue
	case !s.known(h):
		return errInvalidContext
	case !t.room():
		return errOutOfMemory
	}
	t.push(h)
	return nil
}

// CtxPopCurrent takes the top off and returns it.
func (t *Thread) CtxPopCurrent() (cu.CUcontext, error) {
	if _, err := t.enter(); err != nil {
		return 0, err
	}
	if t.Depth == 0 {
		return 0, errInvalidContext
	}
	h := cu.CUcontext(t.Stack[t.Depth-1])
	t.pop()
	return h, nil
}

// CtxSetCurrent replaces the top of the stack; 0 pops it.
func (t *Thread) CtxSetCurrent(h cu.CUcontext) error {
	s, err := t.enter()
	switch {
	case err != nil:
		return err
	case h == 0 && t.Depth > 0:
		t.pop()
	case h == 0:
	case !s.known(h):
		return errInvalidContext
	case t.Depth == 0:
		t.push(h)
	default:
		t.Stack[t.Depth-1] = uint64(h)
	}
	return nil
}

// CtxGetCurrent is the top of the stack, or 0; it works in any state of the context.
func (t *Thread) CtxGetCurrent() (cu.CUcontext, error) {
	if _, err := t.enter(); err != nil {
		return 0, err
	}
	if t.Depth == 0 {
		return 0, nil
	}
	return cu.CUcontext(t.Stack[t.Depth-1]), nil
}

// CtxAttach adds a reference to the current context.
func (t *Thread) CtxAttach(flags uint32) (cu.CUcontext, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	if flags != 0 {
		return 0, errInvalidValue
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refs++
	return c.handle, nil
}

// CtxDetach takes a reference away; the last one destroys.
func (t *Thread) CtxDetach(h cu.CUcontext) error {
	c, err := t.contextOf(h)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.refs--
	last := c.refs <= 0
	c.mu.Unlock()
	if last {
		return t.CtxDestroy(c.handle)
	}
	return nil
}

// CtxSynchronize waits for all work of the current context.
func (t *Thread) CtxSynchronize() error {
	gen := generation()
	err := t.CtxSynchronizeV2(0)
	if err == nil && gen != 0 {
		t.passWaitAll(gen)
	}
	return err
}

// CtxSynchronizeV2 waits for all work of a context.
func (t *Thread) CtxSynchronizeV2(h cu.CUcontext) error {
	c, err := t.contextOf(h)
	if err != nil {
		return err
	}
	if err := t.syncing(c); err != nil {
		return err
	}
	return c.sync()
}

// sync waits for all work put into the context's streams before the call.
func (c *Context) sync() error {
	if err := c.usable(); err != nil {
		return err
	}
	c.mu.Lock()
	if !c.alive.Load() {
		c.mu.Unlock()
		return errDestroyed
	}
	var busy []*Stream
	for _, st := range c.allStreams() {
		if st.put.Load() != st.synced.Load() {
			busy = append(busy, st)
		}
	}
	idle := len(busy) == 0 && len(c.zombies) == 0 && len(c.staging) == 0
	c.mu.Unlock()
	if idle {
		c.dev.trimPools()
		return nil
	}
	var first error
	for _, st := range busy {
		// Closed: the stream was destroyed and empty since the list was read.
		if err := st.wait(); err != nil && first == nil && !errors.Is(err, errDestroyed) {
			first = err
		}
	}
	c.reap()
	c.releaseStaging(false)
	c.dev.trimPools()
	if first == nil && !c.alive.Load() {
		return errDestroyed
	}
	if f := c.fault.Load(); first == nil && f != 0 { // of work that no stream has: the body of a condition
		return Result(f)
	}
	return first
}

// ThreadEnded frees what the driver keeps for a host thread. Base calls it when the thread ends; work in flight goes on.
func ThreadEnded(id uint64) {
	s := current.Load()
	if s == nil {
		return
	}
	s.captureModes.Delete(id)
	spilled.Delete(id)
	s.contexts.All(func(_ handle.Value, c *Context) bool {
		c.mu.Lock()
		if st := c.perThread[id]; st != nil {
			delete(c.perThread, id)
			c.zombies = append(c.zombies, st)
		}
		c.mu.Unlock()
		c.reap()
		return true
	})
}
