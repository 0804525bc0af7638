package driver

import (
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

func TestArrays(t *testing.T) {
	th, c, _, dev := withPrimary(t)
	free0, _ := dev.mem.Usage()
	a, err := th.ArrayCreate(&cu.CUDA_ARRAY_DESCRIPTOR{Width: 5, Height: 3, Format: cu.CU_AD_FORMAT_UNSIGNED_INT16, NumChannels: 2})
	want(t, "create", err, 0)
	for what, d := range map[string]cu.CUDA_ARRAY3D_DESCRIPTOR{
		"three channels": {Width: 4, Format: cu.CU_AD_FORMAT_FLOAT, NumChannels: 3}, "no width": {Height: 4, Format: cu.CU_AD_FORMAT_FLOAT, NumChannels: 1},
		"format": {Width: 4, Format: 7, NumChannels: 1}, "flat 3D": {Width: 4, Depth: 4, Format: cu.CU_AD_FORMAT_FLOAT, NumChannels: 1},
		"cube": {Width: 4, Height: 5, Depth: 6, Format: cu.CU_AD_FORMAT_FLOAT, NumChannels: 1, Flags: cu.CUDA_ARRAY3D_CUBEMAP},
	} {
		_, err := th.Array3DCreate(&d)
		want(t, what, err, 1)
	}
	// Host rows 32 bytes apart into the array, all but its first column and row; then out again tight.
	src := hostmem.Bytes(c.words(make([]uint64, 16)...), 128)
	for i := range src {
		src[i] = byte(i)
	}
	in := cu.CUDA_MEMCPY2D{SrcMemoryType: cu.CU_MEMORYTYPE_HOST, SrcHost: uint64(hostmem.Of(&src[0])), SrcPitch: 32, DstMemoryType: cu.CU_MEMORYTYPE_ARRAY, DstArray: a, DstXInBytes: 4, DstY: 1, WidthInBytes: 16, Height: 2}
	want(t, "in", th.Memcpy2D(&in), 0)
	out := hostmem.Bytes(c.words(make([]uint64, 8)...), 64)
	back := cu.CUDA_MEMCPY2D{SrcMemoryType: cu.CU_MEMORYTYPE_ARRAY, SrcArray: a, SrcXInBytes: 4, SrcY: 1, DstMemoryType: cu.CU_MEMORYTYPE_HOST, DstHost: uint64(hostmem.Of(&out[0])), DstPitch: 16, WidthInBytes: 16, Height: 2}
	want(t, "out", th.Memcpy2D(&back), 0)
	if out[0] != 0 || out[15] != 15 {
		t.Errorf("row %v", out[:16])
	}
	if out[16] != 32 {
		t.Errorf("second row %v", out[16:32])
	}
	in.DstXInBytes = 8
	want(t, "too wide", th.Memcpy2D(&in), 1)
	in.DstXInBytes = 2
	want(t, "half an element", th.Memcpy2D(&in), 1)
	want(t, "past the end of the first row", th.MemcpyAtoH(hostmem.Of(&out[0]), a, 8, 16), 1)
	d, err := th.ArrayGetDescriptor(a)
	if err != nil || d.Width != 5 || d.Height != 3 || d.NumChannels != 2 {
		t.Errorf("descriptor %+v %v", d, err)
	}
	// Boxes, layers, arrays to arrays.
	b, err := th.Array3DCreate(&cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 4, Height: 4, Depth: 4, Format: cu.CU_AD_FORMAT_UNSIGNED_INT8, NumChannels: 1, Flags: cu.CUDA_ARRAY3D_SURFACE_LDST})
	want(t, "3D", err, 0)
	p, _ := th.MemAlloc(64)
	want(t, "fill", th.MemcpyHtoD(p, hostmem.Of(&src[0]), 64), 0)
	box := cu.CUDA_MEMCPY3D{SrcMemoryType: cu.CU_MEMORYTYPE_DEVICE, SrcDevice: p, SrcPitch: 4, SrcHeight: 4, DstMemoryType: cu.CU_MEMORYTYPE_ARRAY, DstArray: b, WidthInBytes: 4, Height: 4, Depth: 4}
	want(t, "box in", th.Memcpy3D(&box), 0)
	box = cu.CUDA_MEMCPY3D{SrcMemoryType: cu.CU_MEMORYTYPE_ARRAY, SrcArray: b, SrcXInBytes: 1, SrcY: 2, SrcZ: 3, DstMemoryType: cu.CU_MEMORYTYPE_HOST, DstHost: uint64(hostmem.Of(&out[0])), WidthInBytes: 2, Height: 2, Depth: 1}
	want(t, "box out", th.Memcpy3D(&box), 0)
	if want := [4]byte{57, 58, 61, 62}; [4]byte(out[:4]) != want {
		t.Errorf("box %v, want %v", out[:4], want)
	}
	want(t, "bytes", th.MemcpyHtoA(a, 0, hostmem.Of(&src[40]), 8), 0)
	want(t, "array to array", th.MemcpyAtoA(b, 0, a, 4, 4), 0)
	want(t, "out", th.MemcpyAtoH(hostmem.Of(&out[0]), b, 0, 4), 0)
	if out[3] != 47 {
		t.Errorf("array to array %v", out[:4])
	}
	// Mipmaps.
	mm, err := th.MipmappedArrayCreate(&cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 8, Height: 2, Format: cu.CU_AD_FORMAT_FLOAT, NumChannels: 4}, 10)
	want(t, "mipmap", err, 0)
	l3, err := th.MipmappedArrayGetLevel(mm, 3)
	want(t, "level", err, 0)
	if d, _ := th.Array3DGetDescriptor(l3); d.Width != 1 || d.Height != 1 {
		t.Errorf("level 3 is %dx%d", d.Width, d.Height)
	}
	_, err = th.MipmappedArrayGetLevel(mm, 4)
	want(t, "no such level", err, 1)
	want(t, "a level's name ends", th.ArrayDestroy(l3), 0)
	want(t, "and is known no more", th.ArrayDestroy(l3), 400)
	// Objects.
	var r cu.CUDA_RESOURCE_DESC
	r.ResType = cu.CU_RESOURCE_TYPE_ARRAY
	r.Res.Array().HArray = b
	td := cu.CUDA_TEXTURE_DESC{FilterMode: cu.CU_TR_FILTER_MODE_LINEAR}
	tex, err := th.TexObjectCreate(&r, &td, nil)
	want(t, "texture", err, 0)
	if back, err := th.TexObjectGetTextureDesc(tex); err != nil || back.FilterMode != td.FilterMode {
		t.Errorf("texture %+v %v", back, err)
	}
	surf, err := th.SurfObjectCreate(&r)
	want(t, "surface", err, 0)
	r.Res.Array().HArray = a
	plain, err := th.SurfObjectCreate(&r)
	want(t, "not made for surfaces", err, 0)
	want(t, "destroy", th.SurfObjectDestroy(plain), 0)
	want(t, "destroy", th.TexObjectDestroy(tex), 0)
	want(t, "destroy twice", th.TexObjectDestroy(tex), 0)
	_, err = th.TexObjectGetTextureDesc(tex)
	want(t, "destroyed", err, 1)
	want(t, "destroy", th.SurfObjectDestroy(surf), 0)
	want(t, "destroy", th.MipmappedArrayDestroy(mm), 0)
	want(t, "destroy", th.ArrayDestroy(a), 0)
	want(t, "destroy twice", th.ArrayDestroy(a), 400)
	want(t, "gone", th.MemcpyAtoH(hostmem.Of(&out[0]), a, 0, 4), 400)
	want(t, "free", th.MemFree(p), 0)
	want(t, "destroy", th.ArrayDestroy(b), 0)
	if free, _ := dev.mem.Usage(); free != free0 {
		t.Errorf("%d bytes lost", free0-free)
	}
	_, err = th.ArrayCreate(&cu.CUDA_ARRAY_DESCRIPTOR{Width: 5, Format: cu.CU_AD_FORMAT_FLOAT, NumChannels: 1})
	want(t, "1D", err, 0)
	want(t, "reset", th.DevicePrimaryCtxReset(0), 0)
	if free, _ := dev.mem.Usage(); free < free0 {
		t.Errorf("%d bytes lost at the reset", free0-free)
	}
}
