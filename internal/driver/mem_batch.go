package driver

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// goodAttributes checks what a program says about a copy. All of it is permission to do better, which is not needed.
func goodAttributes(a *cu.CUmemcpyAttributes) bool {
	return a.SrcAccessOrder >= cu.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && a.SrcAccessOrder <= cu.CU_MEMCPY_SRC_ACCESS_ORDER_ANY && a.Flags <= 1
}

// MemcpyBatchAsyncV2 is several copies in no order among themselves. The default streams cannot take them.
func (t *Thread) MemcpyBatchAsyncV2(dsts, srcs, sizes hostmem.Ptr, n uint64, attrs, begins hostmem.Ptr, count uint64, stream cu.CUstream) error {
	_, err := t.MemcpyBatchAsync(dsts, srcs, sizes, n, attrs, begins, count, stream)
	return err
}

// MemcpyBatchAsync is the same and tells which copy failed.
func (t *Thread) MemcpyBatchAsync(dsts, srcs, sizes hostmem.Ptr, n uint64, attrs, begins hostmem.Ptr, count uint64, stream cu.CUstream) (uint64, error) {
	if stream == 0 || stream == cu.CU_STREAM_LEGACY {
		return 0, errInvalidValue
	}
	to, size, err := batch(dsts, sizes, n)
	if err != nil {
		return 0, err
	}
	from, _, err := batch(srcs, sizes, n)
	if err != nil {
		return 0, err
	}
	how, err := indexed[cu.CUmemcpyAttributes](attrs, begins, count, n)
	if err != nil {
		return 0, err
	}
	for i := range how {
		if !goodAttributes(&how[i]) || size[i] == 0 {
			return uint64(i), errInvalidValue
		}
	}
	for i := range to {
		if err := t.MemcpyAsync(to[i], from[i], size[i], stream); err != nil {
			return uint64(i), err
		}
	}
	return 0, nil
}

// MemcpyWithAttributesAsync is one copy with something said about it.
func (t *Thread) MemcpyWithAttributesAsync(dst, src DevPtr, n uint64, attr hostmem.Ptr, stream cu.CUstream) error {
	if attr == hostmem.Nil {
		return errInvalidValue
	}
	a := hostmem.Load[cu.CUmemcpyAttributes](attr)
	if !goodAttributes(&a) {
		return errInvalidValue
	}
	return t.MemcpyAsync(dst, src, n, stream)
}

// operand puts one side of a batched box into a plain description. Sizes of such boxes are in elements of arrays, or bytes.
func (t *Thread) operand(o *cu.CUmemcpy3DOperand, kind *cu.CUmemorytype, array *cu.CUarray, dev *cu.CUdeviceptr, host, pitch, height *uint64, at *[3]uint64) (elem uint64, err error) {
	switch o.Type {
	case cu.CU_MEMCPY_OPERAND_TYPE_POINTER:
		p := o.Op.Ptr()
		*kind, *dev, *host, *pitch, *height = cu.CU_MEMORYTYPE_UNIFIED, p.Ptr, uint64(p.Ptr), p.RowLength, p.LayerHeight
		return 1, nil
	case cu.CU_MEMCPY_OPERAND_TYPE_ARRAY:
		p := o.Op.Array()
		a, err := t.array(p.Array)
		if err != nil {
			return 0, err
		}
		*kind, *array, *at = cu.CU_MEMORYTYPE_ARRAY, p.Array, [3]uint64{p.Offset.X * a.elem, p.Offset.Y, p.Offset.Z}
		return a.elem, nil
	}
	return 0, errInvalidValue
}

// batched is a box of a batch as a plain one.
func (t *Thread) batched(o *cu.CUDA_MEMCPY3D_BATCH_OP) (p cu.CUDA_MEMCPY3D, err error) {
	var from, to [3]uint64
	a, err := t.operand(&o.Src, &p.SrcMemoryType, &p.SrcArray, &p.SrcDevice, &p.SrcHost, &p.SrcPitch, &p.SrcHeight, &from)
	if err != nil {
		return p, err
	}
	b, err := t.operand(&o.Dst, &p.DstMemoryType, &p.DstArray, &p.DstDevice, &p.DstHost, &p.DstPitch, &p.DstHeight, &to)
	if err != nil {
		return p, err
	}
	elem := max(a, b)
	if p.SrcMemoryType == cu.CU_MEMORYTYPE_ARRAY && p.DstMemoryType == cu.CU_MEMORYTYPE_ARRAY && a != b || o.Extent.Width > maxPitch {
		return p, errInvalidValue
	}
	p.SrcXInBytes, p.SrcY, p.SrcZ = from[0], from[1], from[2]
	p.DstXInBytes, p.DstY, p.DstZ = to[0], to[1], to[2]
	p.SrcPitch, p.DstPitch = p.SrcPitch*elem, p.DstPitch*elem
	p.WidthInBytes, p.Height, p.Depth = o.Extent.Width*elem, o.Extent.Height, o.Extent.Depth
	return p, nil
}

