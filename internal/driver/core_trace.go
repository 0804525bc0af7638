package driver

import (
	"fmt"

	"kudzu/internal/backend"
	"kudzu/internal/spec/cu"
	"kudzu/internal/trace/emit"
)

// What `kudzu trace` hears of the driver: queues, host functions, memory in use, faults. What runs on a queue and when, the backend
// tells.

// Streams without a handle, as the recorder knows them.
const (
	tracedLegacy    = uint64(cu.CU_STREAM_LEGACY)
	tracedPerThread = uint64(cu.CU_STREAM_PER_THREAD) // with Stream.id above
	tracedLane      = 1 << 62                         // of graphs, with a number below
)

// traceStream tells whose queue a stream has. Before its first work.
func (s *Stream) traceStream() {
	r := emit.On()
	if r == nil {
		return
	}
	at, name := uint64(s.handle), ""
	switch {
	case s.handle != 0 && s.kind == nonBlockingStream:
		name = fmt.Sprintf("stream %d (non-blocking)", s.id)
	case s.handle != 0:
		name = fmt.Sprintf("stream %d", s.id)
	case s.kind == legacyStream:
		at, name = tracedLegacy, "default stream"
	default:
		at, name = tracedPerThread|s.id<<32, fmt.Sprintf("per-thread stream %d", s.id)
	}
	s.ctx.traceQueue(r, s.q, at, name)
}

// traceLane is traceStream for a queue of graphs.
func (c *Context) traceLane(q backend.Queue, n int) {
	if r := emit.On(); r != nil {
		c.traceQueue(r, q, tracedLane|c.id<<16|uint64(n), fmt.Sprintf("branch %d of graphs", n))
	}
}

func (c *Context) traceQueue(r *emit.Recorder, q backend.Queue, stream uint64, name string) {
	if t, ok := q.(backend.Traced); ok {
		t.Tag(uint32(c.dev.ordinal), stream)
	}
	now := r.Now()
	r.Write(&emit.Event{Type: emit.Queue, Call: r.Current(), T0: now, T1: now, Device: uint32(c.dev.ordinal), Stream: stream, Values: [4]uint64{1}, Text: name})
}

// traceClosed tells that a stream with a handle is gone.
func (s *Stream) traceClosed() {
	if r := emit.On(); r != nil {
		now := r.Now()
		r.Write(&emit.Event{Type: emit.Queue, Call: r.Current(), T0: now, T1: now, Device: uint32(s.ctx.dev.ordinal), Stream: uint64(s.handle)})
	}
}

// tracedHost is a host function of the program, recorded where somebody records.
func tracedHost(q backend.Queue, fn func()) func() {
	r := emit.On()
	if r == nil {
		return fn
	}
	at := emit.Place{}
	if t, ok := q.(backend.Traced); ok {
		at.Device, at.Stream = t.Place()
	}
	call := r.Wrap(emit.HostFunction, at, [4]uint64{}, "host function", func() error { fn(); return nil })
	return func() { _ = call() }
}

// traceMemory tells how much of the device's memory is in use.
func (d *Device) traceMemory() {
	if r := emit.On(); r != nil {
		free, total := d.dev.Memory().Usage()
		now := r.Now()
		r.Write(&emit.Event{Type: emit.Memory, Call: r.Current(), T0: now, T1: now, Device: uint32(d.ordinal), Values: [4]uint64{total - min(free, total), total}})
	}
}

// traceFault tells what ended the context.
func (c *Context) traceFault(f *backend.Fault) {
	if r := emit.On(); r != nil {
		now := r.Now()
		r.Write(&emit.Event{Type: emit.Fault, Call: r.Current(), T0: now, T1: now, Device: uint32(c.dev.ordinal), Text: f.Error()})
	}
}
