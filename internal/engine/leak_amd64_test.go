package engine

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

func TestLeak(t *testing.T) {
	r := newRig(t, 2)
	k := kernel(t, kEmpty)
	l := grid(3)
	round := func(n int) {
		for i := range n {
			r.ok(r.q.Launch(k, l))
			if i%16 == 0 {
				f, err := r.q.Mark()
				r.ok(err)
				r.ok(r.q.Wait(f))
				r.ok(f.Sync())
			}
			if i%64 == 0 {
				d, q := r.domain()
				r.ok(q.Task(func() error { return nil }, TaskFlags(i/64%2)))
				r.ok(q.Close())
				d.Close()
			}
			if i%1024 == 0 {
				runtime.GC()
			}
		}
		r.ok(r.q.Sync())
		runtime.GC()
		runtime.GC()
	}
	round(20000)
	before := rss(t)
	round(100000)
	if grown := rss(t) - before; grown > 4<<20 {
		t.Errorf("100000 launches took %d KiB", grown>>10)
	}
}

// An engine without work must not keep the machine awake.
func TestIdle(t *testing.T) {
	r := newRig(t, 8)
	k := kernel(t, kEmpty)
	for range 100 {
		r.ok(r.q.Launch(k, grid(16)))
	}
	r.ok(r.q.Sync())
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Skip(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	// On a busy machine the workers may come to rest late: one quiet moment is enough.
	for end := time.Now().Add(time.Minute); ; {
		before := used()
		time.Sleep(300 * time.Millisecond)
		spent := used() - before
		if spent <= 30*time.Millisecond {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%v of processor time in 300 ms of nothing", spent)
		}
	}
}
