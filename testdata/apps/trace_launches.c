// Launches in a row, which need no Go after the first, with parameters on the heap: each must be recorded with its own.
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

static const char ptx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry kernel(.param .u64 p, .param .u16 h, .param .u32 n) {\n\tret;\n}\n";

static void check(int code, const char *what) {
	if (code) {
		printf("%s: %d\n", what, code);
		exit(1);
	}
}
#define CHECK(call) check((int)(call), #call)

int main(void) {
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUfunction f;
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&f, module, "kernel"));
	unsigned long long *p = malloc(sizeof *p);
	unsigned short *h = malloc(sizeof *h);
	unsigned *n = malloc(sizeof *n);
	void **args = malloc(3 * sizeof *args);
	args[0] = p, args[1] = h, args[2] = n;
	for (unsigned i = 0; i < 5000; i++) {
		*p = 0x1122334400000000 + i, *h = (unsigned short)i, *n = ~i;
		CHECK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
	}
	args[1] = (void *)16;
	if (cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0) != CUDA_ERROR_INVALID_VALUE)
		return 1;
	CHECK(cuCtxSynchronize());
	puts("ok");
	return 0;
}
