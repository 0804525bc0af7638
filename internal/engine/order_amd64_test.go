package engine

import (
	"sync/atomic"
	"testing"
	"time"
)

// Two streams without an order: what was put in first runs first where both could run, as on a GPU that has nothing else to do.

// busy has the only worker of a rig run a kernel until release is called, on a queue of its own.
func (r *rig) busy() (q *Queue, release func()) {
	a, v := r.alloc(1)
	q = r.queue(r.d)
	n := r.e.Stats().Kernels
	r.ok(q.Launch(kernel(r, kSpin), grid(1, a)))
	for r.e.Stats().Kernels == n {
		time.Sleep(time.Millisecond)
	}
	return q, func() { atomic.StoreUint64(&v[0], 1) }
}

// short runs k until it is known to be short: any run of a busy machine may be taken off its processor.
func (r *rig) short(k *Kernel, params ...uint64) {
	for range 20 {
		r.ok(r.q.Launch(k, grid(1, params...)))
		r.ok(r.q.Sync())
	}
}

// apart is longer than two calls that are made at once are apart.
const apart = 50 * time.Microsecond

// A thread that waits for a queue runs older short work of others first.
func TestOrderWaiting(t *testing.T) {
	r := newRig(t, 1)
	k := kernel(t, kAffine)
	a, v := r.alloc(2)
	r.short(k, a+8, 1)
	held, release := r.busy()
	older, newer := r.queue(r.d), r.queue(r.d)
	want := uint64(0)
	for i := range uint64(200) {
		r.ok(older.Launch(k, grid(1, a, 2*i)))
		time.Sleep(apart)
		r.ok(newer.Launch(k, grid(1, a, 2*i+1)))
		r.ok(newer.Sync())
		if want = (want*3+2*i)*3 + 2*i + 1; v[0] != want {
			t.Fatalf("round %d: %d, want %d", i, v[0], want)
		}
	}
	release()
	for _, q := range []*Queue{held, older, newer} {
		r.ok(q.Close())
	}
}

// A first run that was long, as one that waits for the pages of its code, does not make a kernel long for good.
func TestOrderFirstRunLong(t *testing.T) {
	r := newRig(t, 1)
	first, k := kernel(t, kBusy), kernel(t, kAffine)
	a, _ := r.alloc(1)
	r.ok(r.q.Launch(first, grid(1, 1<<24)))
	r.ok(r.q.Sync())
	r.short(first, 1)
	r.short(k, a, 1)
	held, release := r.busy()
	older, newer := r.queue(r.d), r.queue(r.d)
	r.ok(older.Launch(first, grid(1, 1)))
	time.Sleep(apart)
	r.ok(newer.Launch(k, grid(1, a, 1)))
	r.ok(newer.Sync())
	if done, err := older.Done(); !done || err != nil {
		t.Errorf("the older work is not done: %v", err)
	}
	release()
	for _, q := range []*Queue{held, older, newer} {
		r.ok(q.Close())
	}
}

// It does not begin what may not end before it goes on itself: work that never ran, and work behind short work.
func TestOrderWaitingForProgram(t *testing.T) {
	r := newRig(t, 1)
	k, spin := kernel(t, kAffine), kernel(t, kSpin)
	a, v := r.alloc(3)
	r.short(k, a+8, 1)
	held, release := r.busy()
	never, behind, newer := r.queue(r.d), r.queue(r.d), r.queue(r.d)
	r.ok(never.Launch(spin, grid(1, a+16)))
	r.ok(behind.Launch(k, grid(1, a, 4)))
	r.ok(behind.Launch(spin, grid(1, a+16)))
	time.Sleep(apart)
	r.ok(newer.Launch(k, grid(1, a, 5)))
	r.ok(newer.Sync())
	if v[0] != 4*3+5 {
		t.Errorf("got %d, want %d", v[0], 4*3+5)
	}
	release()
	atomic.StoreUint64(&v[2], 1)
	for _, q := range []*Queue{held, never, behind, newer} {
		r.ok(q.Close())
	}
}

// A worker lets older work of another queue pass before it goes on with its own.
func TestOrderWorker(t *testing.T) {
	r := newRig(t, 1)
	k := kernel(t, kAffine)
	a, v := r.alloc(1)
	for i := range uint64(20) {
		v[0] = 0
		newer, release := r.busy()
		older := r.queue(r.d)
		r.ok(older.Launch(k, grid(1, a, 1)))
		time.Sleep(apart)
		r.ok(newer.Launch(k, grid(1, a, 2))) // behind what the worker is at
		release()
		for _, q := range []*Queue{newer, older} {
			for done := false; !done; done, _ = q.Done() {
				time.Sleep(time.Millisecond)
			}
			r.ok(q.Close())
		}
		if want := uint64(1*3 + 2); v[0] != want {
			t.Fatalf("round %d: got %d, want %d", i, v[0], want)
		}
	}
}

// Small work of one stream does not starve while another has more than the only worker can do.
func TestOrderStress(t *testing.T) {
	r := newRig(t, 1)
	k, busy := kernel(t, kAffine), kernel(t, kBusy)
	a, v := r.alloc(2)
	r.short(k, a+8, 1)
	stop, ended := make(chan bool), make(chan error)
	go func() { // a stream that is never empty
		q := r.queue(r.d)
		for n := 0; ; n++ {
			select {
			case <-stop:
				ended <- q.Close()
				return
			default:
			}
			if err := q.Launch(busy, grid(2, 50000)); err != nil {
				ended <- err
				return
			}
			if n%64 == 63 {
				if err := q.Sync(); err != nil {
					ended <- err
					return
				}
			}
		}
	}()
	older, newer := r.queue(r.d), r.queue(r.d)
	want, wrong := uint64(0), 0
	const rounds = 500
	for i := range uint64(rounds) {
		r.ok(older.Launch(k, grid(1, a, 2*i)))
		time.Sleep(apart)
		r.ok(newer.Launch(k, grid(1, a, 2*i+1)))
		r.ok(newer.Sync())
		r.ok(older.Sync())
		if want = (want*3+2*i)*3 + 2*i + 1; v[0] != want {
			wrong++
			want = v[0]
		}
	}
	close(stop)
	r.ok(<-ended)
	for _, q := range []*Queue{older, newer} {
		r.ok(q.Close())
	}
	if wrong > rounds/100 { // a worker that has begun the older one may be taken off its processor
		t.Errorf("%d of %d times the newer work ran first", wrong, rounds)
	}
	t.Logf("%d of %d times the newer work ran first; %+v", wrong, rounds, r.e.Stats())
}
