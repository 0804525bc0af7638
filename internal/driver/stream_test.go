package driver

import (
	"sync"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

func TestStreamBasics(t *testing.T) {
	th, _, _, dev := withPrimary(t)
	_, err := th.StreamCreate(2)
	want(t, "flags 2", err, 1)
	for p, got := range map[int32]int32{-100: -5, -5: -5, -1: -1, 0: 0, 1: 0, 100: 0} {
		s, err := th.StreamCreateWithPriority(1, p)
		want(t, "create", err, 0)
		if v, _ := th.StreamGetPriority(s); v != got {
			t.Errorf("priority %d became %d", p, v)
		}
		want(t, "destroy", th.StreamDestroy(s), 0)
	}
	s, _ := th.StreamCreate(1)
	ctx, _ := th.CtxGetCurrent()
	ids := map[uint64]bool{}
	for h, flags := range map[cu.CUstream]uint32{0: 0, 1: 0, 2: 0, s: 1} {
		if f, err := th.StreamGetFlags(h); f != flags || err != nil {
			t.Errorf("flags of %#x: %d %v", h, f, err)
		}
		if c, err := th.StreamGetCtx(h); c != ctx || err != nil {
			t.Error(c, err)
		}
		id, _ := th.StreamGetId(h)
		ids[id] = true
		want(t, "query", th.StreamQuery(h), 0)
		want(t, "sync", th.StreamSynchronize(h), 0)
	}
	if len(ids) != 3 { // 0 and 1 are one stream
		t.Errorf("%d stream ids", len(ids))
	}
	for _, h := range []cu.CUstream{0, 1, 2, 3, 0x123456, 1 << 63} {
		want(t, "destroy", th.StreamDestroy(h), 400)
	}
	want(t, "destroy", th.StreamDestroy(s), 0)
	want(t, "stale", th.StreamSynchronize(s), 400)
	want(t, "destroy twice", th.StreamDestroy(s), 400)
	want(t, "junk", th.StreamSynchronize(0x123456), 400)
	m, _ := th.ModuleLoadData((&cmem{}).str(fakePTX))
	want(t, "foreign kind", th.StreamSynchronize(cu.CUstream(m)), 400)
	if n := dev.open.Load(); n != 2 { // legacy and per-thread
		t.Errorf("%d queues open", n)
	}
	ThreadEnded(th.ID)
	if n := dev.open.Load(); n != 1 {
		t.Errorf("%d queues open after the thread ended", n)
	}
}

func TestEvents(t *testing.T) {
	th, _, _, _ := withPrimary(t)
	for f, codes := range map[uint32]int{0: 0, 1: 0, 2: 0, 3: 0, 4: 1, 6: 0, 7: 0, 8: 1} {
		_, err := th.EventCreate(f)
		want(t, "create", err, codes)
	}
	s, _ := th.StreamCreate(1)
	a, _ := th.EventCreate(0)
	b, _ := th.EventCreate(0)
	n, _ := th.EventCreate(2)
	elapsed := func(x, y cu.CUevent) error { _, err := th.Elapsed(x, y); return err }
	want(t, "query unrecorded", th.EventQuery(a), 0)
	want(t, "sync unrecorded", th.EventSynchronize(a), 0)
	want(t, "elapsed unrecorded", elapsed(a, b), 400)
	want(t, "wait unrecorded", th.StreamWaitEvent(s, a, 0), 0)
	want(t, "wait external", th.StreamWaitEvent(s, a, 1), 401)
	want(t, "wait flags", th.StreamWaitEvent(s, a, 2), 1)
	want(t, "wait NULL", th.StreamWaitEvent(s, 0, 0), 400)
	want(t, "record", th.EventRecord(a, s), 0)
	want(t, "elapsed half", elapsed(a, b), 400)
	want(t, "record", th.EventRecord(b, s), 0)
	want(t, "sync", th.EventSynchronize(b), 0)
	want(t, "elapsed", elapsed(a, b), 0)
	if ms, _ := th.Elapsed(a, b); ms < 0 || ms > 1000 {
		t.Error(ms)
	}
	th.EventRecord(n, s)
	want(t, "elapsed untimed", elapsed(a, n), 400)
	want(t, "record external", th.EventRecordWithFlags(a, s, 1), 401)
	want(t, "record flags", th.EventRecordWithFlags(a, s, 2), 1)
	want(t, "record NULL", th.EventRecord(0, s), 400)
	want(t, "destroy", th.EventDestroy(a), 0)
	want(t, "stale", th.EventQuery(a), 400)
}

// spin puts a kernel into the stream that runs until open is called.
func spin(t *testing.T, th *Thread, m cu.CUmodule, s cu.CUstream) (open func()) {
	t.Helper()
	ch := make(chan struct{})
	gate.Store(&ch)
	want(t, "spin", th.LaunchKernel(mustFn(t, th, m, "spin"), 1, 1, 1, 1, 1, 1, 0, s, 0, 0), 0)
	return sync.OnceFunc(func() { close(ch) })
}

func TestBusyStream(t *testing.T) {
	th, _, m, _ := withPrimary(t)
	s, _ := th.StreamCreate(1)
	e, _ := th.EventCreate(0)
	open := spin(t, th, m, s)
	defer open()
	want(t, "query", th.StreamQuery(s), 600)
	want(t, "legacy query", th.StreamQuery(0), 0)
	th.EventRecord(e, s)
	want(t, "event", th.EventQuery(e), 600)
	_, err := th.Elapsed(e, e)
	want(t, "elapsed", err, 600)
	want(t, "destroy busy", th.StreamDestroy(s), 0)
	open()
	want(t, "event", th.EventSynchronize(e), 0)
	want(t, "sync", th.CtxSynchronize(), 0)
}

// TestLegacyOrder writes digits from several streams; the number tells the order.
func TestLegacyOrder(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	p, _ := th.MemAlloc(4)
	back := c.words(0)
	add := mustFn(t, th, m, "add")
	put := func(s cu.CUstream, n uint64) {
		t.Helper()
		want(t, "launch", th.LaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, s, c.params(uint64(p), n), 0), 0)
	}
	number := func() uint32 {
		t.Helper()
		want(t, "sync", th.CtxSynchronize(), 0)
		want(t, "back", th.MemcpyDtoH(back, p, 4), 0)
		want(t, "clear", th.MemsetD32(p, 0, 1), 0)
		want(t, "sync", th.CtxSynchronize(), 0) // a set does not wait, and non-blocking streams do not wait for it
		return hostmem.Load[uint32](back)
	}
	th.MemsetD32(p, 0, 1)
	a, _ := th.StreamCreate(0)
	b, _ := th.StreamCreate(0)

	// A blocked stream, then the legacy one, then another blocking stream, then the thread's own: strictly in this order.
	open := spin(t, th, m, a)
	put(a, 1)
	put(0, 2)
	put(b, 3)
	put(1, 4)
	put(2, 5)
	want(t, "legacy waits for blocking streams", th.StreamQuery(0), 600)
	open()
	if n := number(); n != 12345 {
		t.Errorf("order %d", n)
	}

	// A non-blocking stream waits for nobody.
	free, _ := th.StreamCreate(1)
	open = spin(t, th, m, a)
	put(free, 7)
	want(t, "non-blocking", th.StreamSynchronize(free), 0)
	put(0, 8)
	open()
	if n := number(); n != 78 {
		t.Errorf("order %d", n)
	}

	// What a thread that has ended had in its own stream still comes before later legacy work.
	open = spin(t, th, m, 2)
	put(2, 1)
	ThreadEnded(th.ID)
	put(0, 2)
	want(t, "legacy waits for a thread's last work", th.StreamQuery(0), 600)
	open()
	if n := number(); n != 12 {
		t.Errorf("order %d", n)
	}

	// An event carries the order to a non-blocking stream.
	e, _ := th.EventCreate(0)
	open = spin(t, th, m, a)
	put(a, 1)
	th.EventRecord(e, a)
	th.StreamWaitEvent(free, e, 0)
	put(free, 2)
	open()
	if n := number(); n != 12 {
		t.Errorf("order %d", n)
	}

	// A destroyed stream's work still counts for the legacy stream.
	open = spin(t, th, m, a)
	put(a, 1)
	th.StreamDestroy(a)
	put(0, 2)
	open()
	if n := number(); n != 12 {
		t.Errorf("order %d", n)
	}
}

