package interp

import (
	"fmt"
	"sync"
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/image"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
)

// program is a loaded module.
type program struct {
	dev     *device
	mod     *backend.Module
	vars    map[string]variable
	kernels map[string]*kernel
	find    func(name string) (backend.Addr, uint64, error)
	consts  []view
	gone    atomic.Bool // unloaded
}

// variable is a module variable in memory of the device.
type variable struct {
	addr backend.Addr
	size uint64
}

// Load places the module's variables in the device's memory and initialises them.
func (d *device) Load(m *backend.Module) (backend.Program, error) {
	p := &program{dev: d, mod: m, vars: map[string]variable{}}
	p.find = p.Var
	for i := range m.Vars {
		v := &m.Vars[i]
		a, err := d.mem.Alloc(max(v.Size, 1), max(v.Align, 256))
		if err != nil {
			_ = p.Unload()
			return nil, fmt.Errorf("variable %s of module %s: %w", v.Name, m.Name, err)
		}
		p.vars[v.Name] = variable{a, v.Size}
	}
	for i := range m.Vars {
		if err := p.initialise(&m.Vars[i]); err != nil {
			_ = p.Unload()
			return nil, err
		}
	}
	p.index()
	return p, nil
}

// LoadWith makes a program whose variables somebody else has placed and initialised: the cpu backend, which runs here what it
// cannot compile.
func (d *device) LoadWith(m *backend.Module, vars func(name string) (backend.Addr, uint64, error)) (backend.Program, error) {
	p := &program{dev: d, mod: m, find: vars}
	p.index()
	return p, nil
}

func (p *program) index() {
	p.kernels = map[string]*kernel{}
	for i := range p.mod.Kernels {
		k := &p.mod.Kernels[i]
		p.kernels[k.Name] = &kernel{prog: p, decl: k}
	}
	for i := range p.mod.Vars {
		if v := &p.mod.Vars[i]; v.Const {
			if a, n, err := p.find(v.Name); err == nil {
				p.consts = append(p.consts, view{uint64(a), n})
			}
		}
	}
}

// initialise writes a variable's bytes and the addresses in them.
func (p *program) initialise(v *backend.VarDecl) error {
	m := hostBytes(uint64(p.vars[v.Name].addr), max(v.Size, 1))
	clear(m)
	return v.Initialise(m, p.where)
}

// where is the address of a variable, or the id of a function.
func (p *program) where(symbol string) uint64 {
	if v, ok := p.vars[symbol]; ok {
		return uint64(v.addr)
	}
	return image.FuncID(symbol)
}

func (p *program) Kernel(name string) (backend.Kernel, error) {
	if k := p.kernels[name]; k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("kernel %s: %w", name, backend.ErrNotFound)
}

func (p *program) Var(name string) (backend.Addr, uint64, error) {
	if p.vars == nil {
		return p.find(name)
	}
	v, ok := p.vars[name]
	if !ok {
		return 0, 0, fmt.Errorf("variable %s: %w", name, backend.ErrNotFound)
	}
	return v.addr, v.size, nil
}

// Unload frees the variables. Launches on other threads are a mistake of the program: those that are in a queue keep the variables
// until they are done, and what comes later gets ErrClosed.
func (p *program) Unload() error {
	if p.gone.Swap(true) {
		return backend.ErrClosed
	}
	if p.dev.engine == nil || len(p.vars) == 0 { // its kernels run on somebody else's queues, who waits for them
		return p.free()
	}
	return p.dev.engine.Retire(nil, p.free)
}

func (p *program) free() error {
	var err error
	for name, v := range p.vars {
		if e := p.dev.mem.Free(v.addr); e != nil && err == nil {
			err = fmt.Errorf("variable %s: %w", name, e)
		}
	}
	return err
}

// kernel is one entry point, decoded when first asked for.
type kernel struct {
	prog *program
	decl *backend.KernelDecl
	once sync.Once
	u    *unit
	err  error
}

