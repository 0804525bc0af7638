// Warps: shuffles, votes, matches, reductions, and masks under divergence.
#include "app.cuh"

__global__ void shuffles(int *out) {
	int t = threadIdx.x, v = t * t + 1, *o = out + t * 8;
	o[0] = __shfl_sync(~0u, v, 5);
	o[1] = __shfl_sync(~0u, v, t + 3, 8);
	o[2] = __shfl_up_sync(~0u, v, 2);
	o[3] = __shfl_down_sync(~0u, v, 7);
	o[4] = __shfl_xor_sync(~0u, v, 9);
	o[5] = __shfl_down_sync(~0u, v, 3, 4);
	double d = __shfl_xor_sync(~0u, v * 0.5, 1);
	o[6] = (int)(d * 2);
	long long l = __shfl_up_sync(~0u, (long long)v << 33, 1);
	o[7] = (int)(l >> 33);
}
__global__ void votes(unsigned *out) {
	int t = threadIdx.x;
	unsigned *o = out + t * 8;
	o[0] = __ballot_sync(~0u, t % 3 == 0);
	o[1] = __all_sync(~0u, t >= 0) * 2 + __any_sync(~0u, t == 40);
	o[2] = __match_any_sync(~0u, t / 5);
	int p = 0;
	o[3] = __match_all_sync(~0u, t > 100, &p);
	o[4] = p;
	o[5] = __popc(__activemask());
	o[6] = o[7] = 0;
	if (t & 1) {
		unsigned m = __ballot_sync(0xaaaaaaaa, t > 10);
		o[6] = m;
		o[7] = __shfl_sync(0xaaaaaaaa, t, 31);
	} else {
		o[6] = __ballot_sync(0x55555555, t < 10);
		o[7] = __shfl_sync(0x55555555, t, 2);
	}
	__syncwarp();
}
__global__ void reductions(unsigned *out) {
#if __CUDA_ARCH__ >= 800
	int t = threadIdx.x;
	unsigned *o = out + t * 6;
	o[0] = __reduce_add_sync(~0u, t);
	o[1] = __reduce_min_sync(~0u, t - 5);
	o[2] = __reduce_max_sync(~0u, (unsigned)(t * 77 % 61));
	o[3] = __reduce_and_sync(~0u, t | 0x40);
	o[4] = __reduce_or_sync(~0u, 1u << (t % 9));
	o[5] = __reduce_xor_sync(~0u, t * 3);
#endif
}
__global__ void scans(const int *in, int *out, int n) {
	__shared__ int totals[32];
	int t = threadIdx.x, lane = t % 32, warp = t / 32;
	int v = t < n ? in[t] : 0;
	for (int d = 1; d < 32; d *= 2) {
		int u = __shfl_up_sync(~0u, v, d);
		if (lane >= d)
			v += u;
	}
	if (lane == 31)
		totals[warp] = v;
	__syncthreads();
	if (warp == 0) {
		int s = lane < blockDim.x / 32 ? totals[lane] : 0;
		for (int d = 1; d < 32; d *= 2) {
			int u = __shfl_up_sync(~0u, s, d);
			if (lane >= d)
				s += u;
		}
		totals[lane] = s;
	}
	__syncthreads();
	if (warp)
		v += totals[warp - 1];
	if (t < n)
		out[t] = v;
}
__global__ void barriers(int *out) {
	int t = threadIdx.x;
	out[t] = __syncthreads_count(t % 7 == 0) * 100 + __syncthreads_and(t < 1000) * 10 + __syncthreads_or(t == 77);
}
__global__ void bits(unsigned *out, unsigned x, unsigned long long y) {
	out[0] = __clz(x), out[1] = __popc(x), out[2] = __ffs(x), out[3] = __brev(x), out[4] = __byte_perm(x, ~x, 0x3715), out[5] = __popcll(y), out[6] = __clzll(y);
	out[7] = __funnelshift_l(x, (unsigned)y, 13), out[8] = __umulhi(x, x), out[9] = __sad(3, -9, 7u), out[10] = __dp4a((int)x, 0x01020304, 5), out[11] = __vadd4(x, 0x01010101);
	out[12] = __hadd((int)x, -5), out[13] = __usad(x, 5u, 1u), out[14] = __ffsll(y), out[15] = __fns(x, 0, 3);
}

int main() {
	unsigned *d, h[1024];
	OK(cudaMalloc(&d, sizeof h));
	shuffles<<<1, 32>>>((int *)d);
	OK(cudaMemcpy(h, d, 32 * 8 * 4, cudaMemcpyDeviceToHost));
	for (int t : {0, 13, 31})
		printf("lane %d: %d %d %d %d %d %d %d %d\n", t, h[t * 8], h[t * 8 + 1], h[t * 8 + 2], h[t * 8 + 3], h[t * 8 + 4], h[t * 8 + 5], h[t * 8 + 6], h[t * 8 + 7]);
	printf("%llx\n", sum(h, 256));
	votes<<<1, 32>>>(d);
	OK(cudaMemcpy(h, d, 32 * 8 * 4, cudaMemcpyDeviceToHost));
	for (int t : {0, 13})
		printf("lane %d: %x %x %x %x %x %d %x %x\n", t, h[t * 8], h[t * 8 + 1], h[t * 8 + 2], h[t * 8 + 3], h[t * 8 + 4], h[t * 8 + 5], h[t * 8 + 6], h[t * 8 + 7]);
	printf("%llx\n", sum(h, 256));
	reductions<<<1, 32>>>(d);
	OK(cudaMemcpy(h, d, 32 * 6 * 4, cudaMemcpyDeviceToHost));
	printf("reduced: %d %d %d %x %x %x\n", h[0], h[1], h[2], h[3], h[4], h[5]);
	int in[500];
	for (int i = 0; i < 500; i++)
		in[i] = i % 13 - 4;
	int *di;
	OK(cudaMalloc(&di, sizeof in));
	OK(cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice));
	scans<<<1, 512>>>(di, (int *)d, 500);
	OK(cudaMemcpy(h, d, 2000, cudaMemcpyDeviceToHost));
	printf("scan: %d %d, %llx\n", h[250], h[499], sum(h, 500));
	barriers<<<1, 200>>>((int *)d);
	OK(cudaMemcpy(h, d, 800, cudaMemcpyDeviceToHost));
	printf("barriers: %d %d\n", h[0], h[199]);
	bits<<<1, 1>>>(d, 0x00f0a35c, 0x0123456789abcdefull);
	OK(cudaMemcpy(h, d, 64, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 16; i++)
		printf("%x%c", h[i], i == 15 ? '\n' : ' ');
	return 0;
}
