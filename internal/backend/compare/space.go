package compare

import (
	"cmp"
	"slices"
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/lockrank"
)

// unit is what allocations are rounded up to: reading a little past the end is harmless on every device.
const unit = 256

// hostMemory is a device's memory that keeps a list of the host memory which programs let kernels use. A device of which any memory
// of the process will do needs no such list; to compare, one must know what there is.
type hostMemory struct {
	memory
	mu   lockrank.RWMutex[lockrank.CompareHost]
	host []extent // guarded by mu
}

// extent is a range of memory.
type extent struct {
	base, size uint64
	mapped     []byte // ours to unmap
}

func (m *hostMemory) note(e extent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.host = append(m.host, e)
}

// forget takes the extent at a off the list; mapped says of which kind it is.
func (m *hostMemory) forget(a backend.Addr, mapped bool) (extent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, e := range m.host {
		if e.base == uint64(a) && (e.mapped != nil) == mapped {
			m.host = slices.Delete(m.host, i, i+1)
			return e, nil
		}
	}
	return extent{}, backend.ErrNotFound
}

// RegisterHost notes memory of the program.
func (m *hostMemory) RegisterHost(a backend.Addr, n uint64) error {
	m.note(extent{base: uint64(a), size: n})
	return nil
}

// UnregisterHost forgets it.
func (m *hostMemory) UnregisterHost(a backend.Addr) error {
	_, err := m.forget(a, false)
	return err
}

// extents is all memory that kernels may reach, in order of addresses.
func (m *hostMemory) extents() []extent {
	var all []extent
	for _, a := range m.Allocations() {
		all = append(all, extent{base: a[0], size: (a[1] + unit - 1) &^ (unit - 1)})
	}
	m.mu.RLock()
	all = append(all, m.host...)
	m.mu.RUnlock()
	slices.SortFunc(all, func(a, b extent) int { return cmp.Compare(a.base, b.base) })
	return all
}

// Space is the memory that the reference may touch: what is copied and put back. Any other memory of the process, which the
// device's kernels may use too, ends the reference's run.
type Space struct {
	mem     *hostMemory
	outside atomic.Bool // such memory was asked for
}

// Find is the allocation that an address is in.
func (s *Space) Find(addr uint64) (base, size uint64, ok bool) {
	if base, size := s.mem.Range(); addr-base < size {
		b, n, ok := s.mem.Lookup(backend.Addr(addr))
		if !ok && addr%unit > 0 { // in the rest of the last unit
			b, n, ok = s.mem.Lookup(backend.Addr(addr &^ (unit - 1)))
		}
		return uint64(b), (n + unit - 1) &^ (unit - 1), ok
	}
	s.mem.mu.RLock()
	defer s.mem.mu.RUnlock()
	for _, e := range s.mem.host {
		if addr-e.base < e.size {
			return e.base, e.size, true
		}
	}
	const firstHost, endHost = 1 << 16, 1 << 48 // below are null pointers and their fields, above is nothing
	if addr >= firstHost && addr < endHost {
		s.outside.Store(true)
	}
	return 0, 0, false
}
