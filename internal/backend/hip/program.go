package hip

import (
	"errors"
	"fmt"
	"sync"

	"kudzu/internal/backend"
	"kudzu/internal/image"
	"kudzu/internal/spec/hip"
)

// program is a loaded module: its variables in device memory, its kernels uncompiled until asked for.
type program struct {
	dev  *device
	m    *backend.Module
	vars *backend.Vars

	gate sync.RWMutex // held while a kernel's code is used, and to take it away

	mu       sync.Mutex
	kernels  map[string]*kernel // guarded by mu
	unloaded bool               // guarded by mu
}

const maxVarAlign = 4096 // what hipMalloc gives

// Load places the module's variables.
func (d *device) Load(m *backend.Module) (backend.Program, error) {
	vars, err := backend.LayVars(m.Vars, maxVarAlign, d.info.Memory)
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", m.Name, err)
	}
	p := &program{dev: d, m: m, vars: vars, kernels: map[string]*kernel{}}
	for i := range m.Kernels {
		p.kernels[m.Kernels[i].Name] = &kernel{p: p, decl: &m.Kernels[i]}
	}
	total := vars.Total()
	if total == 0 {
		return p, nil
	}
	base, err := d.Memory().Alloc(total, maxVarAlign)
	if err != nil {
		return nil, fmt.Errorf("module %s: %d bytes of variables: %w", m.Name, total, err)
	}
	vars.PlaceAt(base)
	b := make([]byte, total)
	if err = vars.Initialise(b, image.FuncID); err == nil {
		err = d.upload(base, b)
	}
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", m.Name, errors.Join(err, d.Memory().Free(base)))
	}
	return p, nil
}

// Kernel finds a kernel by name.
func (p *program) Kernel(name string) (backend.Kernel, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.kernels[name]
	if k == nil {
		return nil, fmt.Errorf("kernel %s: %w", name, backend.ErrNotFound)
	}
	return k, nil
}

// Var is where a variable lives.
func (p *program) Var(name string) (backend.Addr, uint64, error) { return p.vars.Var(name) }

// Unload frees code and variables. Work that uses them is done, or it and launches under way on other threads are a mistake of the
// program: then streams that have them are waited for, and later launches get ErrClosed.
func (p *program) Unload() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unloaded {
		return backend.ErrClosed
	}
	p.unloaded = true
	var codes []*code
	for _, k := range p.kernels {
		if c := k.retire(); c != nil {
			codes = append(codes, c)
		}
	}
	p.gate.Lock() // nobody who has seen one of them is still about to use it
	p.gate.Unlock()
	p.dev.queues.Range(func(q, _ any) bool {
		q.(*queue).forget(p)
		return true
	})
	var err error
	for _, c := range codes {
		err = errors.Join(err, c.dev.do(func() error { return c.dev.api.call(hip.HipModuleUnload, c.mod) }))
	}
	if base := p.vars.Base(); base != 0 {
		err = errors.Join(err, p.dev.Memory().Free(base))
	}
	return err
}
