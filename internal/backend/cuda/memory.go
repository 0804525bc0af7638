package cuda

import (
	"errors"
	"fmt"

	"kudzu/internal/backend"
	"kudzu/internal/dl"
)

type memory device

var _ backend.HostMemory = (*memory)(nil)

// Allocations lists what kernels may reach.
func (m *memory) Allocations() [][2]uint64 { return m.book.List() }

// Alloc is cuMemAlloc, which aligns by 512; for more, enough is asked to move the beginning.
func (m *memory) Alloc(n, align uint64) (backend.Addr, error) {
	const natural = 512
	more := max(align, natural) - natural
	if n+more < n {
		return 0, backend.ErrNoMemory
	}
	var p uintptr
	err := (*device)(m).do(func() (err error) {
		p, err = m.api.getPtr("cuMemAlloc_v2", uintptr(n+more))
		return err
	})
	if err != nil || more == 0 {
		return m.book.Add(backend.Addr(p), n, noMemory(err))
	}
	at := (p + uintptr(align) - 1) &^ (uintptr(align) - 1)
	if at != p {
		m.starts.Store(at, p)
	}
	return m.book.Add(backend.Addr(at), n, nil)
}

// Free gives an allocation back.
func (m *memory) Free(a backend.Addr) error {
	m.book.Drop(a)
	p := uintptr(a)
	if start, ok := m.starts.LoadAndDelete(p); ok {
		p = start.(uintptr)
	}
	return (*device)(m).do(func() error { return m.api.call("cuMemFree_v2", p) })
}

// Usage is cuMemGetInfo.
func (m *memory) Usage() (free, total uint64) {
	buf := dl.Alloc(16)
	defer buf.Free()
	err := (*device)(m).do(func() error { return m.api.call("cuMemGetInfo_v2", buf.Addr(), buf.Addr()+8) })
	if err != nil {
		return 0, 0
	}
	return word(buf, 0), word(buf, 8)
}

// hostFlags: for every context, and mapped, under both of the driver's calls.
const hostFlags = 1 | 2

// AllocHost is cuMemHostAlloc: with unified addresses the device's pointer is the host's.
func (m *memory) AllocHost(n uint64) (backend.Addr, error) {
	var p uintptr
	err := (*device)(m).do(func() (err error) {
		p, err = m.api.getPtr("cuMemHostAlloc", uintptr(n), hostFlags)
		return err
	})
	return m.book.Add(backend.Addr(p), n, noMemory(err))
}

// FreeHost is cuMemFreeHost.
func (m *memory) FreeHost(a backend.Addr) error {
	m.book.Drop(a)
	return (*device)(m).do(func() error { return m.api.call("cuMemFreeHost", uintptr(a)) })
}

// RegisterHost pins memory of the program. Where the driver gives the device another address for it, code that passes the host's
// would fault: refused.
func (m *memory) RegisterHost(a backend.Addr, n uint64) error {
	return (*device)(m).do(func() error {
		if err := m.api.call("cuMemHostRegister_v2", uintptr(a), uintptr(n), hostFlags); err != nil {
			return err
		}
		p, err := m.api.getPtr("cuMemHostGetDevicePointer_v2", uintptr(a), 0)
		if err == nil && p != uintptr(a) {
			err = fmt.Errorf("host memory %#x: the device has it at %#x", uint64(a), p)
		}
		if err != nil {
			return errors.Join(err, m.api.call("cuMemHostUnregister", uintptr(a)))
		}
		_, err = m.book.Add(a, n, nil)
		return err
	})
}

// UnregisterHost is cuMemHostUnregister.
func (m *memory) UnregisterHost(a backend.Addr) error {
	m.book.Drop(a)
	return (*device)(m).do(func() error { return m.api.call("cuMemHostUnregister", uintptr(a)) })
}

func noMemory(err error) error {
	var r Result
	if errors.As(err, &r) && r == resultNoMemory {
		return backend.ErrNoMemory
	}
	return err
}
