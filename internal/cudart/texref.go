package cudart

import (
	"runtime"
	"structs"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// Texture and surface references of programs built before CUDA 12: variables of the program that stand for .texref and .surfref
// variables of its kernels. A binding reads the variable and sets the driver's reference accordingly.

// textureReference is the program's variable.
type textureReference struct {
	_ structs.HostLayout

	Normalized  int32
	Filter      int32
	Address     [3]int32
	Channel     rt.CudaChannelFormatDesc
	SRGB        int32
	Anisotropy  uint32
	MipFilter   int32
	Bias        float32
	Least, Most float32
	NoTrilinear int32
	_           [14]int32
}

const (
	errInvalidTexture        = Error(rt.CudaErrorInvalidTexture)
	errInvalidTextureBinding = Error(rt.CudaErrorInvalidTextureBinding)
	errInvalidSurface        = Error(rt.CudaErrorInvalidSurface)
)

// reference finds what the program registered by this address, and the module it is in.
func (t *Thread) reference(host hostmem.Ptr, kind int32, missing Error) (*driver.Thread, *entry, cu.CUmodule, string, error) {
	d, err := t.ready()
	if err != nil {
		return nil, nil, 0, "", err
	}
	e := registered.find(d, host)
	if host == hostmem.Nil || e == nil || e.kind != kind {
		return nil, nil, 0, "", missing
	}
	lib, err := e.fatbin.library(d)
	if err != nil {
		return nil, nil, 0, "", err
	}
	m, err := d.LibraryGetModule(lib)
	if err != nil {
		return nil, nil, 0, "", err
	}
	return d, e, m, hostmem.String(e.name), nil
}

// bindTexture sets the driver's reference as the program's variable says, and binds with f.
func (t *Thread) bindTexture(host, desc hostmem.Ptr, f func(d *driver.Thread, e *entry, r cu.CUtexref, format cu.CUarray_format, channels uint32) error) error {
	d, e, m, name, err := t.reference(host, noteTexture, errInvalidTexture)
	if err != nil {
		return err
	}
	v := hostmem.Load[textureReference](host)
	c := v.Channel
	if desc != hostmem.Nil {
		c = hostmem.Load[rt.CudaChannelFormatDesc](desc)
	}
	format, n, err := channels(&c)
	if err != nil {
		return err
	}
	r, err := d.ModuleGetTexRef(m, name)
	if err != nil {
		return err
	}
	flags := uint32(0)
	if e.detail == 0 && c.F != rt.CudaChannelFormatKindFloat {
		flags |= cu.CU_TRSF_READ_AS_INTEGER
	}
	if v.Normalized != 0 {
		flags |= cu.CU_TRSF_NORMALIZED_COORDINATES
	}
	if v.SRGB != 0 {
		flags |= cu.CU_TRSF_SRGB
	}
	if v.NoTrilinear != 0 {
		flags |= cu.CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION
	}
	set := []error{
		d.TexRefSetFormat(r, format, int32(n)), d.TexRefSetFlags(r, flags), d.TexRefSetFilterMode(r, cu.CUfilter_mode(v.Filter)),
		d.TexRefSetMaxAnisotropy(r, v.Anisotropy), d.TexRefSetMipmapFilterMode(r, cu.CUfilter_mode(v.MipFilter)),
		d.TexRefSetMipmapLevelBias(r, v.Bias), d.TexRefSetMipmapLevelClamp(r, v.Least, v.Most),
	}
	for i, a := range v.Address {
		set = append(set, d.TexRefSetAddressMode(r, int32(i), cu.CUaddress_mode(a)))
	}
	for _, err := range set {
		if err != nil {
			return err
		}
	}
	return f(d, e, r, format, n)
}

// BindTexture binds plain memory as one row.
func (t *Thread) BindTexture(offset, host, p, desc hostmem.Ptr, size uint64) error {
	return t.bindTexture(host, desc, func(d *driver.Thread, e *entry, r cu.CUtexref, _ cu.CUarray_format, _ uint32) error {
		var skip uint64
		defer runtime.KeepAlive(&skip)
		at := hostmem.Of(&skip)
		if offset == hostmem.Nil { // then the memory must begin at a multiple of the alignment
			at = hostmem.Nil
		}
		if a, n, err := d.MemGetAddressRange(driver.DevPtr(p)); err == nil { // more than there is means what there is
			size = min(size, uint64(a)+n-uint64(p))
		}
		if err := d.TexRefSetAddress(at, r, driver.DevPtr(p), size); err != nil {
			return err
		}
		e.offset.Store(skip)
		if offset != hostmem.Nil {
			hostmem.Store(offset, skip)
		}
		return nil
	})
}

// BindTexture2D binds plain memory as rows.
func (t *Thread) BindTexture2D(offset, host, p, desc hostmem.Ptr, w, h, pitch uint64) error {
	return t.bindTexture(host, desc, func(d *driver.Thread, e *entry, r cu.CUtexref, format cu.CUarray_format, n uint32) error {
		shape := cu.CUDA_ARRAY_DESCRIPTOR{Width: w, Height: h, Format: format, NumChannels: n}
		defer runtime.KeepAlive(&shape)
		if err := d.TexRefSetAddress2D(r, hostmem.Of(&shape), driver.DevPtr(p), pitch); err != nil {
			return err
		}
		e.offset.Store(0)
		if offset != hostmem.Nil {
			hostmem.Store(offset, uint64(0))
		}
		return nil
	})
}

// BindTextureToArray binds an array.
func (t *Thread) BindTextureToArray(host hostmem.Ptr, a rt.CudaArray_const_t, desc hostmem.Ptr) error {
	return t.bindTexture(host, desc, func(d *driver.Thread, e *entry, r cu.CUtexref, _ cu.CUarray_format, _ uint32) error {
		e.offset.Store(0)
		return d.TexRefSetArray(r, cu.CUarray(a), cu.CU_TRSA_OVERRIDE_FORMAT)
	})
}

// BindTextureToMipmappedArray binds an array of several levels.
func (t *Thread) BindTextureToMipmappedArray(host hostmem.Ptr, a rt.CudaMipmappedArray_const_t, desc hostmem.Ptr) error {
	return t.bindTexture(host, desc, func(d *driver.Thread, e *entry, r cu.CUtexref, _ cu.CUarray_format, _ uint32) error {
		e.offset.Store(0)
		return d.TexRefSetMipmappedArray(r, cu.CUmipmappedArray(a), cu.CU_TRSA_OVERRIDE_FORMAT)
	})
}

// UnbindTexture leaves a reference with nothing.
func (t *Thread) UnbindTexture(host hostmem.Ptr) error {
	d, e, m, name, err := t.reference(host, noteTexture, errInvalidTexture)
	if err != nil {
		return err
	}
	r, err := d.ModuleGetTexRef(m, name)
	if err != nil {
		return err
	}
	e.offset.Store(0)
	var none uint64
	defer runtime.KeepAlive(&none)
	return d.TexRefSetAddress(hostmem.Of(&none), r, 0, 0)
}

// GetTextureAlignmentOffset is what the last binding said that kernels must skip.
func (t *Thread) GetTextureAlignmentOffset(offset, host hostmem.Ptr) error {
	d, e, m, name, err := t.reference(host, noteTexture, errInvalidTexture)
	if err != nil {
		return err
	}
	r, err := d.ModuleGetTexRef(m, name)
	if err != nil {
		return err
	}
	if offset == hostmem.Nil {
		return errInvalidValue
	}
	if !d.TexRefBound(r) {
		return errInvalidTextureBinding
	}
	hostmem.Store(offset, e.offset.Load())
	return nil
}

// GetTextureReference is the reference of a symbol: its own address.
func (t *Thread) GetTextureReference(out, symbol hostmem.Ptr) error {
	return t.referenceOf(out, symbol, noteTexture, errInvalidTexture)
}

// GetSurfaceReference is the same for a surface.
func (t *Thread) GetSurfaceReference(out, symbol hostmem.Ptr) error {
	return t.referenceOf(out, symbol, noteSurface, errInvalidSurface)
}

func (t *Thread) referenceOf(out, symbol hostmem.Ptr, kind int32, missing Error) error {
	if _, _, _, _, err := t.reference(symbol, kind, missing); err != nil {
		return err
	}
	if out == hostmem.Nil {
		return errInvalidValue
	}
	hostmem.Store(out, uint64(symbol))
	return nil
}

// BindSurfaceToArray binds an array to a surface reference.
func (t *Thread) BindSurfaceToArray(host hostmem.Ptr, a rt.CudaArray_const_t, desc hostmem.Ptr) error {
	d, _, m, name, err := t.reference(host, noteSurface, errInvalidSurface)
	if err != nil {
		return err
	}
	if desc == hostmem.Nil {
		return errInvalidValue
	}
	r, err := d.ModuleGetSurfRef(m, name)
	if err != nil {
		return err
	}
	return d.SurfRefSetArray(r, cu.CUarray(a), 0)
}
