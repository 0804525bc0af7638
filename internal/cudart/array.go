package cudart

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

const errInvalidChannel = Error(rt.CudaErrorInvalidChannelDescriptor)

// kindFormats are runs of the runtime's kinds that name a whole format, in the driver's order.
var kindFormats = [...]struct {
	first, last rt.CudaChannelFormatKind
	format      cu.CUarray_format
}{
	{rt.CudaChannelFormatKindUnsignedNormalized8X1, rt.CudaChannelFormatKindSignedNormalized16X4, cu.CU_AD_FORMAT_UNORM_INT8X1},
	{rt.CudaChannelFormatKindUnsignedBlockCompressed1, rt.CudaChannelFormatKindUnsignedBlockCompressed7SRGB, cu.CU_AD_FORMAT_BC1_UNORM},
}

// wideBits are the formats of those whose channels have 16 bits.
func wideBits(f cu.CUarray_format) bool {
	switch f {
	case cu.CU_AD_FORMAT_UNORM_INT16X1, cu.CU_AD_FORMAT_UNORM_INT16X2, cu.CU_AD_FORMAT_UNORM_INT16X4, cu.CU_AD_FORMAT_SNORM_INT16X1,
		cu.CU_AD_FORMAT_SNORM_INT16X2, cu.CU_AD_FORMAT_SNORM_INT16X4, cu.CU_AD_FORMAT_BC6H_UF16, cu.CU_AD_FORMAT_BC6H_SF16:
		return true
	}
	return false
}

// channels reads a description of elements: as many channels as have bits, all of them of the same size.
func channels(d *rt.CudaChannelFormatDesc) (f cu.CUarray_format, n uint32, err error) {
	sizes := [4]int32{d.X, d.Y, d.Z, d.W}
	for n < 4 && sizes[n] != 0 {
		n++
	}
	for i, s := range sizes {
		if uint32(i) < n && s != d.X || uint32(i) >= n && s != 0 {
			return 0, 0, errInvalidChannel
		}
	}
	for _, k := range kindFormats {
		if d.F >= k.first && d.F <= k.last {
			if f = k.format + cu.CUarray_format(d.F-k.first); wideBits(f) == (d.X == 16) && (d.X == 8 || d.X == 16) {
				return f, n, nil // the driver knows how many channels it has
			}
			return 0, 0, errInvalidChannel
		}
	}
	if n == 0 || n == 3 {
		return 0, 0, errInvalidChannel
	}
	switch [2]int32{int32(d.F), d.X} {
	case [2]int32{int32(rt.CudaChannelFormatKindSigned), 8}:
		f = cu.CU_AD_FORMAT_SIGNED_INT8
	case [2]int32{int32(rt.CudaChannelFormatKindSigned), 16}:
		f = cu.CU_AD_FORMAT_SIGNED_INT16
	case [2]int32{int32(rt.CudaChannelFormatKindSigned), 32}:
		f = cu.CU_AD_FORMAT_SIGNED_INT32
	case [2]int32{int32(rt.CudaChannelFormatKindUnsigned), 8}:
		f = cu.CU_AD_FORMAT_UNSIGNED_INT8
	case [2]int32{int32(rt.CudaChannelFormatKindUnsigned), 16}:
		f = cu.CU_AD_FORMAT_UNSIGNED_INT16
	case [2]int32{int32(rt.CudaChannelFormatKindUnsigned), 32}:
		f = cu.CU_AD_FORMAT_UNSIGNED_INT32
	case [2]int32{int32(rt.CudaChannelFormatKindFloat), 16}:
		f = cu.CU_AD_FORMAT_HALF
	case [2]int32{int32(rt.CudaChannelFormatKindFloat), 32}:
		f = cu.CU_AD_FORMAT_FLOAT
	default:
		return 0, 0, errInvalidChannel
	}
	return f, n, nil
}

