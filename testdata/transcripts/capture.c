// Stream capture: what is recorded, and what is refused meanwhile.
#include "transcript.h"

static CUstream s, t;
static CUdeviceptr p;
static CUevent e;
static CUgraph g;

static void ready_(void) {
	start();
	s = new_stream(0);
	t = new_stream(CU_STREAM_NON_BLOCKING);
	p = new_memory(64);
	e = new_event(CU_EVENT_DISABLE_TIMING);
	kernel("inc");
}

static int status_(CUstream x) {
	CUstreamCaptureStatus st = 99;
	int r = cuStreamIsCapturing(x, &st);
	return r ? 1000 + r : (int)st;
}

static int nodes_(CUgraph x) {
	size_t n = 0;
	int r = cuGraphGetNodes(x, 0, &n);
	return r ? -r : (int)n;
}

GROUP(capture) {
	ready_();
	CUgraphExec x = 0;
	N(status_(s)); N(status_(0)); N(status_(CU_STREAM_PER_THREAD));
	T(cuStreamEndCapture(s, &g));
	T(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	N(status_(s));
	T(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	N(status_(s));
	T(inc_on(p, s));
	T(cuMemsetD32Async(p + 4, 5, 1, s));
	T(cuMemcpyDtoDAsync(p + 8, p + 4, 4, s));
	T(cuStreamEndCapture(s, &g));
	N(status_(s));
	N(nodes_(g));
	N(word(p));
	T(cuGraphInstantiate(&x, g, 0));
	T(cuGraphLaunch(x, s));
	T(cuGraphLaunch(x, s));
	T(cuStreamSynchronize(s));
	N(word(p)); N(word(p + 8));
	NOTE("the default streams");
	T(cuStreamBeginCapture(0, CU_STREAM_CAPTURE_MODE_GLOBAL));
	T(cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_GLOBAL));
	T(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_GLOBAL));
	T(cuStreamEndCapture(CU_STREAM_PER_THREAD, &g));
	N(nodes_(g));
	T(cuStreamBeginCapture(s, (CUstreamCaptureMode)7));
	T(cuStreamEndCapture(s, 0));
	T(cuStreamIsCapturing(s, 0));
}

// In each: the call that ends a capture, and what the stream says afterwards.
#define TRY(name, mode, call)                                                                                                  \
	do {                                                                                                                       \
		NOTE(name);                                                                                                            \
		QUIET(cuStreamBeginCapture(s, mode));                                                                                  \
		T(call);                                                                                                               \
		N(status_(s));                                                                                                         \
		T(cuStreamEndCapture(s, &g));                                                                                          \
	} while (0)

static CUdeviceptr q;
static void *h;

GROUP(capture_refused) {
	ready_();
	unsigned v = 0; CUstream u = 0; CUmodule m = 0; CUevent f = new_event(0); float ms = 0;
	TRY("synchronize the stream", CU_STREAM_CAPTURE_MODE_GLOBAL, cuStreamSynchronize(s));
	TRY("query the stream", CU_STREAM_CAPTURE_MODE_GLOBAL, cuStreamQuery(s));
	TRY("synchronize the context", CU_STREAM_CAPTURE_MODE_GLOBAL, cuCtxSynchronize());
	TRY("synchronize the context, relaxed", CU_STREAM_CAPTURE_MODE_RELAXED, cuCtxSynchronize());
	TRY("work on the default stream", CU_STREAM_CAPTURE_MODE_GLOBAL, inc_on(p, 0));
	TRY("work on the default stream, relaxed", CU_STREAM_CAPTURE_MODE_RELAXED, inc_on(p, 0));
	TRY("a copy that waits", CU_STREAM_CAPTURE_MODE_GLOBAL, cuMemcpyHtoD(p, &v, 4));
	TRY("a copy that waits, relaxed", CU_STREAM_CAPTURE_MODE_RELAXED, cuMemcpyHtoD(p, &v, 4));
	TRY("a set that waits", CU_STREAM_CAPTURE_MODE_GLOBAL, cuMemsetD8(p, 0, 4));
	TRY("work on another stream", CU_STREAM_CAPTURE_MODE_GLOBAL, inc_on(p, t));
	TRY("synchronize another stream", CU_STREAM_CAPTURE_MODE_GLOBAL, cuStreamSynchronize(t));
	TRY("query another stream", CU_STREAM_CAPTURE_MODE_GLOBAL, cuStreamQuery(t));
	TRY("allocate", CU_STREAM_CAPTURE_MODE_GLOBAL, cuMemAlloc(&q, 16));
	TRY("allocate, relaxed", CU_STREAM_CAPTURE_MODE_RELAXED, cuMemAlloc(&q, 16));
	TRY("free", CU_STREAM_CAPTURE_MODE_GLOBAL, cuMemFree(q));
	TRY("allocate for this thread only", CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, cuMemAlloc(&q, 16));
	TRY("allocate on the host", CU_STREAM_CAPTURE_MODE_GLOBAL, cuMemAllocHost(&h, 64));
	TRY("managed memory", CU_STREAM_CAPTURE_MODE_GLOBAL, cuMemAllocManaged(&q, 64, CU_MEM_ATTACH_GLOBAL));
	TRY("create a stream", CU_STREAM_CAPTURE_MODE_GLOBAL, cuStreamCreate(&u, 0));
	TRY("create an event", CU_STREAM_CAPTURE_MODE_GLOBAL, cuEventCreate(&f, 0));
	TRY("query an event", CU_STREAM_CAPTURE_MODE_GLOBAL, cuEventQuery(e));
	TRY("synchronize an event", CU_STREAM_CAPTURE_MODE_GLOBAL, cuEventSynchronize(e));
	TRY("time between events", CU_STREAM_CAPTURE_MODE_GLOBAL, cuEventElapsedTime(&ms, f, f));
	TRY("load a module", CU_STREAM_CAPTURE_MODE_GLOBAL, cuModuleLoadData(&m, kernels_));
	TRY("a callback", CU_STREAM_CAPTURE_MODE_GLOBAL, cuStreamAddCallback(s, (CUstreamCallback)ready_, 0, 0));
	TRY("attach", CU_STREAM_CAPTURE_MODE_GLOBAL, cuStreamAttachMemAsync(s, q, 0, CU_MEM_ATTACH_GLOBAL));
	TRY("prefetch", CU_STREAM_CAPTURE_MODE_GLOBAL, cuMemPrefetchAsync(q, 64, ((CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE}), 0, s));
	TRY("destroy the stream", CU_STREAM_CAPTURE_MODE_GLOBAL, cuStreamDestroy(s));
}

