// A small program of both APIs, for traces in front of NVIDIA's driver and of Kudzu: every call must be answered, and the sums be right.
// It needs no runtime library to be there: trace_gpu uses the one that trace_gpu FILE names.
#define KUDZU_NO_RENAME
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi_check.h"

enum { N = 1 << 16 };

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry axpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n) {\n"
    "\t.reg .u64 %x, %y, %o; .reg .u32 %i, %n, %t, %b; .reg .f32 %a, %u, %v; .reg .pred %p;\n"
    "\tld.param.u64 %x, [x];\n\tld.param.u64 %y, [y];\n\tld.param.f32 %a, [a];\n\tld.param.u32 %n, [n];\n"
    "\tmov.u32 %t, %tid.x;\n\tmov.u32 %b, %ctaid.x;\n\tmov.u32 %i, %ntid.x;\n\tmad.lo.u32 %i, %b, %i, %t;\n"
    "\tsetp.ge.u32 %p, %i, %n;\n\t@%p ret;\n\tmul.wide.u32 %o, %i, 4;\n\tadd.u64 %x, %x, %o;\n\tadd.u64 %y, %y, %o;\n"
    "\tld.global.f32 %u, [%x];\n\tld.global.f32 %v, [%y];\n\tfma.rn.f32 %v, %a, %u, %v;\n\tst.global.f32 [%y], %v;\n\tret;\n}\n";

#define PTX_SM 70
#include "fatbin_text.h"

static float x[N], y[N];

static void fill(void) {
	for (int i = 0; i < N; i++)
		x[i] = (float)i, y[i] = 1;
}

static int right(void) {
	for (int i = 0; i < N; i++)
		if (y[i] != 2 * (float)i + 1)
			return 0;
	return 1;
}

static void hello(void *data) { ++*(int *)data; }

static void driver(void) {
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUfunction f;
	CUdeviceptr dx, dy;
	CUstream stream;
	CUevent begin, end;
	int called = 0;
	float ms = -1, a = 2;
	unsigned n = N;
	char name[100];
	EXPECT(cuInit(0), 0);
	EXPECT(cuDeviceGet(&device, 0), 0);
	EXPECT(cuDeviceGetName(name, sizeof name, device), 0);
	EXPECT(cuDevicePrimaryCtxRetain(&context, device), 0);
	EXPECT(cuCtxSetCurrent(context), 0);
	EXPECT(cuModuleLoadData(&module, ptx), 0);
	EXPECT(cuModuleGetFunction(&f, module, "axpy"), 0);
	EXPECT(cuModuleGetFunction(&f, module, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
	EXPECT(cuModuleGetFunction(&f, module, "axpy"), 0);
	EXPECT(cuMemAlloc_v2(&dx, sizeof x), 0);
	EXPECT(cuMemAlloc_v2(&dy, sizeof y), 0);
	EXPECT(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), 0);
	EXPECT(cuEventCreate(&begin, 0), 0);
	EXPECT(cuEventCreate(&end, 0), 0);
	fill();
	EXPECT(cuMemcpyHtoDAsync_v2(dx, x, sizeof x, stream), 0);
	EXPECT(cuMemcpyHtoDAsync_v2(dy, y, sizeof y, stream), 0);
	EXPECT(cuEventRecord(begin, stream), 0);
	void *args[] = {&dx, &dy, &a, &n};
	EXPECT(cuLaunchKernel(f, N / 256, 1, 1, 256, 1, 1, 0, stream, args, NULL), 0);
	EXPECT(cuEventRecord(end, stream), 0);
	EXPECT(cuMemcpyDtoHAsync_v2(y, dy, sizeof y, stream), 0);
	EXPECT(cuLaunchHostFunc(stream, hello, &called), 0);
	EXPECT(cuStreamSynchronize(stream), 0);
	EXPECT(called, 1);
	EXPECT(cuEventElapsedTime(&ms, begin, end), 0);
	EXPECT(right(), 1);
	CUresult (*version)(int *) = NULL;
	int v = 0;
	EXPECT(cuGetProcAddress_v2("cuDriverGetVersion", (void **)&version, 12000, 0, NULL), 0);
	EXPECT(version && !version(&v) && v >= 12000, 1);
	EXPECT(cuMemFree_v2(dx), 0);
	EXPECT(cuMemFree_v2(dy), 0);
	EXPECT(cuEventDestroy_v2(begin), 0);
	EXPECT(cuEventDestroy_v2(end), 0);
	EXPECT(cuStreamDestroy_v2(stream), 0);
	EXPECT(cuModuleUnload(module), 0);
}

static void stub(void) {}

#define FIND(name) __typeof__(&name) p_##name = (__typeof__(&name))dlsym(library, #name)

static void runtime(const char *file) {
	void *library = dlopen(file, RTLD_NOW);
	if (!library) {
		printf("%s\n", dlerror());
		failures++;
		return;
	}
	FIND(__cudaRegisterFatBinary);
	FIND(__cudaRegisterFatBinaryEnd);
	FIND(__cudaRegisterFunction);
	FIND(cudaMalloc);
	FIND(cudaMemcpy);
	FIND(cudaLaunchKernel);
	FIND(cudaDeviceSynchronize);
	FIND(cudaFree);
	FIND(cudaGetLastError);
	FIND(cudaRuntimeGetVersion);
	memcpy(fatbin.text, ptx, sizeof ptx);
	void **handle = p___cudaRegisterFatBinary((void *)&wrapper);
	p___cudaRegisterFunction(handle, (const char *)stub, (char *)"axpy", "axpy", -1, 0, 0, 0, 0, 0);
	p___cudaRegisterFatBinaryEnd(handle);
	void *dx, *dy;
	int v = 0;
	float a = 2;
	unsigned n = N;
	EXPECT(p_cudaRuntimeGetVersion(&v), 0);
	EXPECT(p_cudaMalloc(&dx, sizeof x), 0);
	EXPECT(p_cudaMalloc(&dy, sizeof y), 0);
	fill();
	EXPECT(p_cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice), 0);
	EXPECT(p_cudaMemcpy(dy, y, sizeof y, cudaMemcpyHostToDevice), 0);
	void *args[] = {&dx, &dy, &a, &n};
	dim3 grid = {N / 256, 1, 1}, block = {256, 1, 1};
	EXPECT(p_cudaLaunchKernel((void *)stub, grid, block, args, 0, 0), 0);
	EXPECT(p_cudaDeviceSynchronize(), 0);
	EXPECT(p_cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost), 0);
	EXPECT(right(), 1);
	EXPECT(p_cudaGetLastError(), 0);
	EXPECT(p_cudaFree(dx), 0);
	EXPECT(p_cudaFree(dy), 0);
}

int main(int argc, char **argv) {
	driver();
	if (argc > 1)
		runtime(argv[1]);
	return finish();
}
