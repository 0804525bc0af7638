package hostmem

import (
	"syscall"
	"unsafe"
)

// Mapped reports whether all of n bytes at p are addresses of this process. What a sandbox will not tell is taken as yes.
func Mapped(p Ptr, n uint64) bool {
	const page, step = 4096, 64 << 10 // pages asked about at once
	var seen [step]byte
	end := uint64(p) + n
	if end < n {
		return false
	}
	for at := uint64(p) &^ (page - 1); at < end; at += page * step {
		length := min(end-at, page*step)
		_, _, errno := syscall.Syscall(syscall.SYS_MINCORE, uintptr(at), uintptr(length), uintptr(unsafe.Pointer(&seen[0])))
		if errno == syscall.ENOMEM {
			return false
		}
	}
	return true
}
