package cpu

import (
	"errors"
	"fmt"
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/config"
	"kudzu/internal/engine"
	"kudzu/internal/image"
	"kudzu/internal/lockrank"
)

// Device is one device: a share of memory over the engine's workers, which all devices have in common.
type Device struct {
	b    *Backend
	e    *engine.Engine
	mem  *engine.Memory
	heap *engine.Domain // whose device heap all queues share that name no domain
	info backend.Info

	index int           // among the devices
	stack atomic.Uint32 // bytes a thread that SetStack asked for, 0 if it is no more than kernels have anyway

	mu      lockrank.Mutex[lockrank.CPUDevice]
	domains map[uint64]*domain // guarded by mu: those that NewQueueIn named
}

// domain is an engine domain and the fault that ended it, in the driver's words.
type domain struct {
	*engine.Domain
	dev   *Device
	id    uint64
	named bool
	users int // guarded by dev.mu
	fault atomic.Pointer[backend.Fault]
}

// Info describes the device.
func (d *Device) Info() *backend.Info { return &d.info }

// Memory is the device's memory.
func (d *Device) Memory() backend.Memory { return memory{d.mem, d} }

// Engine is what runs the device's work.
func (d *Device) Engine() *engine.Engine { return d.e }

// NewQueue makes a queue that a fault elsewhere does not end.
func (d *Device) NewQueue(priority int) (backend.Queue, error) {
	ed, err := d.heap.NewSibling()
	if err != nil {
		return nil, plain(err)
	}
	return d.queue(&domain{Domain: ed, dev: d, users: 1}, priority)
}

// NewQueueIn makes a queue of a domain: a fault in one of its queues ends all of them. See backend.Domains.
func (d *Device) NewQueueIn(id uint64, priority int) (backend.Queue, error) {
	d.mu.Lock()
	dom := d.domains[id]
	if dom == nil {
		ed, err := d.e.NewDomain(d.mem)
		if err != nil {
			d.mu.Unlock()
			return nil, plain(err)
		}
		dom = &domain{Domain: ed, dev: d, id: id, named: true}
		d.domains[id] = dom
	}
	dom.users++
	d.mu.Unlock()
	return d.queue(dom, priority)
}

func (d *Device) queue(dom *domain, priority int) (backend.Queue, error) {
	q, err := dom.NewQueue(priority)
	if err != nil {
		dom.release()
		return nil, plain(err)
	}
	return &Queue{q: q, d: dom}, nil
}

func (dom *domain) release() {
	dom.dev.mu.Lock()
	dom.users--
	last := dom.users == 0
	if last && dom.named {
		delete(dom.dev.domains, dom.id)
	}
	dom.dev.mu.Unlock()
	if last {
		dom.Close()
	}
}

// SetStack gives threads that much stack where the compiler cannot tell how much they need. Kernels that have less are compiled
// again at their next launch.
func (d *Device) SetStack(bytes uint64) {
	n := uint32(min(bytes, maxStack))
	for n > usualStack {
		old := d.stack.Load()
		if n <= old {
			return
		}
		if d.stack.CompareAndSwap(old, n) {
			engine.Changed()
			return
		}
	}
}

// SetLimits sets a domain's printf FIFO and device heap; 0 leaves one as it is. The domain must have a queue.
func (d *Device) SetLimits(id, fifo, heap uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dom := d.domains[id]
	if dom == nil {
		return backend.ErrNotFound
	}
	dom.SetLimits(fifo, heap)
	return nil
}

// memory is backend.Memory on the engine's.
type memory struct {
	m *engine.Memory
	d *Device
}

// Alloc gives device memory.
func (m memory) Alloc(n, align uint64) (backend.Addr, error) {
	a, err := m.m.Alloc(n, align)
	m.d.tell()
	return backend.Addr(a), plain(err)
}

// Free takes it back.
func (m memory) Free(a backend.Addr) error {
	defer m.d.tell()
	return plain(m.m.Free(uint64(a)))
}

// Usage is bytes free and total.
func (m memory) Usage() (free, total uint64) { return m.m.Usage() }

// Available is what the system can still give, less a sixteenth that is the program's own. Where somebody said how much memory the device
// has, all of that counts.
func (m memory) Available() uint64 {
	if b := m.d.b; b.cfg.Memory == 0 && b.cfg.Env(config.Memory) == "" {
		return b.cfg.System.Available() / 16 * 15
	}
	return 0
}

