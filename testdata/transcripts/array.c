// Arrays, mipmapped arrays, and the objects that show them.
#include "transcript.h"

static int make(CUarray *a, size_t w, size_t h, size_t d, int format, unsigned channels, unsigned flags) {
	CUDA_ARRAY3D_DESCRIPTOR x = {.Width = w, .Height = h, .Depth = d, .Format = (CUarray_format)format, .NumChannels = channels, .Flags = flags};
	return cuArray3DCreate(a, &x);
}

GROUP(array_create) {
	CUarray a = 0;
	CUDA_ARRAY_DESCRIPTOR d = {.Width = 16, .Height = 4, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1}, e;
	CUDA_ARRAY3D_DESCRIPTOR f;
	start();
	T(cuArrayCreate(&a, &d));
	T(cuArrayGetDescriptor(&e, a));
	N(e.Width * 1000000 + e.Height * 1000 + e.NumChannels * 100 + e.Format);
	T(cuArray3DGetDescriptor(&f, a));
	N(f.Width * 1000000 + f.Height * 1000 + f.Depth);
	X(f.Flags);
	T(cuArrayDestroy(a));
	T(cuArrayCreate(0, &d));
	T(cuArrayCreate(&a, 0));
	T(cuArrayGetDescriptor(&e, 0));
	T(cuArrayDestroy(0));
	d.Width = 0;
	T(cuArrayCreate(&a, &d));
	d.Width = 16;
	d.NumChannels = 3;
	T(cuArrayCreate(&a, &d));
	d.NumChannels = 1;
	d.Format = (CUarray_format)0x77;
	T(cuArrayCreate(&a, &d));
	d.Format = CU_AD_FORMAT_FLOAT;
	d.Width = 1 << 20;
	T(cuArrayCreate(&a, &d));
	NOTE("three dimensions and flags");
	T(make(&a, 8, 8, 8, CU_AD_FORMAT_HALF, 4, 0));
	T(make(&a, 8, 0, 8, CU_AD_FORMAT_HALF, 4, 0));
	T(make(&a, 8, 8, 5, CU_AD_FORMAT_HALF, 4, CUDA_ARRAY3D_LAYERED));
	T(make(&a, 8, 0, 5, CU_AD_FORMAT_HALF, 4, CUDA_ARRAY3D_LAYERED));
	T(make(&a, 8, 8, 0, CU_AD_FORMAT_HALF, 4, CUDA_ARRAY3D_LAYERED));
	T(make(&a, 8, 8, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP));
	T(make(&a, 8, 4, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP));
	T(make(&a, 8, 8, 5, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP));
	T(make(&a, 8, 8, 12, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED));
	T(make(&a, 8, 8, 13, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED));
	T(make(&a, 8, 8, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_TEXTURE_GATHER));
	T(make(&a, 8, 8, 4, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_TEXTURE_GATHER));
	T(make(&a, 8, 8, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST));
	T(make(&a, 8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0x4000));
	T(make(&a, 8, 8, 0, CU_AD_FORMAT_UNORM_INT8X4, 4, 0));
	T(make(&a, 8, 8, 0, CU_AD_FORMAT_UNORM_INT8X4, 1, 0));
	T(make(&a, 8, 8, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0));
	T(make(&a, 6, 6, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0));
}

