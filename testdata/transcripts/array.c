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
