package driver

import (
	"kudzu/internal/backend"
	"kudzu/internal/spec/cu"
)

// The kernels' side of references: a .texref or .surfref variable contains the handle of an object, as a parameter would.

// bindRefs writes new handles into the variables whose references changed since the last launch. A launch sees what was set
// before it; kernels that still run keep what they began with, because a variable in use is written only when the
// context's work is done.
func (t *Thread) bindRefs(m *Module) error {
	if !m.refs.stale.Load() {
		return nil
	}
	m.refs.mu.Lock()
	defer m.refs.mu.Unlock()
	if !m.refs.stale.Swap(false) {
		return nil
	}
	err := t.rebind(m)
	if err != nil {
		m.refs.stale.Store(true) // the next launch says it again
	}
	return err
}

// rebind makes an object for every reference and puts it into its variable.
//
// Preconditions: m.refs.mu is held.
func (t *Thread) rebind(m *Module) error {
	b, err := m.ctx.sampling()
	if err != nil {
		return err
	}
	fresh := map[string]uint64{}
	defer func() {
		for _, h := range fresh { // what did not come to be used
			_ = b.FreeTexture(h)
		}
	}()
	for name, r := range m.refs.tex {
		if fresh[name], err = r.object(t, b); err != nil {
			return err
		}
	}
	for name, r := range m.refs.surf {
		if fresh[name], err = r.object(t, b); err != nil {
			return err
		}
	}
	for _, h := range m.refs.given {
		if h != 0 { // kernels in flight may be looking at it
			if err := m.ctx.sync(); err != nil {
				return err
			}
			break
		}
	}
	if m.refs.given == nil {
		m.refs.given = map[string]uint64{}
	}
	for name, h := range fresh {
		if err := m.writeRef(name, h); err != nil {
			return err
		}
		if old := m.refs.given[name]; old != 0 {
			_ = b.FreeTexture(old)
		}
		m.refs.given[name] = h
		delete(fresh, name)
	}
	return nil
}

// writeRef stores a handle in a variable, and waits: launches of any stream come behind it.
func (m *Module) writeRef(name string, h uint64) error {
	addr, _, err := m.prog.Var(name)
	if err != nil {
		return m.ctx.fail(err)
	}
	qs, err := m.ctx.takeLanes(1)
	if err != nil {
		return err
	}
	defer m.ctx.giveLanes(qs)
	q := qs[0]
	if err = q.Fill(addr, uint32(h), 4, 1, 4, 1); err == nil {
		err = q.Fill(addr+4, uint32(h>>32), 4, 1, 4, 1)
	}
	if err == nil {
		err = q.Sync()
	}
	return m.ctx.fail(err)
}

// object is the reference as it is set now, for kernels; 0 if nothing is bound, or no memory, or no format.
func (r *TexRef) object(t *Thread, b backend.Textures) (uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.bound || !r.there() {
		return 0, nil
	}
	x := backend.Texture{Kind: backend.TextureObject, Reference: 1}
	res, tex := r.res, r.tex
	n, err := elementBytes(r.format, r.channels)
	if err != nil && r.keep {
		return 0, nil
	}
	if res.ResType == cu.CU_RESOURCE_TYPE_LINEAR {
		l := res.Res.Linear()
		x.Format, x.Channels, x.Dims, x.Memory, x.Levels = codeOf(r.format), uint8(r.channels), 1, 1, 1
		x.Base[0], x.Pitch[0], x.Width[0] = uint64(l.DevPtr), l.SizeInBytes, uint32(min(l.SizeInBytes/n, 1<<31))
	} else if err := t.resource(&x, &res); err != nil {
		return 0, err
	}
	if r.keep {
		x.Format, x.Channels = codeOf(r.format), uint8(r.channels)
	}
	if x.Cube == 0 {
		tex.Flags &^= uint32(cu.CU_TRSF_SEAMLESS_CUBEMAP) // a reference is set before it is known what will be bound
	}
	if tex.FilterMode != cu.CU_TR_FILTER_MODE_LINEAR {
		tex.FilterMode = cu.CU_TR_FILTER_MODE_POINT
	}
	if err := sampler(&x, &tex); err != nil {
		return 0, err
	}
	if t.blocksOf(&res) != nil {
		x.Integers = 0
	}
	h, err := b.NewTexture(&x)
	if err != nil {
		return 0, errOutOfMemory
	}
	return h, nil
}

// there reports whether what is bound exists: an array that was destroyed is bound no more, and any address may have been given.
//
// Preconditions: r.mu is held.
func (r *TexRef) there() bool {
	s := r.ctx.state
	switch r.res.ResType {
	case cu.CU_RESOURCE_TYPE_ARRAY:
		return s.arrays.Get(handleValue(r.res.Res.Array().HArray)) != nil
	case cu.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		return s.mipmaps.Get(handleValue(r.res.Res.Mipmap().HMipmappedArray)) != nil
	case cu.CU_RESOURCE_TYPE_LINEAR:
		l := r.res.Res.Linear()
		_, err := s.known1D(uint64(l.DevPtr)+r.skip, max(1, l.SizeInBytes-r.skip))
		return err == nil
	}
	return true
}

// object is as TexRef.object.
func (r *SurfRef) object(t *Thread, b backend.Textures) (uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.arr == 0 {
		return 0, nil
	}
	a, err := t.array(r.arr)
	if err == errInvalidHandle { // destroyed since
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	x := backend.Texture{Kind: backend.SurfaceObject, Reference: 1, Integers: 1, Address: [4]uint8{1, 1, 1}}
	showArray(&x, a)
	h, err := b.NewTexture(&x)
	if err != nil {
		return 0, errOutOfMemory
	}
	return h, nil
}

// dropRefs ends the references of a module that ends.
func (m *Module) dropRefs() {
	m.refs.mu.Lock()
	defer m.refs.mu.Unlock()
	for _, r := range m.refs.tex {
		m.ctx.state.texRefs.Delete(handleValue(r.handle))
	}
	for _, r := range m.refs.surf {
		m.ctx.state.surfRefs.Delete(handleValue(r.handle))
	}
	if b, err := m.ctx.sampling(); err == nil {
		for _, h := range m.refs.given {
			if h != 0 {
				_ = b.FreeTexture(h)
			}
		}
	}
	m.refs.tex, m.refs.surf, m.refs.given = nil, nil, nil
}
