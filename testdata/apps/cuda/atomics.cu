// Atomics of all types and scopes, on global and shared memory, and what is built of compare-and-swap.
#include "app.cuh"
#include <cuda_fp16.h>

__global__ void ints(int *g, unsigned *u, unsigned long long *l, long long *sl) {
	int t = blockIdx.x * blockDim.x + threadIdx.x;
	atomicAdd(&g[0], t);
	atomicSub(&g[1], t);
	atomicMin(&g[2], 500 - t);
	atomicMax(&g[3], t * 3);
	atomicAnd(&g[4], ~(1 << (t % 7)));
	atomicOr(&g[5], 1 << (t % 20));
	atomicXor(&g[6], t);
	atomicInc(&u[0], 99);
	atomicDec(&u[1], 99);
	atomicAdd(&u[2], 3u);
	atomicMax(&u[3], (unsigned)t);
	atomicAdd(&l[0], (unsigned long long)t << 20);
	atomicMax(&l[1], (unsigned long long)t * t * t);
	atomicMin(&l[2], ~0ull - t);
	atomicOr(&l[3], 1ull << (t % 60));
	atomicXor(&l[4], (unsigned long long)t * 0x9e3779b97f4a7c15ull);
	atomicMin(&sl[0], -(long long)t * t);
	atomicMax(&sl[1], -(long long)t);
}
__global__ void floats(float *f, double *d, __half2 *h) {
	int t = blockIdx.x * blockDim.x + threadIdx.x;
	atomicAdd(&f[0], 0.5f); // exact in any order
	atomicAdd(&f[1], (float)(t % 8));
	atomicAdd(&d[0], t * 0.25);
	atomicAdd(h, __floats2half2_rn(1, t % 2));
	atomicExch(&f[2 + t], (float)t);
}
__device__ float most(float *at, float v) {
	int *p = (int *)at, old = *p, seen;
	do {
		seen = old;
		if (__int_as_float(seen) >= v)
			break;
		old = atomicCAS(p, seen, __float_as_int(v));
	} while (old != seen);
	return __int_as_float(old);
}
__global__ void swaps(float *f, unsigned long long *l, unsigned short *s) {
	int t = blockIdx.x * blockDim.x + threadIdx.x;
	most(f, (float)((t * 37) % 1000));
	unsigned long long old = *l, seen;
	do {
		seen = old;
		old = atomicCAS(l, seen, seen * 3 + 1 - 2 * seen); // adds one
	} while (old != seen);
	unsigned short o = *s, w;
	do {
		w = o;
		o = atomicCAS(s, w, (unsigned short)(w + 2));
	} while (o != w);
}
__global__ void shared(unsigned *out) {
	__shared__ unsigned bins[16];
	__shared__ double d;
	if (threadIdx.x < 16)
		bins[threadIdx.x] = 0;
	if (threadIdx.x == 0)
		d = 0;
	__syncthreads();
	for (int i = 0; i < 10; i++)
		atomicAdd(&bins[(threadIdx.x * 7 + i) % 16], threadIdx.x % 3 + 1);
	atomicAdd_block(&d, 0.125);
	__syncthreads();
	if (threadIdx.x < 16)
		atomicAdd_system(&out[threadIdx.x], bins[threadIdx.x]);
	if (threadIdx.x == 0)
		atomicAdd(&out[16], (unsigned)(d * 8));
}
__device__ int lock;
__global__ void locked(int *counter) {
	for (int lane = 0; lane < 32; lane++)
		if (threadIdx.x % 32 == lane) {
			while (atomicCAS(&lock, 0, 1))
				;
			__threadfence();
			*(volatile int *)counter = *(volatile int *)counter + 1;
			__threadfence();
			atomicExch(&lock, 0);
		}
}

int main() {
	char *d;
	OK(cudaMalloc(&d, 1 << 16));
	int *g = (int *)d, hg[7] = {0, 0, 1000, -1, -1, 0, 0};
	unsigned *u = (unsigned *)(d + 1024), hu[4] = {0, 5, 0, 0};
	unsigned long long *l = (unsigned long long *)(d + 2048), hl[5] = {0, 0, ~0ull, 0, 0};
	long long *sl = (long long *)(d + 3072), hsl[2] = {0, -1000000};
	OK(cudaMemcpy(g, hg, sizeof hg, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(u, hu, sizeof hu, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(l, hl, sizeof hl, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(sl, hsl, sizeof hsl, cudaMemcpyHostToDevice));
	ints<<<10, 100>>>(g, u, l, sl);
	OK(cudaMemcpy(hg, g, sizeof hg, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(hu, u, sizeof hu, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(hl, l, sizeof hl, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(hsl, sl, sizeof hsl, cudaMemcpyDeviceToHost));
	printf("ints: %d %d %d %d %d %d %d\n", hg[0], hg[1], hg[2], hg[3], hg[4], hg[5], hg[6]);
	printf("unsigned: %u %u %u %u\n", hu[0], hu[1], hu[2], hu[3]);
	printf("long: %llu %llu %llx %llx %llx; %lld %lld\n", hl[0], hl[1], hl[2], hl[3], hl[4], hsl[0], hsl[1]);
	float *f = (float *)(d + 4096), hf[1002];
	double *dd = (double *)(d + 16384), hd = 0;
	__half2 *hh = (__half2 *)(d + 16384 + 64);
	OK(cudaMemset(d + 4096, 0, 16384));
	floats<<<10, 100>>>(f, dd, hh);
	__half2 two;
	OK(cudaMemcpy(hf, f, sizeof hf, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(&hd, dd, sizeof hd, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(&two, hh, sizeof two, cudaMemcpyDeviceToHost));
	printf("floats: %g %g %g %g %g, half %g %g\n", hf[0], hf[1], hf[2], hf[1001], hd, __low2float(two), __high2float(two));
	OK(cudaMemset(d, 0, 4096));
	swaps<<<8, 64>>>((float *)d, (unsigned long long *)(d + 64), (unsigned short *)(d + 130));
	float top;
	unsigned long long times;
	unsigned short small;
	OK(cudaMemcpy(&top, d, sizeof top, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(&times, d + 64, sizeof times, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(&small, d + 130, sizeof small, cudaMemcpyDeviceToHost));
	printf("swaps: %g %llu %u\n", top, times, small);
	OK(cudaMemset(d, 0, 4096));
	shared<<<4, 96>>>((unsigned *)d);
	unsigned bins[17];
	OK(cudaMemcpy(bins, d, sizeof bins, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 17; i++)
		printf("%u%c", bins[i], i == 16 ? '\n' : ' ');
	OK(cudaMemset(d, 0, 64));
	locked<<<3, 64>>>((int *)d);
	int c;
	OK(cudaMemcpy(&c, d, sizeof c, cudaMemcpyDeviceToHost));
	printf("locked: %d\n", c);
	return 0;
}
