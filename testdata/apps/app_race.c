// Threads that launch while another takes away what they launch with: app_race CASE ROUNDS. That is a mistake of the program, which
// gets an error for it; its process goes on.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "app.h"

enum { THREADS = 4, BEFORE = 3 };

static App app;
static CUdeviceptr memory;
static CUfunction kernel;
static CUlibrary library;
static CUgraphExec graph;
static atomic_int begun;

// expected is what a launch may answer whose context, module or stream goes.
static int expected(int e) {
	return e == CUDA_ERROR_INVALID_HANDLE || e == CUDA_ERROR_INVALID_CONTEXT || e == CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

static int once(int how, CUstream s, unsigned turn) {
	unsigned n = 200;
	void *args[] = {&memory, &n, &turn};
	switch (how) {
	case 0: return cuLaunchKernel(kernel, 4, 1, 1, 64, 1, 1, 0, s, args, 0);
	case 1: return cuLaunchKernel(kernel, 8, 1, 1, 32, 1, 1, 0, turn % 2 ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY, args, 0);
	case 2: return graph ? cuGraphLaunch(graph, s) : cuMemsetD32Async(memory, turn, n, s);
	}
	// Waiting, so that the queues are empty now and then.
	int e = cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, s, args, 0);
	return e ? e : cuStreamSynchronize(s);
}

static void *launcher(void *arg) {
	int how = (int)(intptr_t)arg, e = cuCtxSetCurrent(app.ctx), told = 0;
	CUstream s = 0;
	if (!e) e = cuStreamCreate(&s, how % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);
	for (unsigned turn = 0; !e && !failures; turn++) {
		if (turn == BEFORE) told = atomic_fetch_add(&begun, 1) + 1;
		e = once(how, s, turn);
		if (!e && turn % 16 == 15) e = cuCtxSynchronize(); // what waits is bounded: an interpreter runs slower than it is launched
	}
	if (!told) atomic_fetch_add(&begun, 1);
	if (!expected(e) && !failures) EXPECT(e, CUDA_ERROR_CONTEXT_IS_DESTROYED);
	if (s) cuStreamDestroy(s); // it may be gone
	cuCtxSetCurrent(0);
	return 0;
}

// around runs end while the threads launch.
static void around(void (*end)(void)) {
	pthread_t t[THREADS];
	atomic_store(&begun, 0);
	for (int i = 0; i < THREADS; i++) pthread_create(&t[i], 0, launcher, (void *)(intptr_t)i);
	while (atomic_load(&begun) < THREADS) sched_yield();
	end();
	for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
}

static void make_graph(void) {
	CUgraph g;
	CUgraphNode node, last = 0;
	unsigned n = 200, v = 5;
	void *args[] = {&memory, &n, &v};
	CUDA_KERNEL_NODE_PARAMS p = {.func = library ? 0 : kernel, .kern = library ? (CUkernel)kernel : 0, .gridDimX = 4, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 64, .blockDimY = 1, .blockDimZ = 1, .kernelParams = args};
	OK(cuGraphCreate(&g, 0));
	for (int i = 0; i < 4; i++) {
		OK(cuGraphAddKernelNode(&node, g, &last, last != 0, &p));
		if (i != 1) last = node; // two of them at a time
	}
	OK(cuGraphInstantiate(&graph, g, 0));
	OK(cuGraphDestroy(g));
}

static void load(void) {
	OK(cuModuleLoadData(&app.mod, app_ptx));
	kernel = app_kernel(&app, "fill");
	OK(cuMemAlloc(&memory, 4096));
	make_graph();
}

static void destroy(void) { OK(cuCtxDestroy(app.ctx)); }
static void unload(void) { OK(cuModuleUnload(app.mod)); }
static void unload_library(void) { OK(cuLibraryUnload(library)); }
static void reset(void) { OK(cuDevicePrimaryCtxReset(app.dev)); }
static void release(void) { OK(cuDevicePrimaryCtxRelease(app.dev)); }

static void one(const char *what) {
	if (!strcmp(what, "context")) {
		OK(cuCtxCreate(&app.ctx, 0, 0, app.dev));
		load();
		around(destroy);
	} else if (!strcmp(what, "module")) {
		OK(cuCtxCreate(&app.ctx, 0, 0, app.dev));
		load();
		around(unload);
		OK(cuCtxDestroy(app.ctx));
	} else if (!strcmp(what, "library")) {
		CUkernel k;
		OK(cuCtxCreate(&app.ctx, 0, 0, app.dev));
		OK(cuMemAlloc(&memory, 4096));
		OK(cuLibraryLoadData(&library, app_ptx, 0, 0, 0, 0, 0, 0));
		OK(cuLibraryGetKernel(&k, library, "fill"));
		kernel = (CUfunction)k;
		make_graph();
		around(unload_library);
		library = 0;
		OK(cuCtxDestroy(app.ctx));
	} else {
		OK(cuDevicePrimaryCtxRetain(&app.ctx, app.dev));
		OK(cuCtxSetCurrent(app.ctx));
		load();
		if (!strcmp(what, "release")) {
			around(release);
		} else {
			around(reset);
			OK(cuDevicePrimaryCtxRelease(app.dev));
		}
		OK(cuCtxSetCurrent(0));
	}
	if (graph) OK(cuGraphExecDestroy(graph));
	graph = 0;
}

int main(int argc, char **argv) {
	if (argc != 3) return 2;
	OK(cuInit(0));
	OK(cuDeviceGet(&app.dev, 0));
	for (int i = 0; i < atoi(argv[2]) && !failures; i++) one(argv[1]);
	OK(app_start(&app)); // as good as new
	OK(app_works(&app));
	return finish();
}
