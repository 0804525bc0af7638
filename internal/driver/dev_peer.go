package driver

import (
	"kudzu/internal/backend"
	"kudzu/internal/spec/cu"
)

// reach reports whether a kernel on one device can use the memory of another.
func reach(a, b *Device) bool { return a != b && Reach(a.dev, b.dev) }

// Reach is the same of two devices as their backends have them: they share the process's addresses, or a backend can bring them
// together.
func Reach(a, b backend.Device) bool {
	if p, ok := a.(backend.Peers); ok {
		return p.CanReach(b)
	}
	return a.Info().Peers && b.Info().Peers
}

// bring lets kernels of one device use the memory of another, or no longer, where the backend wants to be told.
func bring(a, b *Device, on bool) error {
	if p, ok := a.dev.(backend.Peers); ok {
		return plain(p.Reach(b.dev, on))
	}
	return nil
}

// DeviceCanAccessPeer: a device is no peer of itself.
func (t *Thread) DeviceCanAccessPeer(dev, peer cu.CUdevice) (int32, error) {
	a, err := t.device(dev)
	if err != nil {
		return 0, err
	}
	b, err := t.device(peer)
	if err != nil {
		return 0, err
	}
	return int32(truth(reach(a, b))), nil
}

// DeviceGetP2PAttribute tells how two devices reach each other.
func (t *Thread) DeviceGetP2PAttribute(attr cu.CUdevice_P2PAttribute, src, dst cu.CUdevice) (int32, error) {
	a, err := t.device(src)
	if err != nil {
		return 0, err
	}
	b, err := t.device(dst)
	if err != nil {
		return 0, err
	}
	if a == b {
		return 0, errInvalidDevice
	}
	switch attr {
	case cu.CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, cu.CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
		return int32(truth(reach(a, b))), nil
	case cu.CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, cu.CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
		return 0, nil
	}
	return 0, errInvalidValue
}

// CtxEnablePeerAccess lets kernels of the current context use memory of another device's context. On one memory they can anyway;
// the books are kept because programs rely on the answers.
func (t *Thread) CtxEnablePeerAccess(peer cu.CUcontext, flags uint32) error {
	c, err := t.context()
	if err != nil {
		return err
	}
	p, err := t.contextOf(peer)
	switch {
	case peer == 0 || err != nil:
		return errInvalidContext
	case flags != 0:
		return errInvalidValue
	case !reach(c.dev, p.dev):
		return errPeer
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.peers[p.handle] != nil {
		return Result(cu.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
	}
	if err := bring(c.dev, p.dev, true); err != nil {
		return err
	}
	if c.peers == nil {
		c.peers = map[cu.CUcontext]*Device{}
	}
	c.peers[p.handle] = p.dev
	return nil
}

// CtxDisablePeerAccess takes CtxEnablePeerAccess back.
func (t *Thread) CtxDisablePeerAccess(peer cu.CUcontext) error {
	c, err := t.context()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	dev := c.peers[peer]
	if dev == nil {
		return Result(cu.CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)
	}
	delete(c.peers, peer)
	return bring(c.dev, dev, false) // also where the other is gone: a backend counts
}
