package hostmem

import (
	"bytes"
	"runtime/debug"
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

// TextLen is the length of a text that nobody told the length of: up to the first NUL, or to the first page that cannot be
// read, limit at most. It goes page by page, because what lies behind the end may not be ours to touch; to stumble over the
// last page costs nothing until it happens, where to ask about each would be a system call a page. A text whose first byte
// cannot be read faults as everything does.
func TextLen(p Ptr, limit uint64) uint64 {
	const page = 4096
	for n := uint64(0); n < limit; {
		at := p.Add(n)
		size := min(page-uint64(at)%page, limit-n)
		i, ok := findNUL(at, size, n == 0)
		switch {
		case !ok:
			return n
		case i >= 0:
			return n + uint64(i)
		}
		n += size
	}
	return limit
}

// findNUL looks for a NUL among n bytes of one page; ok is false if the page cannot be read, unless that must be said.
func findNUL(p Ptr, n uint64, must bool) (i int, ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if f, isFault := r.(interface{ Addr() uintptr }); must || !isFault || f.Addr() < uintptr(p) || f.Addr() >= uintptr(p)+uintptr(n) {
			panic(r)
		}
		i, ok = 0, false
	}()
	return bytes.IndexByte(Bytes(p, n), 0), true
}
