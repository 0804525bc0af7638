// Values that are no handles, pointers that point nowhere: an error, never a crash.
#include <cuda.h>
#include <stdint.h>

#include "abi_check.h"

static uint64_t state = 88172645463325252ull;

static void *any(int i) {
	static const uint64_t nasty[] = {1, 2, 3, 8, 0xfff, 0x7fffffffffff, 0x8000000000000000, ~0ull, ~0ull - 15, 0x4b00000000000000, 0x4b04000000000010};
	if (i < (int)(sizeof nasty / sizeof *nasty))
		return (void *)nasty[i];
	state ^= state << 13, state ^= state >> 7, state ^= state << 17;
	return (void *)state;
}

// FAILS counts an answer of success as a failure.
#define FAILS(call)                                        \
	do {                                                   \
		if ((call) == CUDA_SUCCESS) {                      \
			printf("%s succeeded for %p\n", #call, bad);   \
			failures++;                                    \
		}                                                  \
	} while (0)

int main(void) {
	EXPECT(cuInit(0), 0);
	CUdevice dev;
	CUcontext ctx = NULL;
	EXPECT(cuDeviceGet(&dev, 0), 0);
	EXPECT(cuDevicePrimaryCtxRetain(&ctx, dev), 0);
	EXPECT(cuCtxSetCurrent(ctx), 0);
	for (int i = 0; i < 200; i++) {
		void *bad = any(i);
		CUfunction f;
		CUdeviceptr p;
		size_t n;
		float ms;
		int v;
		FAILS(cuModuleGetFunction(&f, bad, "k"));
		FAILS(cuModuleGetGlobal(&p, &n, bad, "v"));
		FAILS(cuModuleUnload(bad));
		FAILS(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_NUM_REGS, bad));
		FAILS(cuLaunchKernel(bad, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
		FAILS(cuEventQuery(bad));
		FAILS(cuEventRecord(bad, NULL));
		FAILS(cuEventDestroy(bad));
		FAILS(cuEventElapsedTime(&ms, bad, bad));
		FAILS(cuCtxSetCurrent(bad));
		FAILS(cuCtxPushCurrent(bad));
		FAILS(cuCtxDestroy(bad));
		FAILS(cuMemFree((CUdeviceptr)bad));
		if ((uintptr_t)bad > 2) {
			FAILS(cuStreamQuery(bad));
			FAILS(cuStreamSynchronize(bad));
		}
		FAILS(cuStreamDestroy(bad));
		FAILS(cuDeviceGetName((char *)8, 64, dev)); // an address nobody has
	}
	void *bad = NULL;
	CUfunction f;
	FAILS(cuModuleGetFunction(&f, NULL, "k"));
	FAILS(cuModuleGetFunction(NULL, NULL, "k"));
	FAILS(cuModuleUnload(NULL));
	FAILS(cuEventQuery(NULL));
	FAILS(cuCtxDestroy(NULL));
	FAILS(cuDeviceGetCount(NULL));
	FAILS(cuDeviceGetCount((int *)8));
	FAILS(cuModuleLoad((CUmodule *)&bad, NULL));
	FAILS(cuModuleLoadData((CUmodule *)&bad, NULL));
	FAILS(cuModuleLoadData((CUmodule *)&bad, (void *)16));
	EXPECT(cuDevicePrimaryCtxRelease(dev), 0);
	return finish();
}
