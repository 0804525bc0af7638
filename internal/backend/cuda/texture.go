package cuda

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"kudzu/internal/backend"
	"kudzu/internal/dl"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// Arrays of a program are plain memory (driver.Array), and the card samples arrays of its own layout. So an array of the card's stands for
// each that a texture or surface shows. It is filled from memory before each launch, and what surfaces may have changed goes back after it:
// this backend is a reference, not a product.

// textures are the objects of a device.
type textures struct {
	mu      lockrank.Mutex[lockrank.CUDATextures]
	objects map[uint64]*object  // guarded by mu
	arrays  map[arrayKey]*array // guarded by mu
}

type object struct {
	kind  uint8
	array *array // nil: plain memory
}

// arrayKey is what arrays are told apart by: the same memory in the same form is the same one.
type arrayKey struct {
	base                   uint64
	dims, layered, cube    uint8
	format, channels, lods uint8
	w, h, d                uint32
}

type array struct {
	key    arrayKey
	t      backend.Texture
	handle uintptr // CUarray, or CUmipmappedArray of several levels
	levels []uintptr
	users  int
	stores int // surfaces among them
}

var _ backend.Textures = (*device)(nil)

var formats = [...]cu.CUarray_format{
	backend.FormatU8: cu.CU_AD_FORMAT_UNSIGNED_INT8, backend.FormatU16: cu.CU_AD_FORMAT_UNSIGNED_INT16, backend.FormatU32: cu.CU_AD_FORMAT_UNSIGNED_INT32,
	backend.FormatS8: cu.CU_AD_FORMAT_SIGNED_INT8, backend.FormatS16: cu.CU_AD_FORMAT_SIGNED_INT16, backend.FormatS32: cu.CU_AD_FORMAT_SIGNED_INT32,
	backend.FormatF16: cu.CU_AD_FORMAT_HALF, backend.FormatF32: cu.CU_AD_FORMAT_FLOAT,
}

var texelBytes = [...]uint64{backend.FormatU8: 1, backend.FormatU16: 2, backend.FormatU32: 4, backend.FormatS8: 1, backend.FormatS16: 2, backend.FormatS32: 4, backend.FormatF16: 2, backend.FormatF32: 4}

// NewTexture makes an object of the driver's.
func (d *device) NewTexture(t *backend.Texture) (uint64, error) {
	if t.Reference != 0 || t.Kind == backend.SamplerObject {
		return 0, &backend.Unsupported{What: "a texture reference on a real driver"}
	}
	s := &d.shown
	s.mu.Lock()
	defer s.mu.Unlock()
	o := &object{kind: t.Kind}
	var h uintptr
	err := d.do(func() error {
		if t.Memory == 0 {
			a, err := d.arrayFor(t)
			if err != nil {
				return err
			}
			o.array = a
		}
		var err error
		h, err = d.create(t, o.array)
		return err
	})
	if err != nil {
		if o.array != nil {
			_ = d.do(func() error { d.release(o); return nil }) // the caller hears of the first error
		}
		return 0, err
	}
	if s.objects == nil {
		s.objects = map[uint64]*object{}
	}
	s.objects[uint64(h)] = o
	return uint64(h), nil
}

// SetTexture would give a handle another meaning, which the driver does not let.
func (d *device) SetTexture(uint64, *backend.Texture) error {
	return &backend.Unsupported{What: "a texture that changes on a real driver"}
}

// FreeTexture ends an object.
func (d *device) FreeTexture(h uint64) error {
	s := &d.shown
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[h]
	if o == nil {
		return backend.ErrNotFound
	}
	delete(s.objects, h)
	return d.do(func() error {
		err := d.api.call(destroyers[o.kind], uintptr(h))
		if o.array != nil {
			d.release(o)
		}
		return err
	})
}

var (
	creators   = map[uint8]string{backend.TextureObject: "cuTexObjectCreate", backend.SurfaceObject: "cuSurfObjectCreate"}
	destroyers = map[uint8]string{backend.TextureObject: "cuTexObjectDestroy", backend.SurfaceObject: "cuSurfObjectDestroy"}
)

