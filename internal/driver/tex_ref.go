package driver

import (
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// TexRef is a texture reference: a .texref variable of a module, or one that the program made. It keeps what the program
// sets; kernels see it through the handle in the variable, which bindRefs renews before the next launch.
type TexRef struct {
	ctx    *Context
	mod    *Module // nil: made by the program, no kernel sees it
	name   string  // the variable
	handle cu.CUtexref

	mu       lockrank.Mutex[lockrank.DriverTexRef]
	bound    bool                  // guarded by mu
	res      cu.CUDA_RESOURCE_DESC // guarded by mu: what is bound
	format   cu.CUarray_format     // guarded by mu
	channels uint32                // guarded by mu
	keep     bool                  // guarded by mu: format stays as set though the array has another
	skip     uint64                // guarded by mu: bytes before the plain memory that was given
	tex      cu.CUDA_TEXTURE_DESC  // guarded by mu
}

// SurfRef is a .surfref variable of a module.
type SurfRef struct {
	mod    *Module
	name   string
	handle cu.CUsurfref

	mu  lockrank.Mutex[lockrank.DriverSurfRef]
	arr cu.CUarray // guarded by mu; 0: nothing bound
}

// refs is what a module knows about its opaque variables.
type refs struct {
	kinds map[string]uint8 // backend.TextureObject … by name; constant
	stale atomic.Bool      // something was set since the variables were written

	mu    lockrank.Mutex[lockrank.DriverRefs]
	tex   map[string]*TexRef  // guarded by mu
	surf  map[string]*SurfRef // guarded by mu
	given map[string]uint64   // guarded by mu: the handle in each variable
}

// refKind checks that a module has a reference of this name and kind.
func (m *Module) refKind(name string, kind uint8) error {
	if name == "" {
		return errInvalidValue
	}
	if m.refs.kinds[name] != kind {
		return errNotFound
	}
	return nil
}

// ModuleGetTexRef finds a .texref variable, as one object however often it is asked for.
func (t *Thread) ModuleGetTexRef(h cu.CUmodule, name string) (cu.CUtexref, error) {
	m, err := t.module(h)
	if err != nil {
		return 0, err
	}
	if err := m.refKind(name, backend.TextureObject); err != nil {
		return 0, err
	}
	m.refs.mu.Lock()
	defer m.refs.mu.Unlock()
	if r := m.refs.tex[name]; r != nil {
		return r.handle, nil
	}
	r, err := m.ctx.newTexRef(m, name)
	if err != nil {
		return 0, err
	}
	if m.refs.tex == nil {
		m.refs.tex = map[string]*TexRef{}
	}
	m.refs.tex[name] = r
	return r.handle, nil
}

// newTexRef makes a reference: one channel of float, points, clamped, nothing bound (as was recorded).
func (c *Context) newTexRef(m *Module, name string) (*TexRef, error) {
	r := &TexRef{ctx: c, mod: m, name: name, format: cu.CU_AD_FORMAT_FLOAT, channels: 1}
	for i := range r.tex.AddressMode {
		r.tex.AddressMode[i] = cu.CU_TR_ADDRESS_MODE_CLAMP
	}
	h := c.state.texRefs.New(r)
	if h == 0 {
		return nil, errOutOfMemory
	}
	r.handle = cu.CUtexref(h)
	return r, nil
}

// ModuleGetSurfRef finds a .surfref variable.
func (t *Thread) ModuleGetSurfRef(h cu.CUmodule, name string) (cu.CUsurfref, error) {
	m, err := t.module(h)
	if err != nil {
		return 0, err
	}
	if err := m.refKind(name, backend.SurfaceObject); err != nil {
		return 0, err
	}
	m.refs.mu.Lock()
	defer m.refs.mu.Unlock()
	if r := m.refs.surf[name]; r != nil {
		return r.handle, nil
	}
	r := &SurfRef{mod: m, name: name}
	v := m.ctx.state.surfRefs.New(r)
	if v == 0 {
		return 0, errOutOfMemory
	}
	r.handle = cu.CUsurfref(v)
	if m.refs.surf == nil {
		m.refs.surf = map[string]*SurfRef{}
	}
	m.refs.surf[name] = r
	return r.handle, nil
}

// TexRefCreate makes a reference that no kernel names: it can be set and asked.
func (t *Thread) TexRefCreate() (cu.CUtexref, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	r, err := c.newTexRef(nil, "")
	if err != nil {
		return 0, err
	}
	return r.handle, nil
}

// TexRefDestroy ends what TexRefCreate made. A module's references end with it, and destroying one does nothing.
func (t *Thread) TexRefDestroy(h cu.CUtexref) error {
	r, err := t.texRef(h)
	if err != nil {
		return err
	}
	if r.mod != nil {
		return nil
	}
	if r.ctx.state.texRefs.Delete(handleValue(h)) == nil {
		return errInvalidHandle // another thread was first
	}
	return nil
}

func (t *Thread) texRef(h cu.CUtexref) (*TexRef, error) {
	if _, err := t.context(); err != nil {
		return nil, err
	}
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	r := s.texRefs.Get(handleValue(h))
	if r == nil {
		return nil, errInvalidHandle
	}
	return r, r.ctx.usable()
}

// setTexRef changes a reference; kernels launched from now on see it.
func (t *Thread) setTexRef(h cu.CUtexref, f func(r *TexRef) error) error {
	r, err := t.texRef(h)
	if err != nil {
		return err
	}
	r.mu.Lock()
	err = f(r)
	r.mu.Unlock()
	if err == nil && r.mod != nil {
		r.mod.refs.stale.Store(true)
		r.mod.ctx.state.changed()
	}
	return err
}

// askTexRef reads a reference.
func askTexRef[T any](t *Thread, h cu.CUtexref, f func(r *TexRef) (T, error)) (v T, err error) {
	r, err := t.texRef(h)
	if err != nil {
		return v, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return f(r)
}

// takeFormat binds an array: its format becomes the reference's, unless the program keeps its own of the same size.
//
// Preconditions: r.mu is held.
func (r *TexRef) takeFormat(d *cu.CUDA_ARRAY3D_DESCRIPTOR, flags uint32) error {
	if flags&^uint32(cu.CU_TRSA_OVERRIDE_FORMAT) != 0 {
		return errInvalidValue
	}
	if r.keep = flags == 0; !r.keep {
		r.format, r.channels = d.Format, d.NumChannels
		return nil
	}
	own, err := elementBytes(r.format, r.channels)
	if err != nil {
		return err
	}
	if theirs, err := elementBytes(d.Format, d.NumChannels); err != nil || own != theirs {
		return errInvalidValue
	}
	return nil
}

// TexRefSetArray binds an array.
func (t *Thread) TexRefSetArray(h cu.CUtexref, array cu.CUarray, flags uint32) error {
	return t.setTexRef(h, func(r *TexRef) error {
		a, err := t.array(array)
		if err == nil {
			err = r.takeFormat(&a.desc, flags)
		}
		if err != nil {
			return err
		}
		r.bound, r.res = true, cu.CUDA_RESOURCE_DESC{ResType: cu.CU_RESOURCE_TYPE_ARRAY}
		r.res.Res.Array().HArray = array
		return nil
	})
}

// TexRefSetMipmappedArray binds an array of several levels.
func (t *Thread) TexRefSetMipmappedArray(h cu.CUtexref, array cu.CUmipmappedArray, flags uint32) error {
	return t.setTexRef(h, func(r *TexRef) error {
		m, err := t.mipmap(array)
		if err == nil {
			err = r.takeFormat(&m.levels[0].desc, flags)
		}
		if err != nil {
			return err
		}
		r.bound, r.res = true, cu.CUDA_RESOURCE_DESC{ResType: cu.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY}
		r.res.Res.Mipmap().HMipmappedArray = array
		return nil
	})
}

// TexRefSetAddress binds plain memory as one row. Textures begin at multiples of the device's texture alignment: for memory
// that does not, the kernel must add what is stored at offset, and a program that does not want to know gets an error.
func (t *Thread) TexRefSetAddress(offset hostmem.Ptr, h cu.CUtexref, p DevPtr, bytes uint64) error {
	skip, err := t.texRefMemory(h, uint64(p), bytes, offset != hostmem.Nil)
	if err == nil && offset != hostmem.Nil {
		hostmem.Store(offset, skip)
	}
	return err
}

// TexRefSetAddressV1 is TexRefSetAddress of the first interface.
func (t *Thread) TexRefSetAddressV1(offset hostmem.Ptr, h cu.CUtexref, p cu.CUdeviceptr_v1, bytes uint32) error {
	skip, err := t.texRefMemory(h, uint64(p), uint64(bytes), offset != hostmem.Nil)
	if err == nil && offset != hostmem.Nil {
		hostmem.Store(offset, uint32(skip))
	}
	return err
}

func (t *Thread) texRefMemory(h cu.CUtexref, p, bytes uint64, mayskip bool) (skip uint64, err error) {
	skip = p % pitchAlign
	return skip, t.setTexRef(h, func(r *TexRef) error {
		if p == 0 && bytes == 0 {
			r.bound = false
			return nil
		}
		if skip != 0 && !mayskip || bytes > maxPitch {
			return errInvalidValue
		}
		r.bound, r.keep, r.res = true, true, cu.CUDA_RESOURCE_DESC{ResType: cu.CU_RESOURCE_TYPE_LINEAR}
		l := r.res.Res.Linear()
		l.DevPtr, l.SizeInBytes, r.skip = cu.CUdeviceptr(p-skip), bytes+skip, skip
		return nil
	})
}

// TexRefSetAddress2D binds plain memory as rows.
func (t *Thread) TexRefSetAddress2D(h cu.CUtexref, desc hostmem.Ptr, p DevPtr, pitch uint64) error {
	if desc == hostmem.Nil {
		return errInvalidValue
	}
	return t.texRefRows(h, hostmem.Load[cu.CUDA_ARRAY_DESCRIPTOR](desc), uint64(p), pitch)
}

// TexRefSetAddress2DV1 is TexRefSetAddress2D of the first interface.
func (t *Thread) TexRefSetAddress2DV1(h cu.CUtexref, desc hostmem.Ptr, p cu.CUdeviceptr_v1, pitch uint32) error {
	if desc == hostmem.Nil {
		return errInvalidValue
	}
	d := hostmem.Load[cu.CUDA_ARRAY_DESCRIPTOR_v1](desc)
	return t.texRefRows(h, cu.CUDA_ARRAY_DESCRIPTOR{Width: uint64(d.Width), Height: uint64(d.Height), Format: d.Format, NumChannels: d.NumChannels}, uint64(p), uint64(pitch))
}

func (t *Thread) texRefRows(h cu.CUtexref, d cu.CUDA_ARRAY_DESCRIPTOR, p, pitch uint64) error {
	return t.setTexRef(h, func(r *TexRef) error {
		var x backend.Texture
		if err := r.ctx.state.showPitched(&x, p, d.Width, d.Height, pitch, d.Format, d.NumChannels); err != nil {
			return err
		}
		r.bound, r.keep, r.res = true, false, cu.CUDA_RESOURCE_DESC{ResType: cu.CU_RESOURCE_TYPE_PITCH2D}
		w := r.res.Res.Pitch2D()
		w.DevPtr, w.Width, w.Height, w.PitchInBytes, w.Format, w.NumChannels = cu.CUdeviceptr(p), d.Width, d.Height, pitch, d.Format, d.NumChannels
		r.format, r.channels = d.Format, d.NumChannels
		return nil
	})
}

// TexRefBound reports whether something is bound to a reference; the runtime asks.
func (t *Thread) TexRefBound(h cu.CUtexref) bool {
	r, err := t.texRef(h)
	if err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bound && r.there()
}

func (t *Thread) surfRef(h cu.CUsurfref) (*SurfRef, error) {
	if _, err := t.context(); err != nil {
		return nil, err
	}
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	r := s.surfRefs.Get(handleValue(h))
	if r == nil {
		return nil, errInvalidHandle
	}
	return r, r.mod.ctx.usable()
}

// SurfRefSetArray binds an array.
func (t *Thread) SurfRefSetArray(h cu.CUsurfref, array cu.CUarray, flags uint32) error {
	r, err := t.surfRef(h)
	if err != nil {
		return err
	}
	if flags != 0 {
		return errInvalidValue
	}
	a, err := t.array(array)
	if err != nil {
		return err
	}
	if a.desc.Flags&cu.CUDA_ARRAY3D_SURFACE_LDST == 0 { // an object does not insist on it, a reference does
		return errInvalidValue
	}
	r.mu.Lock()
	r.arr = array
	r.mu.Unlock()
	r.mod.refs.stale.Store(true)
	r.mod.ctx.state.changed()
	return nil
}

// SurfRefGetArray is what is bound.
func (t *Thread) SurfRefGetArray(h cu.CUsurfref) (cu.CUarray, error) {
	r, err := t.surfRef(h)
	if err != nil {
		return 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.arr == 0 {
		return 0, errInvalidValue
	}
	return r.arr, nil
}
