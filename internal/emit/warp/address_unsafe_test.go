package warp_test

import "unsafe"

var escaped any

// address is where a slice's elements lie; the caller keeps it alive. They escape to the heap: stacks move.
func address[T any](s []T) uint64 {
	if len(s) == 0 {
		return 0
	}
	escaped = s
	return uint64(uintptr(unsafe.Pointer(&s[0])))
}

// aligned is n bytes at a multiple of 4096.
func aligned(n int) []byte {
	b := make([]byte, n+4096)
	off := -int(address(b)) & 4095
	return b[off : off+n : off+n]
}
