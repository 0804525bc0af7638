package testkit

import (
	"syscall"
	"unsafe"

	"kudzu/internal/backend"
)

// hostBuffer is page memory outside the Go heap, so that a device may read and write it while Go moves on.
type hostBuffer struct{ b []byte }

func newHostBuffer(n int) (*hostBuffer, error) {
	b, err := syscall.Mmap(-1, 0, max(n, 1), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	return &hostBuffer{b[:max(n, 1)]}, nil
}

func (h *hostBuffer) addr() backend.Addr { return backend.Addr(uintptr(unsafe.Pointer(&h.b[0]))) }

func (h *hostBuffer) free() { _ = syscall.Munmap(h.b) }
