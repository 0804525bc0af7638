package cudart

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// resource turns a description into the driver's. CUDA 12 and 13 have the same fields, 13 more room after them.
func resource(p hostmem.Ptr) (r cu.CUDA_RESOURCE_DESC, err error) {
	if p == hostmem.Nil {
		return r, errInvalidValue
	}
	d := hostmem.Load[rt.CudaResourceDesc_12](p)
	r.ResType = cu.CUresourcetype(d.ResType)
	switch d.ResType {
	case rt.CudaResourceTypeArray:
		r.Res.Array().HArray = cu.CUarray(d.Res.Array().Array)
	case rt.CudaResourceTypeMipmappedArray:
		r.Res.Mipmap().HMipmappedArray = cu.CUmipmappedArray(d.Res.Mipmap().Mipmap)
	case rt.CudaResourceTypeLinear:
		from, to := d.Res.Linear(), r.Res.Linear()
		to.DevPtr, to.SizeInBytes = cu.CUdeviceptr(from.DevPtr), from.SizeInBytes
		to.Format, to.NumChannels, err = channels(&from.Desc)
	case rt.CudaResourceTypePitch2D:
		from, to := d.Res.Pitch2D(), r.Res.Pitch2D()
		to.DevPtr, to.Width, to.Height, to.PitchInBytes = cu.CUdeviceptr(from.DevPtr), from.Width, from.Height, from.PitchInBytes
		to.Format, to.NumChannels, err = channels(&from.Desc)
	default:
		err = errInvalidValue
	}
	return r, err
}

// resourceBack is the way back.
func resourceBack(p hostmem.Ptr, r *cu.CUDA_RESOURCE_DESC) error {
	if p == hostmem.Nil {
		return errInvalidValue
	}
	var d rt.CudaResourceDesc_12
	d.ResType = rt.CudaResourceType(r.ResType)
	switch r.ResType {
	case cu.CU_RESOURCE_TYPE_ARRAY:
		d.Res.Array().Array = rt.CudaArray_t(r.Res.Array().HArray)
	case cu.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		d.Res.Mipmap().Mipmap = rt.CudaMipmappedArray_t(r.Res.Mipmap().HMipmappedArray)
	case cu.CU_RESOURCE_TYPE_LINEAR:
		from, to := r.Res.Linear(), d.Res.Linear()
		to.DevPtr, to.SizeInBytes, to.Desc = uint64(from.DevPtr), from.SizeInBytes, channelDesc(from.Format, from.NumChannels)
	case cu.CU_RESOURCE_TYPE_PITCH2D:
		from, to := r.Res.Pitch2D(), d.Res.Pitch2D()
		to.DevPtr, to.Width, to.Height, to.PitchInBytes, to.Desc = uint64(from.DevPtr), from.Width, from.Height, from.PitchInBytes, channelDesc(from.Format, from.NumChannels)
	}
	hostmem.Store(p, d)
	return nil
}

// samplerDesc is how the driver is told.
func samplerDesc(d *rt.CudaTextureDesc) cu.CUDA_TEXTURE_DESC {
	x := cu.CUDA_TEXTURE_DESC{
		FilterMode: cu.CUfilter_mode(d.FilterMode), MaxAnisotropy: d.MaxAnisotropy, MipmapFilterMode: cu.CUfilter_mode(d.MipmapFilterMode),
		MipmapLevelBias: d.MipmapLevelBias, MinMipmapLevelClamp: d.MinMipmapLevelClamp, MaxMipmapLevelClamp: d.MaxMipmapLevelClamp, BorderColor: d.BorderColor,
	}
	for i, m := range d.AddressMode {
		x.AddressMode[i] = cu.CUaddress_mode(m)
	}
	for bit, on := range map[uint32]bool{
		cu.CU_TRSF_READ_AS_INTEGER: d.ReadMode == rt.CudaReadModeElementType, cu.CU_TRSF_NORMALIZED_COORDINATES: d.NormalizedCoords != 0,
		cu.CU_TRSF_SRGB: d.SRGB != 0, cu.CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION: d.DisableTrilinearOptimization != 0, cu.CU_TRSF_SEAMLESS_CUBEMAP: d.SeamlessCubemap != 0,
	} {
		if on {
			x.Flags |= bit
		}
	}
	return x
}

