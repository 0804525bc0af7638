package driver

import (
	"kudzu/internal/assemble"
	"kudzu/internal/backend"
	"kudzu/internal/fatbin"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
	"kudzu/internal/pack"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/spec/cu"
)

// eagerCheck is the size of text up to which a module is checked whole when it is loaded. Larger modules of real programs
// are up to 11 MB with hundreds of kernels; they are checked whole only for a caller who will read the log.
const eagerCheck = 256 << 10

// Module is code loaded into a context.
type Module struct {
	ctx     *Context
	handle  cu.CUmodule
	library *Library // nil: loaded by the program itself
	decls   map[string]*backend.KernelDecl
	names   []string        // kernels, in the order of the text
	managed map[string]bool // variables that are managed
	statics map[string]bool // variables of functions: programs cannot ask for them
	consts  uint64          // bytes of constant variables
	prog    backend.Program
	refs    refs

	mu    lockrank.Mutex[lockrank.DriverModule]
	funcs map[string]*Function // guarded by mu: by name, so that asking twice gives the same handle
}

// module finds a module.
func (t *Thread) module(h cu.CUmodule) (*Module, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	m := s.modules.Get(handleValue(h))
	if m == nil {
		return nil, errInvalidHandle
	}
	return m, m.ctx.usable()
}

// load makes a module of PTX text.
func (c *Context) load(lib *Library, name, text string, j *jit) (*Module, error) {
	desc, err := describe(name, text, c.dev.claim(), j)
	if err != nil {
		return nil, err
	}
	m := &Module{ctx: c, library: lib, decls: map[string]*backend.KernelDecl{}, funcs: map[string]*Function{}}
	for i := range desc.Kernels {
		k := &desc.Kernels[i]
		m.decls[k.Name] = k
		m.names = append(m.names, k.Name)
	}
	for i := range desc.Vars {
		v := &desc.Vars[i]
		if v.Const {
			m.consts = (m.consts+v.Align-1)/max(v.Align, 1)*max(v.Align, 1) + v.Size
		}
		if v.Opaque != 0 {
			if m.refs.kinds == nil {
				m.refs.kinds = map[string]uint8{}
			}
			m.refs.kinds[v.Name] = v.Opaque
		}
		if v.Local {
			if m.statics == nil {
				m.statics = map[string]bool{}
			}
			m.statics[v.Name] = true
		}
		if v.Managed {
			if m.managed == nil {
				m.managed = map[string]bool{}
			}
			m.managed[v.Name] = true
		}
	}
	if m.prog, err = c.dev.dev.Load(desc); err != nil {
		return nil, c.fail(err)
	}
	h := c.state.modules.New(m)
	if h == 0 {
		_ = m.prog.Unload()
		return nil, errOutOfMemory
	}
	m.handle = cu.CUmodule(h)
	c.mu.Lock()
	alive := c.modules != nil
	if alive {
		c.modules[m] = struct{}{}
	}
	c.mu.Unlock()
	if !alive {
		m.drop()
		return nil, errDestroyed
	}
	logx.Debugf("module %s: %d kernels, %d bytes of PTX", name, len(desc.Kernels), len(text))
	return m, nil
}

// describe reads and checks a text.
func describe(name, text string, dev claim, j *jit) (*backend.Module, error) {
	if j.target > dev.sm {
		return nil, errInvalidSource
	}
	idx, text, err := indexText(text)
	if err != nil {
		return nil, err
	}
	if err := takes(dev, fatbin.Target{SM: idx.Target.SM, Suffix: idx.Target.Suffix}, j); err != nil {
		return nil, err
	}
	if idx.AddressSize == 32 {
		return nil, jitFatal("32-Bit compilation is no longer supported")
	}
	if len(text) <= eagerCheck || j.errs.wanted() {
		if err := checkText(text, dev.limits); err != nil {
			return nil, err
		}
	}
	desc := &backend.Module{Name: name, Text: text, Options: j.opts, Slice: func(kernel string) (string, func(int) int, error) {
		s, err := idx.Slice(kernel)
		if err != nil {
			return "", nil, err
		}
		return s.Text, s.Line, nil
	}, Lazy: func(kernel string) *backend.Lazy { return lazy(idx, kernel) }}
	if name, has, ok := pack.Note(text); ok {
		desc.Pack = name + "\t" + has
	}
	for _, f := range idx.Kernels() {
		desc.Kernels = append(desc.Kernels, kernelDecl(f.Func, j.opts.MaxRegisters))
	}
	vars, err := idx.Vars()
	if err != nil {
		return nil, err
	}
	for _, v := range vars {
		if v.Space != ptx.SpaceGlobal && v.Space != ptx.SpaceConst {
			continue
		}
		if v.Type == isa.SamplerRef { // as recorded: nothing can set one, and the real driver does not load it
			return nil, errNotFound
		}
		desc.Vars = append(desc.Vars, varDecl(v))
		if v.Linkage == ptx.Extern {
			j.note("ptxas warning : Unresolved extern variable '%s' in whole program compilation, ignoring extern qualifier", v.Name)
		}
	}
	return desc, nil
}

