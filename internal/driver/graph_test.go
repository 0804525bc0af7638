package driver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// digits is a word that kernels "add" append digits to, so that it shows in which order they ran.
type digits struct {
	t  testing.TB
	th *Thread
	c  *cmem
	f  cu.CUfunction
	at DevPtr
}

func newDigits(t testing.TB, th *Thread, c *cmem, m cu.CUmodule) *digits {
	t.Helper()
	at, err := th.MemAlloc(64)
	want(t, "alloc", err, 0)
	want(t, "clear", th.MemsetD8(at, 0, 64), 0)
	want(t, "sync", th.CtxSynchronize(), 0) // non-blocking streams do not wait for the set
	return &digits{t, th, c, mustFn(t, th, m, "add"), at}
}

func (d *digits) params(n uint64) *cu.CUDA_KERNEL_NODE_PARAMS {
	return d.paramsAt(d.at, n)
}

func (d *digits) paramsAt(at DevPtr, n uint64) *cu.CUDA_KERNEL_NODE_PARAMS {
	return &cu.CUDA_KERNEL_NODE_PARAMS{Func: d.f, GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1, BlockDimY: 1, BlockDimZ: 1, KernelParams: uint64(d.c.params(uint64(at), n))}
}

func (d *digits) node(g cu.CUgraph, n uint64, deps ...cu.CUgraphNode) cu.CUgraphNode {
	d.t.Helper()
	k, err := d.th.GraphAddKernelNode(g, d.c.nodes(deps...), uint64(len(deps)), d.params(n))
	want(d.t, "kernel node", err, 0)
	return k
}

func (d *digits) launch(n uint64, s cu.CUstream) error {
	return d.th.LaunchKernel(d.f, 1, 1, 1, 1, 1, 1, 0, s, d.c.params(uint64(d.at), n), 0)
}

// take is the digits so far, and clears them.
func (d *digits) take() uint32 {
	d.t.Helper()
	want(d.t, "synchronize", d.th.CtxSynchronize(), 0)
	v := hostmem.Load[uint32](hostmem.Ptr(d.at))
	hostmem.Store(hostmem.Ptr(d.at), uint32(0))
	return v
}

func (c *cmem) nodes(list ...cu.CUgraphNode) hostmem.Ptr {
	if len(list) == 0 {
		return 0
	}
	w := make([]uint64, len(list))
	for i, n := range list {
		w[i] = uint64(n)
	}
	return c.words(w...)
}

func mustInstantiate(t testing.TB, th *Thread, g cu.CUgraph) cu.CUgraphExec {
	t.Helper()
	x, err := th.GraphInstantiateWithFlags(g, 0)
	want(t, "instantiate", err, 0)
	return x
}

func TestGraphKernelsInOrder(t *testing.T) {
	th, c, m, dev := withPrimary(t)
	d := newDigits(t, th, c, m)
	g, err := th.GraphCreate(0)
	want(t, "create", err, 0)
	n3 := d.node(g, 3) // made first, runs last
	n1 := d.node(g, 1)
	n2 := d.node(g, 2, n1)
	want(t, "dependency", th.GraphAddDependencies(g, c.nodes(n2), c.nodes(n3), 1), 0)
	want(t, "dependency again", th.GraphAddDependencies(g, c.nodes(n2), c.nodes(n3), 1), 1)
	x := mustInstantiate(t, th, g)
	for range 2 {
		want(t, "launch", th.GraphLaunch(x, 0), 0)
	}
	if v := d.take(); v != 123123 {
		t.Errorf("order %d", v)
	}
	// A launch keeps the parameters of its time; the executable's nodes can change without the graph's.
	want(t, "exec params", th.GraphExecKernelNodeSetParams(x, n2, d.params(7)), 0)
	want(t, "launch", th.GraphLaunch(x, 0), 0)
	if v := d.take(); v != 173 {
		t.Errorf("after exec set: %d", v)
	}
	want(t, "disable", th.GraphNodeSetEnabled(x, n1, 0), 0)
	want(t, "launch", th.GraphLaunch(x, 0), 0)
	if v := d.take(); v != 73 {
		t.Errorf("with a node off: %d", v)
	}
	p, err := th.GraphKernelNodeGetParams(n2)
	want(t, "params", err, 0)
	if p.Func != d.f || hostmem.Load[uint32](hostmem.Load[hostmem.Ptr](hostmem.Ptr(p.KernelParams).Add(8))) != 2 {
		t.Errorf("params %+v", p)
	}
	// The graph is gone, the executable is not.
	want(t, "destroy", th.GraphDestroy(g), 0)
	want(t, "destroy twice", th.GraphDestroy(g), 1)
	_, err = th.GraphNodeGetType(n1)
	want(t, "node of a destroyed graph", err, 1)
	want(t, "launch", th.GraphLaunch(x, 0), 0)
	if v := d.take(); v != 73 {
		t.Errorf("after the graph's end: %d", v)
	}
	want(t, "exec destroy", th.GraphExecDestroy(x), 0)
	want(t, "exec destroyed", th.GraphLaunch(x, 0), 1)
	want(t, "reset", th.DevicePrimaryCtxReset(0), 0)
	if n := dev.open.Load(); n != 0 {
		t.Errorf("%d queues left", n)
	}
}

