// Frames through two streams, for traces and timelines: uploads on one, kernels on the other, a host function, NVTX ranges, and a graph.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

int nvtxRangePushA(const char *text);
int nvtxRangePop(void);
void nvtxMarkA(const char *text);
void nvtxNameCuStreamA(CUstream stream, const char *name);

static const char ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry smooth(.param .u64 to, .param .u64 from, .param .u32 n) {\n"
	"	.reg .u64 %d<8>; .reg .u32 %r<8>; .reg .f32 %f<8>; .reg .pred %p;\n"
	"	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
	"	ld.param.u32 %r2, [n]; ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from];\n"
	"	setp.ge.u32 %p, %r1, %r2; @%p bra out;\n"
	"	mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;\n"
	"	ld.global.f32 %f1, [%d2]; mov.u32 %r4, 0;\n"
	"again:\n"
	"	fma.rn.f32 %f1, %f1, 0f3F7FF972, 0f38D1B717; sqrt.rn.f32 %f2, %f1; mul.f32 %f1, %f2, %f2;\n"
	"	add.u32 %r4, %r4, 1; setp.lt.u32 %p, %r4, 24; @%p bra again;\n"
	"	st.global.f32 [%d1], %f1;\n"
	"out:	ret;\n}\n"
	".visible .entry total(.param .u64 to, .param .u64 from, .param .u32 n) {\n"
	"	.reg .u64 %d<8>; .reg .u32 %r<8>; .reg .f32 %f<8>; .reg .pred %p;\n"
	"	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
	"	ld.param.u32 %r2, [n]; ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from];\n"
	"	mov.u32 %r5, %nctaid.x; mov.u32 %r6, %ntid.x; mul.lo.u32 %r5, %r5, %r6; mov.f32 %f1, 0f00000000;\n"
	"next:	setp.ge.u32 %p, %r1, %r2; @%p bra out;\n"
	"	mul.wide.u32 %d3, %r1, 4; add.u64 %d4, %d2, %d3; ld.global.f32 %f2, [%d4]; add.f32 %f1, %f1, %f2;\n"
	"	add.u32 %r1, %r1, %r5; bra next;\n"
	"out:	red.global.add.f32 [%d1], %f1; ret;\n}\n";

enum { N = 1 << 18, FRAMES = 4 };

#define OK(x) do { CUresult rc = (x); if (rc) { printf("line %d: %d\n", __LINE__, rc); exit(1); } } while (0)

static void CUDA_CB shown(void *frames) { ++*(int *)frames; }

int main(void) {
	CUcontext ctx;
	CUmodule mod;
	CUfunction smooth, total;
	CUstream up, work;
	CUevent ready;
	CUdeviceptr in, out, sum;
	float *host = malloc(N * sizeof *host), result;
	unsigned n = N;
	int frames = 0;
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&ctx, 0));
	OK(cuCtxSetCurrent(ctx));
	OK(cuModuleLoadData(&mod, ptx));
	OK(cuModuleGetFunction(&smooth, mod, "smooth"));
	OK(cuModuleGetFunction(&total, mod, "total"));
	OK(cuStreamCreate(&up, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&work, CU_STREAM_NON_BLOCKING));
	nvtxNameCuStreamA(up, "uploads");
	nvtxNameCuStreamA(work, "work");
	OK(cuEventCreate(&ready, CU_EVENT_DISABLE_TIMING));
	OK(cuMemAlloc(&in, N * sizeof *host));
	OK(cuMemAlloc(&out, N * sizeof *host));
	OK(cuMemAlloc(&sum, 4));
	for (int i = 0; i < N; i++) host[i] = (float)(i % 100) / 100;
	void *forth[] = {&out, &in, &n}, *back[] = {&in, &out, &n}, *add[] = {&sum, &in, &n};
	for (int f = 0; f < FRAMES; f++) {
		char name[32];
		snprintf(name, sizeof name, "frame %d", f);
		nvtxRangePushA(name);
		nvtxRangePushA("upload");
		OK(cuMemcpyHtoDAsync(in, host, N * sizeof *host, up));
		OK(cuEventRecord(ready, up));
		nvtxRangePop();
		nvtxRangePushA("compute");
		OK(cuStreamWaitEvent(work, ready, 0));
		OK(cuMemsetD32Async(sum, 0, 1, work));
		for (int k = 0; k < 4; k++) OK(cuLaunchKernel(smooth, N / 256, 1, 1, 256, 1, 1, 0, work, k % 2 ? back : forth, NULL));
		OK(cuLaunchKernel(total, 64, 1, 1, 256, 1, 1, 0, work, add, NULL));
		OK(cuMemcpyDtoHAsync(&result, sum, 4, work));
		OK(cuLaunchHostFunc(work, shown, &frames));
		nvtxRangePop();
		OK(cuStreamSynchronize(work));
		nvtxMarkA("shown");
		nvtxRangePop();
	}
	CUgraph graph;
	CUgraphExec exec;
	nvtxRangePushA("graph");
	OK(cuStreamBeginCapture(work, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	OK(cuLaunchKernel(smooth, N / 256, 1, 1, 256, 1, 1, 0, work, forth, NULL));
	OK(cuLaunchKernel(smooth, N / 256, 1, 1, 256, 1, 1, 0, work, back, NULL));
	OK(cuStreamEndCapture(work, &graph));
	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(cuGraphLaunch(exec, work));
	OK(cuStreamSynchronize(work));
	nvtxRangePop();
	OK(cuGraphExecDestroy(exec));
	OK(cuGraphDestroy(graph));
	OK(cuMemFree(in));
	OK(cuMemFree(out));
	OK(cuMemFree(sum));
	OK(cuStreamDestroy(up));
	OK(cuStreamDestroy(work));
	puts(frames == FRAMES && result > 100 && result < N ? "ok" : "wrong");
	return 0;
}
