// The runtime library's C part, without the Go image: registration in constructors, launch
// configuration, error texts, and functions nobody implements.
#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

#include "abi_check.h"

int __cudaRegisterUnifiedTable(void); // its signature is not public, so nobody implements it

static void **fatbin;
static const void *wrapper[3];
static char kernel, variable;

__attribute__((constructor)) static void registers(void) {
	fatbin = __cudaRegisterFatBinary(wrapper);
	for (int i = 0; i < 1000; i++)
		__cudaRegisterFunction(fatbin, &kernel, &kernel, "kernel", -1, 0, 0, 0, 0, 0);
	__cudaRegisterVar(fatbin, &variable, &variable, "variable", 0, 1, 0, 0);
	__cudaRegisterFatBinaryEnd(fatbin);
}

// loaded reports whether the Go image is in this process.
static int loaded(void) {
	char line[4096];
	int found = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof line, maps))
		found |= strstr(line, "/libkudzu.so") != NULL;
	if (maps)
		fclose(maps);
	return found;
}

int main(void) {
	EXPECT(fatbin != NULL, 1);
	EXPECT(*fatbin == (void *)wrapper, 1);

	dim3 grid = {1, 2, 3}, block = {4, 5, 6}, g, b;
	size_t shared;
	cudaStream_t stream;
	EXPECT(__cudaPushCallConfiguration(grid, block, 76, 0), 0);
	EXPECT(__cudaPopCallConfiguration(&g, &b, 0, &stream), cudaErrorInvalidValue);
	EXPECT(__cudaPopCallConfiguration(&g, &b, &shared, &stream), 0);
	EXPECT(__cudaPopCallConfiguration(&g, &b, &shared, &stream), cudaErrorMissingConfiguration);
	EXPECT(__cudaPushCallConfiguration(grid, block, 77, cudaStreamPerThread), 0);
	EXPECT(__cudaPopCallConfiguration(&g, &b, &shared, &stream), 0);
	EXPECT(g.z == 3 && b.x == 4 && shared == 77 && stream == cudaStreamPerThread, 1);

	EXPECT(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue"), 0);
	EXPECT(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory"), 0);
	EXPECT(strcmp(cudaGetErrorString((cudaError_t)123456), "unrecognized error code"), 0);
	struct cudaChannelFormatDesc d = cudaCreateChannelDesc(1, 2, 3, 4, cudaChannelFormatKindFloat);
	EXPECT(d.x == 1 && d.w == 4 && d.f == cudaChannelFormatKindFloat, 1);
	int v = 0;
	EXPECT(cudaRuntimeGetVersion(&v), 0);
	EXPECT(v / 1000, CUDART_VERSION / 1000);

	// A failure is remembered until it is asked for.
	EXPECT(cudaPeekAtLastError(), cudaErrorMissingConfiguration);
	EXPECT(cudaGetLastError(), cudaErrorMissingConfiguration);
	EXPECT(cudaGetLastError(), 0);
	void *fn = (void *)1;
	cudaDriverEntryPointQueryResult found;
	EXPECT(cudaGetDriverEntryPointByVersion("cuMemAlloc", &fn, 12000, cudaEnableDefault, &found), 0);
	EXPECT(found == cudaDriverEntryPointSuccess && fn, 1);
	EXPECT(cudaGetDriverEntryPointByVersion("cuNothing", &fn, 12000, cudaEnableDefault, &found), 0);
	EXPECT(found == cudaDriverEntryPointSymbolNotFound && !fn, 1);

	// What nobody implements says so, without starting anything.
	EXPECT(__cudaRegisterUnifiedTable(), cudaErrorNotSupported);
	EXPECT(__cudaRegisterUnifiedTable(), cudaErrorNotSupported);
	EXPECT(cudaGetLastError(), cudaErrorNotSupported);
	EXPECT(loaded(), 0);
	__cudaUnregisterFatBinary(fatbin);
	return finish();
}
