package driver

import (
	"kudzu/internal/spec/cu"
)

// Managed memory lives where all memory lives, so advice and prefetches are checked and have nothing to do.

// managedRange checks that a range is managed memory.
func (s *state) managedRange(p DevPtr, n uint64) error {
	a := s.allocs.find(uint64(p))
	if a == nil || a.kind != allocManaged || n == 0 || n > a.size-(uint64(p)-a.base) {
		return errInvalidValue
	}
	return nil
}

// MemAdvise takes advice about managed memory.
func (t *Thread) MemAdvise(p DevPtr, n uint64, advice cu.CUmem_advise, dev cu.CUdevice) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	if advice < cu.CU_MEM_ADVISE_SET_READ_MOSTLY || advice > cu.CU_MEM_ADVISE_UNSET_ACCESSED_BY {
		return errInvalidValue
	}
	readMostly := advice == cu.CU_MEM_ADVISE_SET_READ_MOSTLY || advice == cu.CU_MEM_ADVISE_UNSET_READ_MOSTLY
	if !readMostly && dev != cu.CU_DEVICE_CPU { // the device is not looked at otherwise
		if _, err := t.device(dev); err != nil {
			return err
		}
	}
	return s.managedRange(p, n)
}

// MemPrefetchAsync is done when the stream gets there: managed memory does not move.
func (t *Thread) MemPrefetchAsync(p DevPtr, n uint64, dev cu.CUdevice, stream cu.CUstream) error {
	st, err := t.stream(stream)
	if err != nil {
		return err
	}
	if dev != cu.CU_DEVICE_CPU {
		if _, err := t.device(dev); err != nil {
			return err
		}
	}
	if err := t.notCaptured(st); err != nil {
		return err
	}
	return st.ctx.state.managedRange(p, n)
}

// StreamAttachMemAsync restricts managed memory to a stream; no restriction is needed here.
func (t *Thread) StreamAttachMemAsync(stream cu.CUstream, p DevPtr, n uint64, flags uint32) error {
	st, err := t.stream(stream)
	if err != nil {
		return err
	}
	switch cu.CUmemAttach_flags(flags) {
	case cu.CU_MEM_ATTACH_GLOBAL, cu.CU_MEM_ATTACH_HOST, cu.CU_MEM_ATTACH_SINGLE:
	default:
		return errInvalidValue
	}
	if err := t.notCaptured(st); err != nil {
		return err
	}
	a := st.ctx.state.allocs.find(uint64(p))
	if a == nil || a.kind != allocManaged || a.base != uint64(p) || n != 0 && n != a.size {
		return errInvalidValue
	}
	return nil
}
