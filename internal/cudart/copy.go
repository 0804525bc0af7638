package cudart

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// memoryKinds are the two sides a direction promises, destination first. With "default" the addresses tell.
var memoryKinds = [...][2]cu.CUmemorytype{
	rt.CudaMemcpyHostToHost:     {cu.CU_MEMORYTYPE_HOST, cu.CU_MEMORYTYPE_HOST},
	rt.CudaMemcpyHostToDevice:   {cu.CU_MEMORYTYPE_DEVICE, cu.CU_MEMORYTYPE_HOST},
	rt.CudaMemcpyDeviceToHost:   {cu.CU_MEMORYTYPE_HOST, cu.CU_MEMORYTYPE_DEVICE},
	rt.CudaMemcpyDeviceToDevice: {cu.CU_MEMORYTYPE_DEVICE, cu.CU_MEMORYTYPE_DEVICE},
	rt.CudaMemcpyDefault:        {cu.CU_MEMORYTYPE_UNIFIED, cu.CU_MEMORYTYPE_UNIFIED},
}

func sides(kind rt.CudaMemcpyKind) (dst, src cu.CUmemorytype, err error) {
	if kind < 0 || int(kind) >= len(memoryKinds) {
		return 0, 0, errInvalidDirection
	}
	return memoryKinds[kind][0], memoryKinds[kind][1], nil
}

// memcpy is every one-dimensional copy.
func (t *Thread) memcpy(dst, src hostmem.Ptr, n uint64, kind rt.CudaMemcpyKind, stream rt.CudaStream_t, async bool) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	to, s := driver.DevPtr(dst), cu.CUstream(stream)
	from := driver.DevPtr(src)
	switch {
	case kind == rt.CudaMemcpyHostToDevice && async:
		return d.MemcpyHtoDAsync(to, src, n, s)
	case kind == rt.CudaMemcpyHostToDevice:
		return d.MemcpyHtoD(to, src, n)
	case kind == rt.CudaMemcpyDeviceToHost && async:
		return d.MemcpyDtoHAsync(dst, from, n, s)
	case kind == rt.CudaMemcpyDeviceToHost:
		return d.MemcpyDtoH(dst, from, n)
	case kind == rt.CudaMemcpyDeviceToDevice && async:
		return d.MemcpyDtoDAsync(to, from, n, s)
	case kind == rt.CudaMemcpyDeviceToDevice:
		return d.MemcpyDtoD(to, from, n)
	case (kind == rt.CudaMemcpyDefault || kind == rt.CudaMemcpyHostToHost) && async:
		return d.MemcpyAsync(to, from, n, s)
	case kind == rt.CudaMemcpyDefault || kind == rt.CudaMemcpyHostToHost:
		return d.Memcpy(to, from, n)
	}
	return errInvalidDirection
}

// Memcpy copies bytes.
func (t *Thread) Memcpy(dst, src hostmem.Ptr, n uint64, kind rt.CudaMemcpyKind) error {
	if err := t.memcpy(dst, src, n, kind, 0, false); err != nil {
		return err
	}
	return unwritten()
}

// MemcpyAsync is Memcpy in a stream.
func (t *Thread) MemcpyAsync(dst, src hostmem.Ptr, n uint64, kind rt.CudaMemcpyKind, stream rt.CudaStream_t) error {
	return t.memcpy(dst, src, n, kind, stream, true)
}

// MemcpyPeer copies between the memories of two devices.
func (t *Thread) MemcpyPeer(dst hostmem.Ptr, to int32, src hostmem.Ptr, from int32, n uint64) error {
	d, a, b, err := t.peers(to, from)
	if err != nil {
		return err
	}
	return d.MemcpyPeer(driver.DevPtr(dst), a, driver.DevPtr(src), b, n)
}

// MemcpyPeerAsync is MemcpyPeer in a stream.
func (t *Thread) MemcpyPeerAsync(dst hostmem.Ptr, to int32, src hostmem.Ptr, from int32, n uint64, stream rt.CudaStream_t) error {
	d, a, b, err := t.peers(to, from)
	if err != nil {
		return err
	}
	return d.MemcpyPeerAsync(driver.DevPtr(dst), a, driver.DevPtr(src), b, n, cu.CUstream(stream))
}

