package driver

import (
	"sync/atomic"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/spec/cu"
)

// expressDevice counts changes, and keeps the passes of the current generation.
type expressDevice struct {
	*fakeDevice
	gen    atomic.Uint64
	passes map[backend.PassKey]bool
}

type expressQueue struct {
	*fakeQueue
	d *expressDevice
}

func (d *expressDevice) Generation() uint64 { return d.gen.Load() }
func (d *expressDevice) Changed()           { d.gen.Add(1) }
func (d *expressDevice) Counters(n int) ([]atomic.Uint64, func()) {
	return make([]atomic.Uint64, n), func() {}
}
func (d *expressDevice) NewQueue(p int) (backend.Queue, error) {
	q, err := d.fakeDevice.NewQueue(p)
	return &expressQueue{q.(*fakeQueue), d}, err
}
func (q *expressQueue) PassLaunch(key backend.PassKey, _ backend.Kernel, _ *backend.Launch, _ backend.LaunchLimits, _ *atomic.Uint64) {
	q.d.passes[key] = true
}
func (q *expressQueue) PassWait(key backend.PassKey, _, _ *atomic.Uint64, _ [2]*atomic.Uint64) {
	q.d.passes[key] = true
}

// live counts the passes that are good.
func (d *expressDevice) live() int {
	n := 0
	for key := range d.passes {
		if key.Generation == d.gen.Load() {
			n++
		}
	}
	return n
}

func newExpress(t *testing.T) (*Thread, *expressDevice, *cmem, cu.CUmodule) {
	t.Helper()
	b := newFake(1)
	d := &expressDevice{fakeDevice: b.devs[0].(*fakeDevice), passes: map[backend.PassKey]bool{}}
	d.gen.Store(1)
	b.devs[0] = d
	Start([]backend.Backend{b}, func(fn, a, bb, c, _ uint64) uint64 { return fakeCall(fn, a, bb, c) })
	th, c := &Thread{ID: threadIDs.Add(1)}, &cmem{}
	want(t, "init", th.Init(0), 0)
	ctx, err := th.DevicePrimaryCtxRetain(0)
	want(t, "retain", err, 0)
	want(t, "set", th.CtxSetCurrent(ctx), 0)
	m, err := th.ModuleLoadData(c.str(fakePTX))
	want(t, "load", err, 0)
	return th, d, c, m
}

// TestExpressPasses: which calls get passes, and what ends them.
func TestExpressPasses(t *testing.T) {
	th, d, c, m := newExpress(t)
	e := mustFn(t, th, m, "empty")
	launch := func(s cu.CUstream) {
		t.Helper()
		want(t, "launch", th.LaunchKernel(e, 1, 1, 1, 32, 1, 1, 0, s, 0, 0), 0)
	}
	// gets makes the calls twice, which is when a pass is worth it, and says how many there are then.
	gets := func(what string, passes int, calls ...func()) {
		t.Helper()
		for range 2 {
			for _, f := range calls {
				f()
			}
		}
		if n := d.live(); n != passes {
			t.Errorf("%s: %d passes, want %d", what, n, passes)
		}
	}
	ends := func(what string, f func() error) {
		t.Helper()
		if d.live() == 0 {
			t.Errorf("%s: there is no pass to end", what)
		}
		want(t, what, f(), 0)
		if n := d.live(); n != 0 {
			t.Errorf("%s: %d passes stay", what, n)
		}
	}
	launchOn := func(s cu.CUstream) func() { return func() { launch(s) } }
	waitOn := func(s cu.CUstream) func() { return func() { want(t, "wait", th.StreamSynchronize(s), 0) } }
	waitAll := func() { want(t, "wait", th.CtxSynchronize(), 0) }

	launch(0)
	if d.live() != 0 {
		t.Error("one launch gets a pass")
	}
	gets("legacy", 3, launchOn(0), waitOn(0), waitAll)
	var nb, bl cu.CUstream
	ends("a stream", func() (err error) { nb, err = th.StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING)); return err })
	gets("not the only stream", 4, launchOn(0), waitOn(0), waitAll, launchOn(nb), waitOn(nb))
	ends("a blocking stream", func() (err error) { bl, err = th.StreamCreate(0); return err })
	gets("ordered with the legacy stream", 4, launchOn(bl), waitOn(bl), launchOn(nb), waitOn(nb), waitAll)
	ends("the legacy stream", func() error { launch(0); return nil })
	gets("legacy, not alone", 0, launchOn(0), waitOn(0))
	gets("blocking", 1, launchOn(bl))
	ends("waiting for the legacy stream", func() error { return th.StreamSynchronize(0) })
	gets("in turn", 0, launchOn(bl), launchOn(0))
	launch(cu.CU_STREAM_PER_THREAD) // the first makes the stream
	gets("per thread", 1, launchOn(cu.CU_STREAM_PER_THREAD))
	ends("capture", func() error { return th.StreamBeginCapture(nb, cu.CU_STREAM_CAPTURE_MODE_RELAXED) })
	gets("captured", 0, launchOn(nb), launchOn(bl))
	want(t, "end", th.StreamEndCapture(nb, c.words(0)), 0)
	gets("after a capture", 1, launchOn(nb))
	ends("an attribute", func() error { return th.FuncSetAttribute(e, 8, 100) })
	gets("non-blocking", 1, launchOn(nb))
	ends("stream destroyed", func() error { return th.StreamDestroy(nb) })
	gets("blocking", 1, launchOn(bl))
	m2, err := th.ModuleLoadData(c.str(fakePTX))
	want(t, "load", err, 0)
	ends("unload", func() error { return th.ModuleUnload(m2) })
	gets("blocking", 1, launchOn(bl))
	want(t, "event", func() error {
		ev, err := th.EventCreate(0)
		if err == nil {
			err = th.EventRecord(ev, bl)
		}
		return err
	}(), 0)
	if d.live() != 1 {
		t.Error("an event ends a pass")
	}
	ends("a fault", func() error {
		bad := mustFn(t, th, m, "bad")
		stderrOf(t, func() {
			want(t, "bad", th.LaunchKernel(bad, 1, 1, 1, 1, 1, 1, 0, bl, 0, 0), 0)
			want(t, "sync", th.StreamSynchronize(bl), 700)
		})
		return nil
	})
	th, d, _, m = newExpress(t)
	e = mustFn(t, th, m, "empty")
	gets("legacy", 1, launchOn(0))
	ends("reset", func() error { return th.DevicePrimaryCtxReset(0) })
}
