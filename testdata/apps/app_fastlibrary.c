// Calls of cuBLAS and cuSOLVER that are made without Go once they were made before, against the same calls through Go:
// app_fastlibrary [go]. It prints what they answer and compute after everything that can change it. With go, a change that matters to nobody
// comes before every call, so that none is made without Go: the output must be the same.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 24, ROOM = 4096 };
static int through_go;
static cublasHandle_t blas;
static cusolverDnHandle_t solver;
static double *a[2], *b[2], *c[2], *tau, *work, *scalars;
static int *pivots, *info;
static double one = 1, two = 2, zero = 0, third = 1.0 / 3;

#define MUST(call)                                                             \
	do {                                                                   \
		int rc_ = (int)(call);                                         \
		if (rc_) printf("%s: %d, line %d\n", #call, rc_, __LINE__), exit(1); \
	} while (0)

static void before(void) {
	cudaEvent_t e;
	cudaStream_t s;
	if (!through_go) return;
	MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	MUST(cudaEventCreate(&e));
	MUST(cudaStreamDestroy(s));
	MUST(cudaEventDestroy(e));
}

static unsigned long long seed = 1;
static void fill(double *at, int n) {
	double v[ROOM];
	for (int i = 0; i < n; i++) seed = seed * 6364136223846793005u + 1442695040888963407u, v[i] = (double)(seed >> 40) / (1 << 23) - 1;
	MUST(cudaMemcpy(at, v, (size_t)n * 8, cudaMemcpyHostToDevice));
}

// say prints a sum over the bits of memory.
static void say(const char *what, int rc, const void *at, size_t bytes) {
	unsigned char v[ROOM * 8];
	unsigned long long h = 14695981039346656037u;
	MUST(cudaMemcpy(v, at, bytes, cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < bytes; i++) h = (h ^ v[i]) * 1099511628211u;
	printf("%s: %d %016llx\n", what, rc, h);
}

static int product(int set, int m, int n, int k, const double *alpha, const double *beta, int lda) {
	before();
	return (int)cublasDgemm(blas, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, alpha, a[set], lda, b[set], N, beta, c[set], N);
}

static void products(void) {
	for (int i = 0; i < 20; i++) {
		static const double *list[] = {&one, &two, &zero, &third};
		say("product", product(i % 2, N, N, N - i / 8, list[i % 4], list[i / 4 % 4], N), c[i % 2], N * N * 8);
	}
	say("the same scalar", product(0, N, N, N, &third, &third, N), c[0], N * N * 8);
	say("no rows", product(0, -1, N, N, &one, &one, N), c[0], N * N * 8);
	say("a bad leading dimension", product(0, N, N, N, &one, &one, N - 1), c[0], N * N * 8);
	say("no alpha", product(0, N, N, N, NULL, &one, N), c[0], N * N * 8);
	MUST(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE));
	for (int i = 0; i < 6; i++) say("scalars of the device", product(i % 2, N, N, N, scalars + i % 3, scalars + 1, N), c[i % 2], N * N * 8);
	MUST(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_HOST));
	say("and of the host", product(1, N, N, N, &two, &one, N), c[1], N * N * 8);
	for (int i = 0; i < 6; i++) {
		float x = (float)i, y = 0.5f;
		before();
		say("f32", (int)cublasSgemm(blas, CUBLAS_OP_T, CUBLAS_OP_N, 9, 7, 5, &x, (float *)a[0], 9, (float *)b[0], 9, &y, (float *)c[0], 9), c[0], 9 * 7 * 4);
		before();
		say("batch", (int)cublasDgemmStridedBatched(blas, CUBLAS_OP_N, CUBLAS_OP_N, 4, 5, 6, &two, a[i % 2], 4, 24, b[0], 6, 30, &one, c[1], 4, 20, 5 + i / 3), c[1], 800);
		cuDoubleComplex u = {i, 1 - i}, v = {0.25, i % 2};
		before();
		say("c64", (int)cublasZgemm(blas, CUBLAS_OP_C, i % 3 ? CUBLAS_OP_N : CUBLAS_OP_C, 11, 11, 9, &u, (cuDoubleComplex *)a[i % 2], 11, (cuDoubleComplex *)b[0], 11, &v, (cuDoubleComplex *)c[0], 12), c[0], 12 * 11 * 16);
		before();
		say("Ex", (int)cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, 4, 5, 6, &two, a[1], CUDA_R_64F, 4, b[0], CUDA_R_64F, 6, &one, c[i % 2], CUDA_R_64F, 4, CUBLAS_COMPUTE_64F, CUBLAS_GEMM_DEFAULT), c[i % 2], 160);
	}
}

