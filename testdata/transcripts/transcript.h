// What the transcript programs share. A program is a list of groups; each group runs in a process of its own, because a real
// driver may crash or poison its context, and prints one line a call: its text and the CUresult. Numbers that belong to one
// device are never printed, only what holds between them. The answers of a real driver (an H200, driver 580) are in
// want/<group>.txt; one that ends in "crash" or "timeout" is what the real driver came to,
// and only the lines before it count. open.txt lists the groups where Kudzu answers otherwise, and why.
#ifndef TRANSCRIPT_H
#define TRANSCRIPT_H

#include <cuda.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void (*group_fn)(void);
static struct {
	const char *name;
	group_fn run;
} groups_[64];
static int ngroups_;

// GROUP declares one group; groups run in the order of the file.
#define GROUP(id)                                                                                                              \
	static void group_##id(void);                                                                                              \
	__attribute__((constructor)) static void reg_##id(void) {                                                                  \
		groups_[ngroups_].name = #id;                                                                                          \
		groups_[ngroups_++].run = group_##id;                                                                                  \
	}                                                                                                                          \
	static void group_##id(void)

static inline int say_(const char *text, int code) {
	printf("%s = %d\n", text, code);
	fflush(stdout);
	return code;
}

#define T(call) say_(#call, (int)(call))                                           // a call and its answer
#define N(what) (printf("  %s: %lld\n", #what, (long long)(what)), fflush(stdout)) // a number
#define X(what) (printf("  %s: %#llx\n", #what, (unsigned long long)(what)), fflush(stdout))
#define S(what) (printf("  %s: %s\n", #what, (what) ? (const char *)(what) : "(null)"), fflush(stdout))
#define B(what) (printf("  %s: %s\n", #what, (what) ? "yes" : "no"), fflush(stdout))
#define NOTE(text) (printf("- %s\n", text), fflush(stdout))

