// Many threads, eight streams each, everything that a program can do, in any order: stress SEED OPERATIONS [THREADS].
//
// A thread's operations follow from the seed and its number alone. Each thread has eight lanes: a stream, a buffer, and what
// the buffer must contain, which the host computes beside. Every operation is followed, sooner or later, by a comparison.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "app.h"

enum { LANES = 8, N = 256, MAX_THREADS = 256 };

static App app;
static long quota; // operations a thread
static unsigned seed0;
static atomic_long done, wrong;
static atomic_int threads_left;
static struct {
	atomic_long ops;
	_Atomic(const char *) doing;
} progress[MAX_THREADS];

#define MUST(call)                                                         \
	do {                                                                   \
		atomic_store_explicit(&w->slot->doing, #call, memory_order_relaxed); \
		int e_ = (call);                                                   \
		if (e_) {                                                          \
			printf("thread %d operation %ld: %s: %d\n", w->id, w->n, #call, e_); \
			atomic_fetch_add(&wrong, 1);                                   \
			return -1;                                                     \
		}                                                                  \
	} while (0)

#define GIVES(call, code)                                                  \
	do {                                                                   \
		int e_ = (call);                                                   \
		if (e_ != (code)) {                                                \
			printf("thread %d operation %ld: %s: %d, want %d\n", w->id, w->n, #call, e_, code); \
			atomic_fetch_add(&wrong, 1);                                   \
			return -1;                                                     \
		}                                                                  \
	} while (0)

typedef struct {
	CUstream s;
	CUevent ev;
	CUdeviceptr buf;
	unsigned *host;      // pinned
	unsigned shadow[N];  // what buf contains once the stream is done
	atomic_int notes;    // host functions that ran
	int asked;           // and that were asked for
	CUgraphExec graph;   // twice, and two words set
	int blocking;        // waits for the default stream, and so cannot capture while others use that
} Lane;

typedef struct {
	int id;
	long n;
	unsigned rng;
	Lane lane[LANES];
	CUfunction fill, twice;
	typeof(progress[0]) *slot;
} Worker;

static unsigned rnd(Worker *w) {
	w->rng = w->rng * 1664525 + 1013904223;
	return w->rng >> 9;
}

static void note(void *p) { atomic_fetch_add((atomic_int *)p, 1); }

static int check(Worker *w, Lane *l) {
	MUST(cuMemcpyDtoHAsync(l->host, l->buf, N * 4, l->s));
	MUST(cuStreamSynchronize(l->s));
	if (l->notes != l->asked) {
		printf("thread %d operation %ld: %d host functions ran, want %d\n", w->id, w->n, l->notes, l->asked);
		atomic_fetch_add(&wrong, 1);
		return -1;
	}
	for (int i = 0; i < N; i++)
		if (l->host[i] != l->shadow[i]) {
			printf("thread %d operation %ld lane %d: word %d is %#x, want %#x\n", w->id, w->n, (int)(l - w->lane), i, l->host[i], l->shadow[i]);
			atomic_fetch_add(&wrong, 1);
			return -1;
		}
	return 0;
}

static int do_fill(Worker *w, Lane *l) {
	unsigned n = 1 + rnd(w) % N, v = rnd(w);
	void *args[] = {&l->buf, &n, &v};
	MUST(cuLaunchKernel(w->fill, (n + 63) / 64, 1, 1, 64, 1, 1, 0, l->s, args, 0));
	for (unsigned i = 0; i < n; i++) l->shadow[i] = v + i;
	return 0;
}

static int do_twice(Worker *w, Lane *l) {
	unsigned n = 1 + rnd(w) % N;
	void *args[] = {&l->buf, &n};
	MUST(cuLaunchKernel(w->twice, (n + 63) / 64, 1, 1, 64, 1, 1, 0, l->s, args, 0));
	for (unsigned i = 0; i < n; i++) l->shadow[i] *= 2;
	return 0;
}

static int do_memset(Worker *w, Lane *l) {
	unsigned at = rnd(w) % N, n = 1 + rnd(w) % (N - at), v = rnd(w) & 0xff;
	switch (rnd(w) % 3) {
	case 0:
		MUST(cuMemsetD32Async(l->buf + at * 4, v, n, l->s));
		for (unsigned i = 0; i < n; i++) l->shadow[at + i] = v;
		return 0;
	case 1:
		MUST(cuMemsetD8Async(l->buf + at * 4, v, n * 4, l->s));
		for (unsigned i = 0; i < n; i++) l->shadow[at + i] = v * 0x01010101u;
		return 0;
	}
	MUST(cuMemsetD2D32Async(l->buf, 64, v, 3, N / 16, l->s)); // the first 3 words of every 16
	for (unsigned i = 0; i < N; i++)
		if (i % 16 < 3) l->shadow[i] = v;
	return 0;
}

// do_upload: pageable memory is read before the call returns, pinned memory may not change until the stream is there.
static int do_upload(Worker *w, Lane *l) {
	unsigned page[N], at = rnd(w) % N, n = 1 + rnd(w) % (N - at);
	for (unsigned i = 0; i < n; i++) page[i] = rnd(w);
	MUST(cuMemcpyHtoDAsync(l->buf + at * 4, page, n * 4, l->s));
	memcpy(l->shadow + at, page, n * 4);
	memset(page, 0xee, sizeof page);
	return 0;
}

// do_between: another lane's buffer, ordered by an event in both directions.
static int do_between(Worker *w, Lane *l) {
	Lane *o = &w->lane[rnd(w) % LANES];
	if (o == l) return 0;
	MUST(cuEventRecord(o->ev, o->s));
	MUST(cuStreamWaitEvent(l->s, o->ev, 0));
	if (rnd(w) & 1) {
		MUST(cuMemcpyDtoDAsync(l->buf, o->buf, N * 4, l->s));
	} else {
		CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = o->buf, .srcPitch = 64, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			.dstDevice = l->buf, .dstPitch = 64, .WidthInBytes = 64, .Height = N / 16};
		MUST(cuMemcpy2DAsync(&c, l->s));
	}
	memcpy(l->shadow, o->shadow, sizeof l->shadow);
	MUST(cuEventRecord(l->ev, l->s));
	MUST(cuStreamWaitEvent(o->s, l->ev, 0));
	return 0;
}

static int do_async_memory(Worker *w, Lane *l) {
	CUdeviceptr p = 0;
	MUST(cuMemAllocAsync(&p, N * 4 + rnd(w) % 100000, l->s));
	MUST(cuMemcpyDtoDAsync(p, l->buf, N * 4, l->s));
	unsigned n = N;
	void *args[] = {&p, &n};
	MUST(cuLaunchKernel(w->twice, N / 64, 1, 1, 64, 1, 1, 0, l->s, args, 0));
	MUST(cuMemcpyDtoDAsync(l->buf, p, N * 4, l->s));
	MUST(cuMemFreeAsync(p, l->s));
	for (int i = 0; i < N; i++) l->shadow[i] *= 2;
	return 0;
}

static int do_memory(Worker *w, Lane *l) {
	CUdeviceptr p = 0;
	unsigned v = rnd(w), word = 0;
	MUST(cuMemAlloc(&p, 1 + rnd(w) % 200000 + 3));
	MUST(cuMemsetD32Async(p, v, 1, l->s));
	MUST(cuMemcpyDtoHAsync(l->host, p, 4, l->s));
	MUST(cuStreamSynchronize(l->s));
	word = l->host[0];
	GIVES(word != v, 0);
	MUST(cuMemFree(p));
	return 0;
}

static int do_host(Worker *w, Lane *l) {
	MUST(cuLaunchHostFunc(l->s, note, &l->notes));
	l->asked++;
	return 0;
}

static int do_events(Worker *w, Lane *l) {
	CUevent a, b;
	float ms = -1;
	MUST(cuEventCreate(&a, 0));
	MUST(cuEventCreate(&b, 0));
	MUST(cuEventRecord(a, l->s));
	MUST(do_twice(w, l));
	MUST(cuEventRecord(b, l->s));
	MUST(cuEventSynchronize(b));
	GIVES(cuEventQuery(a), 0);
	MUST(cuEventElapsedTime(&ms, a, b));
	GIVES(ms < 0, 0);
	MUST(cuEventDestroy(a));
	MUST(cuEventDestroy(b));
	return 0;
}

// do_capture makes a new graph of the lane: a kernel, two words, a host function.
static int do_capture(Worker *w, Lane *l) {
	if (l->blocking) return 0;
	CUgraph g;
	unsigned n = N;
	void *args[] = {&l->buf, &n};
	MUST(cuStreamBeginCapture(l->s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	MUST(cuLaunchKernel(w->twice, N / 64, 1, 1, 64, 1, 1, 0, l->s, args, 0));
	MUST(cuMemsetD32Async(l->buf, 5, 2, l->s));
	MUST(cuLaunchHostFunc(l->s, note, &l->notes));
	MUST(cuStreamEndCapture(l->s, &g));
	if (l->graph) MUST(cuGraphExecDestroy(l->graph));
	MUST(cuGraphInstantiate(&l->graph, g, 0));
	MUST(cuGraphDestroy(g));
	return 0;
}

static int do_graph(Worker *w, Lane *l) {
	if (!l->graph && do_capture(w, l)) return -1;
	if (!l->graph) return 0;
	MUST(cuGraphLaunch(l->graph, l->s));
	l->asked++;
	for (int i = 0; i < N; i++) l->shadow[i] *= 2;
	l->shadow[0] = l->shadow[1] = 5;
	return 0;
}

static int do_module(Worker *w, Lane *l) {
	CUmodule m;
	CUfunction f;
	CUdeviceptr p;
	size_t bytes;
	unsigned word = 0, n = N, v = rnd(w);
	MUST(cuModuleLoadData(&m, app_ptx));
	MUST(cuModuleGetGlobal(&p, &bytes, m, "counter"));
	MUST(cuMemcpyDtoH(&word, p, 4));
	GIVES(word, 7);
	MUST(cuModuleGetFunction(&f, m, "fill"));
	void *args[] = {&l->buf, &n, &v};
	MUST(cuLaunchKernel(f, N / 64, 1, 1, 64, 1, 1, 0, l->s, args, 0));
	for (int i = 0; i < N; i++) l->shadow[i] = v + i;
	MUST(cuModuleUnload(m)); // waits for the kernel
	return 0;
}

static int do_stream(Worker *w, Lane *l) {
	if (check(w, l)) return -1;
	MUST(cuStreamDestroy(l->s));
	l->blocking = rnd(w) & 1;
	MUST(cuStreamCreateWithPriority(&l->s, l->blocking ? 0 : CU_STREAM_NON_BLOCKING, -(int)(rnd(w) % 6)));
	return 0;
}

// do_errors: calls that fail change nothing.
static int do_errors(Worker *w, Lane *l) {
	CUdeviceptr p = 0;
	CUfunction f = 0;
	unsigned n = 1, v = 0;
	void *args[] = {&l->buf, &n, &v};
	GIVES(cuMemFree(0x1230), CUDA_ERROR_INVALID_VALUE);
	GIVES(cuModuleGetFunction(&f, app.mod, "absent"), CUDA_ERROR_NOT_FOUND);
	GIVES(cuLaunchKernel(w->fill, 1, 1, 1, 2048, 1, 1, 0, l->s, args, 0), CUDA_ERROR_INVALID_VALUE);
	GIVES(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);
	GIVES(cuEventDestroy((CUevent)0x10), CUDA_ERROR_INVALID_HANDLE);
	GIVES(cuMemcpyDtoHAsync(l->host, 0x10, 4, l->s), CUDA_ERROR_INVALID_VALUE);
	int q = cuStreamQuery(l->s);
	GIVES(q != 0 && q != CUDA_ERROR_NOT_READY, 0);
	return 0;
}

static int do_context(Worker *w, Lane *l) {
	(void)l;
	CUcontext c = 0;
	MUST(cuCtxPushCurrent(app.ctx));
	MUST(cuCtxPopCurrent(&c));
	GIVES(c != app.ctx, 0);
	if (rnd(w) % 8 == 0) MUST(cuStreamSynchronize(0)); // not the context: another thread may be capturing, and that is an error
	return 0;
}

static const struct {
	int (*run)(Worker *, Lane *);
	int weight;
} ops[] = {
	{do_fill, 20}, {do_twice, 16}, {do_memset, 12}, {do_upload, 10}, {do_between, 12}, {do_async_memory, 6}, {do_memory, 4}, {do_host, 6},
	{do_events, 3}, {do_capture, 1}, {do_graph, 4}, {do_module, 1}, {do_stream, 1}, {do_errors, 2}, {do_context, 2}, {check, 8},
};

static int setup(Worker *w) {
	MUST(cuCtxSetCurrent(app.ctx));
	MUST(cuModuleGetFunction(&w->fill, app.mod, "fill"));
	MUST(cuModuleGetFunction(&w->twice, app.mod, "twice"));
	for (int i = 0; i < LANES; i++) {
		Lane *l = &w->lane[i];
		l->blocking = i == 7;
		MUST(cuStreamCreate(&l->s, l->blocking ? 0 : CU_STREAM_NON_BLOCKING));
		MUST(cuEventCreate(&l->ev, CU_EVENT_DISABLE_TIMING));
		MUST(cuMemAlloc(&l->buf, N * 4));
		MUST(cuMemHostAlloc((void **)&l->host, N * 4, 0));
		MUST(cuMemsetD32Async(l->buf, 0, N, l->s));
	}
	return 0;
}

static int teardown(Worker *w) {
	for (int i = 0; i < LANES; i++) {
		Lane *l = &w->lane[i];
		if (check(w, l)) return -1;
		if (l->graph) MUST(cuGraphExecDestroy(l->graph));
		MUST(cuStreamDestroy(l->s));
		MUST(cuEventDestroy(l->ev));
		MUST(cuMemFree(l->buf));
		MUST(cuMemFreeHost(l->host));
	}
	return 0;
}

static void *work(void *arg) {
	Worker *w = calloc(1, sizeof *w);
	w->id = (int)(intptr_t)arg;
	w->slot = &progress[w->id];
	w->rng = (seed0 * 64 + w->id) * 2654435761u + 1;
	int total = 0, bad = setup(w);
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) total += ops[i].weight;
	for (w->n = 0; !bad && !wrong && w->n < quota; w->n++) {
		Lane *l = &w->lane[rnd(w) % LANES];
		int pick = rnd(w) % total;
		size_t i = 0;
		while ((pick -= ops[i].weight) >= 0) i++;
		bad = ops[i].run(w, l);
		atomic_fetch_add_explicit(&w->slot->ops, 1, memory_order_relaxed);
	}
	if (!bad && !wrong && !teardown(w)) bad = 2;
	atomic_fetch_add(&done, w->n);
	atomic_fetch_sub(&threads_left, 1);
	if (bad == 2) free(w); // else host functions may still come
	return 0;
}

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

// watch says where everybody is and ends the program if no thread has come further for a minute.
static void *watch(void *arg) {
	int threads = (int)(intptr_t)arg;
	long last = -1, ticks = 0;
	for (double since = now(); atomic_load(&threads_left) > 0; usleep(100000)) {
		long sum = 0;
		for (int i = 0; i < threads; i++) sum += progress[i].ops;
		if (sum != last) {
			last = sum, since = now();
		} else if (now() - since > 60) {
			for (int i = 0; i < threads; i++) fprintf(stderr, "thread %d: %ld operations, in %s\n", i, (long)progress[i].ops, progress[i].doing ? progress[i].doing : "-");
			fprintf(stderr, "no progress for a minute\n");
			fflush(stdout);
			abort();
		}
		if (++ticks % 300 == 0) fprintf(stderr, "%ld operations, %ld KB\n", sum, resident());
	}
	return 0;
}

int main(int argc, char **argv) {
	if (argc < 3) return 2;
	setvbuf(stdout, 0, _IOLBF, 1 << 12);
	int threads = argc > 3 ? atoi(argv[3]) : 64;
	if (threads < 1 || threads > MAX_THREADS) return 2;
	seed0 = atoi(argv[1]);
	quota = (atol(argv[2]) + threads - 1) / threads;
	OK(app_start(&app));
	OK(app_works(&app));
	size_t free_before, free_after, size;
	OK(cuMemGetInfo(&free_before, &size));
	pthread_t t[MAX_THREADS], dog;
	threads_left = threads;
	double start = now();
	for (intptr_t i = 0; i < threads; i++) EXPECT(pthread_create(&t[i], 0, work, (void *)i), 0);
	EXPECT(pthread_create(&dog, 0, watch, (void *)(intptr_t)threads), 0);
	for (int i = 0; i < threads; i++) pthread_join(t[i], 0);
	pthread_join(dog, 0);
	EXPECT(wrong, 0);
	EXPECT(done, quota * threads);
	if (!failures) {
		CUmemoryPool pool;
		OK(cuCtxSynchronize());
		OK(cuDeviceGetDefaultMemPool(&pool, app.dev));
		OK(cuMemPoolTrimTo(pool, 0));
		OK(cuMemGetInfo(&free_after, &size));
		EXPECT(free_after, free_before);
	}
	fprintf(stderr, "%ld operations in %.1f s, %ld KB\n", (long)done, now() - start, resident());
	return finish();
}
