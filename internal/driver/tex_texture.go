package driver

import (
	"kudzu/internal/backend"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// Texture is memory as kernels sample it: what it is, and how. The backend has it in the form that kernels read.
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

// objects are found by the handles that kernels use, which the backend gives out.
type objects[T any] struct {
	mu lockrank.RWMutex[lockrank.DriverObjects]
	m  map[uint64]*T // guarded by mu
}

func (o *objects[T]) get(h uint64) *T {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.m[h]
}

func (o *objects[T]) put(h uint64, x *T) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.m == nil {
		o.m = map[uint64]*T{}
	}
	o.m[h] = x
}

// take removes an object; false if another thread was first.
func (o *objects[T]) take(h uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.m[h]
	delete(o.m, h)
	return ok
}

// takeIf removes all that f picks.
func (o *objects[T]) takeIf(f func(*T) bool) (taken []uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for h, x := range o.m {
		if f(x) {
			delete(o.m, h)
			taken = append(taken, h)
		}
	}
	return taken
}

// sampling is the device's own side of textures.
func (c *Context) sampling() (backend.Textures, error) {
	if b, ok := c.dev.dev.(backend.Textures); ok {
		return b, nil
	}
	return nil, errNotSupported
}

// dropObjects ends the textures and surfaces of a context that ends.
func (s *state) dropObjects(c *Context) {
	gone := s.textures.takeIf(func(o *Texture) bool { return o.ctx == c })
	gone = append(gone, s.surfaces.takeIf(func(o *Surface) bool { return o.ctx == c })...)
	if b, err := c.sampling(); err == nil {
		for _, h := range gone {
			_ = b.FreeTexture(h)
		}
	}
}

// shown is what kernels need of an array's description, format and shape.
func shown(x *backend.Texture, d *cu.CUDA_ARRAY3D_DESCRIPTOR) {
	x.Format, x.Channels = codeOf(d.Format), uint8(d.NumChannels)
	if f := blockFormats[d.Format]; f != nil {
		x.Format, x.Channels = f.texel, uint8(f.channels)
	}
	x.Dims = 1
	if d.Height > 0 {
		x.Dims = 2
	}
	if d.Flags&cu.CUDA_ARRAY3D_LAYERED != 0 {
		x.Layered = 1
	} else if d.Depth > 0 {
		x.Dims = 3
	}
	if d.Flags&cu.CUDA_ARRAY3D_CUBEMAP != 0 {
		x.Cube, x.Dims = 1, 3
	}
}

// formatCode is a format as backends number them.
var formatCode = map[cu.CUarray_format]uint8{
	cu.CU_AD_FORMAT_UNSIGNED_INT8: backend.FormatU8, cu.CU_AD_FORMAT_UNSIGNED_INT16: backend.FormatU16, cu.CU_AD_FORMAT_UNSIGNED_INT32: backend.FormatU32,
	cu.CU_AD_FORMAT_SIGNED_INT8: backend.FormatS8, cu.CU_AD_FORMAT_SIGNED_INT16: backend.FormatS16, cu.CU_AD_FORMAT_SIGNED_INT32: backend.FormatS32,
	cu.CU_AD_FORMAT_HALF: backend.FormatF16, cu.CU_AD_FORMAT_FLOAT: backend.FormatF32,
}

// codeOf is the number of a format, of one that is read as fractions too.
func codeOf(f cu.CUarray_format) uint8 {
	if x, ok := fractionFormats[f]; ok {
		f = x.plain
	}
	return formatCode[f]
}

// level adds an array as the next level.
func level(x *backend.Texture, a *Array) {
	l := x.Levels
	x.Base[l], x.Pitch[l], x.Slice[l] = a.base, a.pitch, a.slice
	if a.blocks != nil {
		x.Base[l], x.Pitch[l], x.Slice[l] = a.base+a.texels, a.texelPitch, a.texelPitch*a.desc.Height
	}
	x.Width[l], x.Height[l], x.Depth[l] = uint32(a.desc.Width), uint32(a.desc.Height), uint32(a.desc.Depth)
	x.Levels++
}

