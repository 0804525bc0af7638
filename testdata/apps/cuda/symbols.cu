// Constant and __device__ variables: initial values, copies to and from them, addresses, sizes, offsets.
#include "app.cuh"

struct Row {
	int id;
	float w[3];
};

__constant__ int small = 42;
__constant__ Row rows[3] = {{1, {1, 2, 3}}, {2, {4, 5, 6}}, {3, {7, 8, 9}}};
__constant__ double unset[8];
__device__ int counter = 7;
__device__ float grid[4][5];
__device__ int *pointer;
__device__ int (*op)(int);
__device__ const char text[] = "device text";
static __device__ short hidden[3] = {-1, -2, -3};
namespace inner {
__device__ unsigned long long big = 0x123456789abcdefull;
}
template <class T> __device__ T made = T(11);

__device__ int twice(int x) { return 2 * x; }
__global__ void choose() { op = twice; }
__global__ void read(float *out) {
	int i = threadIdx.x;
	out[i] = small + rows[i % 3].id * 100 + rows[i % 3].w[i % 3] + (float)unset[i % 8] + grid[i % 4][i % 5] + hidden[i % 3];
	if (i == 0) {
		atomicAdd(&counter, 1);
		inner::big++;
		made<int> += 2;
		made<float> += 0.5f;
	}
}
__global__ void through(int *out) {
	pointer[threadIdx.x] += 5;
	out[threadIdx.x] = op(pointer[threadIdx.x]);
}
__global__ void say(char *out) {
	for (int i = 0; i < (int)sizeof text; i++)
		out[i] = text[i];
}

int main() {
	float *d, h[32];
	OK(cudaMalloc(&d, 4096));
	read<<<1, 32>>>(d);
	OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	printf("first: %g %g, %llx\n", h[0], h[31], sum(h, 32));
	int v = 100;
	OK(cudaMemcpyToSymbol(small, &v, sizeof v));
	Row r = {9, {10, 20, 30}};
	OK(cudaMemcpyToSymbol(rows, &r, sizeof r, sizeof(Row)));
	double u[2] = {0.5, 0.25};
	OK(cudaMemcpyToSymbol(unset, u, sizeof u, 3 * sizeof(double)));
	float g[20];
	for (int i = 0; i < 20; i++)
		g[i] = i * 0.5f;
	cudaStream_t s;
	OK(cudaStreamCreate(&s));
	OK(cudaMemcpyToSymbolAsync(grid, g, sizeof g, 0, cudaMemcpyHostToDevice, s));
	read<<<1, 32, 0, s>>>(d);
	OK(cudaStreamSynchronize(s));
	OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	printf("second: %g %g, %llx\n", h[0], h[31], sum(h, 32));
	OK(cudaMemcpyFromSymbol(&v, counter, sizeof v));
	unsigned long long big;
	OK(cudaMemcpyFromSymbol(&big, inner::big, sizeof big));
	int mi;
	float mf;
	OK(cudaMemcpyFromSymbol(&mi, made<int>, sizeof mi));
	OK(cudaMemcpyFromSymbol(&mf, made<float>, sizeof mf));
	printf("counted: %d %llx %d %g\n", v, big, mi, mf);
	float part[2];
	OK(cudaMemcpyFromSymbolAsync(part, grid, sizeof part, 7 * sizeof(float), cudaMemcpyDeviceToHost, s));
	OK(cudaStreamSynchronize(s));
	printf("part: %g %g\n", part[0], part[1]);
	size_t size;
	OK(cudaGetSymbolSize(&size, grid));
	printf("sizes: %zu", size);
	OK(cudaGetSymbolSize(&size, rows));
	printf(" %zu", size);
	OK(cudaGetSymbolSize(&size, hidden));
	printf(" %zu\n", size);
	void *at;
	OK(cudaGetSymbolAddress(&at, grid));
	OK(cudaMemset(at, 0, sizeof g));
	OK(cudaMemcpyFromSymbol(g, grid, sizeof g));
	printf("cleared: %g\n", g[19]);
	int *p = (int *)d;
	OK(cudaMemset(p, 0, 64));
	OK(cudaMemcpyToSymbol(pointer, &p, sizeof p));
	choose<<<1, 1>>>();
	through<<<1, 8>>>(p + 8);
	int o[8];
	OK(cudaMemcpy(o, p + 8, sizeof o, cudaMemcpyDeviceToHost));
	printf("through: %d %d\n", o[0], o[7]);
	say<<<1, 1>>>((char *)d);
	char c[sizeof text];
	OK(cudaMemcpy(c, d, sizeof c, cudaMemcpyDeviceToHost));
	printf("%s\n", c);
	SAY(cudaMemcpyToSymbol(small, &v, 8));
	SAY(cudaMemcpyToSymbol(small, &v, 4, 4));
	SAY(cudaGetSymbolAddress(&at, (const void *)&v));
	return 0;
}
