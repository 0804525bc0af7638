package testkit

import (
	"syscall"
	"testing"
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

// HostPage is a hostBuffer that ends with its test, for the rooms below testkit.
type HostPage []byte

// NewHost gives n bytes that live until Free.
func NewHost(n int) (HostPage, error) {
	h, err := newHostBuffer(n)
	if err != nil {
		return nil, err
	}
	return HostPage(h.b), nil
}

// Free gives back what NewHost gave.
func (h HostPage) Free() { (&hostBuffer{h}).free() }

// NewHostPage gives n bytes.
func NewHostPage(t testing.TB, n int) HostPage {
	t.Helper()
	h, err := newHostBuffer(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.free)
	return HostPage(h.b)
}

// Bytes is the memory.
func (h HostPage) Bytes() []byte { return h }

// Addr is where it lies.
func (h HostPage) Addr() backend.Addr { return (&hostBuffer{h}).addr() }

func (h *hostBuffer) free() { _ = syscall.Munmap(h.b) }
