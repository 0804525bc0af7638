package driver

import (
	"errors"
	"slices"
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

type streamKind uint8

const (
	blockingStream    streamKind = iota // ordered with the legacy stream; per-thread default streams are such
	nonBlockingStream                   // ordered with nothing
	legacyStream                        // ordered with every blocking stream
)

// Stream is a queue of work.
//
// The legacy stream is ordered with all blocking streams of its context: its work waits for all they had, and what they
// get later waits for it. This is done with fences when work is put in. To decide and to put in must be one step, so work
// for the legacy stream is put in under Context.order held for writing, work for a blocking stream under order held for
// reading and the stream's own mu. Non-blocking streams take no lock. The locks are held while enqueuing only.
type Stream struct {
	ctx      *Context
	handle   cu.CUstream // 0 for default streams
	id       uint64
	kind     streamKind
	priority int32
	q        backend.Queue

	mu    lockrank.Mutex[lockrank.DriverStream]
	seen  uint64      // guarded by mu: Context.legacySeq that this stream has waited for
	dirty atomic.Bool // has work that the legacy stream has not waited for

	put    *atomic.Uint64 // pieces of work put in; C sees it, as the next
	synced *atomic.Uint64 // a value of put that was waited for to the end

	capture atomic.Pointer[capture] // where work goes instead of q

	attrMu lockrank.Mutex[lockrank.DriverStreamAttrs]
	attrs  map[cu.CUstreamAttrID]cu.CUstreamAttrValue // guarded by attrMu
}

func handleValue[H ~uint64](h H) handle.Value { return handle.Value(h) }

// stream finds a stream: 0 is the caller's default stream, 1 the legacy, 2 the per-thread one.
func (t *Thread) stream(h cu.CUstream) (*Stream, error) {
	if h > cu.CU_STREAM_PER_THREAD {
		s, err := t.enter()
		if err != nil {
			return nil, err
		}
		st := s.streams.Get(handleValue(h))
		if st == nil {
			return nil, errInvalidHandle
		}
		return st, st.ctx.gone()
	}
	c, err := t.context()
	if err != nil {
		return nil, err
	}
	if h == cu.CU_STREAM_PER_THREAD || h == 0 && t.Flags&ThreadPerThread != 0 {
		t.Flags |= ThreadKept
		return c.threadStream(t.ID)
	}
	return c.legacy.Load(), nil
}

// threadStream is the default stream of one host thread.
func (c *Context) threadStream(id uint64) (*Stream, error) {
	c.mu.Lock()
	st := c.perThread[id]
	c.mu.Unlock()
	if st != nil {
		return st, nil
	}
	st, err := c.newStream(blockingStream, 0)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.perThread == nil {
		_ = st.q.Close() // empty: nobody has seen it
		return nil, errDestroyed
	}
	c.perThread[id] = st
	st.traceStream()
	c.remember(st)
	c.state.changed()
	return st, nil
}

func (c *Context) newStream(kind streamKind, priority int32) (*Stream, error) {
	q, err := c.newQueue(priority)
	if err != nil {
		return nil, c.fail(err)
	}
	return c.streamOn(q, kind, priority), nil
}

// streamOn is a stream on a queue.
func (c *Context) streamOn(q backend.Queue, kind streamKind, priority int32) *Stream {
	st := &Stream{ctx: c, q: q, kind: kind, priority: priority, id: c.state.streamN.Add(1)}
	words := counters(c.state, st, 2)
	st.put, st.synced = &words[0], &words[1]
	return st
}

// begin readies the stream for one piece of work; the caller puts it into s.q and calls end, error or not.
// Where begin fails nothing is held.
func (s *Stream) begin() error {
	c := s.ctx
	switch s.kind {
	case blockingStream:
		if c.aloneTickets.Load() {
			c.order.Lock()
			c.notAlone()
			c.order.Unlock()
		}
		c.order.RLock()
		s.mu.Lock()
		if seq := c.legacySeq; seq != s.seen {
			if err := s.afterLegacy(seq); err != nil {
				s.end()
				return c.fail(err)
			}
		}
		s.dirty.Store(true)
	case legacyStream:
		if err := c.implicit(true); err != nil {
			return err
		}
		c.order.Lock()
		if _, err := s.afterBlocking(); err != nil {
			s.end()
			return c.fail(err)
		}
		c.legacySeq++
	case nonBlockingStream:
	}
	return nil
}

// end counts the work only once it is in the queue: a waiter that sees the count must wait for the work.
func (s *Stream) end() {
	s.put.Add(1)
	switch s.kind {
	case blockingStream:
		s.mu.Unlock()
		s.ctx.order.RUnlock()
	case legacyStream:
		s.ctx.order.Unlock()
	case nonBlockingStream:
	}
}

// enqueue puts one piece of work in. The locks are given back whatever happens to it.
func (s *Stream) enqueue(work func(q backend.Queue) error) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	return work(s.q)
}

