// Kernels without an end, where launches may run for a time only (KUDZU_LAUNCH_TIMEOUT): app_endless KERNEL BLOCKS THREADS.
// "time" is one that ends in time, "exit" a program that ends beside one, "destroy" a context that does.
#include "app.h"
#include <unistd.h>

static const char endless_ptx[] =
	".version 7.8\n.target sm_90\n.address_size 64\n"
	".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
	".global .align 1 .b8 format[2] = {46,0};\n"
	".visible .entry loop() {\n"
	"again:\n"
	"  bra again;\n"
	"}\n"
	".visible .entry divergent() {\n"
	"  .reg .pred %q; .reg .b32 %r;\n"
	"  mov.u32 %r, %laneid; setp.ne.u32 %q, %r, 3; @%q ret;\n"
	"again:\n"
	"  add.u32 %r, %r, 2; setp.ne.u32 %q, %r, 2; @%q bra again; ret; }\n"
	".visible .entry barrier() {\n"
	"again: bar.sync 0; bra again; }\n"
	".visible .entry spin(.param .u64 flag) {\n"
	"  .reg .pred %q; .reg .b32 %r; .reg .b64 %a; ld.param.u64 %a, [flag];\n"
	"again: ld.volatile.global.u32 %r, [%a]; setp.eq.u32 %q, %r, 0; @%q bra again; ret; }\n"
	".visible .entry lock(.param .u64 flag) {\n" // nobody gives it back
	"  .reg .pred %q; .reg .b32 %r; .reg .b64 %a; ld.param.u64 %a, [flag];\n"
	"again: atom.global.cas.b32 %r, [%a], 0, 1; setp.ne.u32 %q, %r, 0; @%q bra again; bar.sync 0; bra again; }\n"
	".visible .entry sleep() {\n"
	"again: nanosleep.u32 1000; bra again; }\n"
	".visible .entry print() {\n"
	"  .reg .b32 %r; .reg .b64 %a;\n"
	"  mov.u64 %a, format; cvta.global.u64 %a, %a;\n"
	"again:\n"
	"  { .param .b64 f; .param .b64 x; .param .b32 n; st.param.b64 [f], %a; st.param.b64 [x], 0; call.uni (n), vprintf, (f, x); ld.param.b32 %r, [n]; }\n"
	"  bra again; }\n"
	".visible .entry cluster() .explicitcluster .reqnctapercluster 2 {\n"
	"  .reg .pred %q; .reg .b32 %r;\n"
	"again: barrier.cluster.arrive; barrier.cluster.wait; bra again; }\n";

static CUfunction endless(const char *name) {
	CUmodule m = 0;
	CUfunction f = 0;
	OK(cuModuleLoadData(&m, endless_ptx));
	OK(cuModuleGetFunction(&f, m, name));
	return f;
}

int main(int argc, char **argv) {
	if (argc < 4) return 2;
	App primary, own;
	unsigned blocks = atoi(argv[2]), threads = atoi(argv[3]);
	int limited = 0;
	OK(app_start(&primary));
	OK(cuDeviceGetAttribute(&limited, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, primary.dev));
	printf("limited %d\n", limited);
	own = primary;
	OK(cuCtxCreate(&own.ctx, 0, 0, primary.dev));
	OK(cuModuleLoadData(&own.mod, app_ptx));
	OK(app_works(&own));
	int leave = !strcmp(argv[1], "exit"), destroy = !strcmp(argv[1], "destroy");
	CUfunction f = endless(leave || destroy ? "spin" : strcmp(argv[1], "time") ? argv[1] : "loop");
	CUdeviceptr flag = 0;
	OK(cuMemAlloc(&flag, 4));
	OK(cuMemsetD32(flag, 0, 1));
	void *args[] = {&flag};
	if (!strcmp(argv[1], "time")) {
		for (int i = 0; i < 300; i++) {
			OK(app_works(&own));
			usleep(1000);
		}
		return finish();
	}
	CUstream s = 0, t = 0;
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
	OK(cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, s, args, 0));
	if (leave) {
		usleep(20000);
		puts("ok");
		exit(0);
	}
	if (destroy) {
		OK(cuCtxDestroy(own.ctx));
	} else {
		EXPECT(cuStreamSynchronize(s), 702);
		EXPECT(cuStreamSynchronize(t), 702);
		EXPECT(cuCtxSynchronize(), 702);
		EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, t, args, 0), 702);
	}
	OK(cuCtxSetCurrent(primary.ctx)); // others live on
	OK(app_works(&primary));
	if (!destroy) OK(cuCtxDestroy(own.ctx));
	OK(cuCtxCreate(&own.ctx, 0, 0, primary.dev)); // and the device takes work
	OK(cuModuleLoadData(&own.mod, app_ptx));
	OK(app_works(&own));
	return finish();
}