// channelDesc is the way back.
func channelDesc(f cu.CUarray_format, n uint32) (d rt.CudaChannelFormatDesc) {
	bits := int32(32)
	switch f {
	case cu.CU_AD_FORMAT_SIGNED_INT8, cu.CU_AD_FORMAT_UNSIGNED_INT8:
		bits = 8
	case cu.CU_AD_FORMAT_SIGNED_INT16, cu.CU_AD_FORMAT_UNSIGNED_INT16, cu.CU_AD_FORMAT_HALF:
		bits = 16
	}
	for _, k := range kindFormats {
		if f >= k.format && f <= k.format+cu.CUarray_format(k.last-k.first) {
			d.F, bits = k.first+rt.CudaChannelFormatKind(f-k.format), 8
			if wideBits(f) {
				bits = 16
			}
		}
	}
	for i, p := range []*int32{&d.X, &d.Y, &d.Z, &d.W} {
		if uint32(i) < n {
			*p = bits
		}
	}
	if d.F != 0 {
		return d
	}
	switch f {
	case cu.CU_AD_FORMAT_SIGNED_INT8, cu.CU_AD_FORMAT_SIGNED_INT16, cu.CU_AD_FORMAT_SIGNED_INT32:
		d.F = rt.CudaChannelFormatKindSigned
	case cu.CU_AD_FORMAT_HALF, cu.CU_AD_FORMAT_FLOAT:
		d.F = rt.CudaChannelFormatKindFloat
	default:
		d.F = rt.CudaChannelFormatKindUnsigned
	}
	return d
}

// describe makes the driver's description; the runtime's flags have the driver's values.
func describe(desc hostmem.Ptr, e rt.CudaExtent, flags uint32) (a cu.CUDA_ARRAY3D_DESCRIPTOR, err error) {
	if desc == hostmem.Nil {
		return a, errInvalidValue
	}
	d := hostmem.Load[rt.CudaChannelFormatDesc](desc)
	f, n, err := channels(&d)
	if err != nil {
		return a, err
	}
	return cu.CUDA_ARRAY3D_DESCRIPTOR{Width: e.Width, Height: e.Height, Depth: e.Depth, Format: f, NumChannels: n, Flags: flags}, nil
}

// MallocArray makes an array of one or two dimensions.
func (t *Thread) MallocArray(desc hostmem.Ptr, w, h uint64, flags uint32) (rt.CudaArray_t, error) {
	return t.Malloc3DArray(desc, rt.CudaExtent{Width: w, Height: h}, flags)
}

// Malloc3DArray makes an array of up to three dimensions, or of layers.
func (t *Thread) Malloc3DArray(desc hostmem.Ptr, e rt.CudaExtent, flags uint32) (rt.CudaArray_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	a, err := describe(desc, e, flags)
	if err != nil {
		return 0, err
	}
	h, err := d.Array3DCreate(&a)
	return rt.CudaArray_t(h), err
}

// MallocMipmappedArray makes an array at several sizes.
func (t *Thread) MallocMipmappedArray(desc hostmem.Ptr, e rt.CudaExtent, levels, flags uint32) (rt.CudaMipmappedArray_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	a, err := describe(desc, e, flags)
	if err != nil {
		return 0, err
	}
	h, err := d.MipmappedArrayCreate(&a, levels)
	return rt.CudaMipmappedArray_t(h), err
}

// FreeArray gives an array back; none is none.
func (t *Thread) FreeArray(a rt.CudaArray_t) error {
	d, err := t.ready()
	if err != nil || a == 0 {
		return err
	}
	return d.ArrayDestroy(cu.CUarray(a))
}

// FreeMipmappedArray gives all levels back.
func (t *Thread) FreeMipmappedArray(m rt.CudaMipmappedArray_t) error {
	d, err := t.ready()
	if err != nil || m == 0 {
		return err
	}
	return d.MipmappedArrayDestroy(cu.CUmipmappedArray(m))
}

// ArrayGetInfo is what an array was made with.
func (t *Thread) ArrayGetInfo(desc hostmem.Ptr, a rt.CudaArray_t) (e rt.CudaExtent, flags uint32, err error) {
	d, err := t.ready()
	if err != nil {
		return e, 0, err
	}
	x, err := d.Array3DGetDescriptor(cu.CUarray(a))
	if err != nil {
		return e, 0, err
	}
	if desc != hostmem.Nil {
		hostmem.Store(desc, channelDesc(x.Format, x.NumChannels))
	}
	return rt.CudaExtent{Width: x.Width, Height: x.Height, Depth: x.Depth}, x.Flags, nil
}

// GetChannelDesc is the elements of an array.
func (t *Thread) GetChannelDesc(desc hostmem.Ptr, a rt.CudaArray_const_t) error {
	if desc == hostmem.Nil {
		return errInvalidValue
	}
	_, _, err := t.ArrayGetInfo(desc, rt.CudaArray_t(a))
	return err
}

