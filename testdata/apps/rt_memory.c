// Memory of every kind, copies in every direction and shape, and what pointers tell.
#include "rt.h"

static unsigned char a[4096], b[4096];

static void fill(int seed) {
	for (size_t i = 0; i < sizeof a; i++)
		a[i] = (unsigned char)(i * 7 + seed), b[i] = 0;
}

static void flat(void) {
	void *p, *q, *none = &p;
	OK(cudaMalloc(&p, sizeof a));
	OK(cudaMalloc(&q, sizeof a));
	OK(cudaMalloc(&none, 0));
	EXPECT(none == 0, 1);
	OK(cudaFree(none));
	static const enum cudaMemcpyKind kinds[][3] = {
	    {cudaMemcpyHostToDevice, cudaMemcpyDeviceToDevice, cudaMemcpyDeviceToHost},
	    {cudaMemcpyDefault, cudaMemcpyDefault, cudaMemcpyDefault},
	};
	for (int i = 0; i < 2; i++) {
		fill(i);
		OK(cudaMemcpy(p, a, sizeof a, kinds[i][0]));
		OK(cudaMemcpy(q, p, sizeof a, kinds[i][1]));
		OK(cudaMemcpy(b, q, sizeof a, kinds[i][2]));
		EXPECT(memcmp(a, b, sizeof a), 0);
		fill(i + 2);
		OK(cudaMemcpyAsync(p, a, sizeof a, kinds[i][0], 0));
		OK(cudaMemcpyAsync(q, p, sizeof a, kinds[i][1], 0));
		OK(cudaMemcpyAsync(b, q, sizeof a, kinds[i][2], 0));
		OK(cudaStreamSynchronize(0));
		EXPECT(memcmp(a, b, sizeof a), 0);
	}
	OK(cudaMemcpy(b, a, 10, cudaMemcpyHostToHost));
	OK(cudaMemcpy(p, a, 0, cudaMemcpyHostToDevice));
	EXPECT(cudaMemcpy(p, a, 1, (enum cudaMemcpyKind)7), cudaErrorInvalidMemcpyDirection);
	EXPECT(cudaMemcpy(p, a, 2 * sizeof a, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
	EXPECT(cudaMemcpy(0, a, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
	EXPECT(cudaMemcpy(b, a, 1, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
	OK(cudaMemset(p, 0x33, 100));
	OK(cudaMemsetAsync((char *)p + 100, 0x144, 100, 0)); // only a byte of the value counts
	OK(cudaMemcpy(b, p, 300, cudaMemcpyDeviceToHost));
	EXPECT(b[99] == 0x33 && b[100] == 0x44 && b[200] == a[200], 1);
	OK(cudaFree(p));
	EXPECT(cudaFree(p), cudaErrorInvalidValue);
	EXPECT(cudaFree(a), cudaErrorInvalidValue);
	OK(cudaFree(q));
}

static void shaped(void) {
	void *p;
	size_t pitch = 0;
	fill(9);
	OK(cudaMallocPitch(&p, &pitch, 100, 20));
	EXPECT(pitch >= 100 && pitch % 256 == 0, 1);
	OK(cudaMemset2D(p, pitch, 1, 100, 20));
	OK(cudaMemcpy2D(p, pitch, a, 64, 60, 20, cudaMemcpyHostToDevice));
	OK(cudaMemcpy2D(b, 100, p, pitch, 100, 20, cudaMemcpyDeviceToHost));
	EXPECT(b[19 * 100 + 59], a[19 * 64 + 59]);
	EXPECT(b[19 * 100 + 60], 1);
	OK(cudaMemcpy2DAsync(b, 70, p, pitch, 60, 20, cudaMemcpyDefault, 0));
	OK(cudaDeviceSynchronize());
	EXPECT(b[19 * 70 + 59], a[19 * 64 + 59]);
	EXPECT(cudaMemcpy2D(b, 50, p, pitch, 60, 20, cudaMemcpyDeviceToHost), cudaErrorInvalidPitchValue);
	OK(cudaFree(p));

	struct cudaPitchedPtr box;
	struct cudaExtent extent = {50, 6, 4};
	OK(cudaMalloc3D(&box, extent));
	EXPECT(box.xsize == 50 && box.ysize == 6, 1);
	OK(cudaMemset3D(box, 2, extent));
	struct cudaMemcpy3DParms c;
	memset(&c, 0, sizeof c);
	c.srcPtr.ptr = a, c.srcPtr.pitch = 40, c.srcPtr.xsize = 40, c.srcPtr.ysize = 5;
	c.dstPtr = box;
	c.dstPos.x = 3, c.dstPos.y = 1, c.dstPos.z = 1;
	c.extent.width = 40, c.extent.height = 5, c.extent.depth = 3;
	c.kind = cudaMemcpyHostToDevice;
	OK(cudaMemcpy3D(&c));
	memset(&c, 0, sizeof c);
	c.srcPtr = box;
	c.dstPtr.ptr = b, c.dstPtr.pitch = 50, c.dstPtr.xsize = 50, c.dstPtr.ysize = 6;
	c.extent = extent;
	c.kind = cudaMemcpyDeviceToHost;
	OK(cudaMemcpy3DAsync(&c, 0));
	OK(cudaDeviceSynchronize());
	EXPECT(b[(2 * 6 + 4) * 50 + 3 + 7], a[(1 * 5 + 3) * 40 + 7]);
	EXPECT(b[(2 * 6 + 0) * 50 + 3 + 7], 2);
	OK(cudaFree(box.ptr));
}

static void host(void) {
	int *p, *d;
	unsigned flags = 0;
	struct cudaPointerAttributes at;
	OK(cudaHostAlloc((void **)&p, 256, cudaHostAllocMapped | cudaHostAllocPortable));
	OK(cudaHostGetFlags(&flags, p));
	EXPECT(flags & cudaHostAllocMapped, cudaHostAllocMapped);
	OK(cudaHostGetDevicePointer((void **)&d, p, 0));
	p[0] = 5;
	OK(LAUNCH(1, 1, 0, 0, spin(d, 2)));
	OK(cudaDeviceSynchronize());
	EXPECT(p[0], 7);
	OK(cudaPointerGetAttributes(&at, p));
	EXPECT(at.type, cudaMemoryTypeHost);
	EXPECT(at.hostPointer == p && at.devicePointer == d, 1);
	OK(cudaFreeHost(p));
	OK(cudaMallocHost((void **)&p, 64));
	OK(cudaFreeHost(p));
	EXPECT(cudaFreeHost(a), cudaErrorInvalidValue);

	OK(cudaHostRegister(a, sizeof a, cudaHostRegisterDefault));
	EXPECT(cudaHostRegister(a, sizeof a, 0), cudaErrorHostMemoryAlreadyRegistered);
	OK(cudaPointerGetAttributes(&at, a + 10));
	EXPECT(at.type, cudaMemoryTypeHost);
	OK(cudaHostUnregister(a));
	EXPECT(cudaHostUnregister(a), cudaErrorHostMemoryNotRegistered);
	EXPECT(cudaGetLastError(), cudaErrorHostMemoryNotRegistered);

	OK(cudaMallocManaged((void **)&p, 4096, cudaMemAttachGlobal));
	p[0] = 40;
	OK(LAUNCH(1, 1, 0, 0, spin(p, 2)));
	OK(cudaDeviceSynchronize());
	EXPECT(p[0], 42);
	OK(cudaPointerGetAttributes(&at, p));
	EXPECT(at.type, cudaMemoryTypeManaged);
#if CUDART_VERSION >= 13000
	struct cudaMemLocation where = {.type = cudaMemLocationTypeDevice, .id = 0};
	OK(cudaMemAdvise(p, 4096, cudaMemAdviseSetReadMostly, where));
	OK(cudaMemPrefetchAsync(p, 4096, where, 0, 0));
#else
	OK(cudaMemAdvise(p, 4096, cudaMemAdviseSetReadMostly, 0));
	OK(cudaMemPrefetchAsync(p, 4096, cudaCpuDeviceId, 0));
#endif
	OK(cudaStreamAttachMemAsync(0, p, 0, cudaMemAttachGlobal));
	OK(cudaFree(p));
	OK(cudaPointerGetAttributes(&at, b));
	EXPECT(at.type, cudaMemoryTypeUnregistered);
	EXPECT(at.device, cudaInvalidDeviceId);
	EXPECT(at.devicePointer == 0 && at.hostPointer == b, 1);
}

static void pools(void) {
	int *p, v = 0;
	cudaStream_t s;
	cudaMemPool_t pool, mine;
	OK(cudaStreamCreate(&s));
	OK(cudaMallocAsync((void **)&p, 1024, s));
	OK(cudaMemsetAsync(p, 0, 1024, s));
	OK(LAUNCH(1, 1, 0, s, spin(p, 9)));
	OK(cudaMemcpyAsync(&v, p, sizeof v, cudaMemcpyDeviceToHost, s));
	OK(cudaFreeAsync(p, s));
	OK(cudaStreamSynchronize(s));
	EXPECT(v, 9);
	OK(cudaDeviceGetDefaultMemPool(&pool, 0));
	OK(cudaDeviceGetMemPool(&mine, 0));
	EXPECT(mine == pool, 1);
	unsigned long long keep = ~0ull, back = 0;
	OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &back));
	EXPECT(back == keep, 1);
	struct cudaMemPoolProps props;
	memset(&props, 0, sizeof props);
	props.allocType = cudaMemAllocationTypePinned;
	props.location.type = cudaMemLocationTypeDevice;
	OK(cudaMemPoolCreate(&mine, &props));
	OK(cudaMallocFromPoolAsync((void **)&p, 64, mine, s));
	OK(cudaFree(p));
	OK(cudaMemPoolDestroy(mine));
	OK(cudaMemPoolTrimTo(pool, 0));
	OK(cudaStreamDestroy(s));
}

int main(void) {
	flat();
	shaped();
	host();
	pools();
	return finish();
}
