// nvcc: -rdc=true separate_part.cu
// Separate compilation: functions, variables, constants and kernels of another file; function pointers across files.
#include "app.cuh"
#include "separate.cuh"

__device__ int here = 4;
__constant__ int table[4];
__device__ int both(int x) { return there + here * x; }
static __device__ int same(int x) { return x + 1; }
__global__ void use(int *out) {
	int i = threadIdx.x;
	out[i] = far_away(i) + same(i) * 1000 + table[i % 4];
}
__global__ void pointers(Op *ops, int *out) { out[threadIdx.x] = ops[threadIdx.x % 3](threadIdx.x); }
__global__ void inherit(int *out) {
	Base *b = make(threadIdx.x);
	out[threadIdx.x] = b->value();
	delete b;
}

int main() {
	int *d, h[32];
	OK(cudaMalloc(&d, sizeof h));
	int t[4] = {1, 2, 3, 4};
	OK(cudaMemcpyToSymbol(table, t, sizeof t));
	use<<<1, 32>>>(d);
	OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	printf("use: %d %d, %llx\n", h[0], h[31], sum(h, 32));
	int v = 50;
	OK(cudaMemcpyToSymbol(there, &v, sizeof v));
	use<<<1, 32>>>(d);
	OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	printf("again: %d %d\n", h[0], h[31]);
	OK(launch_there(d, 32));
	OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	printf("there: %d %d\n", h[0], h[31]);
	Op *ops;
	OK(cudaMalloc(&ops, 3 * sizeof(Op)));
	OK(fill_ops(ops));
	pointers<<<1, 32>>>(ops, d);
	OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	printf("pointers: %d %d %d, %llx\n", h[3], h[4], h[5], sum(h, 32));
	inherit<<<1, 32>>>(d);
	OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	printf("inherited: %d %d\n", h[10], h[11]);
	generic<float><<<1, 1>>>((float *)d, 1.5f);
	float f;
	OK(cudaMemcpy(&f, d, sizeof f, cudaMemcpyDeviceToHost));
	printf("generic: %g, theirs %g\n", f, generic_there(d));
	return 0;
}
