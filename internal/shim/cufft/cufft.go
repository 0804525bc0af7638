// Package cufft answers cuFFT: plans, layouts and argument checks here, the transforms in kernels of our own (kernels/*.cu).
package cufft

import (
	"errors"

	"kudzu/internal/driver"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/fft"
	"kudzu/internal/spec/rt"
)

// Thread is the calling thread; its methods are the functions of cuFFT.
type Thread driver.Thread

func (t *Thread) driver() *driver.Thread { return (*driver.Thread)(t) }

// Status is a result code as an error.
type Status fft.CufftResult

func (s Status) Error() string { return names[s] }

// The codes this package gives.
const (
	invalidPlan   = Status(fft.CUFFT_INVALID_PLAN)
	allocFailed   = Status(fft.CUFFT_ALLOC_FAILED)
	invalidType   = Status(fft.CUFFT_INVALID_TYPE)
	invalidValue  = Status(fft.CUFFT_INVALID_VALUE)
	internalError = Status(fft.CUFFT_INTERNAL_ERROR)
	execFailed    = Status(fft.CUFFT_EXEC_FAILED)
	setupFailed   = Status(fft.CUFFT_SETUP_FAILED)
	invalidSize   = Status(fft.CUFFT_INVALID_SIZE)
	invalidDevice = Status(fft.CUFFT_INVALID_DEVICE)
	noWorkspace   = Status(fft.CUFFT_NO_WORKSPACE)
	notSupported  = Status(fft.CUFFT_NOT_SUPPORTED)
)

var names = map[Status]string{
	invalidPlan: "no such plan", allocFailed: "out of memory", invalidType: "no such type", invalidValue: "argument not allowed",
	internalError: "internal error", execFailed: "launch failed", setupFailed: "CUDA could not be initialized",
	invalidSize: "length not allowed", invalidDevice: "plan of another device", noWorkspace: "no work area", notSupported: "not supported", notImplemented: "not implemented",
}

// Code is the number C gets for an error. The driver's reasons are folded into the few cuFFT knows.
func Code(err error) int32 {
	var s Status
	if errors.As(err, &s) {
		return int32(s)
	}
	var r driver.Result
	if !errors.As(err, &r) {
		return int32(internalError)
	}
	switch cu.CUresult(r) {
	case cu.CUDA_ERROR_NOT_INITIALIZED, cu.CUDA_ERROR_NO_DEVICE, cu.CUDA_ERROR_INVALID_CONTEXT, cu.CUDA_ERROR_DEINITIALIZED:
		return int32(setupFailed)
	case cu.CUDA_ERROR_OUT_OF_MEMORY:
		return int32(allocFailed)
	}
	return int32(execFailed)
}

// Release is a version of the library as one number.
type Release int32

// The versions presented: those of CUDA 12.9 and 13.0.
const (
	Release11 Release = 11401
	Release12 Release = 12000
)

// GetVersion is the version as one number.
func (t *Thread) GetVersion(r Release) (int32, error) { return int32(r), nil }

// GetProperty is one part of it.
func (t *Thread) GetProperty(which rt.LibraryPropertyType, r Release) (int32, error) {
	parts := []Release{r / 1000, r / 100 % 10, r % 100}
	if which < 0 || int(which) >= len(parts) {
		return 0, invalidType
	}
	return int32(parts[which]), nil
}