// Arrays of compressed blocks: sides in texels, rows and bytes of copies in blocks.
GROUP(array_blocks) {
	CUarray a = 0, b = 0; CUmipmappedArray m = 0; CUtexObject x = 0; CUsurfObject o = 0;
	CUDA_ARRAY3D_DESCRIPTOR f; CUDA_ARRAY_DESCRIPTOR e; CUDA_RESOURCE_DESC r; CUDA_TEXTURE_DESC t; unsigned char host[1024], got[1024]; CUDA_ARRAY_MEMORY_REQUIREMENTS need;
	start();
	for (int i = 0; i < 1024; i++) host[i] = i * 37 + i / 8;
	for (int format = CU_AD_FORMAT_BC1_UNORM; format <= CU_AD_FORMAT_BC7_UNORM_SRGB; format++) {
		printf("format %d:", format);
		for (unsigned n = 0; n <= 4; n++) printf(" %d", make(&a, 8, 8, 0, format, n, 0));
		printf("\n");
	}
	NOTE("shapes");
	T(make(&a, 8, 0, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0));
	T(make(&a, 8, 8, 3, CU_AD_FORMAT_BC1_UNORM, 4, CUDA_ARRAY3D_LAYERED));
	T(make(&a, 8, 8, 3, CU_AD_FORMAT_BC1_UNORM, 4, 0));
	T(make(&a, 8, 8, 6, CU_AD_FORMAT_BC1_UNORM, 4, CUDA_ARRAY3D_CUBEMAP));
	T(make(&a, 8, 8, 0, CU_AD_FORMAT_BC1_UNORM, 4, CUDA_ARRAY3D_SURFACE_LDST));
	T(make(&a, 8, 8, 0, CU_AD_FORMAT_BC1_UNORM, 4, CUDA_ARRAY3D_TEXTURE_GATHER));
	T(make(&a, 1, 1, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0));
	T(make(&a, 16, 8, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0));
	T(cuArrayGetDescriptor(&e, a));
	N(e.Width); N(e.Height); N(e.NumChannels); N(e.Format);
	T(cuArray3DGetDescriptor(&f, a));
	N(f.Width); N(f.Height); N(f.Depth); X(f.Flags);
	T(cuArrayGetMemoryRequirements(&need, a, dev));
	NOTE("copies, 4 by 2 blocks of 8 bytes");
	CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 64, .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = a, .WidthInBytes = 32, .Height = 2};
	T(cuMemcpy2D(&c));
	c.Height = 3;
	T(cuMemcpy2D(&c));
	c.Height = 8;
	T(cuMemcpy2D(&c));
	c.Height = 2; c.WidthInBytes = 40;
	T(cuMemcpy2D(&c));
	c.WidthInBytes = 64;
	T(cuMemcpy2D(&c));
	c.WidthInBytes = 12;
	T(cuMemcpy2D(&c));
	c.WidthInBytes = 8; c.dstXInBytes = 24; c.dstY = 1; c.Height = 1;
	T(cuMemcpy2D(&c));
	c.dstXInBytes = 4;
	T(cuMemcpy2D(&c));
	c.dstXInBytes = 0; c.dstY = 2;
	T(cuMemcpy2D(&c));
	memset(got, 0, sizeof got);
	CUDA_MEMCPY2D d = {.dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = got, .dstPitch = 32, .srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = a, .WidthInBytes = 32, .Height = 2};
	T(cuMemcpy2D(&d));
	B(memcmp(got, host, 32) == 0); B(memcmp(got + 32, host + 64, 24) == 0); B(memcmp(got + 56, host, 8) == 0);
	T(cuMemcpyHtoA(a, 0, host, 32));
	T(cuMemcpyHtoA(a, 0, host, 64));
	T(cuMemcpyAtoH(got, a, 0, 32));
	QUIET(make(&b, 16, 8, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0));
	T(cuMemcpyAtoA(b, 0, a, 0, 32));
	CUarray w = 0;
	QUIET(make(&w, 4, 2, 0, CU_AD_FORMAT_UNSIGNED_INT32, 2, 0));
	T(cuMemcpyAtoA(w, 0, a, 0, 32));
	CUDA_MEMCPY2D h = {.dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = b, .srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = a, .WidthInBytes = 32, .Height = 2};
	T(cuMemcpy2D(&h));
	h.dstArray = w;
	T(cuMemcpy2D(&h));
	NOTE("6 by 6 texels are 2 by 2 blocks");
	QUIET(make(&b, 6, 6, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0));
	c.dstArray = b; c.dstY = 0; c.WidthInBytes = 16; c.Height = 2;
	T(cuMemcpy2D(&c));
	c.WidthInBytes = 24;
	T(cuMemcpy2D(&c));
	c.WidthInBytes = 8; c.Height = 1;
	T(cuMemcpy2D(&c));
	NOTE("objects");
	memset(&r, 0, sizeof r);
	memset(&t, 0, sizeof t);
	r.resType = CU_RESOURCE_TYPE_ARRAY;
	r.res.array.hArray = a;
	T(cuTexObjectCreate(&x, &r, &t, 0));
	t.flags = CU_TRSF_SRGB;
	T(cuTexObjectCreate(&x, &r, &t, 0));
	t.flags = CU_TRSF_READ_AS_INTEGER;
	T(cuTexObjectCreate(&x, &r, &t, 0));
	t.flags = CU_TRSF_NORMALIZED_COORDINATES;
	t.filterMode = CU_TR_FILTER_MODE_LINEAR;
	T(cuTexObjectCreate(&x, &r, &t, 0));
	T(cuSurfObjectCreate(&o, &r));
	CUDA_RESOURCE_VIEW_DESC v;
	memset(&v, 0, sizeof v);
	v.format = CU_RES_VIEW_FORMAT_UNSIGNED_BC1; v.width = 16; v.height = 8;
	T(cuTexObjectCreate(&x, &r, &t, &v));
	v.width = 64; v.height = 32;
	T(cuTexObjectCreate(&x, &r, &t, &v));
	v.format = CU_RES_VIEW_FORMAT_UINT_2X32; v.width = 4; v.height = 2;
	T(cuTexObjectCreate(&x, &r, &t, &v));
	NOTE("views of blocks on arrays of words");
	QUIET(make(&w, 4, 2, 0, CU_AD_FORMAT_UNSIGNED_INT32, 2, 0));
	r.res.array.hArray = w;
	v.format = CU_RES_VIEW_FORMAT_UNSIGNED_BC1; v.width = 16; v.height = 8;
	T(cuTexObjectCreate(&x, &r, &t, &v));
	v.width = 4; v.height = 2;
	T(cuTexObjectCreate(&x, &r, &t, &v));
	v.width = 15; v.height = 8;
	T(cuTexObjectCreate(&x, &r, &t, &v));
	v.width = 16; v.height = 8; v.format = CU_RES_VIEW_FORMAT_UNSIGNED_BC2;
	T(cuTexObjectCreate(&x, &r, &t, &v));
	v.format = CU_RES_VIEW_FORMAT_UNSIGNED_BC4;
	T(cuTexObjectCreate(&x, &r, &t, &v));
	QUIET(make(&w, 4, 2, 0, CU_AD_FORMAT_FLOAT, 2, 0));
	r.res.array.hArray = w;
	T(cuTexObjectCreate(&x, &r, &t, &v));
	QUIET(make(&w, 4, 2, 0, CU_AD_FORMAT_SIGNED_INT32, 2, 0));
	r.res.array.hArray = w;
	T(cuTexObjectCreate(&x, &r, &t, &v));
	QUIET(make(&w, 4, 2, 0, CU_AD_FORMAT_UNSIGNED_INT16, 4, 0));
	r.res.array.hArray = w;
	T(cuTexObjectCreate(&x, &r, &t, &v));
	NOTE("mipmaps");
	memset(&f, 0, sizeof f);
	f.Width = 16; f.Height = 16; f.Format = CU_AD_FORMAT_BC7_UNORM; f.NumChannels = 4;
	T(cuMipmappedArrayCreate(&m, &f, 5));
	for (unsigned l = 0; l < 5; l++) {
		QUIET(cuMipmappedArrayGetLevel(&a, m, l));
		QUIET(cuArray3DGetDescriptor(&f, a));
		N(f.Width * 1000 + f.Height);
		c.dstArray = a; c.dstXInBytes = 0; c.dstY = 0; c.WidthInBytes = 16; c.Height = 1;
		T(cuMemcpy2D(&c));
		c.WidthInBytes = 32;
		T(cuMemcpy2D(&c));
	}
}

