// Graphs: memory nodes, conditions, user objects, instances with parameters.
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

static CUDA_MEM_ALLOC_NODE_PARAMS bytes_(size_t n) {
	CUDA_MEM_ALLOC_NODE_PARAMS a;
	memset(&a, 0, sizeof a);
	a.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	a.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	a.bytesize = n;
	return a;
}

GROUP(graph_memory) {
	ready_();
	CUDA_MEM_ALLOC_NODE_PARAMS a = bytes_(1000), got; CUgraphNode n, m, f; CUDA_MEMSET_NODE_PARAMS ms; CUgraphExec x = 0, y = 0; CUgraph c = 0; CUdeviceptr q = 0;
	T(cuGraphAddMemAllocNode(&n, g, 0, 0, &a));
	B(a.dptr != 0);
	T(cuGraphMemAllocNodeGetParams(n, &got));
	B(got.dptr == a.dptr); N(got.bytesize);
	memset(&ms, 0, sizeof ms);
	ms.dst = a.dptr; ms.value = 3; ms.elementSize = 4; ms.width = 4; ms.height = 1;
	T(cuGraphAddMemsetNode(&m, g, &n, 1, &ms, ctx));
	T(cuGraphClone(&c, g));
	T(cuGraphAddMemFreeNode(&f, g, &m, 1, a.dptr));
	T(cuGraphMemFreeNodeGetParams(f, &q));
	B(q == a.dptr);
	T(cuGraphAddMemFreeNode(&f, g, &m, 1, a.dptr));
	T(cuGraphAddMemFreeNode(&f, g, 0, 0, 0));
	T(cuGraphAddMemFreeNode(&f, g, 0, 0, p));
	T(cuGraphDestroyNode(n));
	T(cuGraphInstantiate(&x, g, 0));
	T(cuGraphInstantiate(&y, g, 0));
	T(cuGraphLaunch(x, s));
	T(cuGraphLaunch(x, s));
	T(cuStreamSynchronize(s));
	NOTE("a node of no bytes, of no device");
	a = bytes_(0);
	T(cuGraphAddMemAllocNode(&n, g, 0, 0, &a));
	a = bytes_(64);
	a.poolProps.location.id = 99;
	T(cuGraphAddMemAllocNode(&n, g, 0, 0, &a));
	NOTE("memory that outlives its graph");
	CUgraph h = 0;
	QUIET(cuGraphCreate(&h, 0));
	a = bytes_(64);
	T(cuGraphAddMemAllocNode(&n, h, 0, 0, &a));
	ms.dst = a.dptr;
	T(cuGraphAddMemsetNode(&m, h, &n, 1, &ms, ctx));
	T(cuGraphInstantiate(&y, h, 0));
	T(cuGraphLaunch(y, s));
	T(cuStreamSynchronize(s));
	N(word(a.dptr));
	T(cuGraphLaunch(y, s));
	T(cuMemFreeAsync(a.dptr, s));
	T(cuGraphLaunch(y, s));
	T(cuStreamSynchronize(s));
	T(cuMemFree(a.dptr));
	T(cuGraphExecDestroy(y));
	T(cuGraphInstantiate(&y, h, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
	T(cuGraphLaunch(y, s));
	T(cuGraphLaunch(y, s));
	T(cuStreamSynchronize(s));
	T(cuMemFree(a.dptr));
	cuuint64_t v = 99, zero = 0;
	T(cuDeviceGetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &v));
	N(v);
	T(cuDeviceSetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
	T(cuDeviceSetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero));
	T(cuDeviceGetGraphMemAttribute(dev, (CUgraphMem_attribute)9, &v));
	T(cuDeviceGraphMemTrim(dev));
	T(cuDeviceGraphMemTrim(99));
}

static int dead_;
static void CUDA_CB died_(void *x) { dead_ += (int)(intptr_t)x; }

GROUP(user_object) {
	ready_();
	CUuserObject o = 0, q = 0; CUgraphExec x = 0; CUgraph c = 0; CUgraphNode n;
	T(cuUserObjectCreate(&o, (void *)1, died_, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	T(cuUserObjectCreate(&q, (void *)1, died_, 1, 0));
	T(cuUserObjectCreate(&q, (void *)1, died_, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	T(cuUserObjectCreate(&q, (void *)1, 0, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	T(cuUserObjectCreate(0, (void *)1, died_, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	T(cuUserObjectRetain(o, 2));
	T(cuUserObjectRetain(o, 0));
	T(cuUserObjectRelease(o, 2));
	N(dead_);
	T(cuGraphRetainUserObject(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE));
	T(cuGraphRetainUserObject(g, o, 1, 7));
	T(cuGraphRetainUserObject(g, o, 0, 0));
	QUIET(cuGraphAddEmptyNode(&n, g, 0, 0));
	T(cuGraphInstantiate(&x, g, 0));
	T(cuGraphClone(&c, g));
	T(cuGraphDestroy(g));
	N(dead_);
	T(cuGraphExecDestroy(x));
	N(dead_);
	T(cuGraphReleaseUserObject(c, o, 1));
	usleep(200000);
	N(dead_);
	T(cuUserObjectCreate(&q, (void *)10, died_, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	T(cuUserObjectRelease(q, 2));
	usleep(200000);
	N(dead_);
	T(cuUserObjectRelease(0, 1));
	T(cuGraphReleaseUserObject(c, 0, 1));
}

GROUP(instantiate_params) {
	ready_();
	CUgraphExec x = 0; CUDA_GRAPH_INSTANTIATE_PARAMS ip; CUgraphNode a; CUstream t = new_stream(0);
	QUIET(cuGraphAddEmptyNode(&a, g, 0, 0));
	memset(&ip, 0, sizeof ip);
	T(cuGraphInstantiateWithParams(&x, g, &ip));
	N(ip.result_out); B(ip.hErrNode_out == 0);
	ip.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
	ip.hUploadStream = t;
	T(cuGraphInstantiateWithParams(&x, g, &ip));
	N(ip.result_out);
	ip.flags = 0x1000;
	T(cuGraphInstantiateWithParams(&x, g, &ip));
	N(ip.result_out);
	T(cuGraphInstantiateWithParams(&x, g, 0));
	T(cuGraphInstantiateWithParams(&x, 0, &ip));
	T(cuGraphUpload(x, t));
	T(cuGraphUpload(0, t));
	T(cuCtxSynchronize());
}

static CUgraphNodeParams cond_(CUgraphConditionalHandle h, CUgraphConditionalNodeType type, unsigned n) {
	CUgraphNodeParams c;
	memset(&c, 0, sizeof c);
	c.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
	c.conditional.handle = h; c.conditional.type = type; c.conditional.size = n; c.conditional.ctx = ctx;
	return c;
}

static void body_(CUgraph body, CUdeviceptr at, unsigned v) {
	CUgraphNode n; CUDA_MEMSET_NODE_PARAMS ms;
	memset(&ms, 0, sizeof ms);
	ms.dst = at; ms.value = v; ms.elementSize = 4; ms.width = 1; ms.height = 1;
	QUIET(cuGraphAddMemsetNode(&n, body, 0, 0, &ms, ctx));
}

GROUP(conditional) {
	ready_();
	CUgraphConditionalHandle yes = 0, no = 0, two = 0, h = 0; CUgraphNode n = 0; CUgraphNodeParams c; CUgraphExec x = 0; CUgraphNodeType type = 99;
	T(cuGraphConditionalHandleCreate(&yes, g, ctx, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
	T(cuGraphConditionalHandleCreate(&no, g, ctx, 0, CU_GRAPH_COND_ASSIGN_DEFAULT));
	T(cuGraphConditionalHandleCreate(&two, g, ctx, 2, CU_GRAPH_COND_ASSIGN_DEFAULT));
	T(cuGraphConditionalHandleCreate(&h, g, ctx, 1, 7));
	T(cuGraphConditionalHandleCreate(&h, g, 0, 1, 0));
	T(cuGraphConditionalHandleCreate(&h, 0, ctx, 1, 0));
	T(cuGraphConditionalHandleCreate(0, g, ctx, 1, 0));
	c = cond_(yes, CU_GRAPH_COND_TYPE_IF, 1);
	T(cuGraphAddNode(&n, g, 0, 0, 0, &c));
	B(c.conditional.phGraph_out != 0 && c.conditional.phGraph_out[0] != 0);
	if (c.conditional.phGraph_out) body_(c.conditional.phGraph_out[0], p, 1);
	T(cuGraphNodeGetType(n, &type));
	N(type);
	c = cond_(no, CU_GRAPH_COND_TYPE_IF, 2);
	T(cuGraphAddNode(&n, g, 0, 0, 0, &c));
	if (c.conditional.phGraph_out) {
		body_(c.conditional.phGraph_out[0], p + 4, 1);
		body_(c.conditional.phGraph_out[1], p + 8, 1);
	}
	c = cond_(two, CU_GRAPH_COND_TYPE_SWITCH, 3);
	T(cuGraphAddNode(&n, g, 0, 0, 0, &c));
	for (int i = 0; c.conditional.phGraph_out && i < 3; i++) body_(c.conditional.phGraph_out[i], p + 16 + 4 * i, 1);
	NOTE("errors");
	c = cond_(yes, CU_GRAPH_COND_TYPE_IF, 1);
	T(cuGraphAddNode(&n, g, 0, 0, 0, &c));
	c = cond_(0, CU_GRAPH_COND_TYPE_IF, 1);
	T(cuGraphAddNode(&n, g, 0, 0, 0, &c));
	QUIET(cuGraphConditionalHandleCreate(&h, g, ctx, 0, CU_GRAPH_COND_ASSIGN_DEFAULT));
	c = cond_(h, CU_GRAPH_COND_TYPE_IF, 0);
	T(cuGraphAddNode(&n, g, 0, 0, 0, &c));
	c = cond_(h, CU_GRAPH_COND_TYPE_IF, 3);
	T(cuGraphAddNode(&n, g, 0, 0, 0, &c));
	c = cond_(h, CU_GRAPH_COND_TYPE_WHILE, 2);
	T(cuGraphAddNode(&n, g, 0, 0, 0, &c));
	c = cond_(h, (CUgraphConditionalNodeType)9, 1);
	T(cuGraphAddNode(&n, g, 0, 0, 0, &c));
	c = cond_(h, CU_GRAPH_COND_TYPE_WHILE, 1);
	T(cuGraphAddNode(&n, g, 0, 0, 0, &c));
	CUgraphNode inner;
	if (c.conditional.phGraph_out) {
		CUDA_HOST_NODE_PARAMS host = {died_, 0};
		T(cuGraphAddHostNode(&inner, c.conditional.phGraph_out[0], 0, 0, &host));
		T(cuGraphDestroy(c.conditional.phGraph_out[0]));
	}
	T(cuGraphInstantiate(&x, g, 0));
	CUgraph clone = 0;
	T(cuGraphClone(&clone, g));
	if (x) {
		T(cuGraphLaunch(x, s));
		T(cuStreamSynchronize(s));
	}
	N(word(p)); N(word(p + 4)); N(word(p + 8)); N(word(p + 16)); N(word(p + 20)); N(word(p + 24));
}

GROUP(conditional_run) {
	ready_();
	CUgraphConditionalHandle yes = 0, no = 0, two = 0, nine = 0; CUgraphNode n = 0; CUgraphNodeParams c; CUgraphExec x = 0;
	QUIET(cuGraphConditionalHandleCreate(&yes, g, ctx, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
	QUIET(cuGraphConditionalHandleCreate(&no, g, ctx, 0, CU_GRAPH_COND_ASSIGN_DEFAULT));
	QUIET(cuGraphConditionalHandleCreate(&two, g, ctx, 2, CU_GRAPH_COND_ASSIGN_DEFAULT));
	QUIET(cuGraphConditionalHandleCreate(&nine, g, ctx, 9, CU_GRAPH_COND_ASSIGN_DEFAULT));
	c = cond_(yes, CU_GRAPH_COND_TYPE_IF, 2);
	QUIET(cuGraphAddNode(&n, g, 0, 0, 0, &c));
	body_(c.conditional.phGraph_out[0], p, 1);
	body_(c.conditional.phGraph_out[1], p + 4, 1);
	c = cond_(no, CU_GRAPH_COND_TYPE_IF, 2);
	QUIET(cuGraphAddNode(&n, g, &n, 0, 1, &c));
	body_(c.conditional.phGraph_out[0], p + 8, 1);
	body_(c.conditional.phGraph_out[1], p + 12, 1);
	c = cond_(two, CU_GRAPH_COND_TYPE_SWITCH, 3);
	QUIET(cuGraphAddNode(&n, g, &n, 0, 1, &c));
	for (int i = 0; i < 3; i++) body_(c.conditional.phGraph_out[i], p + 16 + 4 * i, 1);
	c = cond_(nine, CU_GRAPH_COND_TYPE_SWITCH, 2);
	QUIET(cuGraphAddNode(&n, g, &n, 0, 1, &c));
	for (int i = 0; i < 2; i++) body_(c.conditional.phGraph_out[i], p + 28 + 4 * i, 1);
	T(cuGraphInstantiate(&x, g, 0));
	T(cuGraphLaunch(x, s));
	T(cuStreamSynchronize(s));
	for (int i = 0; i < 9; i++) printf("  word %d: %u\n", i, word(p + 4 * i));
}