// afterLegacy makes a blocking stream wait for the legacy stream's work up to seq.
//
// Preconditions: order is held for reading, so nothing is put into the legacy stream; s.mu is held.
func (s *Stream) afterLegacy(seq uint64) error {
	c := s.ctx
	c.tailMu.Lock()
	defer c.tailMu.Unlock()
	if c.tail == nil || c.tailAt != seq { // nil: the context woke again since s was looked up
		f, err := c.legacy.Load().q.Mark()
		if err != nil {
			return err
		}
		c.tail, c.tailAt = f, seq
	}
	if done, err := c.tail.Done(); err != nil || !done {
		if err != nil {
			return err
		}
		if err := s.q.Wait(c.tail); err != nil {
			return err
		}
	}
	s.seen = seq
	return nil
}

// afterBlocking makes the legacy stream wait for what the blocking streams have, and reports whether they had anything.
//
// Preconditions: order is held for writing.
func (s *Stream) afterBlocking() (waits bool, err error) {
	s.ctx.dirtied()
	for _, b := range s.ctx.blockers() {
		if !b.dirty.Swap(false) {
			continue
		}
		done, err := b.q.Done()
		if err == nil && !done {
			var f backend.Fence
			if f, err = b.q.Mark(); err == nil {
				err = s.q.Wait(f)
				waits = true
			}
		}
		if err != nil && !errors.Is(err, backend.ErrClosed) { // closed: destroyed and empty since the list was read
			return waits, err
		}
	}
	return waits, nil
}

// wait blocks until the work put in so far is done.
func (s *Stream) wait() error {
	n := s.put.Load()
	if n == s.synced.Load() {
		return nil
	}
	err := s.q.Sync()
	if err == nil {
		s.synced.Store(n)
		if f := s.ctx.fault.Load(); f != 0 { // of work that no stream has: the body of a condition
			return Result(f)
		}
	}
	return s.ctx.fail(err)
}

// sync is wait with the legacy stream's order: to wait for it is to wait for the blocking streams too.
func (s *Stream) sync() error {
	if s.kind == legacyStream {
		s.ctx.order.Lock()
		waits, err := s.afterBlocking()
		if waits {
			s.put.Add(1)
		}
		s.ctx.order.Unlock()
		if err != nil {
			return s.ctx.fail(err)
		}
	}
	err := s.wait()
	s.ctx.dev.trimPools()
	return err
}

// idle reports whether sync would return at once.
func (s *Stream) idle() (bool, error) {
	if done, err := s.q.Done(); err != nil || !done {
		return false, s.ctx.fail(err)
	}
	if s.kind != legacyStream {
		return true, nil
	}
	for _, b := range s.ctx.blockers() {
		if done, err := b.q.Done(); err != nil && !errors.Is(err, backend.ErrClosed) || err == nil && !done {
			return false, s.ctx.fail(err)
		}
	}
	return true, nil
}

// mark is a fence after the stream's work so far.
func (s *Stream) mark() (backend.Fence, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.end()
	f, err := s.q.Mark()
	return f, s.ctx.fail(err)
}

// StreamCreate makes a stream of the current context.
func (t *Thread) StreamCreate(flags uint32) (cu.CUstream, error) {
	return t.StreamCreateWithPriority(flags, leastPriority)
}

