package hostmem

import (
	"bytes"
	"sync/atomic"
	"unsafe"
)

// pointer makes an address usable. It is C's address: the sum with nil says so to vet, which
// takes a plain conversion for arithmetic on Go memory. Not inlined, because go1.26 fails with
// an internal error where it sees that a copied structure's address was an integer.
//
//go:noinline
func pointer(p Ptr, n uint64) unsafe.Pointer {
	if p < firstPage || n > maxView {
		panic(Fault{p, n})
	}
	return unsafe.Add(nil, uintptr(p))
}

// Bytes is a view of n bytes at p. A view of no bytes is nil whatever p is.
func Bytes(p Ptr, n uint64) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(pointer(p, n)), n)
}

// Slice is a view of n values at p. T must hold no Go pointers.
func Slice[T any](p Ptr, n int) []T {
	var t T
	if n == 0 {
		return nil
	}
	size := uint64(unsafe.Sizeof(t))
	if n < 0 || uint64(n) > maxView/max(1, size) {
		panic(Fault{p, maxView})
	}
	return unsafe.Slice((*T)(pointer(p, uint64(n)*size)), n)
}

// At is a view of one value at p. T must hold no Go pointers.
func At[T any](p Ptr) *T {
	var t T
	return (*T)(pointer(p, uint64(unsafe.Sizeof(t))))
}

// Load reads one value at p, which need not be aligned.
func Load[T any](p Ptr) T {
	var t T
	n := unsafe.Sizeof(t)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&t)), n), Bytes(p, uint64(n)))
	return t
}

// Store writes one value at p, which need not be aligned.
func Store[T any](p Ptr, v T) {
	n := unsafe.Sizeof(v)
	copy(Bytes(p, uint64(n)), unsafe.Slice((*byte)(unsafe.Pointer(&v)), n))
}

// StorePrefix writes the first n bytes of a value at p, for a caller who knows an older, shorter structure.
func StorePrefix[T any](p Ptr, v T, n uint64) {
	n = min(n, uint64(unsafe.Sizeof(v)))
	copy(Bytes(p, n), unsafe.Slice((*byte)(unsafe.Pointer(&v)), n))
}

// String copies the C string at p, which must end within MaxString bytes.
func String(p Ptr) string { return StringN(p, MaxString) }

// StringN copies the C string at p, which must end within limit bytes.
func StringN(p Ptr, limit int) string {
	// Step by step, never past a page that the string does not reach: the bytes after
	// its end may not be ours to touch.
	const page = 4096
	var text []byte
	for at := p; len(text) < limit; {
		n := min(page-int(at%page), limit-len(text))
		part := Bytes(at, uint64(n))
		if i := bytes.IndexByte(part, 0); i >= 0 {
			return string(append(text, part[:i]...))
		}
		text = append(text, part...)
		at += Ptr(n)
	}
	panic(Fault{p, uint64(limit)})
}

// PutString copies s and its ending NUL to the n bytes at p, cut to fit.
func PutString(p Ptr, n int, s string) {
	if n <= 0 {
		return
	}
	dst := Bytes(p, uint64(n))
	dst[copy(dst[:n-1], s)] = 0
}

// Of is the address of a Go value, for tests that play the calling program, and for calls of one part of ours by another.
// The value lies on the heap, where values stay: on a stack, which grows and shrinks, the number would soon be that of something
// else. The address being a number, nothing tells the collector that the value is in use: the last ones are kept, which serves
// tests; other callers say it by runtime.KeepAlive.
func Of[T any](v *T) Ptr {
	atomic.StorePointer(&recent[taken.Add(1)%uint32(len(recent))], unsafe.Pointer(v))
	return Ptr(unsafe.Pointer(v))
}

// The values whose addresses were taken last.
var (
	recent [128]unsafe.Pointer
	taken  atomic.Uint32
)

// As is a value as another type of the same size and layout.
func As[To, From any](v From) (to To) {
	if unsafe.Sizeof(to) != unsafe.Sizeof(v) {
		panic("BUG: types of different sizes")
	}
	return *(*To)(unsafe.Pointer(&v))
}
