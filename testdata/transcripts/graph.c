// Graphs: nodes and edges, instances and their updates, memory nodes, conditions, user objects.
#include "transcript.h"

static CUdeviceptr p;
static CUgraph g;
static CUstream s;

static void ready_(void) {
	start();
	s = new_stream(0);
	p = new_memory(64);
	QUIET(cuGraphCreate(&g, 0));
}

static void *args_[2];
static unsigned value_;
static CUdeviceptr where_;

static CUDA_KERNEL_NODE_PARAMS launch_(const char *name, CUdeviceptr at) {
	CUDA_KERNEL_NODE_PARAMS k;
	memset(&k, 0, sizeof k);
	where_ = at;
	args_[0] = &where_;
	args_[1] = &value_;
	k.func = kernel(name);
	k.gridDimX = k.gridDimY = k.gridDimZ = k.blockDimX = k.blockDimY = k.blockDimZ = 1;
	k.kernelParams = args_;
	return k;
}

static CUgraphNode add_(const char *name, CUdeviceptr at, CUgraphNode after) {
	CUgraphNode n = 0; CUDA_KERNEL_NODE_PARAMS k = launch_(name, at);
	QUIET(cuGraphAddKernelNode(&n, g, after ? &after : 0, after ? 1 : 0, &k));
	return n;
}

GROUP(graph) {
	ready_();
	CUgraph x = 0; CUgraphNode a, b, c, list[8], from[8], to[8]; size_t n = 0; CUgraphNodeType type = 99;
	T(cuGraphCreate(&x, 1));
	T(cuGraphCreate(0, 0));
	T(cuGraphAddEmptyNode(&a, g, 0, 0));
	b = add_("inc", p, a);
	c = add_("inc", p, b);
	T(cuGraphGetNodes(g, 0, &n));
	N(n);
	n = 2;
	T(cuGraphGetNodes(g, list, &n));
	N(n); B(list[0] == a); B(list[1] == b);
	n = 8;
	T(cuGraphGetNodes(g, list, &n));
	N(n); B(list[2] == c); B(list[3] == 0);
	n = 8;
	T(cuGraphGetRootNodes(g, list, &n));
	N(n); B(list[0] == a);
	n = 8;
	T(cuGraphGetEdges(g, from, to, 0, &n));
	N(n); B(from[0] == a && to[0] == b);
	n = 8;
	T(cuGraphNodeGetDependencies(c, list, 0, &n));
	N(n); B(list[0] == b);
	n = 8;
	T(cuGraphNodeGetDependentNodes(a, list, 0, &n));
	N(n); B(list[0] == b);
	T(cuGraphNodeGetType(a, &type));
	N(type);
	T(cuGraphNodeGetType(b, &type));
	N(type);
	NOTE("edges");
	T(cuGraphAddDependencies(g, &a, &c, 0, 1));
	T(cuGraphAddDependencies(g, &a, &c, 0, 1));
	T(cuGraphAddDependencies(g, &c, &a, 0, 1));
	T(cuGraphAddDependencies(g, &a, &a, 0, 1));
	T(cuGraphAddDependencies(g, 0, &a, 0, 1));
	T(cuGraphAddDependencies(g, &a, &b, 0, 0));
	T(cuGraphRemoveDependencies(g, &a, &c, 0, 1));
	T(cuGraphRemoveDependencies(g, &a, &c, 0, 1));
	T(cuGraphDestroyNode(b));
	n = 0;
	T(cuGraphGetEdges(g, 0, 0, 0, &n));
	N(n);
	T(cuGraphNodeGetDependencies(c, 0, 0, &n));
	N(n);
	T(cuGraphAddEmptyNode(&b, g, 0, 1));
	T(cuGraphAddEmptyNode(0, g, 0, 0));
	T(cuGraphAddEmptyNode(&b, 0, 0, 0));
	CUgraphNode twice[] = {a, a};
	T(cuGraphAddEmptyNode(&b, g, twice, 2));
	T(cuGraphGetNodes(g, list, 0));
	T(cuGraphGetNodes(0, 0, &n));
	T(cuGraphDestroyNode(0));
	T(cuGraphDestroy(g));
	T(cuGraphDestroy(0));
}

