package cudart

import (
	"errors"
	"strconv"

	"kudzu/internal/driver"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// Error is a code of the runtime API that the driver has no equal for.
type Error rt.CudaError_t

// Error is the code; names belong to the border.
func (e Error) Error() string { return "CUDA runtime error " + strconv.Itoa(int(e)) }

const (
	errInvalidValue     = Error(rt.CudaErrorInvalidValue)
	errInvalidConfig    = Error(rt.CudaErrorInvalidConfiguration)
	errInvalidPitch     = Error(rt.CudaErrorInvalidPitchValue)
	errInvalidSymbol    = Error(rt.CudaErrorInvalidSymbol)
	errInvalidDirection = Error(rt.CudaErrorInvalidMemcpyDirection)
	errInvalidFunction  = Error(rt.CudaErrorInvalidDeviceFunction)
	errInvalidDevice    = Error(rt.CudaErrorInvalidDevice)
	errNoDevice         = Error(rt.CudaErrorNoDevice)
	errInvalidHandle    = Error(rt.CudaErrorInvalidResourceHandle)
	errNotSupported     = Error(rt.CudaErrorNotSupported)
	errSetOnActive      = Error(rt.CudaErrorSetOnActiveProcess)
)

// nameless are codes of the driver that the runtime has no name for.
var nameless = map[driver.Result]bool{
	driver.Result(cu.CUDA_ERROR_CONTEXT_ALREADY_CURRENT): true,
	driver.Result(cu.CUDA_ERROR_MULTICAST_RESOURCE_FULL): true,
	driver.Result(cu.CUDA_ERROR_KEY_ROTATION):            true,
}

// ErrorOf is the runtime's code for one of the driver's. Since CUDA 10.1 both count alike.
func ErrorOf(r driver.Result) rt.CudaError_t {
	if nameless[r] {
		return rt.CudaErrorUnknown
	}
	return rt.CudaError_t(r)
}

// Code is the number C gets for an error: the runtime's numbers are the driver's where both have one.
func Code(err error) int32 {
	if e, ok := err.(Error); ok {
		return int32(e)
	}
	var r driver.Result
	if !errors.As(err, &r) {
		return driver.Code(err)
	}
	return int32(ErrorOf(r))
}
