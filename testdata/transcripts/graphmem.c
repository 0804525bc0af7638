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

// mem_ prints what the device says of graphs' memory, in MiB: used, its highest, reserved, its highest.
static void mem_(const char *when) {
	cuuint64_t v[4] = {9, 9, 9, 9};
	for (int i = 0; i < 4; i++) QUIET(cuDeviceGetGraphMemAttribute(dev, (CUgraphMem_attribute)i, &v[i]));
	printf("  %s: used %.6g of at most %.6g, reserved %.6g of at most %.6g\n", when, v[0] / 1048576., v[1] / 1048576., v[2] / 1048576., v[3] / 1048576.);
}

static CUgraphNode alloc_(CUgraph h, CUgraphNode *after, size_t n, CUdeviceptr *at) {
	CUDA_MEM_ALLOC_NODE_PARAMS a = bytes_(n); CUgraphNode node = 0;
	QUIET(cuGraphAddMemAllocNode(&node, h, after, after ? 1 : 0, &a));
	*at = a.dptr;
	return node;
}

static CUgraphNode free_(CUgraph h, CUgraphNode after, CUdeviceptr at) {
	CUgraphNode node = 0;
	QUIET(cuGraphAddMemFreeNode(&node, h, &after, 1, at));
	return node;
}

static CUgraphExec exec_(CUgraph h, unsigned flags) {
	CUgraphExec x = 0;
	QUIET(cuGraphInstantiate(&x, h, flags));
	return x;
}

static void launch_(CUgraphExec x) {
	QUIET(cuGraphLaunch(x, s));
	QUIET(cuStreamSynchronize(s));
}

GROUP(graph_footprint) {
	ready_();
	CUdeviceptr at, big, one, two; CUgraphNode n; CUgraphExec x, y, z; CUgraph h, k;
	mem_("at first");
	n = alloc_(g, 0, 1000, &at);
	mem_("a node of 1000 bytes");
	free_(g, n, at);
	x = exec_(g, 0);
	mem_("instantiated");
	launch_(x);
	mem_("launched");
	launch_(x);
	mem_("launched again");
	QUIET(cuGraphCreate(&h, 0));
	n = alloc_(h, 0, 40 << 20, &big);
	free_(h, n, big);
	y = exec_(h, 0);
	mem_("another of 40 MiB, instantiated");
	launch_(y);
	mem_("launched");
	launch_(x);
	mem_("the first launched");
	QUIET(cuDeviceGraphMemTrim(dev));
	mem_("trimmed");
	launch_(x);
	mem_("the first launched");
	QUIET(cuGraphExecDestroy(x));
	mem_("its executable destroyed");
	QUIET(cuGraphDestroy(g));
	mem_("and its graph");
	QUIET(cuGraphExecDestroy(y));
	QUIET(cuGraphDestroy(h));
	mem_("and the other");
	QUIET(cuDeviceGraphMemTrim(dev));
	mem_("trimmed");
	NOTE("memory that outlives its launch");
	QUIET(cuGraphCreate(&k, 0));
	n = alloc_(k, 0, 1000, &one);
	alloc_(k, &n, 3 << 20, &two);
	z = exec_(k, 0);
	mem_("instantiated");
	launch_(z);
	mem_("launched");
	QUIET(cuDeviceGraphMemTrim(dev));
	mem_("trimmed");
	QUIET(cuMemFreeAsync(one, s));
	QUIET(cuStreamSynchronize(s));
	mem_("the small one freed");
	QUIET(cuMemFreeAsync(two, s));
	mem_("the large one freed, not waited for");
	QUIET(cuStreamSynchronize(s));
	mem_("waited for");
	cuuint64_t zero = 0;
	QUIET(cuDeviceSetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
	QUIET(cuDeviceSetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &zero));
	mem_("marks taken down");
	QUIET(cuDeviceGraphMemTrim(dev));
	mem_("trimmed");
	QUIET(cuDeviceSetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &zero));
	mem_("mark taken down");
	launch_(z);
	QUIET(cuGraphExecDestroy(z));
	mem_("launched, executable destroyed");
	QUIET(cuGraphDestroy(k));
	mem_("graph destroyed");
	QUIET(cuMemFree(one));
	QUIET(cuMemFree(two));
	mem_("freed");
	QUIET(cuDeviceGraphMemTrim(dev));
	mem_("trimmed");
	NOTE("two launches of one executable, and two executables at once");
	CUstream t = new_stream(CU_STREAM_NON_BLOCKING); CUgraph a, b;
	QUIET(cuGraphCreate(&a, 0));
	QUIET(cuGraphCreate(&b, 0));
	n = alloc_(a, 0, 40 << 20, &one);
	free_(a, n, one);
	n = alloc_(b, 0, 40 << 20, &two);
	free_(b, n, two);
	x = exec_(a, 0);
	y = exec_(b, 0);
	QUIET(cuGraphUpload(x, s));
	mem_("one uploaded");
	launch_(x);
	launch_(y);
	mem_("both launched in one stream");
	gate w = new_gate();
	QUIET(hold(w, s));
	QUIET(cuGraphLaunch(x, s));
	QUIET(cuGraphLaunch(y, t));
	mem_("at once in two");
	open_gate(w);
	QUIET(cuCtxSynchronize());
	mem_("done");
}

