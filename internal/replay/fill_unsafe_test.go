package replay_test

import "unsafe"

// Inlined with memory of a constant size, it is a program that the Go compiler does not compile.
//
//go:noinline
func fill(addr uint64, b []byte) {
	p := uintptr(addr)
	copy(unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), len(b)), b)
}

func look(addr uint64, n int) []byte {
	p := uintptr(addr)
	return append([]byte(nil), unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n)...)
}
