// The process ends in every state the library can be in: app_exit STATE HOW. It must end at once, with its own code.
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "app.h"

enum { CODE = 7 };
static App app;
static const char *how;

static void leave(void) {
	fflush(stdout);
	if (failures) _exit(1);
	if (!strcmp(how, "exit")) exit(CODE);
	if (!strcmp(how, "quick")) quick_exit(CODE);
	if (!strcmp(how, "raw")) _exit(CODE);
	if (!strcmp(how, "thread")) { // the main thread ends first, then another leaves
		pthread_t t;
		if (pthread_create(&t, 0, (void *(*)(void *))exit, (void *)CODE)) _exit(1);
		pthread_exit(0);
	}
	_exit(1);
}

static CUdeviceptr flag;

static CUstream spinning(void) { // a stream with a kernel that never ends
	CUstream s = 0;
	void *args[] = {&flag};
	OK(cuMemAlloc(&flag, 4));
	OK(cuMemsetD32(flag, 0, 1));
	OK(cuCtxSynchronize());
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuLaunchKernel(app_kernel(&app, "spin"), 1, 1, 1, 32, 1, 1, 0, s, args, 0));
	return s;
}

static void called(void *p) { (void)p, leave(); }
static void called_stream(CUstream s, CUresult e, void *p) { (void)s, (void)e, (void)p, leave(); }
static void slow(void *p) { (void)p, usleep(30000000); }

static void none(void) { leave(); }
static void init(void) {
	OK(cuInit(0));
	leave();
}
static void idle(void) {
	OK(app_start(&app));
	leave();
}
static void busy(void) {
	OK(app_start(&app));
	spinning();
	leave();
}

static void queued(void) { // work behind work that never ends
	OK(app_start(&app));
	CUstream s = spinning();
	for (int i = 0; i < 1000; i++) OK(cuMemsetD32Async(flag, 1, 1, s));
	leave();
}

static void capturing(void) {
	CUstream s;
	OK(app_start(&app));
	OK(cuStreamCreate(&s, 0));
	OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	leave();
}

static void graph(void) { // an executable graph that runs, and one that waits for it
	CUstream s;
	CUgraph g;
	CUgraphExec x;
	OK(app_start(&app));
	OK(cuMemAlloc(&flag, 4));
	OK(cuMemsetD32(flag, 0, 1));
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	void *args[] = {&flag};
	OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(cuLaunchKernel(app_kernel(&app, "spin"), 1, 1, 1, 32, 1, 1, 0, s, args, 0));
	OK(cuStreamEndCapture(s, &g));
	OK(cuGraphInstantiate(&x, g, 0));
	OK(cuGraphLaunch(x, s));
	OK(cuGraphLaunch(x, s));
	leave();
}

static void callback(void) { // in a function that a stream calls
	OK(app_start(&app));
	OK(cuLaunchHostFunc(0, called, 0));
	cuCtxSynchronize();
	pause();
}

static void callback_old(void) {
	OK(app_start(&app));
	OK(cuStreamAddCallback(0, called_stream, 0, 0));
	cuCtxSynchronize();
	pause();
}

static void callback_runs(void) { // while one sleeps
	OK(app_start(&app));
	OK(cuLaunchHostFunc(0, slow, 0));
	usleep(20000);
	leave();
}

static void destructor(void) { // in a user object's
	CUuserObject o;
	OK(app_start(&app));
	OK(cuUserObjectCreate(&o, 0, called, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	OK(cuUserObjectRelease(o, 1));
	pause();
}

static void *waits(void *p) {
	OK(cuCtxSetCurrent(app.ctx));
	cuStreamSynchronize((CUstream)p);
	pause();
	return 0;
}

static void waited(void) { // other threads wait
	OK(app_start(&app));
	CUstream s = spinning();
	for (int i = 0; i < 4; i++) {
		pthread_t t;
		pthread_create(&t, 0, waits, s);
	}
	usleep(20000);
	leave();
}

static void *loads(void *p) { // never stops loading and launching
	(void)p;
	cuCtxSetCurrent(app.ctx);
	for (unsigned i = 0;; i++) {
		CUmodule m;
		CUfunction f;
		unsigned one = 1;
		void *args[] = {&flag, &one, &i};
		if (cuModuleLoadData(&m, app_ptx) || cuModuleGetFunction(&f, m, "fill")) pause();
		cuLaunchKernel(f, 1, 1, 1, 1 + i % 37, 1, 1, 0, 0, args, 0);
		cuModuleUnload(m);
	}
	return 0;
}

static void compiling(void) {
	OK(app_start(&app));
	OK(cuMemAlloc(&flag, 4));
	for (int i = 0; i < 3; i++) {
		pthread_t t;
		pthread_create(&t, 0, loads, 0);
	}
	usleep(150000);
	leave();
}

static void faulted(void) {
	CUdeviceptr p = 0;
	unsigned who = 0;
	void *args[] = {&p, &who};
	OK(app_start(&app));
	OK(cuLaunchKernel(app_kernel(&app, "poke"), 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
	EXPECT(cuCtxSynchronize(), 700);
	leave();
}

static void after_reset(void) {
	OK(app_start(&app));
	spinning();
	OK(cuMemsetD32(flag, 1, 1));
	OK(cuDevicePrimaryCtxReset(app.dev));
	leave();
}

static void mapped(void) { // with memory that others may open, and memory mapped by hand
	CUdeviceptr p, at;
	CUipcMemHandle h;
	CUmemGenericAllocationHandle m;
	CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	OK(app_start(&app));
	OK(cuMemAlloc(&p, 1 << 21));
	OK(cuIpcGetMemHandle(&h, p));
	OK(cuMemAddressReserve(&at, 1 << 21, 0, 0, 0));
	OK(cuMemCreate(&m, 1 << 21, &prop, 0));
	OK(cuMemMap(at, 1 << 21, 0, m, 0));
	OK(cuMemSetAccess(at, 1 << 21, &access, 1));
	leave();
}

int main(int argc, char **argv) {
	static const struct {
		const char *name;
		void (*run)(void);
	} states[] = {
		{"none", none}, {"init", init}, {"idle", idle}, {"busy", busy}, {"queued", queued}, {"capturing", capturing}, {"graph", graph}, {"callback", callback},
		{"callback_old", callback_old}, {"callback_runs", callback_runs}, {"destructor", destructor}, {"waited", waited}, {"compiling", compiling}, {"faulted", faulted},
		{"after_reset", after_reset}, {"mapped", mapped},
	};
	if (argc < 2) { // the names
		for (size_t i = 0; i < sizeof states / sizeof *states; i++) puts(states[i].name);
		return 0;
	}
	how = argc > 2 ? argv[2] : "exit";
	alarm(60);
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (!strcmp(states[i].name, argv[1])) states[i].run();
	return 2;
}
