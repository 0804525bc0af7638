// since: 12
// Half and bfloat16 arithmetic, packed pairs, and matrix tiles.
#include "app.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <vector>

__global__ void half_ops(unsigned short *o) {
	int i = threadIdx.x;
	__half a = __float2half(i * 0.37f - 3), b = __float2half(1.25f + i % 4);
	unsigned short *p = o + i * 8;
	p[0] = __half_as_ushort(__hadd(a, b)), p[1] = __half_as_ushort(__hmul(a, b)), p[2] = __half_as_ushort(__hfma(a, b, a)), p[3] = __half_as_ushort(__hdiv(a, b));
	p[4] = __half_as_ushort(__hmax(a, b)), p[5] = __hlt(a, b), p[6] = __half_as_ushort(__int2half_rn(i * 1000)), p[7] = __half_as_ushort(hrint(a));
}
__global__ void pairs(unsigned *o) {
	int i = threadIdx.x;
	__half2 a = __floats2half2_rn(i, -i * 0.5f), b = __floats2half2_rn(2, i + 1);
	__half2 c = __hfma2(a, b, __half2half2(__float2half(0.25f)));
	__nv_bfloat162 x = __floats2bfloat162_rn(i * 1.1f, i - 7.3f);
	__nv_bfloat162 y = __hadd2_rn(__hmul2_rn(x, x), x); // _rn: not to be joined
	o[i * 2] = *(unsigned *)&c, o[i * 2 + 1] = *(unsigned *)&y;
}
__global__ void tiles(const __half *a, const __half *b, float *c, int n) {
	using namespace nvcuda::wmma;
	fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
	fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
	fragment<accumulator, 16, 16, 16, float> fc;
	fill_fragment(fc, 0.0f);
	int row = blockIdx.y * 16, col = blockIdx.x * 16;
	for (int k = 0; k < n; k += 16) {
		load_matrix_sync(fa, a + row * n + k, n);
		load_matrix_sync(fb, b + col * n + k, n);
		mma_sync(fc, fa, fb, fc);
	}
	for (int i = 0; i < fc.num_elements; i++)
		fc.x[i] = fc.x[i] * 2 + 1;
	store_matrix_sync(c + row * n + col, fc, n, mem_row_major);
}
__global__ void bytes(const signed char *a, const signed char *b, int *c) {
	using namespace nvcuda::wmma;
	fragment<matrix_a, 16, 16, 16, signed char, row_major> fa;
	fragment<matrix_b, 16, 16, 16, signed char, col_major> fb;
	fragment<accumulator, 16, 16, 16, int> fc;
	fill_fragment(fc, 5);
	load_matrix_sync(fa, a, 16);
	load_matrix_sync(fb, b, 16);
	mma_sync(fc, fa, fb, fc);
	store_matrix_sync(c, fc, 16, mem_row_major);
}

int main() {
	char *d;
	OK(cudaMalloc(&d, 1 << 20));
	unsigned short h[256];
	half_ops<<<1, 32>>>((unsigned short *)d);
	OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	for (int i : {0, 9, 31})
		printf("half %d: %04x %04x %04x %04x %04x %d %04x %04x\n", i, h[i * 8], h[i * 8 + 1], h[i * 8 + 2], h[i * 8 + 3], h[i * 8 + 4], h[i * 8 + 5], h[i * 8 + 6], h[i * 8 + 7]);
	printf("%llx\n", sum(h, 256));
	unsigned u[64];
	pairs<<<1, 32>>>((unsigned *)d);
	OK(cudaMemcpy(u, d, sizeof u, cudaMemcpyDeviceToHost));
	printf("pairs: %08x %08x, %llx\n", u[20], u[21], sum(u, 64));
	const int n = 64;
	std::vector<__half> a(n * n), b(n * n);
	for (int i = 0; i < n * n; i++)
		a[i] = __float2half((i * 7 % 9) - 4), b[i] = __float2half((i * 5 % 11) - 5); // products and sums are exact
	__half *da = (__half *)d, *db = da + n * n;
	float *dc = (float *)(db + n * n);
	OK(cudaMemcpy(da, a.data(), n * n * 2, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(db, b.data(), n * n * 2, cudaMemcpyHostToDevice));
	tiles<<<dim3(n / 16, n / 16), 32>>>(da, db, dc, n);
	std::vector<float> c(n * n);
	OK(cudaMemcpy(c.data(), dc, n * n * 4, cudaMemcpyDeviceToHost));
	printf("tiles: %g %g, %llx\n", c[0], c[n * n - 1], sum(c.data(), n * n));
	signed char sa[256], sb[256];
	for (int i = 0; i < 256; i++)
		sa[i] = (signed char)(i * 3), sb[i] = (signed char)(i * 7 - 100);
	OK(cudaMemcpy(d, sa, 256, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(d + 256, sb, 256, cudaMemcpyHostToDevice));
	bytes<<<1, 32>>>((signed char *)d, (signed char *)d + 256, (int *)(d + 1024));
	int m[256];
	OK(cudaMemcpy(m, d + 1024, sizeof m, cudaMemcpyDeviceToHost));
	printf("bytes: %d %d, %llx\n", m[0], m[255], sum(m, 256));
	return 0;
}
