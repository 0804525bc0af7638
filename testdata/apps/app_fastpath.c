// Calls that are made without Go once they were made before, against the same calls through Go: app_fastpath codes|order [go].
// codes prints what launches and waits answer after everything that can change the answer. With go, a change that matters to nobody comes
// before every call, so that none is made without Go: the output must be the same.
#include "app.h"

static App app;
static int through_go;
static CUfunction fill, count;
static CUdeviceptr memory;
static unsigned n = 64, v = 1;

// before makes the next call go through Go, if all are to.
static void before(CUfunction f) {
	if (through_go) cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, -1);
}

static int launch(CUfunction f, unsigned grid, unsigned block, unsigned shared, CUstream s) {
	void *args[] = {&memory, &n, &v};
	before(f);
	return cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, s, args, 0);
}

static int wait_for(CUstream s) {
	before(fill);
	return cuStreamSynchronize(s);
}

static int wait_all(void) {
	before(fill);
	return cuCtxSynchronize();
}

static void warm(CUstream s) {
	for (int i = 0; i < 8; i++) {
		OK(launch(fill, 1, 64, 0, s));
		OK(wait_for(s));
		OK(wait_all());
	}
}

#define SAY(call) printf("%s: %d\n", #call, (int)(call))

static void limits(CUstream s) {
	warm(s);
	SAY(launch(fill, 0, 64, 0, s));
	SAY(launch(fill, 0x80000000u, 64, 0, s));
	SAY(launch(fill, 1, 1025, 0, s));
	SAY(launch(fill, 1, 64, 48 << 10, s));
	SAY(launch(fill, 1, 64, (48 << 10) + 1, s));
	SAY(launch(fill, 3, 64, 0, s));
	SAY(cuLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, s, 0, 0));
	void *bad[] = {&memory, (void *)16, &v};
	SAY(cuLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, s, bad, 0));
	SAY(cuLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, s, (void **)16, 0));
	SAY(cuLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, s, (void **)0x8000000000000000, 0));
	SAY(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
	SAY(launch(fill, 1, 64, 1025, s));
	SAY(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 << 10));
	SAY(launch(fill, 1, 64, 64 << 10, s));
	SAY(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 48 << 10));
	SAY(wait_for(s));
}

static void contexts(void) {
	CUcontext other, back;
	warm(0);
	SAY(cuCtxPopCurrent(&back));
	SAY(launch(fill, 1, 64, 0, 0));
	SAY(wait_for(0));
	SAY(wait_all());
	SAY(cuCtxPushCurrent(back));
	OK(cuCtxCreate(&other, 0, 0, app.dev));
	SAY(launch(fill, 1, 64, 0, 0));
	CUmodule m;
	CUfunction f;
	OK(cuModuleLoadData(&m, app_ptx));
	OK(cuModuleGetFunction(&f, m, "fill"));
	for (int i = 0; i < 4; i++) OK(launch(f, 1, 64, 0, 0));
	SAY(cuModuleUnload(m));
	SAY(launch(f, 1, 64, 0, 0));
	SAY(wait_all());
	SAY(cuCtxDestroy(other));
	SAY(cuCtxSetCurrent(other));
	SAY(launch(fill, 1, 64, 0, 0));
	SAY(wait_all());
	SAY(cuCtxSetCurrent(app.ctx));
	SAY(launch(fill, 1, 64, 0, 0));
}

static void streams(unsigned flags) {
	CUstream s, other;
	OK(cuStreamCreate(&s, flags));
	warm(s);
	SAY(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	SAY(launch(fill, 1, 64, 0, s));
	SAY(wait_for(s));
	SAY(launch(fill, 1, 64, 0, 0));
	SAY(wait_all());
	CUgraph g = 0;
	SAY(cuStreamEndCapture(s, &g));
	if (g) cuGraphDestroy(g);
	OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	warm(s);
	SAY(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_GLOBAL));
	SAY(wait_for(s));
	SAY(launch(fill, 1, 64, 0, s));
	SAY(cuStreamEndCapture(other, &g));
	SAY(cuStreamDestroy(other));
	SAY(launch(fill, 1, 64, 0, other));
	SAY(wait_for(other));
	warm(s);
	SAY(cuStreamDestroy(s));
	SAY(launch(fill, 1, 64, 0, s));
	SAY(wait_for(s));
	warm(CU_STREAM_PER_THREAD);
	warm(CU_STREAM_LEGACY);
}

