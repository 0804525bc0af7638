package engine

import (
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// launchCall is struct kz_launch_call.
type launchCall struct {
	fn                    uint64
	grid, block           [3]uint32
	shared                uint32
	stream, params, extra uint64
}

// fastCalls is struct kz_fast.
func fastCalls() *struct{ launch, wait, query, answer uintptr } {
	at := uintptr(FastPathCalls())
	return *(**struct{ launch, wait, query, answer uintptr })(unsafe.Pointer(&at))
}

// lane is a thread's tickets, and what a launch with one of them needs, in C's memory.
type lane struct {
	r           *rig
	tickets     uint64
	c           *launchCall
	list        []uint64 // addresses of parameters, then their values
	put, synced *atomic.Uint64
	quiet       *atomic.Uint64
}

const laneContext = 77

func newLane(r *rig, params ...uint64) *lane {
	_, c := r.alloc(8)
	at, list := r.alloc(uint64(2*len(params) + 1))
	words, free := Counters(3)
	r.Cleanup(free)
	l := &lane{r: r, c: (*launchCall)(unsafe.Pointer(&c[0])), list: list, put: &words[0], synced: &words[1], quiet: &words[2]}
	for i, p := range params {
		list[i], list[len(params)+i] = at+uint64(8*(len(params)+i)), p
	}
	*l.c = launchCall{fn: 5, grid: [3]uint32{1, 1, 1}, block: [3]uint32{32, 1, 1}, stream: 9, params: at}
	return l
}

func (l *lane) key() TicketKey {
	return TicketKey{Generation: Generation(), Func: 5, Stream: 9, Context: laneContext}
}

// ticket lets C launch k in q.
func (l *lane) ticket(q *Queue, k *Kernel) {
	p := Ticket{TicketKey: l.key(), Block: [3]uint32{32, 1, 1}, MaxGrid: [3]uint32{100, 2, 2}, MaxShared: 1000, Put: l.put}
	for i := range (len(l.list) - 1) / 2 {
		p.Params, p.ParamBytes = append(p.Params, [2]uint16{uint16(8 * i), 8}), 8*i+8
	}
	q.Ticket(&l.tickets, k, &p)
	q.TicketWait(&l.tickets, &Wait{TicketKey: l.key(), Put: l.put, Synced: l.synced, Quiet: [2]*atomic.Uint64{nil, l.quiet}})
}

func (l *lane) launch() bool { return l.launchIn(laneContext) }

func (l *lane) launchIn(context uintptr) bool {
	fn := fastCalls().launch
	if l.tickets == 0 { // the door looks
		return false
	}
	r, _, _ := purego.SyscallN(uintptr(fn), uintptr(l.tickets), context, uintptr(unsafe.Pointer(l.c)))
	return r&1 != 0
}

func (l *lane) wait() bool {
	fn := fastCalls().wait
	r, _, _ := purego.SyscallN(uintptr(fn), uintptr(l.tickets), laneContext, 9)
	return r&1 != 0
}

func (l *lane) query() bool {
	r, _, _ := purego.SyscallN(fastCalls().query, uintptr(l.tickets), laneContext, 9)
	return r&1 != 0
}

func (l *lane) answer(context uintptr, ask Ask, of uint64, to ...uint64) bool {
	_, at := l.r.alloc(2)
	copy(at, to)
	r, _, _ := purego.SyscallN(fastCalls().answer, uintptr(l.tickets), context, uintptr(ask), uintptr(of), uintptr(unsafe.Pointer(&at[0])))
	return r&1 != 0
}

// An answer is given to the same question in the same context, until something changes, and not to an address that is bad.
func TestFastAnswer(t *testing.T) {
	r := newRig(t, 1)
	l := newLane(r)
	at, v := r.alloc(2)
	Answered(&l.tickets, TicketKey{Generation: Generation(), Context: laneContext}, AskPrimary, 3, [2]uint32{40, 41})
	if !l.answer(laneContext, AskPrimary, 3, at, at+8) || v[0] != 40 || v[1] != 41 {
		t.Errorf("answered %v", v)
	}
	if !l.answer(laneContext, AskPrimary, 3, at) || !l.answer(laneContext, AskPrimary, 3) {
		t.Error("not answered where less is asked for")
	}
	if l.answer(laneContext+1, AskPrimary, 3, at) || l.answer(laneContext, AskPrimary, 4, at) || l.answer(laneContext, AskDevice, 3, at) {
		t.Error("another question has the same answer")
	}
	if l.answer(laneContext, AskPrimary, 3, 24) || l.answer(laneContext, AskPrimary, 3, 1<<63, at) {
		t.Error("written to a bad address")
	}
	Changed()
	if l.answer(laneContext, AskPrimary, 3, at) {
		t.Error("an answer outlives a change")
	}
}

// Whether a stream is done is said without Go where it is.
func TestFastQuery(t *testing.T) {
	r := newRig(t, 2)
	d, q := r.domain()
	l := newLane(r)
	l.ticket(q, kernel(t, kEmpty))
	if !l.query() {
		t.Error("an idle queue is not done")
	}
	stop := make(chan struct{})
	r.ok(q.Task(func() error { <-stop; return nil }, 0))
	if !l.launch() || l.query() {
		t.Error("done before it began")
	}
	close(stop)
	r.ok(q.Sync())
	if !l.query() || l.synced.Load() != 1 {
		t.Errorf("%d is done", l.synced.Load())
	}
	r.ok(q.Launch(kernel(t, kNullRead), grid(1)))
	l.put.Add(1)
	if err := q.Sync(); err == nil || l.query() {
		t.Error("the fault is not Go's to tell", err)
	}
	q.Close()
	d.Close()
}

func TestFastPath(t *testing.T) {
	r := newRig(t, 2)
	a, v := r.alloc(1)
	l := newLane(r, a, 1)
	k := kernel(t, kAffine)
	l.ticket(r.q, k)
	l.c.grid[0] = 100
	for range 1000 {
		l.list[3] = 1
		l.c.grid[0] = 1
		if !l.launch() {
			t.Fatal("refused")
		}
	}
	if l.put.Load() != 1000 {
		t.Errorf("%d launches counted", l.put.Load())
	}
	if !l.wait() || l.synced.Load() != 1000 || !l.wait() {
		t.Errorf("waited for %d", l.synced.Load())
	}
	want := uint64(0)
	for range 1000 {
		want = want*3 + 1
	}
	if v[0] != want {
		t.Errorf("%d, want %d", v[0], want)
	}
	l.quiet.Store(1)
	if l.wait() {
		t.Error("waited although Go has more to do")
	}
	l.quiet.Store(0)
	good := *l.c
	for name, change := range map[string]func(){
		"grid":        func() { l.c.grid[0] = 101 },
		"empty grid":  func() { l.c.grid[1] = 0 },
		"block":       func() { l.c.block[0] = 64 },
		"shared":      func() { l.c.shared = 1001 },
		"stream":      func() { l.c.stream = 1 },
		"function":    func() { l.c.fn = 6 },
		"extra":       func() { l.c.extra = l.c.params },
		"no list":     func() { l.c.params = 0 },
		"bad list":    func() { l.c.params = 16 },
		"far list":    func() { l.c.params = 1 << 63 },
		"bad address": func() { l.list[1] = 24 },
	} {
		at := l.list[1]
		change()
		if l.launch() {
			t.Errorf("%s: launched", name)
		}
		*l.c, l.list[1] = good, at
	}
	if l.launchIn(laneContext + 1) {
		t.Error("launched in another context")
	}
	if l.put.Load() != 1000 || v[0] != want || !l.launch() {
		t.Error("something was launched, or nothing any more")
	}
	Changed()
	if l.launch() || l.wait() {
		t.Error("a ticket outlives a change")
	}
}

// A poisoned domain, retired code, a task that only Go can run and a full queue are for Go to answer.
func TestFastPathLeavesToGo(t *testing.T) {
	r := newRig(t, 2)
	d, q := r.domain()
	l := newLane(r)
	k := kernel(t, kEmpty)
	l.ticket(q, k)
	stop := make(chan struct{})
	r.ok(q.Task(func() error { <-stop; return nil }, TaskInline))
	if !l.launch() || l.wait() {
		t.Error("waited for a task")
	}
	n := 0
	for l.launch() {
		n++
	}
	if n < 1000 || n > 1<<17 {
		t.Errorf("%d launches fill a queue", n)
	}
	close(stop)
	r.ok(q.Sync())
	if !l.launch() || !l.wait() {
		t.Error("the queue stays full")
	}
	r.ok(q.Launch(kernel(t, kNullRead), grid(1)))
	l.put.Add(1)
	if l.wait() || l.launch() {
		t.Error("the fault is not Go's to tell")
	}
	q.Close()
	d.Close()
	l = newLane(r)
	gone := kernel(t, kEmpty)
	l.ticket(r.q, gone)
	if !l.launch() {
		t.Error("refused")
	}
	r.ok(r.q.Sync())
	gone.retire()
	if l.launch() {
		t.Error("retired code is launched")
	}
}

// When Changed returns, no call with an older ticket is under way: what it named may go.
func TestFastPathChanged(t *testing.T) {
	r := newRig(t, 2)
	var open atomic.Bool
	var wg sync.WaitGroup
	var mu sync.RWMutex // held by who gives tickets, as the driver's locks are
	k := kernel(t, kEmpty)
	var stop atomic.Bool
	for range 3 {
		l := newLane(r)
		wg.Go(func() {
			for !stop.Load() {
				mu.RLock()
				if open.Load() {
					l.ticket(r.q, k)
				}
				mu.RUnlock()
				for l.launch() {
					if l.put.Load()%64 == 0 {
						l.wait()
					}
				}
			}
		})
	}
	for range 300 {
		mu.Lock()
		open.Store(true)
		mu.Unlock()
		r.ok(r.q.Sync())
		mu.Lock()
		open.Store(false)
		Changed()
		r.ok(r.q.Sync())
		if done, err := r.q.Done(); !done || err != nil {
			t.Error("a launch came after Changed", err)
		}
		mu.Unlock()
	}
	stop.Store(true)
	wg.Wait()
}
