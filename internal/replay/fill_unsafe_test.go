package replay_test

import "unsafe"

func fill(addr uint64, b []byte) {
	p := uintptr(addr)
	copy(unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), len(b)), b)
}
