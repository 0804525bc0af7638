package driver

import (
	"kudzu/internal/backend"
	"kudzu/internal/handle"
	"kudzu/internal/spec/cu"
)

// Array is memory of elements that programs name by coordinates. It is laid out as rows without gaps, slices or layers
// after each other.
type Array struct {
	ctx    *Context
	handle cu.CUarray
	desc   cu.CUDA_ARRAY3D_DESCRIPTOR
	level  bool // of a mipmapped array, which owns the memory

	base         uint64
	elem         uint64 // bytes of an element
	pitch, slice uint64 // bytes of a row, and of a slice or layer
	size         uint64
	rows, slices uint64 // at least 1

	blocks     *blockFormat // of compressed blocks: elem, pitch, slice and rows are theirs; else nil
	texels     uint64       // where their texels begin, from base
	texelPitch uint64
}

// Mipmap is an array at several sizes, each half of the one before.
type Mipmap struct {
	ctx    *Context
	handle cu.CUmipmappedArray
	levels []*Array
	base   uint64
}

// formatBytes is the size of one channel, for the formats that are offered.
var formatBytes = map[cu.CUarray_format]uint64{
	cu.CU_AD_FORMAT_UNSIGNED_INT8: 1, cu.CU_AD_FORMAT_UNSIGNED_INT16: 2, cu.CU_AD_FORMAT_UNSIGNED_INT32: 4,
	cu.CU_AD_FORMAT_SIGNED_INT8: 1, cu.CU_AD_FORMAT_SIGNED_INT16: 2, cu.CU_AD_FORMAT_SIGNED_INT32: 4,
	cu.CU_AD_FORMAT_HALF: 2, cu.CU_AD_FORMAT_FLOAT: 4,
}

// fractionFormats are the formats that name their channels and are read as fractions.
var fractionFormats = map[cu.CUarray_format]struct {
	plain    cu.CUarray_format
	channels uint32
}{
	cu.CU_AD_FORMAT_UNORM_INT8X1: {cu.CU_AD_FORMAT_UNSIGNED_INT8, 1}, cu.CU_AD_FORMAT_UNORM_INT8X2: {cu.CU_AD_FORMAT_UNSIGNED_INT8, 2}, cu.CU_AD_FORMAT_UNORM_INT8X4: {cu.CU_AD_FORMAT_UNSIGNED_INT8, 4},
	cu.CU_AD_FORMAT_UNORM_INT16X1: {cu.CU_AD_FORMAT_UNSIGNED_INT16, 1}, cu.CU_AD_FORMAT_UNORM_INT16X2: {cu.CU_AD_FORMAT_UNSIGNED_INT16, 2}, cu.CU_AD_FORMAT_UNORM_INT16X4: {cu.CU_AD_FORMAT_UNSIGNED_INT16, 4},
	cu.CU_AD_FORMAT_SNORM_INT8X1: {cu.CU_AD_FORMAT_SIGNED_INT8, 1}, cu.CU_AD_FORMAT_SNORM_INT8X2: {cu.CU_AD_FORMAT_SIGNED_INT8, 2}, cu.CU_AD_FORMAT_SNORM_INT8X4: {cu.CU_AD_FORMAT_SIGNED_INT8, 4},
	cu.CU_AD_FORMAT_SNORM_INT16X1: {cu.CU_AD_FORMAT_SIGNED_INT16, 1}, cu.CU_AD_FORMAT_SNORM_INT16X2: {cu.CU_AD_FORMAT_SIGNED_INT16, 2}, cu.CU_AD_FORMAT_SNORM_INT16X4: {cu.CU_AD_FORMAT_SIGNED_INT16, 4},
}

// elementBytes is the size of an element; formats of the real driver that are not offered are told apart from nonsense.
func elementBytes(f cu.CUarray_format, channels uint32) (uint64, error) {
	if x, ok := fractionFormats[f]; ok {
		if channels != x.channels {
			return 0, errInvalidValue
		}
		f = x.plain
	}
	n, ok := formatBytes[f]
	switch {
	case !ok && f >= cu.CU_AD_FORMAT_BC1_UNORM && f < cu.CU_AD_FORMAT_MAX: // compressed blocks (tex_block.go), planes, packed channels
		return 0, errNotSupported
	case !ok || channels != 1 && channels != 2 && channels != 4:
		return 0, errInvalidValue
	}
	return n * uint64(channels), nil
}

