package hip

import (
	"errors"
	"fmt"

	"kudzu/internal/backend"
	"kudzu/internal/image"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/hip"
)

// program is a loaded module: its variables in device memory, its kernels uncompiled until asked for.
type program struct {
	dev  *device
	m    *backend.Module
	vars variables

	gate lockrank.RWMutex[lockrank.HIPCode] // held while a kernel's code is used, and to take it away

	mu       lockrank.Mutex[lockrank.HIPProgram]
	kernels  map[string]*kernel // guarded by mu
	unloaded bool               // guarded by mu
}

const maxVarAlign = 4096 // what hipMalloc gives

// Load places the module's variables.
func (d *device) Load(m *backend.Module) (backend.Program, error) {
	p := &program{dev: d, m: m, kernels: map[string]*kernel{}}
	for i := range m.Kernels {
		p.kernels[m.Kernels[i].Name] = &kernel{p: p, decl: &m.Kernels[i]}
	}
	err := p.vars.lay(d, m.Vars)
	if err == nil {
		err = p.vars.fill(d)
	}
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", m.Name, errors.Join(err, p.vars.free(d)))
	}
	return p, nil
}

// variables are a module's: its own in device memory, and those that the host touches, too, in memory that both reach.
type variables struct {
	own, common *backend.Vars
}

// lay gives each a place.
func (v *variables) lay(d *device, decls []backend.VarDecl) error {
	var own, common []backend.VarDecl
	for _, decl := range decls {
		if decl.Managed && !decl.Extern {
			common = append(common, decl)
		} else {
			own = append(own, decl)
		}
	}
	var err error
	if v.own, err = backend.LayVars(own, maxVarAlign, d.info.Memory); err != nil {
		return err
	}
	if v.common, err = backend.LayVars(common, maxVarAlign, d.info.Memory); err != nil {
		return err
	}
	for i := range common {
		if _, twice := v.own.Find(common[i].Name); twice {
			return fmt.Errorf("variable %s: defined twice", common[i].Name)
		}
	}
	m := (*memory)(d)
	if n := v.own.Total(); n > 0 {
		a, err := m.Alloc(n, maxVarAlign)
		if err != nil {
			return fmt.Errorf("%d bytes of variables: %w", n, err)
		}
		v.own.PlaceAt(a)
	}
	if n := v.common.Total(); n > 0 {
		alloc := m.AllocHost
		if d.info.Managed {
			alloc = m.AllocManaged
		}
		a, err := alloc(n)
		if err != nil {
			return fmt.Errorf("%d bytes of managed variables: %w", n, err)
		}
		v.common.PlaceAt(a)
	}
	return nil
}

// fill writes what they begin as. One may hold the address of another.
func (v *variables) fill(d *device) error {
	symbol := func(name string) uint64 {
		if p, ok := v.Find(name); ok {
			return uint64(p.Addr)
		}
		return image.FuncID(name)
	}
	for _, s := range []*backend.Vars{v.own, v.common} {
		if s.Total() == 0 {
			continue
		}
		b := make([]byte, s.Total())
		if err := s.Initialise(b, symbol); err != nil {
			return err
		}
		if err := d.upload(s.Base(), b); err != nil {
			return err
		}
	}
	return nil
}

// free gives their memory back.
func (v *variables) free(d *device) (err error) {
	m := (*memory)(d)
	if v.own != nil && v.own.Base() != 0 {
		err = m.Free(v.own.Base())
	}
	if v.common == nil || v.common.Base() == 0 {
		return err
	}
	if d.info.Managed {
		return errors.Join(err, m.Free(v.common.Base()))
	}
	return errors.Join(err, m.FreeHost(v.common.Base()))
}

// Find is where the variable of this name lives.
func (v *variables) Find(name string) (backend.VarPlace, bool) {
	if p, ok := v.own.Find(name); ok {
		return p, true
	}
	return v.common.Find(name)
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
func (p *program) Var(name string) (backend.Addr, uint64, error) {
	if _, ok := p.vars.common.Find(name); ok {
		return p.vars.common.Var(name)
	}
	return p.vars.own.Var(name)
}

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
	// Nobody who has seen one of them is still about to use it.
	p.gate.Lock()
	//lint:ignore SA2001 waiting for the readers is all that is wanted
	p.gate.Unlock()
	p.dev.queues.Range(func(q, _ any) bool {
		q.(*queue).forget(p)
		return true
	})
	var err error
	for _, c := range codes {
		err = errors.Join(err, c.dev.do(func() error { return c.dev.api.call(hip.HipModuleUnload, c.mod) }))
	}
	return errors.Join(err, p.vars.free(p.dev))
}
