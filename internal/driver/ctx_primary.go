package driver

import (
	"kudzu/internal/backend"
	"kudzu/internal/spec/cu"
)

// primaryContext is the device's primary context object, alive or not.
func (d *Device) primaryContext(s *state) (*Context, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.primaryLocked(s)
}

// Preconditions: d.mu is held.
func (d *Device) primaryLocked(s *state) (*Context, error) {
	if d.primary == nil {
		c, err := s.newContext(d, true)
		if err != nil {
			return nil, err
		}
		d.primary = c
	}
	return d.primary, nil
}

// PrimaryContext is the handle of a device's primary context without retaining it, as the runtime's private table asks.
func (t *Thread) PrimaryContext(dev cu.CUdevice) (cu.CUcontext, error) {
	d, err := t.device(dev)
	if err != nil {
		return 0, err
	}
	c, err := d.primaryContext(current.Load())
	if err != nil {
		return 0, err
	}
	return c.handle, nil
}

// DevicePrimaryCtxRetain makes the primary context alive and counts the user. It does not make it current.
func (t *Thread) DevicePrimaryCtxRetain(dev cu.CUdevice) (cu.CUcontext, error) {
	d, err := t.device(dev)
	if err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c, err := d.primaryLocked(current.Load())
	if err != nil {
		return 0, err
	}
	if !c.alive.Load() {
		if err := c.wake(d.flags); err != nil {
			return 0, err
		}
		c.state.changed()
	}
	d.refs++
	return c.handle, nil
}

// DevicePrimaryCtxRelease takes a user away; with the last the context ends.
func (t *Thread) DevicePrimaryCtxRelease(dev cu.CUdevice) error {
	d, err := t.device(dev)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refs == 0 {
		return errInvalidContext
	}
	d.refs--
	if d.refs == 0 && d.primary.alive.Load() {
		d.primary.put()
		d.flags = 0
		d.primary.state.changed()
	}
	return nil
}

// DevicePrimaryCtxReset ends the primary context whoever uses it. Retains stay counted, and a fault is forgotten.
func (t *Thread) DevicePrimaryCtxReset(dev cu.CUdevice) error {
	d, err := t.device(dev)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.primary != nil && d.primary.alive.Load() {
		d.primary.put()
	}
	d.flags = 0
	current.Load().changed()
	return nil
}

// DevicePrimaryCtxGetState tells flags and whether the context is alive.
func (t *Thread) DevicePrimaryCtxGetState(dev cu.CUdevice) (flags uint32, active int32, err error) {
	gen := generation()
	d, err := t.device(dev)
	if err != nil {
		return 0, 0, err
	}
	d.mu.Lock()
	flags, active = d.flags, int32(truth(d.primary != nil && d.primary.alive.Load()))
	d.mu.Unlock()
	t.answered(gen, backend.AskPrimary, uint64(dev), flags, uint32(active))
	return flags, active, nil
}

// DevicePrimaryCtxSetFlags sets the flags, of a living context too.
func (t *Thread) DevicePrimaryCtxSetFlags(dev cu.CUdevice, flags uint32) error {
	d, err := t.device(dev)
	if err != nil {
		return err
	}
	if err := checkFlags(flags); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flags = normalFlags(flags)
	if c := d.primary; c != nil && c.alive.Load() {
		c.mu.Lock()
		c.flags = d.flags
		c.mu.Unlock()
	}
	current.Load().changed()
	return nil
}
