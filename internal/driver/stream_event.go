package driver

import (
	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// Event is a place in a stream's work.
type Event struct {
	ctx    *Context
	handle cu.CUevent
	flags  uint32

	mu    lockrank.Mutex[lockrank.DriverEvent]
	fence backend.Fence  // guarded by mu: the last record, nil before the first
	inCap *capturedEvent // guarded by mu: the last record, if a captured stream's
	file  *eventFile     // guarded by mu: of an event that other processes see
	given bool           // it came from another process
}

// moveTo is a record: of a stream, or of a captured one.
func (e *Event) moveTo(f backend.Fence, c *capturedEvent) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fence, e.inCap = f, c
}

// capturedAt is where the last record is, if a captured stream's.
func (e *Event) capturedAt() *capturedEvent {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.inCap
}

// asked refuses to tell about an event whose record has not run because it is captured.
func (t *Thread) asked(e *Event) error {
	if at := e.capturedAt(); at != nil {
		if t.over(at.c) {
			return errInvalidValue
		}
		t.invalidate(at.c)
		return errCapturedEvent
	}
	return t.risky(e.ctx.state)
}

const (
	eventFlags       = uint32(cu.CU_EVENT_BLOCKING_SYNC | cu.CU_EVENT_DISABLE_TIMING | cu.CU_EVENT_INTERPROCESS)
	eventUntimed     = uint32(cu.CU_EVENT_DISABLE_TIMING)
	eventInterproc   = uint32(cu.CU_EVENT_INTERPROCESS)
	nanosPerMilli    = 1e6
	recordExternal   = uint32(cu.CU_EVENT_RECORD_EXTERNAL)
	recordFlagsKnown = recordExternal
)

// event finds an event.
func (t *Thread) event(h cu.CUevent) (*Event, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	e := s.events.Get(handleValue(h))
	if e == nil {
		return nil, errInvalidHandle
	}
	return e, e.ctx.usable()
}

// last is the fence of the last record.
func (e *Event) last() backend.Fence {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.fence
}

// EventCreate makes an event of the current context.
func (t *Thread) EventCreate(flags uint32) (cu.CUevent, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	// An event shared between processes cannot carry times.
	if flags&^eventFlags != 0 || flags&eventInterproc != 0 && flags&eventUntimed == 0 {
		return 0, errInvalidValue
	}
	e := &Event{ctx: c, flags: flags}
	h := c.state.events.New(e)
	if h == 0 {
		return 0, errOutOfMemory
	}
	e.handle = cu.CUevent(h)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.events == nil {
		c.state.events.Delete(h)
		return 0, errDestroyed
	}
	c.events[e] = struct{}{}
	return e.handle, nil
}

// EventDestroy gives an event back. Work that waits for it goes on waiting for the place it stood for.
func (t *Thread) EventDestroy(h cu.CUevent) error {
	e, err := t.event(h)
	if err != nil {
		return err
	}
	if e.ctx.state.events.Delete(handleValue(h)) == nil {
		return errInvalidHandle
	}
	e.ctx.mu.Lock()
	delete(e.ctx.events, e)
	e.ctx.mu.Unlock()
	e.unshare()
	return nil
}

// EventRecord moves the event to the end of the stream's work.
func (t *Thread) EventRecord(h cu.CUevent, stream cu.CUstream) error {
	return t.EventRecordWithFlags(h, stream, 0)
}

// EventRecordWithFlags is EventRecord; its flag is for captures only.
func (t *Thread) EventRecordWithFlags(h cu.CUevent, stream cu.CUstream, flags uint32) error {
	st, err := t.stream(stream)
	if err != nil {
		return err
	}
	e, err := t.event(h)
	switch {
	case err != nil:
		return err
	case !e.ctx.kin(st.ctx):
		return errInvalidHandle
	case flags&^recordFlagsKnown != 0:
		return errInvalidValue
	}
	if c := st.capture.Load(); c != nil {
		return t.recordEvent(st, c, e, flags&recordExternal != 0)
	}
	if flags&recordExternal != 0 {
		return errIllegalState
	}
	if file := e.shared(); file != nil {
		if err := file.record(st); err != nil {
			return err
		}
	}
	f, err := st.mark()
	if err != nil {
		return err
	}
	e.moveTo(f, nil)
	return nil
}

// EventQuery is NOT_READY until the last record is reached.
func (t *Thread) EventQuery(h cu.CUevent) error {
	e, err := t.event(h)
	if err != nil {
		return err
	}
	if err := t.asked(e); err != nil {
		return err
	}
	if file := e.shared(); file != nil {
		if !file.reached(file.last()) {
			return errNotReady
		}
		return nil
	}
	f := e.last()
	if f == nil {
		return nil
	}
	done, err := f.Done()
	if err == nil && !done {
		return errNotReady
	}
	return e.ctx.fail(err)
}

// EventSynchronize waits until the last record is reached.
func (t *Thread) EventSynchronize(h cu.CUevent) error {
	e, err := t.event(h)
	if err != nil {
		return err
	}
	if err := t.asked(e); err != nil {
		return err
	}
	if file := e.shared(); file != nil {
		file.wait(file.last())
		return e.ctx.usable()
	}
	f := e.last()
	if f == nil {
		return nil
	}
	err = e.ctx.fail(f.Sync())
	e.ctx.dev.trimPools()
	return err
}

// EventElapsedTime writes the milliseconds between two records that were reached. Without a place for them it speaks of a bad
// handle, as the real driver does.
func (t *Thread) EventElapsedTime(out hostmem.Ptr, start, end cu.CUevent) error {
	if out == hostmem.Nil {
		return errInvalidHandle
	}
	ms, err := t.Elapsed(start, end)
	if err == nil {
		hostmem.Store(out, ms)
	}
	return err
}

// Elapsed is the milliseconds between two records that were reached.
func (t *Thread) Elapsed(start, end cu.CUevent) (float32, error) {
	a, err := t.event(start)
	if err != nil {
		return 0, err
	}
	b, err := t.event(end)
	if err != nil {
		return 0, err
	}
	fa, fb := a.last(), b.last()
	if a.flags&eventUntimed != 0 || b.flags&eventUntimed != 0 || fa == nil || fb == nil {
		return 0, errInvalidHandle
	}
	for _, f := range []backend.Fence{fa, fb} {
		done, err := f.Done()
		if err != nil {
			return 0, a.ctx.fail(err)
		}
		if !done {
			return 0, errNotReady
		}
	}
	return float32(float64(fb.Nanos()-fa.Nanos()) / nanosPerMilli), nil
}
