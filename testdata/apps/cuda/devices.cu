// Several devices, or one twice: per-device memory, streams and variables, copies between them, threads with devices of their own.
#include "app.cuh"
#include <thread>
#include <vector>

__device__ int mine;
__global__ void put(int v) { mine = v; }
__global__ void work(int *p, int n, int salt) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		p[i] = i * salt + mine;
}

int main() {
	int count = 0;
	OK(cudaGetDeviceCount(&count));
	printf("devices: %s\n", count > 0 ? "yes" : "no");
	int first = 0, second = count - 1, n = 4096;
	int *p[2];
	cudaStream_t s[2];
	for (int i = 0; i < 2; i++) {
		int dev = i ? second : first;
		OK(cudaSetDevice(dev));
		int now = -1;
		OK(cudaGetDevice(&now));
		OK(cudaStreamCreate(&s[i]));
		OK(cudaMalloc(&p[i], n * sizeof(int)));
		put<<<1, 1, 0, s[i]>>>(1000 * (i + 1));
		work<<<n / 256, 256, 0, s[i]>>>(p[i], n, i + 2);
		OK(cudaStreamSynchronize(s[i]));
		printf("device kept: %d\n", now == dev);
	}
	std::vector<int> h(n);
	OK(cudaMemcpyPeer(p[0], first, p[1], second, n * sizeof(int)));
	OK(cudaMemcpy(h.data(), p[0], n * sizeof(int), cudaMemcpyDefault));
	printf("peer copy: %d %d\n", h[0], h[n - 1]);
	OK(cudaSetDevice(first));
	OK(cudaMemset(p[0], 0, n * sizeof(int)));
	OK(cudaMemcpyPeerAsync(p[1], second, p[0], first, n * sizeof(int) / 2, s[0]));
	OK(cudaStreamSynchronize(s[0]));
	OK(cudaMemcpy(h.data(), p[1], n * sizeof(int), cudaMemcpyDefault));
	printf("half: %d %d\n", h[0], h[n - 1]);
	int can = 0;
	if (first != second) {
		OK(cudaDeviceCanAccessPeer(&can, first, second));
		if (can) {
			OK(cudaDeviceEnablePeerAccess(second, 0));
			OK(cudaDeviceDisablePeerAccess(second));
		}
	}
	SAY(cudaDeviceCanAccessPeer(&can, 0, 0));
	printf("with itself: %d\n", can);
	cudaPointerAttributes at;
	OK(cudaPointerGetAttributes(&at, p[1]));
	printf("where: %d\n", at.device == second && at.type == cudaMemoryTypeDevice);
	SAY(cudaSetDevice(count));
	SAY(cudaSetDevice(-1));
	// Each thread has a current device of its own.
	std::vector<std::thread> threads;
	int sums[4] = {0};
	for (int k = 0; k < 4; k++)
		threads.emplace_back([&, k] {
			OK(cudaSetDevice(k % count));
			int *q, v[64];
			OK(cudaMalloc(&q, sizeof v));
			OK(cudaMemset(q, k + 1, sizeof v));
			OK(cudaMemcpy(v, q, sizeof v, cudaMemcpyDeviceToHost));
			for (int x : v)
				sums[k] += x & 0xff;
			OK(cudaFree(q));
		});
	for (auto &t : threads)
		t.join();
	printf("threads: %d %d %d %d\n", sums[0], sums[1], sums[2], sums[3]);
	cudaDeviceProp prop;
	OK(cudaGetDeviceProperties(&prop, second));
	printf("properties: warp %d, threads %d, major %d, unified %d, name %d\n", prop.warpSize, prop.maxThreadsPerBlock, prop.major >= 7, prop.unifiedAddressing, prop.name[0] != 0);
	char id[32];
	OK(cudaDeviceGetPCIBusId(id, sizeof id, second));
	int back = -1;
	OK(cudaDeviceGetByPCIBusId(&back, id));
	printf("bus id leads back: %d\n", back == second);
	OK(cudaSetDevice(second));
	OK(cudaDeviceReset());
	OK(cudaMalloc(&p[1], 100));
	put<<<1, 1>>>(1);
	OK(cudaDeviceSynchronize());
	printf("after the reset: works\n");
	return 0;
}
