package driver

import (
	"os"
	"syscall"
)

// mapHost gives page-aligned memory of the process, at least n bytes, and its length.
// It is not Go memory: programs hold its address long after any Go reference is gone.
func mapHost(n uint64) (addr, length uint64, err error) {
	page := uint64(os.Getpagesize())
	length = (max(n, 1) + page - 1) &^ (page - 1)
	if length < n || length > 1<<46 {
		return 0, 0, errOutOfMemory
	}
	a, _, errno := syscall.Syscall6(syscall.SYS_MMAP, 0, uintptr(length), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, ^uintptr(0), 0)
	if errno != 0 {
		return 0, 0, errOutOfMemory
	}
	return uint64(a), length, nil
}

func unmapHost(addr, length uint64) {
	_, _, _ = syscall.Syscall(syscall.SYS_MUNMAP, uintptr(addr), uintptr(length), 0)
}
