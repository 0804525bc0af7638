// nvcc: --default-stream per-thread
// Host threads with default streams of their own, a kernel that waits for another thread's, and last errors that are per thread.
#include "app.cuh"
#include <thread>
#include <vector>

__global__ void chain(int *p, int rounds) {
	int v = p[threadIdx.x];
	for (int i = 0; i < rounds; i++)
		v = v * 5 + 3;
	p[threadIdx.x] = v;
}
__global__ void wait(volatile int *flag, int *out) {
	while (*flag == 0)
		;
	*out = *flag;
}

int main() {
	const int many = 8;
	std::vector<std::thread> t;
	int results[many] = {0};
	for (int k = 0; k < many; k++)
		t.emplace_back([&, k] {
			int *d, h[64];
			OK(cudaMalloc(&d, sizeof h));
			for (int i = 0; i < 64; i++)
				h[i] = i + k;
			OK(cudaMemcpyAsync(d, h, sizeof h, cudaMemcpyHostToDevice));
			for (int i = 0; i < 20; i++)
				chain<<<1, 64>>>(d, 10);
			OK(cudaMemcpyAsync(h, d, sizeof h, cudaMemcpyDeviceToHost));
			OK(cudaStreamSynchronize(cudaStreamPerThread));
			results[k] = h[63];
			OK(cudaFree(d));
		});
	for (auto &x : t)
		x.join();
	for (int k = 0; k < many; k++)
		printf("%d%c", results[k], k == many - 1 ? '\n' : ' ');
	// One thread's kernel waits for what another thread's stream writes.
	int *flag, *out, *dflag, *dout;
	OK(cudaHostAlloc(&flag, 8, cudaHostAllocMapped));
	out = flag + 1;
	flag[0] = out[0] = 0;
	OK(cudaHostGetDevicePointer(&dflag, flag, 0));
	dout = dflag + 1;
	std::thread waiter([&] {
		wait<<<1, 1>>>(dflag, dout);
		OK(cudaStreamSynchronize(0)); // this thread's
	});
	std::thread writer([&] {
		int *d, v = 0;
		OK(cudaMalloc(&d, 4));
		OK(cudaMemset(d, 1, 4));
		OK(cudaMemcpy(&v, d, 4, cudaMemcpyDeviceToHost)); // does not wait for the other
		*(volatile int *)flag = v;
	});
	writer.join();
	waiter.join();
	printf("waited: %x\n", *out);
	// Errors stay with the thread that made them.
	std::thread bad([] {
		cudaMalloc((void **)nullptr, 4);
		SAY(cudaPeekAtLastError());
		SAY(cudaGetLastError());
	});
	bad.join();
	cudaSetDevice(-5);
	std::thread clean([] { SAY(cudaGetLastError()); });
	clean.join();
	SAY(cudaGetLastError());
	return 0;
}
