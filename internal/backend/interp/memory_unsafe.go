package interp

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// hostBytes is memory of this process. The caller has checked that it is inside an allocation, which keeps it mapped.
func hostBytes(addr, n uint64) []byte {
	p := uintptr(addr)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n) // a device address is never a Go pointer: no conversion for vet to doubt
}

// atomicHost replaces the value at p, which is naturally aligned, by f of it, atomically for every thread of the process, and
// returns the old value.
func atomicHost(m []byte, f func(old uint64) uint64) uint64 {
	p := unsafe.Pointer(unsafe.SliceData(m))
	switch len(m) {
	case 4:
		q := (*uint32)(p)
		for {
			old := atomic.LoadUint32(q)
			if atomic.CompareAndSwapUint32(q, old, uint32(f(uint64(old)))) {
				return uint64(old)
			}
		}
	case 8:
		q := (*uint64)(p)
		for {
			old := atomic.LoadUint64(q)
			if atomic.CompareAndSwapUint64(q, old, f(old)) {
				return old
			}
		}
	case 1, 2: // inside its aligned word
		at := uintptr(p) & 3
		q, shift, low := (*uint32)(unsafe.Add(p, -int(at))), 8*at, uint32(mask(8*len(m)))
		for {
			word := atomic.LoadUint32(q)
			old := word >> shift & low
			if atomic.CompareAndSwapUint32(q, word, word&^(low<<shift)|(uint32(f(uint64(old)))&low)<<shift) {
				return uint64(old)
			}
		}
	}
	panic("BUG: atomic of an odd size")
}

// wide guards 128-bit atomics: they are atomic among themselves only.
var wide sync.Mutex

// atomicHost128 is atomicHost for 16 bytes.
func atomicHost128(m []byte, f func(old [2]uint64) [2]uint64) [2]uint64 {
	wide.Lock()
	defer wide.Unlock()
	old := [2]uint64{load(m[:8]), load(m[8:16])}
	v := f(old)
	store(m[:8], v[0])
	store(m[8:16], v[1])
	return old
}
