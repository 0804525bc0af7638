package cpu

import (
	"fmt"
	"maps"
	"slices"

	"kudzu/internal/backend"
	"kudzu/internal/engine"
	"kudzu/internal/image"
	"kudzu/internal/lockrank"
)

// Program is a loaded module: its variables in device memory, its kernels uncompiled until asked for.
type Program struct {
	dev  *Device
	m    *backend.Module
	vars *backend.Vars

	gone chan struct{} // closed when it is unloaded: what waits to be compiled need not be

	mu        lockrank.Mutex[lockrank.CPUProgram]
	kernels   map[string]*Kernel // guarded by mu
	fallback  backend.Program    // guarded by mu: loaded when first needed
	functions []*Kernel          // guarded by mu: those that are compiled by themselves (lazy.go)
	// What device pointers to kernels are, once a kernel may launch others: made under mu, then read only. words is the same for the engine.
	byPointer map[uint64]*Kernel
	words     *engine.Words
	unloaded  bool // guarded by mu
}

const maxVarAlign = 1 << 20

// Load places the module's variables.
func (d *Device) Load(m *backend.Module) (backend.Program, error) {
	engine.AssertHandlers() // a program that loads modules has often just loaded libraries, and those install handlers
	vars, err := backend.LayVars(m.Vars, maxVarAlign, d.info.Memory)
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", m.Name, err)
	}
	if m.Pack != "" {
		d.b.report.line("pack\t%s", m.Pack)
	}
	p := &Program{gone: make(chan struct{}), dev: d, m: m, vars: vars, kernels: map[string]*Kernel{}}
	for i := range m.Kernels {
		p.kernels[m.Kernels[i].Name] = &Kernel{p: p, decl: &m.Kernels[i]}
	}
	total := vars.Total()
	if total == 0 {
		return p, nil
	}
	a, err := d.mem.Alloc(total, maxAlign(m.Vars))
	if err != nil {
		return nil, fmt.Errorf("module %s: %d bytes of variables: %w", m.Name, total, plain(err))
	}
	vars.PlaceAt(backend.Addr(a))
	b, err := d.mem.Bytes(a, total)
	if err == nil {
		clear(b)
		err = vars.Initialise(b, image.FuncID)
	}
	if err != nil {
		_ = d.mem.Free(a) // the first error is the one to report
		return nil, fmt.Errorf("module %s: %w", m.Name, err)
	}
	return p, nil
}

func maxAlign(vars []backend.VarDecl) uint64 {
	a := uint64(256)
	for i := range vars {
		a = max(a, vars[i].Align)
	}
	return a
}

// Kernel finds a kernel by name.
func (p *Program) Kernel(name string) (backend.Kernel, error) {
	p.mu.Lock()
	k := p.kernels[name]
	p.mu.Unlock()
	if k == nil {
		return nil, fmt.Errorf("kernel %s: %w", name, backend.ErrNotFound)
	}
	return k, nil
}

// Var is where a variable lives.
func (p *Program) Var(name string) (backend.Addr, uint64, error) { return p.vars.Var(name) }

// Unload frees code and variables. Work that uses them is done, or it and launches under way on other threads are a mistake of the
// program: then both stay until the queues are through with what they have, and later launches get ErrClosed.
func (p *Program) Unload() error {
	p.mu.Lock()
	if p.unloaded {
		p.mu.Unlock()
		return backend.ErrClosed
	}
	p.unloaded = true
	kernels := append(slices.Collect(maps.Values(p.kernels)), p.functions...)
	p.mu.Unlock()
	close(p.gone)
	var all []*variant
	var codes []*engine.Kernel
	for _, k := range kernels {
		k.aheadMu.Lock()
		k.gone.Store(true) // none begins after that
		k.aheadMu.Unlock()
		k.aheads.Wait() // of launches that a fault skipped
		for _, v := range k.retire() {
			all = append(all, v)
			if v.code != nil {
				codes = append(codes, v.code)
			}
		}
	}
	return plain(p.dev.e.Retire(codes, func() error { return p.free(all) }))
}

// free gives back what an unloaded program has.
func (p *Program) free(all []*variant) error {
	for _, v := range all {
		v.free()
	}
	p.mu.Lock()
	fallback, words := p.fallback, p.words
	p.mu.Unlock()
	if words != nil {
		words.Free()
	}
	var err error
	if fallback != nil {
		err = fallback.Unload()
	}
	if base := p.vars.Base(); base != 0 {
		if e := p.dev.mem.Free(uint64(base)); err == nil {
			err = plain(e)
		}
	}
	return err
}

// runner is the fallback's kernel of this name.
func (p *Program) runner(name string) (Runner, backend.Kernel, error) {
	fb := p.dev.b.cfg.Fallback
	if fb == nil {
		return nil, nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unloaded {
		return nil, nil, backend.ErrClosed
	}
	if p.fallback == nil {
		prog, err := fb.LoadWith(p.m, p.Var)
		if err != nil {
			return nil, nil, err
		}
		p.fallback = prog
	}
	k, err := p.fallback.Kernel(name)
	if err != nil {
		return nil, nil, err
	}
	r, ok := k.(Runner)
	if !ok {
		return nil, nil, fmt.Errorf("BUG: kernel %s: the fallback's kernels cannot run on a queue", name)
	}
	return r, k, nil
}
