// The other file of separate.cu.
#include "app.cuh"
#include "separate.cuh"

__device__ int there = 9;
static __device__ int same(int x) { return x + 2; } // the same name as in the first file
__device__ int far_away(int x) { return both(x) * 2 + same(x); }
__global__ void own(int *out) { out[threadIdx.x] = both(threadIdx.x) + table[3] + here; }
cudaError_t launch_there(int *out, int n) {
	own<<<1, n>>>(out);
	return cudaGetLastError();
}
__device__ int square(int x) { return x * x; }
__global__ void fill(Op *ops) { ops[0] = square, ops[1] = far_away, ops[2] = same; }
cudaError_t fill_ops(Op *ops) {
	fill<<<1, 1>>>(ops);
	return cudaGetLastError();
}
struct Even : Base {
	int i;
	__device__ Even(int i) : i(i) {}
	__device__ int value() const override { return i * 10; }
};
struct Odd : Even {
	__device__ Odd(int i) : Even(i) {}
	__device__ int value() const override { return -i; }
};
__device__ Base *make(int i) { return i % 2 ? (Base *)new Odd(i) : new Even(i); }
float generic_there(void *scratch) {
	generic<float><<<1, 1>>>((float *)scratch, 2.25f);
	float f = 0;
	cudaMemcpy(&f, scratch, sizeof f, cudaMemcpyDeviceToHost);
	return f;
}
