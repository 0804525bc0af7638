package progen

import (
	"syscall"
	"testing"
	"unsafe"

	"kudzu/internal/backend"
)

// hostPage is memory outside the Go heap.
type hostPage []byte

func newHostPage(t testing.TB) hostPage {
	t.Helper()
	b, err := syscall.Mmap(-1, 0, hostBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(b) })
	return b
}

func (h hostPage) Bytes() []byte      { return h }
func (h hostPage) Addr() backend.Addr { return backend.Addr(uintptr(unsafe.Pointer(&h[0]))) }
