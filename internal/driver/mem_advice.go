package driver

import (
	"cmp"
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// Advice about managed memory changes little here, but programs ask it back: it is kept by ranges.

// spot is a place of memory: a device, the host, or none.
type spot struct {
	kind cu.CUmemLocationType
	id   int32
}

// device is the spot as the older attributes name it.
func (s spot) device() int32 {
	switch s.kind {
	case cu.CU_MEM_LOCATION_TYPE_DEVICE:
		return s.id
	case cu.CU_MEM_LOCATION_TYPE_HOST, cu.CU_MEM_LOCATION_TYPE_HOST_NUMA, cu.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		return cu.CU_DEVICE_CPU
	}
	return cu.CU_DEVICE_INVALID
}

// number is the spot's number among those of its kind; the host has none.
func (s spot) number() int32 {
	if s.kind == cu.CU_MEM_LOCATION_TYPE_DEVICE || s.kind == cu.CU_MEM_LOCATION_TYPE_HOST_NUMA {
		return s.id
	}
	return -1
}

// advised is what holds for a range of an allocation.
type advised struct {
	end       uint64 // offset behind it; it begins where the one before ends
	mostly    bool
	preferred spot
	fetched   spot
	users     []int32 // devices of ACCESSED_BY, and CU_DEVICE_CPU
}

// change applies f to the ranges from..to of an allocation, cutting them where needed.
//
// Preconditions: adviceMu is held.
func (a *alloc) change(from, to uint64, f func(*advised)) {
	if a.advice == nil {
		a.advice = []advised{{end: a.size}}
	}
	for _, cut := range []uint64{from, to} {
		start := uint64(0)
		for i := range a.advice {
			if r := a.advice[i]; cut > start && cut < r.end {
				r.users = slices.Clone(r.users)
				r.end = cut
				a.advice = slices.Insert(a.advice, i, r)
				break
			}
			start = a.advice[i].end
		}
	}
	start := uint64(0)
	for i := range a.advice {
		if start >= from && a.advice[i].end <= to {
			f(&a.advice[i])
		}
		start = a.advice[i].end
	}
}

// within lists what holds for the ranges that touch from..to.
//
// Preconditions: adviceMu is held.
func (a *alloc) within(from, to uint64) []advised {
	if a.advice == nil {
		return []advised{{end: a.size}}
	}
	var out []advised
	start := uint64(0)
	for _, r := range a.advice {
		if r.end > from && start < to {
			out = append(out, r)
		}
		start = r.end
	}
	return out
}

// spotOf checks a location that advice or a prefetch names.
func (t *Thread) spotOf(l cu.CUmemLocation) (spot, error) {
	switch l.Type {
	case cu.CU_MEM_LOCATION_TYPE_DEVICE:
		_, err := t.device(*l.Id())
		return spot{l.Type, *l.Id()}, err
	case cu.CU_MEM_LOCATION_TYPE_HOST, cu.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		return spot{kind: l.Type}, nil
	case cu.CU_MEM_LOCATION_TYPE_HOST_NUMA:
		if *l.Id() != 0 {
			return spot{}, errInvalidValue
		}
		return spot{kind: l.Type}, nil
	}
	return spot{}, errInvalidValue
}

// locationOf is a device of the older calls as a location.
func locationOf(dev cu.CUdevice) (l cu.CUmemLocation) {
	if dev == cu.CU_DEVICE_CPU {
		l.Type = cu.CU_MEM_LOCATION_TYPE_HOST
		return l
	}
	l.Type = cu.CU_MEM_LOCATION_TYPE_DEVICE
	*l.Id() = dev
	return l
}

// advise checks and keeps advice.
func (t *Thread) advise(p DevPtr, n uint64, advice cu.CUmem_advise, l cu.CUmemLocation) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	if l.Type <= cu.CU_MEM_LOCATION_TYPE_INVALID || l.Type > cu.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT {
		return errInvalidValue
	}
	var at spot
	switch advice {
	case cu.CU_MEM_ADVISE_SET_READ_MOSTLY, cu.CU_MEM_ADVISE_UNSET_READ_MOSTLY: // the location is not looked at
	case cu.CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
	case cu.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, cu.CU_MEM_ADVISE_SET_ACCESSED_BY, cu.CU_MEM_ADVISE_UNSET_ACCESSED_BY:
		if at, err = t.spotOf(l); err != nil {
			return err
		}
	default:
		return errInvalidValue
	}
	err = s.onManaged(p, n, func(r *advised) {
		switch advice {
		case cu.CU_MEM_ADVISE_SET_READ_MOSTLY, cu.CU_MEM_ADVISE_UNSET_READ_MOSTLY:
			r.mostly = advice == cu.CU_MEM_ADVISE_SET_READ_MOSTLY
		case cu.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, cu.CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
			r.preferred = at
		case cu.CU_MEM_ADVISE_SET_ACCESSED_BY:
			if !slices.Contains(r.users, at.device()) {
				r.users = append(r.users, at.device())
				slices.SortFunc(r.users, func(a, b int32) int { return cmp.Compare(uint32(a), uint32(b)) }) // devices, then the host
			}
		case cu.CU_MEM_ADVISE_UNSET_ACCESSED_BY:
			r.users = slices.DeleteFunc(r.users, func(d int32) bool { return d == at.device() })
		}
	})
	if err == nil {
		s.passAdvice(p, n, advice, at)
	}
	return err
}

