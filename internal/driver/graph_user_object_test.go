package driver

import (
	"slices"
	"testing"
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// TestGraphUserObjectsInFlight has a launch keep what its executable held, whether that is replaced or destroyed meanwhile.
func TestGraphUserObjectsInFlight(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	s, _ := th.StreamCreate(1)
	spin := mustFn(t, th, m, "spin")
	ended := func() (n []uint64) {
		callMu.Lock()
		defer callMu.Unlock()
		for _, c := range calls {
			n = append(n, c[1])
		}
		return n
	}
	graph := func(object uint64) cu.CUgraph {
		g, _ := th.GraphCreate(0)
		_, err := th.GraphAddKernelNode(g, 0, 0, &cu.CUDA_KERNEL_NODE_PARAMS{Func: spin, GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1, BlockDimY: 1, BlockDimZ: 1})
		want(t, "node", err, 0)
		o, err := th.UserObjectCreate(hostmem.Ptr(object), 88, 1, 1)
		want(t, "object", err, 0)
		want(t, "move", th.GraphRetainUserObject(g, o, 1, uint32(cu.CU_GRAPH_USER_OBJECT_MOVE)), 0)
		return g
	}
	soon := func(what string, list ...uint64) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); !slices.Equal(ended(), list); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: objects %v are gone, want %v", what, ended(), list)
			}
		}
	}
	for _, r := range []struct {
		what string
		end  func(x cu.CUgraphExec, next cu.CUgraph) error
		left []uint64 // ended behind the launch
	}{
		{"destroyed", func(x cu.CUgraphExec, _ cu.CUgraph) error { return th.GraphExecDestroy(x) }, []uint64{1}},
		{"updated", func(x cu.CUgraphExec, next cu.CUgraph) error { return th.GraphExecUpdate(x, next, c.words(0, 0, 0)) }, []uint64{1}},
	} {
		callMu.Lock()
		calls = nil
		callMu.Unlock()
		closed := make(chan struct{})
		gate.Store(&closed)
		g, next := graph(1), graph(2)
		x := mustInstantiate(t, th, g)
		want(t, "destroy", th.GraphDestroy(g), 0)
		want(t, "launch", th.GraphLaunch(x, s), 0)
		want(t, r.what, r.end(x, next), 0)
		time.Sleep(10 * time.Millisecond)
		if n := ended(); len(n) != 0 {
			t.Errorf("%s: objects %v are gone while a launch needs them", r.what, n)
		}
		close(closed)
		want(t, "sync", th.StreamSynchronize(s), 0)
		soon(r.what, r.left...)
		want(t, "destroy", th.GraphDestroy(next), 0)
		if r.what == "updated" {
			soon("the new one is held", 1)
			want(t, "exec destroy", th.GraphExecDestroy(x), 0)
		}
		soon("at the end", 1, 2)
	}
}

// TestGraphBesideAllocations: no node of a graph that allocates can be destroyed, and an allocation of nothing makes no node.
func TestGraphBesideAllocations(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	d := newDigits(t, th, c, m)
	s, _ := th.StreamCreate(1)
	for _, r := range []struct {
		n, nodes uint64
		code     int
	}{{0, 1, 0}, {64, 2, 801}} {
		want(t, "begin", th.StreamBeginCapture(s, 0), 0)
		want(t, "launch", d.launch(1, s), 0)
		p, err := th.MemAllocAsync(r.n, s)
		want(t, "alloc", err, 0)
		if (p != 0) != (r.n != 0) {
			t.Errorf("%d bytes are at %#x", r.n, p)
		}
		g, err := endCapture(th, c, s)
		want(t, "end", err, 0)
		list, num := c.words(0, 0), c.words(2)
		want(t, "nodes", th.GraphGetNodes(g, list, num), 0)
		if n := hostmem.Load[uint64](num); n != r.nodes {
			t.Errorf("%d nodes, want %d", n, r.nodes)
		}
		want(t, "destroy the kernel", th.GraphDestroyNode(hostmem.Load[cu.CUgraphNode](list)), r.code)
	}
}

// TestGraphExecChildObjects: an executable holds what the graph holds that replaces a child of it.
func TestGraphExecChildObjects(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	d := newDigits(t, th, c, m)
	callMu.Lock()
	calls = nil
	callMu.Unlock()
	child, next, g := cu.CUgraph(0), cu.CUgraph(0), cu.CUgraph(0)
	for _, at := range []*cu.CUgraph{&child, &next, &g} {
		*at, _ = th.GraphCreate(0)
	}
	d.node(child, 1)
	d.node(next, 2)
	n, err := th.GraphAddChildGraphNode(g, 0, 0, child)
	want(t, "child", err, 0)
	x := mustInstantiate(t, th, g)
	o, _ := th.UserObjectCreate(5, 88, 1, 1)
	want(t, "hold", th.GraphRetainUserObject(next, o, 1, uint32(cu.CU_GRAPH_USER_OBJECT_MOVE)), 0)
	want(t, "replace", th.GraphExecChildGraphNodeSetParams(x, n, next), 0)
	want(t, "destroy", th.GraphDestroy(next), 0)
	callMu.Lock()
	early := len(calls)
	callMu.Unlock()
	want(t, "exec destroy", th.GraphExecDestroy(x), 0)
	callMu.Lock()
	defer callMu.Unlock()
	if early != 0 || len(calls) != 1 {
		t.Errorf("%d ended with the graph, %d in all", early, len(calls))
	}
}
