// Memory: allocation, host memory, what a pointer is, managed memory.
#include "transcript.h"
#include <sys/mman.h>

GROUP(alloc) {
	start();
	CUdeviceptr p = 0, base = 0; size_t n = 0, total = 0, pitch = 0;
	T(cuMemGetInfo(&n, &total));
	B(n > 0 && n <= total);
	T(cuMemGetInfo(0, &total));
	T(cuMemGetInfo(&n, 0));
	T(cuMemAlloc(&p, 1000));
	B(p % 256 == 0);
	T(cuMemGetAddressRange(&base, &n, p + 17));
	B(base == p);
	N(n);
	T(cuMemGetAddressRange(0, &n, p));
	T(cuMemGetAddressRange(&base, 0, p));
	T(cuMemGetAddressRange(0, 0, p));
	T(cuMemGetAddressRange(&base, &n, 0));
	T(cuMemGetAddressRange(&base, &n, (CUdeviceptr)(uintptr_t)&p));
	T(cuMemFree(p + 256));
	T(cuMemFree(p));
	T(cuMemFree(p));
	T(cuMemFree(0));
	T(cuMemFree((CUdeviceptr)(uintptr_t)&p));
	T(cuMemAlloc(&p, 0));
	T(cuMemAlloc(0, 16));
	T(cuMemAlloc(&p, (size_t)-1));
	T(cuMemAlloc(&p, (size_t)1 << 46));
	T(cuMemAllocPitch(&p, &pitch, 100, 10, 4));
	N(pitch);
	T(cuMemGetAddressRange(&base, &n, p));
	N(n);
	T(cuMemFree(p));
	T(cuMemAllocPitch(&p, &pitch, 513, 3, 16));
	N(pitch);
	T(cuMemAllocPitch(&p, &pitch, 100, 10, 3));
	T(cuMemAllocPitch(&p, &pitch, 100, 10, 32));
	T(cuMemAllocPitch(&p, &pitch, 0, 10, 4));
	T(cuMemAllocPitch(&p, &pitch, 100, 0, 4));
	T(cuMemAllocPitch(&p, 0, 100, 10, 4));
	T(cuMemAllocPitch(0, &pitch, 100, 10, 4));
	T(cuMemAllocPitch(&p, &pitch, (size_t)1 << 40, 10, 4));
}

GROUP(host) {
	start();
	void *h = 0, *k = 0; CUdeviceptr p = 0; unsigned flags = 99;
	T(cuMemAllocHost(&h, 100));
	T(cuMemHostGetFlags(&flags, h));
	N(flags);
	T(cuMemHostGetDevicePointer(&p, h, 0));
	B(p == (CUdeviceptr)(uintptr_t)h);
	T(cuMemHostGetDevicePointer(&p, (char *)h + 4, 0));
	B(p == (CUdeviceptr)(uintptr_t)h + 4);
	T(cuMemHostGetDevicePointer(&p, h, 1));
	T(cuMemHostGetDevicePointer(&p, &k, 0));
	T(cuMemHostGetDevicePointer(&p, 0, 0));
	T(cuMemFree((CUdeviceptr)(uintptr_t)h));
	T(cuMemFreeHost((char *)h + 4));
	T(cuMemFreeHost(h));
	T(cuMemFreeHost(h));
	T(cuMemFreeHost(0));
	T(cuMemFreeHost(&h));
	T(cuMemHostGetFlags(&flags, &h));
	T(cuMemHostAlloc(&k, 100, CU_MEMHOSTALLOC_DEVICEMAP));
	T(cuMemHostGetFlags(&flags, k));
	N(flags);
	T(cuMemFreeHost(k));
	T(cuMemHostAlloc(&k, 100, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_WRITECOMBINED));
	T(cuMemHostGetFlags(&flags, k));
	N(flags);
	T(cuMemFreeHost(k));
	T(cuMemHostAlloc(&k, 0, 0));
	T(cuMemHostAlloc(&k, 100, 0x80));
	T(cuMemHostAlloc(0, 100, 0));
	T(cuMemAllocHost(&h, 0));
	T(cuMemAllocHost(0, 10));
}

