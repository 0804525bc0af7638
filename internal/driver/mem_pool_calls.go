package driver

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// MemAllocAsync allocates from the current pool of the stream's device, in the stream's order.
func (t *Thread) MemAllocAsync(n uint64, stream cu.CUstream) (DevPtr, error) {
	st, err := t.stream(stream)
	if err != nil {
		return 0, err
	}
	p, err := st.ctx.dev.currentPool(st.ctx.state)
	if err != nil {
		return 0, err
	}
	return t.allocAsync(p, st, n)
}

// MemAllocFromPoolAsync allocates from a pool, in the stream's order.
func (t *Thread) MemAllocFromPoolAsync(n uint64, pool cu.CUmemoryPool, stream cu.CUstream) (DevPtr, error) {
	st, err := t.stream(stream)
	if err != nil {
		return 0, err
	}
	p, err := t.pool(pool)
	if err != nil {
		return 0, err
	}
	return t.allocAsync(p, st, n)
}

// allocAsync allocates now, or makes an allocation node of a captured stream's.
func (t *Thread) allocAsync(p *Pool, st *Stream, n uint64) (DevPtr, error) {
	if n == 0 { // as the real driver: success, and no memory
		return 0, nil
	}
	c := st.capture.Load()
	if c == nil {
		return p.alloc(st, n)
	}
	m, err := st.ctx.newGraphMemory(n, p.place.kind())
	if err != nil {
		return 0, err
	}
	m.params.PoolProps = p.props
	if _, err = t.record(st, c, &allocTask{m}); err != nil {
		m.end()
		return 0, err
	}
	return m.params.Dptr, nil
}

// MemFreeAsync gives memory back when the stream gets there.
func (t *Thread) MemFreeAsync(p DevPtr, stream cu.CUstream) error {
	st, err := t.stream(stream)
	if err != nil {
		return err
	}
	if p == 0 {
		return nil
	}
	a := st.ctx.state.allocs.find(uint64(p))
	if a != nil && a.from != nil { // imported from a pool
		if err := t.waits(st); err != nil {
			return err
		}
		return st.ctx.state.closeShared(p)
	}
	if a == nil || a.base != uint64(p) || a.kind != allocDevice && a.pool == nil && a.graph == nil {
		return errInvalidValue
	}
	if c := st.capture.Load(); c != nil {
		if a.graph == nil {
			return errInvalidValue // only what a graph allocated
		}
		_, err := t.record(st, c, &freeTask{a.graph, p})
		return err
	}
	if a.graph != nil {
		return a.graph.free()
	}
	return st.ctx.state.freeAsync(a, st)
}

// DeviceGetDefaultMemPool is the device's own pool.
func (t *Thread) DeviceGetDefaultMemPool(dev cu.CUdevice) (cu.CUmemoryPool, error) {
	d, err := t.device(dev)
	if err != nil {
		return 0, err
	}
	p, err := d.defaultPool(current.Load())
	if err != nil {
		return 0, err
	}
	return p.handle, nil
}

// DeviceGetMemPool is the device's current pool.
func (t *Thread) DeviceGetMemPool(dev cu.CUdevice) (cu.CUmemoryPool, error) {
	d, err := t.device(dev)
	if err != nil {
		return 0, err
	}
	p, err := d.currentPool(current.Load())
	if err != nil {
		return 0, err
	}
	return p.handle, nil
}

// DeviceSetMemPool sets the pool that cuMemAllocAsync takes from; it must be local to the device.
func (t *Thread) DeviceSetMemPool(dev cu.CUdevice, pool cu.CUmemoryPool) error {
	d, err := t.device(dev)
	if err != nil {
		return err
	}
	p, err := t.pool(pool)
	if err != nil {
		return err
	}
	if p.dev != d || p.imported || !p.place.device() {
		return errInvalidValue
	}
	d.setCurrent(p)
	return nil
}

// poolAt is the current or the default pool of a location.
func (t *Thread) poolAt(location hostmem.Ptr, kind cu.CUmemAllocationType, builtin bool) (cu.CUmemoryPool, error) {
	if location == hostmem.Nil {
		return 0, errInvalidValue
	}
	at, d, err := t.place(hostmem.Load[cu.CUmemLocation](location), kind)
	if err != nil {
		return 0, err
	}
	p, err := d.poolOf(current.Load(), at, builtin)
	if err != nil {
		return 0, err
	}
	return p.handle, nil
}

// MemGetDefaultMemPool is DeviceGetDefaultMemPool for a location.
func (t *Thread) MemGetDefaultMemPool(location hostmem.Ptr, kind cu.CUmemAllocationType) (cu.CUmemoryPool, error) {
	return t.poolAt(location, kind, true)
}

// MemGetMemPool is DeviceGetMemPool for a location.
func (t *Thread) MemGetMemPool(location hostmem.Ptr, kind cu.CUmemAllocationType) (cu.CUmemoryPool, error) {
	return t.poolAt(location, kind, false)
}