GROUP(capture_allowed) {
	ready_();
	CUhostFn fn = (CUhostFn)(void (*)(void))ready_;
	TRY("a host function", CU_STREAM_CAPTURE_MODE_GLOBAL, cuLaunchHostFunc(s, fn, 0));
	N(nodes_(g));
	TRY("write a value", CU_STREAM_CAPTURE_MODE_GLOBAL, cuStreamWriteValue32(s, p, 1, 0));
	N(nodes_(g));
	TRY("wait for a value", CU_STREAM_CAPTURE_MODE_GLOBAL, cuStreamWaitValue32(s, p, 1, 0));
	N(nodes_(g));
	TRY("allocate in order", CU_STREAM_CAPTURE_MODE_GLOBAL, cuMemAllocAsync(&q, 64, s));
	N(nodes_(g));
	TRY("free in order", CU_STREAM_CAPTURE_MODE_GLOBAL, cuMemFreeAsync(p, s));
	N(nodes_(g));
	TRY("record an event", CU_STREAM_CAPTURE_MODE_GLOBAL, cuEventRecord(e, s));
	N(nodes_(g));
	TRY("record an event outside", CU_STREAM_CAPTURE_MODE_GLOBAL, cuEventRecordWithFlags(e, s, CU_EVENT_RECORD_EXTERNAL));
	N(nodes_(g));
	TRY("wait for an event outside", CU_STREAM_CAPTURE_MODE_GLOBAL, cuStreamWaitEvent(s, e, CU_EVENT_WAIT_EXTERNAL));
	N(nodes_(g));
	TRY("information", CU_STREAM_CAPTURE_MODE_GLOBAL, cuDeviceGetCount(&(int){0}));
	N(nodes_(g));
	TRY("nothing", CU_STREAM_CAPTURE_MODE_GLOBAL, cuCtxGetCurrent(&ctx));
	N(nodes_(g));
	CUgraph child = g; CUgraphExec x = 0;
	QUIET(cuGraphInstantiate(&x, child, 0));
	TRY("launch a graph", CU_STREAM_CAPTURE_MODE_GLOBAL, cuGraphLaunch(x, s));
	N(nodes_(g));
	TRY("two dimensions", CU_STREAM_CAPTURE_MODE_GLOBAL, cuMemsetD2D8Async(p, 16, 1, 4, 2, s));
	N(nodes_(g));
	TRY("flags of the stream", CU_STREAM_CAPTURE_MODE_GLOBAL, cuStreamGetFlags(s, &(unsigned){0}));
}

