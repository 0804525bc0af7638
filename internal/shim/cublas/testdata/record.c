// What cublasXt and cuBLAS's first interface, without handles, compute: every function with data of a generator, its first results as one line,
// and each compared with a plain sum in f64 first (what differs is told on standard error, and the exit code is 1).
//   record             every function's results
//   record ratio N     a product of which the program does a part
//   record bytes       cublasUint8gemmBias
//   record misuse N    what call N of misuse.inc answers, and no line where there is no such call
// The prototypes are here, so that it is built with cuBLAS's headers or without: cc record.c -lcublas -lcudart -lm -lpthread
#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double complex z;
typedef struct { float x, y; } c2;
typedef struct __attribute__((aligned(16))) { double x, y; } z2;
typedef void *xt;

int cudaMalloc(void **, size_t), cudaFree(void *), cudaMemcpy(void *, const void *, size_t, int), cudaDeviceSynchronize(void), cudaGetLastError(void);
int cudaGetDeviceCount(int *), cudaStreamCreate(void **), cudaStreamSynchronize(void *), cudaHostAlloc(void **, size_t, unsigned), cudaFreeHost(void *);
int cublasInit(void), cublasShutdown(void), cublasGetError(void), cublasGetVersion(int *), cublasAlloc(int, int, void **), cublasFree(void *), cublasSetKernelStream(void *);
int cublasSetVector(int, int, const void *, int, void *, int), cublasGetVector(int, int, const void *, int, void *, int);
int cublasSetMatrix(int, int, int, const void *, int, void *, int), cublasGetMatrix(int, int, int, const void *, int, void *, int);
void cublasXerbla(const char *, int);
int cublasCreate_v2(void **), cublasDestroy_v2(void *), cublasSetStream_v2(void *, void *);
int cublasUint8gemmBias(void *, int, int, int, int, int, int, const unsigned char *, int, int, const unsigned char *, int, int, unsigned char *, int, int, int, int);
int cublasXtCreate(xt *), cublasXtDestroy(xt), cublasXtDeviceSelect(xt, int, int *), cublasXtSetBlockDim(xt, int), cublasXtGetBlockDim(xt, int *);
int cublasXtGetNumBoards(int, int *, int *), cublasXtMaxBoards(int *), cublasXtGetPinningMemMode(xt, int *), cublasXtSetPinningMemMode(xt, int);
int cublasXtSetCpuRoutine(xt, int, int, void *), cublasXtSetCpuRatio(xt, int, int, float);

static unsigned long long state;
static double next(void) { // between -1 and 1, 20 bits, so that every type has them exactly
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(long long)(state >> 44) / 524288.0 - 1;
}

static int failed, lines;
static xt X;
static int api; // 0: without handles, on the device; 1: cublasXt with memory of the host; 2: with memory of the device
enum { DEVICE = 64 }; // the largest side
static z A[DEVICE * DEVICE], B[DEVICE * DEVICE], W[DEVICE * DEVICE], WANT[DEVICE * DEVICE];

// fill makes a matrix of the generator: rows × cols at ld; shift is added to the diagonal.
static void fill(z *m, int ld, int rows, int cols, int seed, int cplx, double shift) {
	state = seed;
	for (int j = 0; j < cols; j++)
		for (int i = 0; i < rows; i++) {
			double re = next(), im = cplx ? next() : 0;
			m[i + j * ld] = re + im * I + (i == j ? shift : 0);
		}
}

// form is how a matrix is stored: all of it, a triangle, a band, packed.
enum form { FULL, BAND, PACKED };
enum meaning { GENERAL, TRIANGLE, SYMMETRIC, HERMITIAN };

static int upper(char uplo) { return uplo == 'U' || uplo == 'u'; }
static int unit(char diag) { return diag == 'U' || diag == 'u'; }

