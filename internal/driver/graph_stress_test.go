package driver

import (
	"math/rand/v2"
	"sync"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// TestGraphsOnManyThreads captures, changes, launches and destroys graphs on several threads at once, with pool memory.
func TestGraphsOnManyThreads(t *testing.T) {
	th, c0, m, dev := withPrimary(t)
	f := mustFn(t, th, m, "add")
	close(*gate.Load())
	free0, _ := dev.mem.Usage()
	var wg sync.WaitGroup
	for range 6 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			th := &Thread{ID: threadIDs.Add(1), Depth: 1, Stack: th.Stack}
			c := &cmem{}
			s, err := th.StreamCreate(1)
			want(t, "stream", err, 0)
			s2, _ := th.StreamCreate(1)
			e, _ := th.EventCreate(2)
			for round := range 25 {
				p, err := th.MemAllocAsync(256, s)
				want(t, "alloc", err, 0)
				want(t, "clear", th.MemsetD32Async(p, 0, 64, s), 0)
				want(t, "begin", th.StreamBeginCapture(s, cu.CU_STREAM_CAPTURE_MODE_RELAXED), 0)
				put := func(n uint64, s cu.CUstream) {
					want(t, "launch", th.LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, c.params(uint64(p), n), 0), 0)
				}
				put(1, s)
				want(t, "record", th.EventRecord(e, s), 0)
				want(t, "fork", th.StreamWaitEvent(s2, e, 0), 0)
				put(2, s2)
				want(t, "record", th.EventRecord(e, s2), 0)
				want(t, "join", th.StreamWaitEvent(s, e, 0), 0)
				put(3, s)
				g, err := endCapture(th, c, s)
				want(t, "end", err, 0)
				x, err := th.GraphInstantiateWithFlags(g, 0)
				want(t, "instantiate", err, 0)
				want(t, "graph", th.GraphLaunch(x, s), 0)
				want(t, "destroy", th.GraphDestroy(g), 0)
				want(t, "graph", th.GraphLaunch(x, s), 0)
				want(t, "destroy", th.GraphExecDestroy(x), 0)
				out := c.words(0)
				want(t, "out", th.MemcpyDtoHAsync(out, p, 4, s), 0)
				want(t, "free", th.MemFreeAsync(p, s), 0)
				want(t, "sync", th.StreamSynchronize(s), 0)
				if v := hostmem.Load[uint32](out); v != 123123 {
					t.Errorf("round %d: %d", round, v)
				}
			}
			want(t, "stream", th.StreamDestroy(s), 0)
			want(t, "stream", th.StreamDestroy(s2), 0)
		}()
	}
	wg.Wait()
	want(t, "sync", th.CtxSynchronize(), 0)
	if free, _ := dev.mem.Usage(); free != free0 {
		t.Errorf("%d bytes lost", free0-free)
	}
	_ = c0
	want(t, "reset", th.DevicePrimaryCtxReset(0), 0)
	if n := dev.open.Load(); n != 0 {
		t.Errorf("%d queues left", n)
	}
}

// TestRandomObjects throws values that are no handles at what takes one: an error each time, nothing else.
func TestRandomObjects(t *testing.T) {
	th, c, _, _ := withPrimary(t)
	g, _ := th.GraphCreate(0)
	n, _ := th.GraphAddEmptyNode(g, 0, 0)
	x := mustInstantiate(t, th, g)
	pool, _ := th.DeviceGetDefaultMemPool(0)
	live := []uint64{uint64(g), uint64(n), uint64(x), uint64(pool), 0, 1, 2, ^uint64(0), uint64(c.words(0))}
	buf := c.words(make([]uint64, 64)...)
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		v := live[r.IntN(len(live))]
		switch r.IntN(3) {
		case 0:
			v ^= 1 << r.IntN(64)
		case 1:
			v = r.Uint64()
		}
		if v == uint64(g) || v == uint64(n) || v == uint64(x) || v == uint64(pool) {
			continue
		}
		for i, err := range []error{
			th.GraphDestroy(cu.CUgraph(v)), th.GraphDestroyNode(cu.CUgraphNode(v)), th.GraphExecDestroy(cu.CUgraphExec(v)),
			th.GraphLaunch(cu.CUgraphExec(v), 0), th.GraphGetNodes(cu.CUgraph(v), 0, buf), th.GraphExecUpdate(x, cu.CUgraph(v), buf),
			th.MemPoolDestroy(cu.CUmemoryPool(v)), th.MemPoolTrimTo(cu.CUmemoryPool(v), 0), th.UserObjectRelease(cu.CUuserObject(v), 1),
			th.ArrayDestroy(cu.CUarray(v)), th.MipmappedArrayDestroy(cu.CUmipmappedArray(v)), th.TexRefDestroy(cu.CUtexref(v)),
			th.DestroyExternalMemory(cu.CUexternalMemory(v)), th.LinkDestroy(cu.CUlinkState(v)), th.MemRelease(cu.CUmemGenericAllocationHandle(v)),
			th.GraphAddDependencies(g, c.words(v), c.words(uint64(n)), 1), th.MemAddressFree(DevPtr(v), 1<<21), th.MemUnmap(DevPtr(v), 1<<21),
			th.MemFreeAsync(DevPtr(v), 0), th.GraphExecKernelNodeSetParams(x, cu.CUgraphNode(v), &cu.CUDA_KERNEL_NODE_PARAMS{}),
		} {
			if err == nil && (v != 0 || i != 18) { // to free nothing is allowed
				t.Fatalf("call %d took %#x", i, v)
			}
		}
		// Objects that kernels see are taken silently when they are none.
		want(t, "texture", th.TexObjectDestroy(cu.CUtexObject(v)), 0)
		want(t, "surface", th.SurfObjectDestroy(cu.CUsurfObject(v)), 0)
	}
}
