// Package cubin writes and reads the file that our assembler makes of PTX: an ELF file that looks like NVIDIA's machine code
// to those who read it, and carries the PTX itself in a section of its own.
//
// Clients hand the result of an assembler or linker on without looking at it, or look at little: the machine and the target in
// the header, a symbol and a section for each kernel, and the attributes that say what a kernel needs. These are where they
// are in NVIDIA's files of the same target. The section .text.NAME has no instructions in it.
//
// Everything read here comes from outside. Offsets and sizes are checked against the bytes at hand before they are used, and
// no input makes the package panic or allocate more than MaxText plus a small multiple of the input.
package cubin

import (
	"errors"
	"fmt"
	"strings"
)

// MaxText bounds the PTX of one file.
const MaxText = 512 << 20

// Machine is the number of NVIDIA's processors in the header of an ELF file.
const Machine = 190

// Section is the name of the section with the PTX.
const Section = ".kudzu.ptx"

// File is a program and what is known of it.
type File struct {
	SM          int    // 90 for sm_90
	Suffix      string // "a", "f" or nothing
	Relocatable bool   // input for a linker: functions may be missing
	Text        string // the PTX; empty in a file of NVIDIA's
	Kernels     []Kernel
	Vars        []Var
}

// Target spells the architecture as assemblers do.
func (f *File) Target() string { return fmt.Sprintf("sm_%d%s", f.SM, f.Suffix) }

// Kernel is what one entry needs.
type Kernel struct {
	Name       string
	Registers  int
	Barriers   int
	Shared     uint64 // static shared memory, bytes
	Local      uint64 // local memory of a thread, bytes
	Params     []Param
	MaxThreads [3]uint32 // .maxntid, zero if there is none
	ReqThreads [3]uint32 // .reqntid
}

// ParamBytes is the size of all parameters.
func (k *Kernel) ParamBytes() uint32 {
	n := uint32(0)
	for _, p := range k.Params {
		n = max(n, p.Offset+p.Size)
	}
	return n
}

// Param is a parameter of a kernel.
type Param struct{ Offset, Size uint32 }

// Var is a variable of the module.
type Var struct {
	Name   string
	Const  bool
	Global bool // seen by other modules and by the program
	Size   uint64
	Align  uint64
	Init   []byte // nil: zero
}

// ErrFormat is in the chain of every error about a damaged file.
var ErrFormat = errors.New("malformed cubin")

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// Foreign is the error for an ELF file without PTX of ours: it says what the file is.
type Foreign struct {
	Machine uint16
	What    string
}

// Error says what the file is.
func (f *Foreign) Error() string { return f.What }

// describe names a file that is not ours.
func describe(e *object) *Foreign {
	if e.machine != Machine {
		return &Foreign{e.machine, fmt.Sprintf("an ELF file for machine %d", e.machine)}
	}
	sm, suffix := e.target()
	var names []string
	for i := range e.sections {
		if name, ok := strings.CutPrefix(e.sections[i].name, ".text."); ok {
			names = append(names, name)
		}
	}
	what := fmt.Sprintf("machine code for sm_%d%s", sm, suffix)
	switch n := len(names); {
	case n == 1:
		what += ", kernel " + names[0]
	case n > 1:
		what += fmt.Sprintf(", %d kernels, the first is %s", n, names[0])
	}
	return &Foreign{e.machine, what}
}

// firstParam is where a kernel's parameters begin in its constant bank, by target.
func firstParam(sm int) uint32 {
	switch {
	case sm < 70:
		return 0x140
	case sm < 90:
		return 0x160
	case sm < 100:
		return 0x210
	}
	return 0x380
}

// ConstBank is the size of a kernel's own constant bank: what the driver keeps there, and the parameters.
func (f *File) ConstBank(k *Kernel) uint32 { return firstParam(f.SM) + k.ParamBytes() }
