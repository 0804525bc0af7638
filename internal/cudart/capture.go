package cudart

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// Captures are the driver's: the same modes, states and handles.

// StreamBeginCapture makes work put into the stream go into a graph.
func (t *Thread) StreamBeginCapture(s rt.CudaStream_t, mode rt.CudaStreamCaptureMode) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.StreamBeginCapture(cu.CUstream(s), cu.CUstreamCaptureMode(mode))
}

// StreamBeginCaptureToGraph is StreamBeginCapture into a graph that is there.
func (t *Thread) StreamBeginCaptureToGraph(s rt.CudaStream_t, g rt.CudaGraph_t, deps hostmem.Ptr, data hostmem.Ptr, n uint64, mode rt.CudaStreamCaptureMode) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.StreamBeginCaptureToGraph(cu.CUstream(s), cu.CUgraph(g), deps, data, n, cu.CUstreamCaptureMode(mode))
}

// StreamIsCapturing tells whether work put into the stream goes into a graph.
func (t *Thread) StreamIsCapturing(s rt.CudaStream_t) (rt.CudaStreamCaptureStatus, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.StreamIsCapturing(cu.CUstream(s))
	return rt.CudaStreamCaptureStatus(r), err
}

// StreamGetCaptureInfo12 tells about a capture, in CUDA 12.
func (t *Thread) StreamGetCaptureInfo12(s rt.CudaStream_t) (rt.CudaStreamCaptureStatus, uint64, error) {
	d, err := t.ready()
	if err != nil {
		return 0, 0, err
	}
	r0, r1, err := d.StreamGetCaptureInfoV1(cu.CUstream(s))
	return rt.CudaStreamCaptureStatus(r0), r1, err
}

// StreamGetCaptureInfoV2 tells about a capture, its graph and what the next node follows.
func (t *Thread) StreamGetCaptureInfoV2(s rt.CudaStream_t, deps hostmem.Ptr) (rt.CudaStreamCaptureStatus, uint64, rt.CudaGraph_t, uint64, error) {
	d, err := t.ready()
	if err != nil {
		return 0, 0, 0, 0, err
	}
	r0, r1, r2, r3, err := d.StreamGetCaptureInfo(cu.CUstream(s), deps)
	return rt.CudaStreamCaptureStatus(r0), r1, rt.CudaGraph_t(r2), r3, err
}

// StreamGetCaptureInfo is StreamGetCaptureInfoV2 with the data of edges.
func (t *Thread) StreamGetCaptureInfo(s rt.CudaStream_t, deps hostmem.Ptr, data hostmem.Ptr) (rt.CudaStreamCaptureStatus, uint64, rt.CudaGraph_t, uint64, error) {
	d, err := t.ready()
	if err != nil {
		return 0, 0, 0, 0, err
	}
	r0, r1, r2, r3, err := d.StreamGetCaptureInfoV3(cu.CUstream(s), deps, data)
	return rt.CudaStreamCaptureStatus(r0), r1, rt.CudaGraph_t(r2), r3, err
}

// StreamUpdateCaptureDependencies12 changes what the next node follows, in CUDA 12.
func (t *Thread) StreamUpdateCaptureDependencies12(s rt.CudaStream_t, deps hostmem.Ptr, n uint64, flags uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.StreamUpdateCaptureDependencies(cu.CUstream(s), deps, n, flags)
}

// StreamUpdateCaptureDependencies changes what the next node follows.
func (t *Thread) StreamUpdateCaptureDependencies(s rt.CudaStream_t, deps hostmem.Ptr, data hostmem.Ptr, n uint64, flags uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.StreamUpdateCaptureDependenciesV2(cu.CUstream(s), deps, data, n, flags)
}

// ThreadExchangeStreamCaptureMode sets the thread's mode and writes the one it had.
func (t *Thread) ThreadExchangeStreamCaptureMode(mode hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.ThreadExchangeStreamCaptureMode(mode)
}

// StreamEndCapture ends a capture; its graph is written, or 0 where it failed.
func (t *Thread) StreamEndCapture(s rt.CudaStream_t, out hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.StreamEndCapture(cu.CUstream(s), out)
}
