// Package bind leads calls that came through the door to the methods that answer them.
// Its generated part unpacks arguments and stores results; here is what they share.
package bind

import (
	"errors"

	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/logx"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/shim/nvml"
)

const (
	invalidValue = 1   // CUDA_ERROR_INVALID_VALUE
	unknown      = 999 // CUDA_ERROR_UNKNOWN
)

// code is the number C gets for an error. One that is no result code is a mistake of ours.
func code(err error) int32 {
	if r, ok := err.(driver.Result); ok {
		return int32(r)
	}
	var r driver.Result
	if errors.As(err, &r) {
		return int32(r)
	}
	logx.Errorf("an error without a code: %v", err)
	return unknown
}

// Report says, once a function, why a call could not be served. A stack means that the
// mistake is ours; it is shown to those who ask for everything.
func Report(call string, cause any, stack []byte) {
	if stack == nil {
		logx.Once("call "+call, "%s: %v", call, cause)
		return
	}
	logx.Once("panic "+call, "%s: %v (a mistake in Kudzu; KUDZU_LOG=debug shows where)", call, cause)
	if logx.On(logx.Debug) {
		_, _ = logx.Stderr.Write(stack)
	}
}

// runtimeCode is code for the runtime API, whose numbers are the driver's where both have one.
func runtimeCode(err error) int32 {
	var r driver.Result
	if e, ok := err.(cudart.Error); ok {
		return int32(e)
	}
	if !errors.As(err, &r) {
		return code(err)
	}
	return int32(cudart.ErrorOf(r))
}

// refuseRuntime answers a null pointer where a result of the runtime API must go.
func refuseRuntime() int32 { return invalidValue }

// blasCode is code for cuBLAS and cuBLASLt.
func blasCode(err error) int32 { return int32(cublas.StatusOf(err)) }

// refuseBlas answers a null pointer where a result must go: CUBLAS_STATUS_INVALID_VALUE.
func refuseBlas() int32 { return 7 }

// nvmlCode is code for NVML.
func nvmlCode(err error) int32 { return int32(nvml.ReturnOf(err)) }

// refuseNvml answers a null pointer where a result must go: NVML_ERROR_INVALID_ARGUMENT.
func refuseNvml() int32 { return 2 }