// onManaged changes what is kept of a range of managed memory.
func (s *state) onManaged(p DevPtr, n uint64, f func(*advised)) error {
	if err := s.managedRange(p, n); err != nil {
		return err
	}
	a := s.allocs.find(uint64(p))
	if a == nil {
		return errInvalidValue
	}
	s.adviceMu.Lock()
	defer s.adviceMu.Unlock()
	a.change(uint64(p)-a.base, uint64(p)-a.base+n, f)
	return nil
}

// MemAdvise takes advice about managed memory.
func (t *Thread) MemAdvise(p DevPtr, n uint64, advice cu.CUmem_advise, dev cu.CUdevice) error {
	return t.advise(p, n, advice, locationOf(dev))
}

// MemAdviseV2 is the same with a location.
func (t *Thread) MemAdviseV2(p DevPtr, n uint64, advice cu.CUmem_advise, l cu.CUmemLocation) error {
	err := t.advise(p, n, advice, l)
	if err == errInvalidDevice { // a location that is none is no device
		err = errInvalidValue
	}
	return err
}

// MemPrefetchAsync is done when the stream gets there: managed memory moves only where a runtime moves it. Where it was to go is kept.
func (t *Thread) MemPrefetchAsync(p DevPtr, n uint64, dev cu.CUdevice, stream cu.CUstream) error {
	return t.MemPrefetchAsyncV2(p, n, locationOf(dev), 0, stream)
}

// MemPrefetchAsyncV2 is the same with a location.
func (t *Thread) MemPrefetchAsyncV2(p DevPtr, n uint64, l cu.CUmemLocation, flags uint32, stream cu.CUstream) error {
	st, err := t.stream(stream)
	if err != nil {
		return err
	}
	at, err := t.spotOf(l)
	if err != nil {
		return err
	}
	if flags != 0 {
		return errInvalidValue
	}
	if err := t.notCaptured(st); err != nil {
		return err
	}
	if err := st.ctx.state.onManaged(p, n, func(r *advised) { r.fetched = at }); err != nil {
		return err
	}
	return st.prefetch(p, n, at)
}

// maxBatch bounds lists of operations.
const maxBatch = 1 << 20

// batch reads the ranges of a call that takes many.
func batch(ptrs, sizes hostmem.Ptr, n uint64) ([]DevPtr, []uint64, error) {
	if ptrs == hostmem.Nil || sizes == hostmem.Nil || n == 0 || n > maxBatch {
		return nil, nil, errInvalidValue
	}
	return slices.Clone(hostmem.Slice[DevPtr](ptrs, int(n))), slices.Clone(hostmem.Slice[uint64](sizes, int(n))), nil
}

// indexed reads one entry for each of n operations from a list of entries and the operations at which each begins.
func indexed[T any](list, begins hostmem.Ptr, count, n uint64) ([]T, error) {
	if list == hostmem.Nil || begins == hostmem.Nil || count == 0 || count > n {
		return nil, errInvalidValue
	}
	values := slices.Clone(hostmem.Slice[T](list, int(count)))
	at := slices.Clone(hostmem.Slice[uint64](begins, int(count)))
	out := make([]T, n)
	for i := range values {
		end := n
		if i+1 < len(at) {
			end = at[i+1]
		}
		if i == 0 && at[0] != 0 || at[i] >= end || end > n {
			return nil, errInvalidValue
		}
		for k := at[i]; k < end; k++ {
			out[k] = values[i]
		}
	}
	return out, nil
}

// MemPrefetchBatchAsync is several prefetches.
func (t *Thread) MemPrefetchBatchAsync(ptrs, sizes hostmem.Ptr, n uint64, locations, begins hostmem.Ptr, count, flags uint64, stream cu.CUstream) error {
	p, size, err := batch(ptrs, sizes, n)
	if err != nil {
		return err
	}
	where, err := indexed[cu.CUmemLocation](locations, begins, count, n)
	if err != nil || flags != 0 {
		return errInvalidValue
	}
	for i := range p {
		if err := t.MemPrefetchAsyncV2(p[i], size[i], where[i], 0, stream); err != nil {
			return err
		}
	}
	return nil
}

// MemDiscardBatchAsync says that the contents of ranges of managed memory are not needed any more. They may stay: to keep
// them is one of the things that may happen to them.
func (t *Thread) MemDiscardBatchAsync(ptrs, sizes hostmem.Ptr, n, flags uint64, stream cu.CUstream) error {
	st, p, size, err := t.discarded(ptrs, sizes, n, flags, stream)
	if err != nil {
		return err
	}
	for i := range p {
		if err := st.ctx.state.managedRange(p[i], size[i]); err != nil {
			return err
		}
	}
	return nil
}

