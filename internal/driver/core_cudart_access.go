package driver

import "kudzu/internal/spec/cu"

// What the runtime API asks beside the driver's own functions.

// ContextState says how things stand with a thread's current context.
type ContextState uint8

// The states of a thread's current context.
const (
	NoDriver         ContextState = iota // cuInit has not succeeded
	NoContext                            // none is current
	ContextLive                          // ready for work, or failed with a sticky error
	PrimaryAsleep                        // a primary context that was reset or released
	ContextDestroyed                     // a created context that was destroyed
)

// ContextState tells the runtime whether it has to make a context current.
func (t *Thread) ContextState() ContextState {
	s, err := t.enter()
	if err != nil {
		return NoDriver
	}
	c, set := t.top(s)
	switch {
	case !set:
		return NoContext
	case c == nil:
		return ContextDestroyed
	case c.alive.Load():
		return ContextLive
	case c.primary:
		return PrimaryAsleep
	}
	return ContextDestroyed
}

// IsFunction reports whether a value is a living function.
func (t *Thread) IsFunction(h cu.CUfunction) bool {
	s, err := t.enter()
	return err == nil && s.functions.Get(handleValue(h)) != nil
}

// IsKernel reports whether a value is a living kernel, or a function.
func (t *Thread) IsKernel(h cu.CUfunction) bool {
	s, err := t.enter()
	return err == nil && (s.kernels.Get(handleValue(h)) != nil || t.IsFunction(h))
}

// PointerKind is whose memory an address is in.
type PointerKind uint8

// The kinds of memory.
const (
	PointerUnknown PointerKind = iota // of the program, or nobody's
	PointerHost
	PointerDevice
	PointerManaged
)

// PointerInfo is what the runtime tells about an address.
type PointerInfo struct {
	Kind   PointerKind
	Device int32
}

// PointerInfo tells about any address; unknown memory belongs to the invalid device.
func (t *Thread) PointerInfo(p DevPtr) (PointerInfo, error) {
	s, err := t.enter()
	if err != nil {
		return PointerInfo{}, err
	}
	a := s.allocs.find(uint64(p))
	if a == nil {
		return PointerInfo{Device: cu.CU_DEVICE_INVALID}, nil
	}
	info := PointerInfo{PointerDevice, a.device().ordinal}
	switch {
	case a.host():
		info.Kind = PointerHost
	case a.kind == allocManaged:
		info.Kind = PointerManaged
	}
	return info, nil
}

// DeviceName is a device's name.
func (t *Thread) DeviceName(dev cu.CUdevice) (string, error) {
	d, err := t.device(dev)
	if err != nil {
		return "", err
	}
	return d.info.Name, nil
}
