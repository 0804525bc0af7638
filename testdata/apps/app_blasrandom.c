/* Random calls of cuBLAS, cuBLASLt and cuSOLVER from several threads, each compared with a plain sum: random handles, sizes, operations, pointer
 * modes, streams and captures, and calls that must be refused. At the end all is given back, and the device's memory must be as at the start.
 *   app_blasrandom SECONDS [SEED [THREADS]] */
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 80, ROOM = SIDE * SIDE, SHARED = 3 };
static double seconds;
static _Atomic long calls, failures;
static cublasHandle_t shared[SHARED]; /* used by all threads, on their own streams never set: the default stream */

struct worker {
	unsigned long long seed;
	cublasHandle_t own;
	cublasLtHandle_t lt;
	cusolverDnHandle_t solver;
	cudaStream_t stream;
	double *a, *b, *c, *scalars, *work; /* on the device */
	int *pivots, *info;
	double ha[ROOM], hb[ROOM], hc[ROOM], want[ROOM];
	char did[200];
};

static unsigned pick(struct worker *w, unsigned n) {
	w->seed = w->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)((w->seed >> 33) % n);
}
static double number(struct worker *w) { return ((int)pick(w, 2001) - 1000) / 500.0; }
static void bad(struct worker *w, const char *why, double v) {
	failures++;
	fprintf(stderr, "%s: %s %g\n", w->did, why, v);
}
static void ok(struct worker *w, int status) {
	calls++;
	if (status)
		bad(w, "status", status);
}
static void refused(struct worker *w, int status, int want) {
	calls++;
	if (status != want)
		bad(w, "not refused:", status);
}
static void up(struct worker *w, double *d, double *h, int n) {
	for (int i = 0; i < n; i++)
		h[i] = number(w);
	ok(w, cudaMemcpyAsync(d, h, n * sizeof(double), cudaMemcpyHostToDevice, w->stream));
}
static void compare(struct worker *w, const double *want, int n, double bound) {
	ok(w, cudaMemcpyAsync(w->hc, w->c, n * sizeof(double), cudaMemcpyDeviceToHost, w->stream));
	ok(w, cudaStreamSynchronize(w->stream));
	for (int i = 0; i < n; i++)
		if (!(fabs(w->hc[i] - want[i]) <= bound)) {
			bad(w, "differs by", w->hc[i] - want[i]);
			return;
		}
}

/* C = alpha op(A) op(B) + beta C by cuBLAS, cuBLASLt, in a graph, with scalars anywhere. */
static void product(struct worker *w) {
	int m = 1 + pick(w, 40), n = 1 + pick(w, 40), k = 1 + pick(w, 40), ta = pick(w, 2), tb = pick(w, 2), device = pick(w, 2), how = pick(w, 4);
	int lda = (ta ? k : m) + pick(w, 3), ldb = (tb ? n : k) + pick(w, 3);
	double s[2] = {number(w), pick(w, 3) ? number(w) : 0};
	snprintf(w->did, sizeof w->did, "gemm %d %d %d ops %d %d device %d how %d", m, n, k, ta, tb, device, how);
	up(w, w->a, w->ha, lda * (ta ? m : k)), up(w, w->b, w->hb, ldb * (tb ? k : n)), up(w, w->c, w->want, m * n);
	ok(w, cudaMemcpyAsync(w->scalars, s, sizeof s, cudaMemcpyHostToDevice, w->stream));
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++) {
			double v = 0;
			for (int l = 0; l < k; l++)
				v += (ta ? w->ha[l + i * lda] : w->ha[i + l * lda]) * (tb ? w->hb[j + l * ldb] : w->hb[l + j * ldb]);
			w->want[i + j * m] = s[0] * v + s[1] * w->want[i + j * m];
		}
	double *alpha = device ? w->scalars : s, *beta = device ? w->scalars + 1 : s + 1;
	cudaGraph_t graph = 0;
	cudaGraphExec_t exec = 0;
	ok(w, cublasSetPointerMode_v2(w->own, device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST));
	if (how == 1) {
		cublasLtMatmulDesc_t desc;
		cublasLtMatrixLayout_t la, lb, lc;
		int opa = ta, opb = tb, mode = device;
		ok(w, cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_64F, CUDA_R_64F));
		ok(w, cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &opa, 4));
		ok(w, cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSB, &opb, 4));
		ok(w, cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, &mode, 4));
		ok(w, cublasLtMatrixLayoutCreate(&la, CUDA_R_64F, ta ? k : m, ta ? m : k, lda));
		ok(w, cublasLtMatrixLayoutCreate(&lb, CUDA_R_64F, tb ? n : k, tb ? k : n, ldb));
		ok(w, cublasLtMatrixLayoutCreate(&lc, CUDA_R_64F, m, n, m));
		ok(w, cublasLtMatmul(w->lt, desc, alpha, w->a, la, w->b, lb, beta, w->c, lc, w->c, lc, 0, 0, 0, w->stream));
		ok(w, cublasLtMatrixLayoutDestroy(la)), ok(w, cublasLtMatrixLayoutDestroy(lb)), ok(w, cublasLtMatrixLayoutDestroy(lc));
		ok(w, cublasLtMatmulDescDestroy(desc));
	} else if (how == 2) {
		ok(w, cudaStreamBeginCapture(w->stream, cudaStreamCaptureModeThreadLocal));
		ok(w, cublasDgemm_v2(w->own, ta, tb, m, n, k, alpha, w->a, lda, w->b, ldb, beta, w->c, m));
		ok(w, cudaStreamEndCapture(w->stream, &graph));
		ok(w, cudaGraphInstantiateWithFlags(&exec, graph, 0));
		ok(w, cudaGraphLaunch(exec, w->stream));
	} else
		ok(w, cublasDgemm_v2(w->own, ta, tb, m, n, k, alpha, w->a, lda, w->b, ldb, beta, w->c, m));
	refused(w, cublasDgemm_v2(w->own, ta, tb, m, n, k, alpha, w->a, (ta ? k : m) - 1, w->b, ldb, beta, w->c, m), CUBLAS_STATUS_INVALID_VALUE);
	compare(w, w->want, m * n, 1e-11 * k);
	if (exec)
		ok(w, cudaGraphExecDestroy(exec)), ok(w, cudaGraphDestroy(graph));
}

