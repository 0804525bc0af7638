package driver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// How a texture reference is sampled. As on the card, formats and filters that are none are kept and answered, too; what kernels see
// then is TexRef.object's to say. Address modes that are none change nothing. What a bound array cannot do shows at the launch.

// TexRefSetFormat says what plain memory consists of.
func (t *Thread) TexRefSetFormat(h cu.CUtexref, f cu.CUarray_format, channels int32) error {
	return t.setTexRef(h, func(r *TexRef) error {
		if channels < 0 || channels > 4 || channels == 3 {
			return errInvalidValue
		}
		r.format, r.channels = f, uint32(channels)
		return nil
	})
}

// TexRefGetFormat is the format of what is bound, or the one that was set; either half may be left out.
func (t *Thread) TexRefGetFormat(format, channels hostmem.Ptr, h cu.CUtexref) error {
	r, err := t.texRef(h)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if format != hostmem.Nil {
		hostmem.Store(format, r.format)
	}
	if channels != hostmem.Nil {
		hostmem.Store(channels, int32(r.channels))
	}
	return nil
}

// TexRefSetAddressMode says what happens outside in one dimension.
func (t *Thread) TexRefSetAddressMode(h cu.CUtexref, dim int32, mode cu.CUaddress_mode) error {
	return t.setTexRef(h, func(r *TexRef) error {
		if dim < 0 || int(dim) >= len(r.tex.AddressMode) {
			return errInvalidValue
		}
		if mode >= cu.CU_TR_ADDRESS_MODE_WRAP && mode <= cu.CU_TR_ADDRESS_MODE_BORDER {
			r.tex.AddressMode[dim] = mode
		}
		return nil
	})
}

// TexRefGetAddressMode reads it.
func (t *Thread) TexRefGetAddressMode(h cu.CUtexref, dim int32) (cu.CUaddress_mode, error) {
	return askTexRef(t, h, func(r *TexRef) (cu.CUaddress_mode, error) {
		if dim < 0 || int(dim) >= len(r.tex.AddressMode) {
			return 0, errInvalidValue
		}
		return r.tex.AddressMode[dim], nil
	})
}

// TexRefSetFilterMode chooses points or a mean of neighbours.
func (t *Thread) TexRefSetFilterMode(h cu.CUtexref, m cu.CUfilter_mode) error {
	return t.setTexRef(h, func(r *TexRef) error { r.tex.FilterMode = m; return nil })
}

// TexRefGetFilterMode reads it.
func (t *Thread) TexRefGetFilterMode(h cu.CUtexref) (cu.CUfilter_mode, error) {
	return askTexRef(t, h, func(r *TexRef) (cu.CUfilter_mode, error) { return r.tex.FilterMode, nil })
}

// TexRefSetMipmapFilterMode does so between levels.
func (t *Thread) TexRefSetMipmapFilterMode(h cu.CUtexref, m cu.CUfilter_mode) error {
	return t.setTexRef(h, func(r *TexRef) error {
		if m != cu.CU_TR_FILTER_MODE_POINT && m != cu.CU_TR_FILTER_MODE_LINEAR {
			return errInvalidValue
		}
		r.tex.MipmapFilterMode = m
		return nil
	})
}

// TexRefGetMipmapFilterMode reads it.
func (t *Thread) TexRefGetMipmapFilterMode(h cu.CUtexref) (cu.CUfilter_mode, error) {
	return askTexRef(t, h, func(r *TexRef) (cu.CUfilter_mode, error) { return r.tex.MipmapFilterMode, nil })
}

// TexRefSetMipmapLevelBias is added to every level.
func (t *Thread) TexRefSetMipmapLevelBias(h cu.CUtexref, bias float32) error {
	return t.setTexRef(h, func(r *TexRef) error { r.tex.MipmapLevelBias = bias; return nil })
}

// TexRefGetMipmapLevelBias reads it.
func (t *Thread) TexRefGetMipmapLevelBias(h cu.CUtexref) (float32, error) {
	return askTexRef(t, h, func(r *TexRef) (float32, error) { return r.tex.MipmapLevelBias, nil })
}

// TexRefSetMipmapLevelClamp bounds the levels.
func (t *Thread) TexRefSetMipmapLevelClamp(h cu.CUtexref, low, high float32) error {
	return t.setTexRef(h, func(r *TexRef) error {
		r.tex.MinMipmapLevelClamp, r.tex.MaxMipmapLevelClamp = low, high
		return nil
	})
}

// TexRefGetMipmapLevelClamp reads the bounds.
func (t *Thread) TexRefGetMipmapLevelClamp(h cu.CUtexref) (low, high float32, err error) {
	v, err := askTexRef(t, h, func(r *TexRef) ([2]float32, error) {
		return [2]float32{r.tex.MinMipmapLevelClamp, r.tex.MaxMipmapLevelClamp}, nil
	})
	return v[0], v[1], err
}

