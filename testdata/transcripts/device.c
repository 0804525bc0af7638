// Devices, versions, errors by name, entry points by name.
#include "transcript.h"

GROUP(before_init) {
	int v = 0; CUdevice d = 0; CUcontext c = 0; CUdeviceptr p = 0; size_t n = 0; CUstream s = 0; const char *text = 0; void *f = 0;
	CUdriverProcAddressQueryResult q = 0;
	T(cuDriverGetVersion(&v));
	B(v >= 12000);
	T(cuDeviceGetCount(&v));
	T(cuDeviceGet(&d, 0));
	T(cuDeviceTotalMem(&n, 0));
	T(cuCtxGetCurrent(&c));
	T(cuCtxSetCurrent(0));
	T(cuMemAlloc(&p, 16));
	T(cuStreamCreate(&s, 0));
	T(cuCtxSynchronize());
	T(cuGetErrorName(CUDA_ERROR_NOT_INITIALIZED, &text));
	S(text);
	T(cuGetProcAddress("cuInit", &f, 12000, 0, &q));
	B(f != 0);
	N(q);
	T(cuInit(1));
	T(cuInit(0));
	T(cuInit(0));
	T(cuDeviceGetCount(&v));
	B(v >= 1);
}

GROUP(device_query) {
	start_driver();
	CUdevice d = -7; int a = 0, b = 0, n = 0; char name[256] = "x", small[5] = "zzzz"; size_t bytes = 0; CUuuid u; CUdevprop prop;
	T(cuDeviceGetCount(&n));
	T(cuDeviceGet(&d, 0));
	N(d);
	T(cuDeviceGet(&d, n));
	T(cuDeviceGet(&d, -1));
	T(cuDeviceGetName(name, sizeof name, dev));
	B(strlen(name) > 3);
	T(cuDeviceGetName(small, 5, dev));
	N(strlen(small));
	B(!strncmp(small, name, 4));
	T(cuDeviceGetName(name, sizeof name, 99));
	T(cuDeviceTotalMem(&bytes, dev));
	B(bytes > (64 << 20));
	T(cuDeviceTotalMem(&bytes, 99));
	T(cuDeviceGetUuid(&u, dev));
	int sum = 0;
	for (int i = 0; i < 16; i++) sum |= u.bytes[i];
	B(sum != 0);
	T(cuDeviceGetUuid(&u, 99));
	T(cuDeviceComputeCapability(&a, &b, dev));
	N(a); N(b);
	T(cuDeviceGetProperties(&prop, dev));
	N(prop.maxThreadsPerBlock); N(prop.maxThreadsDim[2]); N(prop.maxGridSize[1]); N(prop.SIMDWidth); N(prop.totalConstantMemory);
	N(prop.sharedMemPerBlock); N(prop.regsPerBlock); N(prop.memPitch); N(prop.textureAlign);
	T(cuDeviceGetExecAffinitySupport(&a, CU_EXEC_AFFINITY_TYPE_SM_COUNT, dev));
	N(a);
	T(cuDeviceGetExecAffinitySupport(&a, (CUexecAffinityType)9, dev));
}

GROUP(device_attributes) {
	start_driver();
	static const int same[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 35, 40, 41,
		42, 43, 44, 45, 46, 47, 48, 49, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80,
		81, 82, 83, 84, 85, 86, 89, 90, 91, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 106, 107, 109, 111, 114, 115, 120, 121, 122, 123, 141};
	for (unsigned i = 0; i < sizeof same / sizeof *same; i++) {
		int v = -77, e = cuDeviceGetAttribute(&v, (CUdevice_attribute)same[i], dev);
		printf("attribute %d = %d: %d\n", same[i], e, v);
	}
	int v = 0, w = 0;
	T(cuDeviceGetAttribute(&v, (CUdevice_attribute)0, dev));
	T(cuDeviceGetAttribute(&v, (CUdevice_attribute)10000, dev));
	T(cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99));
	T(cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, dev));
	T(cuDeviceGetAttribute(&w, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, dev));
	B(v >= w);
	T(cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, dev));
	B(v >= 1);
}

GROUP(device_pci) {
	start_driver();
	char id[32] = "", tiny[4] = "zz"; CUdevice d = -1; int bus = 0, device = 0, domain = 0;
	T(cuDeviceGetPCIBusId(id, sizeof id, dev));
	N(strlen(id));
	unsigned x = 0, y = 0, z = 0;
	B(sscanf(id, "%x:%x:%x.0", &x, &y, &z) == 3);
	QUIET(cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, dev));
	QUIET(cuDeviceGetAttribute(&device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, dev));
	QUIET(cuDeviceGetAttribute(&domain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, dev));
	B((int)x == domain && (int)y == bus && (int)z == device);
	T(cuDeviceGetByPCIBusId(&d, id));
	N(d);
	char form[32];
	sprintf(form, "%x:%x:%x", x, y, z);
	T(cuDeviceGetByPCIBusId(&d, form));
	sprintf(form, "%x:%x", y, z);
	T(cuDeviceGetByPCIBusId(&d, form));
	sprintf(form, "%04X:%02X:%02X.0", x, y, z);
	T(cuDeviceGetByPCIBusId(&d, form));
	T(cuDeviceGetByPCIBusId(&d, "nonsense"));
	T(cuDeviceGetByPCIBusId(&d, ""));
	T(cuDeviceGetByPCIBusId(&d, "ffff:ff:1f.0"));
	T(cuDeviceGetPCIBusId(id, sizeof id, 99));
	T(cuDeviceGetPCIBusId(tiny, sizeof tiny, dev));
	T(cuDeviceGetPCIBusId(tiny, 0, dev));
}