/* dot and axpy on a handle that all threads use. */
static void vectors(struct worker *w) {
	cublasHandle_t h = shared[pick(w, SHARED)];
	int n = 1 + pick(w, 2000);
	double got = 0, want = 0, alpha = number(w);
	snprintf(w->did, sizeof w->did, "vectors %d", n);
	up(w, w->a, w->ha, n), up(w, w->c, w->hb, n);
	ok(w, cudaStreamSynchronize(w->stream));
	for (int i = 0; i < n; i++)
		want += w->ha[i] * w->hb[i];
	ok(w, cublasDdot_v2(h, n, w->a, 1, w->c, 1, &got));
	if (!(fabs(got - want) <= 1e-11 * n))
		bad(w, "dot differs by", got - want);
	ok(w, cublasDaxpy_v2(h, n, &alpha, w->a, 1, w->c, 1));
	ok(w, cudaStreamSynchronize(0));
	for (int i = 0; i < n; i++)
		w->hb[i] += alpha * w->ha[i];
	compare(w, w->hb, n, 1e-12);
}

/* A X = B by LU or Cholesky: A X must be B again. */
static void system_(struct worker *w) {
	int n = 1 + pick(w, 40), count = 1 + pick(w, 8), cholesky = pick(w, 2), size = 0, info = -1;
	snprintf(w->did, sizeof w->did, "solve %d %d cholesky %d", n, count, cholesky);
	up(w, w->c, w->hb, n * count);
	for (int j = 0; j < n; j++)
		for (int i = 0; i <= j; i++)
			w->ha[i + j * n] = w->ha[j + i * n] = i == j ? 3 * n + number(w) : number(w);
	ok(w, cudaMemcpyAsync(w->a, w->ha, n * n * sizeof(double), cudaMemcpyHostToDevice, w->stream));
	if (cholesky) {
		ok(w, cusolverDnDpotrf_bufferSize(w->solver, CUBLAS_FILL_MODE_LOWER, n, w->a, n, &size));
		ok(w, cusolverDnDpotrf(w->solver, CUBLAS_FILL_MODE_LOWER, n, w->a, n, w->work, ROOM, w->info));
		ok(w, cusolverDnDpotrs(w->solver, CUBLAS_FILL_MODE_LOWER, n, count, w->a, n, w->c, n, w->info));
	} else {
		ok(w, cusolverDnDgetrf_bufferSize(w->solver, n, n, w->a, n, &size));
		ok(w, cusolverDnDgetrf(w->solver, n, n, w->a, n, w->work, w->pivots, w->info));
		ok(w, cusolverDnDgetrs(w->solver, CUBLAS_OP_N, n, count, w->a, n, w->pivots, w->c, n, w->info));
	}
	if (size > ROOM)
		bad(w, "workspace", size);
	ok(w, cudaMemcpyAsync(w->hc, w->c, n * count * sizeof(double), cudaMemcpyDeviceToHost, w->stream));
	ok(w, cudaMemcpyAsync(&info, w->info, 4, cudaMemcpyDeviceToHost, w->stream));
	ok(w, cudaStreamSynchronize(w->stream));
	for (int j = 0; j < count; j++)
		for (int i = 0; i < n; i++) {
			double v = -w->hb[i + j * n];
			for (int l = 0; l < n; l++)
				v += w->ha[i + l * n] * w->hc[l + j * n];
			if (info || !(fabs(v) <= 1e-11 * n)) {
				bad(w, info ? "info" : "residual", info ? info : v);
				return;
			}
		}
}

