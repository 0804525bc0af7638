// Copies and sets.
#include "transcript.h"

GROUP(copy) {
	start();
	CUdeviceptr p = new_memory(256), q = new_memory(256); unsigned char a[256], b[256]; CUstream s = new_stream(0);
	for (int i = 0; i < 256; i++) a[i] = (unsigned char)i;
	T(cuMemcpyHtoD(p, a, 256));
	T(cuMemcpyDtoD(q, p + 1, 255));
	T(cuMemcpyDtoH(b, q, 256));
	N(b[0]); N(b[254]); N(b[255]);
	T(cuMemcpy(q, p, 256));
	T(cuMemcpy((CUdeviceptr)(uintptr_t)b, q, 256));
	N(b[255]);
	T(cuMemcpy((CUdeviceptr)(uintptr_t)b, (CUdeviceptr)(uintptr_t)a, 16));
	T(cuMemcpyDtoD(p, p + 8, 128));
	T(cuMemcpyHtoDAsync(p, a, 256, s));
	T(cuMemcpyDtoHAsync(b, p, 256, s));
	T(cuStreamSynchronize(s));
	N(b[77]);
	T(cuMemcpyAsync(q, p, 256, s));
	T(cuMemcpyDtoDAsync(q, p, 256, CU_STREAM_LEGACY));
	T(cuMemcpyDtoDAsync(q, p, 256, CU_STREAM_PER_THREAD));
	T(cuCtxSynchronize());
	NOTE("nothing to copy");
	T(cuMemcpyHtoD(p, a, 0));
	T(cuMemcpyHtoD(0, 0, 0));
	T(cuMemcpyDtoD(0, 0, 0));
	NOTE("too much");
	T(cuMemcpyHtoD(p, a, 257));
	T(cuMemcpyDtoD(p, q, 1 << 30));
	T(cuMemcpyDtoH(b, p + 200, 100));
	T(cuMemcpyDtoHAsync(b, p + 200, 100, s));
	NOTE("pointers that are none");
	T(cuMemcpyHtoD(0, a, 16));
	T(cuMemcpyHtoD(p, 0, 16));
	T(cuMemcpyDtoH(0, p, 16));
	T(cuMemcpyDtoD(p, 0, 16));
	T(cuMemcpyDtoH(b, 0x1234567, 16));
	T(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)b, a, 16));
	T(cuMemcpyDtoD((CUdeviceptr)(uintptr_t)b, p, 16));
	T(cuMemcpy(0, p, 16));
	T(cuMemcpyHtoD(p, (void *)(uintptr_t)q, 16));
	T(cuMemcpyDtoH((void *)(uintptr_t)q, p, 16));
	T(cuCtxSynchronize());
}

// The real driver reads the address itself and dies.
GROUP(copy_bad_host) {
	start();
	CUdeviceptr p = new_memory(4096); CUstream s = new_stream(0);
	T(cuMemcpyHtoD(p, (void *)(uintptr_t)0x1000, 16));
	T(cuCtxSynchronize());
	T(cuMemcpyDtoHAsync((void *)(uintptr_t)0x1000, p, 16, s));
	T(cuStreamSynchronize(s));
	T(cuMemAlloc(&p, 16));
}

static CUDA_MEMCPY2D to_host_(void *h, size_t hp, CUdeviceptr d, size_t dp, size_t w, size_t n) {
	return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = d, .srcPitch = dp, .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = h, .dstPitch = hp, .WidthInBytes = w, .Height = n};
}

