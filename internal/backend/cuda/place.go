package cuda

import (
	"encoding/binary"
	"fmt"

	"kudzu/internal/backend"
	"kudzu/internal/dl"
	"kudzu/internal/lockrank"
)

// placed is memory at addresses that the caller chose: pieces of the driver's granularity.
type placed struct {
	mu   lockrank.Mutex[lockrank.CUDAPlaces]
	unit uint64          // guarded by mu: 0 before the first
	at   map[uint64]bool // guarded by mu: pieces that are mapped
}

var _ backend.Placer = (*memory)(nil)

// Place reserves the addresses and maps memory there. See backend.Placer.
func (m *memory) Place(a backend.Addr, n uint64) error {
	p := &m.placed
	p.mu.Lock()
	defer p.mu.Unlock()
	return (*device)(m).do(func() error {
		prop := m.properties()
		defer prop.Free()
		if p.unit == 0 {
			unit, err := m.api.getPtr("cuMemGetAllocationGranularity", prop.Addr(), 0)
			if err != nil || unit == 0 || unit&(unit-1) != 0 {
				return fmt.Errorf("granularity %d: %w", unit, err)
			}
			p.unit, p.at = uint64(unit), map[uint64]bool{}
		}
		for at := uint64(a) &^ (p.unit - 1); at < uint64(a)+n; {
			if p.at[at] {
				at += p.unit
				continue
			}
			end := at
			for end < uint64(a)+n && !p.at[end] {
				end += p.unit
			}
			if err := m.mapAt(at, end-at, prop); err != nil {
				return err
			}
			for ; at < end; at += p.unit {
				p.at[at] = true
			}
		}
		_, err := m.book.Add(a, n, nil)
		return err
	})
}

// properties is a CUmemAllocationProp: pinned memory of this device.
func (m *memory) properties() *dl.Buffer {
	const bytes, pinned, onDevice = 64, 1, 1
	b := dl.Alloc(bytes)
	clear(b.Bytes())
	binary.LittleEndian.PutUint32(b.Bytes()[0:], pinned)
	binary.LittleEndian.PutUint32(b.Bytes()[8:], onDevice)
	binary.LittleEndian.PutUint32(b.Bytes()[12:], uint32(m.ordinal))
	return b
}

// mapAt makes memory appear at an address, or nothing.
func (m *memory) mapAt(at, n uint64, prop *dl.Buffer) error {
	got, err := m.api.getPtr("cuMemAddressReserve", uintptr(n), 0, uintptr(at), 0)
	if err != nil {
		return err
	}
	back := func() { _ = m.api.call("cuMemAddressFree", got, uintptr(n)) } // the caller hears of the first error
	if uint64(got) != at {
		back()
		return fmt.Errorf("the driver has no memory at %#x", at)
	}
	handle, err := m.api.getPtr("cuMemCreate", uintptr(n), prop.Addr(), 0)
	if err != nil {
		back()
		return noMemory(err)
	}
	err = m.api.call("cuMemMap", uintptr(at), uintptr(n), 0, handle, 0)
	_ = m.api.call("cuMemRelease", handle) // the mapping keeps it
	if err != nil {
		back()
		return err
	}
	const readWrite = 3
	access := dl.Alloc(16)
	defer access.Free()
	clear(access.Bytes())
	copy(access.Bytes(), prop.Bytes()[8:16])
	binary.LittleEndian.PutUint32(access.Bytes()[8:], readWrite)
	return m.api.call("cuMemSetAccess", uintptr(at), uintptr(n), access.Addr(), 1)
}
