// Four devices of KUDZU_DEVICES=4: contexts, memory and its limit of each, access and copies between them, work of all at once.
#include "app.h"

enum { D = 4, N = 1 << 14, MEMORY = 64 << 20 };

static struct {
	CUdevice dev;
	CUcontext ctx;
	CUmodule mod;
	CUfunction fill, twice;
	CUdeviceptr p;
	CUstream s;
} d[D];
static unsigned host[N];

static void fill(int i, CUdeviceptr p, unsigned v) { // with device i's kernel
	unsigned n = N;
	void *args[] = {&p, &n, &v};
	OK(cuLaunchKernel(d[i].fill, N / 64, 1, 1, 64, 1, 1, 0, d[i].s, args, 0));
}

// read_is: device i's memory was filled with v.
static void read_is(int i, unsigned v) {
	OK(cuMemcpyDtoH(host, d[i].p, sizeof host));
	for (int k = 0; k < N; k++)
		if (host[k] != v + (unsigned)k) {
			EXPECT(host[k], v + (unsigned)k);
			return;
		}
}

int main(void) {
	int n = 0, able = 0;
	OK(cuInit(0));
	OK(cuDeviceGetCount(&n));
	EXPECT(n, D);
	CUuuid ids[D];
	char bus[D][16];
	for (int i = 0; i < D; i++) {
		size_t total = 0, left = 0;
		OK(cuDeviceGet(&d[i].dev, i));
		OK(cuDeviceTotalMem(&total, d[i].dev));
		EXPECT(total, MEMORY);
		OK(cuDeviceGetUuid(&ids[i], d[i].dev));
		OK(cuDeviceGetPCIBusId(bus[i], sizeof bus[i], d[i].dev));
		for (int k = 0; k < i; k++) {
			EXPECT(memcmp(&ids[i], &ids[k], sizeof ids[i]) != 0, 1);
			EXPECT(strcmp(bus[i], bus[k]) != 0, 1);
		}
		CUdevice same = 99;
		OK(cuDeviceGetByPCIBusId(&same, bus[i]));
		EXPECT(same, d[i].dev);
		OK(cuDevicePrimaryCtxRetain(&d[i].ctx, d[i].dev));
		OK(cuCtxSetCurrent(d[i].ctx));
		OK(cuModuleLoadData(&d[i].mod, app_ptx));
		OK(cuModuleGetFunction(&d[i].fill, d[i].mod, "fill"));
		OK(cuModuleGetFunction(&d[i].twice, d[i].mod, "twice"));
		OK(cuStreamCreate(&d[i].s, CU_STREAM_NON_BLOCKING));
		OK(cuMemAlloc(&d[i].p, sizeof host));
		OK(cuMemGetInfo(&left, &total)); // another's memory is not taken from this one's
		EXPECT(left < total && left > total / 2, 1);
		CUdevice at = 99;
		OK(cuPointerGetAttribute(&at, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, d[i].p));
		EXPECT(at, i);
	}
	// Each has its own limit.
	CUdeviceptr big = 0, more = 0;
	OK(cuCtxSetCurrent(d[1].ctx));
	OK(cuMemAlloc(&big, MEMORY * 3 / 4));
	EXPECT(cuMemAlloc(&more, MEMORY / 2), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuCtxSetCurrent(d[2].ctx));
	OK(cuMemAlloc(&more, MEMORY / 2));
	OK(cuMemFree(more));
	OK(cuMemFree(big)); // whatever is current
	// All at once.
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < D; i++) {
			OK(cuCtxSetCurrent(d[i].ctx));
			fill(i, d[i].p, 100 * round + i);
		}
		for (int i = 0; i < D; i++) {
			OK(cuCtxSetCurrent(d[i].ctx));
			OK(cuStreamSynchronize(d[i].s));
			read_is(i, 100 * round + i);
		}
	}
	// A stream or a kernel of one is not for another.
	OK(cuCtxSetCurrent(d[0].ctx));
	unsigned count = N, v = 1;
	void *args[] = {&d[0].p, &count, &v};
	EXPECT(cuLaunchKernel(d[0].fill, 1, 1, 1, 64, 1, 1, 0, d[1].s, args, 0) != 0, 1);
	// Copies between them, with and without access.
	OK(cuDeviceCanAccessPeer(&able, d[0].dev, d[3].dev));
	EXPECT(able, 1);
	OK(cuDeviceCanAccessPeer(&able, d[0].dev, d[0].dev));
	EXPECT(able, 0);
	OK(cuMemcpyPeer(d[0].p, d[0].ctx, d[3].p, d[3].ctx, sizeof host));
	read_is(0, 303);
	OK(cuMemcpyPeerAsync(d[1].p, d[1].ctx, d[2].p, d[2].ctx, sizeof host, d[0].s));
	OK(cuStreamSynchronize(d[0].s));
	read_is(1, 302);
	OK(cuCtxEnablePeerAccess(d[3].ctx, 0));
	EXPECT(cuCtxEnablePeerAccess(d[3].ctx, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
	fill(0, d[3].p, 77); // device 0 writes into device 3's memory
	OK(cuStreamSynchronize(d[0].s));
	read_is(3, 77);
	OK(cuCtxDisablePeerAccess(d[3].ctx));
	EXPECT(cuCtxDisablePeerAccess(d[3].ctx), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
	// An event of one orders another.
	CUevent e;
	OK(cuCtxSetCurrent(d[2].ctx));
	OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	fill(2, d[2].p, 5);
	OK(cuEventRecord(e, d[2].s));
	OK(cuCtxSetCurrent(d[1].ctx));
	OK(cuStreamWaitEvent(d[1].s, e, 0));
	OK(cuMemcpyPeerAsync(d[1].p, d[1].ctx, d[2].p, d[2].ctx, sizeof host, d[1].s));
	OK(cuStreamSynchronize(d[1].s));
	read_is(1, 5);
	// A fault in one leaves the others alone.
	CUfunction poke;
	CUdeviceptr none = 0;
	unsigned who = 0;
	void *bad[] = {&none, &who};
	OK(cuCtxSetCurrent(d[3].ctx));
	OK(cuModuleGetFunction(&poke, d[3].mod, "poke"));
	OK(cuLaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, 0, bad, 0));
	EXPECT(cuCtxSynchronize(), 700);
	EXPECT(cuMemAlloc(&more, 16), 700);
	for (int i = 0; i < 3; i++) {
		OK(cuCtxSetCurrent(d[i].ctx));
		fill(i, d[i].p, 9 + i);
		OK(cuStreamSynchronize(d[i].s));
		read_is(i, 9 + i);
	}
	for (int i = 0; i < D; i++) OK(cuDevicePrimaryCtxReset(d[i].dev));
	return finish();
}