// Memcpy3DBatchAsync is several boxes, and tells which failed.
func (t *Thread) Memcpy3DBatchAsync(n uint64, list hostmem.Ptr, flags uint64, stream cu.CUstream) (uint64, error) {
	if list == hostmem.Nil || n == 0 || n > maxBatch || flags != 0 || stream == 0 || stream == cu.CU_STREAM_LEGACY {
		return 0, errInvalidValue
	}
	ops := slices.Clone(hostmem.Slice[cu.CUDA_MEMCPY3D_BATCH_OP](list, int(n)))
	for i := range ops {
		p, err := t.batched(&ops[i])
		if err == nil {
			err = t.memcpy3D(&p, stream, true)
		}
		if err != nil {
			return uint64(i), err
		}
	}
	return 0, nil
}

// Memcpy3DBatchAsyncV2 is several boxes.
func (t *Thread) Memcpy3DBatchAsyncV2(n uint64, list hostmem.Ptr, flags uint64, stream cu.CUstream) error {
	_, err := t.Memcpy3DBatchAsync(n, list, flags, stream)
	return err
}

// Memcpy3DWithAttributesAsync is one box.
func (t *Thread) Memcpy3DWithAttributesAsync(op hostmem.Ptr, flags uint64, stream cu.CUstream) error {
	if op == hostmem.Nil || flags != 0 {
		return errInvalidValue
	}
	o := hostmem.Load[cu.CUDA_MEMCPY3D_BATCH_OP](op)
	p, err := t.batched(&o)
	if err != nil {
		return err
	}
	return t.memcpy3D(&p, stream, true)
}

// peerBox is a box between contexts as a plain one: all memory is one address space.
func (t *Thread) peerBox(p *cu.CUDA_MEMCPY3D_PEER) (cu.CUDA_MEMCPY3D, error) {
	return cu.CUDA_MEMCPY3D{
		SrcXInBytes: p.SrcXInBytes, SrcY: p.SrcY, SrcZ: p.SrcZ, SrcLOD: p.SrcLOD, SrcMemoryType: p.SrcMemoryType, SrcHost: p.SrcHost, SrcDevice: p.SrcDevice, SrcArray: p.SrcArray, SrcPitch: p.SrcPitch, SrcHeight: p.SrcHeight,
		DstXInBytes: p.DstXInBytes, DstY: p.DstY, DstZ: p.DstZ, DstLOD: p.DstLOD, DstMemoryType: p.DstMemoryType, DstHost: p.DstHost, DstDevice: p.DstDevice, DstArray: p.DstArray, DstPitch: p.DstPitch, DstHeight: p.DstHeight,
		WidthInBytes: p.WidthInBytes, Height: p.Height, Depth: p.Depth,
	}, t.peers(p.DstContext, p.SrcContext)
}

// Memcpy3DPeer copies a box between contexts.
func (t *Thread) Memcpy3DPeer(p *cu.CUDA_MEMCPY3D_PEER) error {
	b, err := t.peerBox(p)
	if err != nil {
		return err
	}
	return t.memcpy3D(&b, 0, false)
}

// Memcpy3DPeerAsync is the same in a stream.
func (t *Thread) Memcpy3DPeerAsync(p *cu.CUDA_MEMCPY3D_PEER, stream cu.CUstream) error {
	b, err := t.peerBox(p)
	if err != nil {
		return err
	}
	return t.memcpy3D(&b, stream, true)
}

// LaunchHostFuncV2 is LaunchHostFunc; how waiting for the function is done is ours.
func (t *Thread) LaunchHostFuncV2(h cu.CUstream, fn cu.CUhostFn, user hostmem.Ptr, mode uint32) error {
	if mode > 1 {
		return errInvalidValue
	}
	return t.LaunchHostFunc(h, fn, user)
}

// StreamGetCtxV2 is the stream's context; no stream has a green one.
func (t *Thread) StreamGetCtxV2(h cu.CUstream) (cu.CUcontext, cu.CUgreenCtx, error) {
	c, err := t.StreamGetCtx(h)
	return c, 0, err
}
