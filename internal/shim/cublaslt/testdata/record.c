// What cuBLASLt does with layouts: orders of matrix transforms, scales of fp8 operands. Prints a line a call; h200.txt is what an H200
// with cuBLASLt 13.1 printed. Our formulas for where elements and scales lie are here once more; "wrong" counts what lies elsewhere.
#include "record.h"

// place is where element (i, j) lies.
static long place(int order, int i, int j, long ld) {
	long g = (long)(j >> 5) * ld;
	switch (order) {
	case CUBLASLT_ORDER_ROW: return (long)i * ld + j;
	case CUBLASLT_ORDER_COL32: return g + (long)i * 32 + (j & 31);
	case CUBLASLT_ORDER_COL4_4R2_8C: return g + (long)(i >> 3) * 256 + (i & 1) * 128 + (j >> 3 & 3) * 32 + (j >> 2 & 1) * 16 + (i >> 1 & 3) * 4 + (j & 3);
	case CUBLASLT_ORDER_COL32_2R_4R4: return g + (long)(i >> 5) * 1024 + (((i & 7) / 2 * 4 + (i & 31) / 8) * 2 + i % 2) * 32 + (j & 31);
	}
	return i + (long)j * ld;
}

// transforms puts numbers of 12 bits into every order, six bits at a time.
static void transforms(cudaDataType type, cudaDataType scale, int rows, int cols) {
	for (int order = 1; order <= 4; order++) {
		long r = order == 3 ? (rows + 7) / 8 * 8 : order == 4 ? (rows + 31) / 32 * 32 : rows;
		long ld = order == 1 ? cols : 32 * r, n = order == 1 ? ld * rows : ld * ((cols + 31) / 32);
		int size = type == CUDA_R_8I ? 1 : 4, bad = 0, status = 0, touched = 0;
		for (int part = 0; part < 2; part++) {
			unsigned char *a = calloc((size_t)(rows * cols), (size_t)size), *c = malloc((size_t)(n * size));
			for (int i = 0; i < rows * cols; i++) {
				int v = part ? i >> 6 : i & 63;
				if (size == 1)
					a[i] = (unsigned char)v;
				else
					((int *)a)[i] = v;
			}
			void *da = dev((size_t)(rows * cols * size)), *dc = dev((size_t)(n * size));
			up(da, a, (size_t)(rows * cols * size)), memset(c, 0x55, (size_t)(n * size)), up(dc, c, (size_t)(n * size));
			float one = 1, zero = 0;
			int i1 = 1, i0 = 0, whole = scale == CUDA_R_32I;
			cublasLtMatrixTransformDesc_t d;
			cublasLtMatrixTransformDescCreate(&d, scale);
			status = cublasLtMatrixTransform(h, d, whole ? (void *)&i1 : &one, da, layout(type, rows, cols, rows, 0), whole ? (void *)&i0 : &zero, 0, 0, dc,
			                                 layout(type, rows, cols, ld, order), 0);
			down(c, dc, (size_t)(n * size));
			char *in = calloc((size_t)n, 1);
			for (int j = 0; j < cols; j++)
				for (int i = 0; i < rows; i++) {
					long p = place(order, i, j, ld);
					int k = i + j * rows, w = part ? k >> 6 : k & 63;
					in[p] = 1;
					bad += (size == 1 ? c[p] : ((int *)c)[p]) != w;
				}
			for (long p = 0; p < n; p++)
				touched += !in[p] && c[p * size] != 0x55;
			cudaFree(da), cudaFree(dc), free(a), free(c), free(in);
		}
		printf("transform type %d scale %d %dx%d order %d: status %d, wrong %d, padding written %d\n", type, scale, rows, cols, order, status, bad, touched);
	}
}

// factor is the scale of number l of row i.
static float factor(int mode, const float *f, int i, int l, int outer, int k) {
	switch (mode) {
	case CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F: return f[i];
	case CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F: return f[l / 128 * outer + i];
	case CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F: return f[i / 128 * (((k + 127) / 128 + 3) / 4 * 4) + l / 128];
	}
	return f[0];
}

// scales multiplies ones, so that D is the sum of what scales make of them.
static void scales(int ma, int mb, cudaDataType dtype) {
	enum { M = 256, N = 384, K = 640, FACTORS = 65536 }; // five groups of 128
	static unsigned char ones[(M + N) * K];
	static float ha[FACTORS], hb[FACTORS], out[M * N];
	memset(ones, 0x38, sizeof ones);
	void *a = dev(M * K), *b = dev(N * K), *d = dev(M * N * 4), *fa = dev(sizeof ha), *fb = dev(sizeof hb), *dm = dev(4), *ds = dev(4);
	up(a, ones, M * K), up(b, ones, N * K);
	for (int i = 0; i < FACTORS; i++)
		ha[i] = (float)(1 + rand() % 64) / 64, hb[i] = (float)(1 + rand() % 64) / 64;
	up(fa, ha, sizeof ha), up(fb, hb, sizeof hb);
	cublasLtMatmulDesc_t desc;
	cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
	int t = CUBLAS_OP_T;
	float most = -1, sd = 2;
	up(ds, &sd, 4), up(dm, &most, 4);
	cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &t, 4);
	cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &ma, 4);
	cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, &mb, 4);
	cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &fa, 8);
	cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &fb, 8);
	if (dtype == CUDA_R_8F_E4M3) {
		cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, &dm, 8);
		cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, &ds, 8);
	}
	int s = matmul(desc, a, layout(CUDA_R_8F_E4M3, K, M, K, 0), b, layout(CUDA_R_8F_E4M3, K, N, K, 0), d, layout(dtype == CUDA_R_8F_E4M3 ? CUDA_R_16BF : dtype, M, N, M, 0), d,
	               layout(dtype, M, N, M, 0));
	down(out, d, sizeof out), down(&most, dm, 4);
	double worst = 0;
	for (int j = 0; j < N && dtype == CUDA_R_32F; j++)
		for (int i = 0; i < M; i++) {
			double w = 0;
			for (int l = 0; l < K; l++)
				w += (double)factor(ma, ha, i, l, M, K) * factor(mb, hb, j, l, N, K);
			worst = fmax(worst, fabs(out[i + j * M] - w) / w);
		}
	printf("fp8 modes %d %d D %d: status %d, worst relative error %g; amax %g, first bytes %02x (scales %g %g, sum %g before scale D of 2)\n", ma, mb, dtype, s, worst, most,
	       *(unsigned char *)out, ha[0], hb[0], (double)ha[0] * hb[0] * K);
	void *all[] = {a, b, d, fa, fb, dm, ds};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		cudaFree(all[i]);
}

int main(void) {
	printf("create %d\n", cublasLtCreate(&h));
	transforms(CUDA_R_8I, CUDA_R_32F, 64, 64), transforms(CUDA_R_8I, CUDA_R_32F, 37, 70);
	transforms(CUDA_R_32I, CUDA_R_32I, 64, 64), transforms(CUDA_R_32I, CUDA_R_32F, 40, 33);
	scales(0, 0, CUDA_R_32F), scales(3, 3, CUDA_R_32F), scales(3, 3, CUDA_R_16BF), scales(4, 4, CUDA_R_32F);
	scales(4, 5, CUDA_R_32F), scales(5, 4, CUDA_R_32F), scales(5, 5, CUDA_R_32F), scales(0, 0, CUDA_R_8F_E4M3);
	return 0;
}
