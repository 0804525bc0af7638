package engine

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// An engine with a limit stops what runs longer: in the kernel's code, in entry points of the runtime, on workers and on the thread that
// waits; what ends in time is untouched, and so are other domains.
func TestLimit(t *testing.T) {
	r := newRig(t, 2)
	r.ok(r.e.SetLimit(100 * time.Millisecond))
	a, v := r.alloc(2)
	count := kernel(t, kCount)
	for _, row := range []struct {
		name, code string
		blocks     uint32
		change     func(*KernelConfig)
	}{
		{"spin", kSpin, 1, nil},
		{"more blocks than workers", kSpin, 20, nil},
		{"yield", kYieldSpin, 1, nil},
		{"yields", kYieldSpin, 9, func(c *KernelConfig) { c.Spins = true }},
	} {
		t.Run(row.name, func(t *testing.T) {
			k := kernel(t, row.code, func(c *KernelConfig) {
				if row.change != nil {
					row.change(c)
				}
			})
			for _, alone := range []bool{false, true} { // by a worker alone, or with the help of who waits
				d, q := r.domain()
				begin := time.Now()
				r.ok(q.Launch(k, grid(row.blocks, a)))
				for done := !alone; !done; done, _ = q.Done() {
					time.Sleep(time.Millisecond)
				}
				var f *Fault
				if err := q.Sync(); !errors.As(err, &f) || f.Kind != FaultTimeout || f.Cookie != 99 {
					t.Errorf("got %v", err)
				}
				if took := time.Since(begin); took < 100*time.Millisecond || took > 20*time.Second {
					t.Errorf("took %v", took)
				}
				q.Close()
				d.Close()
			}
			atomic.StoreUint64(&v[1], 0)
			r.ok(r.q.Launch(count, grid(100, a+8)))
			r.ok(r.q.Sync())
			if n := atomic.LoadUint64(&v[1]); n != 100 {
				t.Errorf("%d blocks, want 100", n)
			}
		})
	}
}

// Launches that are many and short together take longer than the limit, and each is in time.
func TestLimitOfEach(t *testing.T) {
	r := newRig(t, 2)
	r.ok(r.e.SetLimit(500 * time.Millisecond))
	a, v := r.alloc(1)
	count := kernel(t, kCount)
	for end := time.Now().Add(800 * time.Millisecond); time.Now().Before(end); {
		v[0] = 0
		for range 1000 {
			r.ok(r.q.Launch(count, grid(3, a)))
		}
		r.ok(r.q.Sync())
		if v[0] != 3000 {
			t.Fatalf("%d blocks, want 3000", v[0])
		}
	}
	if err := r.e.SetLimit(time.Second); !errors.Is(err, ErrInvalid) || r.e.Limit() != 500*time.Millisecond {
		t.Errorf("a second limit: %v, %v", err, r.e.Limit())
	}
}

// Launches that end about when they are late: each is done or stopped, and the threads go on.
func TestLimitRace(t *testing.T) {
	r := newRig(t, 2)
	r.ok(r.e.SetLimit(2 * time.Millisecond))
	busy, count := kernel(t, kBusy), kernel(t, kCount)
	a, v := r.alloc(1)
	stopped := 0
	for i := range 300 {
		d, q := r.domain()
		r.ok(q.Launch(busy, grid(uint32(1+i%4), uint64(i%40)<<19)))
		var f *Fault
		if err := q.Sync(); errors.As(err, &f) && f.Kind == FaultTimeout {
			stopped++
		} else {
			r.ok(err)
		}
		q.Close()
		d.Close()
		for { // one that the machine held up for so long is tried again
			d, q := r.domain()
			v[0] = 0
			r.ok(q.Launch(count, grid(7, a)))
			err := q.Sync()
			q.Close()
			d.Close()
			if err == nil {
				break
			}
		}
		if v[0] != 7 {
			t.Fatalf("%d blocks, want 7", v[0])
		}
	}
	if stopped == 0 || stopped == 300 {
		t.Errorf("%d of 300 launches were stopped, want some", stopped)
	}
}
