package cpu

import (
	"fmt"
	"sync"

	"kudzu/internal/backend"
	"kudzu/internal/engine"
	"kudzu/internal/image"
)

// Program is a loaded module: its variables in device memory, its kernels uncompiled until asked for.
type Program struct {
	dev  *Device
	m    *backend.Module
	vars map[string]place

	block backend.Addr // the one allocation that holds the variables, 0 if there are none

	mu       sync.Mutex
	kernels  map[string]*Kernel // guarded by mu
	fallback backend.Program    // guarded by mu: loaded when first needed
	unloaded bool               // guarded by mu
}

// place is where a variable lives.
type place struct {
	addr  backend.Addr
	size  uint64
	konst bool
}

const maxVarAlign = 1 << 20

// Load places the module's variables.
func (d *Device) Load(m *backend.Module) (backend.Program, error) {
	engine.AssertHandlers() // a program that loads modules has often just loaded libraries, and those install handlers
	p := &Program{dev: d, m: m, vars: map[string]place{}, kernels: map[string]*Kernel{}}
	for i := range m.Kernels {
		p.kernels[m.Kernels[i].Name] = &Kernel{p: p, decl: &m.Kernels[i]}
	}
	total, err := p.layout()
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", m.Name, err)
	}
	if total == 0 {
		return p, nil
	}
	a, err := d.mem.Alloc(total, maxAlign(m.Vars))
	if err != nil {
		return nil, fmt.Errorf("module %s: %d bytes of variables: %w", m.Name, total, plain(err))
	}
	p.block = backend.Addr(a)
	for name, v := range p.vars {
		v.addr += p.block
		p.vars[name] = v
	}
	b, err := d.mem.Bytes(a, total)
	if err == nil {
		clear(b)
		err = p.initialise(b)
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

// layout gives every variable an offset. Externs that no one defines have no place: kernels that name one do not load.
func (p *Program) layout() (total uint64, err error) {
	for i := range p.m.Vars {
		v := &p.m.Vars[i]
		if v.Extern {
			continue
		}
		align := max(v.Align, 16) // room for the widest access, whatever the declaration says
		if v.Align&(v.Align-1) != 0 || align > maxVarAlign {
			return 0, fmt.Errorf("variable %s: alignment %d", v.Name, v.Align)
		}
		if uint64(len(v.Init)) > v.Size || v.Size > 1<<46 {
			return 0, fmt.Errorf("variable %s: %d bytes initialised of %d", v.Name, len(v.Init), v.Size)
		}
		if _, twice := p.vars[v.Name]; twice {
			return 0, fmt.Errorf("variable %s: defined twice", v.Name)
		}
		total = (total + align - 1) &^ (align - 1)
		p.vars[v.Name] = place{backend.Addr(total), v.Size, v.Const}
		total += max(v.Size, 1)
	}
	return total, nil
}

// initialise writes the initialisers; b is the variables' memory.
func (p *Program) initialise(b []byte) error {
	for i := range p.m.Vars {
		v := &p.m.Vars[i]
		if v.Extern {
			continue
		}
		if err := v.Initialise(b[p.vars[v.Name].addr-p.block:][:v.Size], p.where); err != nil {
			return err
		}
	}
	return nil
}

// where is the address of a variable, or the id of a function.
func (p *Program) where(symbol string) uint64 {
	if v, ok := p.vars[symbol]; ok {
		return uint64(v.addr)
	}
	return image.FuncID(symbol)
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
func (p *Program) Var(name string) (backend.Addr, uint64, error) {
	v, ok := p.vars[name]
	if !ok {
		return 0, 0, fmt.Errorf("variable %s: %w", name, backend.ErrNotFound)
	}
	return v.addr, v.size, nil
}

// Unload frees code and variables. Work that uses them is done.
func (p *Program) Unload() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unloaded {
		return backend.ErrClosed
	}
	p.unloaded = true
	var err error
	for _, k := range p.kernels {
		k.free()
	}
	if p.fallback != nil {
		err = p.fallback.Unload()
	}
	if p.block != 0 {
		if e := p.dev.mem.Free(uint64(p.block)); err == nil {
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
