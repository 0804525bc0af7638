// Package cublas answers cuBLAS: handles, modes, argument checks and result codes here, the arithmetic in kernels of our own
// (kernels/*.cu, compiled by clang to the PTX beside them) that run on whatever device the stream belongs to. Because the
// work is ordinary launches, stream order, capture into graphs and device-side scalars need no code of their own.
package cublas

import (
	"errors"

	"kudzu/internal/driver"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
)

// Status is a cuBLAS result code as an error.
type Status blas.CublasStatus_t

func (s Status) Error() string { return names[s] }

// Answered is a provider's answer as an error: its status in cuBLAS's numbers, if it has one there.
func Answered(v int64, known bool) error {
	switch {
	case !known:
		return Status(blas.CUBLAS_STATUS_INTERNAL_ERROR)
	case v == int64(blas.CUBLAS_STATUS_SUCCESS):
		return nil
	}
	return Status(v)
}

// The codes this package gives.
const (
	notInitialized  = Status(blas.CUBLAS_STATUS_NOT_INITIALIZED)
	allocFailed     = Status(blas.CUBLAS_STATUS_ALLOC_FAILED)
	invalidValue    = Status(blas.CUBLAS_STATUS_INVALID_VALUE)
	mappingError    = Status(blas.CUBLAS_STATUS_MAPPING_ERROR)
	executionFailed = Status(blas.CUBLAS_STATUS_EXECUTION_FAILED)
	internalError   = Status(blas.CUBLAS_STATUS_INTERNAL_ERROR)
	notSupported    = Status(blas.CUBLAS_STATUS_NOT_SUPPORTED)
)

var names = map[Status]string{
	notInitialized: "cuBLAS is not initialized", allocFailed: "cuBLAS could not allocate", invalidValue: "invalid value",
	mappingError: "an access to memory failed", executionFailed: "execution failed", internalError: "internal error", notSupported: "not supported",
}

// StatusOf is the code for any error. The driver's reasons are folded into the few cuBLAS knows.
func StatusOf(err error) Status {
	var s Status
	if errors.As(err, &s) {
		return s
	}
	var r driver.Result
	if !errors.As(err, &r) {
		return internalError
	}
	switch cu.CUresult(r) {
	case cu.CUDA_ERROR_NOT_INITIALIZED, cu.CUDA_ERROR_NO_DEVICE, cu.CUDA_ERROR_INVALID_CONTEXT, cu.CUDA_ERROR_DEINITIALIZED:
		return notInitialized
	case cu.CUDA_ERROR_OUT_OF_MEMORY:
		return allocFailed
	case cu.CUDA_ERROR_NOT_SUPPORTED:
		return notSupported
	}
	return executionFailed
}

// Code is the number C gets for an error.
func Code(err error) int32 { return int32(StatusOf(err)) }
