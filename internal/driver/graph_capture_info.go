package driver

import (
	"slices"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// captureStatus is a stream's state, and its capture if there is one. Asking about the legacy stream while a stream that
// is ordered with it is captured is an error, as the real driver has it.
func (t *Thread) captureStatus(h cu.CUstream) (*Stream, *capture, cu.CUstreamCaptureStatus, error) {
	st, err := t.stream(h)
	if err != nil {
		return nil, nil, 0, err
	}
	if st.kind == legacyStream {
		if err := st.ctx.implicit(false); err != nil {
			return nil, nil, 0, err
		}
	}
	c := st.capture.Load()
	if c == nil {
		return st, nil, cu.CU_STREAM_CAPTURE_STATUS_NONE, nil
	}
	status := cu.CU_STREAM_CAPTURE_STATUS_ACTIVE
	_ = st.ctx.state.locked(func(*cleanup) error {
		if c.bad {
			status = cu.CU_STREAM_CAPTURE_STATUS_INVALIDATED
		}
		return nil
	})
	return st, c, status, nil
}

// StreamIsCapturing tells whether a stream's work goes into a graph.
func (t *Thread) StreamIsCapturing(h cu.CUstream) (cu.CUstreamCaptureStatus, error) {
	gen := generation()
	_, _, status, err := t.captureStatus(h)
	if err == nil && status == cu.CU_STREAM_CAPTURE_STATUS_NONE {
		t.answered(gen, backend.AskCapture, uint64(h), uint32(status))
	}
	return status, err
}

// StreamGetCaptureInfoV1 tells the same, and which capture it is.
func (t *Thread) StreamGetCaptureInfoV1(h cu.CUstream) (status cu.CUstreamCaptureStatus, id uint64, err error) {
	_, c, status, err := t.captureStatus(h)
	if c != nil {
		id = c.id
	}
	return status, id, err
}

// StreamGetCaptureInfo tells also the graph, and what the next node would depend on.
func (t *Thread) StreamGetCaptureInfo(h cu.CUstream, dependencies hostmem.Ptr) (status cu.CUstreamCaptureStatus, id uint64, graph cu.CUgraph, n uint64, err error) {
	return t.captureInfo(h, dependencies, hostmem.Nil, true)
}

// StreamGetCaptureInfoV3 tells also what was said about the edges.
func (t *Thread) StreamGetCaptureInfoV3(h cu.CUstream, dependencies, data hostmem.Ptr) (status cu.CUstreamCaptureStatus, id uint64, graph cu.CUgraph, n uint64, err error) {
	return t.captureInfo(h, dependencies, data, data == hostmem.Nil)
}

func (t *Thread) captureInfo(h cu.CUstream, dependencies, data hostmem.Ptr, plain bool) (status cu.CUstreamCaptureStatus, id uint64, graph cu.CUgraph, n uint64, err error) {
	st, c, status, err := t.captureStatus(h)
	if err != nil || status != cu.CU_STREAM_CAPTURE_STATUS_ACTIVE {
		return status, 0, 0, 0, err
	}
	var list, info hostmem.Ptr
	err = st.ctx.state.locked(func(*cleanup) (err error) {
		deps := c.streams[st]
		if plain && dependencies != hostmem.Nil && slices.ContainsFunc(deps, func(e edge) bool { return e.data != cu.CUgraphEdgeData{} }) {
			return errLossy
		}
		id, graph, n = c.id, c.graph.handle, uint64(len(deps))
		list, info, err = c.show(deps)
		return err
	})
	if err != nil {
		return status, 0, 0, 0, err
	}
	if dependencies != hostmem.Nil {
		hostmem.Store(dependencies, list)
	}
	if data != hostmem.Nil {
		hostmem.Store(data, info)
	}
	return status, id, graph, n, nil
}

// show lays dependencies out for the program: handles, then data. They stay until the capture ends or is asked again.
//
// Preconditions: graphMu is held.
func (c *capture) show(deps []edge) (list, info hostmem.Ptr, err error) {
	half := uint64(8 * max(1, len(deps)))
	if c.length < 2*half {
		at, length, err := mapHost(2 * half)
		if err != nil {
			return 0, 0, err
		}
		if c.length != 0 {
			unmapHost(c.shown, c.length)
		}
		c.shown, c.length = at, length
	}
	list, info = hostmem.Ptr(c.shown), hostmem.Ptr(c.shown).Add(half)
	for i, e := range deps {
		hostmem.Store(list.Index(i, 8), e.from.handle)
		hostmem.Store(info.Index(i, 8), e.data)
	}
	return list, info, nil
}

// StreamUpdateCaptureDependencies changes what the next node of a captured stream will depend on.
func (t *Thread) StreamUpdateCaptureDependencies(h cu.CUstream, deps hostmem.Ptr, n uint64, flags uint32) error {
	return t.StreamUpdateCaptureDependenciesV2(h, deps, hostmem.Nil, n, flags)
}

// StreamUpdateCaptureDependenciesV2 is the same, with something said about each edge.
func (t *Thread) StreamUpdateCaptureDependenciesV2(h cu.CUstream, deps, data hostmem.Ptr, n uint64, flags uint32) error {
	st, c, status, err := t.captureStatus(h)
	if err != nil {
		return err
	}
	switch status {
	case cu.CU_STREAM_CAPTURE_STATUS_NONE:
		return errIllegalState
	case cu.CU_STREAM_CAPTURE_STATUS_INVALIDATED:
		return errCapInvalidated
	}
	if flags > uint32(cu.CU_STREAM_SET_CAPTURE_DEPENDENCIES) {
		return errInvalidValue
	}
	edges, err := t.readEdges(deps, data, n)
	if err != nil {
		return err
	}
	return st.ctx.state.locked(func(*cleanup) error {
		if c.ended || c.bad {
			return errCapInvalidated
		}
		for _, e := range edges {
			if e.from.graph != c.graph {
				return errInvalidValue
			}
		}
		if flags == uint32(cu.CU_STREAM_SET_CAPTURE_DEPENDENCIES) {
			c.streams[st] = edges
		} else {
			c.streams[st] = merge(c.streams[st], edges)
		}
		return nil
	})
}

// ThreadExchangeStreamCaptureMode swaps what the thread may do during captures.
func (t *Thread) ThreadExchangeStreamCaptureMode(mode hostmem.Ptr) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	if mode == hostmem.Nil {
		return errInvalidValue
	}
	next := hostmem.Load[cu.CUstreamCaptureMode](mode) // as the real driver, any number; one that is no mode forbids nothing more
	last := cu.CU_STREAM_CAPTURE_MODE_GLOBAL
	t.Flags |= ThreadKept
	if v, ok := s.captureModes.Swap(t.ID, next); ok {
		last = v.(cu.CUstreamCaptureMode)
	}
	hostmem.Store(mode, last)
	return nil
}
