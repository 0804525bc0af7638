package hip

import (
	"errors"
	"fmt"
	"sync"

	"kudzu/internal/backend"
	"kudzu/internal/image"
)

// program is a loaded module: its variables in device memory, its kernels uncompiled until asked for.
type program struct {
	dev   *device
	m     *backend.Module
	vars  map[string]place
	block backend.Addr // the one allocation that holds the variables, 0 if there are none

	mu       sync.Mutex
	kernels  map[string]*kernel // guarded by mu
	unloaded bool               // guarded by mu
}

// place is where a variable lives.
type place struct {
	addr backend.Addr
	size uint64
}

const (
	maxVarAlign = 4096 // what hipMalloc gives
	minVarAlign = 16   // room for the widest access, whatever the declaration says
)

// Load places the module's variables.
func (d *device) Load(m *backend.Module) (backend.Program, error) {
	p := &program{dev: d, m: m, vars: map[string]place{}, kernels: map[string]*kernel{}}
	for i := range m.Kernels {
		p.kernels[m.Kernels[i].Name] = &kernel{p: p, decl: &m.Kernels[i]}
	}
	total, err := p.layout()
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", m.Name, err)
	}
	if total == 0 {
		return p, nil
	}
	if p.block, err = d.Memory().Alloc(total, maxVarAlign); err != nil {
		return nil, fmt.Errorf("module %s: %d bytes of variables: %w", m.Name, total, err)
	}
	for name, v := range p.vars {
		v.addr += p.block
		p.vars[name] = v
	}
	b := make([]byte, total)
	if err = p.initialise(b); err == nil {
		err = d.upload(p.block, b)
	}
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", m.Name, errors.Join(err, d.Memory().Free(p.block)))
	}
	return p, nil
}

// layout gives every variable an offset. Externs that no one defines have no place: kernels that name one do not load.
func (p *program) layout() (total uint64, err error) {
	for i := range p.m.Vars {
		v := &p.m.Vars[i]
		if v.Extern {
			continue
		}
		align := max(v.Align, minVarAlign)
		if v.Align&(v.Align-1) != 0 || align > maxVarAlign {
			return 0, fmt.Errorf("variable %s: alignment %d", v.Name, v.Align)
		}
		if uint64(len(v.Init)) > v.Size || v.Size > 1<<40 {
			return 0, fmt.Errorf("variable %s: %d bytes initialised of %d", v.Name, len(v.Init), v.Size)
		}
		if _, twice := p.vars[v.Name]; twice {
			return 0, fmt.Errorf("variable %s: defined twice", v.Name)
		}
		total = (total + align - 1) &^ (align - 1)
		p.vars[v.Name] = place{backend.Addr(total), v.Size}
		if total += max(v.Size, 1); total > p.dev.info.Memory {
			return 0, fmt.Errorf("variable %s: %d bytes: %w", v.Name, v.Size, backend.ErrNoMemory)
		}
	}
	return total, nil
}

// initialise writes the initialisers; b is the variables' memory.
func (p *program) initialise(b []byte) error {
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
func (p *program) where(symbol string) uint64 {
	if v, ok := p.vars[symbol]; ok {
		return uint64(v.addr)
	}
	return image.FuncID(symbol)
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
	v, ok := p.vars[name]
	if !ok {
		return 0, 0, fmt.Errorf("variable %s: %w", name, backend.ErrNotFound)
	}
	return v.addr, v.size, nil
}

// Unload frees code and variables. Work that uses them is done.
func (p *program) Unload() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unloaded {
		return backend.ErrClosed
	}
	p.unloaded = true
	var err error
	for _, k := range p.kernels {
		err = errors.Join(err, k.free())
	}
	if p.block != 0 {
		err = errors.Join(err, p.dev.Memory().Free(p.block))
	}
	return err
}
