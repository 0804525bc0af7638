package engine

import (
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// fastest is more turns of kBusy's loop than any processor does in a nanosecond.
const fastest = 6

// The time of short kernels is taken now and then and stands for all of their runs; that of long ones always is, of those that were short
// too.
func TestKernelTimes(t *testing.T) {
	r := newRig(t, 1)
	k := kernel(t, kBusy)
	words, free := Counters(1)
	defer free()
	CountKernels(uintptr(unsafe.Pointer(&words[0])))
	defer CountKernels(0)
	began := time.Now()
	changes := 0
	// run says how much longer kernels are said to have run, and how long they did at least, in nanoseconds.
	run := func(launches int, turns uint64) (said, least uint64) {
		from := words[0].Load()
		for last := from; launches > 0; launches-- {
			r.ok(r.q.Launch(k, grid(1, turns)))
			r.ok(r.q.Sync())
			if now := words[0].Load(); now != last {
				changes++
				last = now
			}
			least += turns / fastest
		}
		return words[0].Load() - from, least
	}

	const short = 3200
	fewest := short
	var said, least uint64
	for range 5 { // a busy machine makes short kernels long ones, after which times are taken more often
		changes = 0
		said, least = run(short, 5000)
		if said < least*(short-16)/short {
			t.Errorf("short kernels: %d ns, want at least %d", said, least)
		}
		if fewest = min(fewest, changes); fewest <= short/4 {
			break
		}
	}
	if fewest < short/40 || fewest > short/2 {
		t.Errorf("the time of %d of %d runs was taken", fewest, short)
	}
	if said, least = run(40, 1_000_000); said < least/2 {
		t.Errorf("kernels that were short: %d ns, want at least %d", said, least/2)
	}
	if wall := time.Since(began); words[0].Load() > 2*uint64(wall) {
		t.Errorf("%d ns in %v", words[0].Load(), wall)
	}
}

// What threads began is counted by each of them, and still is when they are gone.
func TestKernelsCounted(t *testing.T) {
	r := newRig(t, 3)
	k := kernel(t, kCount)
	a, v := r.alloc(1)
	from := r.e.Stats().Kernels
	const queues, launches = 4, 500
	for range queues {
		q := r.queue(r.d)
		for range launches {
			r.ok(q.Launch(k, grid(1, a)))
		}
		r.ok(q.Sync())
		r.ok(q.Close())
	}
	if got := r.e.Stats().Kernels - from; got != queues*launches || atomic.LoadUint64(&v[0]) != got {
		t.Errorf("%d launches counted, %d ran, want %d", got, v[0], queues*launches)
	}
}
