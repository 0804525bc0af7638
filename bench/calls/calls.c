/* What calls of the runtime API cost the thread that makes them: calls [NAME..]. Each is made in batches for a while; the figure is the
 * least processor time of the thread that one call of a batch took, in nanoseconds, beside the least time by the clock. Processor time
 * says what we do; the clock says also what others did on the processor.
 *
 *   gcc -O2 -Iinclude bench/calls/calls.c -Ldist/lib -l:libcudart.so.12 -l:libcuda.so.1 -o calls && LD_LIBRARY_PATH=dist/lib ./calls */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda.h"
#include "cuda_runtime_api.h"

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry add(.param .u64 at) {\n"
                          ".reg .u64 %rd<2>; .reg .f32 %f<2>; .reg .b32 %r<2>;\n"
                          "ld.param.u64 %rd0, [at]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd0, %rd0, %rd1;\n"
                          "ld.global.f32 %f0, [%rd0]; add.f32 %f0, %f0, 0f3F800000; st.global.f32 [%rd0], %f0; ret; }\n";

static void bad(const char *what, int code) {
	fprintf(stderr, "%s: %d\n", what, code);
	exit(1);
}
#define CHECK(call)                         \
	do {                                \
		int rc_ = (int)(call);      \
		if (rc_) bad(#call, rc_); \
	} while (0)

static CUfunction add;
static CUstream stream;
static cudaEvent_t event, other;
static float *on, *pinned, host[16];

static void launch(void) {
	void *params[] = {&on};
	CHECK(cuLaunchKernel(add, 1, 1, 1, 16, 1, 1, 0, stream, params, NULL));
}

static void device(void) { int d; CHECK(cudaGetDevice(&d)); }
static void set_device(void) { CHECK(cudaSetDevice(0)); }
static void primary(void) { unsigned f; int a; CHECK(cuDevicePrimaryCtxGetState(0, &f, &a)); }
static void current(void) { CUcontext c; CHECK(cuCtxGetCurrent(&c)); }
static void set_current(void) {
	static CUcontext c;
	if (!c) CHECK(cuCtxGetCurrent(&c));
	CHECK(cuCtxSetCurrent(c));
}
static void last_error(void) { CHECK(cudaGetLastError()); }
static void peek(void) { CHECK(cudaPeekAtLastError()); }
static void capturing(void) { enum cudaStreamCaptureStatus s; CHECK(cudaStreamIsCapturing(stream, &s)); }
static void attribute(void) { int v; CHECK(cudaDeviceGetAttribute(&v, cudaDevAttrMultiProcessorCount, 0)); }
static void occupancy(void) { int n; CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)add, 128, 0)); }
static void function(void) { struct cudaFuncAttributes a; CHECK(cudaFuncGetAttributes(&a, (const void *)add)); }
static void query(void) { CHECK(cudaStreamQuery(stream)); }
static void sync_idle(void) { CHECK(cudaStreamSynchronize(stream)); }
static void sync_device(void) { CHECK(cudaDeviceSynchronize()); }
static void event_query(void) { CHECK(cudaEventQuery(event)); }
static void event_sync(void) { CHECK(cudaEventSynchronize(event)); }
static void event_record(void) { CHECK(cudaEventRecord(other, stream)); }
static void wait_event(void) { CHECK(cudaStreamWaitEvent(stream, event, 0)); }
static void malloc_free(void) { void *p; CHECK(cudaMalloc(&p, 512)); CHECK(cudaFree(p)); }
static void malloc_async(void) { void *p; CHECK(cudaMallocAsync(&p, 512, stream)); CHECK(cudaFreeAsync(p, stream)); }
static void pointer(void) { struct cudaPointerAttributes a; CHECK(cudaPointerGetAttributes(&a, on)); }
static void launch_wait(void) { launch(); sync_idle(); }
static void launch_wait_all(void) { launch(); sync_device(); }
static void launch_record(void) { launch(); event_record(); }
static void copy_to(void) { CHECK(cudaMemcpyAsync(on, pinned, 64, cudaMemcpyHostToDevice, stream)); sync_idle(); }
static void copy_from(void) { CHECK(cudaMemcpyAsync(pinned, on, 64, cudaMemcpyDeviceToHost, stream)); sync_idle(); }
static void copy_plain(void) { CHECK(cudaMemcpy(host, on, 64, cudaMemcpyDeviceToHost)); }
static void fill(void) { CHECK(cudaMemsetAsync(on, 0, 64, stream)); }

