// Threads that use their default stream and end leave nothing behind, not even the work they did not wait for.
#include <cuda.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "abi_check.h"

enum { WARM = 500, THREADS = 3000, ROUNDS = 4 };

static CUcontext context;
static CUdeviceptr memory;

static void *work(void *wait) {
	int bad = cuCtxSetCurrent(context);
	bad |= cuMemsetD32Async(memory, 7, 256, CU_STREAM_PER_THREAD);
	if (wait)
		bad |= cuStreamSynchronize(CU_STREAM_PER_THREAD);
	return bad ? wait : NULL;
}

static void run(int n) {
	for (int i = 0; i < n; i++) {
		pthread_t t;
		void *bad = NULL;
		EXPECT(pthread_create(&t, NULL, work, i % 4 ? &failures : NULL), 0);
		pthread_join(t, &bad);
		EXPECT(bad == NULL, 1);
	}
}

static long resident(void) {
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (!f || fscanf(f, "%*s %ld", &pages) != 1)
		puts("no statm");
	if (f)
		fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

int main(void) {
	CUdevice device;
	EXPECT(cuInit(0), 0);
	EXPECT(cuDeviceGet(&device, 0), 0);
	EXPECT(cuCtxCreate_v2(&context, 0, device), 0);
	EXPECT(cuMemAlloc_v2(&memory, 1024), 0);
	run(WARM);
	// What threads leave behind is there after every round; a collector that comes late is not.
	long grown = 0;
	for (int i = 0; i < ROUNDS; i++) {
		long before = resident();
		run(THREADS);
		grown = resident() - before;
		if (grown <= 5 << 19) break;
	}
	if (grown > 5 << 19)
		printf("%d threads took %ld KiB, %d times\n", THREADS, grown >> 10, ROUNDS), failures++;
	EXPECT(cuCtxSynchronize(), 0);
	return finish();
}
