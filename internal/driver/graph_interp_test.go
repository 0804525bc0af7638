package driver

import (
	"io"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// TestInterpCapturedGraph runs a captured fork and join of real kernels again and again, changed in between.
func TestInterpCapturedGraph(t *testing.T) {
	th, c, m := onInterp(t)
	const n = 256
	var buf [3]DevPtr
	for i := range buf {
		var err error
		buf[i], err = th.MemAlloc(4 * n)
		want(t, "alloc", err, 0)
	}
	host := c.words(make([]uint64, n/2)...)
	for i := range n {
		hostmem.Slice[float32](host, n)[i] = float32(i)
	}
	out := c.words(make([]uint64, n/2)...)
	s1, _ := th.StreamCreate(1)
	s2, _ := th.StreamCreate(1)
	e1, _ := th.EventCreate(2)
	e2, _ := th.EventCreate(2)
	want(t, "begin", th.StreamBeginCapture(s1, 1), 0)
	want(t, "record", th.EventRecord(e1, s1), 0)
	want(t, "fork", th.StreamWaitEvent(s2, e1, 0), 0)
	want(t, "in", th.MemcpyHtoDAsync(buf[0], host, 4*n, s1), 0)
	want(t, "in", th.MemcpyHtoDAsync(buf[1], host, 4*n, s2), 0)
	tmp, err := th.MemAllocAsync(4*n, s2)
	want(t, "graph memory", err, 0)
	want(t, "clear", th.MemsetD32Async(tmp, 0x40000000, n, s2), 0) // 2.0
	add := mustFn(t, th, m, "vecadd")
	want(t, "add", th.LaunchKernel(add, 2, 1, 1, 128, 1, 1, 0, s2, c.params(uint64(buf[1]), uint64(tmp), uint64(buf[1]), n), 0), 0)
	want(t, "free", th.MemFreeAsync(tmp, s2), 0)
	want(t, "record", th.EventRecord(e2, s2), 0)
	want(t, "join", th.StreamWaitEvent(s1, e2, 0), 0)
	want(t, "add", th.LaunchKernel(add, 2, 1, 1, 128, 1, 1, 0, s1, c.params(uint64(buf[0]), uint64(buf[1]), uint64(buf[2]), n), 0), 0)
	want(t, "out", th.MemcpyDtoHAsync(out, buf[2], 4*n, s1), 0)
	g, err := endCapture(th, c, s1)
	want(t, "end", err, 0)
	x := mustInstantiate(t, th, g)
	for round := range 20 {
		hostmem.Slice[float32](host, n)[7] = float32(round)
		want(t, "launch", th.GraphLaunch(x, s1), 0)
		want(t, "sync", th.StreamSynchronize(s1), 0)
		if v := hostmem.Slice[float32](out, n); v[7] != float32(2*round+2) || v[100] != 202 {
			t.Fatalf("round %d: %v %v", round, v[7], v[100])
		}
	}
	want(t, "destroy", th.GraphExecDestroy(x), 0)
	want(t, "destroy", th.GraphDestroy(g), 0)
	// A fault in a graph is the context's.
	g, _ = th.GraphCreate(0)
	_, err = th.GraphAddKernelNode(g, 0, 0, &cu.CUDA_KERNEL_NODE_PARAMS{Func: mustFn(t, th, m, "stop"), GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1, BlockDimY: 1, BlockDimZ: 1})
	want(t, "node", err, 0)
	x = mustInstantiate(t, th, g)
	want(t, "launch", th.GraphLaunch(x, s1), 0)
	want(t, "fault", th.StreamSynchronize(s1), 719)
	want(t, "sticky", th.GraphLaunch(x, s1), 719)
}

// BenchmarkGraphEngine is a node on the engine's queues, against the same work put in call by call. A node is a set of
// four bytes: putting it in costs as much as doing it.
func BenchmarkGraphEngine(b *testing.B) {
	Start([]backend.Backend{interp.New(interp.Config{Out: io.Discard, Err: io.Discard})})
	th := &Thread{ID: threadIDs.Add(1)}
	if err := th.Init(0); err != nil {
		b.Fatal(err)
	}
	ctx, _ := th.DevicePrimaryCtxRetain(0)
	_ = th.CtxSetCurrent(ctx)
	s, _ := th.StreamCreate(1)
	p, _ := th.MemAlloc(64)
	const nodes = 1000
	work := func() {
		for range nodes {
			if err := th.MemsetD32Async(p, 1, 1, s); err != nil {
				b.Fatal(err)
			}
		}
	}
	perNode := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/nodes, "ns/node")
	}
	b.Run("calls", func(b *testing.B) {
		for range b.N {
			work()
			_ = th.StreamSynchronize(s)
		}
		perNode(b)
	})
	b.Run("graph", func(b *testing.B) {
		want(b, "begin", th.StreamBeginCapture(s, 2), 0)
		work()
		g, err := endCapture(th, &cmem{}, s)
		want(b, "end", err, 0)
		x := mustInstantiate(b, th, g)
		b.ResetTimer()
		for range b.N {
			if err := th.GraphLaunch(x, s); err != nil {
				b.Fatal(err)
			}
			_ = th.StreamSynchronize(s)
		}
		perNode(b)
	})
}
