// Devices, properties, attributes and limits. Run with two devices.
#include "rt.h"

#include <cuda.h>
#include <pthread.h>

static void *other(void *arg) {
	int dev = -1;
	(void)arg;
	OK(cudaGetDevice(&dev));
	EXPECT(dev, 0); // each thread has its own
	return 0;
}

static void properties(int dev) {
	struct {
		struct cudaDeviceProp p;
		char guard[64];
	} s;
	memset(&s, 0x5a, sizeof s);
	OK(cudaGetDeviceProperties(&s.p, dev));
	struct cudaDeviceProp *p = &s.p;
	for (size_t i = 0; i < sizeof s.guard; i++)
		EXPECT(s.guard[i], 0x5a);
	int v;
	char id[20], name[20];
#define SAME(field, attr)                         \
	OK(cudaDeviceGetAttribute(&v, attr, dev)); \
	EXPECT(p->field, v)
	SAME(warpSize, cudaDevAttrWarpSize);
	SAME(major, cudaDevAttrComputeCapabilityMajor);
	SAME(multiProcessorCount, cudaDevAttrMultiProcessorCount);
	SAME(maxThreadsDim[2], cudaDevAttrMaxBlockDimZ);
	SAME(maxGridSize[0], cudaDevAttrMaxGridDimX);
	SAME(sharedMemPerBlockOptin, cudaDevAttrMaxSharedMemoryPerBlockOptin);
	SAME(l2CacheSize, cudaDevAttrL2CacheSize);
	SAME(pciBusID, cudaDevAttrPciBusId);
	SAME(reservedSharedMemPerBlock, cudaDevAttrReservedSharedMemoryPerBlock);
	SAME(memoryBusWidth, cudaDevAttrGlobalMemoryBusWidth);
	SAME(cooperativeLaunch, cudaDevAttrCooperativeLaunch);
	SAME(ipcEventSupported, cudaDevAttrIpcEventSupport);
#if CUDART_VERSION < 13000
	SAME(clockRate, cudaDevAttrClockRate);
	SAME(memoryClockRate, cudaDevAttrMemoryClockRate);
#endif
	EXPECT(strncmp(p->name, "Kudzu", 5), 0);
	EXPECT(p->totalGlobalMem > 1 << 20, 1);
	OK(cudaDeviceGetPCIBusId(id, sizeof id, dev));
	snprintf(name, sizeof name, "%04x:%02x:%02x.0", p->pciDomainID, p->pciBusID, p->pciDeviceID);
	EXPECT(strcmp(id, name), 0);
	OK(cudaDeviceGetByPCIBusId(&v, id));
	EXPECT(v, dev);
	EXPECT(cudaDeviceGetAttribute(&v, (enum cudaDeviceAttr)100000, dev), cudaErrorInvalidValue);
	EXPECT(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 99), cudaErrorInvalidDevice);
}

