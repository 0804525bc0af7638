// Kernels that go wrong: app_faults KERNEL ADDRESS. The context is lost and says so from then on; a context that was there
// before, a new one, and the primary one after a reset all work.
#include "app.h"

int main(int argc, char **argv) {
	if (argc < 3) return 2;
	App primary, bad, other;
	OK(app_start(&primary));
	other = bad = primary;
	OK(cuCtxCreate(&other.ctx, 0, 0, primary.dev));
	OK(cuModuleLoadData(&other.mod, app_ptx));
	if (!strcmp(argv[argc - 1], "primary")) {
		OK(cuCtxSetCurrent(primary.ctx));
	} else {
		OK(cuCtxCreate(&bad.ctx, 0, 0, primary.dev));
		OK(cuModuleLoadData(&bad.mod, app_ptx));
	}
	OK(app_works(&bad));
	CUfunction faulty = app_kernel(&bad, argv[1]), fill = app_kernel(&bad, "fill");

	CUdeviceptr p = strtoull(argv[2], 0, 0), mine = 0, q = 0;
	unsigned who = 77, word = 0; // block 2, thread 13 of 32
	void *args[] = {&p, &who};
	OK(cuMemAlloc(&mine, 64));
	CUstream s = 0;
	CUevent ev = 0;
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&ev, 0));
	OK(cuLaunchKernel(faulty, 4, 1, 1, 32, 1, 1, 0, s, args, 0));
	int code = cuStreamSynchronize(s);
	printf("code %d\n", code);
	if (!code) return 1;
	// Every call of that context answers it.
	EXPECT(cuCtxSynchronize(), code);
	EXPECT(cuStreamSynchronize(s), code);
	EXPECT(cuStreamQuery(s), code);
	EXPECT(cuMemAlloc(&q, 16), code);
	EXPECT(cuMemcpyDtoH(&word, mine, 4), code);
	EXPECT(cuMemcpyHtoD(mine, &word, 4), code);
	EXPECT(cuMemsetD32(mine, 0, 1), code);
	EXPECT(cuEventRecord(ev, s), code);
	EXPECT(cuEventSynchronize(ev), code);
	void *fill_args[] = {&mine, &word, &word};
	EXPECT(cuLaunchKernel(fill, 1, 1, 1, 16, 1, 1, 0, 0, fill_args, 0), code);
	EXPECT(cuLaunchKernel(fill, 1, 1, 1, 16, 1, 1, 0, s, fill_args, 0), code);
	EXPECT(cuCtxSynchronize(), code); // still
	int n = 0;
	OK(cuDeviceGetCount(&n)); // needs no context

	OK(cuCtxSetCurrent(other.ctx)); // one that was there before
	OK(app_works(&other));
	if (bad.ctx == primary.ctx) {
		OK(cuDevicePrimaryCtxReset(primary.dev));
		OK(cuDevicePrimaryCtxRetain(&bad.ctx, primary.dev));
		OK(cuCtxSetCurrent(bad.ctx));
	} else {
		OK(cuCtxDestroy(bad.ctx));
		OK(cuCtxSetCurrent(primary.ctx));
		OK(app_works(&primary));
		OK(cuCtxCreate(&bad.ctx, 0, 0, primary.dev));
	}
	OK(cuModuleLoadData(&bad.mod, app_ptx));
	OK(app_works(&bad));
	return finish();
}
