package cublaslt

import (
	"syscall"
	"unsafe"

	"kudzu/internal/hostmem"
)

// pages is memory outside Go's heap, for good.
func pages(n int) (hostmem.Ptr, error) {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return 0, err
	}
	return hostmem.Ptr(uintptr(unsafe.Pointer(unsafe.SliceData(b)))), nil
}
