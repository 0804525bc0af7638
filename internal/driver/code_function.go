package driver

import (
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/lockrank"
	"kudzu/internal/ptx/check"
	"kudzu/internal/spec/cu"
)

// Function is a kernel of a module.
type Function struct {
	mod    *Module
	handle cu.CUfunction
	decl   *backend.KernelDecl
	kernel backend.Kernel

	adopted atomic.Bool                             // took on what was set on its Kernel
	ready   atomic.Bool                             // facts is set
	infoMu  lockrank.Mutex[lockrank.DriverFunction] // one thread compiles, the others wait
	facts   facts                                   // constant once ready
	shaped  atomic.Uint64                           // block shape last compiled for, packed
	dynamic atomic.Int32
	limited atomic.Bool // dynamic was set by the program
	carve   atomic.Int32
	policy  atomic.Int32
	wide    atomic.Int32 // NON_PORTABLE_CLUSTER_SIZE_ALLOWED
	cluster [3]atomic.Int32
	old     oldLaunch
}

// facts is what launches are checked against.
type facts struct {
	backend.KernelInfo
	maxThreads uint64 // of a block, for this kernel
	tooLarge   bool   // it declares more shared or local memory than the device has: no launch is admitted
}

// function finds a kernel by name, as one object however often it is asked for.
func (m *Module) function(name string) (*Function, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.funcs[name]; f != nil {
		return f, nil
	}
	decl := m.decls[name]
	if decl == nil {
		return nil, missing(name)
	}
	k, err := m.prog.Kernel(name)
	if err != nil {
		return nil, m.ctx.fail(err)
	}
	f := &Function{mod: m, decl: decl, kernel: k}
	f.carve.Store(-1)
	f.dynamic.Store(-1)
	h := m.ctx.state.functions.New(f)
	if h == 0 {
		return nil, errOutOfMemory
	}
	f.handle = cu.CUfunction(h)
	m.funcs[name] = f
	return f, nil
}

// launchable finds what launches and questions of occupancy name: a function, or a library's kernel, which stands for its function in
// the current context. Calls about functions take no kernel (recorded on an H200).
func (t *Thread) launchable(h cu.CUfunction) (*Function, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	if handleValue(h).Kind() == kindKernel {
		k := s.kernels.Get(handleValue(h))
		if k == nil {
			return nil, errInvalidHandle
		}
		return t.kernelFunction(k)
	}
	return t.function(h)
}

// function finds a function.
func (t *Thread) function(h cu.CUfunction) (*Function, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	f := s.functions.Get(handleValue(h))
	if f == nil {
		if f = s.inGraphs(h); f == nil {
			return nil, errInvalidHandle
		}
	}
	return f, f.mod.ctx.usable()
}

// leastRegisters is what a kernel of an H200 has at least where a limit is lower, as recorded (transcript jit_registers).
const leastRegisters = 24

// know reads what the backend says about the kernel; the first call may compile.
func (f *Function) know() (*facts, error) {
	if f.ready.Load() {
		return &f.facts, nil
	}
	f.infoMu.Lock()
	defer f.infoMu.Unlock()
	if f.ready.Load() {
		return &f.facts, nil
	}
	info, err := f.kernel.Info()
	if err != nil {
		return nil, f.mod.ctx.fail(err)
	}
	f.facts.KernelInfo = *info
	if n := f.decl.MaxRegisters; n > 0 {
		f.facts.Registers = min(info.Registers, max(n, leastRegisters))
	}
	f.facts.maxThreads = uint64(f.mod.ctx.dev.info.MaxThreads)
	if n := uint64(info.MaxThreads); n > 0 && f.decl.ReqBlock[0] == 0 {
		f.facts.maxThreads = min(f.facts.maxThreads, n)
	}
	if b := f.decl.MaxBlock; b[0] > 0 { // a required shape is checked by itself and does not show here
		f.facts.maxThreads = min(f.facts.maxThreads, uint64(b[0])*uint64(b[1])*uint64(b[2]))
	}
	f.facts.tooLarge = info.StaticShared > f.mod.ctx.dev.info.SharedOptin || info.Local > check.MaxLocal
	f.dynamic.CompareAndSwap(-1, int32(max(0, f.mod.ctx.dev.info.SharedBlock-info.StaticShared)))
	f.ready.Store(true)
	return &f.facts, nil
}

