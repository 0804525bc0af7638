// Sizes that a module or a launch may not pass, in the assembler's words, and which calls wait for a kernel that does not end.
#include "transcript.h"

static void load_(const char *format, long a, long b) {
	static char text[65536], log[4096];
	CUjit_option o[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *v[] = {log, (void *)(uintptr_t)sizeof log}, *args[2], *p = 0;
	static char bytes[40000];
	CUmodule m = 0; CUfunction f = 0;
	log[0] = 0;
	snprintf(text, sizeof text, format, a, b);
	int r = cuModuleLoadDataEx(&m, text, 2, o, v);
	printf("  %ld: load %d %s\n", a, r, log);
	fflush(stdout);
	if (r) return;
	QUIET(cuMemAlloc((CUdeviceptr *)&p, 16));
	args[0] = &p;
	args[1] = bytes;
	QUIET(cuModuleGetFunction(&f, m, "k"));
	printf("  %ld: launch %d\n", a, cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, args, 0));
	printf("  %ld: synchronize %d\n", a, cuCtxSynchronize());
	fflush(stdout);
}

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define PARAM ".reg .u64 %%rd<4>; .reg .u32 %%r<4>; ld.param.u64 %%rd1, [p];"
static const char shared_[] = HEAD ".visible .entry k(.param .u64 p) { " PARAM " .shared .align 16 .b8 s[%ld]; mov.u32 %%r2, %%tid.x; mov.u32 %%r1, s; add.u32 %%r1, %%r1, %%r2;"
	" st.shared.u8 [%%r1], %%r2; bar.sync 0; ld.shared.u8 %%r3, [s+%ld]; st.global.u32 [%%rd1], %%r3; ret; }\n";
static const char called_[] = HEAD ".shared .align 16 .b8 s[%ld]; .func f(.param .b32 i) { .shared .align 16 .b8 t[%ld]; .reg .u32 %%r; ld.param.b32 %%r, [i]; st.shared.u32 [t], %%r; bar.sync 0; ret; }\n"
	".visible .entry k(.param .u64 p) { " PARAM " mov.u32 %%r2, %%tid.x; st.shared.u8 [s], %%r2; { .param .b32 a; st.param.b32 [a], %%r2; call f, (a); } ld.shared.u8 %%r3, [s]; st.global.u32 [%%rd1], %%r3; ret; }\n";
static const char local_[] = HEAD ".visible .entry k(.param .u64 p) { " PARAM " .local .align 16 .b8 s[%ld]; mov.u32 %%r2, %%tid.x; mov.u64 %%rd2, s; cvt.u64.u32 %%rd3, %%r2;"
	" add.u64 %%rd2, %%rd2, %%rd3; st.local.u8 [%%rd2], %%r2; ld.local.u8 %%r3, [s+%ld]; st.global.u32 [%%rd1], %%r3; ret; }\n";
static const char const_[] = HEAD ".const .align 16 .b8 c[%ld]; .visible .entry k(.param .u64 p) { " PARAM " ld.const.u8 %%r3, [c+%ld]; st.global.u32 [%%rd1], %%r3; ret; }\n";
static const char consts_[] = HEAD ".const .align 16 .b8 c[%ld]; .const .align 16 .b8 d[%ld]; .visible .entry k(.param .u64 p) { " PARAM " ld.const.u8 %%r3, [c]; st.global.u32 [%%rd1], %%r3; ret; }\n";
static const char param_[] = HEAD ".visible .entry k(.param .u64 p, .param .align 4 .b8 q[%ld]) { " PARAM " ld.param.u8 %%r3, [q+%ld]; st.global.u32 [%%rd1], %%r3; ret; }\n";
static const char newer_[] = ".version 8.1\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .align 4 .b8 q[%ld]) { " PARAM " ld.param.u8 %%r3, [q+%ld]; st.global.u32 [%%rd1], %%r3; ret; }\n";

GROUP(size_shared) {
	start();
	static const long sizes[] = {49152, 49153, 65536, 232448, 232449, 1 << 20};
	for (int i = 0; i < 6; i++) load_(shared_, sizes[i], sizes[i] - 1);
	NOTE("a function's besides");
	load_(called_, 200000, 32448);
	load_(called_, 200000, 32449);
}

GROUP(size_local) {
	start();
	static const long sizes[] = {16384, 131072, 262144, 524289, 1 << 20, 1 << 24};
	for (int i = 0; i < 6; i++) load_(local_, sizes[i], sizes[i] - 1);
}

