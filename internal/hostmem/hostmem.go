// Package hostmem is memory of the calling program: addresses that came in through the C
// interface, seen as bounded views. It is the one place where such an address becomes a
// Go slice or value.
//
// The program may hand us any address. An address in the first page is refused here with a panic of
// type Fault; any other bad address faults when touched. Both are turned into
// CUDA_ERROR_INVALID_VALUE at the door, which runs every call with
// debug.SetPanicOnFault, so a method may use a pointer without a check of its own.
package hostmem

import "fmt"

// Ptr is an address in the calling program. It is an integer, so that the garbage
// collector never looks at it.
type Ptr uintptr

// Nil is the null pointer.
const Nil Ptr = 0

// MaxString bounds how far String looks for the end of a C string.
const MaxString = 1 << 20

// maxView is larger than any address space in use and keeps lengths positive.
const maxView = 1 << 47

// firstPage is never mapped: what points there is null with an offset.
const firstPage = 4096

// Fault is the panic for an address that cannot be used.
type Fault struct {
	At   Ptr
	Size uint64
}

func (f Fault) Error() string {
	return fmt.Sprintf("host memory: %d bytes at %#x cannot be used", f.Size, uintptr(f.At))
}

// Addr is the address, under the name the Go runtime's own memory faults have it.
func (f Fault) Addr() uintptr { return uintptr(f.At) }

// Add is the address n bytes further on.
func (p Ptr) Add(n uint64) Ptr { return p + Ptr(n) }

// Index is the address of the i-th of elements that have the given size.
func (p Ptr) Index(i, size int) Ptr { return p + Ptr(i)*Ptr(size) }
