package driver

import (
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/driver/rangemap"
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
	from       *Pool        // another process's pool that it is of
	graph      *graphMemory // of an allocation node
	advice     []advised    // of managed memory; guarded by state.adviceMu
	memops     atomic.Int32 // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: 0, or what was said: memopsOn or memopsOff
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
		a.ctx.dev.traceMemory()
	}
	// A module's variable is the program's; registered memory that nobody was told about needs nothing.
}

// allocations is every range of memory that programs may name, by address.
type allocations struct{ ranges rangemap.Map[*alloc] }

func (m *allocations) find(addr uint64) *alloc { return m.ranges.Find(addr) }

func (m *allocations) add(a *alloc) bool {
	return m.ranges.Add(rangemap.Range[*alloc]{Base: a.base, Size: a.size, Value: a})
}

// take removes a; false if it is not there (any more).
func (m *allocations) take(a *alloc) bool {
	_, ok := m.ranges.Take(a.base, func(b *alloc) bool { return b == a })
	return ok
}

func (m *allocations) takeAll(ok func(*alloc) bool) []*alloc { return m.ranges.TakeAll(ok) }

// holds reports whether n bytes at addr are memory: of a, or of mappings that follow each other without a gap.
func (m *allocations) holds(a *alloc, addr, n uint64) bool {
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