func (t *Thread) peers(to, from int32) (d *driver.Thread, a, b cu.CUcontext, err error) {
	if d, err = t.ready(); err != nil {
		return nil, 0, 0, err
	}
	if a, err = t.wake(to); err == nil {
		b, err = t.wake(from)
	}
	return d, a, b, err
}

// memcpy2D is every copy of a rectangle.
func (t *Thread) memcpy2D(dst hostmem.Ptr, dpitch uint64, src hostmem.Ptr, spitch, width, height uint64, kind rt.CudaMemcpyKind, stream rt.CudaStream_t, async bool) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	to, from, err := sides(kind)
	if err != nil {
		return err
	}
	if width == 0 || height == 0 {
		return nil
	}
	if width > dpitch || width > spitch {
		return errInvalidPitch
	}
	p := cu.CUDA_MEMCPY2D{
		DstMemoryType: to, DstHost: uint64(dst), DstDevice: driver.DevPtr(dst), DstPitch: dpitch,
		SrcMemoryType: from, SrcHost: uint64(src), SrcDevice: driver.DevPtr(src), SrcPitch: spitch,
		WidthInBytes: width, Height: height,
	}
	if async {
		return d.Memcpy2DAsync(&p, cu.CUstream(stream))
	}
	return d.Memcpy2DUnaligned(&p)
}

// Memcpy2D copies a rectangle.
func (t *Thread) Memcpy2D(dst hostmem.Ptr, dpitch uint64, src hostmem.Ptr, spitch, width, height uint64, kind rt.CudaMemcpyKind) error {
	return t.memcpy2D(dst, dpitch, src, spitch, width, height, kind, 0, false)
}

// Memcpy2DAsync is Memcpy2D in a stream.
func (t *Thread) Memcpy2DAsync(dst hostmem.Ptr, dpitch uint64, src hostmem.Ptr, spitch, width, height uint64, kind rt.CudaMemcpyKind, stream rt.CudaStream_t) error {
	return t.memcpy2D(dst, dpitch, src, spitch, width, height, kind, stream, true)
}

// Memcpy3D copies a box.
func (t *Thread) Memcpy3D(p *rt.CudaMemcpy3DParms) error { return t.memcpy3D(p, 0, false) }

// Memcpy3DAsync is Memcpy3D in a stream.
func (t *Thread) Memcpy3DAsync(p *rt.CudaMemcpy3DParms, stream rt.CudaStream_t) error {
	return t.memcpy3D(p, stream, true)
}

func (t *Thread) memcpy3D(p *rt.CudaMemcpy3DParms, stream rt.CudaStream_t, async bool) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	to, from, err := sides(p.Kind)
	if err != nil {
		return err
	}
	// Each side is either an array or a pointer.
	if (p.SrcArray != 0) == (p.SrcPtr.Ptr != 0) || (p.DstArray != 0) == (p.DstPtr.Ptr != 0) {
		return errInvalidValue
	}
	c := box(p.DstPtr, p.SrcPtr, p.DstPos, p.SrcPos, p.Extent)
	c.DstMemoryType, c.SrcMemoryType = to, from
	if err := arrayBox(d, &c, p); err != nil {
		return err
	}
	if async {
		return d.Memcpy3DAsync(&c, cu.CUstream(stream))
	}
	return d.Memcpy3D(&c)
}

func box(dst, src rt.CudaPitchedPtr, at, from rt.CudaPos, e rt.CudaExtent) cu.CUDA_MEMCPY3D {
	return cu.CUDA_MEMCPY3D{
		DstHost: dst.Ptr, DstDevice: driver.DevPtr(dst.Ptr), DstPitch: dst.Pitch, DstHeight: dst.Ysize,
		DstXInBytes: at.X, DstY: at.Y, DstZ: at.Z,
		SrcHost: src.Ptr, SrcDevice: driver.DevPtr(src.Ptr), SrcPitch: src.Pitch, SrcHeight: src.Ysize,
		SrcXInBytes: from.X, SrcY: from.Y, SrcZ: from.Z,
		WidthInBytes: e.Width, Height: e.Height, Depth: e.Depth,
	}
}