// discarded checks what both kinds of discarding take.
func (t *Thread) discarded(ptrs, sizes hostmem.Ptr, n, flags uint64, stream cu.CUstream) (*Stream, []DevPtr, []uint64, error) {
	st, err := t.stream(stream)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := t.notCaptured(st); err != nil {
		return nil, nil, nil, err
	}
	p, size, err := batch(ptrs, sizes, n)
	if err != nil || flags != 0 || st.kind == legacyStream {
		return nil, nil, nil, errInvalidValue
	}
	return st, p, size, nil
}

// MemDiscardAndPrefetchBatchAsync is that and MemPrefetchBatchAsync.
func (t *Thread) MemDiscardAndPrefetchBatchAsync(ptrs, sizes hostmem.Ptr, n uint64, locations, begins hostmem.Ptr, count, flags uint64, stream cu.CUstream) error {
	if _, _, _, err := t.discarded(ptrs, sizes, n, flags, stream); err != nil {
		return err
	}
	return t.MemPrefetchBatchAsync(ptrs, sizes, n, locations, begins, count, flags, stream)
}

// MemGetHandleForAddressRange would give a buffer that other hardware can use; no memory here can be one.
func (t *Thread) MemGetHandleForAddressRange(out hostmem.Ptr, p DevPtr, n uint64, kind cu.CUmemRangeHandleType, flags uint64) error {
	c, err := t.context()
	if err != nil {
		return err
	}
	a := c.state.allocs.find(uint64(p))
	if out == hostmem.Nil || kind != cu.CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD || flags&^1 != 0 || n == 0 || n%4096 != 0 || a == nil || a.host() || !c.state.allocs.holds(a, uint64(p), n) {
		return errInvalidValue
	}
	return errNotSupported
}

// rangeAttribute writes one attribute of a range: what holds for all of it, or the answer for "not the same everywhere".
func (s *state) rangeAttribute(data hostmem.Ptr, size uint64, attr cu.CUmem_range_attribute, p DevPtr, n uint64) error {
	if err := s.managedRange(p, n); err != nil {
		return err
	}
	a := s.allocs.find(uint64(p))
	if a == nil || data == hostmem.Nil {
		return errInvalidValue
	}
	s.adviceMu.Lock()
	list := a.within(uint64(p)-a.base, uint64(p)-a.base+n)
	s.adviceMu.Unlock()
	all := func(f func(advised) spot) (spot, bool) {
		first := f(list[0])
		return first, !slices.ContainsFunc(list, func(r advised) bool { return f(r) != first })
	}
	preferred, samePreferred := all(func(r advised) spot { return r.preferred })
	fetched, sameFetched := all(func(r advised) spot { return r.fetched })
	if !samePreferred {
		preferred = spot{}
	}
	if !sameFetched {
		fetched = spot{}
	}
	var v int32
	switch attr {
	case cu.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
		v = int32(truth(!slices.ContainsFunc(list, func(r advised) bool { return !r.mostly })))
	case cu.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
		v = preferred.device()
	case cu.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
		v = fetched.device()
	case cu.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
		v = int32(preferred.kind)
	case cu.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
		v = preferred.number()
	case cu.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
		v = int32(fetched.kind)
	case cu.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
		v = fetched.number()
	case cu.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
		return putUsers(data, size, list)
	default:
		return errInvalidValue
	}
	if size != 4 {
		return errInvalidValue
	}
	hostmem.Store(data, v)
	return nil
}

// putUsers lists the devices that all ranges were said to be used by; the rest of the buffer is "no device".
func putUsers(data hostmem.Ptr, size uint64, list []advised) error {
	if size == 0 || size%4 != 0 || size/4 > maxBatch {
		return errInvalidValue
	}
	both := slices.Clone(list[0].users)
	for _, r := range list[1:] {
		both = slices.DeleteFunc(both, func(d int32) bool { return !slices.Contains(r.users, d) })
	}
	for i := range int(size / 4) {
		v := int32(cu.CU_DEVICE_INVALID)
		if i < len(both) {
			v = both[i]
		}
		hostmem.Store(data.Index(i, 4), v)
	}
	return nil
}

// MemRangeGetAttribute tells what was advised about a range of managed memory.
func (t *Thread) MemRangeGetAttribute(data hostmem.Ptr, size uint64, attr cu.CUmem_range_attribute, p DevPtr, n uint64) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	return s.rangeAttribute(data, size, attr, p, n)
}

// MemRangeGetAttributes tells several things.
func (t *Thread) MemRangeGetAttributes(data, sizes, attrs hostmem.Ptr, count uint64, p DevPtr, n uint64) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	if data == hostmem.Nil || sizes == hostmem.Nil || attrs == hostmem.Nil || count == 0 || count > maxBatch {
		return errInvalidValue
	}
	for i := range int(count) {
		err := s.rangeAttribute(hostmem.Load[hostmem.Ptr](data.Index(i, 8)), hostmem.Load[uint64](sizes.Index(i, 8)), hostmem.Load[cu.CUmem_range_attribute](attrs.Index(i, 4)), p, n)
		if err != nil {
			return err
		}
	}
	return nil
}
