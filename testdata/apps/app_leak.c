// Things made and ended many times must leave the process as it was: app_leak WHAT N.
#define _GNU_SOURCE
#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include "app.h"

static App app;

static long resident(void) { // KB
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (!f || fscanf(f, "%*d %ld", &pages) != 1) return -1;
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int entries(const char *dir) {
	int n = 0;
	DIR *d = opendir(dir);
	while (d && readdir(d)) n++;
	if (d) closedir(d);
	return n;
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static CUfunction fill;

static void launch(CUdeviceptr p, unsigned v, CUstream s) {
	unsigned n = 1;
	void *args[] = {&p, &n, &v};
	OK(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, s, args, 0));
}

static CUdeviceptr word;

static void launches(long n) {
	unsigned got = 0;
	for (long i = 0; i < n && !failures; i++) launch(word, (unsigned)i, 0);
	OK(cuMemcpyDtoH(&got, word, 4));
	EXPECT(got, (unsigned)(n - 1));
}

static void pairs(long n) { // a launch and memory of every kind, each time
	unsigned got = 0;
	for (long i = 0; i < n && !failures; i++) {
		CUdeviceptr p = 0;
		if (i % 3) OK(cuMemAlloc(&p, 4 + i * 37 % 50000));
		else OK(cuMemAllocAsync(&p, 4 + i * 37 % 50000, 0));
		launch(p, (unsigned)i, 0);
		if (i % 64 == 0) {
			OK(cuMemcpyDtoH(&got, p, 4));
			EXPECT(got, (unsigned)i);
		}
		if (i % 3) OK(cuMemFree(p));
		else OK(cuMemFreeAsync(p, 0));
	}
}

static void streams(long n) {
	for (long i = 0; i < n && !failures; i++) {
		CUstream s;
		OK(cuStreamCreateWithPriority(&s, i & 1, -(int)(i % 6)));
		launch(word, (unsigned)i, s);
		if (i % 3 == 0) OK(cuStreamSynchronize(s));
		OK(cuStreamDestroy(s)); // with work or without
	}
}

static void events(long n) {
	CUstream s;
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	for (long i = 0; i < n && !failures; i++) {
		CUevent e;
		OK(cuEventCreate(&e, i % 3 ? CU_EVENT_DISABLE_TIMING : 0));
		OK(cuEventRecord(e, 0));
		OK(cuStreamWaitEvent(s, e, 0));
		OK(cuEventDestroy(e));
	}
	OK(cuStreamDestroy(s));
}

static void nothing(void *p) { (void)p; }

static void graphs(long n) {
	CUstream s;
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	for (long i = 0; i < n && !failures; i++) {
		CUgraph g, twin;
		CUgraphExec x;
		OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
		launch(word, (unsigned)i, s);
		OK(cuMemsetD32Async(word, 3, 1, s));
		OK(cuLaunchHostFunc(s, nothing, 0));
		OK(cuStreamEndCapture(s, &g));
		OK(cuGraphClone(&twin, g));
		OK(cuGraphInstantiate(&x, twin, 0));
		OK(cuGraphLaunch(x, s));
		OK(cuGraphExecDestroy(x)); // runs on to its end
		OK(cuGraphDestroy(g));
		OK(cuGraphDestroy(twin));
	}
	OK(cuStreamDestroy(s));
}

static void modules(long n) {
	for (long i = 0; i < n && !failures; i++) {
		CUmodule m;
		CUfunction f;
		CUdeviceptr p;
		size_t bytes;
		unsigned one = 1, v = (unsigned)i;
		OK(cuModuleLoadData(&m, app_ptx));
		OK(cuModuleGetGlobal(&p, &bytes, m, "counter"));
		OK(cuModuleGetFunction(&f, m, "fill"));
		void *args[] = {&word, &one, &v};
		OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
		OK(cuModuleUnload(m));
	}
}

static void arrays(long n) {
	for (long i = 0; i < n && !failures; i++) {
		CUarray a;
		CUtexObject t;
		CUDA_ARRAY_DESCRIPTOR d = {.Width = 1 + i % 100, .Height = 1 + i % 7, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
		OK(cuArrayCreate(&a, &d));
		CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a};
		CUDA_TEXTURE_DESC s = {{0}};
		OK(cuTexObjectCreate(&t, &r, &s, 0));
		OK(cuTexObjectDestroy(t));
		OK(cuArrayDestroy(a));
	}
}

static void contexts(long n) {
	for (long i = 0; i < n && !failures; i++) {
		CUcontext c;
		CUmodule m;
		CUdeviceptr p;
		OK(cuCtxCreate(&c, 0, 0, app.dev));
		OK(cuMemAlloc(&p, 100000)); // ends with the context, as does the module
		OK(cuModuleLoadData(&m, app_ptx));
		OK(cuCtxDestroy(c));
	}
}

int main(int argc, char **argv) {
	static const struct {
		const char *name;
		void (*run)(long);
	} rows[] = {
		{"launches", launches}, {"pairs", pairs}, {"streams", streams}, {"events", events}, {"graphs", graphs}, {"modules", modules}, {"arrays", arrays}, {"contexts", contexts},
	};
	if (argc < 3) return 2;
	long n = atol(argv[2]);
	OK(app_start(&app));
	fill = app_kernel(&app, "fill");
	OK(cuMemAlloc(&word, 4));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(rows[i].name, argv[1])) continue;
		size_t free0, free1, total;
		rows[i].run(n / 5 + 1); // what is kept for reuse is there now
		OK(cuCtxSynchronize());
		OK(cuMemGetInfo(&free0, &total));
		long curve[6], files = entries("/proc/self/fd"), threads = entries("/proc/self/task");
		double took = 0;
		// What the collector has not done yet comes and goes, and on a busy machine it may be late for a whole round; what is lost
		// grows in every fifth of every round.
		int lost = 1;
		for (int round = 0; lost && round < 4; round++) {
			curve[0] = resident();
			double start = now();
			int grows = 0;
			for (int k = 1; k < 6; k++) {
				rows[i].run(n / 5);
				OK(cuCtxSynchronize());
				curve[k] = resident();
				grows += curve[k] > curve[k - 1] + 64;
			}
			took = now() - start;
			lost = curve[5] - curve[0] > (16 << 10) || (grows == 5 && curve[5] - curve[0] > (4 << 10));
		}
		OK(cuMemGetInfo(&free1, &total));
		EXPECT(free1, free0);
		EXPECT(entries("/proc/self/fd"), files);
		EXPECT(entries("/proc/self/task") <= threads + 4, 1);
		if (lost) EXPECT(curve[5] - curve[0], 0);
		fprintf(stderr, "%s: %.2f us each, KB", argv[1], took / (n / 5 * 5) * 1e6);
		for (int k = 0; k < 6; k++) fprintf(stderr, " %ld", curve[k]);
		fprintf(stderr, "\n");
		return finish();
	}
	return 2;
}