// meant is element (i, j) of what a function reads, of a matrix with the given triangle and, if k >= 0, diagonals.
static z meant(const z *m, int ld, enum meaning what, char uplo, char diag, int k, int i, int j) {
	if (k >= 0 && abs(i - j) > k)
		return 0;
	if (what == GENERAL)
		return m[i + j * ld];
	int stored = i == j || (i < j) == upper(uplo);
	if (what == TRIANGLE)
		return !stored ? 0 : i == j && unit(diag) ? 1 : m[i + j * ld];
	if (i == j)
		return what == HERMITIAN ? creal(m[i + j * ld]) : m[i + j * ld];
	return stored ? m[i + j * ld] : what == HERMITIAN ? conj(m[j + i * ld]) : m[j + i * ld];
}
static int turns(char op) { return !(op == 'N' || op == 'n'); }
static z as(char op, z v) { return op == 'C' || op == 'c' ? conj(v) : v; }
static int op_of(char c) { return c == 'N' || c == 'n' ? 0 : c == 'T' || c == 't' ? 1 : 2; }

// Solves op(t) x = b, t a triangle of n, x in place.
static void solve(const z *t, int n, char uplo, char op, char diag, int k, z *x) {
	int up = upper(uplo) != turns(op);
	for (int s = 0; s < n; s++) {
		int i = up ? n - 1 - s : s;
		for (int j = up ? i + 1 : 0; j < (up ? n : i); j++)
			x[i] -= as(op, turns(op) ? meant(t, DEVICE, TRIANGLE, uplo, diag, k, j, i) : meant(t, DEVICE, TRIANGLE, uplo, diag, k, i, j)) * x[j];
		x[i] /= as(op, meant(t, DEVICE, TRIANGLE, uplo, diag, k, i, i));
	}
}

static void row(const char *f, int n) {
	printf("%s%s", api == 0 ? "" : api == 1 ? "Xt" : "XtDevice", f);
	(void)n;
	lines++;
}

#define CAT_(a, b, c) a##b##c
#define CAT(a, b, c) CAT_(a, b, c)
#define T float
#define R float
#define P S
#define CPLX 0
#define EPS 0x1p-24
#define FORMAT "%.9g"
#define NRM2 cublasSnrm2
#define ASUM cublasSasum
#define AMAX cublasIsamax
#define AMIN cublasIsamin
#include "record.inc"
#define T double
#define R double
#define P D
#define CPLX 0
#define EPS 0x1p-53
#define FORMAT "%.17g"
#define NRM2 cublasDnrm2
#define ASUM cublasDasum
#define AMAX cublasIdamax
#define AMIN cublasIdamin
#include "record.inc"
#define T c2
#define R float
#define P C
#define CPLX 1
#define EPS 0x1p-24
#define FORMAT "%.9g"
#define NRM2 cublasScnrm2
#define ASUM cublasScasum
#define AMAX cublasIcamax
#define AMIN cublasIcamin
#define RSCAL cublasCsscal
#define RROT cublasCsrot
#include "record.inc"
#define T z2
#define R double
#define P Z
#define CPLX 1
#define EPS 0x1p-53
#define FORMAT "%.17g"
#define NRM2 cublasDznrm2
#define ASUM cublasDzasum
#define AMAX cublasIzamax
#define AMIN cublasIzamin
#define RSCAL cublasZdscal
#define RROT cublasZdrot
#include "record.inc"

