package engine

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestLaunchOrder(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8, 64} {
		t.Run(fmt.Sprint(threads), func(t *testing.T) {
			r := newRig(t, threads)
			k := kernel(t, kAffine)
			a, v := r.alloc(1)
			want := uint64(0)
			for i := uint64(0); i < 2000; i++ {
				r.ok(r.q.Launch(k, grid(1, a, i)))
				want = want*3 + i
				if i%97 == 0 {
					r.ok(r.q.Sync())
				}
			}
			r.ok(r.q.Sync())
			if v[0] != want {
				t.Errorf("got %d, want %d", v[0], want)
			}
		})
	}
}

func TestEveryBlockOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 16, 64} {
		r := newRig(t, threads)
		k := kernel(t, kMarkBlocks)
		for _, n := range []uint32{1, 2, 3, 17, 1000, 100003} {
			a, err := r.m.Alloc(uint64(n)*4, 0)
			r.ok(err)
			r.ok(r.q.Fill(a, 0, 4, uint64(n), 0, 1))
			for range 3 {
				r.ok(r.q.Launch(k, grid(n, a)))
			}
			r.ok(r.q.Sync())
			b, _ := r.m.Bytes(a, uint64(n)*4)
			for i := range n {
				if b[i*4] != 3 || b[i*4+1] != 0 {
					t.Fatalf("threads %d, grid %d: block %d ran %d times", threads, n, i, b[i*4])
				}
			}
			r.ok(r.m.Free(a))
		}
	}
}

// Work nobody waits for must run, too.
func TestProgressWithoutSync(t *testing.T) {
	r := newRig(t, 2)
	k := kernel(t, kCount)
	a, v := r.alloc(1)
	var worst time.Duration
	for i := range 50 {
		if i%10 == 9 {
			time.Sleep(10 * time.Millisecond) // everyone asleep
		}
		start := time.Now()
		r.ok(r.q.Launch(k, grid(1, a)))
		for atomic.LoadUint64(&v[0]) != uint64(i+1) {
			if time.Since(start) > time.Minute {
				t.Fatal("the kernel does not start")
			}
			runtime.Gosched()
		}
		worst = max(worst, time.Since(start))
	}
	t.Logf("worst start %v", worst)
}

func TestSpinningKernelDoesNotBlockEnqueue(t *testing.T) {
	r := newRig(t, 2)
	spin, count := kernel(t, kSpin), kernel(t, kCount)
	a, v := r.alloc(2)
	r.ok(r.q.Launch(spin, grid(1, a)))
	for range 1000 {
		r.ok(r.q.Launch(count, grid(1, a+8)))
	}
	if done, err := r.q.Done(); done || err != nil {
		t.Fatalf("done %v, %v before the host's write", done, err)
	}
	time.AfterFunc(20*time.Millisecond, func() { atomic.StoreUint64(&v[0], 1) })
	r.ok(r.q.Sync())
	if v[1] != 1000 {
		t.Errorf("%d kernels ran after it", v[1])
	}
}

func TestQueuesRunConcurrently(t *testing.T) {
	r := newRig(t, 2)
	k, set := kernel(t, kSpin), kernel(t, kAffine)
	a, _ := r.alloc(1)
	q2 := r.queue(r.d)
	defer q2.Close()
	r.ok(r.q.Launch(k, grid(1, a)))
	time.Sleep(time.Millisecond)
	r.ok(q2.Launch(set, grid(1, a, 1)))
	r.ok(r.q.Sync())
}

// Where both are ready, the more urgent queue runs first.
func TestPriority(t *testing.T) {
	r := newRig(t, 1)
	a, v := r.alloc(2)
	r.ok(r.q.Launch(kernel(t, kSpin), grid(1, a))) // keeps the only worker
	for r.e.Stats().Kernels == 0 {
		time.Sleep(time.Millisecond)
	}
	k := kernel(t, kAffine)
	low, err := r.d.NewQueue(1)
	r.ok(err)
	high, err := r.d.NewQueue(6)
	r.ok(err)
	r.ok(low.Launch(k, grid(1, a+8, 1)))
	r.ok(high.Launch(k, grid(1, a+8, 2)))
	time.Sleep(time.Millisecond) // beyond what is left to synchronizing threads
	atomic.StoreUint64(&v[0], 1)
	for _, q := range []*Queue{low, high} {
		for done := false; !done; done, _ = q.Done() {
			time.Sleep(time.Millisecond)
		}
		r.ok(q.Close())
	}
	if want := uint64(2*3 + 1); v[1] != want {
		t.Errorf("got %d, want %d", v[1], want)
	}
}