static void open_(struct worker *w) {
	ok(w, cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
	ok(w, cublasCreate_v2(&w->own)), ok(w, cublasLtCreate(&w->lt)), ok(w, cusolverDnCreate(&w->solver));
	ok(w, cublasSetStream_v2(w->own, w->stream)), ok(w, cusolverDnSetStream(w->solver, w->stream));
}
static void close_(struct worker *w) {
	ok(w, cusolverDnDestroy(w->solver)), ok(w, cublasLtDestroy(w->lt)), ok(w, cublasDestroy_v2(w->own));
	refused(w, cublasSetStream_v2(w->own, 0), CUBLAS_STATUS_NOT_INITIALIZED);
	ok(w, cudaStreamDestroy(w->stream));
}
static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
static void *work(void *p) {
	struct worker *w = p;
	double **rooms[] = {&w->a, &w->b, &w->c, &w->scalars, &w->work};
	for (int i = 0; i < 5; i++)
		ok(w, cudaMalloc((void **)rooms[i], ROOM * sizeof(double)));
	ok(w, cudaMalloc((void **)&w->pivots, SIDE * 4)), ok(w, cudaMalloc((void **)&w->info, 4));
	open_(w);
	for (double end = now() + seconds; now() < end && failures < 20;)
		switch (pick(w, 12)) {
		case 0: strcpy(w->did, "handles"), close_(w), open_(w); break;
		case 1: case 2: case 3: vectors(w); break;
		case 4: case 5: case 6: system_(w); break;
		default: product(w);
		}
	close_(w);
	for (int i = 0; i < 5; i++)
		ok(w, cudaFree(*rooms[i]));
	ok(w, cudaFree(w->pivots)), ok(w, cudaFree(w->info));
	return 0;
}
static long resident(void) {
	long size = 0, pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (f && fscanf(f, "%ld %ld", &size, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return pages * 4 / 1024;
}

int main(int argc, char **argv) {
	double whole = argc > 1 ? atof(argv[1]) : 5;
	unsigned long long seed = argc > 2 ? strtoull(argv[2], 0, 10) : 1;
	int threads = argc > 3 ? atoi(argv[3]) : 3, rounds = whole > 20 ? 10 : 2;
	long first = 0, last = 0;
	size_t before = 0, after = 0, total;
	seconds = whole / rounds;
	for (int r = 0; r < rounds && failures < 20; r++) { /* the first round makes what stays: code, pools */
		pthread_t t[64];
		struct worker *w = calloc(64, sizeof *w);
		for (int i = 0; i < SHARED; i++)
			ok(w, cublasCreate_v2(&shared[i]));
		for (int i = 0; i < threads && i < 64; i++) {
			w[i].seed = seed * 1000003 + r * 101 + i;
			pthread_create(&t[i], 0, work, &w[i]);
		}
		for (int i = 0; i < threads && i < 64; i++)
			pthread_join(t[i], 0);
		for (int i = 0; i < SHARED; i++)
			ok(w, cublasDestroy_v2(shared[i]));
		free(w);
		cudaMemGetInfo(&after, &total);
		last = resident();
		if (!r)
			before = after, first = last;
	}
	if (before != after)
		fprintf(stderr, "device memory: %zu bytes free, %zu after the first round\n", after, before), failures++;
	printf("%ld calls, %ld failures, %ld MiB resident, %ld after the first round\n", (long)calls, (long)failures, last, first);
	return failures != 0;
}