static const struct {
	const char *name;
	void (*call)(void);
	int batch;
} rows[] = {
    {"cudaGetDevice", device, 1000}, {"cudaSetDevice", set_device, 1000}, {"cuDevicePrimaryCtxGetState", primary, 1000},
    {"cuCtxGetCurrent", current, 1000}, {"cuCtxSetCurrent", set_current, 1000}, {"cudaGetLastError", last_error, 1000},
    {"cudaPeekAtLastError", peek, 1000}, {"cudaStreamIsCapturing", capturing, 1000}, {"cudaDeviceGetAttribute", attribute, 1000},
    {"cudaOccupancyMaxActiveBlocks", occupancy, 1000}, {"cudaFuncGetAttributes", function, 1000}, {"cudaPointerGetAttributes", pointer, 1000},
    {"cudaStreamQuery, idle", query, 1000}, {"cudaStreamSynchronize, idle", sync_idle, 1000}, {"cudaDeviceSynchronize, idle", sync_device, 1000},
    {"cudaEventQuery, done", event_query, 1000}, {"cudaEventSynchronize, done", event_sync, 1000}, {"cudaStreamWaitEvent, done", wait_event, 1000},
    {"cudaEventRecord", event_record, 200}, {"cuLaunchKernel", launch, 200}, {"cuLaunchKernel, cudaEventRecord", launch_record, 200},
    {"cuLaunchKernel, cudaStreamSynchronize", launch_wait, 200}, {"cuLaunchKernel, cudaDeviceSynchronize", launch_wait_all, 200},
    {"cudaMemcpyAsync to, 64 bytes, and wait", copy_to, 200}, {"cudaMemcpyAsync from, 64 bytes, and wait", copy_from, 200},
    {"cudaMemcpy from, 64 bytes", copy_plain, 200}, {"cudaMemsetAsync, 64 bytes", fill, 200},
    {"cudaMalloc, cudaFree", malloc_free, 200}, {"cudaMallocAsync, cudaFreeAsync", malloc_async, 200},
};

static double now(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv) {
	CUmodule module;
	CHECK(cudaFree(NULL));
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&add, module, "add"));
	CHECK(cudaMalloc((void **)&on, 64));
	CHECK(cudaMallocHost((void **)&pinned, 64));
	memset(pinned, 0, 64);
	CHECK(cudaMemset(on, 0, 64));
	CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&other, cudaEventDisableTiming));
	CHECK(cudaEventRecord(event, stream));
	CHECK(cudaDeviceSynchronize());
	double settle = now(CLOCK_MONOTONIC) + 3e8; // the code that a second compilation makes
	while (now(CLOCK_MONOTONIC) < settle) launch_wait();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int wanted = argc < 2;
		for (int a = 1; a < argc; a++) wanted |= strstr(rows[i].name, argv[a]) != NULL;
		if (!wanted) continue;
		double cpu = 1e18, clock = 1e18, end = now(CLOCK_MONOTONIC) + 2e8;
		while (now(CLOCK_MONOTONIC) < end) {
			double c = now(CLOCK_THREAD_CPUTIME_ID), t = now(CLOCK_MONOTONIC);
			for (int n = 0; n < rows[i].batch; n++) rows[i].call();
			t = (now(CLOCK_MONOTONIC) - t) / rows[i].batch, c = (now(CLOCK_THREAD_CPUTIME_ID) - c) / rows[i].batch;
			if (c < cpu) cpu = c;
			if (t < clock) clock = t;
			CHECK(cudaDeviceSynchronize());
		}
		printf("%-46s %8.0f ns  %8.0f ns by the clock\n", rows[i].name, cpu, clock);
		fflush(stdout);
	}
	return 0;
}
