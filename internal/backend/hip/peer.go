package hip

import (
	"errors"
	"fmt"

	"kudzu/internal/backend"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/hip"
)

var (
	_ backend.Peers      = (*device)(nil)
	_ backend.StackLimit = (*device)(nil)

	_ backend.DomainLimits = (*device)(nil)
)

// peers are the devices whose memory a device was let reach. HIP keeps one answer a device, CUDA one a context: they are counted.
type peers struct {
	mu    lockrank.Mutex[lockrank.HIPPeers]
	count map[int]int // by ordinal; guarded by mu
}

// CanReach asks HIP: over the bus it depends on the machine.
func (d *device) CanReach(peer backend.Device) bool {
	p, ok := peer.(*device)
	if !ok || p.b != d.b || p == d {
		return false
	}
	can, err := d.api.getInt(hip.HipDeviceCanAccessPeer, uintptr(d.ordinal), uintptr(p.ordinal))
	return err == nil && can != 0
}

// Reach tells HIP, the first time and the last.
func (d *device) Reach(peer backend.Device, on bool) error {
	p, ok := peer.(*device)
	if !ok {
		return fmt.Errorf("peer %T: not of this backend", peer)
	}
	d.peers.mu.Lock()
	defer d.peers.mu.Unlock()
	n := d.peers.count[p.ordinal]
	if n == 0 && !on {
		return backend.ErrNotFound
	}
	var err error
	switch {
	case on && n == 0:
		err = d.do(func() error { return d.api.call(hip.HipDeviceEnablePeerAccess, uintptr(p.ordinal), 0) })
		var r Result
		if errors.As(err, &r) && r == hip.HipErrorPeerAccessAlreadyEnabled { // by the program itself, through HIP
			err = nil
		}
	case !on && n == 1:
		err = d.do(func() error { return d.api.call(hip.HipDeviceDisablePeerAccess, uintptr(p.ordinal)) })
	}
	if err != nil {
		return d.api.named(err)
	}
	if d.peers.count == nil {
		d.peers.count = map[int]int{}
	}
	if on {
		d.peers.count[p.ordinal]++
	} else {
		d.peers.count[p.ordinal]--
	}
	return nil
}

// Stacks. A kernel whose stack the compiler could not bound (recursion, calls through pointers) gets what HIP's limit says beside
// the bytes that its code object asks for.
const (
	leastStack = 16 << 10 // AMD's frames are larger than those CUDA's 1 KiB is meant for
	mostStack  = 128<<10 - 16
	stackUnit  = 1 << 10
)

// SetStack notes what a context asked for; a kernel that needs it makes it so.
func (d *device) SetStack(bytes uint64) {
	for {
		old := d.stack.Load()
		if bytes <= old || d.stack.CompareAndSwap(old, bytes) {
			return
		}
	}
}

// growStack raises HIP's limit for a kernel of unknown depth. Preconditions: the device is current.
func (d *device) growStack() error {
	if !d.api.has(hip.HipDeviceSetLimit) {
		return nil // ROCm 5 has one size for all
	}
	want := min((max(d.stack.Load(), leastStack)+stackUnit-1)/stackUnit*stackUnit, mostStack)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.limit == 0 {
		now, err := d.api.getPtr(hip.HipDeviceGetLimit, hip.HipLimitStackSize)
		if err != nil {
			return nil // a release that does not tell: what it has must do
		}
		d.limit = uint64(now)
	}
	if d.limit >= want {
		return nil
	}
	if err := d.api.call(hip.HipDeviceSetLimit, hip.HipLimitStackSize, uintptr(want)); err != nil {
		return d.api.named(err)
	}
	d.limit = want
	return nil
}
