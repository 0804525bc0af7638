// The variants for the per-thread default stream see NULL as that stream.
#define KUDZU_NO_RENAME
#include <cuda.h>
#include <pthread.h>

#include "abi_check.h"

static unsigned long long id_of(CUresult (*get)(CUstream, unsigned long long *), CUstream s) {
	unsigned long long id = 0;
	EXPECT(get(s, &id), CUDA_SUCCESS);
	return id;
}

int main(void) {
	CUdevice dev;
	CUcontext ctx = NULL;
	EXPECT(cuInit(0), 0);
	EXPECT(cuDeviceGet(&dev, 0), 0);
	EXPECT(cuDevicePrimaryCtxRetain(&ctx, dev), 0);
	EXPECT(cuCtxSetCurrent(ctx), 0);
	unsigned long long legacy = id_of(cuStreamGetId, CU_STREAM_LEGACY), own = id_of(cuStreamGetId, CU_STREAM_PER_THREAD);
	EXPECT(legacy != own, 1);
	EXPECT(id_of(cuStreamGetId, NULL), legacy);
	EXPECT(id_of(cuStreamGetId_ptsz, NULL), own);
	EXPECT(id_of(cuStreamGetId_ptsz, CU_STREAM_LEGACY), legacy);
	EXPECT(id_of(cuStreamGetId_ptsz, CU_STREAM_PER_THREAD), own);
	return finish();
}