// lazy is a kernel whose functions are compiled one by one, or nil.
func lazy(idx *ptx.Index, kernel string) *backend.Lazy {
	names := idx.Lazy(kernel)
	if names == nil {
		return nil
	}
	return &backend.Lazy{Functions: names, Slice: func(function string) (string, string, func(int) int, error) {
		s, err := idx.SliceLazy(kernel, function)
		if err != nil {
			return "", "", nil, err
		}
		entry := kernel
		if function != "" {
			entry = ptx.LazyEntry + function
		}
		return entry, s.Text, s.Line, nil
	}}
}

// checkText checks a whole module, and its sizes against what a device has.
func checkText(text string, l check.Limits) error {
	m, err := check.Text(text)
	if err != nil {
		return err
	}
	if name := assemble.Unresolved(m); name != "" {
		return &unresolvedName{jitFatal("Unresolved extern function '%s'", name)}
	}
	if err := check.Sizes(m, l); err != nil {
		return &badImage{errInvalidPTX, err.Error()}
	}
	return nil
}

// unresolvedName says that a function is used that nobody defines.
type unresolvedName struct{ error }

func (u *unresolvedName) Unwrap() error { return u.error }

// kernelDecl describes a kernel. What its text says of registers counts before the limit that the program sets for the module: as many
// blocks as it asks for must have room in the register file.
func kernelDecl(f *ptx.Func, maxRegisters int) backend.KernelDecl {
	const registerFile = 64 << 10
	k := backend.KernelDecl{Name: f.Name, MaxRegisters: max(0, maxRegisters)}
	blocks, own := 0, 0
	for _, p := range f.Params {
		k.Params = append(k.Params, backend.ParamDecl{Name: p.Name, Offset: int(p.Offset), Size: int(p.Size), Align: p.Align})
		k.ParamBytes = max(k.ParamBytes, int(p.Offset+p.Size))
	}
	for _, d := range f.Perf {
		switch d.Name {
		case "maxntid":
			k.MaxBlock = shape(d.Nums)
		case "reqntid":
			k.ReqBlock = shape(d.Nums)
		case "reqnctapercluster":
			k.ReqCluster = shape(d.Nums)
		case "maxnreg":
			own = int(d.Nums[0])
		case "minnctapersm":
			blocks = int(min(d.Nums[0], registerFile))
		}
	}
	if n := max(k.MaxBlock[0]*k.MaxBlock[1]*k.MaxBlock[2], k.ReqBlock[0]*k.ReqBlock[1]*k.ReqBlock[2]); blocks > 0 && n > 0 && n <= registerFile {
		k.MaxRegisters = max(registerFile/((n+31)&^31*blocks)&^7, leastRegisters)
	}
	if own > 0 {
		k.MaxRegisters = own
	}
	return k
}

// shape fills up the dimensions a directive left out.
func shape(nums []int64) [3]int {
	s := [3]int{1, 1, 1}
	for i := range min(3, len(nums)) {
		s[i] = int(nums[i])
	}
	return s
}

// opaqueKinds are the types of variables that stand for objects.
var opaqueKinds = map[isa.Type]uint8{isa.TexRef: backend.TextureObject, isa.SurfRef: backend.SurfaceObject, isa.SamplerRef: backend.SamplerObject}

func varDecl(v *ptx.Var) backend.VarDecl {
	d := backend.VarDecl{
		Name: v.LinkName(), Local: v.Symbol != "", Const: v.Space == ptx.SpaceConst, Size: v.Size, Align: uint64(max(1, v.Align)),
		Extern: v.Linkage == ptx.Extern, Visible: v.Linkage != ptx.Internal, Opaque: opaqueKinds[v.Type],
	}
	for _, a := range v.Attrs {
		d.Managed = d.Managed || a == "managed" || a == ".managed"
	}
	if v.Init != nil {
		d.Init = v.Init.Bytes
		for _, r := range v.Init.Relocs {
			d.Relocs = append(d.Relocs, backend.VarReloc{Offset: r.Offset, Size: r.Size, Symbol: r.Target(), Addend: r.Addend, Mask: r.Mask})
		}
	}
	return d
}

// drop ends a module whose work is done.
func (m *Module) drop() {
	m.forget()
	_ = m.prog.Unload()
}

// forget ends the handles of a module, and what is known by them.
func (m *Module) forget() {
	s := m.ctx.state
	s.modules.Delete(handleValue(m.handle))
	m.mu.Lock()
	for _, f := range m.funcs {
		s.functions.Delete(handleValue(f.handle))
	}
	m.mu.Unlock()
	s.changed()
	for _, a := range s.allocs.takeAll(func(a *alloc) bool { return a.kind == allocVar && a.ctx == m.ctx && m.owns(a) }) {
		a.release()
	}
	m.dropRefs()
}

