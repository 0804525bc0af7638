// Functions that a stream calls may not use CUDA: what they try is refused and does not wait for ever.
#include <cuda.h>
#include <unistd.h>

#include "abi_check.h"

static CUcontext context;
static CUstream stream;
static CUdeviceptr memory;
static int called;

static void use(void *refused) {
	int n = 0, want = *(int *)refused;
	EXPECT(cuCtxSetCurrent(context), want);
	EXPECT(cuStreamSynchronize(stream), want);
	EXPECT(cuMemFree_v2(memory), want);
	EXPECT(cuCtxSynchronize(), want);
	EXPECT(cuDriverGetVersion(&n), 0);
	called++;
}

static void CUDA_CB later(CUstream s, CUresult status, void *refused) {
	EXPECT(s == stream, 1);
	EXPECT(status, 0);
	use(refused);
}

int main(void) {
	int refused = CUDA_ERROR_NOT_PERMITTED;
	CUdevice device;
	alarm(60); // a deadlock ends here
	EXPECT(cuInit(0), 0);
	EXPECT(cuDeviceGet(&device, 0), 0);
	EXPECT(cuCtxCreate_v2(&context, 0, device), 0);
	EXPECT(cuStreamCreate(&stream, 0), 0);
	EXPECT(cuMemAlloc_v2(&memory, 100), 0);
	EXPECT(cuLaunchHostFunc(stream, use, &refused), 0);
	EXPECT(cuStreamAddCallback(stream, later, &refused, 0), 0);
	EXPECT(cuStreamSynchronize(stream), 0);
	EXPECT(called, 2);
	EXPECT(cuMemFree_v2(memory), 0);
	return finish();
}