// More kernels wait than there are workers; only a further thread can run the one that frees them.
func TestYieldLetsOthersRun(t *testing.T) {
	r := newRig(t, 1)
	k, set := kernel(t, kYieldSpin), kernel(t, kAffine)
	a, _ := r.alloc(1)
	var qs []*Queue
	for range 5 {
		q := r.queue(r.d)
		r.ok(q.Launch(k, grid(3, a)))
		qs = append(qs, q)
	}
	time.Sleep(2 * time.Millisecond)
	r.ok(r.q.Launch(set, grid(1, a, 1)))
	for _, q := range qs {
		r.ok(q.Close())
	}
	t.Logf("%+v", r.e.Stats())
}

// A grid whose blocks meet at a barrier needs all of them at once.
func TestCooperative(t *testing.T) {
	r := newRig(t, 2)
	k := kernel(t, kBarrier)
	for range 3 {
		a, v := r.alloc(1)
		l := grid(64, a)
		l.Cooperative = true
		r.ok(r.q.Launch(k, l))
		r.ok(r.q.Sync())
		if v[0] != 64 {
			t.Errorf("%d blocks came", v[0])
		}
	}
	t.Logf("%+v", r.e.Stats())
	// The threads that stood in go after a while, and what they used with them.
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if s := r.e.Stats(); s.Threads == 2 && s.Contexts <= 3 {
			break
		} else if time.Now().After(end) {
			t.Fatalf("left behind: %+v", s)
		}
	}
}

func TestFences(t *testing.T) {
	r := newRig(t, 2)
	k, spin := kernel(t, kAffine), kernel(t, kSpin)
	a, v := r.alloc(3)
	q2, q3 := r.queue(r.d), r.queue(r.d)
	defer q2.Close()
	defer q3.Close()
	r.ok(r.q.Launch(spin, grid(1, a)))
	r.ok(r.q.Launch(k, grid(1, a+8, 5)))
	f, err := r.q.Mark()
	r.ok(err)
	r.ok(q2.Wait(f))
	r.ok(q2.Launch(k, grid(1, a+8, 7))) // 5*3 + 7
	g, err := q2.Mark()
	r.ok(err)
	r.ok(q3.Wait(g))
	r.ok(q3.Launch(k, grid(1, a+8, 1))) // 22*3 + 1
	time.Sleep(time.Millisecond)
	if done, _ := f.Done(); done || f.Nanos() != 0 || v[1] != 0 {
		t.Fatal("fence reached while its queue spins")
	}
	time.AfterFunc(5*time.Millisecond, func() { atomic.StoreUint64(&v[0], 1) })
	r.ok(q3.Sync())
	if v[1] != 67 {
		t.Errorf("got %d, want 67", v[1])
	}
	r.ok(f.Sync())
	r.ok(g.Sync())
	if f.Nanos() <= 0 || g.Nanos() < f.Nanos() {
		t.Errorf("times %d, %d", f.Nanos(), g.Nanos())
	}
	f.Release()
	g.Release()
}

// A chain over many queues, each waiting for the one before, synchronized at its end only.
func TestFenceChain(t *testing.T) {
	r := newRig(t, 2)
	k := kernel(t, kAffine)
	a, v := r.alloc(1)
	var qs []*Queue
	for range 10 {
		qs = append(qs, r.queue(r.d))
	}
	want := uint64(0)
	for i := range 500 {
		q := qs[i%10]
		if i > 0 {
			f, err := qs[(i-1)%10].Mark()
			r.ok(err)
			r.ok(q.Wait(f))
		}
		r.ok(q.Launch(k, grid(1, a, uint64(i))))
		want = want*3 + uint64(i)
	}
	r.ok(qs[499%10].Sync())
	if v[0] != want {
		t.Errorf("got %d, want %d", v[0], want)
	}
	for _, q := range qs {
		r.ok(q.Close())
	}
}

