// Arguments that lead to memory, as a trace must show them, and addresses that lead nowhere.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "abi_check.h"

static const char ptx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry kernel(.param .u64 p, .param .u16 h, .param .u32 n, .param .align 4 .b8 s[12]) {\n\tret;\n}\n";

#define PTX_SM 50
#include "fatbin_text.h"

static void stub(void) {}

struct s {
	int a, b, c;
};

int main(void) {
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUfunction f;
	EXPECT(cuInit(0), 0);
	EXPECT(cuDeviceGet(&device, 0), 0);
	EXPECT(cuCtxCreate_v2(&context, 0, device), 0);
	CUjit_option options[] = {CU_JIT_MAX_REGISTERS, CU_JIT_OPTIMIZATION_LEVEL};
	void *values[] = {(void *)32, (void *)4};
	EXPECT(cuModuleLoadDataEx(&module, ptx, 2, options, values), 0);
	EXPECT(cuModuleGetFunction(&f, module, "kernel"), 0);
	EXPECT(cuModuleGetFunction(&f, module, "none"), CUDA_ERROR_NOT_FOUND);
	EXPECT(cuModuleGetFunction(&f, module, "kernel"), 0);

	// Parameters on the stack, elsewhere, in one piece, and nowhere.
	unsigned long long p = 0x1122334455667788;
	unsigned short h = 0xaabb;
	static unsigned n = 0xdeadbeef;
	struct s *s = malloc(sizeof *s);
	*s = (struct s){1, 2, 3};
	void *args[] = {&p, &h, &n, s};
	EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0), 0);
	void **far = malloc(sizeof args);
	memcpy(far, args, sizeof args);
	EXPECT(cuLaunchKernel(f, 2, 1, 1, 1, 1, 1, 0, 0, far, 0), 0);
	struct {
		unsigned long long p;
		unsigned short h;
		unsigned n;
		struct s s;
	} packed = {p, h, n, {4, 5, 6}};
	size_t size = 28;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
	EXPECT(cuLaunchKernel(f, 3, 1, 1, 1, 1, 1, 0, 0, 0, extra), 0);
	CUlaunchConfig config = {.gridDimX = 4, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1};
	EXPECT(cuLaunchKernelEx(&config, f, args, 0), 0);
	args[2] = (void *)16;
	EXPECT(cuLaunchKernel(f, 5, 1, 1, 1, 1, 1, 0, 0, args, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuLaunchKernel(f, 6, 1, 1, 1, 1, 1, 0, 0, (void **)32, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuModuleLoadData(&module, (void *)48), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuModuleGetFunction(&f, module, (char *)64), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpy2D((CUDA_MEMCPY2D *)80), CUDA_ERROR_INVALID_VALUE);

	// A text that ends where memory does.
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 4096, 4096);
	strcpy(page + 4096 - 7, "kernel");
	EXPECT(cuModuleGetFunction(&f, module, page + 4096 - 7), 0);

	// The runtime API.
	memcpy(fatbin.text, ptx, sizeof ptx);
	void **handle = __cudaRegisterFatBinary((void *)&wrapper);
	static char others[10000];
	for (size_t i = 0; i < sizeof others; i++) // PyTorch has more
		__cudaRegisterFunction(handle, &others[i], (char *)"kernel", "kernel", -1, 0, 0, 0, 0, 0);
	__cudaRegisterFunction(handle, (const char *)stub, (char *)"kernel", "kernel", -1, 0, 0, 0, 0, 0);
	dim3 one = {1, 1, 1};
	args[2] = &n;
	EXPECT(cudaLaunchKernel((void *)stub, one, one, args, 0, 0), 0);
	EXPECT(cudaLaunchKernel((void *)main, one, one, args, 0, 0), cudaErrorInvalidResourceHandle);
	EXPECT(cudaGetLastError(), cudaErrorInvalidResourceHandle);
	EXPECT(cudaGetLastError(), 0);
	void *memory;
	EXPECT(cudaMalloc(&memory, 100), 0);
	char name[64];
	EXPECT(cuDeviceGetName(name, sizeof name, device), 0);
	EXPECT(cuCtxSynchronize(), 0);

	// Answers that are not there: of no nodes any address will do, and pointers may be NULL.
	CUgraph graph;
	size_t none = 0, *total = malloc(sizeof *total);
	EXPECT(cuGraphCreate(&graph, 0), 0);
	EXPECT(cuGraphGetNodes(graph, (CUgraphNode *)8, &none), 0);
	EXPECT(cuMemGetAddressRange(NULL, total, (CUdeviceptr)memory), 0);
	return finish();
}
