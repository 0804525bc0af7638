#include "ops.cuh"
#include "sums.h"

template <class F> __global__ void fold(const float *x, int n, float *out, F f) {
	float s = 0;
	for (int i = 0; i < n; i++)
		s = f(s, x[i]);
	*out = s;
}

float total(const float *x, int n) {
	float *in, *out, sum = 0;
	cudaMalloc(&in, n * sizeof *x);
	cudaMalloc(&out, sizeof *out);
	cudaMemcpy(in, x, n * sizeof *x, cudaMemcpyHostToDevice);
	fold<<<1, 1>>>(in, n, out, [] __device__(float a, float b) { return add(a, b); });
	cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
	cudaFree(in);
	cudaFree(out);
	return sum;
}
