package tap

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
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
	mu   lockrank.RWMutex[lockrank.TapHost]
	host []extent // guarded by mu
}

// memory is what is asked of a device's memory to keep that list.
type memory interface {
	backend.Memory
	backend.Finder
	backend.Lister
	backend.Virtual
	backend.Sharer
	Range() (base, size uint64)
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

// extents is all memory that kernels may reach, in order of addresses. Where the device knows all of it, it is as the device says.
func (d *Device) extents() []extent {
	var all []extent
	if d.mem == nil {
		lister, _ := d.Device.Memory().(backend.Lister)
		for _, a := range lister.Allocations() {
			all = append(all, extent{base: a[0], size: a[1]})
		}
	} else {
		for _, a := range d.mem.Allocations() {
			all = append(all, extent{base: a[0], size: (a[1] + unit - 1) &^ (unit - 1)})
		}
		d.mem.mu.RLock()
		all = append(all, d.mem.host...)
		d.mem.mu.RUnlock()
	}
	slices.SortFunc(all, func(a, b extent) int { return cmp.Compare(a.base, b.base) })
	return apart(all)
}

// apart cuts off what of an extent lies in the one before: host memory may be registered twice, in parts.
func apart(all []extent) []extent {
	var out []extent
	end := uint64(0)
	for _, e := range all {
		if e.base < end {
			cut := min(end-e.base, e.size)
			e.base, e.size = e.base+cut, e.size-cut
		}
		if e.size > 0 {
			out = append(out, e)
			end = e.base + e.size
		}
	}
	return out
}

// Space is the memory that the reference may touch: what is copied and put back. Any other memory of the process, which the
// device's kernels may use too, ends the reference's run.
type Space struct {
	mem     *hostMemory
	outside atomic.Bool // such memory was asked for
	touched sync.Map    // base of what was found, and its size
}

// Space is that of a device's memory.
func (d *Device) Space() (*Space, error) {
	if d.mem == nil {
		return nil, fmt.Errorf("device %s: its memory is not the process's", d.Info().Name)
	}
	return &Space{mem: d.mem}, nil
}

// Begin is called before a run of the reference.
func (s *Space) Begin() {
	s.outside.Store(false)
	s.touched.Clear()
}

// Outside says whether other memory was asked for since Begin.
func (s *Space) Outside() bool { return s.outside.Load() }

// Touched says whether the reference may have written to any of this memory since Begin. Host memory that it has not touched may
// change meanwhile: the program's other threads go on.
func (s *Space) Touched(base, size uint64) (yes bool) {
	s.touched.Range(func(b, n any) bool {
		at := b.(uint64)
		yes = at < base+size && base < at+n.(uint64)
		return !yes
	})
	return yes
}

// Find is the allocation that an address is in.
func (s *Space) Find(addr uint64) (base, size uint64, ok bool) {
	base, size, ok = s.find(addr)
	if ok {
		if n, known := s.touched.Load(base); !known || n.(uint64) < size {
			s.touched.Store(base, size)
		}
	}
	return base, size, ok
}

func (s *Space) find(addr uint64) (base, size uint64, ok bool) {
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
