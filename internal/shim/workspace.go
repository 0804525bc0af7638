package shim

import (
	"errors"

	"kudzu/internal/driver"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// Workspace is device memory a handle keeps, one piece a stream: work of one stream uses its piece one after another. A
// piece that became too small is kept until the end, because work in flight or a captured graph may still use it.
type Workspace struct {
	calls lockrank.Mutex[lockrank.ShimCalls] // from a call's first kernel to its last

	mu     lockrank.Mutex[lockrank.ShimWorkspace]
	pieces map[place]piece // guarded by mu
	old    []piece         // guarded by mu
}

// place is a stream: its handle, and for the one of every thread, which is many under one handle, whose.
type place struct {
	stream cu.CUstream
	thread *driver.Thread
}

type piece struct {
	at    driver.DevPtr
	id    uint64 // of the allocation: a context that was reset took it along, and others may have the address
	size  uint64
	graph bool // a graph that was captured with it may run at any time
}

// there reports a piece that is still the workspace's.
func (p *piece) there(d *driver.Thread) bool { return d.MemoryID(p.at) == p.id }

// many pieces are enough to look whether some are those of streams that are gone.
const many = 16

// Hold keeps other calls out until Release. What one kernel of a call leaves in the memory the next one reads: work that another thread
// sends to the same stream must not come between. Every call holds the workspace from Take until its last kernel is in the stream.
func (w *Workspace) Hold() { w.calls.Lock() }

// Release lets the next call in.
func (w *Workspace) Release() { w.calls.Unlock() }

// Take is n bytes for work on a stream of the current context.
func (w *Workspace) Take(d *driver.Thread, stream cu.CUstream, n uint64) (driver.DevPtr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := place{stream: stream}
	if stream == cu.CU_STREAM_PER_THREAD {
		key.thread = d
	}
	p, known := w.pieces[key]
	if known && !p.there(d) {
		delete(w.pieces, key)
		p, known = piece{}, false
	}
	if status, err := d.StreamIsCapturing(stream); err == nil && status == cu.CU_STREAM_CAPTURE_STATUS_ACTIVE && !p.graph {
		p.graph = true
		if known {
			w.pieces[key] = p
		}
	}
	if p.size >= n {
		return p.at, nil
	}
	if !known && len(w.pieces) >= many {
		w.sweep(d)
	}
	size := max(n, 2*p.size, 1<<20)
	at, err := d.TakeMemory(size)
	if err != nil {
		return 0, err
	}
	if p.at != 0 {
		w.old = append(w.old, p)
	}
	if w.pieces == nil {
		w.pieces = map[place]piece{}
	}
	w.pieces[key] = piece{at, d.MemoryID(at), size, p.graph}
	return at, nil
}

// sweep gives back the pieces of streams that are gone, unless a graph has them. Giving back waits for work in flight; where it is not
// allowed now, as during a capture, the piece stays for the next time. Preconditions: w.mu is held.
func (w *Workspace) sweep(d *driver.Thread) {
	for key, p := range w.pieces {
		if p.graph || key.stream <= cu.CU_STREAM_PER_THREAD {
			continue
		}
		var r driver.Result
		if _, err := d.StreamIsCapturing(key.stream); !errors.As(err, &r) || cu.CUresult(r) != cu.CUDA_ERROR_INVALID_HANDLE {
			continue
		}
		if !p.there(d) || d.GiveMemory(p.at) == nil {
			delete(w.pieces, key)
		}
	}
}

// Drop gives everything back, waiting for the work that uses it. A context that is gone took its memory with it.
func (w *Workspace) Drop(d *driver.Thread) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.pieces {
		w.old = append(w.old, p)
	}
	for _, p := range w.old {
		if p.there(d) {
			_ = d.GiveMemory(p.at)
		}
	}
	w.pieces, w.old = nil, nil
}
