// Package nvvm answers libNVVM: programs in NVVM IR become PTX. The compiler's process does the work.
package nvvm

import (
	"errors"
	"fmt"

	"kudzu/internal/compile"
	"kudzu/internal/driver"
	"kudzu/internal/nvvmir"
	"kudzu/internal/spec/nvvmapi"
)

// Thread is the calling thread; its methods are the functions of libNVVM.
type Thread driver.Thread

// Result is a result code as an error.
type Result nvvmapi.NvvmResult

func (r Result) Error() string { return fmt.Sprintf("NVVM error %d", int32(r)) }

// The codes this package gives.
const (
	noMemory       = Result(nvvmapi.NVVM_ERROR_OUT_OF_MEMORY)
	wrongVersion   = Result(nvvmapi.NVVM_ERROR_IR_VERSION_MISMATCH)
	invalidInput   = Result(nvvmapi.NVVM_ERROR_INVALID_INPUT)
	invalidProgram = Result(nvvmapi.NVVM_ERROR_INVALID_PROGRAM)
	invalidIR      = Result(nvvmapi.NVVM_ERROR_INVALID_IR)
	invalidOption  = Result(nvvmapi.NVVM_ERROR_INVALID_OPTION)
	noModule       = Result(nvvmapi.NVVM_ERROR_NO_MODULE_IN_PROGRAM)
	notCompiled    = Result(nvvmapi.NVVM_ERROR_COMPILATION)
)

// Code is the number C gets for an error.
func Code(err error) int32 {
	var r Result
	if errors.As(err, &r) {
		return int32(r)
	}
	return int32(notCompiled)
}

var compiler compile.IRCompiler

// Use names who compiles. It is called before the first function is.
func Use(c compile.IRCompiler) { compiler = c }

// The version of libNVVM's interface, and the newest LLVM whose dialect is told.
const (
	major, minor = 2, 0
	newestLLVM   = 22
)

// Version is the interface's.
func (t *Thread) Version() (int32, int32, error) { return major, minor, nil }

// IRVersion is the version of NVVM IR that is taken, and that of its debug information.
func (t *Thread) IRVersion() (ir, irMinor, debug, debugMinor int32, err error) {
	return nvvmir.IRMajor, nvvmir.IRMinor, nvvmir.DebugMajor, nvvmir.DebugMinor, nil
}

// LLVMVersion is the LLVM whose dialect IR for an architecture is written in. Both are taken for all of them.
func (t *Thread) LLVMVersion(arch string) (int32, error) {
	a, ok := nvvmir.Arch(arch)
	if !ok {
		return 0, invalidInput
	}
	return int32(nvvmir.LLVM(a, newestLLVM)), nil
}