// A texel of every format of blocks, read by a texture of an array of it.
GROUP(array_blocks_read) {
	static const char text[] =
		".version 7.0\n.target sm_70\n.address_size 64\n"
		".visible .entry read(.param .u64 t, .param .u64 p) {\n"
		"  .reg .b64 %t, %a; .reg .b32 %r<8>; ld.param.u64 %t, [t]; ld.param.u64 %a, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %ntid.x; mad.lo.u32 %r2, %r1, %r2, %r0;\n"
		"  tex.2d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%t, {%r0, %r1}]; mul.wide.u32 %t, %r2, 16; add.u64 %a, %a, %t; st.global.v4.u32 [%a], {%r4, %r5, %r6, %r7}; ret; }\n";
	CUmodule module = 0; CUfunction k = 0; unsigned char host[64]; unsigned out[36 * 4];
	start();
	CUdeviceptr p = new_memory(sizeof out);
	QUIET(cuModuleLoadData(&module, text));
	QUIET(cuModuleGetFunction(&k, module, "read"));
	for (int i = 0; i < 64; i++) host[i] = 11 + i * 73 + i / 8;
	for (int format = CU_AD_FORMAT_BC1_UNORM; format <= CU_AD_FORMAT_BC7_UNORM_SRGB; format++)
		for (int flags = 0; flags < 2; flags++) {
			CUarray a = 0; CUtexObject x = 0; CUDA_RESOURCE_DESC r; CUDA_TEXTURE_DESC t;
			int channels = format == CU_AD_FORMAT_BC4_UNORM || format == CU_AD_FORMAT_BC4_SNORM ? 1 : format == CU_AD_FORMAT_BC5_UNORM || format == CU_AD_FORMAT_BC5_SNORM ? 2 : format == CU_AD_FORMAT_BC6H_UF16 || format == CU_AD_FORMAT_BC6H_SF16 ? 3 : 4;
			size_t size = format <= CU_AD_FORMAT_BC1_UNORM_SRGB || channels == 1 ? 8 : 16;
			int e = make(&a, 6, 6, 0, format, channels, 0);
			if (e && channels == 3) e = make(&a, 6, 6, 0, format, 4, 0);
			CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 2 * size, .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = a, .WidthInBytes = 2 * size, .Height = 2};
			if (!e) e = cuMemcpy2D(&c);
			memset(&r, 0, sizeof r);
			memset(&t, 0, sizeof t);
			r.res.array.hArray = a;
			t.flags = flags ? CU_TRSF_SRGB : 0;
			for (int i = 0; i < 3; i++) t.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
			if (!e) e = cuTexObjectCreate(&x, &r, &t, 0);
			void *args[] = {&x, &p};
			QUIET(cuMemsetD32(p, 0xdeadbeef, sizeof out / 4));
			if (!e) e = cuLaunchKernel(k, 1, 1, 1, 6, 6, 1, 0, 0, args, 0);
			if (!e) e = cuCtxSynchronize();
			QUIET(cuMemcpyDtoH(out, p, sizeof out));
			printf("format %d flags %#x = %d:", format, t.flags, e);
			static const int texels[] = {0, 8, 21, 28, 35};
			for (unsigned i = 0; i < 5; i++) {
				for (int j = 0; j < 4; j++) printf(" %08x", out[4 * texels[i] + j]);
				printf(",");
			}
			printf("\n");
		}
}

