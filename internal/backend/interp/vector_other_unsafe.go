//go:build !amd64

package interp

import (
	"sync/atomic"
	"unsafe"

	"kudzu/internal/lockrank"
)

// Elsewhere 16 bytes are two halves, each indivisible, and exchanged under a lock that only exchanges know.

var pairs lockrank.Mutex[lockrank.InterpPairs]

func loadPair(p unsafe.Pointer) (lo, hi uint64) {
	return atomic.LoadUint64((*uint64)(p)), atomic.LoadUint64((*uint64)(unsafe.Add(p, 8)))
}

func storePair(p unsafe.Pointer, lo, hi uint64) {
	atomic.StoreUint64((*uint64)(p), lo)
	atomic.StoreUint64((*uint64)(unsafe.Add(p, 8)), hi)
}

func swapPair(p unsafe.Pointer, oldLo, oldHi, lo, hi uint64) bool {
	pairs.Lock()
	defer pairs.Unlock()
	l, h := loadPair(p)
	if l != oldLo || h != oldHi {
		return false
	}
	storePair(p, lo, hi)
	return true
}
