// A program on devices of several kinds: what it sees of each, and work on the first. Prints one line a step.
#include "app.h"

struct seen {
	const volatile uint32_t *h;
	int called, early;
};

static void CUDA_CB at_host(void *p) {
	struct seen *s = p;
	s->called++;
	s->early += s->h[0] == 0;
}

static int work(CUdevice d) {
	enum { n = 1000 };
	CUcontext c;
	CUmodule m;
	CUfunction fill, twice;
	CUstream s, t;
	CUevent a, b;
	CUdeviceptr p, q;
	uint32_t *h, out[n], count = n, first = 5;
	struct seen seen = {0};
	float ms = -1;
	OK(cuCtxCreate(&c, 0, 0, d));
	OK(cuModuleLoadData(&m, app_ptx));
	OK(cuModuleGetFunction(&fill, m, "fill"));
	OK(cuModuleGetFunction(&twice, m, "twice"));
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreateWithPriority(&t, CU_STREAM_NON_BLOCKING, -1));
	OK(cuEventCreate(&a, 0));
	OK(cuEventCreate(&b, 0));
	OK(cuMemAlloc(&p, 4 * n));
	OK(cuMemAllocManaged(&q, 4 * n, CU_MEM_ATTACH_GLOBAL));
	OK(cuMemHostAlloc((void **)&h, 4 * n, 0));
	h[0] = 0;
	seen.h = h;
	OK(cuEventRecord(a, s));
	OK(cuMemsetD32Async(p, 0xffffffff, n, s));
	void *args[] = {&p, &count, &first}, *args2[] = {&q, &count};
	OK(cuLaunchKernel(fill, (n + 127) / 128, 1, 1, 128, 1, 1, 0, s, args, 0));
	OK(cuMemcpyDtoHAsync(h, p, 4 * n, s));
	OK(cuLaunchHostFunc(s, at_host, &seen));
	OK(cuEventRecord(b, s));
	OK(cuStreamWaitEvent(t, b, 0));
	OK(cuMemcpyAsync(q, p, 4 * n, t));
	OK(cuLaunchKernel(twice, (n + 63) / 64, 1, 1, 64, 1, 1, 0, t, args2, 0));
	OK(cuStreamSynchronize(t));
	OK(cuEventElapsedTime(&ms, a, b));
	OK(cuMemcpyDtoH(out, q, 4 * n));
	int bad = 0;
	for (uint32_t i = 0; i < n; i++) bad += h[i] != first + i || out[i] != 2 * (first + i) || ((uint32_t *)q)[i] != out[i];
	if (seen.early) printf("the host function was called before the copy was done\n");
	printf("%d wrong, host function called %d times, %s\n", bad, seen.called, ms >= 0 && ms < 60000 ? "time passed" : "no time");
	OK(cuMemFree(p));
	OK(cuMemFree(q));
	OK(cuMemFreeHost(h));
	OK(cuEventDestroy(a));
	OK(cuEventDestroy(b));
	OK(cuStreamDestroy(s));
	OK(cuStreamDestroy(t));
	OK(cuModuleUnload(m));
	OK(cuCtxDestroy(c));
	return bad;
}

int main(int argc, char **argv) {
	if (argc > 1) { // the PTX, for whoever runs our kernels
		FILE *f = fopen(argv[1], "w");
		fputs(app_ptx, f);
		fclose(f);
	}
	int e = cuInit(0), n = 0;
	printf("init %d\n", e);
	if (e) return 0;
	OK(cuDeviceGetCount(&n));
	for (int i = 0; i < n; i++) {
		char name[256];
		int warp, shared;
		OK(cuDeviceGetName(name, sizeof name, i));
		OK(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, i));
		OK(cuDeviceGetAttribute(&shared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, i));
		printf("%d: %s, warps of %d, %d bytes\n", i, strncmp(name, "Kudzu CPU", 9) ? name : "Kudzu CPU", warp, shared);
	}
	for (int i = 0; i < n; i++) work(i);
	return 0;
}