func TestGraphBranches(t *testing.T) {
	th, c, m, dev := withPrimary(t)
	d := newDigits(t, th, c, m)
	spin := mustFn(t, th, m, "spin")
	g, _ := th.GraphCreate(0)
	first := d.node(g, 1)
	stuck, err := th.GraphAddKernelNode(g, c.nodes(first), 1, &cu.CUDA_KERNEL_NODE_PARAMS{Func: spin, GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1, BlockDimY: 1, BlockDimZ: 1})
	want(t, "spin node", err, 0)
	side := d.node(g, 2, first)
	e, _ := th.EventCreate(0)
	_, err = th.GraphAddEventRecordNode(g, c.nodes(side), 1, e)
	want(t, "record node", err, 0)
	d.node(g, 3, stuck, side)
	x := mustInstantiate(t, th, g)
	s, _ := th.StreamCreate(1)
	want(t, "launch", th.GraphLaunch(x, s), 0)
	want(t, "the free branch runs while the other is stuck", th.EventSynchronize(e), 0)
	if v := hostmem.Load[uint32](hostmem.Ptr(d.at)); v != 12 {
		t.Errorf("before the gate: %d", v)
	}
	want(t, "not done", th.StreamQuery(s), 600)
	close(*gate.Load())
	want(t, "launch in another stream", th.GraphLaunch(x, 0), 0)
	if v := d.take(); v != 123123 {
		t.Errorf("order %d", v)
	}
	// Many roots share a few lanes.
	wide, _ := th.GraphCreate(0)
	var all []cu.CUgraphNode
	for i := range 40 {
		n, err := th.GraphAddKernelNode(wide, 0, 0, d.paramsAt(d.at+DevPtr(4+4*(i%10)), 1))
		want(t, "root", err, 0)
		all = append(all, n)
	}
	d.node(wide, 9, all...)
	wx := mustInstantiate(t, th, wide)
	want(t, "launch", th.GraphLaunch(wx, s), 0)
	if v := d.take(); v != 9 {
		t.Errorf("wide graph: %d", v)
	}
	want(t, "exec destroy", th.GraphExecDestroy(x), 0)
	want(t, "exec destroy", th.GraphExecDestroy(wx), 0)
	want(t, "reset", th.DevicePrimaryCtxReset(0), 0)
	if n := dev.open.Load(); n != 0 {
		t.Errorf("%d queues left", n)
	}
}

