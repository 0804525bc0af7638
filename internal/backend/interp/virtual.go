package interp

import (
	"kudzu/internal/backend"
	"kudzu/internal/engine"
)

var _ backend.Virtual = (*memory)(nil)

// Unit is the granularity of reservations and mappings.
func (m *memory) Unit() uint64 { return engine.VirtualUnit }

// Reserve takes addresses without memory.
func (m *memory) Reserve(n, align uint64) (backend.Addr, error) {
	a, err := m.Memory.Reserve(n, align)
	return backend.Addr(a), memoryError(err)
}

// Unreserve gives addresses back.
func (m *memory) Unreserve(a backend.Addr, n uint64) error {
	return memoryError(m.Memory.Unreserve(uint64(a), n))
}

// NewFile makes memory without an address.
func (m *memory) NewFile(n uint64) (int, error) {
	fd, err := m.Memory.NewFile(n)
	return fd, memoryError(err)
}

// CloseFile ends it.
func (m *memory) CloseFile(fd int, counted uint64) { m.Memory.CloseFile(fd, counted) }

// Map puts memory at reserved addresses.
func (m *memory) Map(a backend.Addr, n uint64, fd int, off uint64) error {
	return memoryError(m.Memory.Map(uint64(a), n, fd, off))
}

// SetAccess lets a mapping be touched.
func (m *memory) SetAccess(a backend.Addr, n uint64, on bool) error {
	return memoryError(m.Memory.SetAccess(uint64(a), n, on))
}

// Unmap takes a mapping away.
func (m *memory) Unmap(a backend.Addr, n uint64) error {
	return memoryError(m.Memory.Unmap(uint64(a), n))
}

var _ backend.Sharer = (*memory)(nil)

// Share moves memory into a file for other processes.
func (m *memory) Share(a backend.Addr, n uint64) (fd int, off, length uint64, err error) {
	fd, off, length, err = m.Memory.Share(uint64(a), n)
	return fd, off, length, memoryError(err)
}

// Unshare takes it out again.
func (m *memory) Unshare(a backend.Addr, n uint64, fd int) error {
	return memoryError(m.Memory.Unshare(uint64(a), n, fd))
}