GROUP(host_register) {
	start();
	char *m = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); unsigned flags = 99; CUdeviceptr p = 0;
	memset(m, 0, 1 << 20);
	T(cuMemHostRegister(m, 8192, 0));
	T(cuMemHostGetFlags(&flags, m));
	N(flags);
	T(cuMemHostGetDevicePointer(&p, m + 100, 0));
	B(p == (CUdeviceptr)(uintptr_t)m + 100);
	T(cuMemHostRegister(m, 8192, 0));
	T(cuMemHostRegister(m + 4096, 8192, 0));
	T(cuMemHostUnregister(m + 4096));
	T(inc_on((CUdeviceptr)(uintptr_t)m, 0));
	T(cuCtxSynchronize());
	N(m[0]);
	T(cuMemHostUnregister(m));
	T(cuMemHostUnregister(m));
	T(cuMemHostUnregister(0));
	T(cuMemHostRegister(m + 100, 1000, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
	T(cuMemHostGetFlags(&flags, m + 100));
	N(flags);
	T(cuMemHostUnregister(m + 100));
	T(cuMemHostRegister(m, 0, 0));
	T(cuMemHostRegister(0, 4096, 0));
	T(cuMemHostRegister(m, 4096, 0x80));
	T(cuMemHostRegister((void *)(uintptr_t)0x1000, 4096, 0));
	void *h = 0;
	QUIET(cuMemAllocHost(&h, 8192));
	T(cuMemHostRegister(h, 4096, 0));
	T(cuMemHostUnregister(h));
	CUdeviceptr d = new_memory(8192);
	T(cuMemHostRegister((void *)(uintptr_t)d, 4096, 0));
}

static void pointer_(const char *what, CUdeviceptr p) {
	static const int list[] = {2, 6, 8, 9, 10, 13, 14, 15, 16, 17, 21};
	printf("- %s\n", what);
	for (unsigned i = 0; i < sizeof list / sizeof *list; i++) {
		unsigned long long v = 0;
		int e = cuPointerGetAttribute(&v, (CUpointer_attribute)list[i], p);
		if (list[i] == 17) printf("attribute 17 = %d: %s\n", e, v ? "a pool" : "none");
		else printf("attribute %d = %d: %lld\n", list[i], e, e ? 0 : (long long)(int)v);
	}
	CUcontext c = 0; CUdeviceptr d = 0, start = 0; void *h = 0; size_t size = 0; unsigned long long id = 0;
	T(cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, p));
	B(c == ctx); B(c == 0);
	T(cuPointerGetAttribute(&d, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p));
	B(d == p);
	T(cuPointerGetAttribute(&h, CU_POINTER_ATTRIBUTE_HOST_POINTER, p));
	B(h == (void *)(uintptr_t)p);
	T(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p));
	B(start == p);
	T(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, p));
	N(size);
	T(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, p));
	B(id != 0);
}

