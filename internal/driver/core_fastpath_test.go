package driver

import (
	"sync/atomic"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/spec/cu"
)

// fastDevice counts changes, and keeps the tickets of the current generation.
type fastDevice struct {
	*fakeDevice
	gen     atomic.Uint64
	tickets map[backend.TicketKey]bool
	answers map[question]answer
	calls   []backend.LibraryCall
}

type question struct {
	ask backend.Ask
	of  uint64
}

type answer struct {
	gen, context uint64
	value        [2]uint32
}

type fastQueue struct {
	*fakeQueue
	d *fastDevice
}

func (d *fastDevice) Generation() uint64 { return d.gen.Load() }
func (d *fastDevice) Changed()           { d.gen.Add(1) }
func (d *fastDevice) Counters(n int) ([]atomic.Uint64, func()) {
	return make([]atomic.Uint64, n), func() {}
}
func (d *fastDevice) Answered(key backend.TicketKey, ask backend.Ask, of uint64, value [2]uint32) {
	d.answers[question{ask, of}] = answer{key.Generation, key.Context, value}
}
func (d *fastDevice) NewQueue(p int) (backend.Queue, error) {
	q, err := d.fakeDevice.NewQueue(p)
	return &fastQueue{q.(*fakeQueue), d}, err
}
func (q *fastQueue) TicketLaunch(key backend.TicketKey, _ backend.Kernel, _ *backend.Launch, _ backend.LaunchLimits, _ *atomic.Uint64) {
	q.d.tickets[key] = true
}
func (q *fastQueue) TicketWait(key backend.TicketKey, _, _ *atomic.Uint64, _ [2]*atomic.Uint64) {
	q.d.tickets[key] = true
}

func (q *fastQueue) TicketLibrary(key backend.TicketKey, _ backend.Kernel, _ *backend.Launch, c *backend.LibraryCall, _ *atomic.Uint64) {
	q.d.tickets[key] = true
	q.d.calls = append(q.d.calls, *c)
}

// live counts the tickets that are good.
func (d *fastDevice) live() int {
	n := 0
	for key := range d.tickets {
		if key.Generation == d.gen.Load() {
			n++
		}
	}
	return n
}

