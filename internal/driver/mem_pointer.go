package driver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// pointerRow answers one pointer attribute: how many bytes it writes and what.
// A nil range is memory nobody allocated here, which only cuPointerGetAttributes answers about.
type pointerRow struct {
	size  int
	value func(a *alloc, p uint64) uint64
	// missing says that the attribute does not apply to this memory; the value is written all the same.
	missing func(a *alloc) bool
}

func ptrNum(size int, n uint64) pointerRow {
	return pointerRow{size: size, value: func(*alloc, uint64) uint64 { return n }}
}

func ptrTruth(size int, f func(*alloc) bool) pointerRow {
	return pointerRow{size: size, value: func(a *alloc, _ uint64) uint64 { return uint64(truth(a != nil && f(a))) }}
}

// ptrField is 0 of memory that nobody allocated here.
func ptrField(size int, f func(*alloc) uint64) pointerRow {
	return pointerRow{size: size, value: func(a *alloc, _ uint64) uint64 {
		if a == nil {
			return 0
		}
		return f(a)
	}}
}

// pointerAttrs is indexed by CUpointer_attribute. Sizes and values are those of the real driver.
var pointerAttrs = [...]pointerRow{
	cu.CU_POINTER_ATTRIBUTE_CONTEXT: {size: 8, value: func(a *alloc, _ uint64) uint64 {
		if a == nil || a.kind == allocMapped {
			return 0
		}
		return uint64(a.ctx.handle)
	}},
	cu.CU_POINTER_ATTRIBUTE_MEMORY_TYPE: ptrField(4, func(a *alloc) uint64 { return uint64(a.memoryType()) }),
	cu.CU_POINTER_ATTRIBUTE_DEVICE_POINTER: {size: 8, value: func(a *alloc, p uint64) uint64 {
		if a == nil {
			return 0
		}
		return p
	}},
	cu.CU_POINTER_ATTRIBUTE_HOST_POINTER: {size: 8, value: func(a *alloc, p uint64) uint64 {
		if a != nil && !a.host() && a.kind != allocManaged {
			return 0
		}
		return p
	}, missing: func(a *alloc) bool { return !a.host() && a.kind != allocManaged }},
	cu.CU_POINTER_ATTRIBUTE_P2P_TOKENS:  {size: 16, value: func(*alloc, uint64) uint64 { return 0 }, missing: (*alloc).host},
	cu.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: ptrTruth(4, (*alloc).syncMemops),
	cu.CU_POINTER_ATTRIBUTE_BUFFER_ID:   ptrField(8, func(a *alloc) uint64 { return a.id }),
	cu.CU_POINTER_ATTRIBUTE_IS_MANAGED:  ptrTruth(4, func(a *alloc) bool { return a.kind == allocManaged }),
	cu.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: {size: 4, value: func(a *alloc, _ uint64) uint64 {
		if a == nil {
			return uint64(1<<32 + cu.CU_DEVICE_INVALID)
		}
		return uint64(a.device().ordinal)
	}},
	cu.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: ptrTruth(4, func(a *alloc) bool { return a.kind == allocDevice && a.pool == nil && a.graph == nil }),
	cu.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:           ptrField(8, func(a *alloc) uint64 { return a.base }),
	cu.CU_POINTER_ATTRIBUTE_RANGE_SIZE:                 ptrField(8, func(a *alloc) uint64 { return a.size }),
	cu.CU_POINTER_ATTRIBUTE_MAPPED:                     ptrTruth(4, func(*alloc) bool { return true }),
	cu.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:       ptrNum(8, 0),
	cu.CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: ptrNum(4, 0),
	cu.CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:               ptrField(4, func(a *alloc) uint64 { return uint64(cu.CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE) }),
	cu.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: {size: 8, value: func(a *alloc, _ uint64) uint64 {
		switch {
		case a != nil && a.pool != nil:
			return uint64(a.pool.handle)
		case a != nil && a.from != nil:
			return uint64(a.from.handle)
		}
		return 0
	}},
	cu.CU_POINTER_ATTRIBUTE_MAPPING_SIZE:             ptrField(8, func(a *alloc) uint64 { return a.size }),
	cu.CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:        ptrField(8, func(a *alloc) uint64 { return a.base }),
	cu.CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:          ptrField(8, func(a *alloc) uint64 { return a.id }),
	cu.CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: ptrNum(4, 0),
}

// put writes an attribute to the program's memory.
func (r *pointerRow) put(data hostmem.Ptr, a *alloc, p uint64) {
	v := r.value(a, p)
	switch r.size {
	case 4:
		hostmem.Store(data, uint32(v))
	case 8:
		hostmem.Store(data, v)
	case 16:
		hostmem.Store(data, [2]uint64{v})
	}
}

// PointerGetAttribute tells one thing about memory that was allocated or registered here. No context is needed.
func (t *Thread) PointerGetAttribute(data hostmem.Ptr, attr cu.CUpointer_attribute, p DevPtr) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	if data == hostmem.Nil || attr <= 0 || int(attr) >= len(pointerAttrs) {
		return errInvalidValue
	}
	a := s.allocs.find(uint64(p))
	if a == nil || a.idle() {
		return errInvalidValue
	}
	r := &pointerAttrs[attr]
	r.put(data, a, uint64(p))
	if r.missing != nil && r.missing(a) {
		return errInvalidValue
	}
	return nil
}

// PointerGetAttributes tells several things, about any address: of unknown memory it says so and succeeds.
func (t *Thread) PointerGetAttributes(n uint32, attrs, data hostmem.Ptr, p DevPtr) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	if n == 0 || attrs == hostmem.Nil || data == hostmem.Nil {
		return errInvalidValue
	}
	a := s.allocs.find(uint64(p))
	for i := range int(n) {
		attr := hostmem.Load[cu.CUpointer_attribute](attrs.Index(i, 4))
		out := hostmem.Load[hostmem.Ptr](data.Index(i, 8))
		if attr <= 0 || int(attr) >= len(pointerAttrs) || out == hostmem.Nil {
			return errInvalidValue
		}
		pointerAttrs[attr].put(out, a, uint64(p))
	}
	return nil
}

// PointerSetAttribute notes SYNC_MEMOPS; nothing changes by it: every operation here is as if it were set.
func (t *Thread) PointerSetAttribute(value hostmem.Ptr, attr cu.CUpointer_attribute, p DevPtr) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	a := s.allocs.find(uint64(p))
	if value == hostmem.Nil || a == nil || a.host() || attr != cu.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS {
		return errInvalidValue
	}
	if hostmem.Load[uint32](value) != 0 {
		a.memops.Store(memopsOn)
	} else {
		a.memops.Store(memopsOff)
	}
	return nil
}

const (
	memopsOn  = 1
	memopsOff = 2
)

// syncMemops is CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: managed memory has it until a program says otherwise.
func (a *alloc) syncMemops() bool {
	said := a.memops.Load()
	return said == memopsOn || said == 0 && a.kind == allocManaged
}