// QUIET is for calls that only prepare: they must succeed, and are not printed.
#define QUIET(call)                                                                                                            \
	do {                                                                                                                       \
		int e_ = (int)(call);                                                                                                  \
		if (e_) {                                                                                                              \
			printf("PREPARE %s = %d\n", #call, e_);                                                                            \
			fflush(stdout);                                                                                                    \
		}                                                                                                                      \
	} while (0)

static const char kernels_[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .global .align 4 .u32 counter = 7;\n"
	".visible .const .align 4 .u32 constant[4] = {1, 2, 3, 4};\n"
	".global .align 4 .u32 hidden;\n"
	".visible .entry empty() { ret; }\n"
	// inc(p): *p += 1, by one thread
	".visible .entry inc(.param .u64 p) {\n"
	"  .reg .pred %q; .reg .b32 %r<4>; .reg .b64 %a; ld.param.u64 %a, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; or.b32 %r0, %r0, %r1;\n"
	"  setp.ne.u32 %q, %r0, 0; @%q ret; ld.global.u32 %r2, [%a]; add.u32 %r2, %r2, 1; st.global.u32 [%a], %r2; ret; }\n"
	// set(p, v): *p = v
	".visible .entry set(.param .u64 p, .param .u32 v) {\n"
	"  .reg .b32 %r; .reg .b64 %a; ld.param.u64 %a, [p]; ld.param.u32 %r, [v]; st.global.u32 [%a], %r; ret; }\n"
	// spin(flag): until *flag is not 0
	".visible .entry spin(.param .u64 flag) {\n"
	"  .reg .pred %q; .reg .b32 %r; .reg .b64 %a; ld.param.u64 %a, [flag];\n"
	"again: ld.volatile.global.u32 %r, [%a]; setp.eq.u32 %q, %r, 0; @%q bra again; ret; }\n"
	// mixed(a, b, c, d): parameters of every alignment
	".visible .entry mixed(.param .u8 a, .param .u64 b, .param .align 4 .b8 c[12], .param .u16 d) { ret; }\n"
	".visible .entry small() .maxntid 64, 1, 1 { ret; }\n"
	".visible .entry fixed() .reqntid 32, 2, 1 { ret; }\n"
	".visible .entry shared(.param .u64 p) { .shared .align 4 .b8 s[1024]; .reg .b32 %r; .reg .b64 %a; ld.param.u64 %a, [p]; mov.u32 %r, s; st.global.u32 [%a], %r; ret; }\n"
	".visible .entry poke(.param .u64 p) { .reg .b32 %r; .reg .b64 %a; ld.param.u64 %a, [p]; mov.u32 %r, 1; st.global.u32 [%a], %r; ret; }\n"
	".visible .entry trapper() { trap; }\n"
	".func (.reg .b32 o) helper(.reg .b32 i) { add.u32 o, i, 1; ret; }\n";

static CUdevice dev;
static CUcontext ctx;
static CUmodule mod;

static inline void start_driver(void) {
	QUIET(cuInit(0));
	QUIET(cuDeviceGet(&dev, 0));
}

static inline void start(void) {
	start_driver();
	QUIET(cuDevicePrimaryCtxRetain(&ctx, dev));
	QUIET(cuCtxSetCurrent(ctx));
}

static inline CUfunction kernel(const char *name) {
	CUfunction f = 0;
	if (!mod) QUIET(cuModuleLoadData(&mod, kernels_));
	QUIET(cuModuleGetFunction(&f, mod, name));
	return f;
}

static inline int inc_on(CUdeviceptr p, CUstream s) {
	void *args[] = {&p};
	return cuLaunchKernel(kernel("inc"), 1, 1, 1, 1, 1, 1, 0, s, args, 0);
}

static inline int set_on(CUdeviceptr p, unsigned v, CUstream s) {
	void *args[] = {&p, &v};
	return cuLaunchKernel(kernel("set"), 1, 1, 1, 1, 1, 1, 0, s, args, 0);
}

static inline unsigned word(CUdeviceptr p) {
	unsigned v = 0xdeadbeef;
	QUIET(cuMemcpyDtoH(&v, p, 4));
	return v;
}

// gate is a word of host memory that streams can wait for: no work of theirs passes before it is opened.
typedef struct {
	volatile unsigned *host;
	CUdeviceptr dev;
} gate;

static inline gate new_gate(void) {
	gate g = {0, 0};
	QUIET(cuMemHostAlloc((void **)&g.host, 64, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
	QUIET(cuMemHostGetDevicePointer(&g.dev, (void *)g.host, 0));
	*g.host = 0;
	return g;
}

static inline int hold(gate g, CUstream s) { return cuStreamWaitValue32(s, g.dev, 1, CU_STREAM_WAIT_VALUE_GEQ); }
static inline void open_gate(gate g) { __atomic_store_n(g.host, 1, __ATOMIC_SEQ_CST); }

static inline CUstream new_stream(unsigned flags) {
	CUstream s = 0;
	QUIET(cuStreamCreate(&s, flags));
	return s;
}

static inline CUevent new_event(unsigned flags) {
	CUevent e = 0;
	QUIET(cuEventCreate(&e, flags));
	return e;
}

static inline CUdeviceptr new_memory(size_t n) {
	CUdeviceptr p = 0;
	QUIET(cuMemAlloc(&p, n));
	if (p) QUIET(cuMemsetD8(p, 0, n));
	if (p) QUIET(cuCtxSynchronize());
	return p;
}

static void crashed_(int sig) {
	char text[] = "crash\n";
	(void)!write(1, text, sizeof text - 1);
	_exit(128 + sig);
}

static void late_(int sig) {
	char text[] = "timeout\n";
	(void)!write(1, text, sizeof text - 1);
	_exit(128 + sig);
}

// Without an argument the names of the groups; with one, that group.
int main(int argc, char **argv) {
	setvbuf(stdout, 0, _IOLBF, 0);
	for (int i = 0; i < ngroups_; i++) {
		if (argc < 2) {
			puts(groups_[i].name);
			continue;
		}
		if (strcmp(argv[1], groups_[i].name)) continue;
		signal(SIGSEGV, crashed_);
		signal(SIGBUS, crashed_);
		signal(SIGABRT, crashed_);
		signal(SIGALRM, late_);
		alarm(20);
		groups_[i].run();
		fflush(stdout);
		_exit(0); // work that still waits must not hold the process
	}
	return argc < 2 ? 0 : 2;
}

#endif
