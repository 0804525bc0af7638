package interp

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"syscall"
	"unsafe"

	"kudzu/internal/backend"
)

// AllocHost gives host memory that kernels may touch.
func (m *memory) AllocHost(n uint64) (backend.Addr, error) {
	page := uint64(os.Getpagesize())
	if n == 0 || n > 1<<46 {
		return 0, backend.ErrNoMemory
	}
	b, err := syscall.Mmap(-1, 0, int((n+page-1)&^(page-1)), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return 0, backend.ErrNoMemory
	}
	a := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	m.mu.Lock()
	m.host[a] = hostRange{n, b}
	m.mu.Unlock()
	return backend.Addr(a), nil
}

// FreeHost gives back what AllocHost gave.
func (m *memory) FreeHost(a backend.Addr) error {
	m.mu.Lock()
	r, ok := m.host[uint64(a)]
	if ok && r.mapped != nil {
		delete(m.host, uint64(a))
	}
	m.mu.Unlock()
	if !ok || r.mapped == nil {
		return fmt.Errorf("host memory %#x: %w", uint64(a), backend.ErrNotFound)
	}
	return syscall.Munmap(r.mapped)
}

// RegisterHost lets kernels touch memory the program has.
func (m *memory) RegisterHost(a backend.Addr, n uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.host[uint64(a)] = hostRange{size: n}
	return nil
}

// UnregisterHost ends that.
func (m *memory) UnregisterHost(a backend.Addr) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.host[uint64(a)]; !ok || r.mapped != nil {
		return fmt.Errorf("host memory %#x: %w", uint64(a), backend.ErrNotFound)
	}
	delete(m.host, uint64(a))
	return nil
}

// Allocations lists what kernels may touch: device memory of the process, and host memory that was pinned or registered.
func (m *memory) Allocations() [][2]uint64 {
	all := m.Memory.Allocations()
	m.mu.RLock()
	defer m.mu.RUnlock()
	for a, r := range m.host {
		all = append(all, [2]uint64{a, r.size})
	}
	slices.SortFunc(all, func(a, b [2]uint64) int { return cmp.Compare(a[0], b[0]) })
	return all
}
