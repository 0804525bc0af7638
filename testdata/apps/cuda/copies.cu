// Copies and sets of one to three dimensions with any pitch and offset, from and to pageable, pinned, mapped and registered memory.
#include "app.cuh"
#include <vector>

__global__ void bump(unsigned char *p, size_t n) {
	size_t i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		p[i]++;
}

int main() {
	const int w = 37, h = 19;
	std::vector<unsigned char> a(64 * 32), b(64 * 32);
	for (size_t i = 0; i < a.size(); i++)
		a[i] = (unsigned char)(i * 7 + i / 64);
	unsigned char *d;
	size_t pitch;
	OK(cudaMallocPitch(&d, &pitch, w, h));
	printf("pitch: %d\n", pitch >= w && pitch % 32 == 0);
	OK(cudaMemset2D(d, pitch, 0x5a, w, h));
	OK(cudaMemcpy2D(d, pitch, a.data() + 3, 64, w, h, cudaMemcpyHostToDevice));
	OK(cudaMemcpy2D(b.data() + 5, 41, d, pitch, w, h, cudaMemcpyDeviceToHost));
	printf("2d: %llx\n", sum(b.data(), b.size()));
	unsigned char *e;
	OK(cudaMalloc(&e, 64 * 32));
	OK(cudaMemset(e, 1, 64 * 32));
	OK(cudaMemcpy2D(e + 1, 39, d + 2, pitch, 30, 10, cudaMemcpyDeviceToDevice));
	OK(cudaMemcpy(b.data(), e, b.size(), cudaMemcpyDeviceToHost));
	printf("device: %llx\n", sum(b.data(), b.size()));
	// Boxes with offsets.
	cudaPitchedPtr box;
	OK(cudaMalloc3D(&box, make_cudaExtent(20, 10, 6)));
	OK(cudaMemset3D(box, 0x11, make_cudaExtent(20, 10, 6)));
	cudaMemcpy3DParms p = {};
	p.srcPtr = make_cudaPitchedPtr(a.data(), 16, 16, 8);
	p.srcPos = make_cudaPos(2, 1, 1);
	p.dstPtr = box;
	p.dstPos = make_cudaPos(5, 3, 2);
	p.extent = make_cudaExtent(9, 5, 3);
	p.kind = cudaMemcpyHostToDevice;
	OK(cudaMemcpy3D(&p));
	std::vector<unsigned char> c(20 * 10 * 6);
	cudaMemcpy3DParms q = {};
	q.srcPtr = box;
	q.dstPtr = make_cudaPitchedPtr(c.data(), 20, 20, 10);
	q.extent = make_cudaExtent(20, 10, 6);
	q.kind = cudaMemcpyDeviceToHost;
	OK(cudaMemcpy3D(&q));
	printf("3d: %llx\n", sum(c.data(), c.size()));
	// Asynchronous, in stream order, and default kinds.
	cudaStream_t s;
	OK(cudaStreamCreate(&s));
	unsigned char *pin, *map, *dmap;
	OK(cudaHostAlloc(&pin, 4096, cudaHostAllocDefault));
	OK(cudaHostAlloc(&map, 4096, cudaHostAllocMapped));
	OK(cudaHostGetDevicePointer(&dmap, map, 0));
	for (int i = 0; i < 4096; i++)
		pin[i] = map[i] = (unsigned char)i;
	unsigned char *x;
	OK(cudaMalloc(&x, 4096));
	OK(cudaMemcpyAsync(x, pin, 4096, cudaMemcpyDefault, s));
	bump<<<16, 256, 0, s>>>(x, 4096);
	OK(cudaMemsetAsync(x + 100, 0xee, 33, s));
	OK(cudaMemcpyAsync(pin, x, 4096, cudaMemcpyDefault, s));
	bump<<<16, 256, 0, s>>>(dmap, 4096);
	OK(cudaStreamSynchronize(s));
	printf("async: %d %d %d %d; mapped %d %d\n", pin[0], pin[99], pin[100], pin[133], map[0], map[4095]);
	unsigned flags = 99;
	OK(cudaHostGetFlags(&flags, map));
	printf("flags: %d\n", (flags & cudaHostAllocMapped) != 0);
	// Memory of the program, registered.
	void *own = aligned_alloc(4096, 8192);
	memset(own, 4, 8192);
	OK(cudaHostRegister(own, 8192, cudaHostRegisterMapped));
	unsigned char *down;
	OK(cudaHostGetDevicePointer(&down, own, 0));
	bump<<<32, 256>>>(down, 8192);
	OK(cudaDeviceSynchronize());
	printf("registered: %d %d\n", ((char *)own)[0], ((char *)own)[8191]);
	SAY(cudaHostRegister(own, 8192, 0));
	OK(cudaHostUnregister(own));
	SAY(cudaHostUnregister(own));
	cudaPointerAttributes at;
	OK(cudaPointerGetAttributes(&at, own));
	printf("kinds: %d", at.type);
	OK(cudaPointerGetAttributes(&at, pin));
	printf(" %d", at.type);
	OK(cudaPointerGetAttributes(&at, x + 7));
	printf(" %d\n", at.type);
	// Mistakes.
	SAY(cudaMemcpy(x, pin, 4, (cudaMemcpyKind)9));
	SAY(cudaMemcpy2D(d, 10, a.data(), 64, 20, 2, cudaMemcpyHostToDevice));
	SAY(cudaMemset2D(d, 10, 0, 20, 2));
	SAY(cudaMemcpy(nullptr, a.data(), 4, cudaMemcpyHostToDevice));
	SAY(cudaMemcpy(x, a.data(), 0, cudaMemcpyHostToDevice));
	SAY(cudaFree((void *)0x1234));
	SAY(cudaFreeHost(a.data()));
	size_t free, total;
	OK(cudaMemGetInfo(&free, &total));
	printf("memory: %d\n", free > 0 && free <= total);
	void *huge;
	SAY(cudaMalloc(&huge, (size_t)1 << 60));
	OK(cudaFree(x));
	OK(cudaFreeHost(pin));
	OK(cudaFreeHost(map));
	return 0;
}