func TestPerThreadDefault(t *testing.T) {
	th, _, m, _ := withPrimary(t)
	ctx, _ := th.CtxGetCurrent()
	other := &Thread{ID: threadIDs.Add(1), Flags: ThreadPerThread}
	other.CtxSetCurrent(ctx)
	mine, _ := th.StreamGetId(2)
	theirs, _ := other.StreamGetId(2)
	zero, _ := other.StreamGetId(0)
	if mine == theirs || zero != theirs {
		t.Error(mine, theirs, zero)
	}
	open := spin(t, other, m, 0)
	defer open()
	want(t, "theirs", other.StreamQuery(0), 600)
	want(t, "mine", th.StreamQuery(2), 0)
}

// TestPageableAsync overwrites the source after the call: the copy must have taken it, although the stream is busy.
func TestPageableAsync(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	p, _ := th.MemAlloc(4096)
	s, _ := th.StreamCreate(1)
	src, back := c.words(make([]uint64, 512)...), c.words(make([]uint64, 512)...)
	hostmem.Store(src, uint64(5))
	open := spin(t, th, m, s)
	want(t, "copy", th.MemcpyHtoDAsync(p, src, 4096, s), 0)
	hostmem.Store(src, uint64(9))
	open()
	want(t, "back", th.MemcpyDtoHAsync(back, p, 4096, s), 0) // to pageable memory: done when it returns
	if v := hostmem.Load[uint64](back); v != 5 {
		t.Errorf("the copy saw %d", v)
	}
	want(t, "sync", th.CtxSynchronize(), 0)
	cx := current.Load().devices[0].primary
	if len(cx.staging) != 0 {
		t.Error("a staging buffer is left")
	}
	want(t, "DtoD from pageable", th.MemcpyDtoDAsync(p, DevPtr(src), 64, s), 1)
	want(t, "memcpy async", th.MemcpyAsync(DevPtr(back), p, 64, s), 0)
	want(t, "0 bytes", th.MemcpyHtoDAsync(p, 0, 0, s), 0)
}