func TestTasks(t *testing.T) {
	r := newRig(t, 2)
	k := kernel(t, kAffine)
	a, v := r.alloc(1)
	var seen []uint64
	want := uint64(0)
	for i := range uint64(100) {
		r.ok(r.q.Launch(k, grid(1, a, i)))
		flags := TaskFlags(0)
		if i%2 == 0 {
			flags = TaskInline
		}
		r.ok(r.q.Task(func() error { seen = append(seen, v[0]); return nil }, flags))
	}
	r.ok(r.q.Sync())
	for i := range uint64(100) {
		want = want*3 + i
		if seen[i] != want {
			t.Fatalf("task %d saw %d, want %d", i, seen[i], want)
		}
	}
}

// Launches whose kernels come later keep their place among others.
func TestLater(t *testing.T) {
	for _, threads := range []int{1, 4} {
		r := newRig(t, threads)
		k := kernel(t, kAffine)
		a, v := r.alloc(1)
		want := uint64(0)
		for i := range uint64(300) {
			l := grid(1, a, i)
			switch i % 3 {
			case 0:
				r.ok(r.q.Launch(k, l))
			case 1: // the launch's own parameters count, and what find gives as the rest
				r.ok(r.q.Later(l.Params, func() (*Kernel, *Launch, error) {
					if i%2 == 0 {
						time.Sleep(50 * time.Microsecond)
					}
					return k, grid(1, 0, 0), nil
				}))
			case 2:
				r.ok(r.q.Later(l.Params, func() (*Kernel, *Launch, error) {
					v[0] = v[0]*3 + i // another way
					return nil, nil, nil
				}))
			}
			want = want*3 + i
			if i%50 == 49 {
				r.ok(r.q.Sync())
			}
		}
		r.ok(r.q.Sync())
		if v[0] != want {
			t.Errorf("%d threads: %d, want %d", threads, v[0], want)
		}
	}
}

func TestLaterFails(t *testing.T) {
	r := newRig(t, 2)
	boom := errors.New("boom")
	for _, find := range []func() (*Kernel, *Launch, error){
		func() (*Kernel, *Launch, error) { return nil, nil, boom },
		func() (*Kernel, *Launch, error) { panic("at the disco") },
		func() (*Kernel, *Launch, error) {
			l := grid(1)
			l.DynamicShared = 1 << 30
			return kernel(t, kEmpty), l, nil
		},
	} {
		d, q := r.domain()
		a, v := r.alloc(1)
		r.ok(q.Later(nil, find))
		_ = q.Launch(kernel(t, kCount), grid(1, a)) // refused if the first has run by now
		if err := q.Sync(); err == nil || v[0] != 0 {
			t.Errorf("%v, ran %d", err, v[0])
		}
		if err := q.Later(nil, find); err == nil {
			t.Error("taken after the fault")
		}
		q.Close()
		d.Close()
	}
}

func TestTaskError(t *testing.T) {
	r := newRig(t, 2)
	d, q := r.domain()
	boom := errors.New("boom")
	ran := atomic.Bool{}
	always := atomic.Bool{}
	r.ok(q.Task(func() error { return boom }, 0))
	_ = q.Task(func() error { ran.Store(true); return nil }, 0) // refused if the first has run by now
	r.ok(q.Task(func() error { always.Store(true); return nil }, TaskAlways))
	if err := q.Sync(); err != boom {
		t.Errorf("sync: %v", err)
	}
	if ran.Load() || !always.Load() {
		t.Errorf("after the fault: task ran %v, always-task ran %v", ran.Load(), always.Load())
	}
	if err := q.Copy(0, 0, 1); err != boom {
		t.Errorf("copy: %v", err)
	}
	q.Close()
	d.Close()
	d2, q2 := r.domain()
	r.ok(q2.Task(func() error { panic("at the disco") }, 0))
	if err := q2.Sync(); err == nil {
		t.Error("a panic is no error")
	}
	q2.Close()
	d2.Close()
}