func (k *kernel) Name() string { return k.decl.Name }

// unit parses, checks and decodes.
func (k *kernel) unit() (*unit, error) {
	if k.prog.gone.Load() {
		return nil, backend.ErrClosed
	}
	k.once.Do(func() { k.u, k.err = k.decode() })
	return k.u, k.err
}

func (k *kernel) decode() (*unit, error) {
	m := k.prog.mod
	text, line := m.Text, func(n int) int { return n }
	if m.Slice != nil {
		var err error
		if text, line, err = m.Slice(k.decl.Name); err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.decl.Name, err)
		}
	}
	mod, err := check.Text(text)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", k.decl.Name, err)
	}
	u := &unit{line: line, vars: k.prog.find, funcID: image.FuncID}
	if err := newUnit(mod, k.decl.Name, u); err != nil {
		return nil, err
	}
	return u, nil
}

func (k *kernel) Prepare([3]uint32) error {
	_, err := k.unit()
	return err
}

func (k *kernel) Info() (*backend.KernelInfo, error) {
	u, err := k.unit()
	if err != nil {
		return nil, err
	}
	sm := u.mod.Target.SM
	info := &backend.KernelInfo{
		StaticShared: int(u.sharedSize), Local: int(u.entry.frame), Registers: min(255, max(8, u.entry.slots)),
		MaxThreads: 1024, PTXVersion: sm, BinaryVersion: k.prog.dev.info.Major*10 + k.prog.dev.info.Minor,
	}
	for _, v := range k.prog.consts {
		info.Const += int(v.size)
	}
	if m := k.decl.MaxBlock; m[0] > 0 {
		info.MaxThreads = min(1024, max(1, m[0])*max(1, m[1])*max(1, m[2]))
	}
	return info, nil
}

var grids atomic.Uint64

// prepare makes the grid of a launch; its parameters are copied.
func (k *kernel) prepare(l *backend.Launch) (*grid, error) {
	u, err := k.unit()
	if err != nil {
		return nil, err
	}
	launch := *l
	g := &grid{u: u, l: &launch, id: grids.Add(1), cluster: [3]uint32{1, 1, 1}, kern: k, cancel: new(atomic.Bool)}
	g.params = make([]byte, max(k.decl.ParamBytes, len(l.Params)))
	copy(g.params, l.Params)
	launch.Params = nil
	g.env = k.prog.dev.environment(k.prog)
	g.workers = k.prog.dev.workers
	g.shared = u.sharedSize + l.DynamicShared
	g.threads = int(l.Block[0]) * int(l.Block[1]) * int(l.Block[2])
	g.blocks = uint64(l.Grid[0]) * uint64(l.Grid[1]) * uint64(l.Grid[2])
	if l.Cluster != [3]uint32{} {
		g.cluster = l.Cluster
	} else if c, ok := requiredCluster(u.entry.fn); ok {
		g.cluster, launch.Cluster = c, c
	}
	for i := range 3 {
		if g.cluster[i] == 0 || l.Grid[i]%g.cluster[i] != 0 {
			return nil, fmt.Errorf("kernel %s: a grid of %v blocks has no clusters of %v", u.kernel, l.Grid, g.cluster)
		}
	}
	return g, nil
}

// requiredCluster is .reqnctapercluster.
func requiredCluster(f *ptx.Func) (c [3]uint32, ok bool) {
	for _, d := range f.Perf {
		if d.Name != "reqnctapercluster" || len(d.Nums) == 0 {
			continue
		}
		c = [3]uint32{1, 1, 1}
		for i, n := range d.Nums {
			if i < 3 {
				c[i] = uint32(n)
			}
		}
		return c, true
	}
	return c, false
}

// RunNow executes a launch of a kernel of this backend on the calling goroutine and returns when it has ended.
func RunNow(k backend.Kernel, l *backend.Launch) error { return RunWith(k, l, With{}) }