func TestHostCalls(t *testing.T) {
	th, _, _, _ := withPrimary(t)
	s, _ := th.StreamCreate(0)
	callMu.Lock()
	calls = nil
	callMu.Unlock()
	want(t, "host func", th.LaunchHostFunc(s, 77, 5), 0)
	want(t, "callback", th.StreamAddCallback(s, 88, 6, 0), 0)
	want(t, "callback flags", th.StreamAddCallback(s, 88, 6, 1), 1)
	want(t, "callback NULL", th.StreamAddCallback(s, 0, 6, 0), 1)
	want(t, "host func NULL", th.LaunchHostFunc(s, 0, 6), 1)
	want(t, "sync", th.StreamSynchronize(s), 0)
	callMu.Lock()
	defer callMu.Unlock()
	if len(calls) != 2 || calls[0] != [4]uint64{77, 5, 0, 0} || calls[1] != [4]uint64{88, uint64(s), 0, 6} {
		t.Error(calls)
	}
}

func TestStreamsOfTwoContexts(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	first, _ := th.CtxGetCurrent()
	e, _ := th.EventCreate(0)
	th.CtxCreate(0, 0)
	s, _ := th.StreamCreate(0)
	th.CtxSetCurrent(first)
	want(t, "sync", th.StreamSynchronize(s), 0)
	want(t, "record", th.EventRecord(e, s), 400)
	want(t, "wait", th.StreamWaitEvent(s, e, 0), 0)
	want(t, "launch", th.LaunchKernel(mustFn(t, th, m, "empty"), 1, 1, 1, 1, 1, 1, 0, s, 0, 0), 400)
	want(t, "destroy", th.StreamDestroy(s), 0)
	_ = c
}