func TestCopyFill(t *testing.T) {
	r := newRig(t, 2)
	n := uint64(5<<20 + 13)
	src, err := r.m.Alloc(n, 0)
	r.ok(err)
	dst, err := r.m.Alloc(n, 0)
	r.ok(err)
	r.ok(r.q.Fill(src, 0x01020304, 4, n/4, 0, 1))
	r.ok(r.q.Fill(dst, 0xff, 1, n, 0, 1))
	r.ok(r.q.Copy(dst+1, src, n-5))
	r.ok(r.q.Sync())
	b, _ := r.m.Bytes(dst, n)
	for i, x := range b {
		want := byte(0xff)
		if i > 0 && i < int(n-4) {
			want = []byte{4, 3, 2, 1}[(i-1)%4]
		}
		if x != want {
			t.Fatalf("byte %d: %#x, want %#x", i, x, want)
		}
	}
	// rows: 300 of 1000 bytes, pitches 4096 and 1024
	r.ok(r.q.Fill(dst, 0, 1, n, 0, 1))
	r.ok(r.q.Fill(src, 0xabcd, 2, 500, 4096, 300))
	r.ok(r.q.Copy2D(dst, 1024, src, 4096, 1000, 300))
	r.ok(r.q.Sync())
	for i, x := range b {
		want := byte(0)
		if i < 300*1024 && i%1024 < 1000 {
			want = []byte{0xcd, 0xab}[i%2]
		}
		if x != want {
			t.Fatalf("row byte %d: %#x, want %#x", i, x, want)
		}
	}
}

func TestManyThreadsManyQueues(t *testing.T) {
	r := newRig(t, 4)
	k := kernel(t, kAffine)
	count := kernel(t, kCount)
	total, tv := r.alloc(1)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			q := r.queue(r.d)
			a, v := r.alloc(1)
			want := uint64(0)
			for i := range uint64(500) {
				if err := q.Launch(k, grid(1, a, i)); err != nil {
					t.Error(err)
				}
				if err := q.Launch(count, grid(uint32(1+i%20), total)); err != nil {
					t.Error(err)
				}
				want = want*3 + i
				if i%(uint64(g)+1) == 0 {
					f, _ := q.Mark()
					if err := f.Sync(); err != nil || v[0] != want {
						t.Errorf("%v: got %d, want %d", err, v[0], want)
					}
				}
			}
			if err := q.Close(); err != nil || v[0] != want {
				t.Errorf("%v: got %d, want %d", err, v[0], want)
			}
		}()
	}
	wg.Wait()
	if want := uint64(8 * 25 * 210); tv[0] != want {
		t.Errorf("%d blocks ran, want %d", tv[0], want)
	}
}

// TestClosedQueueIsFreedOnce: calls on a closed queue, as a graph makes that was last launched there, must not free it again.
func TestClosedQueueIsFreedOnce(t *testing.T) {
	r := newRig(t, 2)
	q, err := r.d.NewQueue(0)
	r.ok(err)
	r.ok(q.Close())
	for range 3 {
		if _, err := q.Done(); !errors.Is(err, ErrClosed) {
			t.Errorf("Done: %v", err)
		}
		if _, err := q.Mark(); !errors.Is(err, ErrClosed) {
			t.Errorf("Mark: %v", err)
		}
		if n := q.uses.n.Load(); n != closed {
			t.Errorf("%d uses, want %d: the next to leave would be the last once more", n, int64(closed))
		}
	}
}

// TestDomainClosesUnderCalls: fences and queues are asked for the domain's fault while another thread closes it, as a reset of a
// context does to whoever uses it.
func TestDomainClosesUnderCalls(t *testing.T) {
	r := newRig(t, 2)
	for range 40 {
		d, err := r.e.NewDomain(r.m)
		r.ok(err)
		q, err := d.NewQueue(0)
		r.ok(err)
		f, err := q.Mark()
		r.ok(err)
		r.ok(f.Sync())
		var stop atomic.Bool
		var wg, ready sync.WaitGroup
		for _, call := range []func() error{
			func() error { _, err := f.Done(); return err },
			func() error { _, err := q.Done(); return err },
			func() error { d.Flush(); d.SetLimits(1<<16, 0); return d.Err() },
		} {
			ready.Add(1)
			wg.Go(func() {
				ready.Done()
				for !stop.Load() {
					if err := call(); err != nil && !errors.Is(err, ErrClosed) {
						t.Error(err)
						return
					}
				}
			})
		}
		ready.Wait()
		r.ok(q.Close())
		d.Close()
		stop.Store(true)
		wg.Wait()
		if _, err := d.NewQueue(0); !errors.Is(err, ErrClosed) {
			t.Fatalf("a queue of a closed domain: %v", err)
		}
	}
}
