package main

import (
	"syscall"
	"unsafe"

	"kudzu/internal/backend"
)

// fetch copies device memory to a slice, through memory that Go does not move.
func fetch(q backend.Queue, a backend.Addr, n int) ([]byte, error) {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	defer func() { _ = syscall.Munmap(b) }()
	if err := q.Copy(backend.Addr(uintptr(unsafe.Pointer(&b[0]))), a, uint64(n)); err != nil {
		return nil, err
	}
	if err := q.Sync(); err != nil {
		return nil, err
	}
	return append([]byte(nil), b...), nil
}