// StreamCreateWithPriority makes a stream; a priority outside the range is moved into it.
func (t *Thread) StreamCreateWithPriority(flags uint32, priority int32) (cu.CUstream, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	return c.openStream(flags, priority)
}

// openStream makes a stream with a handle.
func (c *Context) openStream(flags uint32, priority int32) (cu.CUstream, error) {
	if flags&^uint32(cu.CU_STREAM_NON_BLOCKING) != 0 {
		return 0, errInvalidValue
	}
	kind := blockingStream
	if flags != 0 {
		kind = nonBlockingStream
	}
	st, err := c.newStream(kind, min(leastPriority, max(greatestPriority, priority)))
	if err != nil {
		return 0, err
	}
	h := c.state.streams.New(st)
	if h == 0 {
		_ = st.q.Close()
		return 0, errOutOfMemory
	}
	st.handle = cu.CUstream(h)
	st.traceStream()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.streams == nil { // the context ended meanwhile, and did not see the stream
		c.state.streams.Delete(h)
		_ = st.q.Close()
		return 0, errDestroyed
	}
	c.streams[st] = struct{}{}
	if kind == blockingStream {
		c.remember(st)
	}
	c.state.changed()
	return st.handle, nil
}

// StreamDestroy gives a stream back. Work still in it goes on, and the queue is closed when that is done.
func (t *Thread) StreamDestroy(h cu.CUstream) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	st := s.streams.Get(handleValue(h))
	if st == nil {
		return errInvalidHandle
	}
	c := st.ctx
	if err := c.gone(); err != nil && err != errStreamDetached { // of a detached stream only the handle is left
		return err
	}
	if s.streams.Delete(handleValue(h)) == nil {
		return errInvalidHandle
	}
	st.traceClosed()
	s.changed()
	s.dropCaptures(func(x *Stream) bool { return x == st }, false)
	c.dev.graphMem.forget(st)
	c.mu.Lock()
	delete(c.streams, st)
	if c.streams != nil {
		c.zombies = append(c.zombies, st)
	}
	c.mu.Unlock()
	c.reap()
	return nil
}

// blockers are the streams that the legacy stream waits for: read at each of its launches, so without a lock.
func (c *Context) blockers() []*Stream {
	if list := c.blocking.Load(); list != nil {
		return *list
	}
	return nil
}

// remember puts a stream on the legacy stream's list.
//
// Preconditions: c.mu is held.
func (c *Context) remember(st *Stream) {
	list := append(slices.Clone(c.blockers()), st)
	c.blocking.Store(&list)
}

// forget takes it off.
//
// Preconditions: c.mu is held.
func (c *Context) forget(st *Stream) {
	if i := slices.Index(c.blockers(), st); i >= 0 {
		list := slices.Delete(slices.Clone(c.blockers()), i, i+1)
		c.blocking.Store(&list)
	}
}

// reap closes destroyed streams whose work is done. Until then they stay in the legacy stream's order.
func (c *Context) reap() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.zombies = slices.DeleteFunc(c.zombies, func(st *Stream) bool {
		if done, err := st.q.Done(); err != nil || !done {
			return false
		}
		c.forget(st)
		_ = st.q.Close() // empty: returns at once
		return true
	})
}

// StreamSynchronize waits for a stream's work.
func (t *Thread) StreamSynchronize(h cu.CUstream) error {
	gen := generation()
	st, err := t.stream(h)
	if err != nil {
		return err
	}
	if err := t.waits(st); err != nil {
		return err
	}
	if err = st.sync(); err == nil && gen != 0 {
		t.passWait(gen, h, st)
	}
	return err
}

// StreamQuery is NOT_READY while there is work.
func (t *Thread) StreamQuery(h cu.CUstream) error {
	gen := generation()
	st, err := t.stream(h)
	if err != nil {
		return err
	}
	if err := t.waits(st); err != nil {
		return err
	}
	done, err := st.idle()
	if err == nil && !done {
		return errNotReady
	}
	if err == nil && gen != 0 {
		t.passWait(gen, h, st)
	}
	return err
}

