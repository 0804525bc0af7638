package driver

import (
	"runtime"
	"testing"
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// collected runs the collector until a device has n programs.
func collected(dev *fakeDevice, n int32) bool {
	for range 50 {
		if dev.progs.Load() == n {
			return true
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	return dev.progs.Load() == n
}

// TestDiscard: a module that its library discards goes when no graph has a kernel of it, and its handles at once.
func TestDiscard(t *testing.T) {
	th, c, _, dev := withPrimary(t)
	before := dev.progs.Load()
	load := func() (cu.CUmodule, *digits) {
		m, err := th.LoadText("test", fakePTX)
		want(t, "load", err, 0)
		return m, newDigits(t, th, c, m)
	}
	m, d := load()
	want(t, "launch", d.launch(1, 0), 0)
	Discard(m)
	if !collected(dev, before) {
		t.Fatalf("%d programs, %d before", dev.progs.Load(), before)
	}
	want(t, "launch of what is gone", d.launch(2, 0), 400)
	Discard(m) // again: nothing

	m, d = load()
	s, _ := th.StreamCreate(1)
	want(t, "begin", th.StreamBeginCapture(s, 0), 0)
	want(t, "launch", d.launch(3, s), 0)
	g, err := endCapture(th, c, s)
	want(t, "end", err, 0)
	Discard(m)
	if collected(dev, before) {
		t.Fatal("unloaded under a graph")
	}
	x := mustInstantiate(t, th, g)
	out := c.words(0)
	want(t, "nodes", th.GraphGetNodes(g, out, c.words(1)), 0)
	node := hostmem.Load[cu.CUgraphNode](out)
	want(t, "parameters of what graphs have", th.GraphKernelNodeSetParams(node, d.params(4)), 0)
	want(t, "destroy", th.GraphDestroy(g), 0)
	if collected(dev, before) {
		t.Fatal("unloaded under an executable")
	}
	want(t, "graph", th.GraphLaunch(x, s), 0)
	want(t, "sync", th.StreamSynchronize(s), 0)
	if v := d.take(); v != 3 {
		t.Errorf("the graph left %d", v)
	}
	want(t, "destroy", th.GraphExecDestroy(x), 0)
	if !collected(dev, before) {
		t.Fatalf("%d programs after the graph, %d before", dev.progs.Load(), before)
	}
	want(t, "parameters", func() error { _, err := th.kernelNode(d.params(1)); return err }(), 400)

	m, d = load()
	g, _ = th.GraphCreate(0)
	d.node(g, 5)
	Discard(m)
	want(t, "reset", th.DevicePrimaryCtxReset(0), 0)
	if n := dev.progs.Load(); n != 0 {
		t.Errorf("%d programs after a reset", n)
	}
	want(t, "destroy", th.GraphDestroy(g), 0)
	if !collected(dev, 0) {
		t.Error("unloaded twice")
	}
}