// Lookup finds the allocation that holds a, for any value of a.
func (m memory) Lookup(a backend.Addr) (base backend.Addr, size uint64, ok bool) {
	b, n, ok := m.m.Lookup(uint64(a))
	return backend.Addr(b), n, ok
}

// Range is where all device memory of the process lies.
func (m memory) Range() (base, size uint64) { return m.m.Range() }

// Allocations lists all device memory of the process that is in use.
func (m memory) Allocations() [][2]uint64 { return m.m.Allocations() }

// plain turns the engine's answers into the backend's.
func plain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, engine.ErrNoMemory):
		return backend.ErrNoMemory
	case errors.Is(err, engine.ErrInvalid):
		return backend.ErrNotFound
	case errors.Is(err, engine.ErrClosed):
		return backend.ErrClosed
	}
	return err
}

// fail turns an error of the domain's queues and fences into the driver's words: the same *backend.Fault every time.
func (dom *domain) fail(err error) error {
	if err == nil {
		return nil
	}
	var f *engine.Fault
	if !errors.As(err, &f) {
		return plain(err)
	}
	if old := dom.fault.Load(); old != nil {
		return old
	}
	b := translate(f)
	if b.Kind == backend.FaultTimeout {
		b.Detail = engine.TooLong(dom.dev.e.Limit())
	}
	dom.fault.CompareAndSwap(nil, b)
	return dom.fault.Load()
}

var stopKinds = map[uint32]backend.FaultKind{
	image.StopTrap: backend.FaultTrap, image.StopAssert: backend.FaultAssert, image.StopDeadlock: backend.FaultDeadlock,
	image.StopMisalign: backend.FaultMisaligned, image.StopStack: backend.FaultStack, image.StopCall: backend.FaultAddress, image.StopTexture: backend.FaultAddress, image.StopIllegal: backend.FaultInstruction, image.StopOutside: backend.FaultAddress,
}

var faultKinds = map[engine.FaultKind]backend.FaultKind{
	engine.FaultAddress: backend.FaultAddress, engine.FaultMisaligned: backend.FaultMisaligned, engine.FaultInstruction: backend.FaultInstruction,
	engine.FaultStack: backend.FaultStack, engine.FaultMemory: backend.FaultStack, engine.FaultCopy: backend.FaultAddress,
	engine.FaultTimeout: backend.FaultTimeout,
}

func translate(f *engine.Fault) *backend.Fault {
	out := &backend.Fault{Kind: faultKinds[f.Kind], Addr: backend.Addr(f.Addr), Detail: f.Text}
	if f.Kind == engine.FaultStop {
		out.Kind = stopKinds[f.Stop]
		if out.Kind == 0 {
			out.Kind, out.Detail = backend.FaultTrap, fmt.Sprintf("stop code %d", f.Stop)
		}
	}
	switch {
	case f.Kind == engine.FaultMemory:
		out.Detail = "no memory for the kernel's frame and local variables"
	case f.Kind == engine.FaultCopy:
		out.Kernel = backend.CopyKernel
		return out
	case f.Kind == engine.FaultAddress && f.Addr == 0 && f.Signal != 0:
		out.Detail = "null, or an address no process has" // the processor does not tell those apart
	}
	if f.Grid[0] > 0 && f.Grid[1] > 0 {
		out.Block = unravel(f.Block, f.Grid)
	}
	if f.Shape[0] > 0 && f.Shape[1] > 0 {
		out.Thread, out.Warp = unravel(uint64(f.Warp)*32+firstLane(f.Lanes), f.Shape), f.Lanes == 0 && f.Shape != [3]uint32{1, 1, 1}
	}
	if v := variants.get(f.Cookie); v != nil {
		out.Kernel = v.kernel.decl.Name
		out.Line = v.line(f)
	}
	return out
}

func unravel(i uint64, n [3]uint32) [3]uint32 {
	x, y := uint64(n[0]), uint64(n[1])
	return [3]uint32{uint32(i % x), uint32(i / x % y), uint32(i / x / y)}
}

func firstLane(lanes uint32) uint64 {
	for i := range uint64(32) {
		if lanes>>i&1 != 0 {
			return i
		}
	}
	return 0
}