static void host_call(void *arg) {
	*(int *)arg = launch(fill, 1, 64, 0, 0) * 1000 + wait_all();
}

static void callbacks(void) {
	int codes = 0;
	warm(0);
	SAY(cuLaunchHostFunc(0, host_call, &codes));
	SAY(wait_for(0)); // a wait that a function of the program ends
	printf("in a host function: %d\n", codes);
}

static void faults(void) {
	CUcontext other;
	OK(cuCtxCreate(&other, 0, 0, app.dev));
	CUmodule m;
	CUfunction f, bad;
	OK(cuModuleLoadData(&m, app_ptx));
	OK(cuModuleGetFunction(&f, m, "fill"));
	OK(cuModuleGetFunction(&bad, m, "poke"));
	for (int i = 0; i < 4; i++) OK(launch(f, 1, 64, 0, 0));
	OK(wait_all());
	CUdeviceptr p = 16;
	unsigned who = 3;
	void *args[] = {&p, &who};
	OK(cuLaunchKernel(bad, 1, 1, 1, 32, 1, 1, 0, 0, args, 0));
	SAY(wait_all());
	SAY(launch(f, 1, 64, 0, 0));
	SAY(wait_for(0));
	SAY(wait_all());
	SAY(cuCtxDestroy(other));
	SAY(cuCtxSetCurrent(app.ctx));
	SAY(launch(fill, 1, 64, 0, 0));
	SAY(wait_all());
}

// order puts fill and twice into the legacy stream and two blocking ones, in runs of all lengths. All are ordered, so that the result is
// that of doing it in this order; a launch too early or too late gives another.
static void order(void) {
	CUstream s[3] = {0};
	unsigned want = 0, got = 0, random = 1;
	CUfunction twice = app_kernel(&app, "twice");
	for (unsigned round = 0; round < 400; round++) {
		if (round == 100) OK(cuStreamCreate(&s[1], 0)); // until then the legacy stream is alone
		if (round == 200) OK(cuStreamCreate(&s[2], 0));
		if (round == 350) {
			OK(cuStreamDestroy(s[2]));
			s[2] = 0;
		}
		random = random * 1664525 + 1013904223;
		CUstream on = s[(random >> 8) % 3];
		unsigned run = 1 + (random >> 16) % 12;
		if (on && round > 150) on = (random >> 24) % 2 ? on : CU_STREAM_LEGACY;
		// Only the legacy stream stands between two others: they are not ordered with each other.
		want = v = round;
		OK(launch(fill, 1, 64, 0, 0));
		for (unsigned i = 0; i < run; i++, want *= 2) OK(launch(twice, 1, 64, 0, on));
		OK(launch(count, 1, 1, 0, 0));
		want++;
		if (random >> 31) OK(wait_for(on));
		if (round % 5 == 4) OK(wait_all());
		if (round % 3 == 0) {
			OK(cuMemcpyDtoH(&got, memory, sizeof got));
			EXPECT(got, want);
		}
	}
}

int main(int argc, char **argv) {
	through_go = argc > 2 && !strcmp(argv[2], "go");
	OK(app_start(&app));
	OK(cuMemAlloc(&memory, 4096));
	fill = app_kernel(&app, "fill");
	count = app_kernel(&app, "count");
	if (argc > 1 && !strcmp(argv[1], "order")) {
		order();
		return finish();
	}
	limits(0);
	contexts();
	limits(CU_STREAM_PER_THREAD);
	streams(CU_STREAM_DEFAULT);
	streams(CU_STREAM_NON_BLOCKING);
	callbacks();
	faults();
	return finish();
}
