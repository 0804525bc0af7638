package worker

import "unsafe"

var escaped any

// address is where a slice's elements are, for code that takes raw addresses. They escape to the heap: stacks move.
func address[T any](s []T) uintptr {
	escaped = s
	return uintptr(unsafe.Pointer(unsafe.SliceData(s)))
}
