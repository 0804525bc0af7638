package hip

import (
	"errors"
	"fmt"

	"kudzu/internal/backend"
	"kudzu/internal/dl"
	"kudzu/internal/spec/hip"
)

type memory device

var _ backend.HostMemory = (*memory)(nil)

func (m *memory) dev() *device { return (*device)(m) }

// allocate asks for memory and translates the refusal.
func (m *memory) allocate(f hip.Func, args ...uintptr) (backend.Addr, error) {
	var p uintptr
	err := m.dev().do(func() (err error) {
		p, err = m.api.getPtr(f, args...)
		return err
	})
	var r Result
	if errors.As(err, &r) && r == hip.HipErrorOutOfMemory {
		_ = m.dev().do(func() error { return m.api.call(hip.HipGetLastError) }) // it stays in the thread's last error otherwise
		err = backend.ErrNoMemory
	}
	return backend.Addr(p), err
}

// pageBytes is the alignment of everything hipMalloc gives: memory comes in pages.
const pageBytes = 4096

// Allocations lists what kernels may reach.
func (m *memory) Allocations() [][2]uint64 { return m.book.List() }

// Alloc is hipMalloc.
func (m *memory) Alloc(n, align uint64) (backend.Addr, error) {
	if align > pageBytes {
		return 0, fmt.Errorf("alignment %d: %w", align, backend.ErrNoMemory)
	}
	a, err := m.allocate(hip.HipMalloc, uintptr(n))
	if err == nil && align > 0 && uint64(a)&(max(align, 256)-1) != 0 {
		return 0, errors.Join(fmt.Errorf("hipMalloc gave %#x, which is not aligned to %d", uint64(a), max(align, 256)), m.Free(a))
	}
	return m.book.Add(a, n, err)
}

// Free is hipFree.
func (m *memory) Free(a backend.Addr) error {
	m.book.Drop(a)
	return m.dev().do(func() error { return m.api.call(hip.HipFree, uintptr(a)) })
}

// Usage is hipMemGetInfo.
func (m *memory) Usage() (free, total uint64) {
	buf := dl.Alloc(16)
	defer buf.Free()
	if err := m.dev().do(func() error { return m.api.call(hip.HipMemGetInfo, buf.Addr(), buf.Addr()+8) }); err != nil {
		return 0, 0
	}
	return word(buf, 0), word(buf, 8)
}

// AllocHost is pinned memory, at one address for host and device; coherent, because CUDA's mapped memory is.
func (m *memory) AllocHost(n uint64) (backend.Addr, error) {
	a, err := m.allocate(hip.HipHostMalloc, uintptr(n), hip.HipHostMallocPortable|hip.HipHostMallocMapped|hip.HipHostMallocCoherent)
	return m.book.Add(a, n, err)
}

// FreeHost is hipHostFree.
func (m *memory) FreeHost(a backend.Addr) error {
	m.book.Drop(a)
	return m.dev().do(func() error { return m.api.call(hip.HipHostFree, uintptr(a)) })
}

// RegisterHost pins memory of the program. HIP may give the device another address for it; where it does, code that passes
// the host's would fault, so it is refused.
func (m *memory) RegisterHost(a backend.Addr, n uint64) error {
	return m.dev().do(func() error {
		if err := m.api.call(hip.HipHostRegister, uintptr(a), uintptr(n), hip.HipHostRegisterPortable|hip.HipHostRegisterMapped); err != nil {
			return err
		}
		p, err := m.api.getPtr(hip.HipHostGetDevicePointer, uintptr(a), 0)
		if err == nil && backend.Addr(p) == a {
			_, err = m.book.Add(a, n, nil)
			return err
		}
		if err == nil {
			err = fmt.Errorf("host memory %#x: the device has it at %#x", uint64(a), p)
		}
		return errors.Join(err, m.api.call(hip.HipHostUnregister, uintptr(a)))
	})
}

// UnregisterHost is hipHostUnregister.
func (m *memory) UnregisterHost(a backend.Addr) error {
	m.book.Drop(a)
	return m.dev().do(func() error { return m.api.call(hip.HipHostUnregister, uintptr(a)) })
}