// arrayCopy is a rectangle between an array and something else; x counts bytes.
type arrayCopy struct {
	dst, src   rt.CudaArray_t
	dstX, dstY uint64
	srcX, srcY uint64
	to, from   hostmem.Ptr
	pitch      uint64
	w, h       uint64
	kind       rt.CudaMemcpyKind
	stream     rt.CudaStream_t
	async      bool
}

func (t *Thread) copyArray(c *arrayCopy) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	to, from, err := sides(c.kind)
	if err != nil {
		return err
	}
	if c.w == 0 || c.h == 0 {
		return nil
	}
	p := cu.CUDA_MEMCPY2D{
		DstMemoryType: to, DstHost: uint64(c.to), DstDevice: driver.DevPtr(c.to), DstPitch: c.pitch, DstXInBytes: c.dstX, DstY: c.dstY,
		SrcMemoryType: from, SrcHost: uint64(c.from), SrcDevice: driver.DevPtr(c.from), SrcPitch: c.pitch, SrcXInBytes: c.srcX, SrcY: c.srcY,
		WidthInBytes: c.w, Height: c.h,
	}
	if c.dst != 0 {
		p.DstMemoryType, p.DstArray = cu.CU_MEMORYTYPE_ARRAY, cu.CUarray(c.dst)
	}
	if c.src != 0 {
		p.SrcMemoryType, p.SrcArray = cu.CU_MEMORYTYPE_ARRAY, cu.CUarray(c.src)
	}
	if c.async {
		return d.Memcpy2DAsync(&p, cu.CUstream(c.stream))
	}
	return d.Memcpy2DUnaligned(&p)
}

// Memcpy2DToArray copies a rectangle into an array.
func (t *Thread) Memcpy2DToArray(dst rt.CudaArray_t, x, y uint64, src hostmem.Ptr, pitch, w, h uint64, kind rt.CudaMemcpyKind) error {
	return t.copyArray(&arrayCopy{dst: dst, dstX: x, dstY: y, from: src, pitch: pitch, w: w, h: h, kind: kind})
}

// Memcpy2DToArrayAsync is the same in a stream.
func (t *Thread) Memcpy2DToArrayAsync(dst rt.CudaArray_t, x, y uint64, src hostmem.Ptr, pitch, w, h uint64, kind rt.CudaMemcpyKind, s rt.CudaStream_t) error {
	return t.copyArray(&arrayCopy{dst: dst, dstX: x, dstY: y, from: src, pitch: pitch, w: w, h: h, kind: kind, stream: s, async: true})
}

// Memcpy2DFromArray copies a rectangle out of an array.
func (t *Thread) Memcpy2DFromArray(dst hostmem.Ptr, pitch uint64, src rt.CudaArray_const_t, x, y, w, h uint64, kind rt.CudaMemcpyKind) error {
	return t.copyArray(&arrayCopy{src: rt.CudaArray_t(src), srcX: x, srcY: y, to: dst, pitch: pitch, w: w, h: h, kind: kind})
}

// Memcpy2DFromArrayAsync is the same in a stream.
func (t *Thread) Memcpy2DFromArrayAsync(dst hostmem.Ptr, pitch uint64, src rt.CudaArray_const_t, x, y, w, h uint64, kind rt.CudaMemcpyKind, s rt.CudaStream_t) error {
	return t.copyArray(&arrayCopy{src: rt.CudaArray_t(src), srcX: x, srcY: y, to: dst, pitch: pitch, w: w, h: h, kind: kind, stream: s, async: true})
}

// Memcpy2DArrayToArray copies a rectangle between arrays.
func (t *Thread) Memcpy2DArrayToArray(dst rt.CudaArray_t, dx, dy uint64, src rt.CudaArray_const_t, sx, sy, w, h uint64, kind rt.CudaMemcpyKind) error {
	return t.copyArray(&arrayCopy{dst: dst, dstX: dx, dstY: dy, src: rt.CudaArray_t(src), srcX: sx, srcY: sy, w: w, h: h, kind: kind})
}

// rowBytes is the length of an array's row.
func rowBytes(d *driver.Thread, a rt.CudaArray_t) (uint64, error) {
	x, err := d.Array3DGetDescriptor(cu.CUarray(a))
	if err != nil {
		return 0, err
	}
	e := channelDesc(x.Format, x.NumChannels)
	return x.Width * uint64(e.X/8) * uint64(x.NumChannels), nil
}

