// Libraries that stand in for NVIDIA's behind a trace: they check what reaches them. libcuda.so.1, or libcublas.so.13 with CUBLAS.
#include <stddef.h>
#include <string.h>

#ifdef CUBLAS
typedef struct {
	double x, y;
} complex;

// As many arguments of both kinds as there are registers, and more.
float cublasSdot(int n, const float *x, int incx, const float *y, int incy) { return (float)n + x[0] * (float)incx + y[0] * (float)incy; }

double cublasDdot(int n, const double *x, int incx, const double *y, int incy) { return n + x[0] * incx + y[0] * incy; }

complex cublasZdotu(int n, const complex *x, int incx, const complex *y, int incy) { return (complex){n + x->x * incx, y->y * incy}; }

static double got[8];

void cublasSrot(int n, float *x, int incx, float *y, int incy, float sc, float ss) {
	got[0] = n, got[1] = incx, got[2] = incy, got[3] = sc, got[4] = ss;
	x[0] = y[0];
}

void cublasZherk(char uplo, char trans, int n, int k, double alpha, const complex *A, int lda, double beta, complex *C, int ldc) {
	C->x = uplo == 'u' && trans == 't' ? n * 1000 + k * 100 + lda * 10 + ldc : 0;
	C->y = alpha * beta * A->x;
}

void cublasZscal(int n, complex alpha, complex *x, int incx) { *x = (complex){alpha.x * n, alpha.y * incx}; }
#else
typedef unsigned long long u64;

int cuInit(unsigned flags) { return (int)flags; }

int cuDriverGetVersion(int *version) {
	*version = 7;
	return 0;
}

// The sum of the arguments, each in its place.
int cuLaunchKernel(u64 f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, u64 stream, void **params, void **extra) {
	if (f == 5)
		return params && **(int **)params == 42 ? 0 : 1;
	return (int)(f + 2 * gx + 3 * gy + 4 * gz + 5 * bx + 6 * by + 7 * bz + 8 * shared + 9 * stream + 10 * (u64)params + 11 * (u64)extra) |
	       (((size_t)__builtin_frame_address(0) & 15) ? 1 << 30 : 0);
}

int cuFuncGetParamInfo(u64 f, size_t i, size_t *offset, size_t *size) {
	if (f != 5 || i)
		return f == 5 ? 1 : 400;
	*offset = 0, *size = 4;
	return 0;
}

// A stream's function at once, on the caller's thread.
int cuLaunchHostFunc(void *stream, void (*fn)(void *), void *data) {
	(void)stream;
	fn(data);
	return 0;
}

int cuGetProcAddress_v2(const char *name, void **fn, int version, u64 flags, int *status) {
	static int private;
	(void)version, (void)flags;
	*fn = !strcmp(name, "cuDriverGetVersion") ? (void *)cuDriverGetVersion : !strcmp(name, "cuGetProcAddress") ? (void *)cuGetProcAddress_v2 : !strcmp(name, "private") ? (void *)&private : NULL;
	if (status)
		*status = *fn ? 0 : 1;
	return 0;
}
#endif