GROUP(copy2d) {
	start();
	CUdeviceptr p = new_memory(4096); unsigned char a[4096], b[4096]; CUstream s = new_stream(0);
	for (int i = 0; i < 4096; i++) a[i] = (unsigned char)(i * 7);
	QUIET(cuMemcpyHtoD(p, a, 4096));
	memset(b, 0, sizeof b);
	CUDA_MEMCPY2D c = to_host_(b, 10, p, 64, 10, 8);
	T(cuMemcpy2D(&c));
	B(b[0] == a[0]); B(b[10] == a[64]); B(b[79] == a[64 * 7 + 9]); B(b[80] == 0);
	T(cuMemcpy2DUnaligned(&c));
	T(cuMemcpy2DAsync(&c, s));
	T(cuStreamSynchronize(s));
	c.srcXInBytes = 3; c.srcY = 2; c.dstXInBytes = 1; c.dstY = 1; c.WidthInBytes = 5; c.Height = 3; c.dstPitch = 16;
	memset(b, 0, sizeof b);
	T(cuMemcpy2D(&c));
	B(b[17] == a[2 * 64 + 3]); B(b[33] == a[3 * 64 + 3]); B(b[16] == 0);
	NOTE("errors");
	c = to_host_(b, 10, p, 64, 11, 8);
	T(cuMemcpy2D(&c));
	c = to_host_(b, 64, p, 10, 11, 8);
	T(cuMemcpy2D(&c));
	c = to_host_(b, 64, p, 64, 64, 65);
	T(cuMemcpy2D(&c));
	c = to_host_(b, 64, p, 64, 0, 8);
	T(cuMemcpy2D(&c));
	c = to_host_(b, 64, p, 64, 8, 0);
	T(cuMemcpy2D(&c));
	c = to_host_(0, 64, p, 64, 8, 8);
	T(cuMemcpy2D(&c));
	c = to_host_(b, 64, 0, 64, 8, 8);
	T(cuMemcpy2D(&c));
	c = to_host_(b, 0, p, 0, 8, 1);
	T(cuMemcpy2D(&c));
	c = to_host_(b, 0, p, 0, 8, 2);
	T(cuMemcpy2D(&c));
	c = to_host_(b, (size_t)1 << 40, p, 64, 8, 1);
	T(cuMemcpy2D(&c));
	c = to_host_(b, 64, p, 64, 8, 8);
	c.srcMemoryType = (CUmemorytype)9;
	T(cuMemcpy2D(&c));
	c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
	T(cuMemcpy2D(&c));
	c.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
	T(cuMemcpy2D(&c));
	c.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
	c.dstDevice = p + 2048;
	T(cuMemcpy2D(&c));
	T(cuMemcpy2D(0));
}

GROUP(copy3d) {
	start();
	CUdeviceptr p = new_memory(4096); unsigned char a[4096], b[4096]; CUDA_MEMCPY3D c; CUstream s = new_stream(0);
	for (int i = 0; i < 4096; i++) a[i] = (unsigned char)(i * 5);
	QUIET(cuMemcpyHtoD(p, a, 4096));
	memset(b, 0, sizeof b);
	memset(&c, 0, sizeof c);
	c.srcMemoryType = CU_MEMORYTYPE_DEVICE; c.srcDevice = p; c.srcPitch = 16; c.srcHeight = 8;
	c.dstMemoryType = CU_MEMORYTYPE_HOST; c.dstHost = b; c.dstPitch = 8; c.dstHeight = 4;
	c.WidthInBytes = 8; c.Height = 4; c.Depth = 3;
	T(cuMemcpy3D(&c));
	B(b[0] == a[0]); B(b[8] == a[16]); B(b[32] == a[128]); B(b[95] == a[128 * 2 + 16 * 3 + 7]); B(b[96] == 0);
	T(cuMemcpy3DAsync(&c, s));
	T(cuStreamSynchronize(s));
	c.srcXInBytes = 2; c.srcY = 1; c.srcZ = 1; c.WidthInBytes = 6; c.Height = 3; c.Depth = 2;
	T(cuMemcpy3D(&c));
	B(b[0] == a[128 + 16 + 2]);
	NOTE("errors");
	c.dstHeight = 2;
	T(cuMemcpy3D(&c));
	c.dstHeight = 4; c.dstPitch = 5;
	T(cuMemcpy3D(&c));
	c.dstPitch = 8; c.Depth = 0;
	T(cuMemcpy3D(&c));
	c.Depth = 2; c.srcLOD = 1;
	T(cuMemcpy3D(&c));
	c.srcLOD = 0; c.reserved0 = b;
	T(cuMemcpy3D(&c));
	c.reserved0 = 0; c.Depth = 100; c.dstHost = 0;
	T(cuMemcpy3D(&c));
	c.dstHost = b; c.srcMemoryType = (CUmemorytype)77;
	T(cuMemcpy3D(&c));
	T(cuMemcpy3D(0));
}

GROUP(memset) {
	start();
	CUdeviceptr p = new_memory(256); unsigned v[64]; CUstream s = new_stream(0);
	T(cuMemsetD8(p, 0x12, 256));
	T(cuMemsetD16(p + 2, 0x3456, 3));
	T(cuMemsetD32(p + 8, 0x789abcde, 2));
	T(cuMemcpyDtoH(v, p, 256));
	X(v[0]); X(v[1]); X(v[2]); X(v[3]); X(v[4]);
	T(cuMemsetD8Async(p, 1, 256, s));
	T(cuMemsetD16Async(p, 1, 128, s));
	T(cuMemsetD32Async(p, 1, 64, s));
	T(cuStreamSynchronize(s));
	NOTE("errors");
	T(cuMemsetD16(p + 1, 1, 4));
	T(cuMemsetD32(p + 2, 1, 4));
	T(cuMemsetD8(p, 1, 257));
	T(cuMemsetD32(p, 1, 65));
	T(cuMemsetD8(p, 1, 0));
	T(cuMemsetD8(0, 1, 0));
	T(cuMemsetD8(0, 1, 4));
	T(cuMemsetD8(0x1234567, 1, 4));
	T(cuMemsetD8((CUdeviceptr)(uintptr_t)v, 1, 4));
	T(cuMemsetD8Async((CUdeviceptr)(uintptr_t)v, 1, 4, s));
	void *h = 0;
	QUIET(cuMemAllocHost(&h, 64));
	T(cuMemsetD8((CUdeviceptr)(uintptr_t)h, 5, 64));
	T(cuCtxSynchronize());
	N(((char *)h)[63]);
	CUdeviceptr m = 0;
	QUIET(cuMemAllocManaged(&m, 64, CU_MEM_ATTACH_GLOBAL));
	T(cuMemsetD32(m, 9, 16));
	T(cuCtxSynchronize());
	N(*(unsigned *)(uintptr_t)m);
}

