package driver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// The functions of the first releases, whose addresses and sizes have 32 bits. Programs built since 2010 do not call them;
// the names are there, and work on what fits: numbers are clamped, and memory that lies higher cannot be named or given.

// low is an address as the first releases name it.
func low(p DevPtr, err error) (cu.CUdeviceptr_v1, error) {
	if err == nil && p > 1<<32-1 {
		err = errOutOfMemory
	}
	if err != nil {
		return 0, err
	}
	return cu.CUdeviceptr_v1(p), nil
}

func clamp(n uint64) uint32 { return uint32(min(n, 1<<32-1)) }

// DeviceTotalMemV1 is the device's memory, at most 4 GiB less one.
func (t *Thread) DeviceTotalMemV1(dev cu.CUdevice) (uint32, error) {
	n, err := t.DeviceTotalMem(dev)
	return clamp(n), err
}

// MemGetInfoV1 is MemGetInfo, clamped.
func (t *Thread) MemGetInfoV1() (free, total uint32, err error) {
	f, n, err := t.MemGetInfo()
	return clamp(f), clamp(n), err
}

// MemAllocV1 gives device memory if there is any that 32 bits can name.
func (t *Thread) MemAllocV1(n uint32) (cu.CUdeviceptr_v1, error) {
	p, err := t.MemAlloc(uint64(n))
	q, lowErr := low(p, err)
	if err == nil && lowErr != nil {
		_ = t.MemFree(p)
	}
	return q, lowErr
}

// MemAllocPitchV1 is MemAllocPitch.
func (t *Thread) MemAllocPitchV1(width, height, element uint32) (cu.CUdeviceptr_v1, uint32, error) {
	p, pitch, err := t.MemAllocPitch(uint64(width), uint64(height), element)
	q, lowErr := low(p, err)
	if err == nil && lowErr != nil {
		_ = t.MemFree(p)
	}
	return q, clamp(pitch), lowErr
}

// MemGetAddressRangeV1 is MemGetAddressRange.
func (t *Thread) MemGetAddressRangeV1(p cu.CUdeviceptr_v1) (cu.CUdeviceptr_v1, uint32, error) {
	base, n, err := t.MemGetAddressRange(DevPtr(p))
	q, err := low(base, err)
	return q, clamp(n), err
}

// MemHostGetDevicePointerV1 is MemHostGetDevicePointer.
func (t *Thread) MemHostGetDevicePointerV1(p hostmem.Ptr, flags uint32) (cu.CUdeviceptr_v1, error) {
	return low(t.MemHostGetDevicePointer(p, flags))
}

// ModuleGetGlobalV1 is ModuleGetGlobal.
func (t *Thread) ModuleGetGlobalV1(m cu.CUmodule, name string) (cu.CUdeviceptr_v1, uint32, error) {
	p, n, err := t.ModuleGetGlobal(m, name)
	q, err := low(p, err)
	return q, clamp(n), err
}

// widen2D is the description of a copy with today's sizes.
func widen2D(p *cu.CUDA_MEMCPY2D_v1) *cu.CUDA_MEMCPY2D {
	return &cu.CUDA_MEMCPY2D{
		SrcXInBytes: uint64(p.SrcXInBytes), SrcY: uint64(p.SrcY), SrcMemoryType: p.SrcMemoryType, SrcHost: p.SrcHost,
		SrcDevice: DevPtr(p.SrcDevice), SrcArray: p.SrcArray, SrcPitch: uint64(p.SrcPitch),
		DstXInBytes: uint64(p.DstXInBytes), DstY: uint64(p.DstY), DstMemoryType: p.DstMemoryType, DstHost: p.DstHost,
		DstDevice: DevPtr(p.DstDevice), DstArray: p.DstArray, DstPitch: uint64(p.DstPitch),
		WidthInBytes: uint64(p.WidthInBytes), Height: uint64(p.Height),
	}
}

// widen3D is the same for boxes.
func widen3D(p *cu.CUDA_MEMCPY3D_v1) *cu.CUDA_MEMCPY3D {
	return &cu.CUDA_MEMCPY3D{
		SrcXInBytes: uint64(p.SrcXInBytes), SrcY: uint64(p.SrcY), SrcZ: uint64(p.SrcZ), SrcMemoryType: p.SrcMemoryType, SrcHost: p.SrcHost,
		SrcDevice: DevPtr(p.SrcDevice), SrcArray: p.SrcArray, SrcPitch: uint64(p.SrcPitch), SrcHeight: uint64(p.SrcHeight),
		DstXInBytes: uint64(p.DstXInBytes), DstY: uint64(p.DstY), DstZ: uint64(p.DstZ), DstMemoryType: p.DstMemoryType, DstHost: p.DstHost,
		DstDevice: DevPtr(p.DstDevice), DstArray: p.DstArray, DstPitch: uint64(p.DstPitch), DstHeight: uint64(p.DstHeight),
		WidthInBytes: uint64(p.WidthInBytes), Height: uint64(p.Height), Depth: uint64(p.Depth),
	}
}

// Memcpy2DV1 is Memcpy2D.
func (t *Thread) Memcpy2DV1(p *cu.CUDA_MEMCPY2D_v1) error { return t.Memcpy2D(widen2D(p)) }

// Memcpy2DUnalignedV1 is Memcpy2DUnaligned.
func (t *Thread) Memcpy2DUnalignedV1(p *cu.CUDA_MEMCPY2D_v1) error {
	return t.Memcpy2DUnaligned(widen2D(p))
}

// Memcpy2DAsyncV1 is Memcpy2DAsync.
func (t *Thread) Memcpy2DAsyncV1(p *cu.CUDA_MEMCPY2D_v1, stream cu.CUstream) error {
	return t.Memcpy2DAsync(widen2D(p), stream)
}

// Memcpy3DV1 is Memcpy3D.
func (t *Thread) Memcpy3DV1(p *cu.CUDA_MEMCPY3D_v1) error { return t.Memcpy3D(widen3D(p)) }

// Memcpy3DAsyncV1 is Memcpy3DAsync.
func (t *Thread) Memcpy3DAsyncV1(p *cu.CUDA_MEMCPY3D_v1, stream cu.CUstream) error {
	return t.Memcpy3DAsync(widen3D(p), stream)
}
