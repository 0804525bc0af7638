package hip

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/hip"
)

// fence is a hipEvent_t.
type fence struct {
	q     *queue
	event atomic.Uintptr // 0 once it was given back
	drop  runtime.Cleanup
	from  *mark
	nanos atomic.Int64
}

var _ backend.Releaser = (*fence)(nil)

// clock turns differences of events, which are all HIP tells, into times. A difference is a float32 of milliseconds: exact to
// 60 ns within a second and useless within an hour, so the event that it is taken from is renewed.
type clock struct {
	mu   lockrank.Mutex[lockrank.HIPClock]
	mark *mark // guarded by mu
}

// mark is an event whose time we keep.
type mark struct {
	event uintptr
	made  time.Time
	prev  *mark

	once sync.Once
	at   int64
}

const renew = time.Second

// nanos is when the mark was: since the mark before it, and in the end since the first, which is at the host's time.
// Preconditions: its event is reached.
func (m *mark) nanos(a *api) int64 {
	m.once.Do(func() {
		if m.prev == nil {
			m.at = m.made.UnixNano()
			return
		}
		base := m.prev.nanos(a)
		ms, err := a.milliseconds(m.prev.event, m.event)
		if err != nil {
			ms = float64(m.made.Sub(m.prev.made).Microseconds()) / 1e3
		}
		m.at = base + int64(ms*1e6)
		m.prev = nil // its event stays: fences made before this mark are taken from it
	})
	return m.at
}

// from is the mark that a fence of this stream made now is taken from. Preconditions: the device is current.
func (c *clock) from(d *device, stream uintptr) *mark {
	a := d.api
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.mark != nil && now.Sub(c.mark.made) < renew {
		return c.mark
	}
	event, err := a.getPtr(hip.HipEventCreateWithFlags, hip.HipEventDefault)
	if err == nil {
		err = a.call(hip.HipEventRecord, event, stream)
	}
	if err != nil {
		return c.mark // an old one serves, with less precision; without any, the host's clock does
	}
	c.mark = &mark{event: event, made: now, prev: c.mark}
	runtime.AddCleanup(c.mark, d.destroy, event)
	return c.mark
}

// Mark records an event.
func (q *queue) Mark() (backend.Fence, error) {
	done := q.open()
	if done == nil {
		return nil, backend.ErrClosed
	}
	defer done()
	f := &fence{q: q}
	err := q.dev.do(func() error {
		f.from = q.dev.clock.from(q.dev, q.stream)
		e, err := q.dev.api.getPtr(hip.HipEventCreateWithFlags, hip.HipEventDefault)
		if err != nil {
			return err
		}
		f.event.Store(e)
		f.drop = runtime.AddCleanup(f, q.dev.destroy, e)
		return q.dev.api.call(hip.HipEventRecord, e, q.stream)
	})
	if err != nil {
		return nil, q.fault(err)
	}
	return f, nil
}

// Wait makes the stream wait for the event, of this device or of another.
func (q *queue) Wait(f backend.Fence) error {
	ff, ok := f.(*fence)
	if !ok {
		return fmt.Errorf("fence %T: not of this backend", f)
	}
	defer runtime.KeepAlive(ff) // its event is destroyed when it is garbage
	e := ff.event.Load()
	if e == 0 {
		return backend.ErrClosed
	}
	return q.call(hip.HipStreamWaitEvent, q.stream, e, 0)
}

// call asks about the event; its stream may be gone by then, the event is not.
func (f *fence) call(fn hip.Func) error {
	defer runtime.KeepAlive(f)
	e := f.event.Load()
	if e == 0 {
		return backend.ErrClosed
	}
	return f.q.fault(f.q.dev.do(func() error { return f.q.dev.api.call(fn, e) }))
}

// Done asks the event.
func (f *fence) Done() (bool, error) {
	ok, err := ready(f.call(hip.HipEventQuery))
	if ok {
		f.stamp()
	}
	return ok, err
}

// Sync waits for the event.
func (f *fence) Sync() error {
	err := f.call(hip.HipEventSynchronize)
	if err == nil {
		f.stamp()
	}
	return f.q.heard(err, false)
}

// stamp notes when the event was reached.
func (f *fence) stamp() {
	if f.nanos.Load() != 0 {
		return
	}
	at := time.Now().UnixNano()
	if f.from != nil {
		_ = f.q.dev.do(func() error { // without an answer the host's clock has to do
			a := f.q.dev.api
			base := f.from.nanos(a)
			ms, err := a.milliseconds(f.from.event, f.event.Load())
			if err == nil {
				at = base + int64(ms*1e6)
			}
			return err
		})
	}
	f.nanos.CompareAndSwap(0, at)
}

// Nanos is when the event was reached, 0 before that.
func (f *fence) Nanos() int64 {
	if f.nanos.Load() == 0 {
		_, _ = f.Done() // what it found is in nanos
	}
	return f.nanos.Load()
}

// Release destroys the event. See backend.Releaser.
func (f *fence) Release() {
	if e := f.event.Swap(0); e != 0 {
		f.drop.Stop()
		f.q.dev.destroy(e)
	}
}

// destroy ends an event.
func (d *device) destroy(event uintptr) {
	_ = d.do(func() error { return d.api.call(hip.HipEventDestroy, event) }) // nobody is left to hear
}
