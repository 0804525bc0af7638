package driver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// Streams cannot be captured yet (cuStreamBeginCapture answers "not supported"), so none ever is. Libraries ask before
// they synchronize, and must get an answer.

// StreamIsCapturing tells whether a stream's work goes into a graph.
func (t *Thread) StreamIsCapturing(h cu.CUstream) (cu.CUstreamCaptureStatus, error) {
	_, err := t.stream(h)
	return cu.CU_STREAM_CAPTURE_STATUS_NONE, err
}

// StreamGetCaptureInfoV1 tells the same, and which capture it is.
func (t *Thread) StreamGetCaptureInfoV1(h cu.CUstream) (status cu.CUstreamCaptureStatus, id uint64, err error) {
	_, err = t.stream(h)
	return cu.CU_STREAM_CAPTURE_STATUS_NONE, 0, err
}

// StreamGetCaptureInfo tells also what the next node would depend on; nothing is written to dependencies without a capture.
func (t *Thread) StreamGetCaptureInfo(h cu.CUstream, dependencies hostmem.Ptr) (status cu.CUstreamCaptureStatus, id uint64, graph cu.CUgraph, n uint64, err error) {
	_, err = t.stream(h)
	return cu.CU_STREAM_CAPTURE_STATUS_NONE, 0, 0, 0, err
}

// ThreadExchangeStreamCaptureMode swaps what the thread may do during captures; the mode is kept though nothing depends on it yet.
func (t *Thread) ThreadExchangeStreamCaptureMode(mode hostmem.Ptr) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	if mode == hostmem.Nil {
		return errInvalidValue
	}
	next := hostmem.Load[cu.CUstreamCaptureMode](mode)
	if next < cu.CU_STREAM_CAPTURE_MODE_GLOBAL || next > cu.CU_STREAM_CAPTURE_MODE_RELAXED {
		return errInvalidValue
	}
	last := cu.CU_STREAM_CAPTURE_MODE_GLOBAL
	if v, ok := s.captureModes.Swap(t.ID, next); ok {
		last = v.(cu.CUstreamCaptureMode)
	}
	hostmem.Store(mode, last)
	return nil
}
