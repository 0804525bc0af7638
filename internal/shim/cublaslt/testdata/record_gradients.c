// Records gradients of fp8 products and the answers to every epilogue, as gradients.txt has them.
#include "record.h"

static unsigned seed = 1;
static unsigned next(void) {
	seed = seed * 1664525u + 1013904223u;
	return seed >> 16;
}
static void set(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t a, const void *v, size_t n) { cublasLtMatmulDescSetAttribute(d, a, v, n); }

// product is a description of Aᵀ B with an epilogue.
static cublasLtMatmulDesc_t product(int epilogue) {
	cublasLtMatmulDesc_t d;
	int t = CUBLAS_OP_T;
	cublasLtMatmulDescCreate(&d, CUBLAS_COMPUTE_32F, CUDA_R_32F);
	set(d, CUBLASLT_MATMUL_DESC_TRANSA, &t, 4);
	set(d, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, 4);
	return d;
}

// grad: small numbers of e4m3, so that sums are exact; D and the sums of the bias as bits.
static void grad(int dtype, int epilogue, int biasType) {
	enum { m = 128, n = 64, k = 64 };
	static unsigned short hx[m * n], hd[m * n];
	static unsigned hbias[m];
	static const unsigned char few[] = {0x00, 0x30, 0x38, 0x3c, 0x40, 0xb0, 0xb8, 0xc0};
	unsigned char ha[m * k], hb[n * k];
	seed = 1;
	for (int i = 0; i < m * k; i++)
		ha[i] = few[next() % 8];
	for (int i = 0; i < n * k; i++)
		hb[i] = few[next() % 8];
	for (int i = 0; i < m * n; i++) {
		float f = ((int)(next() % 129) - 64) / 16.0f;
		_Float16 half = (_Float16)f;
		unsigned u;
		memcpy(&u, &f, 4);
		hx[i] = (unsigned short)(u >> 16);
		if (dtype == CUDA_R_16F)
			memcpy(&hx[i], &half, 2);
	}
	if (epilogue & 8) // a mask of bits
		for (int i = 0; i < m * n; i++)
			hx[i] = (unsigned short)next();
	void *a = dev(m * k), *b = dev(n * k), *d = dev(m * n * 2), *x = dev(m * n * 2), *bias = dev(m * 4);
	int64_t ld = m;
	up(a, ha, m * k), up(b, hb, n * k), up(x, hx, m * n * 2);
	cublasLtMatmulDesc_t desc = product(epilogue);
	if (epilogue & 16)
		set(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, 8);
	set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &x, 8);
	set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &ld, 8);
	if (biasType >= 0)
		set(desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &biasType, 4);
	int s = matmul(desc, a, layout(CUDA_R_8F_E4M3, k, m, k, 0), b, layout(CUDA_R_8F_E4M3, k, n, k, 0), d, layout(dtype, m, n, m, 0), d, layout(dtype, m, n, m, 0));
	down(hd, d, m * n * 2), down(hbias, bias, m * 4);
	printf("gradient D %d epilogue %d bias %d status %d\n", dtype, epilogue, biasType, s);
	if (s)
		return;
	printf("D");
	for (int i = 0; i < m * n; i += 61)
		printf(" %04x", hd[i]);
	printf("\n");
	if (!(epilogue & 16))
		return;
	printf("bias");
	for (int i = 0; i < 16; i++)
		if (biasType == CUDA_R_32F)
			printf(" %08x", hbias[i]);
		else
			printf(" %04x", ((unsigned short *)hbias)[i]);
	printf("\n");
}

static void status(int dtype, int epilogue, int withBias, int withAux, int auxType) {
	int m = 256, n = 384, k = 640, ctype = dtype == CUDA_R_8F_E4M3 ? CUDA_R_16BF : dtype;
	void *a = dev(m * k), *b = dev(n * k), *c = dev(m * n * 4), *d = dev(m * n * 4), *bias = dev(4096), *aux = dev(m * n * 4);
	int64_t ld = 256;
	cublasLtMatmulDesc_t desc = product(epilogue);
	if (withBias)
		set(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, 8);
	if (withAux) {
		set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux, 8);
		set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &ld, 8);
	}
	if (auxType >= 0)
		set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, &auxType, 4);
	int s = matmul(desc, a, layout(CUDA_R_8F_E4M3, k, m, k, 0), b, layout(CUDA_R_8F_E4M3, k, n, k, 0), c, layout(ctype, m, n, m, 0), d, layout(dtype, m, n, m, 0));
	cudaDeviceSynchronize();
	printf("status D %d epilogue %d bias %d aux %d %d: %d\n", dtype, epilogue, withBias, withAux, auxType, s);
	cudaFree(a), cudaFree(b), cudaFree(c), cudaFree(d), cudaFree(bias), cudaFree(aux);
}

int main(void) {
	static const int halves[] = {CUDA_R_16BF, CUDA_R_16F}, all[] = {CUDA_R_16BF, CUDA_R_16F, CUDA_R_32F, CUDA_R_8F_E4M3};
	static const int epilogues[] = {1, 2, 4, 6, 32, 36, 130, 134, 160, 164, 136, 152, 192, 208, 256, 512};
	int created = cublasLtCreate(&h);
	printf("create %d, version %zu\n", created, cublasLtGetVersion());
	for (int i = 0; i < 2; i++) {
		grad(halves[i], 136, -1), grad(halves[i], 152, -1), grad(halves[i], 152, CUDA_R_32F);
		grad(halves[i], 192, -1), grad(halves[i], 208, -1), grad(halves[i], 208, CUDA_R_32F);
	}
	for (int i = 0; i < 4; i++) {
		for (int j = 0; j < 16; j++)
			status(all[i], epilogues[j], (epilogues[j] & (4 | 16 | 256 | 512)) != 0, (epilogues[j] & (128 | 64 | 8)) != 0, -1);
		status(all[i], 4, 0, 0, -1), status(all[i], 2, 1, 0, -1), status(all[i], 2, 0, 1, -1);
		status(all[i], 164, 1, 1, CUDA_R_8F_E4M3), status(all[i], 164, 1, 1, CUDA_R_16BF), status(all[i], 164, 1, 1, CUDA_R_16F);
	}
	return 0;
}
