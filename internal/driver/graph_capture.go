package driver

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// capture is one recording of streams into a graph. It begins in one stream; others join by waiting for an event that was
// recorded in it, and must be joined again before it ends.
type capture struct {
	id     uint64
	graph  *Graph
	into   bool // the graph is the program's
	origin *Stream
	mode   cu.CUstreamCaptureMode
	thread uint64
	// guarded by graphMu
	streams map[*Stream][]edge // what the next node of each stream depends on
	left    []edge             // the same of streams that were destroyed meanwhile
	bad     bool
	ended   bool
	shown   uint64 // memory that dependencies were shown in
	length  uint64
}

// capturedEvent is the place of an event that was recorded in a capture.
type capturedEvent struct {
	c    *capture
	deps []edge
}

const (
	errCapUnsupported = Result(cu.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
	errCapInvalidated = Result(cu.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
	errCapMerge       = Result(cu.CUDA_ERROR_STREAM_CAPTURE_MERGE)
	errCapUnmatched   = Result(cu.CUDA_ERROR_STREAM_CAPTURE_UNMATCHED)
	errCapUnjoined    = Result(cu.CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
	errCapIsolation   = Result(cu.CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
	errCapImplicit    = Result(cu.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
	errCapturedEvent  = Result(cu.CUDA_ERROR_CAPTURED_EVENT)
	errCapWrongThread = Result(cu.CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
)

// programmatic is the edge between kernels of which the second waits for the first by cudaGridDependencySynchronize.
var programmatic = cu.CUgraphEdgeData{From_port: cu.CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, Type: uint8(cu.CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)}

// record makes a node of what a captured stream was given.
func (t *Thread) record(st *Stream, c *capture, k task) (*GraphNode, error) {
	return t.recordAfter(st, c, k, false)
}

// recordAfter is record for a kernel that may begin before the kernel before it ends: its edges from kernels are programmatic.
func (t *Thread) recordAfter(st *Stream, c *capture, k task, early bool) (n *GraphNode, err error) {
	err = st.ctx.state.locked(func(*cleanup) error {
		switch {
		case c.ended:
			return errCapInvalidated // another thread ended it just now
		case c.bad:
			return errCapInvalidated
		}
		deps := c.streams[st]
		if early {
			deps = slices.Clone(deps)
			for i := range deps {
				if _, kernel := deps[i].from.task.(*kernelTask); kernel && deps[i].data == (cu.CUgraphEdgeData{}) {
					deps[i].data = programmatic
				}
			}
		}
		if n, err = c.graph.add(k, deps); err != nil {
			return err
		}
		c.streams[st] = []edge{{from: n}}
		return nil
	})
	return n, err
}

// invalidate spoils a capture; it can only be ended.
func (t *Thread) invalidate(c *capture) {
	_ = c.graph.state.locked(func(*cleanup) error {
		c.bad = true
		return nil
	})
}

// notCaptured refuses what a captured stream cannot do, and spoils the capture.
func (t *Thread) notCaptured(st *Stream) error {
	c := st.capture.Load()
	if c == nil {
		return nil
	}
	t.invalidate(c)
	return errCapUnsupported
}

// waits refuses a call that waits for a stream, or asks whether it is done, while that would break a capture.
func (t *Thread) waits(st *Stream) error {
	if st.ctx.state.captureN.Load() == 0 {
		return nil
	}
	if err := t.notCaptured(st); err != nil {
		return err
	}
	if st.kind == legacyStream {
		if err := st.ctx.implicit(true); err != nil {
			return err
		}
	}
	return t.risky(st.ctx.state)
}

// risky refuses calls that may depend on work which a capture has not run: allocations, and everything that waits. Which
// captures count is the thread's choice (cuThreadExchangeStreamCaptureMode).
func (t *Thread) risky(s *state) error {
	if s.captureN.Load() == 0 {
		return nil
	}
	mode := cu.CU_STREAM_CAPTURE_MODE_GLOBAL
	if v, ok := s.captureModes.Load(t.ID); ok {
		mode = v.(cu.CUstreamCaptureMode)
	}
	if mode == cu.CU_STREAM_CAPTURE_MODE_RELAXED {
		return nil
	}
	return s.locked(func(*cleanup) error {
		var err error
		for _, c := range s.captures {
			own := c.thread == t.ID && c.mode != cu.CU_STREAM_CAPTURE_MODE_RELAXED
			others := mode == cu.CU_STREAM_CAPTURE_MODE_GLOBAL && c.mode == cu.CU_STREAM_CAPTURE_MODE_GLOBAL
			if own || others {
				c.bad = true
				err = errCapUnsupported
			}
		}
		return err
	})
}

// implicit refuses work in the legacy stream while a stream that is ordered with it is captured. Work spoils the capture,
// a question does not.
func (c *Context) implicit(spoil bool) error {
	if c.state.captureN.Load() == 0 {
		return nil
	}
	return c.state.locked(func(*cleanup) error {
		var err error
		for _, k := range c.state.captures {
			for st := range k.streams {
				if st.ctx == c && st.kind == blockingStream {
					k.bad = k.bad || spoil
					err = errCapImplicit
				}
			}
		}
		return err
	})
}

// syncing refuses to wait for a whole context while one of its streams is captured.
func (t *Thread) syncing(c *Context) error {
	if c.state.captureN.Load() == 0 {
		return nil
	}
	err := c.state.locked(func(*cleanup) error {
		var err error
		for _, k := range c.state.captures {
			for st := range k.streams {
				if st.ctx == c {
					k.bad = true
					err = errCapUnsupported
				}
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return t.risky(c.state)
}

// recordEvent notes an event's place in a capture. An external record is a node.
func (t *Thread) recordEvent(st *Stream, c *capture, e *Event, external bool) error {
	if external {
		_, err := t.record(st, c, &recordTask{e})
		return err
	}
	return st.ctx.state.locked(func(*cleanup) error {
		if c.bad || c.ended {
			return errCapInvalidated
		}
		e.moveTo(nil, &capturedEvent{c, slices.Clone(c.streams[st])})
		return nil
	})
}

// waitCaptured is a wait where the stream, the event or both are captured.
func (t *Thread) waitCaptured(st *Stream, e *Event, external bool) error {
	c := st.capture.Load()
	at := e.capturedAt()
	if external {
		if c == nil {
			return errIllegalState
		}
		if at != nil && t.over(at.c) {
			t.invalidate(c)
			return errInvalidValue
		}
		_, err := t.record(st, c, &waitTask{e})
		return err
	}
	return st.ctx.state.locked(func(*cleanup) error {
		switch {
		case c != nil && (c.bad || c.ended):
			return errCapInvalidated
		case at == nil && e.last() == nil: // never recorded: nothing to wait for
			return nil
		case at == nil:
			c.bad = true
			return errCapIsolation
		case at.c.ended: // the event stands for a place that is gone
			if c != nil {
				c.bad = true
			}
			return errInvalidValue
		case at.c.bad:
			return errCapInvalidated
		case c != nil && c != at.c:
			c.bad, at.c.bad = true, true
			return errCapMerge
		case st.kind == legacyStream:
			at.c.bad = true
			return errCapImplicit
		}
		if c == nil {
			st.capture.Store(at.c)
		}
		at.c.streams[st] = merge(at.c.streams[st], at.deps)
		return nil
	})
}

// over reports whether a capture has ended.
func (t *Thread) over(c *capture) (ended bool) {
	_ = c.graph.state.locked(func(*cleanup) error {
		ended = c.ended
		return nil
	})
	return ended
}

// merge adds dependencies that are not there.
func merge(list, more []edge) []edge {
	list = slices.Clone(list)
	for _, e := range more {
		if !slices.ContainsFunc(list, func(f edge) bool { return f.from == e.from }) {
			list = append(list, e)
		}
	}
	return list
}

func goodMode(m cu.CUstreamCaptureMode) bool {
	return m >= cu.CU_STREAM_CAPTURE_MODE_GLOBAL && m <= cu.CU_STREAM_CAPTURE_MODE_RELAXED
}

// beginCapture starts a capture; a nil graph means a new one.
func (t *Thread) beginCapture(h cu.CUstream, g *Graph, deps []edge, mode cu.CUstreamCaptureMode) error {
	st, err := t.stream(h)
	if err != nil {
		return err
	}
	switch {
	case !goodMode(mode):
		return errInvalidValue
	case st.kind == legacyStream:
		return errCapUnsupported
	}
	s := st.ctx.state
	return s.locked(func(*cleanup) error {
		if st.capture.Load() != nil {
			return errIllegalState
		}
		into := g != nil
		if into && (g.dead || g.capturing()) {
			return errInvalidValue
		}
		if g == nil {
			var err error
			if g, err = s.newGraph(); err != nil {
				return err
			}
		}
		s.captureIDs++
		c := &capture{id: s.captureIDs, graph: g, into: into, origin: st, mode: mode, thread: t.ID, streams: map[*Stream][]edge{st: deps}}
		s.captures = append(s.captures, c)
		s.captureN.Add(1)
		st.capture.Store(c)
		s.changed()
		return nil
	})
}

// StreamBeginCapture makes a stream's work go into a new graph.
func (t *Thread) StreamBeginCapture(h cu.CUstream, mode cu.CUstreamCaptureMode) error {
	return t.beginCapture(h, nil, nil, mode)
}

// StreamBeginCaptureV1 is the old form.
func (t *Thread) StreamBeginCaptureV1(h cu.CUstream) error {
	return t.beginCapture(h, nil, nil, cu.CU_STREAM_CAPTURE_MODE_GLOBAL)
}

// StreamBeginCaptureToGraph makes a stream's work go into a graph of the program's, after some of its nodes.
func (t *Thread) StreamBeginCaptureToGraph(h cu.CUstream, graph cu.CUgraph, deps, data hostmem.Ptr, n uint64, mode cu.CUstreamCaptureMode) error {
	g, err := t.graph(graph)
	if err != nil {
		return err
	}
	edges, err := t.readEdges(deps, data, n)
	if err != nil {
		return err
	}
	for _, e := range edges {
		if e.from.graph != g {
			return errInvalidValue
		}
	}
	return t.beginCapture(h, g, edges, mode)
}

// StreamEndCapture ends a capture and gives its graph; a spoiled capture ends too, and gives none. Without a place for the graph, one
// that the capture made goes with it.
func (t *Thread) StreamEndCapture(h cu.CUstream, out hostmem.Ptr) error {
	st, err := t.stream(h)
	if err != nil {
		return err
	}
	c := st.capture.Load()
	if c == nil {
		return errIllegalState
	}
	s := st.ctx.state
	var g cu.CUgraph
	err = s.locked(func(after *cleanup) error {
		switch {
		case c.ended:
			return errIllegalState
		case c.origin != st:
			c.bad = true
			return errCapUnmatched
		}
		err := error(nil)
		if c.bad {
			err = errCapInvalidated
		} else if c.mode != cu.CU_STREAM_CAPTURE_MODE_RELAXED && c.thread != t.ID {
			err = errCapWrongThread // the capture is over all the same
		} else if !c.joined() {
			err = errCapUnjoined
		}
		s.finish(c)
		if (err != nil || out == hostmem.Nil) && !c.into {
			c.graph.drop(after)
			return err
		}
		g = c.graph.handle
		return err
	})
	if out != hostmem.Nil {
		hostmem.Store(out, g)
	}
	return err
}

// finish takes a capture out of the books.
//
// Preconditions: graphMu is held.
func (s *state) finish(c *capture) {
	c.ended = true
	for st := range c.streams {
		st.capture.CompareAndSwap(c, nil)
	}
	if i := slices.Index(s.captures, c); i >= 0 {
		s.captures = slices.Delete(s.captures, i, i+1)
		s.captureN.Add(-1)
	}
	if c.length != 0 {
		unmapHost(c.shown, c.length)
		c.shown, c.length = 0, 0
	}
}

// joined reports whether the origin has waited for all work of the other streams.
//
// Preconditions: graphMu is held.
func (c *capture) joined() bool {
	seen := map[*GraphNode]bool{}
	todo := []*GraphNode{}
	for _, e := range c.streams[c.origin] {
		todo = append(todo, e.from)
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		for _, d := range n.deps {
			todo = append(todo, d.from)
		}
	}
	for _, e := range c.left {
		if !seen[e.from] {
			return false
		}
	}
	for _, deps := range c.streams {
		for _, e := range deps {
			if !seen[e.from] {
				return false
			}
		}
	}
	return true
}

// dropCaptures ends what a destroyed stream or a context that ends began to record. A stream that had only joined leaves its work
// behind, which must be joined as if the stream were there; that of a
// context that ends cannot run any more.
func (s *state) dropCaptures(of func(*Stream) bool, context bool) {
	if s.captureN.Load() == 0 {
		return
	}
	_ = s.locked(func(after *cleanup) error {
		for _, c := range slices.Clone(s.captures) {
			switch {
			case of(c.origin):
				s.finish(c)
				if !c.into {
					c.graph.drop(after)
				}
			default:
				for st, deps := range c.streams {
					if of(st) {
						c.left = merge(c.left, deps)
						c.bad = c.bad || context
						delete(c.streams, st)
					}
				}
			}
		}
		return nil
	})
}