static int calls_;
static void CUDA_CB count_(void *x) { calls_ += (int)(intptr_t)x; }

GROUP(graph_nodes) {
	ready_();
	CUgraphNode k, m, c, h, ch, er, ew; CUDA_MEMSET_NODE_PARAMS ms, ms2; CUDA_MEMCPY3D cp; CUDA_HOST_NODE_PARAMS host = {count_, (void *)2}, host2; CUgraph child = 0, got = 0; CUevent e = new_event(0), e2 = 0;
	CUDA_KERNEL_NODE_PARAMS kp = launch_("inc", p), kp2; CUgraphExec x = 0;
	T(cuGraphAddKernelNode(&k, g, 0, 0, &kp));
	T(cuGraphKernelNodeGetParams(k, &kp2));
	B(kp2.func == kp.func); N(kp2.gridDimX); B(kp2.kernelParams != 0); B(kp2.kernelParams != args_); B(*(CUdeviceptr *)kp2.kernelParams[0] == p);
	kp.gridDimX = 0;
	T(cuGraphAddKernelNode(&k, g, 0, 0, &kp));
	kp.gridDimX = 1; kp.blockDimX = 2000;
	T(cuGraphAddKernelNode(&k, g, 0, 0, &kp));
	kp.blockDimX = 1; kp.func = 0;
	T(cuGraphAddKernelNode(&k, g, 0, 0, &kp));
	T(cuGraphAddKernelNode(&k, g, 0, 0, 0));
	memset(&ms, 0, sizeof ms);
	ms.dst = p + 16; ms.value = 0x01020304; ms.elementSize = 4; ms.width = 2; ms.height = 1;
	T(cuGraphAddMemsetNode(&m, g, 0, 0, &ms, ctx));
	T(cuGraphMemsetNodeGetParams(m, &ms2));
	B(ms2.dst == ms.dst); N(ms2.elementSize); N(ms2.width); N(ms2.height); N(ms2.pitch);
	ms.elementSize = 3;
	T(cuGraphAddMemsetNode(&m, g, 0, 0, &ms, ctx));
	ms.elementSize = 4; ms.width = 0;
	T(cuGraphAddMemsetNode(&m, g, 0, 0, &ms, ctx));
	ms.width = 2; ms.dst = 0;
	T(cuGraphAddMemsetNode(&m, g, 0, 0, &ms, ctx));
	ms.dst = p + 16;
	T(cuGraphAddMemsetNode(&m, g, 0, 0, &ms, 0));
	memset(&cp, 0, sizeof cp);
	cp.srcMemoryType = CU_MEMORYTYPE_DEVICE; cp.srcDevice = p + 16; cp.dstMemoryType = CU_MEMORYTYPE_DEVICE; cp.dstDevice = p + 32; cp.WidthInBytes = 8; cp.Height = 1; cp.Depth = 1;
	T(cuGraphAddMemcpyNode(&c, g, &m, 1, &cp, ctx));
	cp.WidthInBytes = 0;
	T(cuGraphAddMemcpyNode(&c, g, &m, 1, &cp, ctx));
	cp.WidthInBytes = 8; cp.srcDevice = 0;
	T(cuGraphAddMemcpyNode(&c, g, &m, 1, &cp, ctx));
	T(cuGraphAddHostNode(&h, g, 0, 0, &host));
	T(cuGraphHostNodeGetParams(h, &host2));
	B(host2.fn == count_); N(host2.userData == (void *)2);
	host.fn = 0;
	T(cuGraphAddHostNode(&h, g, 0, 0, &host));
	QUIET(cuGraphCreate(&child, 0));
	CUgraph outer = g;
	g = child;
	add_("inc", p + 4, 0);
	g = outer;
	T(cuGraphAddChildGraphNode(&ch, g, 0, 0, child));
	T(cuGraphChildGraphNodeGetGraph(ch, &got));
	B(got != child);
	T(cuGraphAddChildGraphNode(&ch, g, 0, 0, 0));
	T(cuGraphAddEventRecordNode(&er, g, 0, 0, e));
	T(cuGraphEventRecordNodeGetEvent(er, &e2));
	B(e == e2);
	T(cuGraphAddEventWaitNode(&ew, g, &er, 1, e));
	T(cuGraphAddEventRecordNode(&er, g, 0, 0, 0));
	T(cuGraphKernelNodeGetParams(m, &kp2));
	T(cuGraphMemsetNodeGetParams(k, &ms2));
	T(cuGraphInstantiate(&x, g, 0));
	T(cuGraphLaunch(x, s));
	T(cuStreamSynchronize(s));
	N(word(p)); N(word(p + 4)); X(word(p + 16)); X(word(p + 36)); N(calls_);
	T(cuEventQuery(e));
}

