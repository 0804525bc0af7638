// Package curand answers cuRAND: generators, orderings and argument checks here, the numbers in kernels of our own (kernels/*.cu).
// Integers and uniform numbers are cuRAND's bit for bit. Every number is a function of the seed and of its position, so a generator
// keeps an offset, and whatever states its kernels left in device memory are only there to go on quickly.
package curand

import (
	"errors"

	"kudzu/internal/driver"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rand"
	"kudzu/internal/spec/rt"
)

// Thread is the calling thread; its methods are the functions of cuRAND.
type Thread driver.Thread

func (t *Thread) driver() *driver.Thread { return (*driver.Thread)(t) }

// Status is a result code as an error.
type Status rand.CurandStatus_t

func (s Status) Error() string { return names[s] }

// The codes this package gives.
const (
	notInitialized   = Status(rand.CURAND_STATUS_NOT_INITIALIZED)
	allocationFailed = Status(rand.CURAND_STATUS_ALLOCATION_FAILED)
	typeError        = Status(rand.CURAND_STATUS_TYPE_ERROR)
	outOfRange       = Status(rand.CURAND_STATUS_OUT_OF_RANGE)
	notMultiple      = Status(rand.CURAND_STATUS_LENGTH_NOT_MULTIPLE)
	launchFailure    = Status(rand.CURAND_STATUS_LAUNCH_FAILURE)
	earlierFailure   = Status(rand.CURAND_STATUS_PREEXISTING_FAILURE)
	noCUDA           = Status(rand.CURAND_STATUS_INITIALIZATION_FAILED)
	internalError    = Status(rand.CURAND_STATUS_INTERNAL_ERROR)
)

var names = map[Status]string{
	notInitialized: "no such generator", allocationFailed: "out of memory", typeError: "the generator is of another type",
	outOfRange: "argument out of range", notMultiple: "length is no multiple", launchFailure: "launch failed",
	earlierFailure: "an earlier call failed", noCUDA: "CUDA could not be initialized", internalError: "internal error",
}

// Code is the number C gets for an error. The driver's reasons are folded into the few cuRAND knows.
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
		return int32(noCUDA)
	case cu.CUDA_ERROR_OUT_OF_MEMORY:
		return int32(allocationFailed)
	}
	return int32(launchFailure)
}

// The version presented: cuRAND 10.4.0, of CUDA 13.0.
const major, minor, patch = 10, 4, 0

// GetVersion is the version as one number.
func (t *Thread) GetVersion() (int32, error) { return major*1000 + minor*100 + patch, nil }

// GetProperty is one part of it.
func (t *Thread) GetProperty(which rt.LibraryPropertyType) (int32, error) {
	parts := []int32{major, minor, patch}
	if which < 0 || int(which) >= len(parts) {
		return 0, outOfRange
	}
	return parts[which], nil
}
