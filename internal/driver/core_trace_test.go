package driver

import (
	"sync"
	"testing"

	"kudzu/internal/trace/emit"
)

// TestTraceEvents: what the recorder hears of a program on the interpreter, each piece with its call and stream.
func TestTraceEvents(t *testing.T) {
	var mu sync.Mutex
	var events []emit.Event
	now, call := uint64(0), uint64(0)
	emit.Start(&emit.Recorder{
		Now:     func() uint64 { mu.Lock(); defer mu.Unlock(); now++; return now },
		Current: func() uint64 { mu.Lock(); defer mu.Unlock(); return call },
		Write:   func(e *emit.Event) { mu.Lock(); defer mu.Unlock(); events = append(events, *e) },
	})
	defer emit.Start(nil)
	th, c, m := onInterp(t)
	next := func() { mu.Lock(); defer mu.Unlock(); call++ }
	next() // 1
	buf, err := th.MemAlloc(1 << 20)
	want(t, "alloc", err, 0)
	next() // 2
	st, err := th.StreamCreate(1)
	want(t, "stream", err, 0)
	count := mustFn(t, th, m, "count")
	next() // 3
	want(t, "launch", th.LaunchKernel(count, 2, 1, 1, 32, 1, 1, 0, st, 0, 0), 0)
	want(t, "sync", th.StreamSynchronize(st), 0)
	want(t, "begin", th.StreamBeginCapture(st, 1), 0)
	want(t, "launch", th.LaunchKernel(count, 3, 1, 1, 32, 1, 1, 0, st, 0, 0), 0)
	want(t, "launch", th.LaunchKernel(count, 4, 1, 1, 32, 1, 1, 0, st, 0, 0), 0)
	g, err := endCapture(th, c, st)
	want(t, "end", err, 0)
	x := mustInstantiate(t, th, g)
	next() // 4
	want(t, "graph", th.GraphLaunch(x, st), 0)
	want(t, "sync", th.StreamSynchronize(st), 0)
	next() // 5
	want(t, "destroy", th.StreamDestroy(st), 0)
	want(t, "free", th.MemFree(buf), 0)
	next() // 6
	stop := mustFn(t, th, m, "stop")
	want(t, "launch", th.LaunchKernel(stop, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0), 0)
	if th.CtxSynchronize() == nil {
		t.Error("no fault")
	}
	mu.Lock()
	defer mu.Unlock()
	type key struct {
		what   emit.Type
		call   uint64
		stream uint64
		value  uint64
	}
	seen := map[key]int{}
	for _, e := range events {
		if e.T0 == 0 || e.T0 > e.T1 {
			t.Errorf("%+v", e)
		}
		if e.Type == emit.Memory || e.Type == emit.Fault {
			e.Values[0] = 0
		}
		seen[key{e.Type, e.Call, e.Stream, e.Values[0]}]++
	}
	grid := func(x uint64) uint64 { return x | 1<<32 }
	for _, k := range []key{
		{emit.Queue, 0, tracedLegacy, 1}, {emit.Memory, 1, 0, 0},
		{emit.Queue, 2, uint64(st), 1}, {emit.Enqueue, 3, uint64(st), grid(2)}, {emit.Kernel, 3, uint64(st), grid(2)},
		{emit.Enqueue, 4, uint64(st), grid(3)}, {emit.Kernel, 4, uint64(st), grid(3)}, {emit.Kernel, 4, uint64(st), grid(4)},
		{emit.Queue, 5, uint64(st), 0}, {emit.Memory, 5, 0, 0}, {emit.Kernel, 6, tracedLegacy, grid(1)}, {emit.Fault, 6, 0, 0},
	} {
		if seen[k] != 1 {
			t.Errorf("%+v: %d times", k, seen[k])
		}
	}
	if t.Failed() {
		t.Logf("%+v", events)
	}
}
