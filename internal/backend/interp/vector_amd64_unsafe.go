//go:build amd64

package interp

import "unsafe"

// loadPair reads 16 aligned bytes at once.
//
//go:noescape
func loadPair(p unsafe.Pointer) (lo, hi uint64)

// storePair writes 16 aligned bytes at once.
//
//go:noescape
func storePair(p unsafe.Pointer, lo, hi uint64)

// swapPair replaces 16 aligned bytes if they are the old ones.
//
//go:noescape
func swapPair(p unsafe.Pointer, oldLo, oldHi, lo, hi uint64) bool
