package cpu

import (
	"errors"
	"sync"
	"testing"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/compile"
	"kudzu/internal/image"
)

// TestUnloadUnderLaunch unloads programs that other threads launch. That is a mistake of whoever calls us, which must not cost
// the process: every launch is enqueued and runs, or is refused. The code stays while a queue has work that may use it.
func TestUnloadUnderLaunch(t *testing.T) {
	f := &fake{meta: image.Meta{Vars: []string{"v"}}}
	d := open(t, Config{Compiler: f})
	const rounds, threads = 100, 3
	a, _ := word(t, d)
	for range rounds {
		p, k := load(t, d, module(loadVar, backend.VarDecl{Name: "v", Size: 1 << 20, Align: 8}))
		var begun, wg sync.WaitGroup
		begun.Add(threads)
		for i := range threads {
			q, err := d.NewQueue(0)
			if err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				defer func() {
					if err := q.Close(); err != nil {
						t.Error(err)
					}
				}()
				for n := 0; ; n++ {
					// A shape of its own now and then, so that some are compiled while the program goes.
					err := q.Launch(k, launch(uint32(1+i+n/2%5), a))
					if n == 2 {
						begun.Done()
					}
					if err == nil {
						continue
					}
					if !errors.Is(err, backend.ErrClosed) {
						t.Error(err)
					}
					return
				}
			})
		}
		begun.Wait()
		if err := p.Unload(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // what was deferred goes with the queues' work
		free, total := d.mem.Usage()
		if total-free <= 4<<20 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes lost", total-free)
		}
	}
}

// together is a compiler that gives nothing out before it has been asked for all of want.
type together struct {
	fake
	want sync.WaitGroup
}

func (c *together) Compile(r *compile.Request) (*compile.Result, error) {
	c.want.Done()
	all := make(chan struct{})
	go func() { c.want.Wait(); close(all) }()
	select {
	case <-all:
	case <-time.After(time.Minute):
		return nil, errors.New("only one is compiled at a time")
	}
	return c.fake.Compile(r)
}

// TestShapesAtOnce: block shapes of one kernel are compiled at the same time, each once however many threads launch it, and no more
// of them than the kernel may have.
func TestShapesAtOnce(t *testing.T) {
	const each = 3
	c := &together{}
	c.want.Add(maxShapes + 1)
	d := open(t, Config{Compiler: c})
	p, k := load(t, d, module(addOne))
	a, v := word(t, d)
	var wg sync.WaitGroup
	for i := range each * (maxShapes + 2) {
		q, err := d.NewQueue(0)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			if err := q.Launch(k, launch(uint32(1+i/each), a)); err != nil {
				t.Error(err)
			}
			if err := q.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := c.calls.Load(); n != maxShapes+1 || v() != 10*each*(maxShapes+2) {
		t.Errorf("%d compilations, %d blocks", n, v())
	}
	if err := p.Unload(); err != nil {
		t.Error(err)
	}
}
