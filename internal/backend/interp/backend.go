package interp

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"kudzu/internal/backend"
	"kudzu/internal/config"
	"kudzu/internal/engine"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
)

// Config says how the backend presents itself. The zero value is one device like the cpu backend's.
type Config struct {
	Engine *engine.Engine // nil: the process's
	Info   backend.Info   // zero fields are filled in
	Out    io.Writer      // what kernels print; nil: stdout
	Err    io.Writer      // failed assertions; nil: stderr

	// Threads is how many blocks may run at the same time; 0: KUDZU_THREADS, or one where it is not set. Kernels whose result
	// depends on the order of blocks run one block after the other in any case.
	Threads int
}

// Interp is the backend.
type Interp struct{ cfg Config }

// New makes the backend; nothing happens before Open.
func New(cfg Config) *Interp { return &Interp{cfg} }

// Name is "interp".
func (*Interp) Name() string { return "interp" }

// maxDevices bounds KUDZU_DEVICES, as it does for the cpu backend.
const maxDevices = 64

// count is how many devices there are.
func count() (int, error) {
	s := config.Get(config.Devices)
	if s == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxDevices {
		return 0, fmt.Errorf(config.Devices+"=%s: must be a number from 1 to %d", s, maxDevices)
	}
	return n, nil
}

// Open makes the devices, each with memory of its own.
func (b *Interp) Open() ([]backend.Device, error) {
	e := b.cfg.Engine
	if e == nil {
		var err error
		if e, err = engine.Default(); err != nil {
			return nil, memoryError(err)
		}
	}
	n, err := count()
	if err != nil {
		return nil, err
	}
	bytes := b.cfg.Info.Memory
	if s := config.Get(config.Memory); s != "" && bytes == 0 {
		if bytes, err = backend.ParseBytes(s); err != nil {
			return nil, fmt.Errorf(config.Memory+"=%s: %w", s, err)
		}
	}
	claim := backend.Capability{Major: b.cfg.Info.Major, Minor: b.cfg.Info.Minor}
	if claim == (backend.Capability{}) {
		if claim, err = backend.ClaimedCapability(config.Get(config.Capability), backend.ProcessFiles()...); err != nil {
			return nil, err
		}
	}
	var all []backend.Device
	for i := range n {
		info := b.cfg.Info
		info.Memory = bytes
		describe(&info, claim)
		info.Timeout = e.Limit()
		info.UUID[15] += byte(i)
		if info.PCI == [3]int{} || i > 0 {
			info.PCI = [3]int{0, i + 1, 0}
		}
		m, err := engine.NewMemory(info.Memory)
		if err != nil {
			return nil, memoryError(err)
		}
		d := newDevice(&info, newMemory(m), b.cfg.Out, b.cfg.Err)
		d.engine = e
		d.workers = b.cfg.Threads
		if d.workers == 0 && config.Get(config.Threads) != "" {
			d.workers = e.Threads()
		}
		all = append(all, d)
	}
	return all, nil
}

// describe fills in what the configuration left open.
func describe(i *backend.Info, c backend.Capability) {
	set := func(v *int, n int) {
		if *v == 0 {
			*v = n
		}
	}
	if i.Name == "" {
		i.Name = "Kudzu interpreter"
	}
	if i.UUID == [16]byte{} {
		copy(i.UUID[:], "kudzu-interp-000")
	}
	if i.Memory == 0 {
		i.Memory = 4 << 30
	}
	i.HostVisible = true
	set(&i.Processors, 1)
	set(&i.ClockKHz, 1000000)
	set(&i.MemoryKHz, 1000000)
	set(&i.BusWidth, 64)
	set(&i.L2Bytes, 1<<20)
	i.Claim(c)
	i.Cooperative, i.Peers = true, true
}

// Device is the interpreter as a device, for backends that fall back on it.
type Device struct{ *device }

// NewDevice makes an interpreter over memory that another backend owns, to run what that backend cannot (LoadWith, RunNow).
func NewDevice(info *backend.Info, space Space, heap Heap, out, errs io.Writer) Device {
	return Device{newDevice(info, &borrowed{space, heap}, out, errs)}
}

// memoryMap is a device's memory: allocation, and the map of addresses.
type memoryMap interface {
	Space
	Alloc(n, align uint64) (backend.Addr, error)
	Free(backend.Addr) error
}

type borrowed struct {
	Space
	Heap
}

type device struct {
	info    *backend.Info
	mem     memoryMap
	engine  *engine.Engine
	workers int // blocks at a time
	out     io.Writer
	err     io.Writer
	mu      lockrank.Mutex[lockrank.InterpOutput] // of out and err
}

func newDevice(info *backend.Info, mem memoryMap, out, errs io.Writer) *device {
	if out == nil {
		out = logx.Stdout
	}
	if errs == nil {
		errs = logx.Stderr
	}
	return &device{info: info, mem: mem, out: out, err: errs}
}

func (d *device) environment(p *program) *environment {
	return &environment{space: d.mem, heap: d.mem, processors: max(1, d.info.Processors), consts: p.consts, mu: &d.mu, out: d.out, err: d.err}
}

func (d *device) Info() *backend.Info { return d.info }

// Memory is the device's memory; nil where another backend owns it.
func (d *device) Memory() backend.Memory {
	m, _ := d.mem.(backend.Memory)
	return m
}

// memory is the engine's, with the host memory that programs pinned or registered.
type memory struct {
	*engine.Memory
	mu   lockrank.RWMutex[lockrank.InterpHost]
	host map[uint64]hostRange // by address; guarded by mu
}

type hostRange struct {
	size   uint64
	mapped []byte // ours to unmap
}

func newMemory(m *engine.Memory) *memory { return &memory{Memory: m, host: map[uint64]hostRange{}} }

func (m *memory) Alloc(n, align uint64) (backend.Addr, error) {
	a, err := m.Memory.Alloc(n, align)
	return backend.Addr(a), memoryError(err)
}

func (m *memory) Free(a backend.Addr) error { return memoryError(m.Memory.Free(uint64(a))) }

func memoryError(err error) error {
	switch {
	case errors.Is(err, engine.ErrNoMemory):
		return backend.ErrNoMemory
	case errors.Is(err, engine.ErrInvalid):
		return backend.ErrNotFound
	}
	return err
}

// Find is Space: device memory, then host memory that was pinned or registered.
func (m *memory) Find(addr uint64) (base, size uint64, ok bool) {
	if base, size, ok = m.Lookup(addr); ok {
		return base, size, ok
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	for b, r := range m.host {
		if addr-b < r.size {
			return b, r.size, true
		}
	}
	return 0, 0, false
}
