// Memory pools: allocation in stream order, reuse, attributes, pools of one's own.
#include "app.cuh"
#include <vector>

__global__ void fill(int *p, int n, int v) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		p[i] = v + i;
}

int main() {
	int can = 0;
	OK(cudaDeviceGetAttribute(&can, cudaDevAttrMemoryPoolsSupported, 0));
	printf("pools %d\n", can);
	cudaStream_t s, t;
	OK(cudaStreamCreate(&s));
	OK(cudaStreamCreate(&t));
	const int n = 10000;
	std::vector<int> h(n);
	for (int k = 0; k < 50; k++) {
		int *p;
		OK(cudaMallocAsync(&p, n * sizeof(int), s));
		fill<<<(n + 255) / 256, 256, 0, s>>>(p, n, k);
		OK(cudaMemcpyAsync(h.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost, s));
		OK(cudaFreeAsync(p, s));
	}
	OK(cudaStreamSynchronize(s));
	printf("last: %d %d\n", h[0], h[n - 1]);
	cudaMemPool_t pool;
	OK(cudaDeviceGetDefaultMemPool(&pool, 0));
	cudaMemPool_t now;
	OK(cudaDeviceGetMemPool(&now, 0));
	printf("default is current: %d\n", pool == now);
	unsigned long long keep = ~0ull, used = 0, got = 0;
	OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
	printf("threshold kept: %d\n", got == keep);
	int *p;
	OK(cudaMallocAsync(&p, 1 << 20, s));
	OK(cudaStreamSynchronize(s));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
	printf("used: %llu\n", used);
	OK(cudaFreeAsync(p, s));
	OK(cudaStreamSynchronize(s));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
	unsigned long long reserved = 0, high = 0;
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
	printf("then: %llu, kept %d, most %d\n", used, reserved >= (1 << 20), high >= (1 << 20));
	OK(cudaMemPoolTrimTo(pool, 0));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
	printf("trimmed: %llu\n", reserved);
	// Allocated in one stream, used and freed in another after an event.
	cudaEvent_t e;
	OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
	OK(cudaMallocAsync(&p, n * sizeof(int), s));
	fill<<<(n + 255) / 256, 256, 0, s>>>(p, n, 5);
	OK(cudaEventRecord(e, s));
	OK(cudaStreamWaitEvent(t, e, 0));
	OK(cudaMemcpyAsync(h.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost, t));
	OK(cudaFreeAsync(p, t));
	OK(cudaStreamSynchronize(t));
	printf("across: %d %d\n", h[0], h[n - 1]);
	// A pool of one's own.
	cudaMemPoolProps props = {};
	props.allocType = cudaMemAllocationTypePinned;
	props.location.type = cudaMemLocationTypeDevice;
	props.location.id = 0;
	cudaMemPool_t own;
	OK(cudaMemPoolCreate(&own, &props));
	OK(cudaMallocFromPoolAsync(&p, n * sizeof(int), own, s));
	fill<<<(n + 255) / 256, 256, 0, s>>>(p, n, 77);
	OK(cudaMemcpyAsync(h.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost, s));
	OK(cudaStreamSynchronize(s));
	printf("own: %d\n", h[0]);
	cudaMemAccessFlags flags;
	OK(cudaMemPoolGetAccess(&flags, own, &props.location));
	printf("access %d\n", flags);
	OK(cudaDeviceSetMemPool(0, own));
	int *q;
	OK(cudaMallocAsync(&q, 1000, s));
	OK(cudaStreamSynchronize(s));
	OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
	printf("from it: %d\n", used >= n * sizeof(int) + 1000);
	OK(cudaDeviceSetMemPool(0, pool));
	OK(cudaFreeAsync(p, s));
	OK(cudaFree(q)); // plain free works on it too
	OK(cudaMemPoolDestroy(own));
	SAY(cudaMemPoolDestroy(pool));
	SAY(cudaFreeAsync(nullptr, s));
	SAY(cudaMallocAsync(&p, 0, s));
	return 0;
}
