// A thread whose alternate signal stack goes away after its first call, as CPython's faulthandler has it at exit: Go's preemption
// signals and bad addresses must still be survived there.
#include <cuda.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "abi_check.h"

static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) { .reg .b64 %a; ld.param.u64 %a, [p]; st.global.u32 [%a], 7; ret; }\n";
static atomic_int over;
static pthread_t caller;

// sender sends the signal that Go's scheduler sends.
static void *sender(void *x) {
	while (!atomic_load(&over)) pthread_kill(caller, SIGURG);
	return x;
}

int main(void) {
	CUcontext ctx;
	CUdevice dev;
	CUdeviceptr p = 0;
	pthread_t t;
	stack_t s = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16}, off = {.ss_flags = SS_DISABLE}, now;
	EXPECT(sigaltstack(&s, NULL), 0);
	EXPECT(cuInit(0), 0);
	EXPECT(cuDeviceGet(&dev, 0), 0);
	EXPECT(cuDevicePrimaryCtxRetain(&ctx, dev), 0);
	EXPECT(cuCtxSetCurrent(ctx), 0);
	EXPECT(cuMemAlloc(&p, 64), 0);
	EXPECT(sigaltstack(&off, NULL), 0);
	free(s.ss_sp);
	caller = pthread_self();
	pthread_create(&t, NULL, sender, NULL);
	for (int i = 0; i < 2000; i++) {
		CUmodule m = 0;
		EXPECT(cuModuleLoadData(&m, text), 0);
		if (i % 50 == 0) EXPECT(cuDeviceGetName((char *)64, 64, dev), 1); // a fault in our own code
		EXPECT(cuModuleUnload(m), 0);
	}
	atomic_store(&over, 1);
	pthread_join(t, NULL);
	EXPECT(sigaltstack(NULL, &now), 0);
	EXPECT(now.ss_flags, SS_DISABLE); // as the program left it
	return finish();
}
