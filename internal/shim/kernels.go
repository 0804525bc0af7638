// Package shim is what the library shims share: kernels of our own that are loaded where they are needed, their
// parameters, and workspace that lives as long as a library's handle.
package shim

import (
	"encoding/binary"
	"math"

	"kudzu/internal/driver"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// Kernels is a PTX module of ours. It is loaded into a context at its first use there, and goes with the context.
type Kernels struct {
	Name string
	Text func() string // packed.Texts unpacks it at the first use

	mu     lockrank.Mutex[lockrank.ShimKernels]
	loaded map[cu.CUcontext]*module // guarded by mu
}

type module struct {
	handle cu.CUmodule
	funcs  map[string]cu.CUfunction // guarded by Kernels.mu
}

// function finds a kernel in the current context. A primary context keeps its handle when it is reset, and loses its modules.
func (k *Kernels) function(d *driver.Thread, name string) (cu.CUfunction, error) {
	ctx, err := d.CtxGetCurrent()
	if err != nil {
		return 0, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	m := k.loaded[ctx]
	if m == nil || m.gone(d) {
		h, err := d.LoadText(k.Name, k.Text())
		if err != nil {
			return 0, err
		}
		if k.loaded == nil {
			k.loaded = map[cu.CUcontext]*module{}
		}
		m = &module{handle: h, funcs: map[string]cu.CUfunction{}}
		k.loaded[ctx] = m
	}
	f, ok := m.funcs[name]
	if !ok {
		if f, err = d.ModuleGetFunction(m.handle, name); err != nil {
			return 0, err
		}
		m.funcs[name] = f
	}
	return f, nil
}

// Discard ends the modules, in every context. Nobody is launching from them, or will; graphs that have their kernels keep those.
func (k *Kernels) Discard() {
	k.mu.Lock()
	loaded := k.loaded
	k.loaded = nil
	k.mu.Unlock()
	for _, m := range loaded {
		driver.Discard(m.handle)
	}
}

// gone says that the module went with what its context had.
func (m *module) gone(d *driver.Thread) bool {
	_, err := d.ModuleGetFunctionCount(m.handle)
	return err == driver.Result(cu.CUDA_ERROR_INVALID_HANDLE)
}

// Launch runs a kernel of the module on a stream of the current context.
func (k *Kernels) Launch(d *driver.Thread, stream cu.CUstream, name string, grid, block [3]uint32, p *Params) error {
	f, err := k.function(d, name)
	if err != nil {
		return err
	}
	return d.LaunchTemplate(f, grid, block, 0, stream, p.bytes, p.Template)
}

// plainShared is what a block may have of shared memory without asking for more.
const plainShared = 48 << 10

// LaunchShared is Launch for kernels that want shared bytes of dynamic shared memory.
func (k *Kernels) LaunchShared(d *driver.Thread, stream cu.CUstream, name string, grid, block [3]uint32, shared uint32, p *Params) error {
	f, err := k.function(d, name)
	if err != nil {
		return err
	}
	if shared > plainShared {
		if err := d.FuncSetAttribute(f, cu.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int32(shared)); err != nil {
			return err
		}
	}
	return d.LaunchPacked(f, grid, block, shared, stream, p.bytes)
}

// Params lays kernel parameters out, each at its natural alignment.
type Params struct {
	bytes    []byte
	Template *driver.Template // the launch is all that a library's call does, or nil
}

// paramRoom is as much as the parameters of most kernels take: they are laid out at every call, in one piece of memory.
const paramRoom = 384

func (p *Params) align(n int) {
	if p.bytes == nil {
		p.bytes = make([]byte, 0, paramRoom)
	}
	for len(p.bytes)%n != 0 {
		p.bytes = append(p.bytes, 0)
	}
}

// U32 appends 32-bit parameters.
func (p *Params) U32(vs ...uint32) *Params {
	p.align(4)
	for _, v := range vs {
		p.bytes = binary.LittleEndian.AppendUint32(p.bytes, v)
	}
	return p
}

// U64 appends 64-bit parameters: numbers and addresses.
func (p *Params) U64(vs ...uint64) *Params {
	p.align(8)
	for _, v := range vs {
		p.bytes = binary.LittleEndian.AppendUint64(p.bytes, v)
	}
	return p
}

// F64 appends 64-bit floats.
func (p *Params) F64(vs ...float64) *Params {
	for _, v := range vs {
		p.U64(math.Float64bits(v))
	}
	return p
}
