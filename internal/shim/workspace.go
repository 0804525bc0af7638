package shim

import (
	"errors"
	"maps"
	"slices"

	"kudzu/internal/driver"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// Workspace is device memory a handle keeps, one piece a stream: work of one stream uses its piece one after another. A piece that
// became too small is kept until the end, because work in flight may still use it. Graphs have pieces of their own, as they may run at
// any time, beside each other: a stream has one in each capture, and others may have it when the graph is gone.
type Workspace struct {
	calls lockrank.Mutex[lockrank.ShimCalls] // from a call's first kernel to its last

	mu     lockrank.Mutex[lockrank.ShimWorkspace]
	pieces map[place]piece         // guarded by mu
	old    []piece                 // guarded by mu
	graphs map[driver.DevPtr]piece // guarded by mu; those that graphs hold
	idle   []piece                 // guarded by mu; those of graphs that are gone
}

// place is a stream: its handle, and for the one of every thread, which is many under one handle, whose; and the capture that it is part of.
type place struct {
	stream  cu.CUstream
	thread  *driver.Thread
	capture uint64
}

type piece struct {
	at   driver.DevPtr
	id   uint64 // of the allocation: a context that was reset took it along, and others may have the address
	size uint64
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
	id, graph := d.CapturedBy(stream)
	w.mu.Lock()
	defer w.mu.Unlock()
	key := place{stream: stream, capture: id}
	if stream == cu.CU_STREAM_PER_THREAD {
		key.thread = d
	}
	p, known := w.pieces[key]
	if known && !p.there(d) {
		delete(w.pieces, key)
		p, known = piece{}, false
	}
	if p.size >= n {
		return p.at, nil
	}
	if !known && len(w.pieces) >= many {
		w.sweep(d)
	}
	size := max(n, 2*p.size, 1<<20)
	if id != 0 {
		if again, ok := w.reuse(d, n); ok {
			return again.at, w.give(d, key, graph, again)
		}
		size = max(n, 1<<20)
	}
	at, err := d.TakeMemory(size)
	if err != nil {
		return 0, err
	}
	made := piece{at, d.MemoryID(at), size}
	if id != 0 {
		return at, w.give(d, key, graph, made)
	}
	if p.at != 0 {
		w.old = append(w.old, p)
	}
	w.put(key, made)
	return at, nil
}

func (w *Workspace) put(key place, p piece) {
	if w.pieces == nil {
		w.pieces = map[place]piece{}
	}
	w.pieces[key] = p
}

// reuse takes a piece that a graph had, the smallest that will do. Preconditions: w.mu is held.
func (w *Workspace) reuse(d *driver.Thread, n uint64) (piece, bool) {
	w.idle = slices.DeleteFunc(w.idle, func(p piece) bool { return !p.there(d) })
	best := -1
	for i, p := range w.idle {
		if p.size >= n && (best < 0 || p.size < w.idle[best].size) {
			best = i
		}
	}
	if best < 0 {
		return piece{}, false
	}
	p := w.idle[best]
	w.idle = slices.Delete(w.idle, best, best+1)
	return p, true
}

// give makes a piece a graph's until that is gone. Preconditions: w.mu is held.
func (w *Workspace) give(d *driver.Thread, key place, graph cu.CUgraph, p piece) error {
	if err := d.WhenGraphEnds(graph, func() { w.back(key, p) }); err != nil {
		w.idle = append(w.idle, p)
		return err
	}
	if w.graphs == nil {
		w.graphs = map[driver.DevPtr]piece{}
	}
	w.graphs[p.at] = p
	w.put(key, p)
	return nil
}

// back takes a piece from a graph that is gone, unless the workspace is gone as well.
func (w *Workspace) back(key place, p piece) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.graphs[p.at] != p {
		return
	}
	delete(w.graphs, p.at)
	if w.pieces[key] == p {
		delete(w.pieces, key)
	}
	w.idle = append(w.idle, p)
}

// sweep gives back the pieces of streams that are gone, unless they are graphs'. Giving back waits for work in flight; where it is not
// allowed now, as during a capture, the piece stays for the next time. Preconditions: w.mu is held.
func (w *Workspace) sweep(d *driver.Thread) {
	for key, p := range w.pieces {
		if key.capture != 0 || key.stream <= cu.CU_STREAM_PER_THREAD {
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
	for key, p := range w.pieces {
		if key.capture == 0 {
			w.old = append(w.old, p)
		}
	}
	w.old = append(slices.AppendSeq(w.old, maps.Values(w.graphs)), w.idle...)
	for _, p := range w.old {
		if p.there(d) {
			_ = d.GiveMemory(p.at)
		}
	}
	w.pieces, w.old, w.graphs, w.idle = nil, nil, nil, nil
}
