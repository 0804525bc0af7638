// What the app_ programs share: a module of small kernels, a context, and launches.
#ifndef APP_H
#define APP_H

#include <cuda.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "abi_check.h"

#define OK(call) EXPECT(call, CUDA_SUCCESS)

static const char app_ptx[] =
	".version 7.0\n"
	".target sm_70\n"
	".address_size 64\n"
	".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
	".extern .func (.param .b64 r) malloc (.param .b64 n);\n"
	".extern .func free (.param .b64 p);\n"
	".extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);\n"
	".global .align 1 .b8 format[13] = {116,104,114,101,97,100,32,37,100,10,0};\n" // "thread %d\n"
	".global .align 1 .b8 message[4] = {120,62,48,0};\n"                           // "x>0"
	".global .align 1 .b8 file[5] = {102,46,99,117,0};\n"                          // "f.cu"
	".global .align 1 .b8 function[5] = {109,97,105,110,0};\n"                     // "main"
	".visible .global .align 4 .u32 counter = 7;\n"
	// fill(p, n, v): p[i] = v + i
	".visible .entry fill(.param .u64 p, .param .u32 n, .param .u32 v) {\n"
	"  .reg .pred %q; .reg .b32 %r<8>; .reg .b64 %a<4>;\n"
	"  ld.param.u64 %a0, [p]; ld.param.u32 %r0, [n]; ld.param.u32 %r1, [v];\n"
	"  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;\n"
	"  setp.ge.u32 %q, %r5, %r0; @%q ret;\n"
	"  add.u32 %r6, %r1, %r5; mul.wide.u32 %a1, %r5, 4; add.u64 %a2, %a0, %a1; st.global.u32 [%a2], %r6; ret; }\n"
	// twice(p, n): p[i] *= 2
	".visible .entry twice(.param .u64 p, .param .u32 n) {\n"
	"  .reg .pred %q; .reg .b32 %r<8>; .reg .b64 %a<4>;\n"
	"  ld.param.u64 %a0, [p]; ld.param.u32 %r0, [n];\n"
	"  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;\n"
	"  setp.ge.u32 %q, %r5, %r0; @%q ret;\n"
	"  mul.wide.u32 %a1, %r5, 4; add.u64 %a2, %a0, %a1; ld.global.u32 %r6, [%a2]; shl.b32 %r6, %r6, 1; st.global.u32 [%a2], %r6; ret; }\n"
	// spin(flag): until *flag is not 0
	".visible .entry spin(.param .u64 flag) {\n"
	"  .reg .pred %q; .reg .b32 %r; .reg .b64 %a;\n"
	"  ld.param.u64 %a, [flag];\n"
	"again: ld.volatile.global.u32 %r, [%a]; setp.eq.u32 %q, %r, 0; @%q bra again; ret; }\n"
	// count(): atomic
	".visible .entry count(.param .u64 p) {\n"
	"  .reg .b32 %r; .reg .b64 %a; ld.param.u64 %a, [p]; atom.global.add.u32 %r, [%a], 1; ret; }\n"
	// printer(): thread 2 prints
	".visible .entry printer() {\n"
	"  .local .align 8 .b32 args[2]; .reg .pred %q; .reg .b32 %r<2>; .reg .b64 %a<3>;\n"
	"  mov.u32 %r0, %tid.x; setp.ne.u32 %q, %r0, 2; @%q ret;\n"
	"  mov.u64 %a0, args; cvta.local.u64 %a0, %a0; st.u32 [%a0], %r0; mov.u64 %a1, format; cvta.global.u64 %a1, %a1;\n"
	"  { .param .b64 f; .param .b64 x; .param .b32 n; st.param.b64 [f], %a1; st.param.b64 [x], %a0; call.uni (n), vprintf, (f, x); ld.param.b32 %r1, [n]; }\n"
	"  ret; }\n"
	// heap(p): p[tid] = value stored in memory of the device heap
	".visible .entry heap(.param .u64 p) {\n"
	"  .reg .b32 %r<3>; .reg .b64 %a<6>;\n"
	"  ld.param.u64 %a0, [p]; mov.u32 %r0, %tid.x; mov.u64 %a1, 64;\n"
	"  { .param .b64 n; .param .b64 m; st.param.b64 [n], %a1; call.uni (m), malloc, (n); ld.param.b64 %a2, [m]; }\n"
	"  st.u32 [%a2+60], %r0; ld.u32 %r1, [%a2+60]; add.u32 %r1, %r1, 5; mul.wide.u32 %a3, %r0, 4; add.u64 %a4, %a0, %a3; st.global.u32 [%a4], %r1;\n"
	"  { .param .b64 m; st.param.b64 [m], %a2; call.uni free, (m); }\n"
	"  ret; }\n"
	// The faults: one statement a line, because the line is reported.
	".visible .entry poke(.param .u64 p, .param .u32 who) {\n"
	"  .reg .pred %q; .reg .b32 %r<4>; .reg .b64 %a;\n"
	"  ld.param.u64 %a, [p]; ld.param.u32 %r0, [who];\n"
	"  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;\n"
	"  setp.ne.u32 %q, %r1, %r0; @%q ret;\n"
	"  st.global.u32 [%a], %r1;\n"
	"  ret; }\n"
	".visible .entry trapper(.param .u64 p, .param .u32 who) {\n"
	"  .reg .pred %q; .reg .b32 %r<4>;\n"
	"  ld.param.u32 %r0, [who];\n"
	"  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;\n"
	"  setp.ne.u32 %q, %r1, %r0; @%q ret;\n"
	"  trap;\n"
	"  ret; }\n"
	".visible .entry asserter(.param .u64 p, .param .u32 who) {\n"
	"  .reg .pred %q; .reg .b32 %r<5>; .reg .b64 %a<4>;\n"
	"  ld.param.u32 %r0, [who];\n"
	"  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;\n"
	"  setp.ne.u32 %q, %r1, %r0; @%q ret;\n"
	"  mov.u64 %a0, message; cvta.global.u64 %a0, %a0; mov.u64 %a1, file; cvta.global.u64 %a1, %a1; mov.u64 %a2, function; cvta.global.u64 %a2, %a2; mov.u32 %r4, 42; mov.u64 %a3, 1;\n"
	"  { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s; st.param.b64 [m], %a0; st.param.b64 [f], %a1; st.param.b32 [l], %r4; st.param.b64 [n], %a2; st.param.b64 [s], %a3;\n"
	"  call.uni __assertfail, (m, f, l, n, s); }\n"
	"  ret; }\n";