// MemSetMemPool is DeviceSetMemPool for a location, which must be the pool's.
func (t *Thread) MemSetMemPool(location hostmem.Ptr, kind cu.CUmemAllocationType, pool cu.CUmemoryPool) error {
	if location == hostmem.Nil {
		return errInvalidValue
	}
	at, d, err := t.place(hostmem.Load[cu.CUmemLocation](location), kind)
	if err != nil {
		return err
	}
	p, err := t.pool(pool)
	if err != nil {
		return err
	}
	if p.place != at || p.imported {
		return errInvalidValue
	}
	d.setCurrent(p)
	return nil
}

// MemPoolCreate makes a pool. Managed memory is not shared with other processes, nor host memory that is at no node.
func (t *Thread) MemPoolCreate(props *cu.CUmemPoolProps) (cu.CUmemoryPool, error) {
	s, err := t.enter()
	if err != nil {
		return 0, err
	}
	at, d, err := t.place(props.Location, props.AllocType)
	switch {
	case err == errInvalidDevice:
		return 0, errInvalidValue
	case err != nil:
		return 0, err
	case props.HandleTypes&^cu.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR != 0:
		return 0, errNotSupported
	case props.HandleTypes != 0 && !at.device() && (at.kind() == allocManaged || at.at.kind != cu.CU_MEM_LOCATION_TYPE_HOST_NUMA):
		return 0, errInvalidValue
	case props.MaxSize != 0 && at.kind() == allocManaged:
		return 0, errInvalidValue
	}
	p, err := s.newPool(d, *props)
	if err != nil {
		return 0, err
	}
	p.place = at
	d.pools.mu.Lock()
	defer d.pools.mu.Unlock()
	d.pools.all = append(d.pools.all, p)
	return p.handle, nil
}

// MemPoolDestroy gives a pool back. Its allocations stay until they are freed; the default pool cannot be destroyed.
func (t *Thread) MemPoolDestroy(pool cu.CUmemoryPool) error {
	p, err := t.pool(pool)
	if err != nil {
		return err
	}
	if p.builtin || p.imported || p.state.pools.Delete(handleValue(pool)) == nil {
		return errInvalidValue
	}
	d := p.dev
	d.pools.mu.Lock()
	if d.pools.current == p {
		d.pools.current = nil
	}
	if d.pools.currents[p.place] == p {
		delete(d.pools.currents, p.place)
	}
	d.pools.mu.Unlock()
	p.trim(0)
	p.mu.Lock()
	empty := p.reserved.now == 0
	p.mu.Unlock()
	if !empty { // the rest goes as it is freed
		d.pools.excess.Store(1)
		return nil
	}
	d.pools.mu.Lock()
	defer d.pools.mu.Unlock()
	if i := slices.Index(d.pools.all, p); i >= 0 {
		d.pools.all = slices.Delete(d.pools.all, i, i+1)
	}
	return nil
}

// MemPoolTrimTo gives memory that nobody has back to the device until keep bytes are left.
func (t *Thread) MemPoolTrimTo(pool cu.CUmemoryPool, keep uint64) error {
	p, err := t.ownPool(pool)
	if err != nil {
		return err
	}
	p.trim(keep)
	return nil
}

// poolStep is the unit in which pools of the real driver take memory; programs are told in it.
const poolStep = 32 << 20

// steps is bytes that a pool holds as programs are told.
func steps(n uint64) uint64 { return (n + poolStep - 1) &^ (poolStep - 1) }

// MemPoolGetAttribute writes one attribute: an int for the rules of reuse and the descriptions, 64 bits for amounts.
func (t *Thread) MemPoolGetAttribute(pool cu.CUmemoryPool, attr cu.CUmemPool_attribute, value hostmem.Ptr) error {
	p, err := t.ownPool(pool)
	if err != nil {
		return err
	}
	if value == hostmem.Nil {
		return errInvalidValue
	}
	p.mu.Lock()
	var wide uint64
	narrow, isInt := int32(0), false
	switch attr {
	case cu.CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, cu.CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, cu.CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		narrow, isInt = p.reuse[attr-cu.CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES], true
	case cu.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		wide = p.threshold
	case cu.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		wide = steps(p.reserved.now)
	case cu.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		wide = steps(p.reserved.high)
	case cu.CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		wide = p.used.now
	case cu.CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		wide = p.used.high
	case cu.CU_MEMPOOL_ATTR_ALLOCATION_TYPE:
		narrow, isInt = int32(p.props.AllocType), true
	case cu.CU_MEMPOOL_ATTR_EXPORT_HANDLE_TYPES:
		narrow, isInt = int32(p.props.HandleTypes), true
	case cu.CU_MEMPOOL_ATTR_LOCATION_ID:
		narrow, isInt = *p.props.Location.Id(), true
	case cu.CU_MEMPOOL_ATTR_LOCATION_TYPE:
		narrow, isInt = int32(p.props.Location.Type), true
	case cu.CU_MEMPOOL_ATTR_MAX_POOL_SIZE:
		wide = p.props.MaxSize
	case cu.CU_MEMPOOL_ATTR_HW_DECOMPRESS_ENABLED:
		isInt = true
	default:
		p.mu.Unlock()
		return errInvalidValue
	}
	p.mu.Unlock()
	if isInt {
		hostmem.Store(value, narrow)
	} else {
		hostmem.Store(value, wide)
	}
	return nil
}