// TestManyThreads has threads create, use and destroy everything at once; run it with -race.
func TestManyThreads(t *testing.T) {
	th, _, m, dev := withPrimary(t)
	ctx, _ := th.CtxGetCurrent()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			me := &Thread{ID: threadIDs.Add(1)}
			defer ThreadEnded(me.ID)
			mem := &cmem{}
			me.CtxSetCurrent(ctx)
			k, err := me.ModuleGetFunction(m, "k")
			if err != nil {
				t.Error(err)
				return
			}
			for i := range uint64(60) {
				p, err := me.MemAlloc(64)
				want(t, "alloc", err, 0)
				s, err := me.StreamCreate(uint32(i % 2))
				want(t, "stream", err, 0)
				e, _ := me.EventCreate(0)
				for j, h := range []cu.CUstream{s, 0, 2} {
					want(t, "launch", me.LaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, h, mem.params(uint64(p)+uint64(j)*4, i), 0), 0)
				}
				want(t, "record", me.EventRecord(e, s), 0)
				want(t, "wait", me.StreamWaitEvent(2, e, 0), 0)
				back := mem.words(0, 0)
				want(t, "sync", me.StreamSynchronize(2), 0)
				want(t, "copy", me.MemcpyDtoH(back, p, 12), 0)
				if got := hostmem.Load[[3]uint32](back); got != [3]uint32{uint32(i), uint32(i), uint32(i)} {
					t.Errorf("got %v, want %d", got, i)
				}
				want(t, "destroy", me.StreamDestroy(s), 0)
				want(t, "event", me.EventDestroy(e), 0)
				want(t, "free", me.MemFree(p), 0)
			}
		})
	}
	wg.Wait()
	want(t, "sync", th.CtxSynchronize(), 0)
	if n := dev.open.Load(); n != 1 {
		t.Errorf("%d queues open", n)
	}
	want(t, "release", th.DevicePrimaryCtxRelease(0), 0)
	if n := dev.open.Load() + dev.progs.Load(); n != 0 || dev.mem.used != 0 {
		t.Errorf("left behind: %d objects, %d bytes", n, dev.mem.used)
	}
}

// To wait for a context while other threads destroy streams of it is no error.
func TestSyncWhileStreamsEnd(t *testing.T) {
	th, _, _, _ := withPrimary(t)
	p, err := th.MemAlloc(64)
	want(t, "alloc", err, 0)
	var wg sync.WaitGroup
	for range 8 {
		other := *th
		wg.Go(func() {
			for range 500 {
				s, err := other.StreamCreate(1)
				want(t, "create", err, 0)
				want(t, "memset", other.MemsetD32Async(p, 0, 1, s), 0)
				want(t, "destroy", other.StreamDestroy(s), 0)
				want(t, "context", other.CtxSynchronize(), 0)
			}
		})
	}
	wg.Wait()
}

// TestStreamOfAnEarlierLife: a thread may have looked its stream up just before another resets the primary context; what it puts
// in then, after the context woke again, is refused, and nothing stays locked.
func TestStreamOfAnEarlierLife(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	p, _ := th.MemAlloc(4)
	put := func(s cu.CUstream) {
		t.Helper()
		want(t, "launch", th.LaunchKernel(mustFn(t, th, m, "add"), 1, 1, 1, 1, 1, 1, 0, s, c.params(uint64(p), 1), 0), 0)
	}
	put(cu.CU_STREAM_LEGACY)
	put(cu.CU_STREAM_PER_THREAD) // has seen the legacy stream's work
	st, err := th.stream(cu.CU_STREAM_PER_THREAD)
	want(t, "stream", err, 0)
	want(t, "reset", th.DevicePrimaryCtxReset(0), 0)
	if _, err := th.DevicePrimaryCtxRetain(0); err != nil {
		t.Fatal(err)
	}
	if err := st.enqueue(func(q backend.Queue) error { return q.Host(func() {}) }); err == nil {
		t.Error("the stream of an ended life takes work")
	}
	m, err = th.ModuleLoadData(c.str(fakePTX))
	want(t, "load", err, 0)
	p, _ = th.MemAlloc(4)
	put(cu.CU_STREAM_LEGACY)
	put(cu.CU_STREAM_PER_THREAD)
	want(t, "sync", th.CtxSynchronize(), 0)
}
