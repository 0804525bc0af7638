package engine

import (
	"runtime"
	"testing"
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
