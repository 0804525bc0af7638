// Many kernels with many parameters: each launch must be recorded with its own.
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 2600, PARAMETERS = 1000 };

static void check(int code, const char *what) {
	if (code) {
		printf("%s: %d\n", what, code);
		exit(1);
	}
}
#define CHECK(call) check((int)(call), #call)

static char ptx[PARAMETERS * 24 + 200];

int main(void) {
	CUdevice device;
	CUcontext context;
	char *p = ptx + sprintf(ptx, ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry kernel(");
	for (int i = 0; i < PARAMETERS; i++)
		p += sprintf(p, "%s.param .u32 p%d", i ? ", " : "", i);
	strcpy(p, ") {\n\tret;\n}\n");
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	unsigned *values = calloc(PARAMETERS, sizeof *values);
	void **args = malloc(PARAMETERS * sizeof *args);
	for (int i = 0; i < PARAMETERS; i++)
		args[i] = &values[i];
	for (unsigned i = 0; i < KERNELS; i++) {
		CUmodule module;
		CUfunction f;
		CHECK(cuModuleLoadData(&module, ptx));
		CHECK(cuModuleGetFunction(&f, module, "kernel"));
		values[0] = i;
		CHECK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
	}
	CHECK(cuCtxSynchronize());
	puts("ok");
	return 0;
}
