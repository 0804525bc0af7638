package cuda

import (
	"encoding/binary"
	"fmt"

	"kudzu/internal/backend"
	"kudzu/internal/dl"
	"kudzu/internal/spec/cu"
)

// Result is a CUresult other than success.
type Result uint32

// Error is the code; names are the driver room's business.
func (r Result) Error() string { return fmt.Sprintf("CUDA error %d", uint32(r)) }

// CUDA is the code: what the real driver says is what a program is told.
func (r Result) CUDA() int32 { return int32(r) }

var _ backend.Coded = Result(0)

const (
	resultNoMemory    = Result(cu.CUDA_ERROR_OUT_OF_MEMORY)
	resultNotFound    = Result(cu.CUDA_ERROR_NOT_FOUND)
	resultNotReady    = Result(cu.CUDA_ERROR_NOT_READY)
	resultAddress     = Result(cu.CUDA_ERROR_ILLEGAL_ADDRESS)
	resultTimeout     = Result(cu.CUDA_ERROR_LAUNCH_TIMEOUT)
	resultAssert      = Result(cu.CUDA_ERROR_ASSERT)
	resultInstruction = Result(cu.CUDA_ERROR_ILLEGAL_INSTRUCTION)
	resultMisaligned  = Result(cu.CUDA_ERROR_MISALIGNED_ADDRESS)
	resultFailed      = Result(cu.CUDA_ERROR_LAUNCH_FAILED)
)

// faults are the codes that end a context, with the kind a backend reports.
var faults = map[Result]backend.FaultKind{
	resultAddress: backend.FaultAddress, resultTimeout: backend.FaultTimeout, resultAssert: backend.FaultAssert,
	resultInstruction: backend.FaultInstruction, resultMisaligned: backend.FaultMisaligned, resultFailed: backend.FaultTrap,
}

// api calls driver functions by name.
type api struct{ lib *dl.Library }

func (a *api) call(name string, args ...uintptr) error {
	f, err := a.lib.Find(name)
	if err != nil {
		return err
	}
	if r := Result(f.Call(args...)); r != 0 {
		return fmt.Errorf("%s: %w", name, r)
	}
	return nil
}

// getPtr calls a function whose first parameter is a pointer to a word it writes.
func (a *api) getPtr(name string, args ...uintptr) (uintptr, error) {
	out := dl.Alloc(8)
	defer out.Free()
	err := a.call(name, append([]uintptr{out.Addr()}, args...)...)
	return uintptr(word(out, 0)), err
}

// getInt calls a function whose first parameter is a pointer to an int it writes.
func (a *api) getInt(name string, args ...uintptr) (int, error) {
	p, err := a.getPtr(name, args...)
	return int(int32(p)), err
}

func word(b *dl.Buffer, off int) uint64 { return binary.LittleEndian.Uint64(b.Bytes()[off:]) }