// owns reports whether a range is one of the module's variables.
func (m *Module) owns(a *alloc) bool { return a.id == uint64(m.handle) }

// loadImage is every load of a module.
func (t *Thread) loadImage(j *jit, name string, read func(claim) (string, error)) (cu.CUmodule, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	var m *Module
	text, err := read(c.dev.claim())
	if err == nil {
		m, err = c.load(nil, name, text, j)
	}
	if err = j.finish(err); err != nil {
		if m != nil {
			m.drop()
		}
		return 0, err
	}
	return m.handle, nil
}

// ModuleLoad loads a file.
func (t *Thread) ModuleLoad(name string) (cu.CUmodule, error) {
	if _, err := t.context(); err != nil {
		return 0, err
	}
	if name == "" {
		return 0, errInvalidValue
	}
	j, _ := newJIT(0, 0, 0)
	return t.loadImage(j, name, func(c claim) (string, error) { return readFile(name, c) })
}

// ModuleLoadData loads PTX text, a fatbin or a wrapper around one.
func (t *Thread) ModuleLoadData(image hostmem.Ptr) (cu.CUmodule, error) {
	return t.ModuleLoadDataEx(image, 0, 0, 0)
}

// ModuleLoadDataEx is ModuleLoadData with options for the compiler.
func (t *Thread) ModuleLoadDataEx(image hostmem.Ptr, n uint32, options, values hostmem.Ptr) (cu.CUmodule, error) {
	if _, err := t.context(); err != nil {
		return 0, err
	}
	j, err := newJIT(n, options, values)
	if err != nil {
		return 0, err
	}
	return t.loadImage(j, "image", func(c claim) (string, error) { return readImage(image, c) })
}

// ModuleLoadFatBinary is ModuleLoadData.
func (t *Thread) ModuleLoadFatBinary(image hostmem.Ptr) (cu.CUmodule, error) {
	return t.ModuleLoadDataEx(image, 0, 0, 0)
}

// ModuleUnload ends a module once the work of its context is done.
func (t *Thread) ModuleUnload(h cu.CUmodule) error {
	m, err := t.module(h)
	if err != nil {
		return err
	}
	if m.library != nil {
		return errNotPermitted
	}
	return m.unload()
}

func (m *Module) unload() error {
	if err := m.ctx.sync(); err != nil {
		return err
	}
	m.ctx.mu.Lock()
	_, here := m.ctx.modules[m]
	delete(m.ctx.modules, m)
	m.ctx.mu.Unlock()
	if !here {
		return errInvalidHandle // another thread was first
	}
	m.drop()
	return nil
}

// ModuleGetFunction finds a kernel by name.
func (t *Thread) ModuleGetFunction(h cu.CUmodule, name string) (cu.CUfunction, error) {
	m, err := t.module(h)
	if err != nil {
		return 0, err
	}
	if name == "" {
		return 0, errInvalidValue
	}
	f, err := m.function(name)
	if err != nil {
		return 0, err
	}
	return f.handle, nil
}

// ModuleGetFunctionCount is the number of kernels.
func (t *Thread) ModuleGetFunctionCount(h cu.CUmodule) (uint32, error) {
	m, err := t.module(h)
	if err != nil {
		return 0, err
	}
	return uint32(len(m.names)), nil
}

// ModuleEnumerateFunctions writes up to n kernels to list.
func (t *Thread) ModuleEnumerateFunctions(list hostmem.Ptr, n uint32, h cu.CUmodule) error {
	m, err := t.module(h)
	if err != nil {
		return err
	}
	for i, name := range m.names[:min(int(n), len(m.names))] {
		f, err := m.function(name)
		if err != nil {
			return err
		}
		hostmem.Store(list.Index(i, 8), uint64(f.handle))
	}
	return nil
}

// ModuleGetGlobal is where a variable lives and its size.
func (t *Thread) ModuleGetGlobal(h cu.CUmodule, name string) (DevPtr, uint64, error) {
	m, err := t.module(h)
	if err != nil {
		return 0, 0, err
	}
	return m.global(name)
}

func (m *Module) global(name string) (DevPtr, uint64, error) {
	if _, kernel := m.decls[name]; name == "" || kernel { // the real driver's code for both
		return 0, 0, errInvalidValue
	}
	if m.refs.kinds[name] != 0 || m.statics[name] { // an object, not memory; a function's own
		return 0, 0, errNotFound
	}
	addr, size, err := m.prog.Var(name)
	if err != nil {
		return 0, 0, m.ctx.fail(err)
	}
	// Copies may name it from now on. It is there already if it was asked for before.
	m.ctx.state.allocs.add(&alloc{base: uint64(addr), size: size, kind: allocVar, ctx: m.ctx, id: uint64(m.handle)})
	return DevPtr(addr), size, nil
}

// kernelNames lists the kernels of a text.
func kernelNames(text string) ([]string, error) {
	idx, _, err := indexText(text)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range idx.Kernels() {
		names = append(names, f.Name)
	}
	return names, nil
}
