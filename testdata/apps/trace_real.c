// A program before a trace's doubles of NVIDIA's libraries (trace_double.c): what reaches them, and what comes back.
#define KUDZU_NO_RENAME
#include <cuda.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>

#include "abi_check.h"

typedef struct {
	double x, y;
} complex;

float cublasSdot(int n, const float *x, int incx, const float *y, int incy);
double cublasDdot(int n, const double *x, int incx, const double *y, int incy);
complex cublasZdotu(int n, const complex *x, int incx, const complex *y, int incy);
void cublasSrot(int n, float *x, int incx, float *y, int incy, float sc, float ss);
void cublasZherk(char uplo, char trans, int n, int k, double alpha, const complex *A, int lda, double beta, complex *C, int ldc);
void cublasZscal(int n, complex alpha, complex *x, int incx);

static jmp_buf back;

static void inner(void *data) {
	int v = 0;
	EXPECT(cuDriverGetVersion(&v), 0);
	EXPECT(v, 7);
	if (data)
		longjmp(back, 1);
}

int main(void) {
	int v = 0, value = 42, status = -1;
	EXPECT(cuInit(3), 3); // nothing of ours answers that
	EXPECT(cuDriverGetVersion(&v), 0);
	EXPECT(v, 7);
	EXPECT(cuLaunchKernel((CUfunction)1, 1, 2, 3, 4, 5, 6, 7, (CUstream)8, (void **)9, (void **)10), 1 + 2 + 6 + 12 + 20 + 30 + 42 + 56 + 72 + 90 + 110);
	void *params[] = {&value};
	EXPECT(cuLaunchKernel((CUfunction)5, 1, 1, 1, 1, 1, 1, 0, 0, params, 0), 0);

	// What is looked up is the front's, and seen; what the front does not know is left alone.
	CUresult (*version)(int *) = NULL;
	EXPECT(cuGetProcAddress_v2("cuDriverGetVersion", (void **)&version, 13000, 0, NULL), 0);
	EXPECT(version == cuDriverGetVersion, 1);
	EXPECT(version(&v), 0);
	CUresult (*find)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *) = NULL;
	EXPECT(cuGetProcAddress_v2("cuGetProcAddress", (void **)&find, 13000, 0, NULL), 0);
	EXPECT(find == cuGetProcAddress_v2, 1);
	void *other = NULL;
	EXPECT(find("private", &other, 13000, 0, NULL), 0);
	EXPECT(other != NULL, 1);
	EXPECT(find("nothing", &other, 13000, 0, (void *)&status), 0);
	EXPECT(status, 1);
	EXPECT(cuMemAlloc_v2((CUdeviceptr *)&other, 1), CUDA_ERROR_NOT_SUPPORTED); // a name that the library lacks

	// Calls inside calls, and some that are left by a jump.
	EXPECT(cuLaunchHostFunc(0, inner, NULL), 0);
	for (int i = 0; i < 100; i++)
		if (!setjmp(back))
			cuLaunchHostFunc(0, inner, &v);
	EXPECT(cuDriverGetVersion(&v), 0);

	// Floats, and results of every kind.
	float x = 2, y = 3;
	double a = 4, b = 5;
	complex c = {6, 7}, d = {8, 9};
	EXPECT(cublasSdot(1, &x, 10, &y, 100), 1 + 20 + 300);
	EXPECT(cublasDdot(1, &a, 10, &b, 100), 1 + 40 + 500);
	complex z = cublasZdotu(1, &c, 10, &d, 100);
	EXPECT(z.x == 61 && z.y == 900, 1);
	cublasSrot(1, &x, 2, &y, 3, 0.5f, -0.25f);
	EXPECT(x == 3, 1);
	cublasZherk('u', 't', 1, 2, 0.5, &c, 3, 4, &d, 5);
	EXPECT(d.x, 1235);
	EXPECT(d.y, 12);
	cublasZscal(3, (complex){1.5, 2.5}, &c, 4);
	EXPECT(c.x == 4.5 && c.y == 10, 1);
	return finish();
}