typedef struct {
	CUdevice dev;
	CUcontext ctx;
	CUmodule mod;
} App;

// app_start initialises the driver and loads the module into the primary context.
static inline int app_start(App *a) {
	int e = cuInit(0);
	if (!e) e = cuDeviceGet(&a->dev, 0);
	if (!e) e = cuDevicePrimaryCtxRetain(&a->ctx, a->dev);
	if (!e) e = cuCtxSetCurrent(a->ctx);
	if (!e) e = cuModuleLoadData(&a->mod, app_ptx);
	return e;
}

static inline CUfunction app_kernel(App *a, const char *name) {
	CUfunction f = 0;
	OK(cuModuleGetFunction(&f, a->mod, name));
	return f;
}

// app_fill launches fill on a stream.
static inline int app_fill(App *a, CUdeviceptr p, unsigned n, unsigned v, CUstream s) {
	void *args[] = {&p, &n, &v};
	return cuLaunchKernel(app_kernel(a, "fill"), (n + 63) / 64, 1, 1, 64, 1, 1, 0, s, args, 0);
}

// app_works fills, doubles and reads back: everything a program needs.
static inline int app_works(App *a) {
	enum { N = 1000 };
	unsigned out[N], n = N;
	CUdeviceptr p = 0;
	void *args[] = {&p, &n};
	int e = cuMemAlloc(&p, sizeof out);
	if (!e) e = app_fill(a, p, N, 100, 0);
	if (!e) e = cuLaunchKernel(app_kernel(a, "twice"), (N + 63) / 64, 1, 1, 64, 1, 1, 0, 0, args, 0);
	if (!e) e = cuMemcpyDtoH(out, p, sizeof out);
	if (!e) e = cuMemFree(p);
	for (unsigned i = 0; !e && i < N; i++)
		if (out[i] != 2 * (100 + i)) e = -1;
	return e;
}

#endif