GROUP(pointer) {
	start();
	CUdeviceptr p = 0, q = 0; void *h = 0, *w = 0; char *m = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(m, 0, 8192);
	QUIET(cuMemAlloc(&p, 1024));
	QUIET(cuMemAllocManaged(&q, 4096, CU_MEM_ATTACH_GLOBAL));
	QUIET(cuMemAllocHost(&h, 4096));
	QUIET(cuMemHostAlloc(&w, 4096, CU_MEMHOSTALLOC_WRITECOMBINED));
	QUIET(cuMemHostRegister(m, 4096, 0));
	pointer_("device memory", p);
	pointer_("managed memory", q);
	pointer_("host memory", (CUdeviceptr)(uintptr_t)h);
	pointer_("write combined", (CUdeviceptr)(uintptr_t)w);
	pointer_("registered", (CUdeviceptr)(uintptr_t)m);
	int v = 7;
	T(cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)&v));
	T(cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0));
	T(cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 2048));
	T(cuPointerGetAttribute(&v, (CUpointer_attribute)99, p));
	T(cuPointerGetAttribute(&v, (CUpointer_attribute)0, p));
	T(cuPointerGetAttribute(0, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
}

GROUP(pointer_many) {
	start();
	CUdeviceptr p = new_memory(64), d = 9; unsigned type = 9; CUcontext c = (CUcontext)9; void *h = (void *)9; int managed = 9, ordinal = 9;
	CUpointer_attribute list[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_HOST_POINTER,
		CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
	void *data[] = {&type, &c, &d, &h, &managed, &ordinal};
	T(cuPointerGetAttributes(6, list, data, p));
	N(type); B(c == ctx); B(d == p); B(h == 0); N(managed); N(ordinal);
	T(cuPointerGetAttributes(6, list, data, (CUdeviceptr)(uintptr_t)&p));
	N(type); B(c == 0); B(d == 0); B(h == &p); N(managed); N(ordinal);
	T(cuPointerGetAttributes(6, list, data, 0));
	N(type); B(c == 0); B(d == 0); B(h == 0); N(managed); N(ordinal);
	T(cuPointerGetAttributes(0, list, data, p));
	T(cuPointerGetAttributes(6, 0, data, p));
	T(cuPointerGetAttributes(6, list, 0, p));
	list[1] = (CUpointer_attribute)99;
	T(cuPointerGetAttributes(2, list, data, p));
	int on = 1;
	T(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
	on = 9;
	T(cuPointerGetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
	N(on);
	T(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
	T(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0));
	T(cuPointerSetAttribute(0, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
}

GROUP(managed) {
	start();
	CUdeviceptr p = 0; unsigned *w; CUstream s = new_stream(0);
	T(cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_GLOBAL));
	w = (unsigned *)(uintptr_t)p;
	w[0] = 41;
	T(inc_on(p, 0));
	T(cuCtxSynchronize());
	N(w[0]);
	T(cuMemAllocManaged(&p, 0, CU_MEM_ATTACH_GLOBAL));
	T(cuMemAllocManaged(&p, 64, 0));
	T(cuMemAllocManaged(&p, 64, 3));
	T(cuMemAllocManaged(&p, 64, CU_MEM_ATTACH_SINGLE));
	T(cuMemAllocManaged(0, 64, CU_MEM_ATTACH_GLOBAL));
	T(cuMemAllocManaged(&p, 64, CU_MEM_ATTACH_HOST));
	T(cuStreamAttachMemAsync(s, p, 0, CU_MEM_ATTACH_SINGLE));
	T(cuStreamAttachMemAsync(s, p, 64, CU_MEM_ATTACH_GLOBAL));
	T(cuStreamAttachMemAsync(s, p, 32, CU_MEM_ATTACH_GLOBAL));
	T(cuStreamAttachMemAsync(s, p, 0, CU_MEM_ATTACH_HOST));
	T(cuStreamAttachMemAsync(0, p, 0, CU_MEM_ATTACH_SINGLE));
	T(cuStreamAttachMemAsync(s, new_memory(64), 0, CU_MEM_ATTACH_GLOBAL));
	T(cuStreamSynchronize(s));
	T(cuMemFree(p));
	T(cuStreamAttachMemAsync(s, p, 0, CU_MEM_ATTACH_GLOBAL));
}

#define LOC(t, i) ((CUmemLocation){.type = (t), .id = (i)})

GROUP(advise) {
	start();
	CUdeviceptr p = 0; size_t n = 1 << 20; CUmemLocation d = LOC(CU_MEM_LOCATION_TYPE_DEVICE, 0), host = LOC(CU_MEM_LOCATION_TYPE_HOST, 0), bad = LOC(CU_MEM_LOCATION_TYPE_DEVICE, 99), none = LOC(CU_MEM_LOCATION_TYPE_INVALID, 0);
	int v[4] = {-9, -9, -9, -9};
	QUIET(cuMemAllocManaged(&p, n, CU_MEM_ATTACH_GLOBAL));
	T(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, n));
	N(v[0]);
	T(cuMemAdvise(p, n, CU_MEM_ADVISE_SET_READ_MOSTLY, d));
	T(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, n));
	N(v[0]);
	T(cuMemAdvise(p, n / 2, CU_MEM_ADVISE_UNSET_READ_MOSTLY, none));
	T(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, n));
	N(v[0]);
	T(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + n / 2, n / 2));
	N(v[0]);
	T(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, n));
	N(v[0]);
	T(cuMemAdvise(p, n, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, d));
	T(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, n));
	N(v[0]);
	T(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, p, n));
	N(v[0]);
	T(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, p, n));
	N(v[0]);
	T(cuMemAdvise(p, n, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
	T(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, n));
	N(v[0]);
	T(cuMemAdvise(p, n, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, none));
	T(cuMemAdvise(p, n, CU_MEM_ADVISE_SET_ACCESSED_BY, d));
	T(cuMemAdvise(p, n, CU_MEM_ADVISE_SET_ACCESSED_BY, host));
	T(cuMemRangeGetAttribute(v, 8, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, n));
	N(v[0]); N(v[1]);
	T(cuMemAdvise(p, n, CU_MEM_ADVISE_UNSET_ACCESSED_BY, d));
	T(cuMemRangeGetAttribute(v, 8, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, n));
	N(v[0]); N(v[1]);
	NOTE("errors");
	T(cuMemAdvise(p, n, (CUmem_advise)99, d));
	T(cuMemAdvise(p, n, (CUmem_advise)0, d));
	T(cuMemAdvise(p, n, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, bad));
	T(cuMemAdvise(p, n, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, none));
	T(cuMemAdvise(p, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, d));
	T(cuMemAdvise(p, n + 1, CU_MEM_ADVISE_SET_READ_MOSTLY, d));
	T(cuMemAdvise(new_memory(64), 64, CU_MEM_ADVISE_SET_READ_MOSTLY, d));
	T(cuMemRangeGetAttribute(v, 4, (CUmem_range_attribute)99, p, n));
	T(cuMemRangeGetAttribute(v, 3, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, n));
	T(cuMemRangeGetAttribute(v, 0, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, n));
	T(cuMemRangeGetAttribute(0, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, n));
	T(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 0));
	T(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, new_memory(64), 64));
}