// room is the dynamic shared memory a launch may ask for: what is there without opting in, or what was opted into.
func (f *Function) room(k *facts) uint64 {
	return uint64(max(0, f.mod.ctx.dev.info.SharedBlock-k.StaticShared, int(f.dynamic.Load())))
}

// launchRoom is room, but a launch may not ask for more than the program allowed.
func (f *Function) launchRoom(k *facts) uint64 {
	if f.limited.Load() {
		return uint64(max(0, f.dynamic.Load()))
	}
	return f.room(k)
}

// prepare has the kernel compiled for a block shape, or that begun, before the stream's locks are taken: compiling takes long,
// and other threads must not wait for it.
func (f *Function) prepare(block [3]uint32) error {
	key := uint64(block[0])<<40 | uint64(block[1])<<20 | uint64(block[2]) // dimensions are at most 1024
	if f.shaped.Load() == key {
		return nil
	}
	prepare := f.kernel.Prepare
	if s, ok := f.kernel.(backend.Starter); ok {
		prepare = s.Start
	}
	if err := prepare(block); err != nil {
		return f.mod.ctx.fail(err)
	}
	f.shaped.Store(key)
	return nil
}

// funcAttrs is indexed by CUfunction_attribute and has those that CUDA 13.0 knows.
var funcAttrs = [...]func(f *Function, k *facts) int32{
	cu.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:                func(f *Function, k *facts) int32 { return int32(k.maxThreads) },
	cu.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:                    func(f *Function, k *facts) int32 { return int32(k.StaticShared) },
	cu.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:                     func(f *Function, k *facts) int32 { return int32(f.mod.consts) },
	cu.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:                     func(f *Function, k *facts) int32 { return int32(k.Local) },
	cu.CU_FUNC_ATTRIBUTE_NUM_REGS:                             func(f *Function, k *facts) int32 { return int32(k.Registers) },
	cu.CU_FUNC_ATTRIBUTE_PTX_VERSION:                          func(f *Function, k *facts) int32 { return int32(k.PTXVersion) },
	cu.CU_FUNC_ATTRIBUTE_BINARY_VERSION:                       func(f *Function, k *facts) int32 { return int32(k.BinaryVersion) },
	cu.CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:                        func(f *Function, k *facts) int32 { return 0 },
	cu.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:        func(f *Function, k *facts) int32 { return f.dynamic.Load() },
	cu.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:     func(f *Function, k *facts) int32 { return f.carve.Load() },
	cu.CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:             func(f *Function, k *facts) int32 { return 0 },
	cu.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:               func(f *Function, k *facts) int32 { return f.cluster[0].Load() },
	cu.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:              func(f *Function, k *facts) int32 { return f.cluster[1].Load() },
	cu.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:               func(f *Function, k *facts) int32 { return f.cluster[2].Load() },
	cu.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:    func(f *Function, k *facts) int32 { return f.wide.Load() },
	cu.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: func(f *Function, k *facts) int32 { return f.policy.Load() },
}

func (f *Function) attribute(attr cu.CUfunction_attribute) (int32, error) {
	if attr < 0 || int(attr) >= len(funcAttrs) {
		return 0, errInvalidValue
	}
	k, err := f.know()
	if err != nil {
		return 0, err
	}
	return funcAttrs[attr](f, k), nil
}

// maxCarve is the largest percentage of PREFERRED_SHARED_MEMORY_CARVEOUT.
const maxCarve = 100

