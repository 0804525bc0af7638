// Contexts: the primary one, created ones, the stack, flags, limits, green contexts.
#include "transcript.h"

GROUP(primary) {
	start_driver();
	CUcontext c = 0, d = 0; unsigned flags = 99; int active = 99; CUdeviceptr p = 0;
	T(cuDevicePrimaryCtxGetState(dev, &flags, &active));
	N(flags); N(active);
	T(cuDevicePrimaryCtxRelease(dev));
	T(cuDevicePrimaryCtxSetFlags(dev, CU_CTX_SCHED_YIELD));
	T(cuDevicePrimaryCtxGetState(dev, &flags, &active));
	N(flags); N(active);
	T(cuDevicePrimaryCtxSetFlags(dev, 3));
	T(cuDevicePrimaryCtxSetFlags(dev, 0x8000));
	T(cuDevicePrimaryCtxRetain(&c, 99));
	T(cuDevicePrimaryCtxRetain(&c, dev));
	T(cuDevicePrimaryCtxRetain(&d, dev));
	B(c == d);
	T(cuDevicePrimaryCtxGetState(dev, &flags, &active));
	N(flags); N(active);
	T(cuCtxGetCurrent(&d));
	B(d == 0);
	T(cuCtxSetCurrent(c));
	T(cuCtxGetFlags(&flags));
	N(flags);
	T(cuDevicePrimaryCtxSetFlags(dev, CU_CTX_SCHED_SPIN));
	T(cuCtxGetFlags(&flags));
	N(flags);
	T(cuMemAlloc(&p, 64));
	T(cuCtxDestroy(c));
	T(cuDevicePrimaryCtxRelease(dev));
	T(cuMemsetD8(p, 0, 64));
	T(cuDevicePrimaryCtxReset(dev));
	T(cuDevicePrimaryCtxGetState(dev, &flags, &active));
	N(flags); N(active);
	T(cuMemsetD8(p, 0, 64));
	T(cuMemAlloc(&p, 64));
	T(cuCtxSynchronize());
	T(cuCtxGetCurrent(&d));
	B(d == c);
	T(cuDevicePrimaryCtxRetain(&d, dev));
	B(d == c);
	T(cuMemAlloc(&p, 64));
	T(cuDevicePrimaryCtxRelease(dev));
	T(cuDevicePrimaryCtxRelease(dev));
	T(cuDevicePrimaryCtxRelease(dev));
	T(cuDevicePrimaryCtxGetState(dev, &flags, &active));
	N(active);
	T(cuMemAlloc(&p, 64));
	T(cuDevicePrimaryCtxReset(99));
}

GROUP(stack) {
	start_driver();
	CUcontext a = 0, b = 0, c = 0; CUdevice d = -1;
	T(cuCtxPopCurrent(&c));
	T(cuCtxGetCurrent(&c));
	B(c == 0);
	T(cuCtxGetDevice(&d));
	T(cuCtxSetCurrent(0));
	T(cuCtxPushCurrent(0));
	T(cuCtxCreate_v2(&a, 0, dev));
	T(cuCtxCreate_v2(&b, 0, dev));
	T(cuCtxGetCurrent(&c));
	B(c == b);
	T(cuCtxPopCurrent(&c));
	B(c == b);
	T(cuCtxGetCurrent(&c));
	B(c == a);
	T(cuCtxPushCurrent(b));
	T(cuCtxPushCurrent(b));
	T(cuCtxSetCurrent(a));
	T(cuCtxPopCurrent(&c));
	B(c == a);
	T(cuCtxPopCurrent(0));
	T(cuCtxGetCurrent(&c));
	B(c == a);
	T(cuCtxSetCurrent(0));
	T(cuCtxGetCurrent(&c));
	B(c == 0);
	T(cuCtxSetCurrent(b));
	T(cuCtxGetDevice(&d));
	N(d);
	int pushed = 0;
	while (pushed < 2000 && cuCtxPushCurrent(a) == 0) pushed++;
	N(pushed);
	int popped = 0;
	while (popped < 3000 && cuCtxPopCurrent(&c) == 0) popped++;
	N(popped - pushed);
	T(cuCtxPushCurrent(a));
	T(cuCtxPushCurrent(b));
	T(cuCtxDestroy(a));
	T(cuCtxGetCurrent(&c));
	B(c == b);
	T(cuCtxPopCurrent(&c));
	T(cuCtxGetCurrent(&c));
	B(c == a);
	T(cuCtxSynchronize());
	T(cuCtxGetDevice(&d));
	T(cuCtxPopCurrent(&c));
	T(cuCtxPushCurrent(b));
	T(cuCtxDestroy(b));
	T(cuCtxGetCurrent(&c));
	B(c == 0);
	T(cuCtxDestroy(0));
}

