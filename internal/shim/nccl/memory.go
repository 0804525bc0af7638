package nccl

import (
	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/ncclapi"
)

// window is memory that a program has registered. All memory serves as well without it.
type window struct {
	at, size uint64
	shared   bool // by ncclCommWindowRegister
}

// MemAlloc is device memory.
func (t *Thread) MemAlloc(n uint64) (hostmem.Ptr, error) {
	d := t.driver()
	if n == 0 {
		return hostmem.Nil, badArgument("ncclMemAlloc of no bytes")
	}
	if err := cudart.Ready(d); err != nil {
		return hostmem.Nil, err
	}
	p, err := d.MemAlloc(n)
	return hostmem.Ptr(p), err
}

// MemFree gives it back.
func (t *Thread) MemFree(p hostmem.Ptr) error {
	if p == hostmem.Nil {
		return nil
	}
	return t.driver().MemFree(driver.DevPtr(p))
}

// register notes memory, under a number.
func (t *Thread) register(h ncclapi.NcclComm_t, w window) (uint64, error) {
	c, err := find(h)
	if err != nil {
		return 0, err
	}
	if w.size == 0 || !t.driver().Holds(driver.DevPtr(w.at), w.size) {
		return 0, badArgument("%d bytes at %#x are not device memory", w.size, w.at)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	name := &c.nextBuffer
	if w.shared { // the same number on all ranks
		name = &c.nextWindow
	}
	*name += 2
	c.windows[*name] = w
	return *name, nil
}

func (t *Thread) deregister(h ncclapi.NcclComm_t, name uint64, shared bool) error {
	c, err := lookup(h)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if w, ok := c.windows[name]; !ok || w.shared != shared {
		return badArgument("memory was not registered as %#x", name)
	}
	delete(c.windows, name)
	return nil
}

// CommRegister notes memory for later calls, which do not need it.
func (t *Thread) CommRegister(h ncclapi.NcclComm_t, at hostmem.Ptr, n uint64) (hostmem.Ptr, error) {
	name, err := t.register(h, window{uint64(at), n, false})
	return hostmem.Ptr(name), err
}

// CommDeregister forgets it.
func (t *Thread) CommDeregister(h ncclapi.NcclComm_t, name hostmem.Ptr) error {
	return t.deregister(h, uint64(name), false)
}

// CommWindowRegister is CommRegister by all ranks, in the same order. The answer is for host calls only: kernels cannot use it.
func (t *Thread) CommWindowRegister(h ncclapi.NcclComm_t, at hostmem.Ptr, n uint64, flags int32) (ncclapi.NcclWindow_t, error) {
	name, err := t.register(h, window{uint64(at), n, true})
	if err != nil {
		return 0, err
	}
	c, err := find(h)
	if err != nil {
		return 0, err
	}
	// Who has it may write into it at once: all must know it by then.
	return ncclapi.NcclWindow_t(name), t.initialize(func() error {
		_, err := c.together([]byte{1})
		return err
	})
}

// CommWindowDeregister forgets it.
func (t *Thread) CommWindowDeregister(h ncclapi.NcclComm_t, w ncclapi.NcclWindow_t) error {
	return t.deregister(h, uint64(w), true)
}

// WinGetUserPtr is the memory of a window.
func (t *Thread) WinGetUserPtr(h ncclapi.NcclComm_t, w ncclapi.NcclWindow_t) (hostmem.Ptr, error) {
	c, err := lookup(h)
	if err != nil {
		return hostmem.Nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	x, ok := c.windows[uint64(w)]
	if !ok || !x.shared {
		return hostmem.Nil, badArgument("no such window")
	}
	return hostmem.Ptr(x.at), nil
}
