package driver

import (
	"errors"
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// What the library shims need of the driver beyond the API itself: modules from text, parameters as bytes, memory that
// may be taken in the middle of a capture.

// LoadText loads a module of ours into the current context.
func (t *Thread) LoadText(name, text string) (cu.CUmodule, error) {
	j, _ := newJIT(0, 0, 0)
	return t.loadImage(j, name, func(claim) (string, error) { return text, nil })
}

// LaunchPacked is LaunchKernel with the parameters laid out as the kernel declares them.
func (t *Thread) LaunchPacked(f cu.CUfunction, grid, block [3]uint32, shared uint32, stream cu.CUstream, params []byte) error {
	return t.LaunchTemplate(f, grid, block, shared, stream, params, nil)
}

// TakeMemory is MemAlloc that a stream's capture does not forbid.
func (t *Thread) TakeMemory(n uint64) (DevPtr, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	addr, err := c.dev.allocMemory(n, 256)
	if err != nil {
		return 0, c.fail(err)
	}
	return DevPtr(addr), c.newAlloc(&alloc{base: uint64(addr), size: n, kind: allocDevice})
}

// MemoryID is the number of the allocation at an address, which no other one gets (CU_POINTER_ATTRIBUTE_BUFFER_ID); 0: there is none. What
// a library keeps may be gone with its context, and the address be another's.
func (t *Thread) MemoryID(p DevPtr) uint64 {
	s, err := t.enter()
	if err != nil {
		return 0
	}
	if a := s.allocs.find(uint64(p)); a != nil && a.base == uint64(p) {
		return a.id
	}
	return 0
}

// GiveMemory frees what TakeMemory gave, once the work of its context is done.
func (t *Thread) GiveMemory(p DevPtr) error { return t.MemFree(p) }

// CapturedBy is the capture that a stream is part of, by its number and its graph; 0: none.
func (t *Thread) CapturedBy(h cu.CUstream) (id uint64, graph cu.CUgraph) {
	status, id, graph, _, err := t.StreamGetCaptureInfo(h, hostmem.Nil)
	if err != nil || status != cu.CU_STREAM_CAPTURE_STATUS_ACTIVE {
		return 0, 0
	}
	return id, graph
}

// WhenGraphEnds calls gone once a graph and all that was made of it are destroyed and have run to their end.
func (t *Thread) WhenGraphEnds(h cu.CUgraph, gone func()) error {
	g, err := t.graph(h)
	if err != nil {
		return err
	}
	return g.state.locked(func(*cleanup) error {
		if g.dead {
			return errInvalidValue
		}
		g.hold(&UserObject{state: g.state, gone: gone, refs: 1}, 1)
		return nil
	})
}

// AnyAbroad reports whether any device takes work from libraries of its vendor.
func (t *Thread) AnyAbroad() bool {
	s, err := t.enter()
	return err == nil && s.abroad
}

// Abroad lets a library of the device's vendor put work into a stream. Not done: the device has no such libraries, or the stream
// is being captured, where only work of ours can be recorded.
func (t *Thread) Abroad(stream cu.CUstream, what string, work func(backend.Where) error) (done bool, err error) {
	st, err := t.stream(stream)
	if err != nil {
		return false, err
	}
	q, ok := st.q.(backend.Abroad)
	if !ok || st.capture.Load() != nil {
		return false, nil
	}
	// Such work may take long to put in (a library loads its kernels at their first use, or waits for a result), so nothing is held
	// meanwhile: the stream is readied before it, and what it now has is made known after it.
	if err := st.begin(); err != nil {
		return true, err
	}
	st.end()
	err = st.ctx.fail(q.Abroad(what, work))
	if e := st.begin(); e != nil {
		return true, errors.Join(err, e)
	}
	st.end()
	return true, err
}

// OnHost calls fn on a thread of ours in the order of a stream. Not done: the host cannot touch the device's memory, or the stream is
// being captured.
func (t *Thread) OnHost(stream cu.CUstream, fn func()) (done bool, err error) {
	st, err := t.stream(stream)
	if err != nil {
		return false, err
	}
	if !st.ctx.dev.info.HostVisible || st.capture.Load() != nil {
		return false, nil
	}
	return true, st.ctx.fail(st.enqueue(func(q backend.Queue) error { return q.Host(fn) }))
}

// Installed is every device, also those that CUDA_VISIBLE_DEVICES hides from programs: NVML has them all, and needs no context.
func (t *Thread) Installed() ([]backend.Device, error) {
	err := t.Init(0)
	s := current.Load()
	if s == nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.installed) == 0 {
		return nil, err
	}
	return s.installed, nil
}

// InStream is OnHost that a capture records: begin is called when the task is put into a queue, at every launch of the graph, and says
// what to call there. That may wait for another such task. cancel is called where it could not be put in.
func (t *Thread) InStream(stream cu.CUstream, begin func() (run, cancel func())) error {
	st, err := t.stream(stream)
	if err != nil {
		return err
	}
	if !st.ctx.dev.info.HostVisible {
		return errNotSupported
	}
	return t.submit(st, &hostTask{begin: begin, rendezvous: true})
}

// InQueue lets put add work to the queue of a stream, which is the engine's. Where C may add the like without Go while the generation
// lasts, the key has that generation, for a ticket; count is where that counts its work. Not done: the device's queues are not the engine's, or the stream
// is being captured.
func (t *Thread) InQueue(stream cu.CUstream, gen uint64, put func(queue any, key backend.TicketKey, count *atomic.Uint64) error) (done bool, err error) {
	st, err := t.stream(stream)
	if err != nil {
		return false, err
	}
	q, ok := st.q.(backend.EngineQueue)
	if !ok || !st.ctx.dev.info.HostVisible || st.capture.Load() != nil {
		return false, nil
	}
	if err := st.begin(); err != nil {
		return true, err
	}
	defer st.end()
	return true, st.ctx.fail(put(q.EngineQueue(), t.ticketKey(gen, stream, st), st.put))
}

// MemoryReach reports whether the host may touch the memory of the current device, and whether libraries of its vendor take its streams.
func (t *Thread) MemoryReach() (host, abroad bool, err error) {
	c, err := t.context()
	if err != nil {
		return false, false, err
	}
	return c.dev.info.HostVisible, c.dev.info.Abroad, nil
}

// Holds reports whether n bytes at an address are memory that the driver knows.
func (t *Thread) Holds(p DevPtr, n uint64) bool {
	s, err := t.enter()
	if err != nil {
		return false
	}
	a := s.allocs.find(uint64(p))
	return a != nil && s.allocs.holds(a, uint64(p), n)
}