// copyRun copies bytes that follow each other over the ends of an array's rows, or of both arrays' rows.
func (t *Thread) copyRun(c arrayCopy, n uint64) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	type side struct {
		row  uint64
		x, y *uint64
	}
	var sides []side
	for _, s := range []struct {
		array rt.CudaArray_t
		x, y  *uint64
	}{{c.dst, &c.dstX, &c.dstY}, {c.src, &c.srcX, &c.srcY}} {
		if s.array == 0 {
			continue
		}
		row, err := rowBytes(d, s.array)
		if err != nil {
			return err
		}
		if *s.x > row {
			return errInvalidValue
		}
		sides = append(sides, side{row, s.x, s.y})
	}
	for n > 0 {
		part := n
		for _, s := range sides {
			if *s.x == s.row {
				*s.x = 0
				*s.y++
			}
			part = min(part, s.row-*s.x)
		}
		c.w, c.h, c.pitch = part, 1, max(part, 1)
		if err := t.copyArray(&c); err != nil {
			return err
		}
		n -= part
		for _, s := range sides {
			*s.x += part
		}
		if c.dst == 0 {
			c.to = c.to.Add(part)
		} else if c.src == 0 {
			c.from = c.from.Add(part)
		}
	}
	return nil
}

// MemcpyArrayToArray copies bytes from an array to another, row after row.
func (t *Thread) MemcpyArrayToArray(dst rt.CudaArray_t, dx, dy uint64, src rt.CudaArray_const_t, sx, sy, n uint64, kind rt.CudaMemcpyKind) error {
	if dst == 0 || src == 0 {
		return t.absent(errInvalidHandle)
	}
	return t.copyRun(arrayCopy{dst: dst, dstX: dx, dstY: dy, src: rt.CudaArray_t(src), srcX: sx, srcY: sy, kind: kind}, n)
}

// MemcpyToArray copies bytes into an array, row after row.
func (t *Thread) MemcpyToArray(dst rt.CudaArray_t, x, y uint64, src hostmem.Ptr, n uint64, kind rt.CudaMemcpyKind) error {
	return t.copyRun(arrayCopy{dst: dst, dstX: x, dstY: y, from: src, kind: kind}, n)
}

// MemcpyToArrayAsync is the same in a stream.
func (t *Thread) MemcpyToArrayAsync(dst rt.CudaArray_t, x, y uint64, src hostmem.Ptr, n uint64, kind rt.CudaMemcpyKind, s rt.CudaStream_t) error {
	return t.copyRun(arrayCopy{dst: dst, dstX: x, dstY: y, from: src, kind: kind, stream: s, async: true}, n)
}

// MemcpyFromArray copies bytes out of an array, row after row.
func (t *Thread) MemcpyFromArray(dst hostmem.Ptr, src rt.CudaArray_const_t, x, y, n uint64, kind rt.CudaMemcpyKind) error {
	return t.copyRun(arrayCopy{src: rt.CudaArray_t(src), srcX: x, srcY: y, to: dst, kind: kind}, n)
}

// MemcpyFromArrayAsync is the same in a stream.
func (t *Thread) MemcpyFromArrayAsync(dst hostmem.Ptr, src rt.CudaArray_const_t, x, y, n uint64, kind rt.CudaMemcpyKind, s rt.CudaStream_t) error {
	return t.copyRun(arrayCopy{src: rt.CudaArray_t(src), srcX: x, srcY: y, to: dst, kind: kind, stream: s, async: true}, n)
}

// arrayBox completes a copy of a box one side of which is an array: positions and widths count its elements there.
func arrayBox(d *driver.Thread, c *cu.CUDA_MEMCPY3D, p *rt.CudaMemcpy3DParms) error {
	elem := uint64(0)
	for _, a := range []rt.CudaArray_t{p.SrcArray, p.DstArray} {
		if a == 0 {
			continue
		}
		x, err := d.Array3DGetDescriptor(cu.CUarray(a))
		if err != nil {
			return err
		}
		e := channelDesc(x.Format, x.NumChannels)
		n := uint64(e.X/8) * uint64(x.NumChannels)
		if elem != 0 && elem != n {
			return errInvalidValue
		}
		elem = n
	}
	if p.SrcArray != 0 {
		c.SrcMemoryType, c.SrcArray = cu.CU_MEMORYTYPE_ARRAY, cu.CUarray(p.SrcArray)
		c.SrcXInBytes *= elem
	}
	if p.DstArray != 0 {
		c.DstMemoryType, c.DstArray = cu.CU_MEMORYTYPE_ARRAY, cu.CUarray(p.DstArray)
		c.DstXInBytes *= elem
	}
	if elem != 0 {
		c.WidthInBytes *= elem
	}
	return nil
}