func TestGraphNodeKinds(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	d := newDigits(t, th, c, m)
	buf, _ := th.MemAlloc(256)
	out := c.words(0)
	g, _ := th.GraphCreate(0)
	set := cu.CUDA_MEMSET_NODE_PARAMS{Dst: buf, Value: 0x11, ElementSize: 1, Width: 8, Height: 1}
	n1, err := th.GraphAddMemsetNode(g, 0, 0, &set, 0)
	want(t, "memset", err, 0)
	copyP := cu.CUDA_MEMCPY3D{SrcMemoryType: cu.CU_MEMORYTYPE_DEVICE, SrcDevice: buf, DstMemoryType: cu.CU_MEMORYTYPE_HOST, DstHost: uint64(out), WidthInBytes: 8, Height: 1, Depth: 1}
	n2, err := th.GraphAddMemcpyNode(g, c.nodes(n1), 1, &copyP, 0)
	want(t, "memcpy", err, 0)
	n3, err := th.GraphAddHostNode(g, c.nodes(n2), 1, &cu.CUDA_HOST_NODE_PARAMS{Fn: 77, UserData: 5})
	want(t, "host", err, 0)
	inner, _ := th.GraphCreate(0)
	d.node(inner, 4, d.node(inner, 3))
	n4, err := th.GraphAddChildGraphNode(g, c.nodes(n3), 1, inner)
	want(t, "child", err, 0)
	n5, err := th.GraphAddEmptyNode(g, c.nodes(n4), 1)
	want(t, "empty", err, 0)
	d.node(g, 5, n5)
	for n, kind := range map[cu.CUgraphNode]cu.CUgraphNodeType{n1: cu.CU_GRAPH_NODE_TYPE_MEMSET, n2: cu.CU_GRAPH_NODE_TYPE_MEMCPY, n3: cu.CU_GRAPH_NODE_TYPE_HOST, n4: cu.CU_GRAPH_NODE_TYPE_GRAPH, n5: cu.CU_GRAPH_NODE_TYPE_EMPTY} {
		if k, err := th.GraphNodeGetType(n); err != nil || k != kind {
			t.Errorf("type %d, want %d (%v)", k, kind, err)
		}
	}
	callMu.Lock()
	calls = nil
	callMu.Unlock()
	x := mustInstantiate(t, th, g)
	want(t, "launch", th.GraphLaunch(x, 0), 0)
	if v := d.take(); v != 345 {
		t.Errorf("child graph: %d", v)
	}
	if v := hostmem.Load[uint64](out); v != 0x1111111111111111 {
		t.Errorf("copied %#x", v)
	}
	callMu.Lock()
	if len(calls) != 1 || calls[0][0] != 77 || calls[0][1] != 5 {
		t.Errorf("calls %v", calls)
	}
	callMu.Unlock()
	// A node inside the child can be changed in the executable.
	childG, err := th.GraphChildGraphNodeGetGraph(n4)
	want(t, "child graph", err, 0)
	want(t, "a child graph is its node's", th.GraphDestroy(childG), 1)
	num, list := c.words(4), c.words(0, 0, 0, 0)
	want(t, "roots", th.GraphGetRootNodes(childG, list, num), 0)
	if hostmem.Load[uint64](num) != 1 {
		t.Errorf("%d roots", hostmem.Load[uint64](num))
	}
	want(t, "set inside", th.GraphExecKernelNodeSetParams(x, hostmem.Load[cu.CUgraphNode](list), d.params(8)), 0)
	set.Value = 0x22
	want(t, "exec memset", th.GraphExecMemsetNodeSetParams(x, n1, &set, 0), 0)
	want(t, "wrong kind", th.GraphExecMemsetNodeSetParams(x, n2, &set, 0), 1)
	want(t, "launch", th.GraphLaunch(x, 0), 0)
	if v := d.take(); v != 845 {
		t.Errorf("changed child: %d", v)
	}
	if v := hostmem.Load[uint64](out); v != 0x2222222222222222 {
		t.Errorf("copied %#x", v)
	}
	// Bad parameters.
	set.ElementSize = 3
	_, err = th.GraphAddMemsetNode(g, 0, 0, &set, 0)
	want(t, "element of 3", err, 1)
	_, err = th.GraphAddEmptyNode(g, c.nodes(n1, n1), 2)
	want(t, "twice the same dependency", err, 1)
	_, err = th.GraphAddEmptyNode(inner, c.nodes(n1), 1)
	want(t, "another graph's node", err, 1)
	// The general call.
	p := cu.CUgraphNodeParams{Type: cu.CU_GRAPH_NODE_TYPE_KERNEL}
	*p.Kernel() = cu.CUDA_KERNEL_NODE_PARAMS_v3(*d.params(6))
	at := c.words(make([]uint64, 34)...)
	hostmem.Store(at, p)
	n6, err := th.GraphAddNode(inner, 0, 0, at)
	want(t, "add", err, 0)
	back, err := th.GraphNodeGetParams(n6)
	if err != nil || back.Type != cu.CU_GRAPH_NODE_TYPE_KERNEL || back.Kernel().Func != d.f {
		t.Errorf("params %+v %v", back.Kernel(), err)
	}
	hostmem.At[cu.CUgraphNodeParams](at).Type = cu.CU_GRAPH_NODE_TYPE_CONDITIONAL
	_, err = th.GraphAddNode(inner, 0, 0, at)
	want(t, "conditional", err, 1)
}

