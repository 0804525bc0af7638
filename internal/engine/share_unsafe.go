package engine

import "unsafe"

// sharePage is the least unit of memory that a file need not have.
const sharePage = 4096

// pagesAt is memory of the process as pages.
func pagesAt(addr, n uint64) [][sharePage]byte {
	return unsafe.Slice(*(**[sharePage]byte)(unsafe.Pointer(&addr)), n/sharePage)
}

// copyPages copies memory of the device; pages that are all zero are left out, so that they stay unused.
func copyPages(dst, src, n uint64) {
	to, from := pagesAt(dst, n), pagesAt(src, n)
	for i := range from {
		if from[i] != ([sharePage]byte{}) {
			to[i] = from[i]
		}
	}
}
