package driver

import (
	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// DevPtr is an address that device code may use.
type DevPtr = cu.CUdeviceptr

// newAlloc puts memory the backend gave into the map.
func (c *Context) newAlloc(a *alloc) error {
	touched()
	a.ctx, a.id = c, c.state.bufferN.Add(1)
	if !c.state.allocs.add(a) {
		a.release()
		return errUnknown // the backend gave an address twice
	}
	if !c.alive.Load() { // the context ended meanwhile: put has already freed its memory
		if c.state.allocs.take(a) {
			a.release()
		}
		return errDestroyed
	}
	return nil
}

// MemAlloc gives device memory.
func (t *Thread) MemAlloc(n uint64) (DevPtr, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	return t.allocDevice(c, n, allocDevice, 0)
}

func (t *Thread) allocDevice(c *Context, n uint64, kind allocKind, flags uint32) (DevPtr, error) {
	if n == 0 {
		return 0, errInvalidValue
	}
	if err := t.risky(c.state); err != nil {
		return 0, err
	}
	addr, err := c.dev.allocMemory(n, 256)
	if err != nil {
		return 0, c.fail(err)
	}
	return DevPtr(addr), c.newAlloc(&alloc{base: uint64(addr), size: n, kind: kind, flags: flags})
}

// MemAllocPitch gives rows whose starts are aligned.
func (t *Thread) MemAllocPitch(width, height uint64, element uint32) (p DevPtr, pitch uint64, err error) {
	c, err := t.context()
	if err != nil {
		return 0, 0, err
	}
	if element != 4 && element != 8 && element != 16 || width == 0 || height == 0 {
		return 0, 0, errInvalidValue
	}
	if width > maxPitch {
		return 0, 0, errOutOfMemory
	}
	pitch = (width + pitchAlign - 1) / pitchAlign * pitchAlign
	if height > ^uint64(0)/pitch {
		return 0, 0, errOutOfMemory
	}
	p, err = t.allocDevice(c, pitch*height, allocDevice, 0)
	return p, pitch, err
}

// MemAllocManaged gives memory that host and device may use: what the device's runtime moves between them, any memory of a device
// that shares the process's addresses, else host memory that the device can reach.
func (t *Thread) MemAllocManaged(n uint64, flags uint32) (DevPtr, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	if flags != uint32(cu.CU_MEM_ATTACH_GLOBAL) && flags != uint32(cu.CU_MEM_ATTACH_HOST) {
		return 0, errInvalidValue
	}
	if oneMemory(c.dev.info) || n == 0 {
		return t.allocDevice(c, n, allocManaged, flags)
	}
	if m := c.dev.managed(); m != nil {
		addr, err := m.AllocManaged(n)
		if err != nil {
			return 0, c.fail(err)
		}
		return DevPtr(addr), c.newAlloc(&alloc{base: uint64(addr), size: n, kind: allocManaged, flags: flags, moves: true})
	}
	h, ok := c.dev.dev.Memory().(backend.HostMemory)
	if !ok {
		return 0, errNotSupported
	}
	addr, err := h.AllocHost(n)
	if err != nil {
		return 0, c.fail(err)
	}
	return DevPtr(addr), c.newAlloc(&alloc{base: uint64(addr), size: n, kind: allocManaged, flags: flags, pinned: true})
}

// MemFree gives device memory back once the work of its context is done.
func (t *Thread) MemFree(p DevPtr) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	if p == 0 {
		return nil
	}
	if c, set := t.top(s); set && c != nil { // the current context's own trouble comes first
		if err := c.usable(); err != nil {
			return err
		}
	}
	a := s.allocs.find(uint64(p))
	if a != nil && a.from != nil {
		return s.closeShared(p)
	}
	if a == nil || a.base != uint64(p) || a.kind != allocDevice && a.kind != allocManaged && a.pool == nil && a.graph == nil {
		return errInvalidValue
	}
	if err := t.risky(s); err != nil {
		return err
	}
	if err := a.ctx.sync(); err != nil {
		return err
	}
	if a.graph != nil {
		return a.graph.free()
	}
	if !s.allocs.take(a) {
		return errInvalidValue // another thread was first
	}
	a.release()
	return nil
}

// MemGetInfo is bytes free and in all on the current device.
func (t *Thread) MemGetInfo() (free, total uint64, err error) {
	c, err := t.context()
	if err != nil {
		return 0, 0, err
	}
	m := c.dev.dev.Memory()
	free, total = m.Usage()
	if b, ok := m.(backend.Borrower); ok { // a program that takes all that is free must not be ended for it
		if n := b.Available(); n > 0 {
			free = min(free, n)
		}
	}
	return free, total, nil
}

// MemGetAddressRange is the allocation that holds p.
func (t *Thread) MemGetAddressRange(p DevPtr) (base DevPtr, size uint64, err error) {
	c, err := t.context()
	if err != nil {
		return 0, 0, err
	}
	a := c.state.allocs.find(uint64(p))
	if a == nil || a.idle() {
		return 0, 0, errNotFound
	}
	return DevPtr(a.base), a.size, nil
}