GROUP(graph_reuse) {
	ready_();
	CUdeviceptr a, b, c, d, e, f; CUgraphNode n, m;
	n = alloc_(g, 0, 1 << 20, &a);
	m = free_(g, n, a);
	alloc_(g, &m, 1 << 20, &b);
	B(b == a);
	alloc_(g, 0, 1 << 20, &c);
	B(c == a); B(c == b);
	NOTE("of other sizes");
	CUgraph h = 0;
	QUIET(cuGraphCreate(&h, 0));
	n = alloc_(h, 0, 1 << 20, &a);
	m = free_(h, n, a);
	n = alloc_(h, &m, 1 << 19, &b);
	B(b == a);
	n = alloc_(h, &n, 1 << 18, &c);
	B(c == a + (1 << 19));
	n = alloc_(h, &n, 1 << 21, &d);
	B(d == a);
	NOTE("small ones side by side");
	CUgraph k = 0;
	QUIET(cuGraphCreate(&k, 0));
	n = alloc_(k, 0, 100, &a);
	n = alloc_(k, &n, 100, &b);
	n = alloc_(k, &n, 700, &c);
	n = alloc_(k, &n, 100, &d);
	N((long long)(b - a)); N((long long)(c - b)); N((long long)(d - c));
	X(a & 0x1ffffff);
	NOTE("of other graphs");
	CUgraph i = 0, j = 0;
	QUIET(cuGraphCreate(&i, 0));
	QUIET(cuGraphCreate(&j, 0));
	n = alloc_(i, 0, 1 << 20, &a);
	free_(i, n, a);
	n = alloc_(j, 0, 1 << 20, &b);
	free_(j, n, b);
	B(a == b);
	X(a & 0x1ffffff); X(b & 0x1ffffff);
	QUIET(cuGraphDestroy(i));
	QUIET(cuGraphCreate(&i, 0));
	n = alloc_(i, 0, 1 << 20, &c);
	free_(i, n, c);
	B(c == a);
	CUgraphExec x = exec_(i, 0);
	QUIET(cuGraphDestroy(i));
	QUIET(cuGraphCreate(&i, 0));
	n = alloc_(i, 0, 1 << 20, &d);
	B(d == c);
	QUIET(cuGraphExecDestroy(x));
	NOTE("captured");
	CUgraph q = 0;
	QUIET(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	T(cuMemAllocAsync(&e, 1 << 20, s));
	T(cuMemFreeAsync(e, s));
	T(cuMemAllocAsync(&f, 1 << 20, s));
	T(cuMemFreeAsync(f, s));
	T(cuStreamEndCapture(s, &q));
	B(e == f);
	NOTE("the same memory through two graphs");
	CUgraph u = 0, v = 0; CUdeviceptr pu, pv; CUgraphNode nu, nv; CUDA_MEMSET_NODE_PARAMS ms;
	QUIET(cuGraphCreate(&u, 0));
	QUIET(cuGraphCreate(&v, 0));
	nu = alloc_(u, 0, 1 << 20, &pu);
	nv = alloc_(v, 0, 1 << 20, &pv);
	memset(&ms, 0, sizeof ms);
	ms.dst = pu; ms.value = 7; ms.elementSize = 4; ms.width = 4; ms.height = 1;
	QUIET(cuGraphAddMemsetNode(&m, u, &nu, 1, &ms, ctx));
	free_(u, m, pu);
	launch_(exec_(u, 0));
	launch_(exec_(v, 0));
	B(pu == pv);
	NOTE("an address that is not allocated");
	T(cuMemcpyDtoH(&ms, pu, 4));
	T(cuMemcpyDtoD(pv, pu, 4));
	CUmemorytype type = 0; CUdeviceptr base = 0; size_t size = 0;
	T(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pu));
	T(cuMemGetAddressRange(&base, &size, pu));
	B(base == pu); N(size);
	T(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pv));
	T(cuMemGetAddressRange(&base, &size, pv));
	B(base == pv); N(size);
	(void)nv;
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