// showArray shows one array.
func showArray(x *backend.Texture, a *Array) {
	shown(x, &a.desc)
	level(x, a)
}

// resource shows what a description names.
func (t *Thread) resource(x *backend.Texture, r *cu.CUDA_RESOURCE_DESC) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	if r.Flags != 0 {
		return errInvalidValue
	}
	switch r.ResType {
	case cu.CU_RESOURCE_TYPE_ARRAY:
		if r.Res.Array().HArray == 0 {
			return errInvalidValue
		}
		a, err := t.array(r.Res.Array().HArray)
		if err != nil {
			return err
		}
		showArray(x, a)
		return nil
	case cu.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		m, err := t.mipmap(r.Res.Mipmap().HMipmappedArray)
		if err != nil {
			return err
		}
		shown(x, &m.levels[0].desc)
		for _, a := range m.levels {
			level(x, a)
		}
		return nil
	case cu.CU_RESOURCE_TYPE_LINEAR:
		l := r.Res.Linear()
		return s.showMemory(x, uint64(l.DevPtr), l.SizeInBytes, l.Format, l.NumChannels)
	case cu.CU_RESOURCE_TYPE_PITCH2D:
		p := r.Res.Pitch2D()
		return s.showPitched(x, uint64(p.DevPtr), p.Width, p.Height, p.PitchInBytes, p.Format, p.NumChannels)
	}
	return errInvalidValue
}

// showMemory shows plain memory as one row.
func (s *state) showMemory(x *backend.Texture, addr, bytes uint64, f cu.CUarray_format, channels uint32) error {
	n, err := elementBytes(f, channels)
	if err != nil {
		return err
	}
	if addr%pitchAlign != 0 || bytes > maxPitch {
		return errInvalidValue
	}
	if _, err := s.known1D(addr, max(1, bytes)); err != nil {
		return err
	}
	x.Format, x.Channels, x.Dims, x.Memory, x.Levels = codeOf(f), uint8(channels), 1, 1, 1
	x.Base[0], x.Pitch[0], x.Width[0] = addr, bytes, uint32(min(bytes/n, 1<<31))
	return nil
}

// showPitched shows plain memory as rows.
func (s *state) showPitched(x *backend.Texture, addr, w, h, pitch uint64, f cu.CUarray_format, channels uint32) error {
	n, err := elementBytes(f, channels)
	if err != nil {
		return err
	}
	if w == 0 || h == 0 || w > maxArrayWidth || h > maxArrayHeight || pitch > maxPitch || pitch < w*n || addr%pitchAlign != 0 {
		return errInvalidValue
	}
	if _, err := s.known1D(addr, (h-1)*pitch+w*n); err != nil {
		return err
	}
	x.Format, x.Channels, x.Dims, x.Levels = codeOf(f), uint8(channels), 2, 1
	x.Base[0], x.Pitch[0], x.Width[0], x.Height[0] = addr, pitch, uint32(w), uint32(h)
	return nil
}

// sampler sets how a texture is sampled. Modes of dimensions that it does not have may be anything.
func sampler(x *backend.Texture, d *cu.CUDA_TEXTURE_DESC) error {
	const known = cu.CU_TRSF_READ_AS_INTEGER | cu.CU_TRSF_NORMALIZED_COORDINATES | cu.CU_TRSF_SRGB | cu.CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | cu.CU_TRSF_SEAMLESS_CUBEMAP
	if d.Flags&^uint32(known) != 0 || d.Flags&cu.CU_TRSF_SEAMLESS_CUBEMAP != 0 && x.Cube == 0 {
		return errInvalidValue
	}
	for i, m := range d.AddressMode {
		switch {
		case m >= cu.CU_TR_ADDRESS_MODE_WRAP && m <= cu.CU_TR_ADDRESS_MODE_BORDER:
			x.Address[i] = uint8(m)
		case i < int(x.Dims):
			return errInvalidValue
		}
	}
	filter := func(f cu.CUfilter_mode, to *uint8) error {
		if f < cu.CU_TR_FILTER_MODE_POINT || f > cu.CU_TR_FILTER_MODE_LINEAR {
			return errInvalidValue
		}
		*to = uint8(f)
		return nil
	}
	if err := filter(d.FilterMode, &x.Linear); err != nil {
		return err
	}
	if err := filter(d.MipmapFilterMode, &x.MipLinear); err != nil {
		return err
	}
	flag := func(bit uint32) uint8 {
		if d.Flags&bit != 0 {
			return 1
		}
		return 0
	}
	x.Integers, x.Normalized, x.SRGB, x.Seamless = flag(cu.CU_TRSF_READ_AS_INTEGER), flag(cu.CU_TRSF_NORMALIZED_COORDINATES), flag(cu.CU_TRSF_SRGB), flag(cu.CU_TRSF_SEAMLESS_CUBEMAP)
	x.Anisotropy = uint8(min(d.MaxAnisotropy, 16))
	x.Bias, x.MinLevel, x.MaxLevel, x.Border = d.MipmapLevelBias, d.MinMipmapLevelClamp, d.MaxMipmapLevelClamp, d.BorderColor
	return nil
}

