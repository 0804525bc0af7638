// Pools, stream-ordered memory, virtual memory, sharing between processes.
#include "transcript.h"
#include <fcntl.h>
#include <sys/wait.h>

#define LOC(t, i) ((CUmemLocation){.type = (t), .id = (i)})

GROUP(pool) {
	start();
	CUmemoryPool def = 0, cur = 0, pool = 0; CUmemPoolProps props; CUmemAccess_flags f = 9; CUmemLocation here = LOC(CU_MEM_LOCATION_TYPE_DEVICE, 0);
	T(cuDeviceGetDefaultMemPool(&def, dev));
	T(cuDeviceGetMemPool(&cur, dev));
	B(cur == def);
	T(cuDeviceGetDefaultMemPool(&def, 99));
	memset(&props, 0, sizeof props);
	T(cuMemPoolCreate(&pool, &props));
	props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	T(cuMemPoolCreate(&pool, &props));
	props.location = LOC(CU_MEM_LOCATION_TYPE_DEVICE, 99);
	T(cuMemPoolCreate(&pool, &props));
	props.location = here;
	T(cuMemPoolCreate(0, &props));
	T(cuMemPoolCreate(&pool, 0));
	T(cuMemPoolCreate(&pool, &props));
	T(cuMemPoolGetAccess(&f, pool, &here));
	N(f);
	CUmemAccessDesc d = {.location = here, .flags = CU_MEM_ACCESS_FLAGS_PROT_NONE};
	T(cuMemPoolSetAccess(pool, &d, 1));
	d.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
	T(cuMemPoolSetAccess(pool, &d, 1));
	d.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	T(cuMemPoolSetAccess(pool, &d, 1));
	d.location.id = 99;
	T(cuMemPoolSetAccess(pool, &d, 1));
	T(cuDeviceSetMemPool(dev, pool));
	T(cuDeviceGetMemPool(&cur, dev));
	B(cur == pool);
	T(cuDeviceSetMemPool(dev, 0));
	T(cuMemPoolDestroy(pool));
	T(cuDeviceGetMemPool(&cur, dev));
	B(cur == def);
	T(cuMemPoolDestroy(def));
	T(cuMemPoolDestroy(0));
	T(cuMemPoolTrimTo(def, 0));
	T(cuMemPoolTrimTo(0, 0));
	T(cuMemGetDefaultMemPool(&cur, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
	B(cur == def);
	T(cuMemGetMemPool(&cur, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
	B(cur == def);
}

GROUP(pool_attributes) {
	start();
	CUmemoryPool def = 0; CUstream s = new_stream(0); CUdeviceptr p = 0, q = 0;
	QUIET(cuDeviceGetDefaultMemPool(&def, dev));
	for (int a = 1; a <= 8; a++) {
		cuuint64_t v = 99;
		int e = cuMemPoolGetAttribute(def, (CUmemPool_attribute)a, &v);
		printf("attribute %d = %d: %llu\n", a, e, a <= 3 ? (unsigned long long)(unsigned)v : (unsigned long long)v);
	}
	cuuint64_t v = 0, w = 0; int off = 0;
	T(cuMemPoolGetAttribute(def, (CUmemPool_attribute)99, &v));
	T(cuMemPoolGetAttribute(def, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, 0));
	T(cuMemPoolGetAttribute(0, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &v));
	T(cuMemAllocAsync(&p, 1000, s));
	T(cuMemAllocAsync(&q, 5000, s));
	T(cuMemPoolGetAttribute(def, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &v));
	N(v);
	T(cuMemPoolGetAttribute(def, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &v));
	N(v);
	T(cuMemPoolGetAttribute(def, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &v));
	N(v);
	T(cuMemFreeAsync(q, s));
	T(cuMemFreeAsync(p, s));
	T(cuStreamSynchronize(s));
	T(cuMemPoolGetAttribute(def, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &v));
	N(v);
	T(cuMemPoolGetAttribute(def, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &v));
	N(v);
	T(cuMemPoolGetAttribute(def, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &v));
	N(v);
	T(cuMemPoolSetAttribute(def, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &w));
	T(cuMemPoolGetAttribute(def, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &v));
	N(v);
	w = 7;
	T(cuMemPoolSetAttribute(def, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &w));
	T(cuMemPoolSetAttribute(def, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &w));
	w = 64 << 20;
	T(cuMemPoolSetAttribute(def, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &w));
	T(cuMemPoolGetAttribute(def, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &v));
	N(v);
	QUIET(cuMemAllocAsync(&p, 1000, s));
	QUIET(cuMemFreeAsync(p, s));
	QUIET(cuStreamSynchronize(s));
	T(cuMemPoolGetAttribute(def, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &v));
	N(v);
	T(cuMemPoolTrimTo(def, 0));
	T(cuMemPoolGetAttribute(def, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &v));
	N(v);
	T(cuMemPoolSetAttribute(def, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &off));
	off = 9;
	T(cuMemPoolGetAttribute(def, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &off));
	N(off);
}

GROUP(alloc_async) {
	start();
	CUstream s = new_stream(0), t = new_stream(CU_STREAM_NON_BLOCKING); CUdeviceptr p = 0, q = 0, base = 0; size_t n = 0; CUmemoryPool def = 0, back = 0;
	QUIET(cuDeviceGetDefaultMemPool(&def, dev));
	T(cuMemAllocAsync(&p, 1000, s));
	T(set_on(p, 5, s));
	T(cuStreamSynchronize(s));
	N(word(p));
	T(cuMemGetAddressRange(&base, &n, p));
	B(base == p);
	N(n);
	T(cuPointerGetAttribute(&back, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
	B(back == def);
	T(cuMemFreeAsync(p, s));
	T(cuMemFreeAsync(p, s));
	T(cuMemAllocAsync(&q, 1000, s));
	B(p == q);
	T(cuMemFree(q));
	T(cuMemFree(q));
	T(cuMemAllocAsync(&q, 1000, t));
	T(cuMemFreeAsync(q, s));
	NOTE("memory of cuMemAlloc");
	p = new_memory(64);
	T(cuMemFreeAsync(p, s));
	T(cuStreamSynchronize(s));
	T(cuMemFree(p));
	NOTE("errors");
	T(cuMemAllocAsync(&p, 0, s));
	T(cuMemAllocAsync(0, 64, s));
	T(cuMemAllocAsync(&p, (size_t)1 << 46, s));
	T(cuMemAllocFromPoolAsync(&p, 64, 0, s));
	T(cuMemAllocFromPoolAsync(&p, 64, def, s));
	T(cuMemFreeAsync(p + 16, s));
	T(cuMemFreeAsync(p, s));
	T(cuMemFreeAsync(0, s));
	T(cuMemFreeAsync(0x1234567, s));
	T(cuMemAllocAsync(&p, 64, 0));
	T(cuMemFreeAsync(p, 0));
	T(cuMemAllocAsync(&p, 64, CU_STREAM_PER_THREAD));
	T(cuMemFreeAsync(p, CU_STREAM_PER_THREAD));
	T(cuCtxSynchronize());
}

GROUP(pool_destroy) {
	start();
	CUmemoryPool pool = 0; CUmemPoolProps props; CUstream s = new_stream(0); CUdeviceptr p = 0, q = 0;
	memset(&props, 0, sizeof props);
	props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	props.location = LOC(CU_MEM_LOCATION_TYPE_DEVICE, 0);
	QUIET(cuMemPoolCreate(&pool, &props));
	T(cuMemAllocFromPoolAsync(&p, 64, pool, s));
	T(cuMemPoolDestroy(pool));
	T(set_on(p, 3, s));
	T(cuStreamSynchronize(s));
	N(word(p));
	T(cuMemAllocFromPoolAsync(&q, 64, pool, s));
	T(cuMemFreeAsync(p, s));
	T(cuStreamSynchronize(s));
	props.maxSize = 4 << 20;
	T(cuMemPoolCreate(&pool, &props));
	T(cuMemAllocFromPoolAsync(&p, 64 << 20, pool, s));
	T(cuMemAllocFromPoolAsync(&p, 1 << 20, pool, s));
	T(cuMemFreeAsync(p, s));
	T(cuMemPoolDestroy(pool));
	props.maxSize = 0;
	props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	int fd = -1;
	T(cuMemPoolCreate(&pool, &props));
	T(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	B(fd >= 0);
	T(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_WIN32, 0));
	T(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1));
	T(cuMemPoolExportToShareableHandle(&fd, 0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	CUmemPoolPtrExportData data; CUmemoryPool other = 0;
	T(cuMemAllocFromPoolAsync(&p, 64, pool, s));
	T(cuMemPoolExportPointer(&data, p));
	T(cuMemPoolExportPointer(&data, new_memory(64)));
	T(cuMemPoolImportFromShareableHandle(&other, (void *)(intptr_t)-1, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	T(cuMemPoolImportFromShareableHandle(&other, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_WIN32, 0));
	QUIET(cuDeviceGetDefaultMemPool(&pool, dev));
	T(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
}