func newFastPath(t *testing.T) (*Thread, *fastDevice, *cmem, cu.CUmodule) {
	t.Helper()
	b := newFake(1)
	d := &fastDevice{fakeDevice: b.devs[0].(*fakeDevice), tickets: map[backend.TicketKey]bool{}, answers: map[question]answer{}}
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

// TestFastPathTickets: which calls get tickets, and what ends them.
func TestFastPathTickets(t *testing.T) {
	th, d, c, m := newFastPath(t)
	e := mustFn(t, th, m, "empty")
	launch := func(s cu.CUstream) {
		t.Helper()
		want(t, "launch", th.LaunchKernel(e, 1, 1, 1, 32, 1, 1, 0, s, 0, 0), 0)
	}
	// gets makes the calls twice, which is when a ticket is worth it, and says how many there are then.
	gets := func(what string, tickets int, calls ...func()) {
		t.Helper()
		for range 2 {
			for _, f := range calls {
				f()
			}
		}
		if n := d.live(); n != tickets {
			t.Errorf("%s: %d tickets, want %d", what, n, tickets)
		}
	}
	ends := func(what string, f func() error) {
		t.Helper()
		if d.live() == 0 {
			t.Errorf("%s: there is no ticket to end", what)
		}
		want(t, what, f(), 0)
		if n := d.live(); n != 0 {
			t.Errorf("%s: %d tickets stay", what, n)
		}
	}
	launchOn := func(s cu.CUstream) func() { return func() { launch(s) } }
	waitOn := func(s cu.CUstream) func() { return func() { want(t, "wait", th.StreamSynchronize(s), 0) } }
	waitAll := func() { want(t, "wait", th.CtxSynchronize(), 0) }

	launch(0)
	if d.live() != 0 {
		t.Error("one launch gets a ticket")
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
		t.Error("an event ends a ticket")
	}
	ends("a fault", func() error {
		bad := mustFn(t, th, m, "bad")
		stderrOf(t, func() {
			want(t, "bad", th.LaunchKernel(bad, 1, 1, 1, 1, 1, 1, 0, bl, 0, 0), 0)
			want(t, "sync", th.StreamSynchronize(bl), 700)
		})
		return nil
	})
	th, d, _, m = newFastPath(t)
	e = mustFn(t, th, m, "empty")
	gets("legacy", 1, launchOn(0))
	ends("reset", func() error { return th.DevicePrimaryCtxReset(0) })
}

// TestFastPathAnswers: which questions C may answer, and what ends the answers.
func TestFastPathAnswers(t *testing.T) {
	th, d, c, _ := newFastPath(t)
	nb, err := th.StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING))
	want(t, "stream", err, 0)
	ctx, err := th.CtxGetCurrent()
	want(t, "current", err, 0)
	capturing := func() error { _, err := th.StreamIsCapturing(nb); return err }
	primary := func() error { _, _, err := th.DevicePrimaryCtxGetState(0); return err }
	asks := map[question]func() error{
		{backend.AskCapture, uint64(nb)}: capturing,
		{backend.AskPrimary, 0}:          primary,
		{backend.AskDevice, 0}:           func() error { th.AnsweredDevice(Generation(), 0); return nil },
		{backend.AskChosen, 0}:           func() error { th.AnsweredChosen(Generation(), 0); return nil },
	}
	live := func() int {
		n := 0
		for _, a := range d.answers {
			if a.gen == d.gen.Load() && a.context == uint64(ctx) {
				n++
			}
		}
		return n
	}
	ask := func(what string) {
		t.Helper()
		for range 2 {
			for q, f := range asks {
				if err := f(); err != nil {
					t.Errorf("%s, %v: %v", what, q, err)
				}
			}
		}
	}
	change := func(what string, left int, f func() error) {
		t.Helper()
		ask("before " + what)
		if n := live(); n != len(asks) {
			t.Errorf("before %s: %d answers of %d", what, n, len(asks))
		}
		want(t, what, f(), 0)
		if n := live(); n != left {
			t.Errorf("%s: %d answers stay, want %d", what, n, left)
		}
	}
	change("nothing", len(asks), func() error { return nil })
	change("flags", 0, func() error { return th.DevicePrimaryCtxSetFlags(0, uint32(cu.CU_CTX_SCHED_YIELD)) })
	ask("with flags")
	if a := d.answers[question{backend.AskPrimary, 0}]; a.value != [2]uint32{uint32(cu.CU_CTX_SCHED_YIELD), 1} {
		t.Errorf("the primary context's state is %v", a.value)
	}
	change("capture", 0, func() error { return th.StreamBeginCapture(nb, cu.CU_STREAM_CAPTURE_MODE_RELAXED) })
	ask("while a stream is captured")
	if n := live(); n != 0 {
		t.Errorf("%d answers while a stream is captured", n)
	}
	want(t, "end", th.StreamEndCapture(nb, c.words(0)), 0)
	want(t, "no such stream", func() error { _, err := th.StreamIsCapturing(12345); return err }(), 400)
	if _, ok := d.answers[question{backend.AskCapture, 12345}]; ok {
		t.Error("an error is remembered")
	}
	change("stream destroyed", 0, func() error { return th.StreamDestroy(nb) })
	delete(asks, question{backend.AskCapture, uint64(nb)})
	change("reset", 0, func() error { return th.DevicePrimaryCtxReset(0) })
	ask("asleep")
	if a := d.answers[question{backend.AskPrimary, 0}]; a.gen == d.gen.Load() && a.value[1] != 0 {
		t.Error("a primary context that was reset is alive")
	}
	change("awake again", 0, func() error { _, err := th.DevicePrimaryCtxRetain(0); return err })
	ask("awake")
	if a := d.answers[question{backend.AskPrimary, 0}]; a.gen != d.gen.Load() || a.value[1] != 1 {
		t.Error("a primary context that woke is asleep")
	}
	alone := *th
	alone.Depth = 0
	d.answers = map[question]answer{}
	alone.AnsweredDevice(Generation(), 0)
	alone.AnsweredDevice(Generation(), 0)
	if len(d.answers) != 0 {
		t.Error("an answer without a context")
	}
}