static void factors(void) {
	for (int i = 0; i < 24; i++) {
		int n = 3 + i / 8, at = i % 2, rc = 0;
		double v[64];
		fill(a[at], n * n), fill(tau, n);
		if (i % 3) { // sometimes not definite
			MUST(cudaMemcpy(v, a[at], (size_t)(n * n) * 8, cudaMemcpyDeviceToHost));
			for (int k = 0; k < n; k++) v[k * n + k] += 4;
			MUST(cudaMemcpy(a[at], v, (size_t)(n * n) * 8, cudaMemcpyHostToDevice));
		}
		int lda = i == 20 ? n - 1 : n;
		before();
		switch (i % 4) {
		case 0: rc = (int)cusolverDnDpotrf(solver, i % 8 ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER, n, a[at], lda, work, ROOM, info); break;
		case 1: rc = (int)cusolverDnDgetrf(solver, n, n, a[at], lda, work, i % 8 == 1 ? NULL : pivots, info); break;
		case 2: rc = (int)cusolverDnDgeqrf(solver, n, n, a[at], lda, tau, work, ROOM, info); break;
		case 3: rc = (int)cusolverDnDorgqr(solver, n, n, n, a[at], lda, tau, work, ROOM, info); break;
		}
		say("factor", rc, a[at], (size_t)(n * n) * 8);
		say("info", 0, info, 4);
	}
}

// A capture records what would be done without Go else, and a stream that waits holds it up.
static void streams(void) {
	cudaStream_t s;
	cudaGraph_t g;
	cudaGraphExec_t x;
	MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	MUST(cublasSetStream(blas, s));
	for (int i = 0; i < 4; i++) MUST(product(0, N, N, N, &one, &two, N));
	MUST(cudaStreamSynchronize(s));
	say("in a stream", 0, c[0], N * N * 8);
	MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	MUST((int)cublasDgemm(blas, CUBLAS_OP_N, CUBLAS_OP_T, N, N, N, &one, a[0], N, b[0], N, &two, c[0], N));
	MUST(cudaStreamEndCapture(s, &g));
	say("captured", 0, c[0], N * N * 8);
	MUST(cudaGraphInstantiate(&x, g, 0));
	MUST(cudaGraphLaunch(x, s));
	MUST(cudaStreamSynchronize(s));
	say("launched", 0, c[0], N * N * 8);
	MUST(cublasSetStream(blas, NULL));
	for (int i = 0; i < 4; i++) MUST(product(0, N, N, N, &one, &third, N));
	MUST(cudaStreamSynchronize(NULL));
	say("again without", 0, c[0], N * N * 8);
	MUST(cudaGraphExecDestroy(x));
	MUST(cudaGraphDestroy(g));
	MUST(cudaStreamDestroy(s));
}

int main(int argc, char **argv) {
	through_go = argc > 1;
	for (int i = 0; i < 2; i++) {
		MUST(cudaMalloc((void **)&a[i], ROOM * 8));
		MUST(cudaMalloc((void **)&b[i], ROOM * 8));
		MUST(cudaMalloc((void **)&c[i], ROOM * 8));
	}
	MUST(cudaMalloc((void **)&tau, ROOM * 8));
	MUST(cudaMalloc((void **)&work, ROOM * 8));
	MUST(cudaMalloc((void **)&scalars, 24));
	MUST(cudaMalloc((void **)&pivots, 256));
	MUST(cudaMalloc((void **)&info, 4));
	const double list[] = {two, third, zero};
	MUST(cudaMemcpy(scalars, list, sizeof list, cudaMemcpyHostToDevice));
	MUST(cublasCreate(&blas));
	MUST(cusolverDnCreate(&solver));
	for (int round = 0; round < 3; round++) { // in the first some code is not compiled yet
		seed = 1;
		for (int i = 0; i < 2; i++) fill(a[i], N * N), fill(b[i], N * N), fill(c[i], N * N);
		products();
		factors();
		streams();
	}
	cublasHandle_t gone = blas;
	MUST(cublasDestroy(blas));
	blas = gone;
	printf("a handle that is gone: %d\n", product(0, N, N, N, &one, &one, N));
	return 0;
}