// Bounds of arrays, those of compute capability 9.0.
const (
	maxArrayWidth  = 131072
	maxArrayHeight = 65536
	maxArrayDepth  = 16384
	maxLayers      = 2048
	cubeFaces      = 6
)

const arrayFlags = cu.CUDA_ARRAY3D_LAYERED | cu.CUDA_ARRAY3D_SURFACE_LDST | cu.CUDA_ARRAY3D_CUBEMAP | cu.CUDA_ARRAY3D_TEXTURE_GATHER |
	cu.CUDA_ARRAY3D_DEPTH_TEXTURE | cu.CUDA_ARRAY3D_COLOR_ATTACHMENT

// arrayShape checks a description and lays it out.
func arrayShape(d *cu.CUDA_ARRAY3D_DESCRIPTOR) (*Array, error) {
	block := blockFormats[d.Format]
	elem, err := elementBytes(d.Format, d.NumChannels)
	if err != nil && block == nil {
		return nil, err
	}
	if d.Flags&(cu.CUDA_ARRAY3D_SPARSE|cu.CUDA_ARRAY3D_DEFERRED_MAPPING|cu.CUDA_ARRAY3D_VIDEO_ENCODE_DECODE) != 0 {
		return nil, errNotSupported
	}
	layered, cube := d.Flags&cu.CUDA_ARRAY3D_LAYERED != 0, d.Flags&cu.CUDA_ARRAY3D_CUBEMAP != 0
	switch {
	case d.Width == 0 || d.Width > maxArrayWidth || d.Height > maxArrayHeight || d.Flags&^uint32(arrayFlags) != 0:
		return nil, errInvalidValue
	case d.Flags&cu.CUDA_ARRAY3D_TEXTURE_GATHER != 0 && (layered || cube || d.Height == 0 || d.Depth != 0):
		return nil, errInvalidValue
	case d.Flags&cu.CUDA_ARRAY3D_DEPTH_TEXTURE != 0:
		return nil, errInvalidValue
	case cube && (d.Width != d.Height || d.Depth == 0 || d.Depth%cubeFaces != 0 || !layered && d.Depth != cubeFaces):
		return nil, errInvalidValue
	case layered && (d.Depth == 0 || d.Depth > maxLayers):
		return nil, errInvalidValue
	case !layered && !cube && d.Depth > 0 && (d.Height == 0 || d.Depth > maxArrayDepth || d.Width > maxArrayDepth || d.Height > maxArrayDepth):
		return nil, errInvalidValue
	}
	a := &Array{desc: *d, elem: elem, rows: max(1, d.Height), slices: max(1, d.Depth)}
	if block != nil {
		return a, a.blockShape(block)
	}
	a.pitch = d.Width * elem
	a.slice = a.pitch * a.rows
	a.size = a.slice * a.slices
	return a, nil
}

// arrayShape is that for a device: blocks are decoded where the host can read what was copied.
func (c *Context) arrayShape(d *cu.CUDA_ARRAY3D_DESCRIPTOR) (*Array, error) {
	a, err := arrayShape(d)
	if err == nil && a.blocks != nil && !oneMemory(c.dev.info) {
		return nil, errNotSupported
	}
	return a, err
}

// newArray gives an array a handle.
func (c *Context) newArray(a *Array) error {
	a.ctx = c
	h := c.state.arrays.New(a)
	if h == 0 {
		return errOutOfMemory
	}
	a.handle = cu.CUarray(h)
	return nil
}

// dropArrays ends the arrays of a context that ends, and the objects that show them.
func (s *state) dropArrays(c *Context) {
	s.arrays.All(func(v handle.Value, a *Array) bool {
		if a.ctx == c && s.arrays.Delete(v) != nil && !a.level {
			_ = c.dev.dev.Memory().Free(backend.Addr(a.base))
		}
		return true
	})
	s.mipmaps.All(func(v handle.Value, m *Mipmap) bool {
		if m.ctx == c && s.mipmaps.Delete(v) != nil {
			_ = c.dev.dev.Memory().Free(backend.Addr(m.base))
		}
		return true
	})
	s.texRefs.All(func(v handle.Value, r *TexRef) bool {
		if r.ctx == c { // a module's go with it, and then once more does no harm
			s.texRefs.Delete(v)
		}
		return true
	})
	s.dropObjects(c)
}