// Memcpy3DPeer copies a box between the memories of two devices.
func (t *Thread) Memcpy3DPeer(p *rt.CudaMemcpy3DPeerParms) error { return t.memcpy3DPeer(p, 0, false) }

// Memcpy3DPeerAsync is Memcpy3DPeer in a stream.
func (t *Thread) Memcpy3DPeerAsync(p *rt.CudaMemcpy3DPeerParms, stream rt.CudaStream_t) error {
	return t.memcpy3DPeer(p, stream, true)
}

func (t *Thread) memcpy3DPeer(p *rt.CudaMemcpy3DPeerParms, stream rt.CudaStream_t, async bool) error {
	d, _, _, err := t.peers(p.DstDevice, p.SrcDevice)
	if err != nil {
		return err
	}
	if p.SrcArray != 0 || p.DstArray != 0 {
		return errInvalidValue
	}
	c := box(p.DstPtr, p.SrcPtr, p.DstPos, p.SrcPos, p.Extent)
	c.DstMemoryType, c.SrcMemoryType = cu.CU_MEMORYTYPE_DEVICE, cu.CU_MEMORYTYPE_DEVICE
	if async {
		return d.Memcpy3DAsync(&c, cu.CUstream(stream))
	}
	return d.Memcpy3D(&c)
}

// Memset sets bytes.
func (t *Thread) Memset(p hostmem.Ptr, v int32, n uint64) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.MemsetD8(driver.DevPtr(p), uint8(v), n)
}

// MemsetAsync is Memset in a stream.
func (t *Thread) MemsetAsync(p hostmem.Ptr, v int32, n uint64, stream rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.MemsetD8Async(driver.DevPtr(p), uint8(v), n, cu.CUstream(stream))
}

// Memset2D sets a rectangle.
func (t *Thread) Memset2D(p hostmem.Ptr, pitch uint64, v int32, width, height uint64) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.MemsetD2D8(driver.DevPtr(p), pitch, uint8(v), width, height)
}

// Memset2DAsync is Memset2D in a stream.
func (t *Thread) Memset2DAsync(p hostmem.Ptr, pitch uint64, v int32, width, height uint64, stream rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.MemsetD2D8Async(driver.DevPtr(p), pitch, uint8(v), width, height, cu.CUstream(stream))
}

// Memset3D sets a box.
func (t *Thread) Memset3D(p rt.CudaPitchedPtr, v int32, e rt.CudaExtent) error {
	return t.memset3D(p, e, func(at hostmem.Ptr, rows uint64) error { return t.Memset2D(at, p.Pitch, v, e.Width, rows) })
}

// Memset3DAsync is Memset3D in a stream.
func (t *Thread) Memset3DAsync(p rt.CudaPitchedPtr, v int32, e rt.CudaExtent, stream rt.CudaStream_t) error {
	return t.memset3D(p, e, func(at hostmem.Ptr, rows uint64) error {
		return t.Memset2DAsync(at, p.Pitch, v, e.Width, rows, stream)
	})
}

// memset3D sets slice by slice, or all at once where the slices follow each other without a gap.
func (t *Thread) memset3D(p rt.CudaPitchedPtr, e rt.CudaExtent, set func(at hostmem.Ptr, rows uint64) error) error {
	const most = 1 << 31
	if e.Width > p.Pitch || e.Height > p.Ysize || p.Pitch > most || p.Ysize > most || e.Depth > most {
		return errInvalidValue
	}
	if e.Height == p.Ysize {
		return set(hostmem.Ptr(p.Ptr), e.Height*e.Depth)
	}
	for z := range e.Depth {
		if err := set(hostmem.Ptr(p.Ptr).Add(z*p.Pitch*p.Ysize), e.Height); err != nil {
			return err
		}
	}
	return nil
}
