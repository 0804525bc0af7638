// Package cudnn answers cuDNN 8 and 9: handles, streams, descriptors, codes and the text of the last error. What is not there yet
// is answered NOT_SUPPORTED, and counted.
package cudnn

import (
	"errors"
	"fmt"
	"sync/atomic"

	"kudzu/internal/driver"
	"kudzu/internal/shim/cudnn/graph"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/dnn"
)

// Thread is the calling thread; its methods are the functions of cuDNN.
type Thread driver.Thread

func (t *Thread) driver() *driver.Thread { return (*driver.Thread)(t) }

// Status is a result code of cuDNN 9 as an error.
type Status dnn.CudnnStatus_t

func (s Status) Error() string { return names[s] }

// The codes this package gives.
const (
	notInitialized  = Status(dnn.CUDNN_STATUS_NOT_INITIALIZED)
	mismatch        = Status(dnn.CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH)
	badParam        = Status(dnn.CUDNN_STATUS_BAD_PARAM)
	nullPointer     = Status(dnn.CUDNN_STATUS_BAD_PARAM_NULL_POINTER)
	notSupported    = Status(dnn.CUDNN_STATUS_NOT_SUPPORTED)
	internalError   = Status(dnn.CUDNN_STATUS_INTERNAL_ERROR)
	hostAlloc       = Status(dnn.CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED)
	deviceAlloc     = Status(dnn.CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
	executionFailed = Status(dnn.CUDNN_STATUS_EXECUTION_FAILED)
)

var names = map[Status]string{
	notInitialized: "cuDNN is not initialized", mismatch: "the versions of the parts differ", badParam: "bad parameter",
	nullPointer: "null pointer", notSupported: "not supported", internalError: "internal error", hostAlloc: "host memory could not be allocated",
	deviceAlloc: "device memory could not be allocated", executionFailed: "execution failed",
}

// failure is a code with the reason that cudnnGetLastErrorString tells.
type failure struct {
	Status
	reason string
}

func (f failure) Error() string { return f.Status.Error() + ": " + f.reason }
func (f failure) Unwrap() error { return f.Status }

func because(s Status, format string, args ...any) error {
	return failure{s, fmt.Sprintf(format, args...)}
}

// Release is which library a program calls: their codes have other numbers.
type Release int32

// The releases.
const (
	Nine Release = iota
	Eight
)

// called is the release that made a handle last. A process has one cuDNN.
var called atomic.Int32

// eight are the codes of cuDNN 8, by the thousands of those of 9, and the few that have one of their own.
var eight = map[Status]int32{
	notInitialized: 1, hostAlloc: 2, deviceAlloc: 2, badParam: 3, internalError: 4, executionFailed: 8, notSupported: 9, mismatch: 14,
}

// said takes the text that cudnnGetLastErrorString answers.
var said atomic.Pointer[func(string)]

// Say names the function that keeps the text of the last failure where C finds it.
func Say(f func(string)) { said.Store(&f) }

// Code is the number C gets for an error, whose text is kept.
func Code(err error) int32 {
	if say := said.Load(); say != nil {
		(*say)(err.Error())
	}
	code := numbered(statusOf(err))
	tell(code, err.Error())
	return code
}

// numbered is the number of a code in the release that a program calls.
func numbered(s Status) int32 {
	if Release(called.Load()) == Nine {
		return int32(s)
	}
	if v, ok := eight[s]; ok {
		return v
	}
	return eight[s/1000*1000]
}

// statusOf folds the reasons of the driver into those cuDNN knows.
func statusOf(err error) Status {
	var s Status
	var g *graph.Error
	var r driver.Result
	switch {
	case errors.As(err, &s):
		return s
	case errors.Is(err, nn.ErrShape):
		return badParam
	case errors.Is(err, nn.ErrUnsupported):
		return notSupported
	case errors.As(err, &g):
		return Status(g.Code)
	case errors.As(err, &r):
		switch cu.CUresult(r) {
		case cu.CUDA_ERROR_NOT_INITIALIZED, cu.CUDA_ERROR_NO_DEVICE, cu.CUDA_ERROR_INVALID_CONTEXT, cu.CUDA_ERROR_DEINITIALIZED:
			return notInitialized
		case cu.CUDA_ERROR_OUT_OF_MEMORY:
			return deviceAlloc
		}
		return executionFailed
	}
	return internalError
}

// Refuse is the answer to a NULL where a result must go.
func (t *Thread) Refuse() int32 { return Code(because(badParam, "nowhere to put a result")) }