func (f *Function) setAttribute(attr cu.CUfunction_attribute, v int32) error {
	k, err := f.know()
	if err != nil {
		return err
	}
	switch attr {
	case cu.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		if v < 0 || int(v) > f.mod.ctx.dev.info.SharedOptin-k.StaticShared {
			return errInvalidValue
		}
		f.dynamic.Store(v)
		f.limited.Store(true)
	case cu.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		if v < -1 || v > maxCarve {
			return errInvalidValue
		}
		f.carve.Store(v)
	case cu.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, cu.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, cu.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
		if v < 0 {
			return errInvalidValue
		}
		f.cluster[attr-cu.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH].Store(v)
	case cu.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		f.wide.Store(v)
	case cu.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		f.policy.Store(v)
	default: // the others are read-only or unknown
		return errInvalidValue
	}
	f.mod.ctx.state.changed()
	return nil
}

// FuncGetAttribute is one number about a kernel.
func (t *Thread) FuncGetAttribute(attr cu.CUfunction_attribute, h cu.CUfunction) (int32, error) {
	f, err := t.function(h)
	if err != nil {
		return 0, err
	}
	return f.attribute(attr)
}

// FuncSetAttribute sets what may be set.
func (t *Thread) FuncSetAttribute(h cu.CUfunction, attr cu.CUfunction_attribute, v int32) error {
	f, err := t.function(h)
	if err != nil {
		return err
	}
	return f.setAttribute(attr, v)
}

// FuncSetCacheConfig checks a preference that nothing depends on here.
func (t *Thread) FuncSetCacheConfig(h cu.CUfunction, config cu.CUfunc_cache) error {
	if _, err := t.function(h); err != nil {
		return err
	}
	if config < cu.CU_FUNC_CACHE_PREFER_NONE || config > cu.CU_FUNC_CACHE_PREFER_EQUAL {
		return errInvalidValue
	}
	return nil
}

// FuncSetSharedMemConfig checks a preference that nothing depends on here.
func (t *Thread) FuncSetSharedMemConfig(h cu.CUfunction, config cu.CUsharedconfig) error {
	if _, err := t.function(h); err != nil {
		return err
	}
	if config < 0 || config > cu.CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE {
		return errInvalidValue
	}
	return nil
}

// named is function for calls that take no function as a bad value, not as a bad handle.
func (t *Thread) named(h cu.CUfunction) (*Function, error) {
	if h == 0 {
		if _, err := t.enter(); err != nil {
			return nil, err
		}
		return nil, errInvalidValue
	}
	return t.function(h)
}

// FuncGetModule is the module a kernel belongs to.
func (t *Thread) FuncGetModule(h cu.CUfunction) (cu.CUmodule, error) {
	f, err := t.named(h)
	if err != nil {
		return 0, err
	}
	return f.mod.handle, nil
}

// FuncGetParamCount is the number of parameters.
func (t *Thread) FuncGetParamCount(h cu.CUfunction) (uint64, error) {
	f, err := t.function(h)
	if err != nil {
		return 0, err
	}
	return uint64(len(f.decl.Params)), nil
}

// FuncGetParamInfo is where a parameter lies in the parameter block.
func (t *Thread) FuncGetParamInfo(h cu.CUfunction, i uint64) (offset, size uint64, err error) {
	f, err := t.named(h)
	if err != nil {
		return 0, 0, err
	}
	return paramInfo(f.decl, i)
}

func paramInfo(d *backend.KernelDecl, i uint64) (offset, size uint64, err error) {
	if i >= uint64(len(d.Params)) {
		return 0, 0, errInvalidValue
	}
	return uint64(d.Params[i].Offset), uint64(d.Params[i].Size), nil
}

// FuncIsLoaded tells whether the kernel was compiled.
func (t *Thread) FuncIsLoaded(h cu.CUfunction) (cu.CUfunctionLoadingState, error) {
	f, err := t.function(h)
	if err != nil {
		return 0, err
	}
	if f.ready.Load() {
		return cu.CU_FUNCTION_LOADING_STATE_LOADED, nil
	}
	return cu.CU_FUNCTION_LOADING_STATE_UNLOADED, nil
}

// FuncLoad compiles the kernel for any block shape.
func (t *Thread) FuncLoad(h cu.CUfunction) error {
	f, err := t.function(h)
	if err != nil {
		return err
	}
	if _, err := f.know(); err != nil {
		return err
	}
	return f.mod.ctx.fail(f.kernel.Prepare([3]uint32{}))
}
