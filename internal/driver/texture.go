package driver

import (
	"kudzu/internal/spec/cu"
)

// Texture is memory as kernels sample it: what it is, and how. A kernel that samples is refused by backends that cannot;
// the objects are kept so that programs can make and ask them.
type Texture struct {
	ctx  *Context
	res  cu.CUDA_RESOURCE_DESC
	tex  cu.CUDA_TEXTURE_DESC
	view *cu.CUDA_RESOURCE_VIEW_DESC
}

// Surface is an array that kernels read and write by coordinates.
type Surface struct {
	ctx *Context
	res cu.CUDA_RESOURCE_DESC
}

// checkResource checks what an object is to show.
func (t *Thread) checkResource(r *cu.CUDA_RESOURCE_DESC) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	if r.Flags != 0 {
		return errInvalidValue
	}
	switch r.ResType {
	case cu.CU_RESOURCE_TYPE_ARRAY:
		_, err := t.array(r.Res.Array().HArray)
		return err
	case cu.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		_, err := t.mipmap(r.Res.Mipmap().HMipmappedArray)
		return err
	case cu.CU_RESOURCE_TYPE_LINEAR:
		l := r.Res.Linear()
		if _, err := elementBytes(l.Format, l.NumChannels); err != nil {
			return err
		}
		_, err := s.known1D(uint64(l.DevPtr), max(1, l.SizeInBytes))
		return err
	case cu.CU_RESOURCE_TYPE_PITCH2D:
		p := r.Res.Pitch2D()
		n, err := elementBytes(p.Format, p.NumChannels)
		if err != nil {
			return err
		}
		if p.Width == 0 || p.Height == 0 || p.Width > maxPitch || p.Height > maxPitch || p.PitchInBytes > maxPitch || p.PitchInBytes < p.Width*n || uint64(p.DevPtr)%pitchAlign != 0 {
			return errInvalidValue
		}
		_, err = s.known1D(uint64(p.DevPtr), (p.Height-1)*p.PitchInBytes+p.Width*n)
		return err
	}
	return errInvalidValue
}

// maxAnisotropy is the largest that a description may ask for.
const maxAnisotropy = 16

// TexObjectCreate makes a texture of memory.
func (t *Thread) TexObjectCreate(r *cu.CUDA_RESOURCE_DESC, d *cu.CUDA_TEXTURE_DESC, v *cu.CUDA_RESOURCE_VIEW_DESC) (cu.CUtexObject, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	if err := t.checkResource(r); err != nil {
		return 0, err
	}
	for _, m := range d.AddressMode {
		if m < cu.CU_TR_ADDRESS_MODE_WRAP || m > cu.CU_TR_ADDRESS_MODE_BORDER {
			return 0, errInvalidValue
		}
	}
	filters := d.FilterMode > cu.CU_TR_FILTER_MODE_LINEAR || d.MipmapFilterMode > cu.CU_TR_FILTER_MODE_LINEAR || d.FilterMode < 0 || d.MipmapFilterMode < 0
	view := v != nil && (r.ResType == cu.CU_RESOURCE_TYPE_LINEAR || r.ResType == cu.CU_RESOURCE_TYPE_PITCH2D)
	if filters || view || d.MaxAnisotropy > maxAnisotropy {
		return 0, errInvalidValue
	}
	o := &Texture{ctx: c, res: *r, tex: *d}
	if v != nil {
		w := *v
		o.view = &w
	}
	h := c.state.textures.New(o)
	if h == 0 {
		return 0, errOutOfMemory
	}
	return cu.CUtexObject(h), nil
}

func (t *Thread) texture(h cu.CUtexObject) (*Texture, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	if o := s.textures.Get(handleValue(h)); o != nil {
		return o, o.ctx.usable()
	}
	return nil, errInvalidValue
}

// TexObjectDestroy gives a texture back.
func (t *Thread) TexObjectDestroy(h cu.CUtexObject) error {
	o, err := t.texture(h)
	if err != nil {
		return err
	}
	o.ctx.state.textures.Delete(handleValue(h))
	return nil
}

// TexObjectGetResourceDesc is what a texture shows.
func (t *Thread) TexObjectGetResourceDesc(h cu.CUtexObject) (r cu.CUDA_RESOURCE_DESC, err error) {
	o, err := t.texture(h)
	if err != nil {
		return r, err
	}
	return o.res, nil
}

// TexObjectGetTextureDesc is how it is sampled.
func (t *Thread) TexObjectGetTextureDesc(h cu.CUtexObject) (d cu.CUDA_TEXTURE_DESC, err error) {
	o, err := t.texture(h)
	if err != nil {
		return d, err
	}
	return o.tex, nil
}

// TexObjectGetResourceViewDesc is how the memory is looked at, if that was said.
func (t *Thread) TexObjectGetResourceViewDesc(h cu.CUtexObject) (v cu.CUDA_RESOURCE_VIEW_DESC, err error) {
	o, err := t.texture(h)
	if err != nil {
		return v, err
	}
	if o.view == nil {
		return v, errInvalidValue
	}
	return *o.view, nil
}

// SurfObjectCreate makes a surface of an array that was made for it.
func (t *Thread) SurfObjectCreate(r *cu.CUDA_RESOURCE_DESC) (cu.CUsurfObject, error) {
	c, err := t.context()
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
	if a.desc.Flags&cu.CUDA_ARRAY3D_SURFACE_LDST == 0 {
		return 0, errInvalidValue
	}
	h := c.state.surfaces.New(&Surface{c, *r})
	if h == 0 {
		return 0, errOutOfMemory
	}
	return cu.CUsurfObject(h), nil
}

func (t *Thread) surface(h cu.CUsurfObject) (*Surface, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	if o := s.surfaces.Get(handleValue(h)); o != nil {
		return o, o.ctx.usable()
	}
	return nil, errInvalidValue
}

// SurfObjectDestroy gives a surface back.
func (t *Thread) SurfObjectDestroy(h cu.CUsurfObject) error {
	o, err := t.surface(h)
	if err != nil {
		return err
	}
	o.ctx.state.surfaces.Delete(handleValue(h))
	return nil
}

// SurfObjectGetResourceDesc is what a surface shows.
func (t *Thread) SurfObjectGetResourceDesc(h cu.CUsurfObject) (r cu.CUDA_RESOURCE_DESC, err error) {
	o, err := t.surface(h)
	if err != nil {
		return r, err
	}
	return o.res, nil
}