GROUP(create) {
	start_driver();
	static const unsigned list[] = {0, 1, 2, 3, 4, 5, 7, 8, 16, 32, 64, 128, 256, 0x8000};
	CUcontext c = 0; unsigned v = 0, flags = 0; unsigned long long id = 0, id2 = 0; int lo = 9, hi = 9;
	for (unsigned i = 0; i < sizeof list / sizeof *list; i++) {
		flags = 9999;
		int e = cuCtxCreate_v2(&c, list[i], dev), f = e ? -1 : cuCtxGetFlags(&flags);
		printf("create %u = %d, flags %d: %u\n", list[i], e, f, flags);
		if (!e) QUIET(cuCtxDestroy(c));
	}
	T(cuCtxCreate_v2(&c, 0, 99));
	T(cuCtxCreate_v2(&c, 0, dev));
	T(cuCtxGetApiVersion(c, &v));
	N(v);
	T(cuCtxGetApiVersion(0, &v));
	N(v);
	T(cuCtxGetId(c, &id));
	T(cuCtxGetId(0, &id2));
	B(id == id2);
	T(cuCtxGetStreamPriorityRange(&lo, &hi));
	N(lo); N(hi);
	T(cuCtxGetStreamPriorityRange(0, &hi));
	T(cuCtxGetStreamPriorityRange(0, 0));
	T(cuCtxSetFlags(CU_CTX_SCHED_YIELD));
	T(cuCtxGetFlags(&flags));
	N(flags);
	T(cuCtxSetFlags(CU_CTX_MAP_HOST));
	T(cuCtxGetFlags(&flags));
	N(flags);
	T(cuCtxSetFlags(3));
	T(cuCtxResetPersistingL2Cache());
	CUfunc_cache cache = 9; CUsharedconfig sh = 9;
	T(cuCtxGetCacheConfig(&cache));
	N(cache);
	T(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
	T(cuCtxGetCacheConfig(&cache));
	N(cache);
	T(cuCtxSetCacheConfig((CUfunc_cache)77));
	T(cuCtxGetSharedMemConfig(&sh));
	N(sh);
	T(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
	T(cuCtxGetSharedMemConfig(&sh));
	N(sh);
	T(cuCtxSetSharedMemConfig((CUsharedconfig)77));
	T(cuCtxDestroy(c));
	T(cuCtxGetFlags(&flags));
	T(cuCtxGetCacheConfig(&cache));
	T(cuCtxGetId(0, &id));
}

GROUP(create_params) {
	start_driver();
	CUcontext c = 0; CUctxCreateParams p = {0}; CUexecAffinityParam x = {0}, got = {0};
	T(cuCtxCreate_v4(&c, 0, 0, dev));
	T(cuCtxGetExecAffinity(&got, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
	T(cuCtxGetExecAffinity(&got, (CUexecAffinityType)7));
	T(cuCtxCreate_v4(&c, &p, 0, dev));
	x.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT;
	x.param.smCount.val = 1;
	p.execAffinityParams = &x;
	p.numExecAffinityParams = 1;
	T(cuCtxCreate_v4(&c, &p, 0, dev));
	T(cuCtxCreate_v3(&c, &x, 1, 0, dev));
	T(cuCtxCreate_v3(&c, 0, 0, 0, dev));
	T(cuCtxCreate_v3(&c, 0, 1, 0, dev));
	T(cuCtxCreate_v3(&c, &x, -1, 0, dev));
}

GROUP(attach) {
	start_driver();
	CUcontext a = 0, b = 0;
	T(cuCtxAttach(&b, 0));
	T(cuCtxCreate_v2(&a, 0, dev));
	T(cuCtxAttach(&b, 1));
	T(cuCtxAttach(&b, 0));
	B(a == b);
	T(cuCtxDetach(a));
	T(cuCtxSynchronize());
	T(cuCtxDetach(a));
	T(cuCtxSynchronize());
	T(cuCtxGetCurrent(&b));
	B(b == 0);
}

GROUP(limits) {
	start_driver();
	QUIET(cuCtxCreate_v2(&ctx, 0, dev));
	for (int l = 0; l < 12; l++) {
		size_t before = 0, after = 0;
		int e = cuCtxGetLimit(&before, (CUlimit)l);
		int f = cuCtxSetLimit((CUlimit)l, before), g = cuCtxGetLimit(&after, (CUlimit)l);
		printf("limit %d: get %d set %d get %d same %d\n", l, e, f, g, before == after);
	}
	size_t v = 0;
	T(cuCtxGetLimit(&v, CU_LIMIT_STACK_SIZE));
	N(v);
	T(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 5000));
	T(cuCtxGetLimit(&v, CU_LIMIT_STACK_SIZE));
	N(v);
	T(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1));
	T(cuCtxGetLimit(&v, CU_LIMIT_STACK_SIZE));
	N(v);
	T(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, (size_t)1 << 40));
	T(cuCtxGetLimit(&v, CU_LIMIT_PRINTF_FIFO_SIZE));
	N(v);
	T(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 2 << 20));
	T(cuCtxGetLimit(&v, CU_LIMIT_PRINTF_FIFO_SIZE));
	N(v);
	T(cuCtxGetLimit(&v, CU_LIMIT_MALLOC_HEAP_SIZE));
	N(v);
	T(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, (16 << 20) + 1));
	T(cuCtxGetLimit(&v, CU_LIMIT_MALLOC_HEAP_SIZE));
	N(v);
	T(cuCtxGetLimit(&v, CU_LIMIT_MAX_L2_FETCH_GRANULARITY));
	N(v);
	T(cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 32));
	T(cuCtxGetLimit(&v, CU_LIMIT_MAX_L2_FETCH_GRANULARITY));
	N(v);
	T(cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 129));
	T(cuCtxSetLimit((CUlimit)77, 1));
	T(cuCtxGetLimit(&v, (CUlimit)77));
	T(cuCtxSetCurrent(0));
	T(cuCtxGetLimit(&v, CU_LIMIT_STACK_SIZE));
	T(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024));
}