// CreateTextureObject makes a texture of memory.
func (t *Thread) CreateTextureObject(res hostmem.Ptr, tex *rt.CudaTextureDesc, view hostmem.Ptr) (rt.CudaTextureObject_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := resource(res)
	if err != nil {
		return 0, err
	}
	if tex.ReadMode != rt.CudaReadModeElementType && tex.ReadMode != rt.CudaReadModeNormalizedFloat {
		return 0, errInvalidValue
	}
	x := samplerDesc(tex)
	var v *cu.CUDA_RESOURCE_VIEW_DESC
	if view != hostmem.Nil {
		w := hostmem.Load[rt.CudaResourceViewDesc_12](view)
		v = &cu.CUDA_RESOURCE_VIEW_DESC{Format: cu.CUresourceViewFormat(w.Format), Width: w.Width, Height: w.Height, Depth: w.Depth,
			FirstMipmapLevel: w.FirstMipmapLevel, LastMipmapLevel: w.LastMipmapLevel, FirstLayer: w.FirstLayer, LastLayer: w.LastLayer}
	}
	h, err := d.TexObjectCreate(&r, &x, v)
	return rt.CudaTextureObject_t(h), err
}

// DestroyTextureObject gives a texture back.
func (t *Thread) DestroyTextureObject(h rt.CudaTextureObject_t) error {
	d, err := t.ready()
	if err != nil || h == 0 {
		return err
	}
	return d.TexObjectDestroy(cu.CUtexObject(h))
}

// GetTextureObjectResourceDesc is what a texture shows.
func (t *Thread) GetTextureObjectResourceDesc(to hostmem.Ptr, h rt.CudaTextureObject_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	r, err := d.TexObjectGetResourceDesc(cu.CUtexObject(h))
	if err != nil {
		return err
	}
	return resourceBack(to, &r)
}

// GetTextureObjectTextureDesc is how it is sampled.
func (t *Thread) GetTextureObjectTextureDesc(h rt.CudaTextureObject_t) (x rt.CudaTextureDesc, err error) {
	d, err := t.ready()
	if err != nil {
		return x, err
	}
	s, err := d.TexObjectGetTextureDesc(cu.CUtexObject(h))
	if err != nil {
		return x, err
	}
	flag := func(bit uint32) int32 {
		if s.Flags&bit != 0 {
			return 1
		}
		return 0
	}
	x = rt.CudaTextureDesc{
		FilterMode: rt.CudaTextureFilterMode(s.FilterMode), MaxAnisotropy: s.MaxAnisotropy, MipmapFilterMode: rt.CudaTextureFilterMode(s.MipmapFilterMode),
		MipmapLevelBias: s.MipmapLevelBias, MinMipmapLevelClamp: s.MinMipmapLevelClamp, MaxMipmapLevelClamp: s.MaxMipmapLevelClamp, BorderColor: s.BorderColor,
		SRGB: flag(cu.CU_TRSF_SRGB), NormalizedCoords: flag(cu.CU_TRSF_NORMALIZED_COORDINATES), DisableTrilinearOptimization: flag(cu.CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION),
		SeamlessCubemap: flag(cu.CU_TRSF_SEAMLESS_CUBEMAP), ReadMode: rt.CudaReadModeNormalizedFloat,
	}
	if s.Flags&cu.CU_TRSF_READ_AS_INTEGER != 0 {
		x.ReadMode = rt.CudaReadModeElementType
	}
	for i, m := range s.AddressMode {
		x.AddressMode[i] = rt.CudaTextureAddressMode(m)
	}
	return x, nil
}

// GetTextureObjectResourceViewDesc is how the memory is looked at, if that was said.
func (t *Thread) GetTextureObjectResourceViewDesc(to hostmem.Ptr, h rt.CudaTextureObject_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	v, err := d.TexObjectGetResourceViewDesc(cu.CUtexObject(h))
	if err != nil {
		return err
	}
	if to == hostmem.Nil {
		return errInvalidValue
	}
	hostmem.Store(to, rt.CudaResourceViewDesc_12{Format: rt.CudaResourceViewFormat(v.Format), Width: v.Width, Height: v.Height, Depth: v.Depth,
		FirstMipmapLevel: v.FirstMipmapLevel, LastMipmapLevel: v.LastMipmapLevel, FirstLayer: v.FirstLayer, LastLayer: v.LastLayer})
	return nil
}

// CreateSurfaceObject makes a surface of an array.
func (t *Thread) CreateSurfaceObject(res hostmem.Ptr) (rt.CudaSurfaceObject_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := resource(res)
	if err != nil {
		return 0, err
	}
	h, err := d.SurfObjectCreate(&r)
	return rt.CudaSurfaceObject_t(h), err
}

// DestroySurfaceObject gives a surface back.
func (t *Thread) DestroySurfaceObject(h rt.CudaSurfaceObject_t) error {
	d, err := t.ready()
	if err != nil || h == 0 {
		return err
	}
	return d.SurfObjectDestroy(cu.CUsurfObject(h))
}

// GetSurfaceObjectResourceDesc is what a surface shows.
func (t *Thread) GetSurfaceObjectResourceDesc(to hostmem.Ptr, h rt.CudaSurfaceObject_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	r, err := d.SurfObjectGetResourceDesc(cu.CUsurfObject(h))
	if err != nil {
		return err
	}
	return resourceBack(to, &r)
}