// TexRefSetMaxAnisotropy notes how stretched a footprint may be.
func (t *Thread) TexRefSetMaxAnisotropy(h cu.CUtexref, n uint32) error {
	return t.setTexRef(h, func(r *TexRef) error { r.tex.MaxAnisotropy = n; return nil })
}

// TexRefGetMaxAnisotropy reads it.
func (t *Thread) TexRefGetMaxAnisotropy(h cu.CUtexref) (int32, error) {
	return askTexRef(t, h, func(r *TexRef) (int32, error) { return int32(r.tex.MaxAnisotropy), nil })
}

// TexRefSetBorderColor takes four numbers.
func (t *Thread) TexRefSetBorderColor(h cu.CUtexref, p hostmem.Ptr) error {
	if p == hostmem.Nil {
		return errInvalidValue
	}
	c := hostmem.Load[[4]float32](p)
	return t.setTexRef(h, func(r *TexRef) error { r.tex.BorderColor = c; return nil })
}

// TexRefGetBorderColor stores them.
func (t *Thread) TexRefGetBorderColor(p hostmem.Ptr, h cu.CUtexref) error {
	if p == hostmem.Nil {
		return errInvalidValue
	}
	c, err := askTexRef(t, h, func(r *TexRef) ([4]float32, error) { return r.tex.BorderColor, nil })
	if err == nil {
		hostmem.Store(p, c)
	}
	return err
}

// TexRefSetFlags: integers as they are, normalized coordinates, sRGB, faces of cubes joined.
func (t *Thread) TexRefSetFlags(h cu.CUtexref, flags uint32) error {
	const known = cu.CU_TRSF_READ_AS_INTEGER | cu.CU_TRSF_NORMALIZED_COORDINATES | cu.CU_TRSF_SRGB | cu.CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | cu.CU_TRSF_SEAMLESS_CUBEMAP
	return t.setTexRef(h, func(r *TexRef) error {
		if flags&^uint32(known) != 0 {
			return errInvalidValue
		}
		r.tex.Flags = flags
		return nil
	})
}

// TexRefGetFlags reads them.
func (t *Thread) TexRefGetFlags(h cu.CUtexref) (uint32, error) {
	return askTexRef(t, h, func(r *TexRef) (uint32, error) { return r.tex.Flags, nil })
}

// TexRefGetArray is the array that is bound.
func (t *Thread) TexRefGetArray(h cu.CUtexref) (cu.CUarray, error) {
	return askTexRef(t, h, func(r *TexRef) (cu.CUarray, error) {
		if !r.bound || r.res.ResType != cu.CU_RESOURCE_TYPE_ARRAY || !r.there() {
			return 0, errInvalidValue
		}
		return r.res.Res.Array().HArray, nil
	})
}

// TexRefGetMipmappedArray is the array of several levels that is bound.
func (t *Thread) TexRefGetMipmappedArray(h cu.CUtexref) (cu.CUmipmappedArray, error) {
	return askTexRef(t, h, func(r *TexRef) (cu.CUmipmappedArray, error) {
		if !r.bound || r.res.ResType != cu.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY {
			return 0, errInvalidValue
		}
		return r.res.Res.Mipmap().HMipmappedArray, nil
	})
}

// TexRefGetAddress is where the plain memory that is bound begins, rounded down to the texture alignment.
func (t *Thread) TexRefGetAddress(h cu.CUtexref) (DevPtr, error) {
	return askTexRef(t, h, func(r *TexRef) (DevPtr, error) {
		switch {
		case r.bound && r.res.ResType == cu.CU_RESOURCE_TYPE_LINEAR:
			return DevPtr(r.res.Res.Linear().DevPtr), nil
		case r.bound && r.res.ResType == cu.CU_RESOURCE_TYPE_PITCH2D:
			return DevPtr(r.res.Res.Pitch2D().DevPtr), nil
		}
		return 0, errInvalidValue
	})
}

// TexRefGetAddressV1 is TexRefGetAddress of the first interface: memory that it cannot name is not there.
func (t *Thread) TexRefGetAddressV1(h cu.CUtexref) (cu.CUdeviceptr_v1, error) {
	p, err := t.TexRefGetAddress(h)
	if err == nil && uint64(p) > 1<<32-1 {
		return 0, errInvalidValue
	}
	return cu.CUdeviceptr_v1(p), err
}

// ParamSetTexRef told an old launch of a reference. A kernel names its references itself since; the real driver refuses too.
func (t *Thread) ParamSetTexRef(f cu.CUfunction, _ int32, h cu.CUtexref) error {
	if _, err := t.launchable(f); err != nil {
		return err
	}
	if _, err := t.texRef(h); err != nil {
		return err
	}
	return errInvalidValue
}
