package tap

import (
	"kudzu/internal/backend"
)

// What a backend offers beyond the plain interfaces must stay visible through the wrapping, and what it does not offer must not appear.
// So there is a type for each set of abilities that some backend has. Ways around a launch's taker, as FastPath, are in none.

// noted are the textures of a device, of which a list is kept.
type noted struct {
	backend.Textures
	of *Device
}

// NewTexture makes an object.
func (n noted) NewTexture(t *backend.Texture) (uint64, error) {
	h, err := n.Textures.NewTexture(t)
	if err == nil {
		n.of.note(h, t)
	}
	return h, err
}

// SetTexture changes what a handle shows.
func (n noted) SetTexture(h uint64, t *backend.Texture) error {
	err := n.Textures.SetTexture(h, t)
	if err == nil {
		n.of.note(h, t)
	}
	return err
}

// FreeTexture ends an object.
func (n noted) FreeTexture(h uint64) error {
	n.of.b.mu.Lock()
	delete(n.of.shown, h)
	n.of.b.mu.Unlock()
	return n.Textures.FreeTexture(h)
}

func (d *Device) note(h uint64, t *backend.Texture) {
	x := *t
	x.Handle = h
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	d.shown[h] = x
}

// domains makes queues of a domain.
type domains struct {
	backend.Domains
	d *Device
}

// NewQueueIn makes a queue of a domain.
func (x domains) NewQueueIn(domain uint64, priority int) (backend.Queue, error) {
	q, err := x.Domains.NewQueueIn(domain, priority)
	return x.d.wrap(q, err)
}

// reaching lets devices use each other's memory; they are wrapped themselves.
type reaching struct{ backend.Peers }

// CanReach says whether the device can.
func (r reaching) CanReach(peer backend.Device) bool {
	return r.Peers.CanReach(backend.Innermost(peer))
}

// Reach lets it, or no longer.
func (r reaching) Reach(peer backend.Device, on bool) error {
	return r.Peers.Reach(backend.Innermost(peer), on)
}

// cpuDevice is what CPUs offer.
type cpuDevice struct {
	*Device
	domains
	backend.DomainLimits
	backend.StackLimit
	noted
}

// sampling is what the interpreter and NVIDIA's driver offer.
type sampling struct {
	*Device
	noted
}

// amdDevice is what AMD's GPUs offer.
type amdDevice struct {
	*Device
	noted
	backend.DomainLimits
	backend.StackLimit
	reaching
	backend.Monitor
}

// shaped is the device with the abilities that the one behind it has.
func (d *Device) shaped() backend.Device {
	textures, samples := d.Device.(backend.Textures)
	n := noted{textures, d}
	limits, limited := d.Device.(backend.DomainLimits)
	stack, stacked := d.Device.(backend.StackLimit)
	in, domained := d.Device.(backend.Domains)
	peers, reaches := d.Device.(backend.Peers)
	monitor, senses := d.Device.(backend.Monitor)
	switch {
	case samples && limited && stacked && domained:
		return cpuDevice{d, domains{in, d}, limits, stack, n}
	case samples && limited && stacked && reaches && senses:
		return amdDevice{d, n, limits, stack, reaching{peers}, monitor}
	case samples:
		return sampling{d, n}
	}
	return d
}

// calling is a queue with host functions that are called in any case.
type calling struct {
	*Queue
	to backend.Callbacks
}

// Callback is Host, but fn is called also after a fault.
func (q calling) Callback(fn func(error)) error {
	return q.Put(func() error { return q.to.Callback(fn) })
}

// lent is a queue of AMD's.
type lent struct {
	calling
	abroad   backend.Abroad
	prefetch backend.Prefetcher
}

// Abroad lends the stream to a library of the vendor's.
func (q lent) Abroad(what string, fn func(backend.Where) error) error {
	return q.Put(func() error { return q.abroad.Abroad(what, fn) })
}

// Prefetch moves managed memory.
func (q lent) Prefetch(a backend.Addr, n uint64, to backend.Device) error {
	return q.Put(func() error { return q.prefetch.Prefetch(a, n, backend.Innermost(to)) })
}

// shaped is the queue with the abilities that the one behind it has.
func (q *Queue) shaped() backend.Queue {
	calls, ok := q.Queue.(backend.Callbacks)
	if !ok {
		return q
	}
	c := calling{q, calls}
	lends, is := q.Queue.(backend.Abroad)
	moves, too := q.Queue.(backend.Prefetcher)
	if is && too {
		return lent{c, lends, moves}
	}
	return c
}

// resident is a kernel whose device tells how many blocks fit.
type resident struct {
	*Kernel
	backend.Resident
}

func (k *Kernel) shaped() backend.Kernel {
	if r, ok := k.Kernel.(backend.Resident); ok {
		return resident{k, r}
	}
	return k
}

func (k *Kernel) itself() *Kernel { return k }
