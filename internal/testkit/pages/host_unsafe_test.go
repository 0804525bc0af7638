package pages

import (
	"syscall"
	"testing"
	"unsafe"

	"kudzu/internal/backend"
	"kudzu/internal/testkit/truth"
)

// hostPage is memory outside the Go heap.
type hostPage []byte

func newHostPage(t *testing.T) hostPage {
	t.Helper()
	b, err := syscall.Mmap(-1, 0, truth.HostBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(b) })
	return b
}

func (h hostPage) Bytes() []byte      { return h }
func (h hostPage) Addr() backend.Addr { return backend.Addr(uintptr(unsafe.Pointer(&h[0]))) }