GROUP(context_events) {
	start();
	CUevent e = new_event(0);
	CUstream a = new_stream(CU_STREAM_NON_BLOCKING), b = new_stream(CU_STREAM_NON_BLOCKING);
	gate g = new_gate();
	CUdeviceptr p = new_memory(4);
	kernel("inc");
	QUIET(hold(g, a));
	T(cuCtxRecordEvent(ctx, e));
	T(cuEventQuery(e));
	T(cuStreamQuery(b));
	T(cuCtxWaitEvent(ctx, e));
	T(inc_on(p, b));
	T(cuStreamQuery(b));
	open_gate(g);
	T(cuEventSynchronize(e));
	T(cuCtxSynchronize());
	T(cuStreamQuery(b));
	T(cuCtxRecordEvent(ctx, 0));
	T(cuCtxWaitEvent(ctx, 0));
}

static CUstream there_;
static CUdeviceptr word_;

static void *elsewhere_(void *x) {
	CUcontext c = 0; CUdeviceptr q = 0;
	T(cuCtxGetCurrent(&c));
	B(c == 0);
	T(cuMemAlloc(&q, 4));
	T(cuStreamSynchronize(there_));
	T(cuStreamSynchronize(0));
	T(cuMemsetD8Async(word_, 1, 4, there_));
	T(cuMemsetD8(word_, 1, 4));
	T(cuMemFree(word_));
	T(cuCtxSetCurrent(ctx));
	T(cuMemAlloc(&q, 4));
	T(cuMemFree(q));
	return x;
}

GROUP(other_thread) {
	start();
	CUcontext c = 0; pthread_t t;
	there_ = new_stream(0);
	word_ = new_memory(4);
	pthread_create(&t, 0, elsewhere_, 0);
	pthread_join(t, 0);
	T(cuCtxGetCurrent(&c));
	B(c == ctx);
}