GROUP(capture_fork) {
	ready_();
	CUevent back = new_event(CU_EVENT_DISABLE_TIMING), before = new_event(CU_EVENT_DISABLE_TIMING); CUgraphExec x = 0; size_t n = 0;
	NOTE("fork and join");
	QUIET(cuEventRecord(before, t));
	QUIET(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	T(inc_on(p, s));
	T(cuEventRecord(e, s));
	T(cuEventQuery(e));
	QUIET(cuStreamEndCapture(s, &g) == 901 ? 0 : 1);
	QUIET(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	T(inc_on(p, s));
	T(cuEventRecord(e, s));
	T(cuStreamWaitEvent(t, e, 0));
	N(status_(t));
	T(inc_on(p + 4, t));
	T(inc_on(p, s));
	T(cuEventRecord(back, t));
	T(cuStreamWaitEvent(s, back, 0));
	T(inc_on(p, s));
	T(cuStreamEndCapture(s, &g));
	N(status_(t));
	N(nodes_(g));
	T(cuGraphGetEdges(g, 0, 0, 0, &n));
	N(n);
	T(cuGraphInstantiate(&x, g, 0));
	T(cuGraphLaunch(x, s));
	T(cuStreamSynchronize(s));
	N(word(p)); N(word(p + 4));
	NOTE("never joined");
	QUIET(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	T(inc_on(p, s));
	T(cuEventRecord(e, s));
	T(cuStreamWaitEvent(t, e, 0));
	T(inc_on(p, t));
	T(cuStreamEndCapture(s, &g));
	N(status_(s)); N(status_(t));
	NOTE("end at a stream that did not begin");
	QUIET(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	T(inc_on(p, s));
	T(cuEventRecord(e, s));
	T(cuStreamWaitEvent(t, e, 0));
	T(cuStreamEndCapture(t, &g));
	N(status_(s)); N(status_(t));
	T(cuStreamEndCapture(s, &g));
	NOTE("an event from before");
	QUIET(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	T(inc_on(p, s));
	T(cuStreamWaitEvent(s, before, 0));
	N(status_(s));
	T(cuStreamEndCapture(s, &g));
	NOTE("an event of a capture, used after it");
	T(cuStreamWaitEvent(t, e, 0));
	T(cuEventSynchronize(e));
	T(cuEventRecord(e, t));
	T(cuEventSynchronize(e));
}

GROUP(capture_merge) {
	ready_();
	CUevent f = new_event(CU_EVENT_DISABLE_TIMING);
	QUIET(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	QUIET(cuStreamBeginCapture(t, CU_STREAM_CAPTURE_MODE_GLOBAL));
	T(inc_on(p, s));
	T(inc_on(p, t));
	T(cuEventRecord(e, s));
	T(cuStreamWaitEvent(t, e, 0));
	N(status_(s)); N(status_(t));
	T(cuStreamEndCapture(s, &g));
	T(cuStreamEndCapture(t, &g));
	NOTE("an event of a capture in progress, from outside");
	QUIET(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	T(cuEventRecord(e, s));
	T(cuEventSynchronize(e));
	N(status_(s));
	T(cuStreamEndCapture(s, &g));
	QUIET(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	T(cuEventRecord(e, s));
	T(cuStreamWaitEvent(0, e, 0));
	N(status_(s));
	T(cuStreamEndCapture(s, &g));
	(void)f;
}

static void *other_(void *x) {
	CUstreamCaptureMode m = CU_STREAM_CAPTURE_MODE_RELAXED;
	QUIET(cuCtxSetCurrent(ctx));
	T(cuMemAlloc(&q, 16));
	N(status_(s));
	T(cuStreamEndCapture(s, &g));
	T(cuThreadExchangeStreamCaptureMode(&m));
	N(m);
	T(cuMemAlloc(&q, 16));
	return x;
}

GROUP(capture_threads) {
	ready_();
	pthread_t th; CUstreamCaptureMode m = CU_STREAM_CAPTURE_MODE_RELAXED, bad = (CUstreamCaptureMode)9;
	static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_RELAXED};
	for (int i = 0; i < 3; i++) {
		printf("- mode %d\n", i);
		QUIET(cuStreamBeginCapture(s, modes[i]));
		pthread_create(&th, 0, other_, 0);
		pthread_join(th, 0);
		N(status_(s));
		T(cuStreamEndCapture(s, &g));
	}
	T(cuThreadExchangeStreamCaptureMode(&m));
	N(m);
	T(cuThreadExchangeStreamCaptureMode(&m));
	N(m);
	T(cuThreadExchangeStreamCaptureMode(&bad));
}

GROUP(capture_info) {
	ready_();
	CUstreamCaptureStatus st = 9; cuuint64_t id = 0, id2 = 0; CUgraph x = 0; const CUgraphNode *deps = 0; size_t n = 99; CUgraphNode node = 0, empty = 0; const CUgraphEdgeData *ed = 0;
	T(cuStreamGetCaptureInfo(s, &st, &id, &x, &deps, &ed, &n));
	N(st);
	T(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	T(cuStreamGetCaptureInfo(s, &st, &id, &x, &deps, &ed, &n));
	N(st); B(id != 0); B(x != 0); N(n);
	T(inc_on(p, s));
	T(cuStreamGetCaptureInfo(s, &st, &id2, &x, &deps, &ed, &n));
	B(id == id2); N(n);
	node = deps ? deps[0] : 0;
	T(cuGraphAddEmptyNode(&empty, x, &node, 1));
	T(cuStreamUpdateCaptureDependencies(s, &empty, 0, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
	T(cuStreamGetCaptureInfo(s, &st, 0, 0, &deps, &ed, &n));
	B(deps && deps[0] == empty); N(n);
	T(cuStreamUpdateCaptureDependencies(s, &node, 0, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
	T(cuStreamGetCaptureInfo(s, &st, 0, 0, &deps, &ed, &n));
	N(n);
	T(cuStreamUpdateCaptureDependencies(s, &node, 0, 1, 7));
	T(cuStreamUpdateCaptureDependencies(s, 0, 0, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
	T(cuStreamGetCaptureInfo(s, 0, &id, &x, &deps, &ed, &n));
	T(cuStreamEndCapture(s, &g));
	B(g == x);
	N(nodes_(g));
	T(cuStreamUpdateCaptureDependencies(s, &node, 0, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
	NOTE("into a graph that exists");
	T(cuStreamBeginCaptureToGraph(s, g, &empty, 0, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
	T(inc_on(p, s));
	T(cuStreamEndCapture(s, &x));
	B(g == x);
	N(nodes_(g));
	T(cuStreamBeginCaptureToGraph(s, 0, 0, 0, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
	T(cuStreamBeginCaptureToGraph(s, g, 0, 0, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
}

// A stream that joined a capture and is destroyed before the capture ends.
GROUP(capture_destroy) {
	ready_();
	CUevent back = new_event(CU_EVENT_DISABLE_TIMING); CUstream u = 0;
#define FORK_                                                                                                                  \
	QUIET(cuStreamCreate(&u, CU_STREAM_NON_BLOCKING));                                                                         \
	QUIET(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));                                                            \
	QUIET(inc_on(p, s));                                                                                                       \
	QUIET(cuEventRecord(e, s));                                                                                                \
	QUIET(cuStreamWaitEvent(u, e, 0))
	NOTE("joined again");
	FORK_;
	T(inc_on(p, u));
	T(cuEventRecord(back, u));
	T(cuStreamWaitEvent(s, back, 0));
	T(cuStreamDestroy(u));
	N(status_(s));
	T(inc_on(p, s));
	T(cuStreamEndCapture(s, &g));
	N(nodes_(g));
	NOTE("not joined, with work");
	FORK_;
	T(inc_on(p, u));
	T(cuStreamDestroy(u));
	N(status_(s));
	T(cuStreamEndCapture(s, &g));
	NOTE("not joined, without work");
	FORK_;
	T(cuStreamDestroy(u));
	N(status_(s));
	T(cuStreamEndCapture(s, &g));
	NOTE("joined, then more work");
	FORK_;
	QUIET(inc_on(p, u));
	QUIET(cuEventRecord(back, u));
	QUIET(cuStreamWaitEvent(s, back, 0));
	T(inc_on(p, u));
	T(cuStreamDestroy(u));
	N(status_(s));
	T(cuStreamEndCapture(s, &g));
	NOTE("joined through an event that waits after the stream is gone");
	FORK_;
	T(inc_on(p, u));
	T(cuEventRecord(back, u));
	T(cuStreamDestroy(u));
	N(status_(s));
	T(cuStreamWaitEvent(s, back, 0));
	N(status_(s));
	T(cuStreamEndCapture(s, &g));
	NOTE("the stream that began");
	QUIET(cuStreamCreate(&u, CU_STREAM_NON_BLOCKING));
	QUIET(cuStreamBeginCapture(u, CU_STREAM_CAPTURE_MODE_RELAXED));
	QUIET(inc_on(p, u));
	QUIET(cuEventRecord(e, u));
	QUIET(cuStreamWaitEvent(t, e, 0));
	T(cuStreamDestroy(u));
	N(status_(t));
}

// cuStreamEndCapture without a place for the graph.
GROUP(capture_no_place) {
	ready_();
	T(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	T(inc_on(p, s));
	T(cuStreamEndCapture(s, 0));
	N(status_(s));
	g = 0;
	T(cuStreamEndCapture(s, &g));
	NOTE("into a graph that exists");
	T(cuGraphCreate(&g, 0));
	T(cuStreamBeginCaptureToGraph(s, g, 0, 0, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
	T(inc_on(p, s));
	T(cuStreamEndCapture(s, 0));
	N(status_(s));
	N(nodes_(g));
}
