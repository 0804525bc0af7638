package driver

import (
	"slices"
	"sort"
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

type allocKind uint8

const (
	allocDevice     allocKind = iota // cuMemAlloc
	allocManaged                     // cuMemAllocManaged
	allocHost                        // cuMemHostAlloc
	allocRegistered                  // cuMemHostRegister
	allocVar                         // a module's variable
	allocMapped                      // cuMemMap; it belongs to no context
	allocCell                        // the word of a graph's condition
	allocShared                      // another process's: cuIpcOpenMemHandle
)

// alloc is one range of addresses that programs may name in calls. Only its advice changes once it is in the map.
type alloc struct {
	base, size uint64
	kind       allocKind
	flags      uint32
	ctx        *Context
	id         uint64
	mapped     uint64       // host memory that we mapped ourselves: its length
	pinned     bool         // from the backend's AllocHost
	moves      bool         // from the backend's AllocManaged
	pool       *Pool        // where it goes when it is freed; nil: back to the device
	class      uint64       // with a pool: the size of the block
	graph      *graphMemory // of an allocation node
	advice     []advised    // of managed memory; guarded by state.adviceMu
	memops     atomic.Bool  // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS was set
}

// device is whose memory it is, or whose context made host memory known.
func (a *alloc) device() *Device {
	if a.pool != nil {
		return a.pool.dev
	}
	return a.ctx.dev
}

// host reports whether the range is host memory.
func (a *alloc) host() bool { return a.kind == allocHost || a.kind == allocRegistered }

// memoryType is CU_POINTER_ATTRIBUTE_MEMORY_TYPE.
func (a *alloc) memoryType() cu.CUmemorytype {
	if a.host() {
		return cu.CU_MEMORYTYPE_HOST
	}
	return cu.CU_MEMORYTYPE_DEVICE
}

// release gives the memory back to where it came from. A fault of the backend here is not the program's.
func (a *alloc) release() {
	mem := a.ctx.dev.dev.Memory()
	if a.kind == allocShared {
		a.ctx.state.forgetShared(a.base)
		return
	}
	a.ctx.state.unexport(a)
	if a.graph != nil {
		a.ctx.dev.graphMem.reserve(-int64(a.size))
	}
	h, _ := mem.(backend.HostMemory)
	switch {
	case a.pool != nil:
		a.pool.give(a.base, a.class, a.size, nil, nil)
	case a.mapped != 0:
		unmapHost(a.base, a.mapped)
	case a.pinned:
		_ = h.FreeHost(backend.Addr(a.base))
	case a.kind == allocRegistered && h != nil:
		_ = h.UnregisterHost(backend.Addr(a.base))
	case a.kind == allocDevice, a.kind == allocManaged, a.kind == allocCell:
		_ = mem.Free(backend.Addr(a.base))
	}
	// A module's variable is the program's; registered memory that nobody was told about needs nothing.
}

// chunkMax is how many ranges one chunk of a rangeMap holds: small enough that an insertion moves little memory, large
// enough that the list of chunks stays short with a million allocations.
const chunkMax = 512

// rangeMap is a set of disjoint address ranges. Copies look addresses up at every call, so readers share a lock.
type rangeMap struct {
	mu     lockrank.RWMutex[lockrank.DriverRanges]
	chunks [][]*alloc // guarded by mu: none is empty; ascending
}

// place is the chunk that holds or would hold addr, and the number of its ranges that start at or before addr.
//
// Preconditions: m.mu is held, there is a chunk.
func (m *rangeMap) place(addr uint64) (chunk, n int) {
	chunk = max(0, sort.Search(len(m.chunks), func(i int) bool { return m.chunks[i][0].base > addr })-1)
	c := m.chunks[chunk]
	return chunk, sort.Search(len(c), func(i int) bool { return c[i].base > addr })
}

// find is the range that holds addr, or nil.
func (m *rangeMap) find(addr uint64) *alloc {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if len(m.chunks) == 0 {
		return nil
	}
	c, n := m.place(addr)
	if n == 0 {
		return nil
	}
	if a := m.chunks[c][n-1]; addr-a.base < a.size {
		return a
	}
	return nil
}

// holds reports whether n bytes at addr are memory: of a, or of mappings that follow each other without a gap.
func (m *rangeMap) holds(a *alloc, addr, n uint64) bool {
	for {
		left := a.size - (addr - a.base)
		if n <= left {
			return true
		}
		if a.kind != allocMapped {
			return false
		}
		addr, n = addr+left, n-left
		if a = m.find(addr); a == nil || a.kind != allocMapped {
			return false
		}
	}
}

// add puts a range in; false if it overlaps one that is there.
func (m *rangeMap) add(a *alloc) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.chunks) == 0 {
		m.chunks = [][]*alloc{{a}}
		return true
	}
	c, n := m.place(a.base)
	list := m.chunks[c]
	if n > 0 && a.base-list[n-1].base < list[n-1].size {
		return false
	}
	next := (*alloc)(nil)
	if n < len(list) {
		next = list[n]
	} else if c+1 < len(m.chunks) {
		next = m.chunks[c+1][0]
	}
	if next != nil && next.base-a.base < a.size {
		return false
	}
	list = slices.Insert(list, n, a)
	m.chunks[c] = list
	if len(list) > chunkMax {
		half := len(list) / 2
		m.chunks = slices.Insert(m.chunks, c+1, slices.Clone(list[half:]))
		m.chunks[c] = slices.Clip(list[:half])
	}
	return true
}

// take removes and returns the range that starts at base and that ok accepts, or nil.
func (m *rangeMap) take(base uint64, ok func(*alloc) bool) *alloc {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.chunks) == 0 {
		return nil
	}
	c, n := m.place(base)
	if n == 0 || m.chunks[c][n-1].base != base || !ok(m.chunks[c][n-1]) {
		return nil
	}
	a := m.chunks[c][n-1]
	if m.chunks[c] = slices.Delete(m.chunks[c], n-1, n); len(m.chunks[c]) == 0 {
		m.chunks = slices.Delete(m.chunks, c, c+1)
	}
	return a
}

// takeAll removes and returns every range that ok accepts.
func (m *rangeMap) takeAll(ok func(*alloc) bool) (out []*alloc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var kept [][]*alloc
	for _, c := range m.chunks {
		c = slices.DeleteFunc(c, func(a *alloc) bool {
			if ok(a) {
				out = append(out, a)
				return true
			}
			return false
		})
		if len(c) > 0 {
			kept = append(kept, c)
		}
	}
	m.chunks = kept
	return out
}