GROUP(memset2d) {
	start();
	CUdeviceptr p = new_memory(1024); unsigned char v[1024]; CUstream s = new_stream(0);
	T(cuMemsetD2D8(p, 64, 1, 10, 4));
	T(cuMemsetD2D16(p + 10, 64, 0x0203, 5, 4));
	T(cuMemsetD2D32(p + 20, 64, 0x04050607, 3, 4));
	T(cuMemcpyDtoH(v, p, 1024));
	N(v[0]); N(v[9]); N(v[10]); N(v[11]); N(v[20]); N(v[64]); N(v[64 * 3 + 31]); N(v[64 * 3 + 32]); N(v[256]);
	T(cuMemsetD2D8Async(p, 64, 1, 10, 4, s));
	T(cuMemsetD2D16Async(p, 64, 1, 10, 4, s));
	T(cuMemsetD2D32Async(p, 64, 1, 10, 4, s));
	T(cuStreamSynchronize(s));
	NOTE("errors");
	T(cuMemsetD2D8(p, 9, 1, 10, 4));
	T(cuMemsetD2D16(p, 63, 1, 10, 4));
	T(cuMemsetD2D32(p, 62, 1, 10, 4));
	T(cuMemsetD2D32(p + 1, 64, 1, 10, 4));
	T(cuMemsetD2D8(p, 64, 1, 10, 17));
	T(cuMemsetD2D8(p, 64, 1, 0, 4));
	T(cuMemsetD2D8(p, 64, 1, 10, 0));
	T(cuMemsetD2D8(p, 0, 1, 10, 1));
	T(cuMemsetD2D8(p, 0, 1, 10, 2));
	T(cuMemsetD2D8(0, 64, 1, 10, 4));
}

GROUP(copy_batch) {
	start();
	CUdeviceptr p = new_memory(64), q = new_memory(64); unsigned v = 5; CUstream s = new_stream(0);
	CUdeviceptr dst[] = {p, q, q + 8}, src[] = {(CUdeviceptr)(uintptr_t)&v, p + 16, p + 24}; size_t sizes[] = {4, 8, 8}, idx[] = {0}, idx2[] = {1};
	CUmemcpyAttributes a = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
	T(cuMemcpyBatchAsync_v2(dst, src, sizes, 3, &a, idx, 1, s));
	T(cuStreamSynchronize(s));
	N(word(p));
	T(cuMemcpyBatchAsync_v2(dst, src, sizes, 3, &a, idx, 1, 0));
	T(cuMemcpyBatchAsync_v2(dst, src, sizes, 0, &a, idx, 1, s));
	T(cuMemcpyBatchAsync_v2(dst, src, sizes, 3, 0, idx, 1, s));
	T(cuMemcpyBatchAsync_v2(dst, src, sizes, 3, &a, 0, 1, s));
	T(cuMemcpyBatchAsync_v2(dst, src, sizes, 3, &a, idx, 0, s));
	T(cuMemcpyBatchAsync_v2(dst, src, sizes, 3, &a, idx2, 1, s));
	a.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
	T(cuMemcpyBatchAsync_v2(dst, src, sizes, 3, &a, idx, 1, s));
	a.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
	a.flags = 0x80;
	T(cuMemcpyBatchAsync_v2(dst, src, sizes, 3, &a, idx, 1, s));
	a.flags = 0;
	T(cuMemcpyBatchAsync_v2(dst, src, sizes, 3, &a, idx, 1, s));
	sizes[1] = 0;
	T(cuMemcpyBatchAsync_v2(dst, src, sizes, 3, &a, idx, 1, s));
	sizes[1] = 1 << 20;
	T(cuMemcpyBatchAsync_v2(dst, src, sizes, 3, &a, idx, 1, s));
	T(cuMemcpyBatchAsync_v2(0, src, sizes, 3, &a, idx, 1, s));
	T(cuCtxSynchronize());
}
