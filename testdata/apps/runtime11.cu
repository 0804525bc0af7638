// A kernel, a __device__ variable and a stream, whatever the runtime: prints its version and ok.
#include <cstdio>
#include <cuda_runtime.h>
__device__ int bias = 5;
__global__ void f(int *p) { p[threadIdx.x + blockIdx.x * blockDim.x] = threadIdx.x * 2 + blockIdx.x + bias; }
int main() {
	int *d, h[64], v = 0, b = 100;
	cudaRuntimeGetVersion(&v);
	if (cudaMalloc(&d, sizeof h)) { printf("malloc: %s\n", cudaGetErrorString(cudaGetLastError())); return 1; }
	cudaMemcpyToSymbol(bias, &b, sizeof b);
	cudaStream_t s; cudaStreamCreate(&s);
	f<<<2, 32, 0, s>>>(d);
	cudaStreamSynchronize(s);
	cudaError_t e = cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
	int ok = !e; for (int i = 0; i < 64; i++) ok &= h[i] == (i % 32) * 2 + i / 32 + 100;
	printf("runtime %d: %s %s\n", v, ok ? "ok" : "wrong", cudaGetErrorString(e));
	return !ok;
}
