package driver

import (
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

func endCapture(th *Thread, c *cmem, s cu.CUstream) (cu.CUgraph, error) {
	at := c.words(^uint64(0))
	err := th.StreamEndCapture(s, at)
	return hostmem.Load[cu.CUgraph](at), err
}

func status(t *testing.T, th *Thread, s cu.CUstream, wanted cu.CUstreamCaptureStatus) {
	t.Helper()
	if st, err := th.StreamIsCapturing(s); err != nil || st != wanted {
		t.Errorf("status %d, want %d (%v)", st, wanted, err)
	}
}

func TestCaptureLinear(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	d := newDigits(t, th, c, m)
	s, _ := th.StreamCreate(1)
	want(t, "begin", th.StreamBeginCapture(s, 0), 0)
	want(t, "begin twice", th.StreamBeginCapture(s, 0), 401)
	status(t, th, s, cu.CU_STREAM_CAPTURE_STATUS_ACTIVE)
	want(t, "set", th.MemsetD32Async(d.at, 0, 1, s), 0)
	want(t, "launch", d.launch(1, s), 0)
	want(t, "launch", d.launch(2, s), 0)
	src, out := c.words(0x77), c.words(0)
	want(t, "copy in", th.MemcpyHtoDAsync(d.at+8, src, 8, s), 0)
	want(t, "copy out", th.MemcpyDtoHAsync(out, d.at, 8, s), 0)
	want(t, "host", th.LaunchHostFunc(s, 9, 1), 0)
	g, err := endCapture(th, c, s)
	want(t, "end", err, 0)
	status(t, th, s, cu.CU_STREAM_CAPTURE_STATUS_NONE)
	want(t, "end twice", func() error { _, err := endCapture(th, c, s); return err }(), 401)
	num := c.words(0)
	want(t, "nodes", th.GraphGetNodes(g, 0, num), 0)
	if n := hostmem.Load[uint64](num); n != 6 {
		t.Errorf("%d nodes", n)
	}
	if v := hostmem.Load[uint64](out); v != 0 {
		t.Error("captured work ran")
	}
	hostmem.Store(src, uint64(0x78)) // captured copies read at launch
	x := mustInstantiate(t, th, g)
	want(t, "launch", th.GraphLaunch(x, s), 0)
	want(t, "sync", th.StreamSynchronize(s), 0)
	if v := hostmem.Load[uint32](out); v != 12 {
		t.Errorf("result %d", v)
	}
	if v := hostmem.Load[uint64](hostmem.Ptr(d.at + 8)); v != 0x78 {
		t.Errorf("copied %#x", v)
	}
	// A captured stream takes no graph.
	want(t, "begin", th.StreamBeginCapture(s, 0), 0)
	want(t, "graph", th.GraphLaunch(x, s), 900)
	_, err = endCapture(th, c, s)
	want(t, "end", err, 901)
}

func TestCaptureForkJoin(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	d := newDigits(t, th, c, m)
	s1, _ := th.StreamCreate(1)
	s2, _ := th.StreamCreate(1)
	s3, _ := th.StreamCreate(1)
	e1, _ := th.EventCreate(0)
	e2, _ := th.EventCreate(0)
	want(t, "begin", th.StreamBeginCapture(s1, 1), 0)
	want(t, "1", d.launch(1, s1), 0)
	want(t, "fork", th.EventRecord(e1, s1), 0)
	want(t, "fork", th.StreamWaitEvent(s2, e1, 0), 0)
	status(t, th, s2, cu.CU_STREAM_CAPTURE_STATUS_ACTIVE)
	want(t, "2", d.launch(2, s2), 0)
	want(t, "fork on", th.EventRecord(e2, s2), 0)
	want(t, "fork on", th.StreamWaitEvent(s3, e2, 0), 0)
	want(t, "3", d.launch(3, s3), 0)
	want(t, "join", th.EventRecord(e2, s3), 0)
	want(t, "join", th.StreamWaitEvent(s1, e2, 0), 0)
	st, id, g, n, err := th.StreamGetCaptureInfo(s1, c.words(0))
	if err != nil || st != cu.CU_STREAM_CAPTURE_STATUS_ACTIVE || id == 0 || g == 0 || n != 2 {
		t.Errorf("info %d %d %d %d %v", st, id, g, n, err)
	}
	want(t, "4", d.launch(4, s1), 0)
	want(t, "query of a captured event", th.EventQuery(e1), 907)
	_, err = endCapture(th, c, s1) // the query spoiled it
	want(t, "end", err, 901)
	status(t, th, s2, cu.CU_STREAM_CAPTURE_STATUS_NONE)

	again := func(join bool) (cu.CUgraph, error) {
		want(t, "begin", th.StreamBeginCapture(s1, 1), 0)
		want(t, "1", d.launch(1, s1), 0)
		want(t, "fork", th.EventRecord(e1, s1), 0)
		want(t, "fork", th.StreamWaitEvent(s2, e1, 0), 0)
		want(t, "2", d.launch(2, s2), 0)
		want(t, "join", th.EventRecord(e2, s2), 0)
		if join {
			want(t, "join", th.StreamWaitEvent(s1, e2, 0), 0)
		}
		want(t, "3", d.launch(3, s1), 0)
		return endCapture(th, c, s1)
	}
	bad, err := again(false)
	want(t, "unjoined", err, 904)
	if bad != 0 {
		t.Error("a graph of a failed capture")
	}
	good, err := again(true)
	want(t, "joined", err, 0)
	x := mustInstantiate(t, th, good)
	want(t, "launch", th.GraphLaunch(x, s3), 0)
	if v := d.take(); v != 123 {
		t.Errorf("order %d", v)
	}
}

func TestCaptureErrors(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	d := newDigits(t, th, c, m)
	s1, _ := th.StreamCreate(1)
	s2, _ := th.StreamCreate(1)
	block, _ := th.StreamCreate(0)
	e, _ := th.EventCreate(0)
	out, _ := th.EventCreate(0)
	want(t, "record outside", th.EventRecord(out, s2), 0)
	want(t, "legacy", th.StreamBeginCapture(0, 0), 900)
	want(t, "mode", th.StreamBeginCapture(s1, 7), 1)
	spoiled := func(what string, s cu.CUstream, mode cu.CUstreamCaptureMode, code int, f func() error) {
		t.Helper()
		want(t, what+": begin", th.StreamBeginCapture(s, mode), 0)
		want(t, what, f(), code)
		status(t, th, s, cu.CU_STREAM_CAPTURE_STATUS_INVALIDATED)
		want(t, what+": after", d.launch(1, s), 901)
		_, err := endCapture(th, c, s)
		want(t, what+": end", err, 901)
	}
	alloc := func() error { _, err := th.MemAlloc(16); return err }
	spoiled("synchronize", s1, 0, 900, func() error { return th.StreamSynchronize(s1) })
	spoiled("query", s1, 2, 900, func() error { return th.StreamQuery(s1) })
	spoiled("context", s1, 2, 900, th.CtxSynchronize)
	spoiled("alloc", s1, 0, 900, alloc)
	spoiled("alloc, thread-local", s1, 1, 900, alloc)
	spoiled("uncaptured event", s1, 0, 905, func() error { return th.StreamWaitEvent(s1, out, 0) })
	spoiled("legacy work", block, 2, 906, func() error { return d.launch(1, 0) })
	spoiled("sync copy", s1, 0, 900, func() error { return th.MemcpyHtoD(d.at, c.words(1), 8) })
	spoiled("callback", s1, 2, 900, func() error { return th.StreamAddCallback(s1, 5, 0, 0) })

	// A relaxed capture lets its thread allocate; so does a relaxed thread.
	want(t, "begin", th.StreamBeginCapture(s1, 2), 0)
	want(t, "alloc", alloc(), 0)
	_, err := endCapture(th, c, s1)
	want(t, "end", err, 0)
	mode := c.words(2)
	want(t, "exchange", th.ThreadExchangeStreamCaptureMode(mode), 0)
	want(t, "begin", th.StreamBeginCapture(s1, 0), 0)
	want(t, "alloc", alloc(), 0)
	other := &Thread{ID: threadIDs.Add(1), Depth: 1, Stack: th.Stack}
	_, err = endCapture(other, c, s1)
	want(t, "wrong thread", err, 908)
	_, err = endCapture(th, c, s1)
	want(t, "over", err, 401)
	want(t, "begin", th.StreamBeginCapture(s1, 0), 0)
	_, err = other.MemAlloc(16)
	want(t, "another thread in global mode", err, 900)
	_, err = endCapture(th, c, s1)
	want(t, "end", err, 901)
	want(t, "exchange", th.ThreadExchangeStreamCaptureMode(mode), 0)

	// Two captures cannot meet.
	want(t, "begin", th.StreamBeginCapture(s1, 0), 0)
	want(t, "begin", th.StreamBeginCapture(s2, 0), 0)
	want(t, "record", th.EventRecord(e, s1), 0)
	want(t, "merge", th.StreamWaitEvent(s2, e, 0), 902)
	_, err = endCapture(th, c, s1)
	want(t, "end", err, 901)
	_, err = endCapture(th, c, s2)
	want(t, "end", err, 901)
	want(t, "event of an ended capture", th.StreamWaitEvent(s2, e, 0), 1)

	// Ended in the wrong stream.
	want(t, "begin", th.StreamBeginCapture(s1, 0), 0)
	want(t, "record", th.EventRecord(e, s1), 0)
	want(t, "fork", th.StreamWaitEvent(s2, e, 0), 0)
	_, err = endCapture(th, c, s2)
	want(t, "unmatched", err, 903)
	_, err = endCapture(th, c, s1)
	want(t, "end", err, 901)

	// A destroyed stream takes its capture along.
	want(t, "begin", th.StreamBeginCapture(s1, 0), 0)
	want(t, "destroy", th.StreamDestroy(s1), 0)
	want(t, "alloc", alloc(), 0)
}

func TestCaptureDependenciesAndMemory(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	d := newDigits(t, th, c, m)
	s, _ := th.StreamCreate(1)
	e, _ := th.EventCreate(0)
	g, _ := th.GraphCreate(0)
	first := d.node(g, 1)
	want(t, "into a graph", th.StreamBeginCaptureToGraph(s, g, c.nodes(first), 0, 1, 2), 0)
	want(t, "2", d.launch(2, s), 0)
	want(t, "external record", th.EventRecordWithFlags(e, s, 1), 0)
	mine, err := th.GraphAddEmptyNode(g, c.nodes(first), 1)
	want(t, "own node", err, 0)
	want(t, "add", th.StreamUpdateCaptureDependencies(s, c.nodes(mine), 1, 0), 0)
	p, err := th.MemAllocAsync(64, s)
	want(t, "alloc", err, 0)
	want(t, "clear", th.MemsetD32Async(p, 5, 1, s), 0)
	want(t, "copy", th.MemcpyDtoDAsync(d.at+16, p, 4, s), 0)
	want(t, "free", th.MemFreeAsync(p, s), 0)
	want(t, "set", th.StreamUpdateCaptureDependencies(s, c.nodes(mine), 1, 1), 0)
	_, _, _, n, err := th.StreamGetCaptureInfoV3(s, c.words(0), c.words(0))
	if err != nil || n != 1 {
		t.Errorf("%d dependencies, %v", n, err)
	}
	g2, err := endCapture(th, c, s)
	want(t, "end", err, 0)
	if g2 != g {
		t.Error("another graph")
	}
	x := mustInstantiate(t, th, g)
	for range 2 {
		want(t, "launch", th.GraphLaunch(x, s), 0)
	}
	want(t, "event", th.EventSynchronize(e), 0)
	if v := d.take(); v != 1212 {
		t.Errorf("order %d", v)
	}
	if v := hostmem.Load[uint32](hostmem.Ptr(d.at + 16)); v != 5 {
		t.Errorf("through graph memory: %d", v)
	}
	want(t, "reset", th.DevicePrimaryCtxReset(0), 0)
}

func TestStreamMemoryOperations(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	d := newDigits(t, th, c, m)
	s, _ := th.StreamCreate(1)
	flag := d.at + 32
	want(t, "wait", th.StreamWaitValue32(s, flag, 5, uint32(cu.CU_STREAM_WAIT_VALUE_EQ)), 0)
	want(t, "launch", d.launch(4, s), 0)
	want(t, "write", th.StreamWriteValue64(s, d.at+40, 99, 0), 0)
	want(t, "not done", th.StreamQuery(s), 600)
	s2, _ := th.StreamCreate(1)
	want(t, "write", th.StreamWriteValue32(s2, flag, 5, 0), 0)
	want(t, "sync", th.StreamSynchronize(s), 0)
	if v := d.take(); v != 4 {
		t.Errorf("order %d", v)
	}
	if v := hostmem.Load[uint64](hostmem.Ptr(d.at + 40)); v != 99 {
		t.Errorf("written %d", v)
	}
	want(t, "cyclic", th.StreamWaitValue32(s, flag, 0xfffffff0, 0), 0) // 5 is 21 after it
	want(t, "nor", th.StreamWaitValue64(s, d.at+40, 1, uint32(cu.CU_STREAM_WAIT_VALUE_NOR)), 0)
	want(t, "and", th.StreamWaitValue32(s, flag, 4, uint32(cu.CU_STREAM_WAIT_VALUE_AND)), 0)
	want(t, "sync", th.StreamSynchronize(s), 0)
	want(t, "unaligned", th.StreamWriteValue32(s, flag+2, 1, 0), 1)
	want(t, "unknown memory", th.StreamWriteValue32(s, 4096, 1, 0), 1)
}

// TestCaptureProgrammatic has a kernel that may begin early depend on the one before it by a programmatic edge; on a copy by a plain one.
func TestCaptureProgrammatic(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	d := newDigits(t, th, c, m)
	s, _ := th.StreamCreate(1)
	early := make([]uint64, 9)
	early[0], early[1] = uint64(cu.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION), 1
	cfg := &cu.CUlaunchConfig{GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1, BlockDimY: 1, BlockDimZ: 1, HStream: s, Attrs: uint64(c.words(early...)), NumAttrs: 1}
	for _, r := range []struct {
		what  string
		first func() error
		edge  cu.CUgraphEdgeData
	}{
		{"kernel", func() error { return d.launch(1, s) }, cu.CUgraphEdgeData{From_port: 1, Type: 1}},
		{"set", func() error { return th.MemsetD32Async(d.at, 0, 1, s) }, cu.CUgraphEdgeData{}},
	} {
		want(t, "begin", th.StreamBeginCapture(s, 0), 0)
		want(t, r.what, r.first(), 0)
		want(t, "launch", th.LaunchKernelEx(cfg, d.f, c.params(uint64(d.at), 2), 0), 0)
		g, err := endCapture(th, c, s)
		want(t, "end", err, 0)
		from, to, data, num := c.words(0), c.words(0), c.words(0), c.words(1)
		want(t, "edges", th.GraphGetEdgesV2(g, from, to, data, num), 0)
		if e := hostmem.Load[cu.CUgraphEdgeData](data); e != r.edge || hostmem.Load[uint64](num) != 1 {
			t.Errorf("behind a %s the edge is %+v", r.what, e)
		}
	}
}
