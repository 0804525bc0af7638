package cudart

import (
	"strconv"

	"kudzu/internal/driver"
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

// ErrorOf is the runtime's code for one of the driver's. Since CUDA 10.1 both count alike.
func ErrorOf(r driver.Result) rt.CudaError_t { return rt.CudaError_t(r) }