// TexObjectCreate makes a texture of memory.
func (t *Thread) TexObjectCreate(r *cu.CUDA_RESOURCE_DESC, d *cu.CUDA_TEXTURE_DESC, v *cu.CUDA_RESOURCE_VIEW_DESC) (cu.CUtexObject, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	b, err := c.sampling()
	if err != nil {
		return 0, err
	}
	x := backend.Texture{Kind: backend.TextureObject}
	if err := t.resource(&x, r); err != nil {
		return 0, err
	}
	if err := sampler(&x, d); err != nil {
		return 0, err
	}
	if f := t.blocksOf(r); f != nil {
		if err := f.sampled(&x); err != nil || v != nil {
			return 0, errInvalidValue
		}
	}
	o := &Texture{ctx: c, res: *r, tex: *d}
	if v != nil {
		if x.Memory == 0 && r.ResType != cu.CU_RESOURCE_TYPE_PITCH2D {
			if err := viewed(&x, v); err != nil {
				return 0, err
			}
		}
		w := *v
		o.view = &w
	}
	h, err := b.NewTexture(&x)
	if err != nil {
		return 0, errOutOfMemory
	}
	c.state.textures.put(h, o)
	return cu.CUtexObject(h), nil
}

// blocksOf is the format of what a description names, if it is of compressed blocks.
func (t *Thread) blocksOf(r *cu.CUDA_RESOURCE_DESC) *blockFormat {
	switch r.ResType {
	case cu.CU_RESOURCE_TYPE_ARRAY:
		if a, err := t.array(r.Res.Array().HArray); err == nil {
			return a.blocks
		}
	case cu.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		if m, err := t.mipmap(r.Res.Mipmap().HMipmappedArray); err == nil {
			return m.levels[0].blocks
		}
	}
	return nil
}

func (t *Thread) texture(h cu.CUtexObject) (*Texture, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	if o := s.textures.get(uint64(h)); o != nil {
		return o, o.ctx.usable()
	}
	return nil, errInvalidValue
}

// TexObjectDestroy gives a texture back. A handle that is none is taken silently, as the real driver does.
func (t *Thread) TexObjectDestroy(h cu.CUtexObject) error {
	if _, err := t.context(); err != nil {
		return err
	}
	o, err := t.texture(h)
	if o == nil && err == errInvalidValue {
		return nil
	}
	if err != nil {
		return err
	}
	if !o.ctx.state.textures.take(uint64(h)) {
		return errInvalidValue
	}
	return o.ctx.dropObject(uint64(h))
}

// dropObject ends a handle of kernels once the work that may use it is done.
func (c *Context) dropObject(h uint64) error {
	b, err := c.sampling()
	if err != nil {
		return err
	}
	if err := c.sync(); err != nil {
		_ = b.FreeTexture(h)
		return err
	}
	return c.fail(b.FreeTexture(h))
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
	if o.view == nil { // a view of nothing, as the real driver says
		return v, nil
	}
	return *o.view, nil
}
