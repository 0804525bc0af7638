// What is left after a kernel fails: which calls answer, which repeat the error, what a new context can do.
#include "transcript.h"

static void after_(void) {
	CUdeviceptr q = 0; CUstream s = 0; CUevent e = 0; CUmodule m = 0; CUcontext c = 0; size_t n = 0; CUdevice d = 0; unsigned v = 0; int i = 0;
	T(cuCtxSynchronize());
	T(cuCtxSynchronize());
	T(cuStreamSynchronize(0));
	T(cuStreamQuery(0));
	T(cuMemAlloc(&q, 16));
	T(cuMemGetInfo(&n, &n));
	T(cuStreamCreate(&s, 0));
	T(cuEventCreate(&e, 0));
	T(cuModuleLoadData(&m, kernels_));
	T(cuCtxGetCurrent(&c));
	T(cuCtxGetDevice(&d));
	T(cuCtxGetFlags(&v));
	T(cuCtxGetLimit(&n, CU_LIMIT_STACK_SIZE));
	T(cuDeviceGetCount(&i));
	T(cuDeviceGetAttribute(&i, CU_DEVICE_ATTRIBUTE_WARP_SIZE, dev));
	T(cuDevicePrimaryCtxGetState(dev, &v, &i));
	N(i);
}

GROUP(fault_address) {
	start();
	CUdeviceptr p = new_memory(16), bad = 16; CUfunction f = kernel("poke"); CUstream s = new_stream(0); CUevent e = new_event(0), before = new_event(0); void *args[] = {&bad}; unsigned v = 0;
	QUIET(cuEventRecord(before, s));
	QUIET(cuStreamSynchronize(s));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, args, 0));
	T(cuStreamSynchronize(s));
	T(cuEventRecord(e, s));
	T(cuEventQuery(before));
	T(cuEventSynchronize(before));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
	T(cuMemcpyDtoH(&v, p, 4));
	T(cuMemsetD8Async(p, 0, 4, s));
	T(cuFuncGetAttribute((int *)&v, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
	T(cuModuleGetFunction(&f, mod, "inc"));
	T(cuStreamDestroy(s));
	T(cuEventDestroy(e));
	T(cuMemFree(p));
	T(cuModuleUnload(mod));
	after_();
	NOTE("release and retain the primary context");
	CUcontext c = 0;
	T(cuDevicePrimaryCtxRelease(dev));
	T(cuDevicePrimaryCtxRetain(&c, dev));
	T(cuCtxSetCurrent(c));
	T(cuMemAlloc(&p, 16));
	T(cuCtxSynchronize());
	NOTE("a context of its own");
	T(cuCtxCreate_v2(&c, 0, dev));
	T(cuMemAlloc(&p, 16));
	T(cuCtxSynchronize());
	T(cuDevicePrimaryCtxReset(dev));
	T(cuMemAlloc(&p, 16));
	T(cuCtxSynchronize());
}

GROUP(fault_created) {
	start_driver();
	CUcontext a = 0, b = 0; CUdeviceptr p = 0, bad = 16; void *args[] = {&bad};
	QUIET(cuCtxCreate_v2(&a, 0, dev));
	QUIET(cuCtxCreate_v2(&b, 0, dev));
	T(cuLaunchKernel(kernel("poke"), 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
	T(cuCtxSynchronize());
	T(cuCtxSetCurrent(a));
	T(cuCtxSynchronize());
	T(cuMemAlloc(&p, 16));
	T(cuCtxDestroy(b));
	T(cuCtxSynchronize());
	T(cuMemAlloc(&p, 16));
	T(cuCtxCreate_v2(&b, 0, dev));
	T(cuMemAlloc(&p, 16));
}

GROUP(fault_trap) {
	start();
	T(cuLaunchKernel(kernel("trapper"), 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
	after_();
}

GROUP(fault_align) {
	start();
	CUdeviceptr p = new_memory(16), bad = p + 2; void *args[] = {&bad};
	T(cuLaunchKernel(kernel("poke"), 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
	after_();
}

static int status_ = -1;
static int calls_;
static void CUDA_CB callback_(CUstream s, CUresult st, void *x) { (void)s; (void)x; status_ = (int)st; }
static void CUDA_CB called_(void *x) { (void)x; calls_++; }

GROUP(fault_callback) {
	start();
	CUdeviceptr bad = 16; void *args[] = {&bad}; CUstream s = new_stream(0);
	CUfunction f = kernel("poke"); gate g = new_gate();
	QUIET(hold(g, s));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, args, 0));
	T(cuStreamAddCallback(s, callback_, 0, 0));
	T(cuLaunchHostFunc(s, called_, 0));
	open_gate(g);
	T(cuStreamSynchronize(s));
	usleep(300000);
	N(status_);
	N(calls_);
}

// More ways to fail, in a module of their own.
static const char ways_[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
	".global .align 1 .b8 text[4] = {97, 98, 99, 0};\n"
	".visible .entry breakpoint() { brkpt; ret; }\n"
	".visible .entry space() { .reg .u64 %a; .reg .u32 %r; .shared .b32 s; mov.u64 %a, s; cvta.shared.u64 %a, %a; atom.global.add.u32 %r, [%a], 1; ret; }\n"
	".visible .entry target(.param .u64 p) { .reg .u64 %a; ld.param.u64 %a, [p]; proto: .callprototype _ (); call %a, (), proto; ret; }\n"
	".func deeper(.param .b32 n) { .reg .u32 %n; .reg .pred %p; .local .align 16 .b8 b[4096]; .reg .u64 %d; ld.param.b32 %n, [n]; mov.u64 %d, b; st.local.u32 [%d], %n;"
	" add.u32 %n, %n, 1; setp.eq.u32 %p, %n, 0; @%p bra E; { .param .b32 q; st.param.b32 [q], %n; call deeper, (q); } ld.local.u32 %n, [%d]; E: ret; }\n"
	".visible .entry stack() { { .param .b32 q; st.param.b32 [q], 1; call deeper, (q); } ret; }\n"
	".visible .entry assertion() { .reg .u64 %a; mov.u64 %a, text; cvta.global.u64 %a, %a; { .param .b64 p0; st.param.b64 [p0], %a; .param .b64 p1; st.param.b64 [p1], %a;"
	" .param .b32 p2; st.param.b32 [p2], 7; .param .b64 p3; st.param.b64 [p3], %a; .param .b64 p4; st.param.b64 [p4], 1; call __assertfail, (p0, p1, p2, p3, p4); } ret; }\n";

static void way_(const char *name) {
	start();
	CUfunction f = 0; CUdeviceptr p = 0x123456789000; void *args[] = {&p};
	QUIET(cuModuleLoadData(&mod, ways_));
	QUIET(cuModuleGetFunction(&f, mod, name));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
	after_();
	CUgraph g = 0; CUarray a = 0; CUDA_ARRAY_DESCRIPTOR d = {16, 16, CU_AD_FORMAT_FLOAT, 1}; CUdeviceptr q = 0; void *h = 0; CUcontext c = 0; int low = 0, high = 0;
	T(cuMemAllocHost(&h, 16));
	T(cuMemAllocAsync(&q, 16, 0));
	T(cuArrayCreate(&a, &d));
	T(cuGraphCreate(&g, 0));
	T(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048));
	T(cuCtxGetStreamPriorityRange(&low, &high));
	T(cuCtxPushCurrent(ctx));
	T(cuCtxPopCurrent(&c));
}

GROUP(fault_breakpoint) { way_("breakpoint"); }
GROUP(fault_space) { way_("space"); }
GROUP(fault_target) { way_("target"); }
GROUP(fault_stack) { way_("stack"); }
GROUP(fault_assert) { way_("assertion"); }