func TestGraphCloneEdgesUpdate(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	d := newDigits(t, th, c, m)
	g, _ := th.GraphCreate(0)
	a := d.node(g, 1)
	b := d.node(g, 2, a)
	clone, err := th.GraphClone(g)
	want(t, "clone", err, 0)
	cb, err := th.GraphNodeFindInClone(b, clone)
	want(t, "find", err, 0)
	want(t, "change the clone", th.GraphKernelNodeSetParams(cb, d.params(9)), 0)
	_, err = th.GraphNodeFindInClone(cb, g)
	want(t, "not that way", err, 1)
	x := mustInstantiate(t, th, g)
	want(t, "launch", th.GraphLaunch(x, 0), 0)
	if v := d.take(); v != 12 {
		t.Errorf("original %d", v)
	}
	info := c.words(0, 0, 0)
	want(t, "update", th.GraphExecUpdate(x, clone, info), 0)
	want(t, "launch", th.GraphLaunch(x, 0), 0)
	if v := d.take(); v != 19 {
		t.Errorf("updated %d", v)
	}
	num, from, to := c.words(0), c.words(0, 0), c.words(0, 0)
	want(t, "count edges", th.GraphGetEdges(g, 0, 0, num), 0)
	hostmem.Store(num, uint64(2))
	want(t, "edges", th.GraphGetEdges(g, from, to, num), 0)
	if hostmem.Load[uint64](num) != 1 || hostmem.Load[cu.CUgraphNode](from) != a || hostmem.Load[cu.CUgraphNode](to) != b || hostmem.Load[uint64](from.Add(8)) != 0 {
		t.Error("edges wrong")
	}
	hostmem.Store(num, uint64(2))
	want(t, "dependents", th.GraphNodeGetDependentNodes(a, from, num), 0)
	if hostmem.Load[uint64](num) != 1 || hostmem.Load[cu.CUgraphNode](from) != b {
		t.Error("dependents wrong")
	}
	extra := d.node(clone, 4, cb)
	want(t, "topology", th.GraphExecUpdate(x, clone, info), 910)
	if r := hostmem.Load[cu.CUgraphExecUpdateResultInfo](info); r.Result != cu.CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED {
		t.Errorf("result %d", r.Result)
	}
	want(t, "destroy node", th.GraphDestroyNode(extra), 0)
	want(t, "update", th.GraphExecUpdate(x, clone, info), 0)
	// Circles are found when the graph is made ready.
	want(t, "circle", th.GraphAddDependencies(g, c.nodes(b), c.nodes(a), 1), 0)
	_, err = th.GraphInstantiateWithFlags(g, 0)
	want(t, "circle", err, 1)
	pp := c.words(0, 0, 0, 0)
	_, err = th.GraphInstantiateWithParams(g, pp)
	want(t, "circle", err, 1)
	if r := hostmem.Load[cu.CUDA_GRAPH_INSTANTIATE_PARAMS](pp); r.Result_out != cu.CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE {
		t.Errorf("result %d", r.Result_out)
	}
	want(t, "remove", th.GraphRemoveDependencies(g, c.nodes(b), c.nodes(a), 1), 0)
	want(t, "remove again", th.GraphRemoveDependencies(g, c.nodes(b), c.nodes(a), 1), 1)
	dot := filepath.Join(t.TempDir(), "g.dot")
	want(t, "dot", th.GraphDebugDotPrint(g, dot, uint32(cu.CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE)), 0)
	text, err := os.ReadFile(dot)
	if err != nil || !strings.Contains(string(text), "digraph") || strings.Count(string(text), "->") != 1 || !strings.Contains(string(text), "add") {
		t.Errorf("dot: %v\n%s", err, text)
	}
	want(t, "no such folder", th.GraphDebugDotPrint(g, filepath.Join(dot, "x"), 0), 304)
}

func TestGraphUserObjects(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	d := newDigits(t, th, c, m)
	callMu.Lock()
	calls = nil
	callMu.Unlock()
	count := func() int {
		callMu.Lock()
		defer callMu.Unlock()
		return len(calls)
	}
	o, err := th.UserObjectCreate(123, 88, 1, 1)
	want(t, "create", err, 0)
	_, err = th.UserObjectCreate(123, 88, 1, 0)
	want(t, "without the flag", err, 1)
	g, _ := th.GraphCreate(0)
	d.node(g, 1)
	want(t, "move", th.GraphRetainUserObject(g, o, 1, uint32(cu.CU_GRAPH_USER_OBJECT_MOVE)), 0)
	x := mustInstantiate(t, th, g)
	clone, _ := th.GraphClone(g)
	want(t, "destroy", th.GraphDestroy(g), 0)
	want(t, "destroy", th.GraphDestroy(clone), 0)
	if count() != 0 {
		t.Error("destroyed while the executable holds it")
	}
	want(t, "exec destroy", th.GraphExecDestroy(x), 0)
	if count() != 1 || calls[0][0] != 88 || calls[0][1] != 123 {
		t.Errorf("calls %v", calls)
	}
	want(t, "gone", th.UserObjectRetain(o, 1), 1)
	o, _ = th.UserObjectCreate(5, 88, 2, 1)
	want(t, "too many", th.UserObjectRelease(o, 3), 1)
	want(t, "release", th.UserObjectRelease(o, 2), 0)
	if count() != 2 {
		t.Errorf("%d calls", count())
	}
}

