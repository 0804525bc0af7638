// Package cpu is the backend that runs compiled kernels on threads of this process.
//
// It puts three rooms together: compile turns a kernel's PTX into an image, image maps it, engine runs it. What is here
// is policy: what the device says of itself, where module variables live, which variant of a kernel a launch takes, and
// what happens to a kernel that cannot be compiled: it runs on the fallback (the interpreter), in the same memory and
// with the same variables, and that is said once and counted.
package cpu

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/compile"
	"kudzu/internal/config"
	"kudzu/internal/engine"
	"kudzu/internal/image"
	"kudzu/internal/logx"
	"kudzu/internal/quota"
)

// A kernel finds the engine's runtime entry points by the image's numbers.
var _ [engine.NumRt]struct{} = [image.NumRt]struct{}{}

// Compiler makes images; compile.Client is one.
type Compiler interface {
	Compile(*compile.Request) (*compile.Result, error)
}

// Teller is a Compiler that also tells about kernels without compiling them; compile.Client is one.
type Teller interface {
	Facts(*compile.Request) (*compile.Facts, error)
}

// Fallback runs kernels that cannot be compiled. The kernels of its programs are Runners.
type Fallback interface {
	// LoadWith takes a module whose variables already have places: vars tells them.
	LoadWith(m *backend.Module, vars func(name string) (backend.Addr, uint64, error)) (backend.Program, error)
}

// Runner is a kernel that runs a launch on the calling goroutine and returns when it is over: nil, or the *backend.Fault
// that ended it. Prepare has been called for the launch's block shape.
type Runner interface {
	Run(l *backend.Launch) error
}

// Config makes a backend. The zero value reads everything from the environment and compiles nothing.
type Config struct {
	Engine   *engine.Engine // nil: the process's
	Compiler Compiler       // nil: every kernel goes to the fallback
	Fallback Fallback       // nil: a kernel that cannot be compiled cannot be launched
	Devices  int            // 0: KUDZU_DEVICES, or 1
	Memory   uint64         // bytes of each device; 0: KUDZU_MEMORY, or a share of 80 % of what the process may use
	System   quota.System   // which is asked for that; the zero value is the machine
	Env      func(string) string
	Order    backend.Order // of blocks
}

// Backend finds the devices.
type Backend struct {
	cfg      Config
	stats    stats
	report   *report        // nil: nobody asked
	exactNaN bool           // see compile.Options
	policy   compile.Policy // which tiers kernels go through
	promoter promoter
	debug    *debug        // nil: nobody asked
	aheads   chan struct{} // a token for each compilation in the background
	turns    chan struct{} // and for each of those that the compiler has
}

type stats struct {
	compiled, cached, fallbacks, runs atomic.Uint64
}

// Stats counts what happened to kernels.
type Stats struct {
	Compiled  uint64 // variants compiled
	Cached    uint64 // variants found in the cache
	Fallbacks uint64 // kernels that went to the fallback
	Runs      uint64 // launches there
}

// New makes the backend. Nothing starts before Open.
func New(cfg Config) *Backend {
	if cfg.Env == nil {
		cfg.Env = config.Get
	}
	if cfg.System == (quota.System{}) {
		cfg.System = quota.Own
	}
	b := &Backend{cfg: cfg, exactNaN: cfg.Env(config.NaN) == "exact", aheads: make(chan struct{}, aheadMax), turns: make(chan struct{}, turns())}
	var err error
	if b.policy, err = compile.PolicyOf(cfg.Env(config.Tier)); err != nil {
		logx.Warnf("%v", err)
	}
	b.promoter.turns = turns()
	return b
}

// Name is "cpu".
func (b *Backend) Name() string { return "cpu" }

// Stats reads the counts.
func (b *Backend) Stats() Stats {
	return Stats{b.stats.compiled.Load(), b.stats.cached.Load(), b.stats.fallbacks.Load(), b.stats.runs.Load()}
}

// Open starts the engine and describes the devices.
func (b *Backend) Open() ([]backend.Device, error) {
	e := b.cfg.Engine
	if e == nil {
		var err error
		if e, err = engine.Default(); err != nil {
			return nil, plain(err)
		}
	}
	switch o := b.cfg.Order; {
	case o.Reverse:
		e.SetOrder(engine.Reverse, 0)
	case o.Random:
		e.SetOrder(engine.Random, o.Seed)
	}
	if b.report == nil {
		b.report = openReport(b.cfg.Env(config.Stats))
	}
	if b.debug == nil {
		b.debug = newDebug(b.cfg.Env)
	}
	infos, err := b.infos(e.Threads(), e.Limit())
	if err != nil {
		return nil, err
	}
	var all []backend.Device
	for i, info := range infos {
		m, err := engine.NewMemory(info.Memory)
		if err != nil {
			return nil, plain(err)
		}
		heap, err := e.NewDomain(m)
		if err != nil {
			return nil, plain(err)
		}
		all = append(all, &Device{b: b, e: e, mem: m, heap: heap, info: info, index: i, domains: map[uint64]*domain{}})
	}
	return all, nil
}

// Infos describes the devices as Open would, without starting anything.
func (b *Backend) Infos() ([]backend.Info, error) {
	threads, err := engine.DefaultThreads()
	if err != nil {
		return nil, err
	}
	limit, err := engine.DefaultLimit()
	if err != nil {
		return nil, err
	}
	return b.infos(threads, limit)
}

// infos describes the devices that the environment asks for.
func (b *Backend) infos(threads int, limit time.Duration) ([]backend.Info, error) {
	n, err := b.devices()
	if err != nil {
		return nil, err
	}
	bytes, err := b.memory(n)
	if err != nil {
		return nil, err
	}
	capability, err := backend.ClaimedCapability(b.cfg.Env(config.Capability), backend.ProcessFiles()...)
	if err != nil {
		return nil, err
	}
	var all []backend.Info
	for i := range n {
		info := describe(i, bytes, capability, threads)
		info.Timeout = limit
		all = append(all, info)
	}
	return all, nil
}

const maxDevices = 64

func (b *Backend) devices() (int, error) {
	if b.cfg.Devices > 0 {
		return b.cfg.Devices, nil
	}
	s := b.cfg.Env(config.Devices)
	if s == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxDevices {
		return 0, fmt.Errorf(config.Devices+"=%s: must be a number from 1 to %d", s, maxDevices)
	}
	return n, nil
}

func (b *Backend) memory(devices int) (uint64, error) {
	if b.cfg.Memory > 0 {
		return b.cfg.Memory, nil
	}
	if s := b.cfg.Env(config.Memory); s != "" {
		n, err := backend.ParseBytes(s)
		if err != nil {
			return 0, fmt.Errorf(config.Memory+"=%s: %w", s, err)
		}
		return n, nil
	}
	n := b.cfg.System.Memory()
	if n == 0 {
		n = 1 << 30
	}
	return n / 5 * 4 / uint64(devices), nil
}
