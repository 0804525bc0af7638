package cudart

import (
	"strings"
	"sync/atomic"

	"kudzu/internal/driver"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// lasting is the code that cudaGetLastError does not take away, 0 for none: the base's, which answers that call. See Start.
var lasting = new(atomic.Int32)

// unwritten is the error of a call that succeeded and after which a program reads results, where a kernel that was to write them is
// missing.
func unwritten() error {
	if code := lasting.Load(); code != 0 {
		return Error(code)
	}
	return nil
}

// swallowed keeps the error of a kernel of CUB for which there is no code. CUB takes every error away with cudaGetLastError, returns it,
// and remembers it without asking again; PyTorch does not look at what CUB returns, but at cudaGetLastError, and would go on with memory
// that no kernel has written. A GPU does let it. Other kernels' errors are for their callers.
func swallowed(kernel string, err error) {
	if err == driver.Result(cu.CUDA_ERROR_NO_BINARY_FOR_GPU) && strings.Contains(kernel, "3cub") {
		lasting.Store(Code(err))
	}
}

// DeviceSynchronize waits for all work of the device.
func (t *Thread) DeviceSynchronize() error {
	d, err := t.ready()
	if err == nil {
		err = d.CtxSynchronize()
	}
	if err != nil {
		return err
	}
	return unwritten()
}

// StreamSynchronize waits for the work of a stream.
func (t *Thread) StreamSynchronize(stream rt.CudaStream_t) error {
	d, err := t.ready()
	if err == nil {
		err = d.StreamSynchronize(cu.CUstream(stream))
	}
	if err != nil {
		return err
	}
	return unwritten()
}
