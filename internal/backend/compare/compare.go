// Package compare runs launches of a program twice from the same memory, on a reference (the interpreter) and on the device, and
// says where the two leave different memory.
//
// It stands in front of a backend whose memory the host can read. A launch that is chosen waits until all work is done. All memory
// that it may reach is copied, the reference runs, what it changed is kept and undone, and then the device runs as it would
// have. So a program gets the device's own results whatever the reference did, and a launch that the reference cannot run is only
// counted. The reference is slow, so not every launch is chosen: see Limits.
package compare

import (
	"fmt"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/lockrank"
)

// Reference makes the second executor over a device's memory. Space tells it what memory there is.
type Reference func(dev backend.Device, space *Space) Loader

// Loader takes modules whose variables the device has placed. The kernels of its programs are Runners.
type Loader interface {
	LoadWith(m *backend.Module, vars func(name string) (backend.Addr, uint64, error)) (backend.Program, error)
}

// Runner is a kernel that runs a launch on the calling goroutine for at most so long: backend.ErrTime if that is not enough.
type Runner interface {
	RunFor(l *backend.Launch, limit time.Duration) error
}

// Compiled is a kernel that tells whether a launch will run compiled code. Otherwise there is nothing to compare.
type Compiled interface {
	Compiled(l *backend.Launch) (bool, error)
}

// Config makes a backend that compares.
type Config struct {
	Device    backend.Backend
	Reference Reference
	Limits    Limits
	Report    string // file to which a line for each launch is added; "": none
	Dump      string // folder into which launches that differ are written; "": none
}

// Backend is the device's, with every launch that is chosen compared.
type Backend struct {
	backend.Backend
	cfg    Config
	report *report

	// quiet is held for writing while a launch is compared, and for reading while work is put in: nothing else runs meanwhile.
	quiet lockrank.RWMutex[lockrank.CompareQuiet]

	mu     lockrank.Mutex[lockrank.CompareDevice]
	queues map[*queue]bool // guarded by mu: those that are open
	before []byte          // guarded by quiet: where memory is copied to
}

// New makes the backend. Nothing starts before Open.
func New(cfg Config) *Backend {
	return &Backend{Backend: cfg.Device, cfg: cfg, report: newReport(cfg.Report), queues: map[*queue]bool{}}
}

// memory is what the comparison asks of a device's memory.
type memory interface {
	backend.Memory
	backend.Finder
	backend.Lister
	backend.Virtual
	backend.Sharer
	Range() (base, size uint64)
}

// whole is what the drivers of CPUs offer, and what must stay visible through the wrapping.
type whole interface {
	backend.Device
	backend.Domains
	backend.DomainLimits
	backend.StackLimit
	backend.Textures
}

// Open opens the devices.
func (b *Backend) Open() ([]backend.Device, error) {
	devs, err := b.Backend.Open()
	if err != nil {
		return nil, err
	}
	var all []backend.Device
	for _, d := range devs {
		w, ok := d.(whole)
		if !ok {
			return nil, fmt.Errorf("device %s: its launches cannot be compared", d.Info().Name)
		}
		m, ok := d.Memory().(memory)
		if !ok {
			return nil, fmt.Errorf("device %s: its memory cannot be compared", d.Info().Name)
		}
		own := &device{whole: w, b: b, mem: &hostMemory{memory: m}}
		own.space = &Space{mem: own.mem}
		own.ref = b.cfg.Reference(d, own.space)
		all = append(all, own)
	}
	return all, nil
}

type device struct {
	whole
	b     *Backend
	mem   *hostMemory
	space *Space
	ref   Loader
}

// Memory is the device's, which also knows what host memory kernels were promised.
func (d *device) Memory() backend.Memory { return d.mem }

func (d *device) NewQueue(priority int) (backend.Queue, error) {
	q, err := d.whole.NewQueue(priority)
	return d.b.wrap(d, q, err)
}

func (d *device) NewQueueIn(domain uint64, priority int) (backend.Queue, error) {
	q, err := d.whole.NewQueueIn(domain, priority)
	return d.b.wrap(d, q, err)
}

func (b *Backend) wrap(d *device, q backend.Queue, err error) (backend.Queue, error) {
	if err != nil {
		return nil, err
	}
	c, ok := q.(callbacks)
	if !ok {
		return nil, fmt.Errorf("device %s: its queues cannot be compared", d.Info().Name)
	}
	own := &queue{callbacks: c, d: d}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queues[own] = true
	return own, nil
}

func (d *device) Load(m *backend.Module) (backend.Program, error) {
	p, err := d.whole.Load(m)
	if err != nil {
		return nil, err
	}
	return &program{Program: p, d: d, m: m, kernels: map[string]*kernel{}}, nil
}

type program struct {
	backend.Program
	d *device
	m *backend.Module

	mu      lockrank.Mutex[lockrank.CompareProgram]
	ref     backend.Program    // guarded by mu: loaded when first needed
	kernels map[string]*kernel // guarded by mu
}

func (p *program) Kernel(name string) (backend.Kernel, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.kernels[name]; k != nil {
		return k, nil
	}
	k, err := p.Program.Kernel(name)
	if err != nil {
		return nil, err
	}
	s, ok := k.(started)
	if !ok {
		return nil, fmt.Errorf("kernel %s: it cannot be compared", name)
	}
	own := &kernel{started: s, p: p, use: map[[3]uint32]use{}}
	for i := range p.m.Kernels {
		if p.m.Kernels[i].Name == name {
			own.decl = &p.m.Kernels[i]
		}
	}
	p.kernels[name] = own
	return own, nil
}

// runner is the reference's kernel.
func (p *program) runner(name string) (backend.Kernel, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ref == nil {
		r, err := p.d.ref.LoadWith(p.m, p.Var)
		if err != nil {
			return nil, err
		}
		p.ref = r
	}
	return p.ref.Kernel(name)
}

func (p *program) Unload() error {
	p.mu.Lock()
	ref := p.ref
	p.ref = nil
	p.mu.Unlock()
	if ref != nil {
		_ = ref.Unload() // its variables are the device's
	}
	return p.Program.Unload()
}

type started interface {
	backend.Kernel
	backend.Starter
	Compiled
}

type kernel struct {
	started
	p    *program
	decl *backend.KernelDecl

	mu    lockrank.Mutex[lockrank.CompareKernel]
	use   map[[3]uint32]use // guarded by mu: by block shape
	large bool              // guarded by mu: a launch was too large, and that was said
	hash  string            // of its text; set with text
	text  string            // guarded by mu
}
