package driver

import (
	"kudzu/internal/backend"
	"kudzu/internal/logx"
	"kudzu/internal/spec/cu"
)

// Managed memory lives where all memory lives on devices that share the process's memory, and in host memory on others, so that nothing
// has to move; unless the device's runtime moves it: then what programs say of it is passed on.

// managed is the device's memory if its runtime moves what is managed.
func (d *Device) managed() backend.Managed {
	if !d.info.Managed {
		return nil
	}
	m, _ := d.dev.Memory().(backend.Managed)
	return m
}

// backendOf is the device of a spot; nil is the host.
func (s *state) backendOf(at spot) backend.Device {
	if at.kind != cu.CU_MEM_LOCATION_TYPE_DEVICE || at.id < 0 || int(at.id) >= len(s.devices) {
		return nil
	}
	return s.devices[at.id].dev
}

// advices are the backend's words for CUDA's advice.
var advices = map[cu.CUmem_advise]backend.Advice{
	cu.CU_MEM_ADVISE_SET_READ_MOSTLY: backend.AdviseReadMostly, cu.CU_MEM_ADVISE_UNSET_READ_MOSTLY: backend.AdviseNotReadMostly,
	cu.CU_MEM_ADVISE_SET_PREFERRED_LOCATION: backend.AdvisePreferred, cu.CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: backend.AdviseNotPreferred,
	cu.CU_MEM_ADVISE_SET_ACCESSED_BY: backend.AdviseAccessedBy, cu.CU_MEM_ADVISE_UNSET_ACCESSED_BY: backend.AdviseNotAccessedBy,
}

// passAdvice tells the runtime that moves the memory. What it cannot do with the advice costs time and nothing else.
func (s *state) passAdvice(p DevPtr, n uint64, advice cu.CUmem_advise, at spot) {
	a := s.allocs.find(uint64(p))
	if a == nil || !a.moves {
		return
	}
	m := a.device().managed()
	if m == nil {
		return
	}
	if err := m.Advise(backend.Addr(p), n, advices[advice], s.backendOf(at)); err != nil {
		logx.Debugf("advice about memory at %#x: %v", uint64(p), err)
	}
}

// prefetch has the stream's runtime move a range, where it moves memory at all.
func (st *Stream) prefetch(p DevPtr, n uint64, at spot) error {
	s := st.ctx.state
	a := s.allocs.find(uint64(p))
	if a == nil || !a.moves {
		return nil
	}
	return st.ctx.fail(st.enqueue(func(q backend.Queue) error {
		if f, ok := q.(backend.Prefetcher); ok {
			return f.Prefetch(backend.Addr(p), n, s.backendOf(at))
		}
		return nil
	}))
}

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
