// Many threads, streams and mixed operations: app_stress threads SECONDS | launches N | allocs N.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "app.h"

static App app;
static double until;
static atomic_long done, wrong;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static long resident(void) { // KB
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (!f || fscanf(f, "%*d %ld", &pages) != 1) return -1;
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

#define MUST(call)                                                    \
	do {                                                              \
		int e_ = (call);                                              \
		if (e_) {                                                     \
			printf("%s: %d\n", #call, e_);                            \
			atomic_fetch_add(&wrong, 1);                              \
			return 0;                                                 \
		}                                                             \
	} while (0)

static void note(void *p) { ++*(int *)p; }

// mixed does everything at once on three streams, and checks what comes out.
static void *mixed(void *arg) {
	unsigned seed = (unsigned)(uintptr_t)arg * 2654435761u + 1;
	enum { N = 500 };
	unsigned *host;
	CUstream s[3];
	CUevent ev;
	CUfunction twice;
	MUST(cuCtxSetCurrent(app.ctx));
	MUST(cuMemHostAlloc((void **)&host, N * 4, 0));
	for (int i = 0; i < 3; i++) MUST(cuStreamCreate(&s[i], i == 2 ? 0 : CU_STREAM_NON_BLOCKING));
	MUST(cuEventCreate(&ev, CU_EVENT_DISABLE_TIMING));
	MUST(cuModuleGetFunction(&twice, app.mod, "twice"));
	while (now() < until) {
		seed = seed * 1664525 + 1013904223;
		unsigned v = seed >> 20, n = N, notes = 0;
		CUdeviceptr p, q;
		CUstream a = s[seed >> 8 & 1], b = s[seed >> 9 & 1 ? 2 : 0];
		MUST(cuMemAlloc(&p, N * 4));
		MUST(cuMemAlloc(&q, N * 4));
		MUST(cuMemsetD32Async(p, 0, N, a));
		MUST(app_fill(&app, p, N, v, a));
		MUST(cuEventRecord(ev, a));
		MUST(cuStreamWaitEvent(b, ev, 0));
		MUST(cuMemcpyDtoDAsync(q, p, N * 4, b));
		void *args[] = {&q, &n};
		MUST(cuLaunchKernel(twice, 8, 1, 1, 64, 1, 1, 0, b, args, 0));
		if (seed >> 12 & 1) MUST(cuLaunchHostFunc(b, note, &notes));
		MUST(cuMemcpyDtoHAsync(host, q, N * 4, b));
		MUST(cuStreamSynchronize(b));
		for (unsigned i = 0; i < N; i++)
			if (host[i] != 2 * (v + i)) {
				printf("word %u is %u, want %u\n", i, host[i], 2 * (v + i));
				atomic_fetch_add(&wrong, 1);
				return 0;
			}
		if (notes != (seed >> 12 & 1)) atomic_fetch_add(&wrong, 1);
		if (seed >> 13 & 1) MUST(cuEventSynchronize(ev));
		MUST(cuMemFree(p));
		MUST(cuMemFree(q));
		if (!(seed >> 16 & 15)) { // a stream of its own now and then
			MUST(cuStreamDestroy(s[0]));
			MUST(cuStreamCreate(&s[0], CU_STREAM_NON_BLOCKING));
		}
		atomic_fetch_add(&done, 1);
	}
	for (int i = 0; i < 3; i++) MUST(cuStreamDestroy(s[i]));
	MUST(cuEventDestroy(ev));
	MUST(cuMemFreeHost(host));
	return 0;
}

static void launches(long n) {
	CUdeviceptr p;
	unsigned one = 1, v = 0, word = 0;
	OK(cuMemAlloc(&p, 4));
	CUfunction f = app_kernel(&app, "fill");
	void *args[] = {&p, &one, &v};
	for (v = 0; v < (unsigned)n; v++) {
		OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
		if (failures) return;
	}
	OK(cuMemcpyDtoH(&word, p, 4));
	EXPECT(word, n - 1);
	OK(cuMemFree(p));
}

static void allocs(long n) {
	CUdeviceptr keep[16] = {0};
	unsigned seed = 1;
	for (long i = 0; i < n && !failures; i++) {
		seed = seed * 1664525 + 1013904223;
		int slot = seed >> 28;
		if (keep[slot]) OK(cuMemFree(keep[slot]));
		OK(cuMemAlloc(&keep[slot], 1 + (seed >> 8) % 100000));
	}
	for (int i = 0; i < 16; i++)
		if (keep[i]) OK(cuMemFree(keep[i]));
}

int main(int argc, char **argv) {
	if (argc < 3) return 2;
	OK(app_start(&app));
	OK(app_works(&app));
	if (!strcmp(argv[1], "threads")) {
		enum { T = 64 };
		pthread_t t[T];
		until = now() + atof(argv[2]);
		for (long i = 0; i < T; i++) EXPECT(pthread_create(&t[i], 0, mixed, (void *)i), 0);
		for (int i = 0; i < T; i++) pthread_join(t[i], 0);
		EXPECT(wrong, 0);
		EXPECT(done >= T, 1);
		fprintf(stderr, "%ld rounds\n", (long)done);
	} else {
		void (*f)(long) = !strcmp(argv[1], "launches") ? launches : allocs;
		long n = atol(argv[2]);
		f(n / 10); // memory that is kept for reuse is there now
		size_t free_before, free_after, total;
		OK(cuMemGetInfo(&free_before, &total));
		long before = resident();
		double start = now();
		f(n);
		double took = now() - start;
		long after = resident();
		OK(cuMemGetInfo(&free_after, &total));
		EXPECT(free_after, free_before);
		if (after - before > 16 << 10) // what the garbage collector has not done yet is a few MB
			 EXPECT(after - before, 0);
		fprintf(stderr, "%s: %.2f us each, %+ld KB\n", argv[1], took / n * 1e6, after - before);
	}
	return finish();
}
