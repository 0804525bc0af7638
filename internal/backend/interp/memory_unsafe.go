package interp

import (
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

// atomicHost128 is atomicHost for 16 bytes.
func atomicHost128(m []byte, f func(old [2]uint64) [2]uint64) [2]uint64 {
	if !pairAligned(m) {
		old := [2]uint64{load(m[:8]), load(m[8:16])}
		v := f(old)
		store(m[:8], v[0])
		store(m[8:16], v[1])
		return old
	}
	p := unsafe.Pointer(unsafe.SliceData(m))
	for {
		lo, hi := loadPair(p)
		if v := f([2]uint64{lo, hi}); swapPair(p, lo, hi, v[0], v[1]) {
			return [2]uint64{lo, hi}
		}
	}
}

// pairAligned reports bytes that can be accessed 16 at a time. Global memory can, if the program's address is a multiple of 16; shared
// and local memory begin where Go put them, and belong to one goroutine.
func pairAligned(m []byte) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(m)))&15 == 0
}

// readVector reads the 2 to 32 bytes of a vector, which is aligned to its size: as hardware does, no 16 bytes are seen in parts.
func readVector(m []byte) (w [4]uint64) {
	if len(m) < 16 {
		w[0] = load(m)
		return w
	}
	for i := 0; i < len(m)/8; i += 2 {
		if part := m[8*i:][:16]; pairAligned(part) {
			w[i], w[i+1] = loadPair(unsafe.Pointer(unsafe.SliceData(part)))
		} else {
			w[i], w[i+1] = load(part[:8]), load(part[8:])
		}
	}
	return w
}

// writeVector writes what readVector reads.
func writeVector(m []byte, w *[4]uint64) {
	if len(m) < 16 {
		store(m, w[0])
		return
	}
	for i := 0; i < len(m)/8; i += 2 {
		if part := m[8*i:][:16]; pairAligned(part) {
			storePair(unsafe.Pointer(unsafe.SliceData(part)), w[i], w[i+1])
		} else {
			store(part[:8], w[i])
			store(part[8:], w[i+1])
		}
	}
}