// StreamWaitEvent delays the stream's later work until the event's last record is reached; an event never recorded is.
func (t *Thread) StreamWaitEvent(h cu.CUstream, event cu.CUevent, flags uint32) error {
	st, err := t.stream(h)
	if err != nil {
		return err
	}
	e, err := t.event(event)
	if err != nil {
		return err
	}
	if flags&^uint32(cu.CU_EVENT_WAIT_EXTERNAL) != 0 {
		return errInvalidValue
	}
	if flags != 0 || st.capture.Load() != nil || e.capturedAt() != nil {
		return t.waitCaptured(st, e, flags != 0)
	}
	if file := e.shared(); file != nil {
		return file.hold(st)
	}
	f := e.last()
	if f == nil {
		return nil
	}
	if done, err := f.Done(); err == nil && done {
		return nil
	}
	if err := st.begin(); err != nil {
		return err
	}
	defer st.end()
	return st.ctx.fail(st.q.Wait(f))
}

// LaunchHostFunc calls fn(user) when the stream gets there; not after a fault.
func (t *Thread) LaunchHostFunc(h cu.CUstream, fn cu.CUhostFn, user hostmem.Ptr) error {
	st, err := t.stream(h)
	if err != nil {
		return err
	}
	k, err := newHostTask(st.ctx.state, fn, uint64(user))
	if err != nil {
		return err
	}
	return t.submit(st, k)
}

// StreamAddCallback calls fn(stream, status, user) when the stream gets there, after a fault too where the device can.
func (t *Thread) StreamAddCallback(h cu.CUstream, fn cu.CUstreamCallback, user hostmem.Ptr, flags uint32) error {
	st, err := t.stream(h)
	if err != nil {
		return err
	}
	call := st.ctx.state.callBack
	switch {
	case fn == 0 || flags != 0:
		return errInvalidValue
	case call == nil:
		return errNotSupported
	}
	if err := t.notCaptured(st); err != nil {
		return err
	}
	if err := st.begin(); err != nil {
		return err
	}
	defer st.end()
	status := uint64(0)
	run := tracedHost(st.q, func() { call(uint64(fn), uint64(h), status, uint64(user), 0) })
	if q, ok := st.q.(backend.Callbacks); ok {
		return st.ctx.fail(q.Callback(func(err error) {
			if r, ok := st.ctx.fail(err).(Result); ok {
				status = uint64(r)
			}
			run()
		}))
	}
	return st.ctx.fail(st.q.Host(run))
}

// StreamGetFlags is the flags a stream was made with.
func (t *Thread) StreamGetFlags(h cu.CUstream) (uint32, error) {
	st, err := t.stream(h)
	if err != nil {
		return 0, err
	}
	if err := t.notCaptured(st); err != nil { // as the real driver has it
		return 0, err
	}
	if st.kind != nonBlockingStream {
		return 0, nil
	}
	return uint32(cu.CU_STREAM_NON_BLOCKING), nil
}

// StreamGetPriority is the priority a stream got.
func (t *Thread) StreamGetPriority(h cu.CUstream) (int32, error) {
	st, err := t.stream(h)
	if err != nil {
		return 0, err
	}
	return st.priority, nil
}

// StreamGetCtx is the stream's context.
func (t *Thread) StreamGetCtx(h cu.CUstream) (cu.CUcontext, error) {
	st, err := t.stream(h)
	if err != nil {
		return 0, err
	}
	return st.ctx.handle, nil
}

// StreamGetId is unique in the process.
func (t *Thread) StreamGetId(h cu.CUstream) (uint64, error) {
	st, err := t.stream(h)
	if err != nil {
		return 0, err
	}
	return st.id, nil
}

// StreamGetDevice is the stream's device.
func (t *Thread) StreamGetDevice(h cu.CUstream) (cu.CUdevice, error) {
	st, err := t.stream(h)
	if err != nil {
		return 0, err
	}
	return st.ctx.dev.ordinal, nil
}
