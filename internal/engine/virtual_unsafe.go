package engine

/*
#include "engine.h"

#cgo noescape kz_vm_reserve
#cgo nocallback kz_vm_reserve
#cgo nocallback kz_vm_release
#cgo nocallback kz_vm_map
#cgo nocallback kz_vm_access
#cgo nocallback kz_vm_unmap
#cgo noescape kz_vm_new
#cgo nocallback kz_vm_new
#cgo nocallback kz_vm_free
*/
import "C"

// VirtualUnit is what sizes and addresses of reservations and mappings are multiples of.
const VirtualUnit = 2 << 20

// Reserve takes n bytes of addresses out of the process's range; nothing is there yet. They belong to no memory.
func (m *Memory) Reserve(n, align uint64) (uint64, error) {
	var addr C.uint64_t
	if rc := C.kz_vm_reserve(C.uint64_t(n), C.uint64_t(align), &addr); rc != C.KZ_OK {
		return 0, result(rc)
	}
	return uint64(addr), nil
}

// Unreserve gives addresses back that nothing is mapped at.
func (m *Memory) Unreserve(addr, n uint64) error {
	return result(C.kz_vm_release(C.uint64_t(addr), C.uint64_t(n)))
}

// NewFile makes n bytes of memory without an address, as a file descriptor. They count against the memory's limit.
func (m *Memory) NewFile(n uint64) (fd int, err error) {
	var f C.int
	if rc := C.kz_vm_new(m.c, C.uint64_t(n), &f); rc != C.KZ_OK {
		return -1, result(rc)
	}
	return int(f), nil
}

// CloseFile ends what NewFile made, once it is mapped nowhere; counted is 0 for a file that came from elsewhere.
func (m *Memory) CloseFile(fd int, counted uint64) { C.kz_vm_free(m.c, C.uint64_t(counted), C.int(fd)) }

// Map puts memory of a file at reserved addresses. It cannot be touched, nor found by Lookup, before SetAccess.
func (m *Memory) Map(addr, n uint64, fd int, off uint64) error {
	return result(C.kz_vm_map(m.c, C.uint64_t(addr), C.uint64_t(n), C.int(fd), C.uint64_t(off)))
}

// SetAccess lets one whole mapping be touched, or not.
func (m *Memory) SetAccess(addr, n uint64, on bool) error {
	flag := C.int(0)
	if on {
		flag = 1
	}
	return result(C.kz_vm_access(C.uint64_t(addr), C.uint64_t(n), flag))
}

// Unmap takes one whole mapping away; the addresses stay reserved.
func (m *Memory) Unmap(addr, n uint64) error {
	return result(C.kz_vm_unmap(C.uint64_t(addr), C.uint64_t(n)))
}
