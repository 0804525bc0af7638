// Package nvrtc answers NVRTC: programs in CUDA C++ become PTX, files of our assembler, and input for linkers that optimise. The
// compiler's process does the work; codes and logs are those of releases 12.9 and 13.0, recorded.
package nvrtc

import (
	"errors"
	"fmt"

	"kudzu/internal/compile"
	"kudzu/internal/cudacc"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/nvrtcapi"
)

// Thread is the calling thread; its methods are the functions of NVRTC.
type Thread driver.Thread

// Result is a result code as an error.
type Result nvrtcapi.NvrtcResult

func (r Result) Error() string { return fmt.Sprintf("NVRTC error %d", int32(r)) }

// The codes this package gives.
const (
	noMemory       = Result(nvrtcapi.NVRTC_ERROR_OUT_OF_MEMORY)
	invalidInput   = Result(nvrtcapi.NVRTC_ERROR_INVALID_INPUT)
	invalidProgram = Result(nvrtcapi.NVRTC_ERROR_INVALID_PROGRAM)
	invalidOption  = Result(nvrtcapi.NVRTC_ERROR_INVALID_OPTION)
	success        = Result(nvrtcapi.NVRTC_SUCCESS)
	notCompiled    = Result(nvrtcapi.NVRTC_ERROR_COMPILATION)
	noBuiltins     = Result(nvrtcapi.NVRTC_ERROR_BUILTIN_OPERATION_FAILURE)
	tooLate        = Result(nvrtcapi.NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION)
	tooEarly       = Result(nvrtcapi.NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION)
	unknownName    = Result(nvrtcapi.NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID)
	internal       = Result(nvrtcapi.NVRTC_ERROR_INTERNAL_ERROR)
	noTimeFile     = Result(nvrtcapi.NVRTC_ERROR_TIME_FILE_WRITE_FAILED)
	noPCH          = Result(nvrtcapi.NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED)
	cancelled      = Result(nvrtcapi.NVRTC_ERROR_CANCELLED)
	noTraceFile    = Result(nvrtcapi.NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED)
)

// The releases that are presented, for the table of functions.
const (
	Release12 = cudacc.Release12
	Release13 = cudacc.Release13
)

// Code is the number C gets for an error.
func Code(err error) int32 {
	var r Result
	switch {
	case err == nil:
		return 0
	case errors.As(err, &r):
		return int32(r)
	}
	return int32(internal)
}

// Compiler compiles programs: *compile.Client does.
type Compiler interface {
	CUDA(p *compile.CUDA, texts string) (*compile.CUDACode, error)
	// Keep stores what answers the same request the next time, and Tools are the files that choose and do the work.
	Keep(key [32]byte, answer []byte)
	Tools() []compile.CUDAFile
	// Adopt takes over a compiler process that was started ahead of us, and its socket.
	Adopt(fd, pid int)
}

var compiler Compiler

// Use names who compiles. It is called before the first function is.
func Use(c Compiler) { compiler = c }

// GetNumSupportedArchs is the number of architectures that can be compiled for.
func (t *Thread) GetNumSupportedArchs(r cudacc.Release) (int32, error) {
	return int32(len(r.Archs())), nil
}

// GetSupportedArchs lists them.
func (t *Thread) GetSupportedArchs(to hostmem.Ptr, r cudacc.Release) error {
	if to == hostmem.Nil {
		return invalidInput
	}
	copy(hostmem.Slice[int32](to, len(r.Archs())), r.Archs())
	return nil
}
