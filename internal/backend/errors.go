package backend

import (
	"errors"
	"fmt"
)

// What backends answer beside faults. The driver maps them to CUDA's codes.
var (
	ErrNoMemory = errors.New("out of memory")
	ErrNotFound = errors.New("not found")
	ErrClosed   = errors.New("closed")
	ErrNoSensor = errors.New("the device does not tell")
	ErrTime     = errors.New("the launch took too long")
)

// Coded is an error of a vendor's runtime that has a number of CUDA's driver API. The driver answers it.
type Coded interface {
	error
	CUDA() int32
}

// Unsupported is a valid program that this backend cannot run (yet): the kernel's launch fails, nothing else does.
type Unsupported struct {
	What   string // "tcgen05.mma"
	Kernel string
	Line   int // of the module's PTX, 0 if unknown
}

// Error names kernel, line and instruction.
func (u *Unsupported) Error() string {
	if u.Kernel == "" {
		return u.What + " is not supported"
	}
	return fmt.Sprintf("kernel %s, PTX line %d: %s is not supported", u.Kernel, u.Line, u.What)
}

// FaultKind tells faults apart as CUDA's codes do.
type FaultKind uint8

// The kinds of fault.
const (
	FaultAddress     FaultKind = iota + 1 // CUDA_ERROR_ILLEGAL_ADDRESS
	FaultMisaligned                       // CUDA_ERROR_MISALIGNED_ADDRESS
	FaultInstruction                      // CUDA_ERROR_ILLEGAL_INSTRUCTION
	FaultTrap                             // trap: CUDA_ERROR_LAUNCH_FAILED
	FaultAssert                           // CUDA_ERROR_ASSERT
	FaultStack                            // stack overflow: CUDA_ERROR_ILLEGAL_ADDRESS, as on the card
	FaultDeadlock                         // no thread of the grid can go on; real hardware would hang
	FaultTimeout                          // CUDA_ERROR_LAUNCH_TIMEOUT
)

// Fault is how a kernel ended its context.
type Fault struct {
	Kind   FaultKind
	Kernel string
	Block  [3]uint32
	Thread [3]uint32
	Warp   bool // Thread is the first of a warp: which of its threads it was is not known
	Line   int  // of the module's PTX, 0 if unknown
	Addr   Addr // FaultAddress, FaultMisaligned
	Detail string
}

// CopyKernel is the Kernel of a fault in a copy or fill, which no kernel made.
const CopyKernel = "(copy)"

// Error is the one line the user sees.
func (f *Fault) Error() string {
	if f.Kernel == CopyKernel {
		s := fmt.Sprintf("copy: %s %#x", f.Kind, uint64(f.Addr))
		if f.Detail != "" {
			s += ": " + f.Detail
		}
		return s
	}
	s := fmt.Sprintf("kernel %s: %s", f.Kernel, f.Kind)
	if f.Kind == FaultAddress || f.Kind == FaultMisaligned {
		s += fmt.Sprintf(" %#x", uint64(f.Addr))
	}
	who := "thread"
	if f.Warp {
		who = "warp of thread"
	}
	s += fmt.Sprintf(" in block (%d,%d,%d), %s (%d,%d,%d)", f.Block[0], f.Block[1], f.Block[2], who, f.Thread[0], f.Thread[1], f.Thread[2])
	if f.Line > 0 {
		s += fmt.Sprintf(", PTX line %d", f.Line)
	}
	if f.Detail != "" {
		s += ": " + f.Detail
	}
	return s
}

var faultNames = [...]string{
	FaultAddress: "illegal address", FaultMisaligned: "misaligned address", FaultInstruction: "illegal instruction",
	FaultTrap: "trap", FaultAssert: "assertion failed", FaultStack: "stack overflow", FaultDeadlock: "deadlock", FaultTimeout: "timeout",
}

// String names the kind.
func (k FaultKind) String() string { return faultNames[k] }

// Polled is the answer of a query that has an error for "not yet": done, not done, or an error.
func Polled(err, notYet error) (bool, error) {
	if errors.Is(err, notYet) {
		return false, nil
	}
	return err == nil, err
}
