package driver

import (
	"errors"
	"strconv"

	"kudzu/internal/backend"
	"kudzu/internal/logx"
	"kudzu/internal/ptx"
	"kudzu/internal/spec/cu"
)

// Result is a CUDA error code. Zero is never used as an error: success is nil.
type Result int32

// Error is the code; names belong to the border.
func (r Result) Error() string { return "CUDA error " + strconv.Itoa(int(r)) }

// The codes this package answers, under short names. The values are the interface's.
const (
	errInvalidValue    = Result(cu.CUDA_ERROR_INVALID_VALUE)
	errOutOfMemory     = Result(cu.CUDA_ERROR_OUT_OF_MEMORY)
	errNotInitialized  = Result(cu.CUDA_ERROR_NOT_INITIALIZED)
	errNoDevice        = Result(cu.CUDA_ERROR_NO_DEVICE)
	errInvalidDevice   = Result(cu.CUDA_ERROR_INVALID_DEVICE)
	errInvalidImage    = Result(cu.CUDA_ERROR_INVALID_IMAGE)
	errInvalidContext  = Result(cu.CUDA_ERROR_INVALID_CONTEXT)
	errNoBinary        = Result(cu.CUDA_ERROR_NO_BINARY_FOR_GPU)
	errUnsupLimit      = Result(cu.CUDA_ERROR_UNSUPPORTED_LIMIT)
	errPeer            = Result(cu.CUDA_ERROR_PEER_ACCESS_UNSUPPORTED)
	errInvalidPTX      = Result(cu.CUDA_ERROR_INVALID_PTX)
	errPTXVersion      = Result(cu.CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
	errInvalidSource   = Result(cu.CUDA_ERROR_INVALID_SOURCE)
	errFileNotFound    = Result(cu.CUDA_ERROR_FILE_NOT_FOUND)
	errInvalidHandle   = Result(cu.CUDA_ERROR_INVALID_HANDLE)
	errIllegalState    = Result(cu.CUDA_ERROR_ILLEGAL_STATE)
	errNotFound        = Result(cu.CUDA_ERROR_NOT_FOUND)
	errNotReady        = Result(cu.CUDA_ERROR_NOT_READY)
	errIllegalAddress  = Result(cu.CUDA_ERROR_ILLEGAL_ADDRESS)
	errLaunchResources = Result(cu.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
	errLaunchTimeout   = Result(cu.CUDA_ERROR_LAUNCH_TIMEOUT)
	errDestroyed       = Result(cu.CUDA_ERROR_CONTEXT_IS_DESTROYED)
	errAssert          = Result(cu.CUDA_ERROR_ASSERT)
	errRegistered      = Result(cu.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
	errNotRegistered   = Result(cu.CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)
	errIllegalInst     = Result(cu.CUDA_ERROR_ILLEGAL_INSTRUCTION)
	errMisaligned      = Result(cu.CUDA_ERROR_MISALIGNED_ADDRESS)
	errLaunchFailed    = Result(cu.CUDA_ERROR_LAUNCH_FAILED)
	errCoopTooLarge    = Result(cu.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
	errNotPermitted    = Result(cu.CUDA_ERROR_NOT_PERMITTED)
	errNotSupported    = Result(cu.CUDA_ERROR_NOT_SUPPORTED)
	errSystemNotReady  = Result(cu.CUDA_ERROR_SYSTEM_NOT_READY)
	errClusterSize     = Result(cu.CUDA_ERROR_INVALID_CLUSTER_SIZE)
	errUnknown         = Result(cu.CUDA_ERROR_UNKNOWN)
)

// faultCodes is indexed by backend.FaultKind.
var faultCodes = [...]Result{
	0:                        errUnknown,
	backend.FaultAddress:     errIllegalAddress,
	backend.FaultMisaligned:  errMisaligned,
	backend.FaultInstruction: errIllegalInst,
	backend.FaultTrap:        errLaunchFailed,
	backend.FaultAssert:      errAssert,
	backend.FaultStack:       errIllegalAddress, // as an H200 answers
	backend.FaultDeadlock:    errLaunchFailed,   // the hardware would hang; saying so helps more
	backend.FaultTimeout:     errLaunchTimeout,
}

// fail turns what a backend answered into a code. A fault ends the context: it is said once on stderr and every later
// call in the context answers it.
func (c *Context) fail(err error) error {
	if err == nil {
		return nil
	}
	var f *backend.Fault
	if errors.As(err, &f) {
		code := errUnknown
		if int(f.Kind) < len(faultCodes) {
			code = faultCodes[f.Kind]
		}
		if c.fault.CompareAndSwap(0, int32(code)) {
			c.state.changed()
			complain("%s", f.Error())
			c.traceFault(f)
		}
		return Result(c.fault.Load())
	}
	return plain(err)
}

// plain is fail for work that belongs to no context.
func plain(err error) error {
	var r Result
	var u *backend.Unsupported
	var list ptx.ErrorList
	var coded backend.Coded
	switch {
	case err == nil:
		return nil
	case errors.As(err, &r):
		return r
	case errors.Is(err, backend.ErrNoMemory):
		return errOutOfMemory
	case errors.Is(err, backend.ErrClosed): // the context or stream ended on another thread
		return errDestroyed
	case errors.Is(err, backend.ErrNotFound):
		return errNotFound
	case errors.As(err, &list): // a large module is checked kernel by kernel, at first use
		complain("%s", err)
		return errInvalidPTX
	case errors.As(err, &u):
		logx.Once("unsupported "+u.Error(), "%s", u.Error())
		return errNotSupported
	case errors.As(err, &coded) && Result(coded.CUDA()) != errUnknown:
		logx.Once("vendor "+err.Error(), "%s", err.Error()) // the program hears the code only
		return Result(coded.CUDA())
	}
	complain("%s", err)
	return errUnknown
}

// Code is the number C gets for an error. One that is no result code is a mistake of ours.
func Code(err error) int32 {
	if r, ok := err.(Result); ok {
		return int32(r)
	}
	var r Result
	if errors.As(err, &r) {
		return int32(r)
	}
	logx.Errorf("an error without a code: %v", err)
	return int32(errUnknown)
}

// Refuse is the answer to a null pointer where a result must go. As the real driver does, it says first that there is no
// driver yet.
func (t *Thread) Refuse() int32 {
	if _, err := t.DeviceGetCount(); err != nil {
		return Code(err)
	}
	return int32(errInvalidValue)
}