GROUP(array_copy) {
	CUarray a = 0, b = 0;
	unsigned char host[64], got[64] = {0};
	start();
	CUdeviceptr p = new_memory(256);
	for (int i = 0; i < 64; i++) host[i] = i;
	QUIET(make(&a, 16, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0));
	QUIET(make(&b, 8, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0));
	T(cuMemcpyHtoA(a, 0, host, 64));
	T(cuMemcpyAtoH(got, a, 4, 8));
	N(got[0] * 1000 + got[7]);
	T(cuMemcpyAtoD(p, a, 8, 16));
	T(cuMemcpyDtoA(a, 0, p, 16));
	T(cuMemcpyAtoA(a, 32, a, 0, 16));
	T(cuMemcpyAtoH(got, a, 0, 64));
	N(got[0] * 1000 + got[32]);
	T(cuMemcpyAtoH(got, a, 60, 8));
	T(cuMemcpyHtoA(a, 1, host, 4));
	T(cuMemcpyHtoA(a, 65, host, 4));
	T(cuMemcpyHtoA(a, 0, host, 0));
	T(cuMemcpyHtoA(0, 0, host, 4));
	T(cuMemcpyHtoA(b, 0, host, 8));
	T(cuMemcpyHtoA(b, 0, host, 64));
	T(cuMemcpyAtoH(got, b, 8, 8));
	T(cuMemcpyAtoA(b, 0, a, 0, 8));
	CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 8, .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = b, .WidthInBytes = 8, .Height = 8};
	T(cuMemcpy2D(&c));
	c.dstXInBytes = 4;
	T(cuMemcpy2D(&c));
	c.WidthInBytes = 4;
	c.dstY = 1;
	T(cuMemcpy2D(&c));
	c.Height = 7;
	T(cuMemcpy2D(&c));
	c.dstArray = 0;
	T(cuMemcpy2D(&c));
}