GROUP(size_const) {
	start();
	static const long sizes[] = {65536, 65537, 65552, 1 << 20};
	for (int i = 0; i < 4; i++) load_(const_, sizes[i], sizes[i] - 1);
	NOTE("two of them, one not used");
	load_(consts_, 32768, 32768);
	load_(consts_, 32769, 32752);
	load_(consts_, 32769, 32753);
}

GROUP(size_param) {
	start();
	static const long sizes[] = {4088, 4096, 4344, 4348, 32756, 32760};
	for (int i = 0; i < 6; i++) load_(param_, sizes[i], sizes[i] - 1);
	NOTE("release 8.1");
	for (int i = 2; i < 6; i++) load_(newer_, sizes[i], sizes[i] - 1);
}

// A call that a thread makes while a kernel runs: it is done, or it waits until the kernel ends.
static CUcontext own_;
static CUmodule used_, other_;
static CUdeviceptr memory_, free_;
static CUstream stream_, idle_;
static CUevent event_;
static int which_, done_, code_;
static const char *calls_[] = {"cuModuleUnload of the kernel's", "cuModuleUnload of another", "cuMemFree", "cuMemFree of memory in use", "cuEventDestroy",
	"cuStreamQuery", "cuMemAlloc", "cuMemAllocHost", "cuModuleGetFunction", "launch elsewhere", "cuMemsetD8", "cuMemcpyDtoH", "cuStreamCreate", "cuDevicePrimaryCtxReset",
	"cuDevicePrimaryCtxRelease", "cuCtxDestroy"};

static void *call_(void *x) {
	CUfunction f = 0; CUdeviceptr p = 0; void *h = 0; CUstream s = 0; unsigned v = 0; int r = -1;
	cuCtxSetCurrent(own_ ? own_ : ctx);
	switch (which_) {
	case 0: r = cuModuleUnload(used_); break;
	case 1: r = cuModuleUnload(other_); break;
	case 2: r = cuMemFree(free_); break;
	case 3: r = cuMemFree(memory_); break;
	case 4: r = cuEventDestroy(event_); break;
	case 5: r = cuStreamQuery(stream_); break;
	case 6: r = cuMemAlloc(&p, 1 << 20); break;
	case 7: r = cuMemAllocHost(&h, 1 << 20); break;
	case 8: r = cuModuleGetFunction(&f, other_, "inc"); break;
	case 9:
		QUIET(cuModuleGetFunction(&f, other_, "empty"));
		r = cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, idle_, 0, 0);
		if (!r) r = cuStreamSynchronize(idle_);
		break;
	case 10: r = cuMemsetD8(free_, 0, 4); break;
	case 11: r = cuMemcpyDtoH(&v, free_, 4); break;
	case 12: r = cuStreamCreate(&s, 0); break;
	case 13: r = cuDevicePrimaryCtxReset(dev); break;
	case 14: r = cuDevicePrimaryCtxRelease(dev); break;
	case 15: r = cuCtxDestroy(own_); break;
	}
	code_ = r;
	__atomic_store_n(&done_, 1, __ATOMIC_SEQ_CST);
	return x;
}

static void while_running_(int which) {
	CUfunction f = 0; pthread_t t; gate g = new_gate(); void *args[] = {&g.dev};
	QUIET(cuModuleLoadData(&used_, kernels_));
	QUIET(cuModuleLoadData(&other_, kernels_));
	QUIET(cuMemAlloc(&memory_, 64));
	QUIET(cuMemAlloc(&free_, 64));
	QUIET(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
	QUIET(cuStreamCreate(&idle_, CU_STREAM_NON_BLOCKING));
	QUIET(cuEventCreate(&event_, 0));
	QUIET(cuModuleGetFunction(&f, other_, "empty"));
	QUIET(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, idle_, 0, 0));
	QUIET(cuStreamSynchronize(idle_));
	QUIET(cuModuleGetFunction(&f, used_, "spin"));
	QUIET(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream_, args, 0));
	which_ = which;
	done_ = 0;
	pthread_create(&t, 0, call_, 0);
	for (int i = 0; i < 100 && !__atomic_load_n(&done_, __ATOMIC_SEQ_CST); i++) usleep(5000);
	int waits = !done_;
	open_gate(g);
	pthread_join(t, 0);
	printf("  %s: %s, %d\n", calls_[which], waits ? "waits" : "done", code_);
	fflush(stdout);
}

GROUP(endless) {
	start();
	for (int i = 0; i < 13; i++) while_running_(i);
}

GROUP(endless_reset) {
	start();
	while_running_(13);
}

GROUP(endless_release) {
	start();
	while_running_(14);
}

GROUP(endless_destroy) {
	start_driver();
	QUIET(cuCtxCreate_v2(&own_, 0, dev));
	while_running_(15);
}