// array finds an array.
func (s *state) array(h cu.CUarray) (*Array, error) {
	a := s.arrays.Get(handleValue(h))
	if a == nil {
		return nil, errInvalidHandle
	}
	return a, a.ctx.usable()
}

func (t *Thread) array(h cu.CUarray) (*Array, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	return s.array(h)
}

// Array3DCreate makes an array of up to three dimensions, or of layers.
func (t *Thread) Array3DCreate(d *cu.CUDA_ARRAY3D_DESCRIPTOR) (cu.CUarray, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	a, err := c.arrayShape(d)
	if err != nil {
		return 0, err
	}
	if err := t.risky(c.state); err != nil {
		return 0, err
	}
	addr, err := c.dev.allocMemory(a.size, 512)
	if err != nil {
		return 0, c.fail(err)
	}
	a.base = uint64(addr)
	if err := c.newArray(a); err != nil {
		_ = c.dev.dev.Memory().Free(addr)
		return 0, err
	}
	return a.handle, nil
}

// ArrayCreate makes an array of one or two dimensions.
func (t *Thread) ArrayCreate(d *cu.CUDA_ARRAY_DESCRIPTOR) (cu.CUarray, error) {
	return t.Array3DCreate(&cu.CUDA_ARRAY3D_DESCRIPTOR{Width: d.Width, Height: d.Height, Format: d.Format, NumChannels: d.NumChannels})
}

// ArrayCreateV1 is the old form.
func (t *Thread) ArrayCreateV1(d *cu.CUDA_ARRAY_DESCRIPTOR_v1) (cu.CUarray, error) {
	return t.Array3DCreate(&cu.CUDA_ARRAY3D_DESCRIPTOR{Width: uint64(d.Width), Height: uint64(d.Height), Format: d.Format, NumChannels: d.NumChannels})
}

// Array3DCreateV1 is the old form.
func (t *Thread) Array3DCreateV1(d *cu.CUDA_ARRAY3D_DESCRIPTOR_v1) (cu.CUarray, error) {
	return t.Array3DCreate(&cu.CUDA_ARRAY3D_DESCRIPTOR{Width: uint64(d.Width), Height: uint64(d.Height), Depth: uint64(d.Depth), Format: d.Format, NumChannels: d.NumChannels, Flags: d.Flags})
}

// ArrayDestroy gives an array back once the work of its context is done.
func (t *Thread) ArrayDestroy(h cu.CUarray) error {
	a, err := t.array(h)
	if err != nil {
		return err
	}
	if a.level { // as the real driver: the name ends, the memory stays with the whole
		if a.ctx.state.arrays.Delete(handleValue(h)) == nil {
			return errInvalidHandle
		}
		return nil
	}
	if err := t.risky(a.ctx.state); err != nil {
		return err
	}
	if err := a.ctx.sync(); err != nil {
		return err
	}
	if a.ctx.state.arrays.Delete(handleValue(h)) == nil {
		return errInvalidHandle
	}
	return a.ctx.fail(a.ctx.dev.dev.Memory().Free(backend.Addr(a.base)))
}

// Array3DGetDescriptor is what an array was made with.
func (t *Thread) Array3DGetDescriptor(h cu.CUarray) (d cu.CUDA_ARRAY3D_DESCRIPTOR, err error) {
	a, err := t.array(h)
	if err != nil {
		return d, err
	}
	return a.desc, nil
}

// ArrayGetDescriptor is the same for two dimensions.
func (t *Thread) ArrayGetDescriptor(h cu.CUarray) (d cu.CUDA_ARRAY_DESCRIPTOR, err error) {
	a, err := t.array(h)
	if err != nil {
		return d, err
	}
	return cu.CUDA_ARRAY_DESCRIPTOR{Width: a.desc.Width, Height: a.desc.Height, Format: a.desc.Format, NumChannels: a.desc.NumChannels}, nil
}

// ArrayGetDescriptorV1 is the old form.
func (t *Thread) ArrayGetDescriptorV1(h cu.CUarray) (d cu.CUDA_ARRAY_DESCRIPTOR_v1, err error) {
	a, err := t.array(h)
	if err != nil {
		return d, err
	}
	return cu.CUDA_ARRAY_DESCRIPTOR_v1{Width: uint32(a.desc.Width), Height: uint32(a.desc.Height), Format: a.desc.Format, NumChannels: a.desc.NumChannels}, nil
}

