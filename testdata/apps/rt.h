// What the rt_ programs share: the registration that nvcc writes into every program, by hand, and the stubs that a
// <<<...>>> launch calls. The test makes the container rt_kernels from rt_kernels.ptx.
#ifndef RT_H
#define RT_H

#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

#include "abi_check.h"

extern const char rt_kernels[]; // the fatbin container

static const struct {
	int magic, version;
	const void *data;
	void *extra;
} wrapper __attribute__((section(".nvFatBinSegment"), aligned(8))) = {0x466243b1, 1, rt_kernels, 0};

static void **fatbin;

// launch is the end of a stub: the configuration that the caller pushed, and the launch.
static cudaError_t launch(const void *stub, void **args) {
	dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
	if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream))
		return cudaErrorUnknown;
#if CUDART_VERSION >= 13000
	cudaKernel_t kernel;
	cudaError_t rc = __cudaGetKernel(&kernel, stub);
	return rc ? rc : __cudaLaunchKernel(kernel, grid, block, args, shared, stream);
#else
	return cudaLaunchKernel(stub, grid, block, args, shared, stream);
#endif
}

struct big {
	long long a;
	char b;
	int c[10];
};

// The stubs: their addresses name the kernels. noipa, so that none is merged with another.
#define STUB __attribute__((noipa, unused)) static cudaError_t
STUB axpy(int n, float a, const float *x, const float *y, float *out) {
	void *args[] = {&n, &a, &x, &y, &out};
	return launch((const void *)axpy, args);
}
STUB sum(const int *in, int *out) {
	void *args[] = {&in, &out};
	return launch((const void *)sum, args);
}
STUB mix(char c, struct big s, double d, int *out) {
	void *args[] = {&c, &s, &d, &out};
	return launch((const void *)mix, args);
}
STUB spin(int *out, int times) {
	void *args[] = {&out, &times};
	return launch((const void *)spin, args);
}
STUB trap(void) { return launch((const void *)trap, 0); }
STUB wild(int *p) {
	void *args[] = {&p};
	return launch((const void *)wild, args);
}
STUB narrow(int *out) {
	void *args[] = {&out};
	return launch((const void *)narrow, args);
}

// CONFIG(grid, block, shared, stream) stands where <<<...>>> does.
static inline dim3 d3(unsigned x, unsigned y, unsigned z) {
	dim3 d = {x, y, z};
	return d;
}
#define CONFIG(g, b, s, st) __cudaPushCallConfiguration(d3(g, 1, 1), d3(b, 1, 1), s, st)
#define LAUNCH(g, b, s, st, call) (CONFIG(g, b, s, st) ? cudaErrorLaunchFailure : (call))

// The shadows of device variables: only their addresses count. A managed one is a pointer that the runtime sets.
static int counter, table[16];
static float weights[4];
static int *both;

static char managed_ready;
static inline int *managed_both(void) {
	if (!managed_ready)
		managed_ready = __cudaInitModule(fatbin);
	return both;
}

__attribute__((unused)) static void unregister(void) { __cudaUnregisterFatBinary(fatbin); }

__attribute__((constructor)) static void registers(void) {
	fatbin = __cudaRegisterFatBinary((void *)&wrapper);
	static const struct {
		const void *stub;
		const char *name;
	} kernels[] = {{axpy, "axpy"}, {sum, "sum"}, {mix, "mix"}, {spin, "spin"}, {trap, "trap"}, {wild, "wild"}, {narrow, "narrow"}};
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
		__cudaRegisterFunction(fatbin, kernels[i].stub, (char *)kernels[i].name, kernels[i].name, -1, 0, 0, 0, 0, 0);
	__cudaRegisterVar(fatbin, (char *)&counter, "counter", "counter", 0, sizeof counter, 0, 0);
	__cudaRegisterVar(fatbin, (char *)table, "table", "table", 0, sizeof table, 0, 0);
	__cudaRegisterVar(fatbin, (char *)weights, "weights", "weights", 0, sizeof weights, 1, 0);
	__cudaRegisterManagedVar(fatbin, (void **)&both, "both", "both", 0, sizeof(int), 0, 0);
	__cudaRegisterFatBinaryEnd(fatbin);
#ifndef PLUGIN
	atexit(unregister);
#endif
}

#define OK(call) EXPECT(call, cudaSuccess)

#endif
