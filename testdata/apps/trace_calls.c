// Calls whose arguments a trace must show: in registers, on the stack, floats, structures by value, results of every kind.
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "abi_check.h"

// Of the first interface of cuBLAS, whose names the header gives to the second.
void rotate(int n, float *x, int incx, float *y, int incy, float sc, float ss) __asm__("cublasSrot");
void scale(int n, cuDoubleComplex alpha, cuDoubleComplex *x, int incx) __asm__("cublasZscal");

static void *thread(void *arg) {
	(void)arg;
	int n = 0;
	EXPECT(cuDeviceGetCount(&n) == CUDA_SUCCESS, 1);
	return NULL;
}

// A function with a frame of its own whose stack is where the ABI says.
__attribute__((noinline)) static int aligned(void) {
	volatile long double x __attribute__((aligned(16))) = 1;
	return ((size_t)&x & 15) == 0;
}

int main(void) {
	int v = 0;
	errno = 77;
	EXPECT(cuInit(0) == CUDA_SUCCESS, 1);
	EXPECT(errno == 77, 1);
	EXPECT(cuDriverGetVersion(&v) == CUDA_SUCCESS && v > 0, 1);
	EXPECT(cuDeviceGetName(NULL, 0, 99) == CUDA_ERROR_INVALID_DEVICE, 1);
	EXPECT(aligned(), 1);

	// Eleven arguments, five of them on the stack: no such function.
	EXPECT(cuLaunchKernel((CUfunction)0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, (CUstream)0x99, (void **)0xaa, (void **)0xbb) != CUDA_SUCCESS, 1);

	// A structure that is returned in memory, and one in registers.
	struct cudaChannelFormatDesc d = cudaCreateChannelDesc(8, 16, 24, 32, cudaChannelFormatKindFloat);
	EXPECT(d.x == 8 && d.y == 16 && d.z == 24 && d.w == 32 && d.f == cudaChannelFormatKindFloat, 1);
	EXPECT(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0, 1);

	// Structures by value: in registers, then, when these are used up, on the stack.
	dim3 grid = {1, 2, 3}, block = {4, 5, 6};
	EXPECT(cudaLaunchKernel((void *)0x12345, grid, block, NULL, 7, NULL) != cudaSuccess, 1);
	struct cudaPitchedPtr p = {(void *)0x1000, 64, 32, 16};
	struct cudaExtent e = {0, 8, 9};
	cudaMemset3D(p, 0x5a, e);

	// Floats, in their own registers.
	cublasSgeam(NULL, CUBLAS_OP_N, CUBLAS_OP_T, 1, 2, NULL, NULL, 3, NULL, NULL, 4, NULL, 5);
	rotate(-10, (float *)0x10, 1, (float *)0x20, 2, 0.5f, -2);
	scale(-7, (cuDoubleComplex){1.5, 2.5}, (cuDoubleComplex *)0x30, 3);
	cudaGetLastError();

	pthread_t id;
	EXPECT(pthread_create(&id, NULL, thread, NULL) == 0 && pthread_join(id, NULL) == 0, 1);
	return finish();
}
