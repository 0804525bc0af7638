package driver

import (
	"kudzu/internal/spec/cu"
)

// Managed memory lives where all memory lives, so nothing has to move.

// managedRange checks that a range is managed memory.
func (s *state) managedRange(p DevPtr, n uint64) error {
	a := s.allocs.find(uint64(p))
	if a == nil || a.kind != allocManaged || n == 0 || n > a.size-(uint64(p)-a.base) {
		return errInvalidValue
	}
	return nil
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
