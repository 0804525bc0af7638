// Package tap stands in front of a backend and hands every launch to a Taker: a comparison with another executor, or the maker of a
// dump. Everything else passes through.
//
// A Taker can stop the device: while it has it quiet, no other work runs or is put in, and memory can be read and put back. So it needs to
// know what memory there is, what textures there are, and the text of the kernel: that is here, once for all takers.
package tap

import (
	"fmt"
	"time"

	"lukechampine.com/blake3"

	"kudzu/internal/backend"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
)

// Taker gets the launches. It runs each with q.Direct, inside q.Put or q.Quiet.
type Taker interface {
	Launch(q *Queue, k *Kernel, l *backend.Launch) error
}

// Forgetter is a Taker that remembers kernels.
type Forgetter interface {
	// Forget tells of kernels that will not be launched again.
	Forget([]*Kernel)
}

// Backend is a backend whose launches are taken.
type Backend struct {
	backend.Backend
	taker Taker

	// quiet is held for writing while a taker has the device to itself, and for reading while work is put in.
	quiet lockrank.RWMutex[lockrank.TapQuiet]

	mu       lockrank.Mutex[lockrank.TapDevice]
	queues   map[*Queue]bool // guarded by mu: those that are open
	patience time.Duration   // guarded by quiet: for work that does not end
}

// New makes the backend. Nothing starts before Open.
func New(b backend.Backend, t Taker) *Backend {
	return &Backend{Backend: b, taker: t, queues: map[*Queue]bool{}, patience: patience}
}

// Inner is the backend behind it.
func (b *Backend) Inner() backend.Backend { return b.Backend }

// Open opens the devices.
func (b *Backend) Open() ([]backend.Device, error) {
	devs, err := b.Backend.Open()
	if err != nil {
		return nil, err
	}
	var all []backend.Device
	for _, d := range devs {
		own := &Device{Device: d, b: b, shown: map[uint64]backend.Texture{}}
		if m, ok := d.Memory().(memory); ok {
			if _, knows := m.(backend.HostMemory); !knows {
				own.mem = &hostMemory{memory: m}
			}
		}
		if own.mem == nil {
			if _, ok := d.Memory().(backend.Lister); !ok {
				return nil, fmt.Errorf("device %s: it does not tell its allocations, so its launches cannot be taken", d.Info().Name)
			}
		}
		all = append(all, own.shaped())
	}
	return all, nil
}

// Device is a device whose launches are taken.
type Device struct {
	backend.Device
	b   *Backend
	mem *hostMemory // of devices for which any memory of the process will do; nil: the device knows all

	copies copier
	shown  map[uint64]backend.Texture // guarded by b.mu: textures by handle
}

// Memory is the device's, which also knows what host memory kernels were promised.
func (d *Device) Memory() backend.Memory {
	if d.mem != nil {
		return d.mem
	}
	return d.Device.Memory()
}

// Inner is the device behind it.
func (d *Device) Inner() backend.Device { return d.Device }

// NewQueue makes a queue.
func (d *Device) NewQueue(priority int) (backend.Queue, error) {
	q, err := d.Device.NewQueue(priority)
	return d.wrap(q, err)
}

func (d *Device) wrap(q backend.Queue, err error) (backend.Queue, error) {
	if err != nil {
		return nil, err
	}
	own := &Queue{Queue: q, d: d}
	d.b.mu.Lock()
	d.b.queues[own] = true
	d.b.mu.Unlock()
	return own.shaped(), nil
}

// Load loads a module.
func (d *Device) Load(m *backend.Module) (backend.Program, error) {
	p, err := d.Device.Load(m)
	if err != nil {
		return nil, err
	}
	return &Program{Program: p, d: d, m: m, kernels: map[string]backend.Kernel{}}, nil
}

// Program is a loaded module.
type Program struct {
	backend.Program
	d *Device
	m *backend.Module

	mu      lockrank.Mutex[lockrank.TapProgram]
	ref     backend.Program           // guarded by mu: a taker's own, loaded when first needed
	kernels map[string]backend.Kernel // guarded by mu
}

// Device is where it is loaded.
func (p *Program) Device() *Device { return p.d }

// Module is what was loaded.
func (p *Program) Module() *backend.Module { return p.m }

// Kernel finds a kernel.
func (p *Program) Kernel(name string) (backend.Kernel, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.kernels[name]; k != nil {
		return k, nil
	}
	k, err := p.Program.Kernel(name)
	if err != nil {
		return nil, err
	}
	own := &Kernel{Kernel: k, p: p}
	for i := range p.m.Kernels {
		if p.m.Kernels[i].Name == name {
			own.Decl = &p.m.Kernels[i]
		}
	}
	p.kernels[name] = own.shaped()
	return p.kernels[name], nil
}

// Reference is a program of the taker's for the same module, made by load when it is first asked for; it goes when this one goes.
func (p *Program) Reference(load func() (backend.Program, error)) (backend.Program, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ref == nil {
		r, err := load()
		if err != nil {
			return nil, err
		}
		p.ref = r
	}
	return p.ref, nil
}

// Unload frees everything.
func (p *Program) Unload() error {
	p.mu.Lock()
	ref := p.ref
	p.ref = nil
	var kernels []*Kernel
	for _, k := range p.kernels {
		if own, ok := k.(interface{ itself() *Kernel }); ok {
			kernels = append(kernels, own.itself())
		}
	}
	p.mu.Unlock()
	if f, ok := p.d.b.taker.(Forgetter); ok {
		f.Forget(kernels)
	}
	if ref != nil {
		_ = ref.Unload() // its variables are the device's
	}
	return p.Program.Unload()
}

// Kernel is a kernel whose launches are taken.
type Kernel struct {
	backend.Kernel
	Decl *backend.KernelDecl // nil: the module's text does not tell
	p    *Program

	mu   lockrank.Mutex[lockrank.TapKernel]
	hash string // guarded by mu; set with text
	text string // guarded by mu
}

// Program is what the kernel is of.
func (k *Kernel) Program() *Program { return k.p }

// Text is the kernel and what it reaches as PTX, and a hash of that.
func (k *Kernel) Text() (text, hash string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.text == "" {
		text, _, err := k.p.m.Slice(k.Name())
		if err != nil {
			logx.Debugf("kernel %s: %v", k.Name(), err)
			text = k.p.m.Text
		}
		sum := blake3.Sum256([]byte(text))
		k.text, k.hash = text, fmt.Sprintf("%x", sum[:8])
	}
	return k.text, k.hash
}

// Start begins to compile it for a block shape. See backend.Starter.
func (k *Kernel) Start(block [3]uint32) error {
	if s, ok := k.Kernel.(backend.Starter); ok {
		return s.Start(block)
	}
	return k.Kernel.Prepare(block)
}
