// Streams, events, host functions, values that streams write and wait for.
#include "transcript.h"

GROUP(stream) {
	start();
	CUstream s = 0, t = 0; unsigned flags = 99; int prio = 99, lo = 0, hi = 0; CUcontext c = 0; unsigned long long id = 0, id2 = 0; CUdevice d = -1;
	T(cuStreamCreate(&s, CU_STREAM_DEFAULT));
	T(cuStreamGetFlags(s, &flags));
	N(flags);
	T(cuStreamGetPriority(s, &prio));
	N(prio);
	T(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
	T(cuStreamGetFlags(t, &flags));
	N(flags);
	T(cuStreamCreate(&t, 2));
	T(cuStreamCreate(0, 0));
	T(cuCtxGetStreamPriorityRange(&lo, &hi));
	N(lo); N(hi);
	T(cuStreamCreateWithPriority(&t, 0, hi));
	T(cuStreamGetPriority(t, &prio));
	N(prio);
	T(cuStreamCreateWithPriority(&t, 0, hi - 10));
	T(cuStreamGetPriority(t, &prio));
	N(prio);
	T(cuStreamCreateWithPriority(&t, 0, lo + 10));
	T(cuStreamGetPriority(t, &prio));
	N(prio);
	T(cuStreamCreateWithPriority(&t, 77, 0));
	T(cuStreamGetCtx(s, &c));
	B(c == ctx);
	T(cuStreamGetDevice(s, &d));
	N(d);
	T(cuStreamGetId(s, &id));
	T(cuStreamGetId(t, &id2));
	B(id != id2);
	NOTE("the default streams");
	T(cuStreamGetFlags(0, &flags));
	N(flags);
	T(cuStreamGetFlags(CU_STREAM_LEGACY, &flags));
	N(flags);
	T(cuStreamGetFlags(CU_STREAM_PER_THREAD, &flags));
	N(flags);
	T(cuStreamGetPriority(0, &prio));
	N(prio);
	T(cuStreamGetId(0, &id));
	T(cuStreamGetId(CU_STREAM_LEGACY, &id2));
	B(id == id2);
	T(cuStreamGetId(CU_STREAM_PER_THREAD, &id2));
	B(id == id2);
	T(cuStreamQuery(0));
	T(cuStreamQuery(CU_STREAM_PER_THREAD));
	T(cuStreamDestroy(0));
	T(cuStreamDestroy(CU_STREAM_LEGACY));
	T(cuStreamDestroy(CU_STREAM_PER_THREAD));
	T(cuStreamGetFlags(s, 0));
	T(cuStreamGetPriority(s, 0));
	T(cuStreamGetCtx(s, 0));
	T(cuStreamGetId(s, 0));
	T(cuStreamDestroy(s));
}

GROUP(stream_query) {
	start();
	CUstream s = new_stream(0), t = new_stream(CU_STREAM_NON_BLOCKING), u = new_stream(0); gate g = new_gate(); CUevent e = new_event(0);
	T(cuStreamQuery(s));
	QUIET(hold(g, s));
	T(cuStreamQuery(s));
	T(cuStreamQuery(t));
	T(cuStreamQuery(u));
	T(cuStreamQuery(0));
	T(cuEventQuery(e));
	T(cuEventRecord(e, s));
	T(cuEventQuery(e));
	T(cuStreamWaitEvent(t, e, 0));
	T(cuStreamQuery(t));
	T(cuStreamDestroy(t));
	open_gate(g);
	T(cuEventSynchronize(e));
	T(cuEventQuery(e));
	T(cuStreamSynchronize(s));
	T(cuStreamQuery(s));
	T(cuStreamWaitEvent(s, e, 1));
	T(cuStreamWaitEvent(s, e, 2));
	T(cuStreamWaitEvent(s, 0, 0));
}

// What the legacy default stream waits for, and what waits for it.
GROUP(legacy_order) {
	start();
	CUstream s = new_stream(0), t = new_stream(CU_STREAM_NON_BLOCKING); gate g = new_gate(); CUdeviceptr p = new_memory(16);
	kernel("inc");
	QUIET(hold(g, s));
	T(inc_on(p, s));
	NOTE("the default stream waits for blocking streams");
	T(inc_on(p, 0));
	T(cuStreamQuery(0));
	NOTE("and blocking streams for the default stream");
	CUstream u = new_stream(0);
	T(inc_on(p, u));
	T(cuStreamQuery(u));
	NOTE("other streams do not");
	T(inc_on(p + 4, t));
	T(cuStreamSynchronize(t));
	T(cuStreamQuery(t));
	T(inc_on(p + 8, CU_STREAM_PER_THREAD));
	T(cuStreamQuery(CU_STREAM_PER_THREAD));
	open_gate(g);
	T(cuCtxSynchronize());
	N(word(p)); N(word(p + 4)); N(word(p + 8));
}

GROUP(stream_order) {
	start();
	CUstream a = new_stream(CU_STREAM_NON_BLOCKING), b = new_stream(CU_STREAM_NON_BLOCKING); CUdeviceptr p = new_memory(8); CUevent e = new_event(CU_EVENT_DISABLE_TIMING); gate g = new_gate(); unsigned *v = 0;
	QUIET(cuMemAllocHost((void **)&v, 64));
	kernel("inc");
	QUIET(hold(g, a));
	T(set_on(p, 10, a));
	T(cuEventRecord(e, a));
	T(cuStreamWaitEvent(b, e, 0));
	T(inc_on(p, b));
	NOTE("a wait refers to the record before it, not to later ones");
	T(cuEventRecord(e, b));
	T(cuMemcpyDtoHAsync(v, p, 4, b));
	open_gate(g);
	T(cuStreamSynchronize(b));
	N(v[0]);
	NOTE("an event that was never recorded holds nobody");
	CUevent n = new_event(0);
	T(cuStreamWaitEvent(a, n, 0));
	T(cuStreamSynchronize(a));
	T(cuEventSynchronize(n));
}

GROUP(event) {
	start();
	CUevent a = 0, b = 0, c = 0; float ms = -1; CUstream s = new_stream(0); gate g = new_gate();
	T(cuEventCreate(&a, 0));
	T(cuEventCreate(&b, CU_EVENT_BLOCKING_SYNC));
	T(cuEventCreate(&c, CU_EVENT_DISABLE_TIMING));
	CUevent bad = 0;
	T(cuEventCreate(&bad, 8));
	T(cuEventCreate(&bad, CU_EVENT_INTERPROCESS));
	T(cuEventCreate(0, 0));
	T(cuEventElapsedTime(&ms, a, b));
	T(cuEventRecord(a, s));
	T(cuEventElapsedTime(&ms, a, b));
	T(cuEventRecord(b, s));
	T(cuEventSynchronize(b));
	T(cuEventElapsedTime(&ms, a, b));
	B(ms >= 0);
	T(cuEventElapsedTime(&ms, b, a));
	B(ms <= 0);
	T(cuEventElapsedTime(&ms, a, a));
	B(ms == 0);
	T(cuEventRecord(c, s));
	T(cuEventElapsedTime(&ms, a, c));
	T(cuEventElapsedTime(0, a, b));
	T(cuEventElapsedTime(&ms, 0, b));
	QUIET(hold(g, s));
	T(cuEventRecord(b, s));
	T(cuEventElapsedTime(&ms, a, b));
	T(cuEventQuery(b));
	T(cuEventDestroy(b));
	open_gate(g);
	T(cuStreamSynchronize(s));
	T(cuEventRecordWithFlags(a, s, CU_EVENT_RECORD_DEFAULT));
	T(cuEventRecordWithFlags(a, s, CU_EVENT_RECORD_EXTERNAL));
	T(cuEventRecordWithFlags(a, s, 7));
	T(cuEventRecord(a, 0));
	T(cuEventRecord(a, CU_STREAM_PER_THREAD));
	T(cuEventRecord(0, s));
	T(cuEventQuery(0));
	T(cuEventSynchronize(0));
	T(cuEventDestroy(0));
	T(cuEventDestroy(a));
}

static int in_callback_[8];
static CUstream its_stream_;
static CUdeviceptr its_word_;

static void CUDA_CB called_(void *x) {
	CUdeviceptr p = 0; CUevent e = 0; CUcontext c = 0;
	int *r = x;
	r[0] = cuMemAlloc(&p, 16);
	r[1] = cuStreamSynchronize(0);
	r[2] = cuStreamQuery(its_stream_);
	r[3] = cuEventCreate(&e, 0);
	r[4] = cuMemsetD8Async(its_word_, 7, 1, its_stream_);
	r[5] = cuCtxGetCurrent(&c);
	r[6] = cuCtxSynchronize();
	r[7] = 1;
}

static void CUDA_CB callback_(CUstream s, CUresult st, void *x) {
	int *r = x;
	called_(x);
	r[7] = 10 + (s == its_stream_) + 2 * (int)st;
}

GROUP(host_function) {
	start();
	CUstream s = new_stream(0); gate g = new_gate();
	its_stream_ = s;
	its_word_ = new_memory(4);
	QUIET(hold(g, s));
	T(cuLaunchHostFunc(s, called_, in_callback_));
	T(cuStreamQuery(s));
	open_gate(g);
	T(cuStreamSynchronize(s));
	for (int i = 0; i < 8; i++) printf("  in the function %d: %d\n", i, in_callback_[i]);
	memset(in_callback_, 0, sizeof in_callback_);
	T(cuStreamAddCallback(s, callback_, in_callback_, 0));
	T(cuStreamSynchronize(s));
	for (int i = 0; i < 8; i++) printf("  in the callback %d: %d\n", i, in_callback_[i]);
	T(cuStreamAddCallback(s, callback_, in_callback_, 1));
	T(cuStreamAddCallback(s, 0, in_callback_, 0));
	T(cuLaunchHostFunc(s, 0, in_callback_));
	T(cuLaunchHostFunc(0, called_, in_callback_));
	T(cuCtxSynchronize());
	N(word(its_word_));
}

GROUP(memop) {
	start();
	CUstream s = new_stream(0), t = new_stream(0); CUdeviceptr p = new_memory(32); unsigned long long v = 0;
	T(cuStreamWriteValue32(s, p, 5, CU_STREAM_WRITE_VALUE_DEFAULT));
	T(cuStreamWriteValue64(s, p + 8, 0x1122334455667788, CU_STREAM_WRITE_VALUE_DEFAULT));
	T(cuStreamWaitValue32(t, p, 5, CU_STREAM_WAIT_VALUE_EQ));
	T(cuStreamWaitValue64(t, p + 8, 0x1122334455667788, CU_STREAM_WAIT_VALUE_GEQ));
	T(cuStreamWaitValue32(t, p, 4, CU_STREAM_WAIT_VALUE_AND));
	T(cuStreamWaitValue32(t, p, 4, CU_STREAM_WAIT_VALUE_NOR));
	T(cuStreamSynchronize(t));
	T(cuMemcpyDtoH(&v, p + 8, 8));
	X(v);
	NOTE("errors");
	T(cuStreamWriteValue32(s, p + 2, 5, 0));
	T(cuStreamWriteValue64(s, p + 4, 5, 0));
	T(cuStreamWriteValue32(s, 0, 5, 0));
	T(cuStreamWriteValue32(s, (CUdeviceptr)(uintptr_t)&v, 5, 0));
	T(cuStreamWaitValue32(s, p + 1, 5, 0));
	T(cuStreamWaitValue32(s, 0, 5, 0));
	T(cuStreamWaitValue32(s, p, 5, 8));
	T(cuStreamWriteValue32(s, p, 5, 8));
	CUstreamBatchMemOpParams o[3];
	memset(o, 0, sizeof o);
	o[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32; o[0].writeValue.address = p; o[0].writeValue.value = 11;
	o[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32; o[1].waitValue.address = p; o[1].waitValue.value = 11;
	o[2].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64; o[2].writeValue.address = p + 16; o[2].writeValue.value64 = 12;
	T(cuStreamBatchMemOp(s, 3, o, 0));
	T(cuStreamSynchronize(s));
	N(word(p)); N(word(p + 16));
	T(cuStreamBatchMemOp(s, 0, o, 0));
	T(cuStreamBatchMemOp(s, 3, o, 1));
	o[0].operation = (CUstreamBatchMemOpType)77;
	T(cuStreamBatchMemOp(s, 1, o, 0));
	o[0].operation = CU_STREAM_MEM_OP_BARRIER;
	T(cuStreamBatchMemOp(s, 1, o, 0));
	o[0].operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
	T(cuStreamBatchMemOp(s, 1, o, 0));
}

GROUP(stream_attributes) {
	start();
	CUstream s = new_stream(0), t = new_stream(0); CUstreamAttrValue v, w;
	memset(&v, 0, sizeof v);
	T(cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
	N(v.syncPolicy);
	v.syncPolicy = CU_SYNC_POLICY_YIELD;
	T(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
	memset(&w, 0, sizeof w);
	T(cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &w));
	N(w.syncPolicy);
	v.syncPolicy = (CUsynchronizationPolicy)77;
	T(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
	T(cuStreamCopyAttributes(t, s));
	memset(&w, 0, sizeof w);
	T(cuStreamGetAttribute(t, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &w));
	N(w.syncPolicy);
	memset(&w, 0, sizeof w);
	T(cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_PRIORITY, &w));
	N(w.priority);
	memset(&v, 0, sizeof v);
	v.priority = -1;
	T(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_PRIORITY, &v));
	T(cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN, &w));
	N(w.memSyncDomain);
	memset(&w, 0, sizeof w);
	T(cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &w));
	N(w.memSyncDomainMap.default_); N(w.memSyncDomainMap.remote);
	memset(&w, 0, sizeof w);
	T(cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &w));
	N(w.accessPolicyWindow.num_bytes);
	T(cuStreamGetAttribute(s, (CUstreamAttrID)77, &w));
	T(cuStreamSetAttribute(s, (CUstreamAttrID)77, &w));
	T(cuStreamGetAttribute(s, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &w));
	T(cuStreamGetAttribute(0, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &w));
}