GROUP(prefetch) {
	start();
	CUdeviceptr p = 0; size_t n = 1 << 20; CUmemLocation d = LOC(CU_MEM_LOCATION_TYPE_DEVICE, 0), host = LOC(CU_MEM_LOCATION_TYPE_HOST, 0), bad = LOC(CU_MEM_LOCATION_TYPE_DEVICE, 99);
	int v[2] = {-9, -9}, mostly = 9; size_t sizes[] = {4, 4}; void *data[] = {v, &mostly};
	CUmem_range_attribute two[] = {CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY};
	QUIET(cuMemAllocManaged(&p, n, CU_MEM_ATTACH_GLOBAL));
	T(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, n));
	N(v[0]);
	T(cuMemPrefetchAsync(p, n, d, 0, 0));
	T(cuCtxSynchronize());
	T(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, n));
	N(v[0]);
	T(cuMemPrefetchAsync(p, n / 2, host, 0, 0));
	T(cuCtxSynchronize());
	T(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, n));
	N(v[0]);
	T(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, n / 2));
	N(v[0]);
	T(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, p, n / 2));
	N(v[0]);
	T(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, p, n / 2));
	N(v[0]);
	T(cuMemRangeGetAttributes(data, sizes, two, 2, p, n / 2));
	N(v[0]); N(mostly);
	T(cuMemRangeGetAttributes(data, sizes, two, 0, p, n / 2));
	T(cuMemRangeGetAttributes(0, sizes, two, 2, p, n / 2));
	T(cuMemPrefetchAsync(p, n, bad, 0, 0));
	T(cuMemPrefetchAsync(p, n, d, 1, 0));
	T(cuMemPrefetchAsync(p, 0, d, 0, 0));
	T(cuMemPrefetchAsync(p, n + 4096, d, 0, 0));
	T(cuMemPrefetchAsync(new_memory(4096), 4096, d, 0, 0));
}