// MemPoolSetAttribute sets the rules of reuse, the threshold, and takes high-water marks down to what is.
func (t *Thread) MemPoolSetAttribute(pool cu.CUmemoryPool, attr cu.CUmemPool_attribute, value hostmem.Ptr) error {
	p, err := t.ownPool(pool)
	if err != nil {
		return err
	}
	if value == hostmem.Nil {
		return errInvalidValue
	}
	switch attr {
	case cu.CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, cu.CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, cu.CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		v := hostmem.Load[int32](value)
		p.mu.Lock()
		p.reuse[attr-cu.CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = v
		p.mu.Unlock()
	case cu.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		v := hostmem.Load[uint64](value)
		p.mu.Lock()
		p.threshold = v
		if p.reserved.now > v {
			p.dev.pools.excess.Store(1)
		}
		p.mu.Unlock()
	case cu.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, cu.CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		if hostmem.Load[uint64](value) != 0 {
			return errInvalidValue
		}
		p.mu.Lock()
		p.resetHigh(attr)
		p.mu.Unlock()
	default: // the others are read-only or unknown
		return errInvalidValue
	}
	return nil
}

// Preconditions: p.mu is held.
func (p *Pool) resetHigh(attr cu.CUmemPool_attribute) {
	if attr == cu.CU_MEMPOOL_ATTR_USED_MEM_HIGH {
		p.used.high = p.used.now
	} else {
		p.reserved.high = p.reserved.now
	}
}

// maxAccess bounds lists of access descriptions.
const maxAccess = 4096

// MemPoolSetAccess says which devices may use the pool's memory. The device that has it always may.
func (t *Thread) MemPoolSetAccess(pool cu.CUmemoryPool, list hostmem.Ptr, n uint64) error {
	p, err := t.pool(pool)
	if err != nil {
		return err
	}
	if list == hostmem.Nil || n == 0 || n > maxAccess {
		return errInvalidValue
	}
	descs := slices.Clone(hostmem.Slice[cu.CUmemAccessDesc](list, int(n)))
	for i := range descs {
		l := &descs[i]
		switch l.Flags {
		case cu.CU_MEM_ACCESS_FLAGS_PROT_NONE, cu.CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
		case cu.CU_MEM_ACCESS_FLAGS_PROT_READ:
			return errNotSupported
		default:
			return errInvalidValue
		}
		if l.Location.Type != cu.CU_MEM_LOCATION_TYPE_DEVICE {
			return errInvalidValue
		}
		d, err := t.device(*l.Location.Id())
		switch {
		case err != nil:
			return err
		case !p.place.device(): // every device reaches it
		case d == p.dev && l.Flags == cu.CU_MEM_ACCESS_FLAGS_PROT_NONE, d != p.dev && !reach(d, p.dev):
			return errInvalidDevice
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range descs {
		id := *descs[i].Location.Id()
		if d, err := t.device(id); err == nil && d != p.dev && p.place.device() {
			was, is := p.access[id] == cu.CU_MEM_ACCESS_FLAGS_PROT_READWRITE, descs[i].Flags == cu.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
			if was != is {
				if err := bring(d, p.dev, is); err != nil {
					return err
				}
			}
		}
		p.access[id] = descs[i].Flags
	}
	return nil
}

// MemPoolGetAccess is what a device may do with the pool's memory.
func (t *Thread) MemPoolGetAccess(pool cu.CUmemoryPool, location hostmem.Ptr) (cu.CUmemAccess_flags, error) {
	p, err := t.pool(pool)
	if err != nil {
		return 0, err
	}
	if location == hostmem.Nil {
		return 0, errInvalidValue
	}
	l := hostmem.Load[cu.CUmemLocation](location)
	switch l.Type {
	case cu.CU_MEM_LOCATION_TYPE_DEVICE:
	case cu.CU_MEM_LOCATION_TYPE_HOST, cu.CU_MEM_LOCATION_TYPE_HOST_NUMA, cu.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		if !p.place.device() {
			return cu.CU_MEM_ACCESS_FLAGS_PROT_READWRITE, nil
		}
		return 0, errInvalidValue
	default:
		return 0, errInvalidValue
	}
	d, err := t.device(*l.Id())
	if err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	flags, said := p.access[d.ordinal]
	if d == p.dev && p.place.device() || !said && !p.place.device() {
		return cu.CU_MEM_ACCESS_FLAGS_PROT_READWRITE, nil
	}
	return flags, nil
}
