// Virtual memory, and memory shared with other processes.
#include "transcript.h"
#include <fcntl.h>
#include <sys/wait.h>

#define LOC(t, i) ((CUmemLocation){.type = (t), .id = (i)})

static CUmemAllocationProp pinned_(void) {
	CUmemAllocationProp p;
	memset(&p, 0, sizeof p);
	p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	p.location = LOC(CU_MEM_LOCATION_TYPE_DEVICE, 0);
	return p;
}

GROUP(reserve) {
	start();
	CUdeviceptr a = 0, b = 0; size_t g = 0, best = 0; CUmemAllocationProp p = pinned_();
	T(cuMemGetAllocationGranularity(&g, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	N(g);
	T(cuMemGetAllocationGranularity(&best, &p, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
	N(best);
	T(cuMemGetAllocationGranularity(&g, &p, (CUmemAllocationGranularity_flags)9));
	T(cuMemGetAllocationGranularity(0, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	T(cuMemGetAllocationGranularity(&g, 0, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	p.location.id = 99;
	T(cuMemGetAllocationGranularity(&g, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	T(cuMemAddressReserve(&a, 4 * best, 0, 0, 0));
	B(a % best == 0);
	T(cuMemAddressReserve(&b, best, 0, a, 0));
	B(a != b);
	T(cuMemAddressFree(b, best));
	T(cuMemAddressReserve(&b, 100, 0, 0, 0));
	T(cuMemAddressReserve(&b, 0, 0, 0, 0));
	T(cuMemAddressReserve(&b, best, 3, 0, 0));
	T(cuMemAddressReserve(&b, best, 0, 0, 8));
	T(cuMemAddressReserve(0, best, 0, 0, 0));
	T(cuMemAddressFree(a, best));
	T(cuMemAddressFree(a + best, best));
	T(cuMemsetD8(a, 1, 16));
	T(cuMemAddressFree(a, 4 * best));
	T(cuMemAddressFree(a, 4 * best));
	T(cuMemAddressFree(0, best));
}

GROUP(map) {
	start();
	CUmemAllocationProp p = pinned_(), got; CUmemGenericAllocationHandle h = 0, k = 0; size_t g = 2 << 20; CUdeviceptr a = 0; unsigned long long f = 99;
	CUmemLocation here = LOC(CU_MEM_LOCATION_TYPE_DEVICE, 0); CUmemAccessDesc rw = {.location = here, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	T(cuMemCreate(&h, g, &p, 0));
	T(cuMemCreate(&k, 100, &p, 0));
	T(cuMemCreate(&k, 0, &p, 0));
	T(cuMemCreate(&k, g, &p, 1));
	T(cuMemCreate(&k, g, 0, 0));
	T(cuMemCreate(0, g, &p, 0));
	p.type = CU_MEM_ALLOCATION_TYPE_INVALID;
	T(cuMemCreate(&k, g, &p, 0));
	p = pinned_(); p.location.id = 99;
	T(cuMemCreate(&k, g, &p, 0));
	QUIET(cuMemAddressReserve(&a, 4 * g, 0, 0, 0));
	T(cuMemMap(a, g, 0, h, 0));
	T(cuMemMap(a, g, 0, h, 0));
	T(cuMemMap(a + g, g, g, h, 0));
	T(cuMemMap(a + g, 2 * g, 0, h, 0));
	T(cuMemMap(a + g, g, 0, h, 1));
	T(cuMemMap(a + g, g, 0, 0, 0));
	T(cuMemMap(a + 100, g, 0, h, 0));
	T(cuMemMap(a + 2 * g, g, 0, h, 0));
	T(cuMemGetAccess(&f, &here, a));
	N(f);
	T(cuMemSetAccess(a, g, &rw, 1));
	T(cuMemGetAccess(&f, &here, a));
	N(f);
	T(cuMemSetAccess(a + g, g, &rw, 1));
	T(cuMemSetAccess(a, g, 0, 1));
	T(cuMemSetAccess(a, g, &rw, 0));
	T(cuMemSetAccess(a + 2 * g, g, &rw, 1));
	T(cuMemsetD32(a, 77, 16));
	N(word(a + 2 * g));
	T(inc_on(a + 2 * g, 0));
	T(cuCtxSynchronize());
	N(word(a));
	CUdeviceptr base = 0; size_t n = 0;
	T(cuMemGetAddressRange(&base, &n, a + 5));
	B(base == a);
	N(n);
	T(cuMemFree(a));
	T(cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)(a + 8)));
	B(h == k);
	T(cuMemRelease(k));
	T(cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)(a + g)));
	T(cuMemGetAllocationPropertiesFromHandle(&got, h));
	N(got.type); N(got.location.type); N(got.location.id); N(got.requestedHandleTypes);
	T(cuMemRelease(h));
	T(cuMemsetD32(a, 78, 16));
	N(word(a + 2 * g));
	T(cuMemAddressFree(a, 4 * g));
	T(cuMemUnmap(a, 100));
	T(cuMemUnmap(a, g));
	T(cuMemUnmap(a, g));
	T(cuMemUnmap(a + 2 * g, g));
	T(cuMemRelease(h));
	T(cuMemRelease(0));
	T(cuMemAddressFree(a, 4 * g));
}

GROUP(map_access) {
	start();
	CUmemAllocationProp p = pinned_(); CUmemGenericAllocationHandle h = 0; size_t g = 2 << 20; CUdeviceptr a = 0; unsigned v = 1;
	QUIET(cuMemCreate(&h, g, &p, 0));
	QUIET(cuMemAddressReserve(&a, g, 0, 0, 0));
	QUIET(cuMemMap(a, g, 0, h, 0));
	CUmemLocation here = LOC(CU_MEM_LOCATION_TYPE_DEVICE, 0); CUmemAccessDesc d = {.location = here, .flags = CU_MEM_ACCESS_FLAGS_PROT_READ};
	T(cuMemSetAccess(a, g, &d, 1));
	d.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
	T(cuMemSetAccess(a, g, &d, 1));
	d.flags = (CUmemAccess_flags)9;
	T(cuMemSetAccess(a, g, &d, 1));
	d.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	d.location.id = 99;
	T(cuMemSetAccess(a, g, &d, 1));
	T(cuMemcpyHtoD(a, &v, 4));
	T(cuMemcpyDtoH(&v, a, 4));
	T(cuCtxSynchronize());
}

GROUP(export_fd) {
	start();
	CUmemAllocationProp p = pinned_(); CUmemGenericAllocationHandle h = 0, k = 0; size_t g = 2 << 20; CUdeviceptr a = 0; int fd = -1;
	CUmemAccessDesc rw = {.location = LOC(CU_MEM_LOCATION_TYPE_DEVICE, 0), .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	QUIET(cuMemCreate(&k, g, &p, 0));
	T(cuMemExportToShareableHandle(&fd, k, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32;
	T(cuMemCreate(&k, g, &p, 0));
	p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	T(cuMemCreate(&h, g, &p, 0));
	T(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	B(fd >= 0);
	T(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1));
	T(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_WIN32, 0));
	T(cuMemExportToShareableHandle(0, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	T(cuMemImportFromShareableHandle(&k, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
	QUIET(cuMemAddressReserve(&a, 2 * g, 0, 0, 0));
	QUIET(cuMemMap(a, g, 0, h, 0));
	T(cuMemMap(a + g, g, 0, k, 0));
	T(cuMemSetAccess(a, 2 * g, &rw, 1));
	T(cuMemsetD32(a, 4321, 4));
	N(word(a + g));
	CUmemAllocationProp got;
	T(cuMemGetAllocationPropertiesFromHandle(&got, k));
	N(got.requestedHandleTypes);
	T(cuMemImportFromShareableHandle(&k, (void *)(intptr_t)-1, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
	int plain = open("/dev/null", O_RDONLY);
	T(cuMemImportFromShareableHandle(&k, (void *)(intptr_t)plain, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
	T(cuMemImportFromShareableHandle(&k, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_WIN32));
}

GROUP(range_handle) {
	start();
	CUdeviceptr p = new_memory(4 << 20); int fd = -1;
	T(cuMemGetHandleForAddressRange(&fd, p, 1 << 20, (CUmemRangeHandleType)0, 0));
	T(cuMemGetHandleForAddressRange(&fd, p, 100, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
	T(cuMemGetHandleForAddressRange(0, p, 1 << 20, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
	T(cuMemGetHandleForAddressRange(&fd, 0, 1 << 20, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
}

GROUP(multicast) {
	start();
	CUmulticastObjectProp p; CUmemGenericAllocationHandle h = 0; size_t g = 0;
	memset(&p, 0, sizeof p);
	T(cuMulticastCreate(&h, &p));
	T(cuMulticastGetGranularity(&g, 0, CU_MULTICAST_GRANULARITY_MINIMUM));
	T(cuMulticastAddDevice(0, dev));
	T(cuMulticastUnbind(0, dev, 0, 1 << 21));
}

static int send_(int fd, const void *p, size_t n) { return (int)(write(fd, p, n) == (ssize_t)n); }
static int take_(int fd, void *p, size_t n) { return (int)(read(fd, p, n) == (ssize_t)n); }

// The child opens what the parent exports. Only the parent prints, but for what the child is asked.
GROUP(ipc_memory) {
	int down[2], up[2], ok = 0; CUipcMemHandle m; unsigned v = 0;
	if (pipe(down) || pipe(up)) return;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(15);
		CUdeviceptr q = 0, r = 0;
		int got = take_(down[0], &m, sizeof m);
		start();
		B(got == 1);
		T(cuIpcOpenMemHandle(&q, m, 0));
		T(cuIpcOpenMemHandle(&q, m, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
		T(cuIpcOpenMemHandle(&r, m, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
		B(q == r);
		N(word(q));
		T(set_on(q, 99, 0));
		T(cuCtxSynchronize());
		T(cuMemFree(q));
		T(cuIpcCloseMemHandle(q));
		T(cuIpcCloseMemHandle(q));
		T(cuIpcCloseMemHandle(q));
		ok = 1;
		send_(up[1], &ok, sizeof ok);
		_exit(0);
	}
	start();
	CUdeviceptr p = new_memory(4 << 20), q = 0; CUdeviceptr managed = 0; void *h = 0;
	QUIET(cuMemsetD32(p, 1234, 16));
	QUIET(cuCtxSynchronize());
	T(cuIpcGetMemHandle(&m, p));
	T(cuIpcGetMemHandle(0, p));
	CUipcMemHandle other;
	T(cuIpcGetMemHandle(&other, 0));
	QUIET(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
	T(cuIpcGetMemHandle(&other, managed));
	QUIET(cuMemAllocHost(&h, 4096));
	T(cuIpcGetMemHandle(&other, (CUdeviceptr)(uintptr_t)h));
	CUdeviceptr async = 0;
	QUIET(cuMemAllocAsync(&async, 4096, 0));
	T(cuIpcGetMemHandle(&other, async));
	T(cuIpcOpenMemHandle(&q, m, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	T(cuIpcCloseMemHandle(p));
	memset(&other, 0, sizeof other);
	T(cuIpcOpenMemHandle(&q, other, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	send_(down[1], &m, sizeof m);
	QUIET(take_(up[0], &ok, sizeof ok) ? 0 : 1);
	waitpid(pid, 0, 0);
	QUIET(cuMemcpyDtoH(&v, p, 4));
	N(v);
}

GROUP(ipc_event) {
	int down[2], up[2], ok = 0; CUipcEventHandle h;
	if (pipe(down) || pipe(up)) return;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(15);
		CUevent e = 0, f = 0; float ms = 0;
		take_(down[0], &h, sizeof h);
		start();
		T(cuIpcOpenEventHandle(&e, h));
		T(cuEventQuery(e));
		f = new_event(0);
		QUIET(cuEventRecord(f, 0));
		T(cuEventElapsedTime(&ms, e, f));
		T(cuStreamWaitEvent(0, e, 0));
		CUipcEventHandle again;
		T(cuIpcGetEventHandle(&again, e));
		ok = 1;
		send_(up[1], &ok, sizeof ok);
		T(cuEventSynchronize(e));
		T(cuCtxSynchronize());
		T(cuEventQuery(e));
		T(cuEventDestroy(e));
		_exit(0);
	}
	start();
	CUevent e = 0, plain = new_event(0); CUstream s = new_stream(0); gate g = new_gate();
	T(cuEventCreate(&e, CU_EVENT_INTERPROCESS));
	T(cuEventCreate(&e, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
	T(cuIpcGetEventHandle(&h, plain));
	T(cuIpcGetEventHandle(0, e));
	T(cuIpcGetEventHandle(&h, 0));
	T(cuIpcGetEventHandle(&h, e));
	CUevent own = 0;
	T(cuIpcOpenEventHandle(&own, h));
	QUIET(hold(g, s));
	T(cuEventRecord(e, s));
	T(cuEventQuery(e));
	send_(down[1], &h, sizeof h);
	QUIET(take_(up[0], &ok, sizeof ok) ? 0 : 1);
	open_gate(g);
	waitpid(pid, 0, 0);
	T(cuEventQuery(e));
}