// C = (sum of (A - a)(B - b) + ...) as cublasUint8gemmBias is said to compute it; what it does beyond that is recorded.
static void bytes(void) {
	static const int ops[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}};
	static const int biases[][5] = {{0, 0, 0, 1, 0}, {-3, 5, 7, 1, 0}, {-3, 5, 7, 3, 2}, {11, -13, 100, 1, 4}, {-128, -128, 128, 2, 6}, {2, 2, -9, -1, 3}};
	static const int sizes[][3] = {{4, 4, 4}, {8, 8, 16}, {16, 12, 20}, {5, 3, 7}, {32, 32, 32}};
	void *h = 0;
	cublasCreate_v2(&h);
	for (int s = 0; s < 5; s++)
		for (int o = 0; o < 6; o++)
			for (int b = 0; b < 6; b++) {
				int m = sizes[s][0], n = sizes[s][1], k = sizes[s][2], ld = 32;
				unsigned char host[3][32 * 32], *dev[3];
				state = 900 + s;
				for (int i = 0; i < 3; i++) {
					for (int j = 0; j < 32 * 32; j++)
						host[i][j] = b < 3 ? (int)((next() + 1) * 8) : (int)((next() + 1) * 127.5);
					cudaMalloc((void **)&dev[i], 32 * 32);
					cudaMemcpy(dev[i], host[i], 32 * 32, 1);
				}
				int st = cublasUint8gemmBias(h, ops[o][0], ops[o][1], ops[o][2], m, n, k, dev[0], biases[b][0], ld, dev[1], biases[b][1], ld, dev[2], biases[b][2], ld, biases[b][3], biases[b][4]);
				int sync = cudaDeviceSynchronize();
				cudaMemcpy(host[2], dev[2], 32 * 32, 2);
				printf("Uint8gemmBias %d%d%d %d %d %d bias %d %d %d mult %d shift %d : status %d cuda %d", ops[o][0], ops[o][1], ops[o][2], m, n, k, biases[b][0], biases[b][1], biases[b][2], biases[b][3], biases[b][4], st, sync);
				for (int j = 0; !st && j < (ops[o][2] ? m : n) && j < 4; j++)
					for (int i = 0; i < (ops[o][2] ? n : m) && i < 8; i++)
						printf(" %d", host[2][i + j * ld]);
				printf("\n");
				for (int i = 0; i < 3; i++)
					cudaFree(dev[i]);
			}
	cublasDestroy_v2(h);
}

// The program's own product, which cublasXt may call for its part: how much it was given is recorded.
static int calls, columns, rows_;
static void own(const char *ta, const char *tb, const int *m, const int *n, const int *k, const float *alpha, const float *a, const int *lda, const float *b, const int *ldb, const float *beta, float *c, const int *ldc) {
	calls++, columns += *n, rows_ += *m;
	for (int j = 0; j < *n; j++)
		for (int i = 0; i < *m; i++) {
			double s = 0;
			for (int l = 0; l < *k; l++)
				s += (double)(turns(*ta) ? a[l + i * *lda] : a[i + l * *lda]) * (turns(*tb) ? b[j + l * *ldb] : b[l + j * *ldb]);
			c[i + j * *ldc] = (float)(*alpha * s + (*beta ? *beta * c[i + j * *ldc] : 0));
		}
}

static int ratio(int which) {
	static const float ratios[] = {0, 0.25f, 0.5f, 0.9f, 1, 0.5f, 0.5f};
	enum { M = 96, N = 80, K = 40 };
	static float a[M * K], b[K * N], c[M * N];
	float alpha = 0.75f, beta = -1.25f;
	double worst = 0;
	int r = which / 3, block = (int[]){16, 64, 1024}[which % 3], d = 0;
	if (r > 6)
		return 3;
	state = 77;
	for (int i = 0; i < M * K; i++) a[i] = (float)next();
	for (int i = 0; i < K * N; i++) b[i] = (float)next();
	for (int i = 0; i < M * N; i++) c[i] = (float)(i % 7);
	xt h;
	cublasXtCreate(&h);
	cublasXtDeviceSelect(h, 1, &d);
	cublasXtSetBlockDim(h, block);
	int s1 = r == 5 ? 0 : cublasXtSetCpuRoutine(h, 0, 0, (void *)own), s2 = r == 6 ? 0 : cublasXtSetCpuRatio(h, 0, 0, ratios[r]);
	int st = cublasXtSgemm(h, 0, 0, M, N, K, &alpha, a, M, b, K, &beta, c, M);
	for (int j = 0; j < N; j++)
		for (int i = 0; i < M; i++) {
			double s = 0;
			for (int l = 0; l < K; l++)
				s += (double)a[i + l * M] * b[l + j * K];
			worst = fmax(worst, fabs(0.75 * s - 1.25 * ((i + j * M) % 7) - c[i + j * M]));
		}
	printf("ratio %g block %d routine %d set %d : %d %d status %d calls %d columns %d rows %d right %d\n", ratios[r], block, r != 5, r != 6, s1, s2, st, calls, columns, rows_, worst <= 1e-5);
	cublasXtDestroy(h);
	return worst > 1e-5;
}

