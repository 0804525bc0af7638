//go:build arm64

package image

import "unsafe"

// flushInstructions makes stores visible to instruction fetch: arm64 caches are not coherent between the two.
func flushInstructions(mem []byte) {
	syncCache(unsafe.Pointer(unsafe.SliceData(mem)), uintptr(len(mem)))
}

// syncCache cleans the data cache and invalidates the instruction cache over a range, 16 bytes at a time at the least.
//
//go:noescape
func syncCache(p unsafe.Pointer, n uintptr)