func TestGraphMemoryNodes(t *testing.T) {
	th, c, m, dev := withPrimary(t)
	d := newDigits(t, th, c, m)
	free0, _ := dev.mem.Usage()
	g, _ := th.GraphCreate(0)
	p := cu.CUDA_MEM_ALLOC_NODE_PARAMS{Bytesize: 100}
	p.PoolProps.AllocType, p.PoolProps.Location.Type = cu.CU_MEM_ALLOCATION_TYPE_PINNED, cu.CU_MEM_LOCATION_TYPE_DEVICE
	at := c.words(make([]uint64, 15)...)
	hostmem.Store(at, p)
	na, err := th.GraphAddMemAllocNode(g, 0, 0, at)
	want(t, "alloc node", err, 0)
	ptr := hostmem.Load[cu.CUDA_MEM_ALLOC_NODE_PARAMS](at).Dptr
	n, err := th.GraphAddMemsetNode(g, c.nodes(na), 1, &cu.CUDA_MEMSET_NODE_PARAMS{Dst: ptr, Value: 7, ElementSize: 4, Width: 1, Height: 1}, 0)
	want(t, "memset", err, 0)
	k, err := th.GraphAddKernelNode(g, c.nodes(n), 1, d.paramsAt(ptr, 3))
	want(t, "kernel", err, 0)
	x := mustInstantiate(t, th, g)
	want(t, "launch", th.GraphLaunch(x, 0), 0)
	want(t, "still allocated", th.GraphLaunch(x, 0), 1)
	want(t, "sync", th.CtxSynchronize(), 0)
	if v := hostmem.Load[uint32](hostmem.Ptr(ptr)); v != 73 {
		t.Errorf("value %d", v)
	}
	used := c.words(0)
	want(t, "used", th.DeviceGetGraphMemAttribute(0, cu.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, used), 0)
	if hostmem.Load[uint64](used) != poolStep {
		t.Errorf("used %d", hostmem.Load[uint64](used))
	}
	want(t, "free", th.MemFreeAsync(ptr, 0), 0)
	want(t, "free twice", th.MemFreeAsync(ptr, 0), 1)
	want(t, "launch again", th.GraphLaunch(x, 0), 0)
	want(t, "free", th.MemFree(ptr), 0)
	_, err = th.GraphAddMemFreeNode(g, c.nodes(k), 1, ptr)
	want(t, "free node", err, 0)
	_, err = th.GraphAddMemFreeNode(g, c.nodes(k), 1, ptr)
	want(t, "second free node", err, 1)
	_, err = th.GraphInstantiateWithFlags(g, 0)
	want(t, "second executable", err, 801)
	want(t, "exec destroy", th.GraphExecDestroy(x), 0)
	y := mustInstantiate(t, th, g)
	for range 3 {
		want(t, "launch with a free", th.GraphLaunch(y, 0), 0)
	}
	_, err = th.GraphClone(g)
	want(t, "clone", err, 801)
	want(t, "destroy", th.GraphDestroy(g), 0)
	want(t, "exec destroy", th.GraphExecDestroy(y), 0)
	if free, _ := dev.mem.Usage(); free != free0 {
		t.Errorf("%d bytes lost", free0-free)
	}
}

// BenchmarkGraphLaunch is the driver's own cost of a node in a graph without branches.
func BenchmarkGraphLaunch(b *testing.B) {
	th, _, m, _ := withPrimary(b)
	f := mustFn(b, th, m, "empty")
	g, _ := th.GraphCreate(0)
	c := &cmem{}
	var last []cu.CUgraphNode
	const nodes = 100
	for range nodes {
		n, err := th.GraphAddKernelNode(g, c.nodes(last...), uint64(len(last)), &cu.CUDA_KERNEL_NODE_PARAMS{Func: f, GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1, BlockDimY: 1, BlockDimZ: 1})
		if err != nil {
			b.Fatal(err)
		}
		last = []cu.CUgraphNode{n}
	}
	x := mustInstantiate(b, th, g)
	b.ResetTimer()
	for range b.N {
		if err := th.GraphLaunch(x, 0); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/nodes, "ns/node")
	_ = th.CtxSynchronize()
}