GROUP(peer_self) {
	start();
	int v = -1; CUcontext other = 0;
	T(cuDeviceCanAccessPeer(&v, dev, dev));
	N(v);
	T(cuDeviceCanAccessPeer(&v, dev, 99));
	T(cuDeviceGetP2PAttribute(&v, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, dev, dev));
	T(cuDeviceGetP2PAttribute(&v, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, dev, 99));
	T(cuDeviceGetP2PAttribute(&v, (CUdevice_P2PAttribute)99, dev, dev));
	T(cuCtxEnablePeerAccess(ctx, 0));
	T(cuCtxEnablePeerAccess(0, 0));
	T(cuCtxDisablePeerAccess(ctx));
	QUIET(cuCtxCreate_v2(&other, 0, dev));
	T(cuCtxEnablePeerAccess(ctx, 1));
	T(cuCtxEnablePeerAccess(ctx, 0));
	T(cuCtxEnablePeerAccess(ctx, 0));
	T(cuCtxDisablePeerAccess(ctx));
	T(cuCtxDisablePeerAccess(ctx));
	CUdeviceptr a = new_memory(64), b = 0;
	QUIET(cuCtxSetCurrent(ctx));
	b = new_memory(64);
	T(cuMemcpyPeer(b, ctx, a, other, 64));
	T(cuMemcpyPeerAsync(b, ctx, a, other, 64, 0));
	T(cuMemcpyPeer(b, 0, a, other, 64));
	T(cuMemcpyPeer(b, ctx, a, other, 65));
	T(cuMemcpyPeer(b, ctx, a, other, 0));
	T(cuCtxSynchronize());
}

GROUP(error_names) {
	const char *text = 0;
	for (int i = 0; i < 1010; i++) {
		const char *name = 0, *string = 0;
		int a = cuGetErrorName((CUresult)i, &name), b = cuGetErrorString((CUresult)i, &string);
		if (!a || !b) printf("%d %d %d %s: %s\n", i, a, b, name ? name : "-", string ? string : "-");
	}
	T(cuGetErrorName((CUresult)123456, &text));
	S(text);
	T(cuGetErrorString((CUresult)-1, &text));
	S(text);
}

GROUP(entry_points) {
	start_driver();
	void *f = (void *)8, *g = (void *)8; CUdriverProcAddressQueryResult q = 7;
#define P(name, version, flags)                                                                                                \
	do {                                                                                                                       \
		f = (void *)8; q = 7;                                                                                                  \
		T(cuGetProcAddress(name, &f, version, flags, &q));                                                                     \
		B(f != 0); N(q);                                                                                                       \
	} while (0)
	P("cuMemAlloc", 12000, 0);
	B(f == (void *)cuMemAlloc_v2);
	P("cuMemAlloc", 3010, 0);
	P("cuMemAlloc", 2000, 0);
	P("cuMemAlloc_v2", 12000, 0);
	P("cuNoSuchThing", 12000, 0);
	P("cuGraphAddNode", 12000, 0);
	P("cuGraphAddNode", 12020, 0);
	P("cuLaunchKernel", 12000, 1);
	g = f;
	P("cuLaunchKernel", 12000, 2);
	B(f != g);
	P("cuLaunchKernel", 12000, 3);
	P("cuLaunchKernel", 12000, 16);
	P("cuLaunchKernel", 0, 0);
	P("", 12000, 0);
	T(cuGetProcAddress("cuInit", &f, 12000, 0, 0));
}

GROUP(atomic_capabilities) {
	start_driver();
	unsigned cap[4] = {99, 99, 99, 99};
	CUatomicOperation ops[] = {CU_ATOMIC_OPERATION_INTEGER_ADD, CU_ATOMIC_OPERATION_CAS, CU_ATOMIC_OPERATION_EXCHANGE, (CUatomicOperation)99};
	T(cuDeviceGetHostAtomicCapabilities(cap, ops, 3, dev));
	T(cuDeviceGetHostAtomicCapabilities(cap, ops, 4, dev));
	T(cuDeviceGetHostAtomicCapabilities(cap, ops, 0, dev));
	T(cuDeviceGetHostAtomicCapabilities(cap, ops, 3, 99));
	T(cuDeviceGetP2PAtomicCapabilities(cap, ops, 3, dev, dev));
	T(cuDeviceGetP2PAtomicCapabilities(cap, ops, 3, dev, 99));
	T(cuDeviceGetHostAtomicCapabilities(0, ops, 3, dev));
	T(cuDeviceGetHostAtomicCapabilities(cap, 0, 3, dev));
}
