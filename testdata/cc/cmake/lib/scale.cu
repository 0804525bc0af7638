#include "scale.h"

__global__ void times(float *x, float f, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] *= f;
}

void scale(float *x, float f, int n) {
	float *d;
	cudaMalloc(&d, n * sizeof *x);
	cudaMemcpy(d, x, n * sizeof *x, cudaMemcpyHostToDevice);
	times<<<(n + 63) / 64, 64>>>(d, f, n);
	cudaMemcpy(x, d, n * sizeof *x, cudaMemcpyDeviceToHost);
	cudaFree(d);
}
