// The profiler's switches, core dumps, logs, checkpoints, what comes from other interfaces.
#include "transcript.h"
#include <fcntl.h>

GROUP(profiler) {
	start_driver();
	T(cuProfilerStart());
	T(cuProfilerStop());
	start();
	T(cuProfilerStart());
	T(cuProfilerStart());
	T(cuProfilerStop());
	T(cuProfilerStop());
	T(cuProfilerInitialize("a", "b", CU_OUT_CSV));
}

GROUP(coredump) {
	start();
	for (int a = 0; a <= 9; a++) {
		char v[1200] = {0}; size_t n = sizeof v;
		int e = cuCoredumpGetAttribute((CUcoredumpSettings)a, v, &n);
		printf("attribute %d = %d: size %d first %d\n", a, e, a == 5 || a == 6 ? -1 : (int)n, a == 5 || a == 6 ? -1 : v[0]);
		n = sizeof v;
		e = cuCoredumpGetAttributeGlobal((CUcoredumpSettings)a, v, &n);
		printf("global %d = %d: size %d first %d\n", a, e, a == 5 || a == 6 ? -1 : (int)n, a == 5 || a == 6 ? -1 : v[0]);
	}
	unsigned char on = 1; size_t n = 1; char name[64] = "";
	T(cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, &on, &n));
	n = 1;
	on = 0;
	T(cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &on, &n));
	N(on);
	n = 9;
	T(cuCoredumpSetAttributeGlobal(CU_COREDUMP_FILE, "/tmp/xxxx", &n));
	n = sizeof name;
	T(cuCoredumpGetAttributeGlobal(CU_COREDUMP_FILE, name, &n));
	S(&name[0]);
	n = 1;
	T(cuCoredumpSetAttribute((CUcoredumpSettings)77, &on, &n));
	T(cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, 0, &n));
	T(cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &on, 0));
	T(cuCtxSetCurrent(0));
	n = 1;
	T(cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &on, &n));
}

static void CUDA_CB logged_(void *x, CUlogLevel level, char *text, size_t n) { (void)x; (void)level; (void)text; (void)n; }

GROUP(logs) {
	start();
	CUlogsCallbackHandle h = 0; CUlogIterator it = 0; char text[4096]; size_t n = sizeof text;
	T(cuLogsRegisterCallback(logged_, 0, &h));
	B(h != 0);
	T(cuLogsRegisterCallback(0, 0, &h));
	T(cuLogsCurrent(&it, 0));
	T(cuLogsCurrent(&it, 1));
	T(cuLogsCurrent(0, 0));
	T(cuLogsDumpToMemory(&it, text, &n, 0));
	T(cuLogsDumpToMemory(0, text, &n, 0));
	T(cuLogsDumpToMemory(&it, 0, &n, 0));
	T(cuLogsDumpToMemory(&it, text, &n, 1));
	T(cuLogsDumpToFile(&it, "/no/such/folder/file", 0));
	T(cuLogsDumpToFile(&it, 0, 0));
	T(cuLogsUnregisterCallback(h));
	T(cuLogsUnregisterCallback(0));
}

GROUP(checkpoint) {
	start();
	CUprocessState st = 99; int tid = 0;
	T(cuCheckpointProcessGetState(getpid(), &st));
	N(st);
	T(cuCheckpointProcessGetState(getpid(), 0));
	T(cuCheckpointProcessGetState(-1, &st));
	T(cuCheckpointProcessGetRestoreThreadId(-1, &tid));
	T(cuCheckpointProcessLock(-1, 0));
	T(cuCheckpointProcessCheckpoint(-1, 0));
	T(cuCheckpointProcessRestore(-1, 0));
	T(cuCheckpointProcessUnlock(-1, 0));
}

