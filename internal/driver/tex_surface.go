package driver

import (
	"kudzu/internal/backend"
	"kudzu/internal/spec/cu"
)

// SurfObjectCreate makes a surface of an array. The real driver does not insist on the array's flag for it, and nor do we.
func (t *Thread) SurfObjectCreate(r *cu.CUDA_RESOURCE_DESC) (cu.CUsurfObject, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	b, err := c.sampling()
	if err != nil {
		return 0, err
	}
	if r.ResType != cu.CU_RESOURCE_TYPE_ARRAY || r.Flags != 0 {
		return 0, errInvalidValue
	}
	a, err := t.array(r.Res.Array().HArray)
	if err != nil {
		return 0, err
	}
	if a.blocks != nil {
		return 0, errInvalidValue
	}
	x := backend.Texture{Kind: backend.SurfaceObject, Integers: 1, Address: [4]uint8{1, 1, 1}}
	showArray(&x, a)
	h, err := b.NewTexture(&x)
	if err != nil {
		return 0, errOutOfMemory
	}
	c.state.surfaces.put(h, &Surface{c, *r})
	return cu.CUsurfObject(h), nil
}

func (t *Thread) surface(h cu.CUsurfObject) (*Surface, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	if o := s.surfaces.get(uint64(h)); o != nil {
		return o, o.ctx.usable()
	}
	return nil, errInvalidValue
}

// SurfObjectDestroy gives a surface back. A handle that is none is taken silently, as the real driver does.
func (t *Thread) SurfObjectDestroy(h cu.CUsurfObject) error {
	if _, err := t.context(); err != nil {
		return err
	}
	o, err := t.surface(h)
	if o == nil && err == errInvalidValue {
		return nil
	}
	if err != nil {
		return err
	}
	if !o.ctx.state.surfaces.take(uint64(h)) {
		return errInvalidValue
	}
	return o.ctx.dropObject(uint64(h))
}

// SurfObjectGetResourceDesc is what a surface shows.
func (t *Thread) SurfObjectGetResourceDesc(h cu.CUsurfObject) (r cu.CUDA_RESOURCE_DESC, err error) {
	o, err := t.surface(h)
	if err != nil {
		return r, err
	}
	return o.res, nil
}