// MemHostAlloc gives host memory that device code may use, and writes its address to pp.
func (t *Thread) MemHostAlloc(pp hostmem.Ptr, n uint64, flags uint32) error {
	c, err := t.context()
	if err != nil {
		return err
	}
	const known = cu.CU_MEMHOSTALLOC_PORTABLE | cu.CU_MEMHOSTALLOC_DEVICEMAP | cu.CU_MEMHOSTALLOC_WRITECOMBINED
	if pp == hostmem.Nil || flags&^known != 0 {
		return errInvalidValue
	}
	if n == 0 { // as the real driver: success, and no memory
		hostmem.Store(pp, uint64(0))
		return nil
	}
	if err := t.risky(c.state); err != nil {
		return err
	}
	a := &alloc{size: n, kind: allocHost, flags: flags | cu.CU_MEMHOSTALLOC_DEVICEMAP} // addresses are shared: all is mapped
	if h, ok := c.dev.dev.Memory().(backend.HostMemory); ok {
		addr, err := h.AllocHost(n)
		if err != nil {
			return c.fail(err)
		}
		a.base, a.pinned = uint64(addr), true
	} else if a.base, a.mapped, err = mapHost(n); err != nil {
		return err
	}
	if err := c.newAlloc(a); err != nil {
		return err
	}
	hostmem.Store(pp, a.base)
	return nil
}

// MemAllocHost is MemHostAlloc; such memory is always mapped for the device.
func (t *Thread) MemAllocHost(pp hostmem.Ptr, n uint64) error {
	return t.MemHostAlloc(pp, n, cu.CU_MEMHOSTALLOC_DEVICEMAP)
}

// MemFreeHost gives host memory back once the work of its context is done.
func (t *Thread) MemFreeHost(p hostmem.Ptr) error {
	return t.dropHost(p, allocHost, errInvalidValue)
}

func (t *Thread) dropHost(p hostmem.Ptr, kind allocKind, missing Result) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	if p == hostmem.Nil && kind == allocHost {
		return nil
	}
	a := s.allocs.find(uint64(p))
	if a == nil {
		return missing
	}
	if a.base != uint64(p) || a.kind != kind || a.pool != nil || a.graph != nil {
		return errInvalidValue
	}
	if err := t.risky(s); err != nil {
		return err
	}
	if err := a.ctx.sync(); err != nil {
		return err
	}
	if !s.allocs.take(a) {
		return missing
	}
	a.release()
	return nil
}

// MemHostRegister makes memory of the program known.
func (t *Thread) MemHostRegister(p hostmem.Ptr, n uint64, flags uint32) error {
	c, err := t.context()
	if err != nil {
		return err
	}
	const known = cu.CU_MEMHOSTREGISTER_PORTABLE | cu.CU_MEMHOSTREGISTER_DEVICEMAP | cu.CU_MEMHOSTREGISTER_IOMEMORY | cu.CU_MEMHOSTREGISTER_READ_ONLY
	if p == hostmem.Nil || n == 0 || flags&^known != 0 || uint64(p)+n < n {
		return errInvalidValue
	}
	if a := c.state.allocs.find(uint64(p)); a != nil && a.kind != allocRegistered || !hostmem.Mapped(p, n) {
		return errInvalidValue
	}
	a := &alloc{base: uint64(p), size: n, kind: allocRegistered, flags: flags | cu.CU_MEMHOSTREGISTER_DEVICEMAP, ctx: c, id: c.state.bufferN.Add(1)}
	if !c.state.allocs.add(a) {
		return errRegistered
	}
	if h, ok := c.dev.dev.Memory().(backend.HostMemory); ok {
		if err := h.RegisterHost(backend.Addr(p), n); err != nil {
			c.state.allocs.take(a)
			return c.fail(err)
		}
	}
	return nil
}

// MemHostUnregister takes what MemHostRegister took.
func (t *Thread) MemHostUnregister(p hostmem.Ptr) error {
	if p == hostmem.Nil {
		if _, err := t.enter(); err != nil {
			return err
		}
		return errInvalidValue
	}
	return t.dropHost(p, allocRegistered, errNotRegistered)
}

// hostRange is the host allocation that holds p.
func (t *Thread) hostRange(p hostmem.Ptr) (*alloc, error) {
	c, err := t.context()
	if err != nil {
		return nil, err
	}
	a := c.state.allocs.find(uint64(p))
	if a == nil || !a.host() {
		return nil, errInvalidValue
	}
	return a, nil
}

// MemHostGetDevicePointer is p itself: host and device share addresses.
func (t *Thread) MemHostGetDevicePointer(p hostmem.Ptr, flags uint32) (DevPtr, error) {
	if _, err := t.hostRange(p); err != nil {
		return 0, err
	}
	if flags != 0 {
		return 0, errInvalidValue
	}
	return DevPtr(p), nil
}

// MemHostGetFlags is the flags host memory was allocated or registered with.
func (t *Thread) MemHostGetFlags(p hostmem.Ptr) (uint32, error) {
	a, err := t.hostRange(p)
	if err != nil {
		return 0, err
	}
	return a.flags, nil
}