// release has one user of an array less. Preconditions: d.shown is locked, the context is current.
func (d *device) release(o *object) {
	a := o.array
	if o.kind == backend.SurfaceObject {
		a.stores--
	}
	if a.users--; a.users > 0 {
		return
	}
	delete(d.shown.arrays, a.key)
	name := "cuArrayDestroy"
	if len(a.levels) > 1 {
		name = "cuMipmappedArrayDestroy"
	}
	_ = d.api.call(name, a.handle) // nothing uses it
}

func keyOf(t *backend.Texture) arrayKey {
	return arrayKey{t.Base[0], t.Dims, t.Layered, t.Cube, t.Format, t.Channels, t.Levels, t.Width[0], t.Height[0], t.Depth[0]}
}

// arrayFor finds or makes the array that stands for a texture's memory. Preconditions: as release.
func (d *device) arrayFor(t *backend.Texture) (*array, error) {
	s := &d.shown
	a := s.arrays[keyOf(t)]
	if a == nil {
		a = &array{key: keyOf(t), t: *t}
		desc := dl.Alloc(40)
		defer desc.Free()
		b := desc.Bytes()
		put(b, 0, uint64(t.Width[0]))
		put(b, 8, uint64(t.Height[0]))
		put(b, 16, uint64(t.Depth[0]))
		binary.LittleEndian.PutUint32(b[24:], uint32(formats[t.Format]))
		binary.LittleEndian.PutUint32(b[28:], uint32(t.Channels))
		flags := uint32(cu.CUDA_ARRAY3D_SURFACE_LDST)
		if t.Layered != 0 {
			flags |= cu.CUDA_ARRAY3D_LAYERED
		}
		if t.Cube != 0 {
			flags |= cu.CUDA_ARRAY3D_CUBEMAP
		}
		if t.Dims == 2 && t.Layered == 0 && t.Levels == 1 {
			flags |= cu.CUDA_ARRAY3D_TEXTURE_GATHER
		}
		binary.LittleEndian.PutUint32(b[32:], flags)
		if err := d.makeArray(a, desc); err != nil {
			return nil, err
		}
		if s.arrays == nil {
			s.arrays = map[arrayKey]*array{}
		}
		s.arrays[a.key] = a
	}
	a.users++
	if t.Kind == backend.SurfaceObject {
		a.stores++
	}
	return a, nil
}

func (d *device) makeArray(a *array, desc *dl.Buffer) (err error) {
	if a.t.Levels <= 1 {
		a.handle, err = d.api.getPtr("cuArray3DCreate_v2", desc.Addr())
		a.levels = []uintptr{a.handle}
		return err
	}
	if a.handle, err = d.api.getPtr("cuMipmappedArrayCreate", desc.Addr(), uintptr(a.t.Levels)); err != nil {
		return err
	}
	for i := range int(a.t.Levels) {
		l, err := d.api.getPtr("cuMipmappedArrayGetLevel", a.handle, uintptr(i))
		if err != nil {
			return errors.Join(err, d.api.call("cuMipmappedArrayDestroy", a.handle))
		}
		a.levels = append(a.levels, l)
	}
	return nil
}