// Array3DGetDescriptorV1 is the old form.
func (t *Thread) Array3DGetDescriptorV1(h cu.CUarray) (d cu.CUDA_ARRAY3D_DESCRIPTOR_v1, err error) {
	a, err := t.array(h)
	if err != nil {
		return d, err
	}
	return cu.CUDA_ARRAY3D_DESCRIPTOR_v1{Width: uint32(a.desc.Width), Height: uint32(a.desc.Height), Depth: uint32(a.desc.Depth), Format: a.desc.Format, NumChannels: a.desc.NumChannels, Flags: a.desc.Flags}, nil
}

// volume is the array as one side of a copy.
func (a *Array) volume(x, y, z uint64, p *cu.CUDA_MEMCPY3D) (volume, error) {
	if x%a.elem != 0 || p.WidthInBytes%a.elem != 0 || x > a.pitch || p.WidthInBytes > a.pitch-x || y > a.rows || p.Height > a.rows-y || z > a.slices || p.Depth > a.slices-z {
		return volume{}, errInvalidValue
	}
	return volume{rows{place{addr: a.base + z*a.slice + y*a.pitch + x}, a.pitch}, a.slice}, nil
}

// MipmappedArrayCreate makes an array at several sizes: one at least, as many as fit at most.
func (t *Thread) MipmappedArrayCreate(d *cu.CUDA_ARRAY3D_DESCRIPTOR, n uint32) (cu.CUmipmappedArray, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	m := &Mipmap{ctx: c}
	next := *d
	total := uint64(0)
	for {
		a, err := c.arrayShape(&next)
		if err != nil {
			return 0, err
		}
		a.level, a.base = true, total
		total += (a.size + 511) &^ 511
		m.levels = append(m.levels, a)
		layers := d.Flags&(cu.CUDA_ARRAY3D_LAYERED|cu.CUDA_ARRAY3D_CUBEMAP) != 0
		if uint32(len(m.levels)) >= n || next.Width == 1 && next.Height <= 1 && (layers || next.Depth <= 1) {
			break
		}
		next.Width, next.Height = max(1, next.Width/2), half(next.Height)
		if !layers {
			next.Depth = half(next.Depth)
		}
	}
	addr, err := c.dev.allocMemory(total, 512)
	if err != nil {
		return 0, c.fail(err)
	}
	m.base = uint64(addr)
	for _, a := range m.levels {
		a.base += m.base
		if err := c.newArray(a); err != nil {
			return 0, err
		}
	}
	h := c.state.mipmaps.New(m)
	if h == 0 {
		return 0, errOutOfMemory
	}
	m.handle = cu.CUmipmappedArray(h)
	return m.handle, nil
}

// half is the size of a dimension at the next level; a dimension that is not there stays away.
func half(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	return max(1, n/2)
}

func (t *Thread) mipmap(h cu.CUmipmappedArray) (*Mipmap, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	m := s.mipmaps.Get(handleValue(h))
	if m == nil {
		return nil, errInvalidHandle
	}
	return m, m.ctx.usable()
}

// MipmappedArrayGetLevel is one size of a mipmapped array; it belongs to it.
func (t *Thread) MipmappedArrayGetLevel(h cu.CUmipmappedArray, level uint32) (cu.CUarray, error) {
	m, err := t.mipmap(h)
	if err != nil {
		return 0, err
	}
	if level >= uint32(len(m.levels)) {
		return 0, errInvalidValue
	}
	return m.levels[level].handle, nil
}

// MipmappedArrayDestroy gives all levels back.
func (t *Thread) MipmappedArrayDestroy(h cu.CUmipmappedArray) error {
	m, err := t.mipmap(h)
	if err != nil {
		return err
	}
	s := m.ctx.state
	if err := m.ctx.sync(); err != nil {
		return err
	}
	if s.mipmaps.Delete(handleValue(h)) == nil {
		return errInvalidHandle
	}
	for _, a := range m.levels {
		s.arrays.Delete(handleValue(a.handle))
	}
	return m.ctx.fail(m.ctx.dev.dev.Memory().Free(backend.Addr(m.base)))
}