GROUP(mipmap) {
	CUmipmappedArray m = 0;
	CUarray l = 0;
	CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 16, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1}, e;
	start();
	T(cuMipmappedArrayCreate(&m, &d, 3));
	for (unsigned i = 0; i < 4; i++) {
		T(cuMipmappedArrayGetLevel(&l, m, i));
		if (i < 3) {
			QUIET(cuArray3DGetDescriptor(&e, l));
			N(e.Width * 1000 + e.Height);
		}
	}
	T(cuArrayDestroy(l));
	T(cuMipmappedArrayDestroy(m));
	T(cuMipmappedArrayCreate(&m, &d, 5));
	T(cuMipmappedArrayCreate(&m, &d, 6));
	T(cuMipmappedArrayCreate(&m, &d, 100));
	T(cuMipmappedArrayCreate(&m, &d, 0));
	T(cuMipmappedArrayCreate(0, &d, 1));
	T(cuMipmappedArrayDestroy(0));
	d.Width = 0;
	T(cuMipmappedArrayCreate(&m, &d, 1));
}

GROUP(texture_object) {
	CUarray a = 0, plain = 0;
	CUtexObject t = 0;
	CUsurfObject s = 0;
	CUDA_TEXTURE_DESC how = {{0}}, back = {{0}};
	CUDA_RESOURCE_VIEW_DESC view = {0}, seen;
	start();
	QUIET(make(&a, 16, 16, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_SURFACE_LDST));
	QUIET(make(&plain, 16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0));
	CUdeviceptr p = new_memory(1 << 16);
	CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a}, rback;
	how.maxAnisotropy = 2;
	how.flags = CU_TRSF_READ_AS_INTEGER;
	how.addressMode[0] = CU_TR_ADDRESS_MODE_BORDER;
	T(cuTexObjectCreate(&t, &r, &how, 0));
	T(cuTexObjectGetTextureDesc(&back, t));
	N(back.maxAnisotropy * 100 + back.flags * 10 + back.addressMode[0]);
	T(cuTexObjectGetResourceDesc(&rback, t));
	B(rback.res.array.hArray == a);
	T(cuTexObjectGetResourceViewDesc(&seen, t));
	T(cuTexObjectDestroy(t));
	T(cuTexObjectDestroy(t));
	T(cuTexObjectGetTextureDesc(&back, t));
	how.filterMode = CU_TR_FILTER_MODE_LINEAR;
	T(cuTexObjectCreate(&t, &r, &how, 0));
	how.flags = 0;
	T(cuTexObjectCreate(&t, &r, &how, 0));
	how.filterMode = (CUfilter_mode)5;
	T(cuTexObjectCreate(&t, &r, &how, 0));
	how.filterMode = CU_TR_FILTER_MODE_POINT;
	how.addressMode[1] = (CUaddress_mode)7;
	T(cuTexObjectCreate(&t, &r, &how, 0));
	how.addressMode[1] = CU_TR_ADDRESS_MODE_WRAP;
	T(cuTexObjectCreate(&t, &r, &how, 0));
	how.flags = 0x800;
	T(cuTexObjectCreate(&t, &r, &how, 0));
	how.flags = 0;
	T(cuTexObjectCreate(0, &r, &how, 0));
	T(cuTexObjectCreate(&t, 0, &how, 0));
	T(cuTexObjectCreate(&t, &r, 0, 0));
	r.res.array.hArray = 0;
	T(cuTexObjectCreate(&t, &r, &how, 0));
	r.res.array.hArray = a;
	NOTE("views");
	view.format = CU_RES_VIEW_FORMAT_UINT_1X32;
	view.width = view.height = 16;
	T(cuTexObjectCreate(&t, &r, &how, &view));
	T(cuTexObjectGetResourceViewDesc(&seen, t));
	N(seen.width);
	view.width = 17;
	T(cuTexObjectCreate(&t, &r, &how, &view));
	view.width = 16;
	view.format = CU_RES_VIEW_FORMAT_UINT_2X32;
	T(cuTexObjectCreate(&t, &r, &how, &view));
	NOTE("memory");
	CUDA_RESOURCE_DESC line = {.resType = CU_RESOURCE_TYPE_LINEAR, .res.linear = {.devPtr = p, .format = CU_AD_FORMAT_FLOAT, .numChannels = 1, .sizeInBytes = 4096}};
	T(cuTexObjectCreate(&t, &line, &how, 0));
	line.res.linear.devPtr = p + 4;
	T(cuTexObjectCreate(&t, &line, &how, 0));
	line.res.linear.devPtr = p;
	line.res.linear.sizeInBytes = 0;
	T(cuTexObjectCreate(&t, &line, &how, 0));
	line.res.linear.sizeInBytes = 4096;
	line.res.linear.numChannels = 3;
	T(cuTexObjectCreate(&t, &line, &how, 0));
	CUDA_RESOURCE_DESC rows = {.resType = CU_RESOURCE_TYPE_PITCH2D, .res.pitch2D = {.devPtr = p, .format = CU_AD_FORMAT_FLOAT, .numChannels = 1, .width = 16, .height = 4, .pitchInBytes = 512}};
	T(cuTexObjectCreate(&t, &rows, &how, 0));
	rows.res.pitch2D.pitchInBytes = 36;
	T(cuTexObjectCreate(&t, &rows, &how, 0));
	rows.res.pitch2D.pitchInBytes = 48;
	T(cuTexObjectCreate(&t, &rows, &how, 0));
	rows.resType = (CUresourcetype)9;
	T(cuTexObjectCreate(&t, &rows, &how, 0));
	NOTE("surfaces");
	T(cuSurfObjectCreate(&s, &r));
	T(cuSurfObjectGetResourceDesc(&rback, s));
	B(rback.res.array.hArray == a);
	T(cuSurfObjectDestroy(s));
	T(cuSurfObjectDestroy(s));
	r.res.array.hArray = plain;
	T(cuSurfObjectCreate(&s, &r));
	T(cuSurfObjectCreate(&s, &line));
	T(cuSurfObjectCreate(0, &r));
}

GROUP(array_memory) {
	CUarray a = 0, plane = 0;
	CUmipmappedArray m = 0;
	CUDA_ARRAY_SPARSE_PROPERTIES sparse;
	CUDA_ARRAY_MEMORY_REQUIREMENTS need;
	CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 16, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
	start();
	QUIET(make(&a, 16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0));
	QUIET(cuMipmappedArrayCreate(&m, &d, 2));
	T(cuArrayGetSparseProperties(&sparse, a));
	T(cuArrayGetSparseProperties(0, a));
	T(cuArrayGetSparseProperties(&sparse, 0));
	T(cuArrayGetMemoryRequirements(&need, a, dev));
	T(cuArrayGetMemoryRequirements(&need, a, 99));
	T(cuArrayGetPlane(&plane, a, 0));
	T(cuArrayGetPlane(&plane, a, 1));
	T(cuMipmappedArrayGetSparseProperties(&sparse, m));
	T(cuMipmappedArrayGetMemoryRequirements(&need, m, dev));
}