static int probe(int n);
static xt other;
static void *elsewhere(void *p) {
	float v[3] = {1, 2, 3}, *d = 0;
	cudaMalloc((void **)&d, 12);
	cudaMemcpy(d, v, 12, 1);
	((int *)p)[0] = cublasGetError();
	((float *)p)[1] = cublasSasum(3, d, 1);
	((int *)p)[2] = cublasGetError();
	return 0;
}

int main(int argc, char **argv) {
	if (argc > 2 && !strcmp(argv[1], "misuse")) {
		xt h = 0;
		int d = 0;
		if (cublasXtCreate(&X) || cublasXtDeviceSelect(X, 1, &d) || cublasXtCreate(&h))
			return 2;
		other = h;
		return probe(atoi(argv[2]));
	}
	if (argc > 2 && !strcmp(argv[1], "ratio"))
		return ratio(atoi(argv[2]));
	if (argc > 1 && !strcmp(argv[1], "bytes"))
		return bytes(), 0;
	cublasInit();
	level1_S(), level1_D(), level1_C(), level1_Z();
	level2_S(), level2_D(), level2_C(), level2_Z();
	level3_S(), level3_D(), level3_C(), level3_Z();
	int seen[3] = {0}, devices[] = {0, 1, 2}, count = 1;
	cudaGetDeviceCount(&count);
	pthread_t t;
	pthread_create(&t, 0, elsewhere, seen);
	pthread_join(t, 0);
	printf("thread : error %d asum %g error %d\n", seen[0], ((float *)seen)[1], seen[2]);
	printf("Shutdown : %d", cublasShutdown());
	elsewhere(seen);
	printf(" then %d %g %d again %d\n", seen[0], ((float *)seen)[1], seen[2], cublasShutdown());
	for (api = 1; api < 3; api++)
		for (int block = 0; block < 2; block++) {
			cublasXtCreate(&X);
			printf("Xt : select %d", cublasXtDeviceSelect(X, count < 3 ? count : 3, devices));
			int got = -1, mode = -1;
			printf(" block %d", cublasXtGetBlockDim(X, &got));
			printf(" %d", got);
			printf(" pinning %d", cublasXtGetPinningMemMode(X, &mode));
			printf(" %d", mode);
			if (block)
				printf(" set %d %d", cublasXtSetBlockDim(X, 16), cublasXtSetPinningMemMode(X, 1));
			printf("\n");
			level3_S(), level3_D(), level3_C(), level3_Z();
			cublasXtDestroy(X);
		}
	fprintf(stderr, "%d results, %s\n", lines, failed ? "some differ" : "all as computed");
	return failed;
}

#define PROBE(call) \
	if (n-- == 0) { \
		int st = (call); \
		printf("%s = %d error %d cuda %d\n", #call, st, cublasGetError(), cudaGetLastError()); \
		return 0; \
	}
#define VOID(call) PROBE((call, 0))
static int probe(int n) {
	static float host[4096];
	float *A = 0, *B = 0, *C = 0, one = 1, *H = host;
	double *DA = 0;
	unsigned char *U = 0;
	void *p = 0, *h = 0;
	int i = 0, two[2] = {0, 0}, bad[1] = {99}, minus[1] = {-1};
	cudaMalloc((void **)&A, 1 << 14), cudaMalloc((void **)&B, 1 << 14), cudaMalloc((void **)&C, 1 << 14), cudaMalloc((void **)&DA, 1 << 14), cudaMalloc((void **)&U, 1 << 14);
	cublasCreate_v2(&h);
	(void)p, (void)i, (void)H;
#include "misuse.inc"
	return 3;
}