int main(void) {
	int n = 0, dev = -1, v = -1;
	unsigned flags = 0;
	size_t size = 0, total = 0;
	void *p, *q;
	EXPECT(cudaGetDeviceCount(0), cudaErrorInvalidValue);
	EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
	OK(cudaGetDeviceCount(&n));
	EXPECT(n, 2);
	OK(cudaGetDevice(&dev));
	EXPECT(dev, 0);
	EXPECT(cudaSetDevice(2), cudaErrorInvalidDevice);
	EXPECT(cudaSetDevice(-1), cudaErrorInvalidDevice);
	EXPECT(cudaGetLastError(), cudaErrorInvalidDevice);
	CUcontext context = 0;
	EXPECT(cuCtxGetCurrent(&context), 0);
	EXPECT(context == 0, 1); // questions make no context
	OK(cudaFree(0));
	EXPECT(cuCtxGetCurrent(&context), 0);
	EXPECT(context != 0, 1);
	properties(0);
	properties(1);

	OK(cudaSetDevice(1));
	OK(cudaGetDevice(&dev));
	EXPECT(dev, 1);
	CUdevice current;
	EXPECT(cuCtxGetDevice(&current), 0);
	EXPECT(current, 1);
	pthread_t thread;
	pthread_create(&thread, 0, other, 0);
	pthread_join(thread, 0);
	struct cudaPointerAttributes a;
	OK(cudaMalloc(&q, 4096));
	OK(cudaPointerGetAttributes(&a, q));
	EXPECT(a.device, 1);
	OK(cudaSetDevice(0));
	OK(cudaMalloc(&p, 4096));
	OK(cudaPointerGetAttributes(&a, p));
	EXPECT(a.device, 0);

	// Peers.
	OK(cudaDeviceCanAccessPeer(&v, 0, 1));
	EXPECT(v, 1);
	OK(cudaDeviceEnablePeerAccess(1, 0));
	EXPECT(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
	EXPECT(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported); // the current one; as an H200
	int data[4] = {1, 2, 3, 4}, back[4] = {0};
	OK(cudaMemcpy(p, data, sizeof data, cudaMemcpyHostToDevice));
	OK(cudaMemcpyPeer(q, 1, p, 0, sizeof data));
	OK(cudaMemcpyPeerAsync(q, 1, p, 0, sizeof data, 0));
	OK(cudaDeviceSynchronize());
	OK(cudaSetDevice(1));
	OK(cudaMemcpy(back, q, sizeof back, cudaMemcpyDeviceToHost));
	EXPECT(memcmp(data, back, sizeof data), 0);

	// A kernel runs on the device that is current, each with its own variables.
	v = 77;
	OK(cudaMemcpyToSymbol(&counter, &v, sizeof v, 0, cudaMemcpyHostToDevice));
	OK(cudaSetDevice(0));
	OK(cudaMemcpyFromSymbol(&v, &counter, sizeof v, 0, cudaMemcpyDeviceToHost));
	EXPECT(v, 5);
	OK(cudaDeviceDisablePeerAccess(1));
	EXPECT(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);

	// Limits, flags and preferences.
	OK(cudaDeviceGetLimit(&size, cudaLimitPrintfFifoSize));
	EXPECT(size > 0, 1);
	OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
	OK(cudaDeviceGetLimit(&size, cudaLimitMallocHeapSize));
	EXPECT(size, 16 << 20);
	EXPECT(cudaDeviceSetLimit((enum cudaLimit)99, 1) != 0, 1);
	enum cudaFuncCache cache;
	OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
	OK(cudaDeviceGetCacheConfig(&cache));
	EXPECT(cache, cudaFuncCachePreferL1);
	OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
	OK(cudaGetDeviceFlags(&flags));
	EXPECT(flags, cudaDeviceScheduleBlockingSync | cudaDeviceMapHost);
	EXPECT(cudaSetDeviceFlags(0xff00), cudaErrorInvalidValue);
	OK(cudaMemGetInfo(&size, &total));
	EXPECT(size <= total && total > 0, 1);
	OK(cudaInitDevice(1, 0, 0));
	OK(cudaGetDevice(&dev));
	EXPECT(dev, 0);
	int least, greatest;
	OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	EXPECT(greatest <= least, 1);
	OK(cudaDriverGetVersion(&v));
	EXPECT(v >= CUDART_VERSION, 1);

	// A reset of one device leaves the other alone.
	OK(cudaDeviceReset());
	OK(cudaSetDevice(1));
	OK(cudaMemcpy(back, q, sizeof back, cudaMemcpyDeviceToHost));
	OK(cudaSetDevice(0));
	EXPECT(cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost) != 0, 1);
	OK(cudaFree(0));

	// A context the program made through the driver is used as it is.
	EXPECT(cuCtxCreate_v2(&context, 0, 1), 0);
	OK(cudaGetDevice(&dev));
	EXPECT(dev, 1);
	OK(cudaMalloc(&p, 16));
	EXPECT(LAUNCH(1, 1, 0, 0, spin(p, 1)), 0);
	OK(cudaDeviceSynchronize());
	EXPECT(cuCtxDestroy_v2(context), 0);
	OK(cudaDeviceSynchronize());
	OK(cudaGetDevice(&dev));
	EXPECT(dev, 0);
	return finish();
}