GROUP(external) {
	start();
	CUexternalMemory m = 0; CUexternalSemaphore x = 0; CUDA_EXTERNAL_MEMORY_HANDLE_DESC d; CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC e; int fd = open("/dev/null", O_RDWR);
	memset(&d, 0, sizeof d);
	T(cuImportExternalMemory(&m, &d));
	d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD; d.handle.fd = -1; d.size = 1 << 21;
	T(cuImportExternalMemory(&m, &d));
	d.handle.fd = fd;
	T(cuImportExternalMemory(&m, &d));
	d.size = 0;
	T(cuImportExternalMemory(&m, &d));
	d.size = 1 << 21; d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32;
	T(cuImportExternalMemory(&m, &d));
	d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP;
	T(cuImportExternalMemory(&m, &d));
	d.type = (CUexternalMemoryHandleType)77;
	T(cuImportExternalMemory(&m, &d));
	T(cuImportExternalMemory(&m, 0));
	T(cuImportExternalMemory(0, &d));
	T(cuDestroyExternalMemory(0));
	memset(&e, 0, sizeof e);
	T(cuImportExternalSemaphore(&x, &e));
	e.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD; e.handle.fd = -1;
	T(cuImportExternalSemaphore(&x, &e));
	e.handle.fd = fd;
	T(cuImportExternalSemaphore(&x, &e));
	e.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
	T(cuImportExternalSemaphore(&x, &e));
	e.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32;
	T(cuImportExternalSemaphore(&x, &e));
	e.type = (CUexternalSemaphoreHandleType)77;
	T(cuImportExternalSemaphore(&x, &e));
	T(cuDestroyExternalSemaphore(0));
	T(cuSignalExternalSemaphoresAsync(0, 0, 0, 0));
	T(cuSignalExternalSemaphoresAsync(0, 0, 1, 0));
	T(cuWaitExternalSemaphoresAsync(0, 0, 0, 0));
	CUgraph g = 0; CUgraphNode n = 0; CUDA_EXT_SEM_SIGNAL_NODE_PARAMS sp; CUDA_EXT_SEM_WAIT_NODE_PARAMS wp;
	memset(&sp, 0, sizeof sp);
	memset(&wp, 0, sizeof wp);
	QUIET(cuGraphCreate(&g, 0));
	T(cuGraphAddExternalSemaphoresSignalNode(&n, g, 0, 0, &sp));
	T(cuGraphAddExternalSemaphoresWaitNode(&n, g, 0, 0, &wp));
	T(cuGraphAddExternalSemaphoresSignalNode(&n, g, 0, 0, 0));
}

static void CUDA_CB notified_(CUasyncNotificationInfo *i, void *x, CUasyncCallbackHandle h) { (void)i; (void)x; (void)h; }

GROUP(notification) {
	start_driver();
	CUasyncCallbackHandle h = 0;
	T(cuDeviceRegisterAsyncNotification(dev, notified_, 0, &h));
	B(h != 0);
	T(cuDeviceRegisterAsyncNotification(99, notified_, 0, &h));
	T(cuDeviceRegisterAsyncNotification(dev, 0, 0, &h));
	T(cuDeviceUnregisterAsyncNotification(dev, h));
	T(cuDeviceUnregisterAsyncNotification(dev, h));
	T(cuDeviceUnregisterAsyncNotification(dev, 0));
	T(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
	start();
	T(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
	T(cuFlushGPUDirectRDMAWrites((CUflushGPUDirectRDMAWritesTarget)9, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
	T(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX, (CUflushGPUDirectRDMAWritesScope)9));
}

GROUP(graphics) {
	start();
	CUgraphicsResource r = 0; unsigned n = 0; CUdevice d[2];
	T(cuGraphicsUnregisterResource(0));
	T(cuGraphicsMapResources(0, &r, 0));
	T(cuGraphicsMapResources(1, &r, 0));
	T(cuGraphicsUnmapResources(1, &r, 0));
	T(cuGraphicsGLRegisterBuffer(&r, 1, 0));
	T(cuGLGetDevices(&n, d, 2, (CUGLDeviceList)1));
}

GROUP(decompress) {
	start();
	CUmemDecompressParams d; size_t at = 9; CUstream s = new_stream(0);
	memset(&d, 0, sizeof d);
	T(cuMemBatchDecompressAsync(&d, 0, 0, &at, s));
	T(cuMemBatchDecompressAsync(&d, 1, 0, &at, s));
	T(cuMemBatchDecompressAsync(0, 1, 0, &at, s));
	int mask = -1;
	T(cuDeviceGetAttribute(&mask, CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK, dev));
	N(mask);
}

GROUP(discard) {
	start();
	CUdeviceptr p = 0, q = new_memory(4096); size_t n = 1 << 21; CUstream s = new_stream(0); CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE}; size_t zero = 0;
	QUIET(cuMemAllocManaged(&p, n, CU_MEM_ATTACH_GLOBAL));
	T(cuMemDiscardBatchAsync(&p, &n, 1, 0, s));
	T(cuMemDiscardBatchAsync(&p, &n, 0, 0, s));
	T(cuMemDiscardBatchAsync(&p, &n, 1, 1, s));
	T(cuMemDiscardBatchAsync(&q, &n, 1, 0, s));
	T(cuMemDiscardBatchAsync(&p, &n, 1, 0, 0));
	T(cuMemDiscardAndPrefetchBatchAsync(&p, &n, 1, &here, &zero, 1, 0, s));
	T(cuMemPrefetchBatchAsync(&p, &n, 1, &here, &zero, 1, 0, s));
	T(cuMemPrefetchBatchAsync(&p, &n, 1, &here, &zero, 0, 0, s));
	T(cuMemPrefetchBatchAsync(&p, &n, 0, &here, &zero, 1, 0, s));
	T(cuMemPrefetchBatchAsync(&p, &n, 1, &here, &zero, 1, 1, s));
	T(cuStreamSynchronize(s));
}