// create makes the driver's object from CUDA_RESOURCE_DESC and CUDA_TEXTURE_DESC.
func (d *device) create(t *backend.Texture, a *array) (uintptr, error) {
	const resourceBytes, textureBytes = 144, 104
	buf := dl.Alloc(resourceBytes + textureBytes)
	defer buf.Free()
	clear(buf.Bytes())
	r, x := buf.Bytes()[:resourceBytes], buf.Bytes()[resourceBytes:]
	word32 := binary.LittleEndian.PutUint32
	switch {
	case a == nil:
		word32(r, uint32(cu.CU_RESOURCE_TYPE_LINEAR))
		put(r, 8, t.Base[0])
		word32(r[16:], uint32(formats[t.Format]))
		word32(r[20:], uint32(t.Channels))
		put(r, 24, uint64(t.Width[0])*uint64(t.Channels)*texelBytes[t.Format])
	case len(a.levels) > 1:
		word32(r, uint32(cu.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY))
		put(r, 8, uint64(a.handle))
	default:
		word32(r, uint32(cu.CU_RESOURCE_TYPE_ARRAY))
		put(r, 8, uint64(a.handle))
	}
	if t.Kind == backend.SurfaceObject {
		return d.api.getPtr(creators[t.Kind], buf.Addr())
	}
	for i := range 3 {
		word32(x[4*i:], uint32(t.Address[i]))
	}
	word32(x[12:], uint32(t.Linear))
	word32(x[16:], flagsOf(t))
	word32(x[20:], uint32(t.Anisotropy))
	word32(x[24:], uint32(t.MipLinear))
	for i, f := range []float32{t.Bias, t.MinLevel, t.MaxLevel, t.Border[0], t.Border[1], t.Border[2], t.Border[3]} {
		word32(x[28+4*i:], math.Float32bits(f))
	}
	return d.api.getPtr(creators[t.Kind], buf.Addr(), buf.Addr()+resourceBytes, 0)
}

// flagsOf are the CU_TRSF flags of a texture.
func flagsOf(t *backend.Texture) (flags uint32) {
	for _, f := range []struct {
		on   uint8
		flag uint32
	}{{t.Integers, cu.CU_TRSF_READ_AS_INTEGER}, {t.Normalized, cu.CU_TRSF_NORMALIZED_COORDINATES}, {t.SRGB, cu.CU_TRSF_SRGB}, {t.Seamless, cu.CU_TRSF_SEAMLESS_CUBEMAP}} {
		if f.on != 0 {
			flags |= f.flag
		}
	}
	return flags
}

// around runs a launch with arrays as memory is, and memory as surfaces left them.
func (q *queue) around(launch func() error) error {
	s := &q.dev.shown
	s.mu.Lock()
	if len(s.arrays) == 0 { // one that is made from here on is not this launch's
		s.mu.Unlock()
		return launch()
	}
	defer s.mu.Unlock()
	for _, a := range s.arrays {
		if err := q.copyArray(a, true); err != nil {
			return fmt.Errorf("array at %#x: %w", a.key.base, err)
		}
	}
	if err := launch(); err != nil {
		return err
	}
	for _, a := range s.arrays {
		if a.stores == 0 {
			continue
		}
		if err := q.copyArray(a, false); err != nil {
			return fmt.Errorf("array at %#x: %w", a.key.base, err)
		}
	}
	return nil
}

// copyArray copies every level from memory or back: a CUDA_MEMCPY3D of 200 bytes each.
func (q *queue) copyArray(a *array, in bool) error {
	const device, inArray = 2, 3
	const source, dest = 0, 88 // where the two sides begin
	for l, h := range a.levels {
		buf := dl.Alloc(200)
		b := buf.Bytes()
		clear(b)
		memory, arr := source, dest
		if !in {
			memory, arr = dest, source
		}
		binary.LittleEndian.PutUint32(b[memory+32:], device)
		put(b, memory+48, a.t.Base[l])
		put(b, memory+72, a.t.Pitch[l])
		rows := uint64(max(1, a.t.Height[l]))
		if a.t.Pitch[l] > 0 && a.t.Slice[l] > 0 {
			rows = a.t.Slice[l] / a.t.Pitch[l]
		}
		put(b, memory+80, rows)
		binary.LittleEndian.PutUint32(b[arr+32:], inArray)
		put(b, arr+56, uint64(h))
		put(b, 176, uint64(a.t.Width[l])*uint64(a.t.Channels)*texelBytes[a.t.Format])
		put(b, 184, uint64(max(1, a.t.Height[l])))
		put(b, 192, uint64(max(1, a.t.Depth[l])))
		err := q.call("cuMemcpy3DAsync_v2", buf.Addr(), q.stream)
		buf.Free()
		if err != nil {
			return err
		}
	}
	return nil
}
