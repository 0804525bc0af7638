package image_test

import "unsafe"

var escaped any

// address is where a slice's elements are, for code that takes raw addresses. They escape to the heap: stacks move.
func address[T any](s []T) uint64 {
	escaped = s
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(s))))
}
