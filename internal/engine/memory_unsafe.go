package engine

/*
#include "engine.h"

#cgo noescape kz_arena_open
#cgo nocallback kz_arena_open
#cgo nocallback kz_mem_new
#cgo nocallback kz_mem_close
#cgo noescape kz_mem_alloc
#cgo nocallback kz_mem_alloc
#cgo nocallback kz_mem_free
#cgo noescape kz_mem_usage
#cgo nocallback kz_mem_usage
#cgo nocallback kz_mem_trim
#cgo noescape kz_mem_list
#cgo nocallback kz_mem_list
*/
import "C"

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// The arena's fixed tables, for lookups without a call into C. See struct kz_arena_view.
type arenaView struct {
	base, size uint64
	slabs      unsafe.Pointer
	sizes      unsafe.Pointer
}

var arena = sync.OnceValues(func() (*arenaView, error) {
	var v C.struct_kz_arena_view
	if rc := C.kz_arena_open(&v); rc != C.KZ_OK {
		return nil, result(rc)
	}
	return &arenaView{uint64(v.base), uint64(v.size), unsafe.Pointer(v.slabs), unsafe.Pointer(v.sizes)}, nil
})

var owners atomic.Uint32

// Memory is one device's memory: allocations of the process's reserved range, under the device's own limit.
type Memory struct {
	c     *C.struct_kz_mem
	v     *arenaView
	owner uint32
	limit uint64
}

// NewMemory makes a memory of limit bytes. Nothing is committed before it is allocated.
func NewMemory(limit uint64) (*Memory, error) {
	v, err := arena()
	if err != nil {
		return nil, err
	}
	owner := owners.Add(1)
	c := C.kz_mem_new(C.uint64_t(limit), C.uint32_t(owner))
	if c == nil {
		return nil, ErrNoMemory
	}
	return &Memory{c, v, owner, limit}, nil
}

// Alloc gives n > 0 bytes aligned to 256 and to align, a power of two (0: 256 is enough). The bytes are not cleared.
func (m *Memory) Alloc(n, align uint64) (uint64, error) {
	var addr C.uint64_t
	if rc := C.kz_mem_alloc(m.c, C.uint64_t(n), C.uint64_t(align), &addr); rc != C.KZ_OK {
		return 0, result(rc)
	}
	return uint64(addr), nil
}

// Free gives back what Alloc gave; ErrInvalid for anything else.
func (m *Memory) Free(addr uint64) error {
	return result(C.kz_mem_free(m.c, C.uint64_t(addr)))
}

// Usage is bytes free and total, in steps of the 2 MiB the memory is committed in.
func (m *Memory) Usage() (free, total uint64) {
	var f, t C.uint64_t
	C.kz_mem_usage(m.c, &f, &t)
	return uint64(f), uint64(t)
}

// Trim gives cached pages back to the system.
func (m *Memory) Trim() { C.kz_mem_trim(m.c) }

// Close frees everything that was allocated. Nobody may use m, or memory of it, any more.
func (m *Memory) Close() {
	C.kz_mem_close(m.c)
	m.c = nil
}

// Owns says whether addr lies in an allocation of this memory, rather than another device's.
func (m *Memory) Owns(addr uint64) bool {
	_, _, owner, ok := m.v.lookup(addr)
	return ok && owner == m.owner
}

// Lookup finds the allocation that holds addr, of any Memory. Any value may be asked; it takes no lock and costs nanoseconds.
func (m *Memory) Lookup(addr uint64) (base, size uint64, ok bool) {
	base, size, _, ok = m.v.lookup(addr)
	return
}

// Range is the address range that all device memory of the process lies in.
func (m *Memory) Range() (base, size uint64) { return m.v.base, m.v.size }

// Allocations lists address and bytes of every allocation and mapping that can be touched, of all memories of the process.
func (m *Memory) Allocations() [][2]uint64 {
	list := make([][2]uint64, 1024)
	for {
		n := uint64(C.kz_mem_list((*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(list))), C.uint64_t(len(list))))
		if n <= uint64(len(list)) {
			return list[:n]
		}
		list = make([][2]uint64, n+n/4) // others may allocate meanwhile
	}
}

// Bytes is device memory as a slice; ErrInvalid unless all of it lies in one allocation.
// The slice must not be used after the allocation is freed.
func (m *Memory) Bytes(addr, n uint64) ([]byte, error) {
	base, size, _, ok := m.v.lookup(addr)
	if !ok || n > size-(addr-base) {
		return nil, ErrInvalid
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), n), nil // C memory: no Go pointer is made from a number
}

const (
	slabBits = 21
	unit     = 256
)

func (v *arenaView) slab(i uint64) *C.struct_kz_slab {
	return (*C.struct_kz_slab)(unsafe.Add(v.slabs, i*uint64(unsafe.Sizeof(C.struct_kz_slab{}))))
}

// lookup is kz_mem_lookup in Go: the interpreter asks for every access.
func (v *arenaView) lookup(addr uint64) (base, size uint64, owner uint32, ok bool) {
	off := addr - v.base
	if off >= v.size {
		return 0, 0, 0, false
	}
	i := off >> slabBits
	s := v.slab(i)
	kind := load(&s.kind)
	if kind == C.KZ_SLAB_BODY {
		i = uint64(load(&s.head))
		if i >= v.size>>slabBits {
			return 0, 0, 0, false
		}
		s = v.slab(i)
		if kind = load(&s.kind); kind != C.KZ_SLAB_LARGE && kind != C.KZ_SLAB_MAPPED {
			return 0, 0, 0, false
		}
	}
	base = v.base + i<<slabBits
	switch kind {
	case C.KZ_SLAB_SMALL:
		slot := uint64(load(&s.slot))
		if slot == 0 {
			return 0, 0, 0, false
		}
		base += (addr - base) / slot * slot
		size = uint64(load((*C.uint32_t)(unsafe.Add(v.sizes, (base-v.base)/unit*4))))
	case C.KZ_SLAB_LARGE, C.KZ_SLAB_MAPPED:
		size = atomic.LoadUint64((*uint64)(&s.bytes))
	default:
		return 0, 0, 0, false
	}
	return base, size, load(&s.owner), addr-base < size
}

func load(p *C.uint32_t) uint32 { return atomic.LoadUint32((*uint32)(p)) }