GROUP(graph_exec) {
	ready_();
	CUgraphNode a = add_("inc", p, 0), b = add_("inc", p + 4, a); CUgraphExec x = 0, y = 0; CUDA_KERNEL_NODE_PARAMS k; unsigned on = 9; cuuint64_t flags = 9;
	T(cuGraphInstantiate(&x, g, 0));
	T(cuGraphInstantiate(&y, 0, 0));
	T(cuGraphInstantiate(0, g, 0));
	T(cuGraphInstantiate(&y, g, 0x100));
	T(cuGraphInstantiate(&y, g, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
	T(cuGraphExecGetFlags(y, &flags));
	N(flags);
	T(cuGraphInstantiate(&y, g, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
	T(cuGraphLaunch(0, s));
	T(cuGraphUpload(x, s));
	T(cuGraphLaunch(x, s));
	T(cuGraphLaunch(x, 0));
	T(cuCtxSynchronize());
	N(word(p)); N(word(p + 4));
	NOTE("a graph may change or go; its instance stays");
	T(cuGraphDestroyNode(b));
	T(cuGraphLaunch(x, s));
	T(cuCtxSynchronize());
	N(word(p)); N(word(p + 4));
	NOTE("parameters of an instance");
	k = launch_("inc", p + 8);
	T(cuGraphExecKernelNodeSetParams(x, a, &k));
	T(cuGraphLaunch(x, s));
	T(cuCtxSynchronize());
	N(word(p)); N(word(p + 8));
	k.gridDimX = 0;
	T(cuGraphExecKernelNodeSetParams(x, a, &k));
	T(cuGraphExecKernelNodeSetParams(x, 0, &k));
	k = launch_("set", p + 8);
	value_ = 50;
	T(cuGraphExecKernelNodeSetParams(x, a, &k));
	T(cuGraphNodeGetEnabled(x, a, &on));
	N(on);
	T(cuGraphNodeSetEnabled(x, a, 0));
	T(cuGraphLaunch(x, s));
	T(cuCtxSynchronize());
	N(word(p + 8));
	T(cuGraphNodeSetEnabled(x, a, 1));
	T(cuGraphNodeSetEnabled(x, 0, 1));
	T(cuGraphLaunch(x, s));
	T(cuCtxSynchronize());
	N(word(p + 8));
	T(cuGraphDestroy(g));
	T(cuGraphLaunch(x, s));
	T(cuCtxSynchronize());
	T(cuGraphExecDestroy(x));
	T(cuGraphExecDestroy(0));
}

static void update_(const char *what, CUgraphExec x, CUgraph to) {
	CUgraphExecUpdateResultInfo r;
	memset(&r, 0, sizeof r);
	NOTE(what);
	T(cuGraphExecUpdate(x, to, &r));
	N(r.result);
	B(r.errorNode != 0);
}

GROUP(graph_update) {
	ready_();
	CUgraph base = g, o = 0; CUgraphExec x = 0; CUgraphNode a, b, m; CUDA_MEMSET_NODE_PARAMS ms; CUDA_MEMCPY3D cp; CUDA_HOST_NODE_PARAMS host = {count_, (void *)3};
	a = add_("inc", p, 0);
	add_("inc", p, a);
	QUIET(cuGraphInstantiate(&x, g, 0));
	update_("the same", x, base);
	QUIET(cuGraphCreate(&o, 0)); g = o;
	a = add_("inc", p + 4, 0); add_("inc", p + 4, a);
	update_("other parameters", x, o);
	T(cuGraphLaunch(x, s));
	T(cuStreamSynchronize(s));
	N(word(p)); N(word(p + 4));
	QUIET(cuGraphCreate(&o, 0)); g = o;
	a = add_("inc", p, 0); b = add_("inc", p, a); add_("inc", p, b);
	update_("one node more", x, o);
	QUIET(cuGraphCreate(&o, 0)); g = o;
	add_("inc", p, 0);
	update_("one node less", x, o);
	QUIET(cuGraphCreate(&o, 0)); g = o;
	add_("inc", p, 0); add_("inc", p, 0);
	update_("no edge", x, o);
	QUIET(cuGraphCreate(&o, 0)); g = o;
	a = add_("inc", p, 0);
	QUIET(cuGraphAddEmptyNode(&b, g, &a, 1));
	update_("another kind of node", x, o);
	QUIET(cuGraphCreate(&o, 0)); g = o;
	a = add_("set", p, 0); add_("inc", p, a);
	update_("another function", x, o);
	T(cuGraphLaunch(x, s));
	T(cuStreamSynchronize(s));
	N(word(p));
	NOTE("a graph of other things");
	QUIET(cuGraphCreate(&g, 0));
	memset(&ms, 0, sizeof ms);
	ms.dst = p; ms.value = 1; ms.elementSize = 4; ms.width = 2; ms.height = 1;
	memset(&cp, 0, sizeof cp);
	cp.srcMemoryType = CU_MEMORYTYPE_DEVICE; cp.srcDevice = p; cp.dstMemoryType = CU_MEMORYTYPE_DEVICE; cp.dstDevice = p + 32; cp.WidthInBytes = 8; cp.Height = 1; cp.Depth = 1;
	QUIET(cuGraphAddMemsetNode(&m, g, 0, 0, &ms, ctx));
	QUIET(cuGraphAddMemcpyNode(&a, g, &m, 1, &cp, ctx));
	QUIET(cuGraphAddHostNode(&b, g, &a, 1, &host));
	CUgraphExec y = 0;
	QUIET(cuGraphInstantiate(&y, g, 0));
	for (int i = 0; i < 4; i++) {
		static const char *what[] = {"another value", "another width", "another size of copy", "a copy to the host"};
		static unsigned long long sink[8];
		CUDA_MEMSET_NODE_PARAMS ms2 = ms; CUDA_MEMCPY3D cp2 = cp;
		if (i == 0) ms2.value = 9;
		if (i == 1) ms2.width = 1;
		if (i == 2) cp2.WidthInBytes = 4;
		if (i == 3) { cp2.dstMemoryType = CU_MEMORYTYPE_HOST; cp2.dstHost = sink; cp2.dstDevice = 0; }
		QUIET(cuGraphCreate(&g, 0));
		QUIET(cuGraphAddMemsetNode(&m, g, 0, 0, &ms2, ctx));
		QUIET(cuGraphAddMemcpyNode(&a, g, &m, 1, &cp2, ctx));
		host.userData = (void *)4;
		QUIET(cuGraphAddHostNode(&b, g, &a, 1, &host));
		update_(what[i], y, g);
	}
	T(cuGraphLaunch(y, s));
	T(cuStreamSynchronize(s));
	N(word(p)); N(calls_);
	T(cuGraphExecUpdate(0, g, &(CUgraphExecUpdateResultInfo){0}));
	T(cuGraphExecUpdate(y, 0, &(CUgraphExecUpdateResultInfo){0}));
}

GROUP(graph_set_params) {
	ready_();
	CUgraphNode k = add_("inc", p, 0), m, h; CUDA_MEMSET_NODE_PARAMS ms; CUDA_HOST_NODE_PARAMS host = {count_, (void *)1}; CUgraphExec x = 0; CUDA_KERNEL_NODE_PARAMS kp = launch_("set", p + 4);
	memset(&ms, 0, sizeof ms);
	ms.dst = p + 8; ms.value = 1; ms.elementSize = 1; ms.width = 4; ms.height = 1;
	QUIET(cuGraphAddMemsetNode(&m, g, 0, 0, &ms, ctx));
	QUIET(cuGraphAddHostNode(&h, g, 0, 0, &host));
	value_ = 31;
	T(cuGraphKernelNodeSetParams(k, &kp));
	ms.value = 2;
	T(cuGraphMemsetNodeSetParams(m, &ms));
	ms.elementSize = 5;
	T(cuGraphMemsetNodeSetParams(m, &ms));
	host.userData = (void *)10;
	T(cuGraphHostNodeSetParams(h, &host));
	T(cuGraphKernelNodeSetParams(m, &kp));
	T(cuGraphInstantiate(&x, g, 0));
	T(cuGraphLaunch(x, s));
	T(cuStreamSynchronize(s));
	N(word(p)); N(word(p + 4)); X(word(p + 8)); N(calls_);
	ms.elementSize = 1; ms.value = 7;
	T(cuGraphExecMemsetNodeSetParams(x, m, &ms, ctx));
	ms.width = 2;
	T(cuGraphExecMemsetNodeSetParams(x, m, &ms, ctx));
	host.userData = (void *)100;
	T(cuGraphExecHostNodeSetParams(x, h, &host));
	T(cuGraphExecHostNodeSetParams(x, m, &host));
	T(cuGraphLaunch(x, s));
	T(cuStreamSynchronize(s));
	X(word(p + 8)); N(calls_);
	CUkernelNodeAttrValue v;
	memset(&v, 0, sizeof v);
	T(cuGraphKernelNodeGetAttribute(k, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &v));
	N(v.priority);
	v.cooperative = 1;
	T(cuGraphKernelNodeSetAttribute(k, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &v));
	memset(&v, 0, sizeof v);
	T(cuGraphKernelNodeGetAttribute(k, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &v));
	N(v.cooperative);
	T(cuGraphKernelNodeGetAttribute(k, (CUkernelNodeAttrID)77, &v));
	T(cuGraphKernelNodeGetAttribute(m, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &v));
	T(cuGraphKernelNodeCopyAttributes(k, k));
	T(cuGraphKernelNodeCopyAttributes(k, m));
}

GROUP(graph_clone) {
	ready_();
	CUgraph c = 0; CUgraphNode a = add_("inc", p, 0), b = add_("inc", p, a), n = 0; size_t count = 0; CUgraphExec x = 0;
	T(cuGraphClone(&c, g));
	T(cuGraphNodeFindInClone(&n, a, c));
	B(n != 0 && n != a);
	T(cuGraphNodeFindInClone(&n, a, g));
	T(cuGraphNodeFindInClone(&n, 0, c));
	T(cuGraphGetNodes(c, 0, &count));
	N(count);
	T(cuGraphDestroyNode(b));
	T(cuGraphGetNodes(c, 0, &count));
	N(count);
	T(cuGraphNodeFindInClone(&n, a, c));
	T(cuGraphDestroyNode(n));
	T(cuGraphNodeFindInClone(&n, a, c));
	T(cuGraphInstantiate(&x, c, 0));
	T(cuGraphLaunch(x, s));
	T(cuStreamSynchronize(s));
	N(word(p));
	T(cuGraphClone(0, g));
	T(cuGraphClone(&c, 0));
	char path[] = "/tmp/kudzu-transcript-XXXXXX";
	int fd = mkstemp(path);
	T(cuGraphDebugDotPrint(g, path, 0));
	B(lseek(fd, 0, SEEK_END) > 10);
	unlink(path);
	T(cuGraphDebugDotPrint(g, "/no/such/folder/file", 0));
	T(cuGraphDebugDotPrint(0, path, 0));
}