GROUP(foreign_context) {
	start();
	CUcontext other = 0;
	CUdeviceptr p = new_memory(64);
	CUstream s = new_stream(0);
	CUevent e = new_event(0);
	CUfunction f = kernel("empty");
	QUIET(cuCtxCreate_v2(&other, 0, dev));
	CUevent e2 = new_event(0);
	CUcontext c = 0;
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, 0, 0));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
	T(cuMemsetD8(p, 1, 64));
	T(cuMemsetD8Async(p, 1, 64, s));
	T(cuEventRecord(e, s));
	T(cuEventRecord(e2, s));
	T(cuEventRecord(e, 0));
	T(cuStreamWaitEvent(0, e, 0));
	T(cuStreamWaitEvent(s, e2, 0));
	T(cuStreamGetCtx(s, &c));
	B(c == ctx);
	T(cuStreamGetCtx(0, &c));
	B(c == other);
	T(cuStreamSynchronize(s));
	T(cuEventQuery(e));
	T(cuMemFree(p));
	T(cuStreamDestroy(s));
	T(cuCtxSynchronize());
}

GROUP(green) {
	start_driver();
	CUdevResource all, part[4], rest, got; CUdevResourceDesc desc = 0; CUgreenCtx g = 0, g2 = 0; CUcontext c = 0, k = 0; CUstream s = 0;
	memset(&all, 0, sizeof all);
	unsigned n = 0;
	T(cuDeviceGetDevResource(dev, &all, CU_DEV_RESOURCE_TYPE_SM));
	N(all.type);
	B(all.sm.smCount > 0);
	T(cuDeviceGetDevResource(dev, &got, CU_DEV_RESOURCE_TYPE_INVALID));
	T(cuDeviceGetDevResource(dev, &got, (CUdevResourceType)77));
	T(cuDeviceGetDevResource(99, &got, CU_DEV_RESOURCE_TYPE_SM));
	T(cuDevSmResourceSplitByCount(0, &n, &all, 0, 0, all.sm.smCount));
	N(n);
	n = 1;
	T(cuDevSmResourceSplitByCount(part, &n, &all, &rest, 0, all.sm.smCount));
	N(n);
	B(part[0].sm.smCount == all.sm.smCount);
	n = 1;
	T(cuDevSmResourceSplitByCount(part, &n, &all, &rest, 0, all.sm.smCount + 1));
	n = 1;
	T(cuDevSmResourceSplitByCount(part, &n, 0, &rest, 0, 1));
	T(cuDevResourceGenerateDesc(&desc, &all, 1));
	T(cuGreenCtxCreate(&g, desc, dev, 0));
	T(cuGreenCtxCreate(&g, 0, dev, CU_GREEN_CTX_DEFAULT_STREAM));
	T(cuGreenCtxCreate(&g, desc, 99, CU_GREEN_CTX_DEFAULT_STREAM));
	T(cuGreenCtxCreate(&g, desc, dev, CU_GREEN_CTX_DEFAULT_STREAM));
	if (!g) return;
	T(cuGreenCtxGetDevResource(g, &got, CU_DEV_RESOURCE_TYPE_SM));
	B(got.sm.smCount == all.sm.smCount);
	T(cuCtxFromGreenCtx(&c, g));
	T(cuCtxFromGreenCtx(&k, g));
	B(c == k);
	T(cuCtxSetCurrent(c));
	T(cuCtxGetCurrent(&k));
	B(c == k);
	T(cuCtxGetDevResource(c, &got, CU_DEV_RESOURCE_TYPE_SM));
	B(got.sm.smCount == all.sm.smCount);
	T(cuGreenCtxStreamCreate(&s, g, 0, 0));
	T(cuGreenCtxStreamCreate(&s, g, CU_STREAM_NON_BLOCKING, 0));
	T(cuStreamGetGreenCtx(s, &g2));
	B(g2 == g);
	T(cuStreamGetCtx(s, &k));
	B(k == c);
	T(cuStreamGetCtx_v2(s, &k, &g2));
	B(k == 0);
	B(g2 == g);
	CUdeviceptr p = new_memory(64);
	T(inc_on(p, s));
	T(cuStreamSynchronize(s));
	N(word(p));
	CUevent e = new_event(0);
	T(cuGreenCtxRecordEvent(g, e));
	T(cuGreenCtxWaitEvent(g, e));
	T(cuEventSynchronize(e));
	unsigned long long id = 0;
	T(cuGreenCtxGetId(g, &id));
	B(id != 0);
	unsigned flags = 99; int active = 99;
	T(cuDevicePrimaryCtxGetState(dev, &flags, &active));
	N(active);
	T(cuCtxDestroy(c));
	T(cuStreamDestroy(s));
	T(cuGreenCtxDestroy(g));
	T(cuCtxSynchronize());
	T(cuGreenCtxDestroy(0));
	T(cuCtxFromGreenCtx(&c, 0));
}
