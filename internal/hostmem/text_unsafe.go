package hostmem

import (
	"syscall"
	"unsafe"
)

const hugePage = 2 << 20

// Text is a copy of n bytes. A text of megabytes asks for huge pages first: without them most of the copy's time is the
// 256 page faults of each megabyte.
func Text(p Ptr, n uint64) string {
	if n == 0 {
		return ""
	}
	buf := make([]byte, n)
	at := uintptr(unsafe.Pointer(&buf[0]))
	start := (at + hugePage - 1) &^ (hugePage - 1)
	end := (at + uintptr(n)) &^ (hugePage - 1)
	if start < end {
		// Advice: where it is refused, nothing is lost. The pages are Go's, which does not mind.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, start, end-start, syscall.MADV_HUGEPAGE)
	}
	copy(buf, Bytes(p, n))
	return unsafe.String(&buf[0], len(buf))
}
