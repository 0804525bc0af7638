package cpu

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/compile"
	"kudzu/internal/image"
)

// tiered is a compiler whose two tiers give different code: a text is both, apart by a bar. Optimised code is there when the test
// says so.
type tiered struct {
	fake
	gate       chan struct{} // an optimised compilation ends with each value
	baseline   atomic.Int32  // compilations
	optimised  atomic.Int32
	background atomic.Int32 // of the latter, those nobody waited for
	noBaseline error
	never      error // of optimised code
	order      chan string

	mu     sync.Mutex
	cached map[string]bool // "kernel tier"
}

func newTiered() *tiered { return &tiered{gate: make(chan struct{}), order: make(chan string, 100)} }

func (c *tiered) Compile(r *compile.Request) (*compile.Result, error) {
	own := *r
	var first, second string
	if n, _ := fmt.Sscanf(r.PTX, "%s %s", &first, &second); n != 2 {
		return nil, errors.New("not two codes")
	}
	if own.PTX = first; r.Options.Tier == compile.Optimised {
		own.PTX = second
		c.optimised.Add(1)
		if r.Background {
			c.background.Add(1)
		}
		c.order <- r.Kernel
		<-c.gate
		if c.never != nil {
			return nil, c.never
		}
		return c.fake.Compile(&own)
	}
	c.baseline.Add(1)
	if c.noBaseline != nil {
		return nil, c.noBaseline
	}
	return c.fake.Compile(&own)
}

func (c *tiered) Cached(r *compile.Request) (*compile.Result, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.cached[r.Kernel+" "+r.Options.Tier.String()] {
		return nil, false
	}
	own := *r
	var codes [2]string
	fmt.Sscanf(r.PTX, "%s %s", &codes[0], &codes[1])
	own.PTX = codes[1]
	if r.Options.Tier == compile.Baseline {
		own.PTX = codes[0]
	}
	res, err := c.fake.Compile(&own)
	return res, err == nil
}

func (c *tiered) Facts(*compile.Request) (*compile.Facts, error) { return &compile.Facts{}, nil }

// add is atomic *p0 += c * count, without spaces.
func add(c byte) string { return fmt.Sprintf("486bc9%02x488b07488b00f048010831c0c3", c) }

func auto(c *tiered) Config {
	return Config{Compiler: c, Env: env("KUDZU_TIER", "auto")}
}

func tierModule(n int) *backend.Module {
	m := &backend.Module{Name: "tiers", Text: "tiers"}
	for i := range n {
		m.Kernels = append(m.Kernels, backend.KernelDecl{Name: fmt.Sprintf("k%d", i), ParamBytes: 8})
	}
	m.Slice = func(string) (string, func(int) int, error) { return add(1) + " " + add(100), nil, nil }
	return m
}

// tierOf is the tier that launches of a shape take now.
func tierOf(k *Kernel, block [3]uint32) compile.Tier { return k.find(block).tier }

func kernel(t *testing.T, p backend.Program, name string) *Kernel {
	t.Helper()
	k, err := p.Kernel(name)
	if err != nil {
		t.Fatal(err)
	}
	return k.(*Kernel)
}

// Launches run on baseline code until the optimised code is there, which nobody waits for.
func TestTakeOver(t *testing.T) {
	c := newTiered()
	d := open(t, auto(c))
	p, err := d.Load(tierModule(1))
	if err != nil {
		t.Fatal(err)
	}
	k := kernel(t, p, "k0")
	q, err := d.NewQueue(0)
	if err != nil {
		t.Fatal(err)
	}
	a, v := word(t, d)
	l := launch(4, a)
	for range 3 {
		if err := k.Start(l.Block); err != nil {
			t.Fatal(err)
		}
		if err := q.Launch(k, l); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Sync(); err != nil || v() != 30 || tierOf(k, l.Block) != compile.Baseline {
		t.Fatalf("%v: %d on %v code", err, v(), tierOf(k, l.Block))
	}
	c.gate <- struct{}{}
	within(t, "no take-over", func() bool { return tierOf(k, l.Block) == compile.Optimised })
	if err := q.Launch(k, l); err != nil {
		t.Fatal(err)
	}
	if err := q.Close(); err != nil || v() != 30+1000 {
		t.Errorf("%v: %d", err, v())
	}
	if c.baseline.Load() != 1 || c.optimised.Load() != 1 || c.background.Load() != 1 {
		t.Errorf("%d and %d compilations, %d in the background", c.baseline.Load(), c.optimised.Load(), c.background.Load())
	}
	if err := p.Unload(); err != nil {
		t.Error(err)
	}
}

// Optimised code in the cache is taken at once; baseline code there is taken until the other is made.
func TestTiersCached(t *testing.T) {
	c := newTiered()
	c.cached = map[string]bool{"k0 optimised": true, "k0 baseline": true, "k1 baseline": true}
	d := open(t, auto(c))
	p, err := d.Load(tierModule(2))
	if err != nil {
		t.Fatal(err)
	}
	block := [3]uint32{4, 2, 1}
	for i, start := range []func(*Kernel) error{func(k *Kernel) error { return k.Start(block) }, func(k *Kernel) error { return k.Prepare(block) }} {
		k := kernel(t, p, "k0")
		k.list.Store(nil)
		if err := start(k); err != nil || tierOf(k, block) != compile.Optimised || c.baseline.Load()+c.optimised.Load() != 0 {
			t.Errorf("way %d: %v, %v", i, err, tierOf(k, block))
		}
	}
	k := kernel(t, p, "k1")
	if err := k.Start(block); err != nil || tierOf(k, block) != compile.Baseline || c.baseline.Load() != 0 {
		t.Errorf("%v, %v", err, tierOf(k, block))
	}
	c.gate <- struct{}{}
	within(t, "no take-over", func() bool { return tierOf(k, block) == compile.Optimised })
}

// Without optimised code the baseline code stays; without baseline code it is as ever; broken text is an error.
func TestTierMissing(t *testing.T) {
	block := [3]uint32{4, 2, 1}
	for name, never := range map[string]error{
		"cannot": &compile.Unsupported{What: "it"}, "no libLLVM": &compile.NoCompiler{Why: "none"}, "dead": &compile.Crash{}, "bug": &compile.Failed{},
	} {
		c := newTiered()
		c.never = never
		d := open(t, auto(c))
		p, err := d.Load(tierModule(1))
		if err != nil {
			t.Fatal(err)
		}
		k := kernel(t, p, "k0")
		if err := k.Prepare(block); err != nil {
			t.Fatal(err)
		}
		c.gate <- struct{}{}
		within(t, "it never ends", func() bool {
			d.b.promoter.mu.Lock()
			defer d.b.promoter.mu.Unlock()
			return d.b.promoter.running == 0
		})
		if tierOf(k, block) != compile.Baseline {
			t.Errorf("%s: %v", name, tierOf(k, block))
		}
	}
	c := newTiered()
	close(c.gate)
	c.noBaseline = &compile.Unsupported{What: "baseline code: it"}
	d := open(t, auto(c))
	p, err := d.Load(tierModule(1))
	if err != nil {
		t.Fatal(err)
	}
	k := kernel(t, p, "k0")
	if err := k.Prepare(block); err != nil || tierOf(k, block) != compile.Optimised || c.background.Load() != 0 {
		t.Errorf("no baseline code: %v", err)
	}
	c.noBaseline = &compile.PTXError{List: []string{"line 1"}}
	var invalid *compile.PTXError
	if err := k.Prepare([3]uint32{8, 1, 1}); !errors.As(err, &invalid) || c.optimised.Load() != 1 {
		t.Errorf("broken text: %v", err)
	}
}

// What takes the most time is optimised first.
func TestMostWanted(t *testing.T) {
	c := newTiered()
	d := open(t, auto(c))
	d.b.promoter.turns = 1
	p, err := d.Load(tierModule(4))
	if err != nil {
		t.Fatal(err)
	}
	block := [3]uint32{4, 2, 1}
	for i := range 4 {
		k := kernel(t, p, fmt.Sprintf("k%d", i))
		if err := k.Prepare(block); err != nil {
			t.Fatal(err)
		}
		k.find(block).meter.at[0].Store([]uint64{0, 5, 70, 6}[i])
		if i == 0 {
			within(t, "nothing begins", func() bool { return len(c.order) == 1 })
		}
	}
	close(c.gate)
	for _, want := range []string{"k0", "k2", "k3", "k1"} {
		if got := <-c.order; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A program that is unloaded waits for no optimised code, and what waits for its turn is dropped.
func TestUnloadBehind(t *testing.T) {
	c := newTiered()
	d := open(t, auto(c))
	d.b.promoter.turns = 1
	p, err := d.Load(tierModule(3))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := kernel(t, p, fmt.Sprintf("k%d", i)).Prepare([3]uint32{4, 2, 1}); err != nil {
			t.Fatal(err)
		}
	}
	within(t, "nothing begins", func() bool { return c.optimised.Load() == 1 })
	done := make(chan error, 1)
	go func() { done <- p.Unload() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("unloading waits for code that nobody needs")
	}
	close(c.gate)
	within(t, "the promoter does not end", func() bool {
		d.b.promoter.mu.Lock()
		defer d.b.promoter.mu.Unlock()
		return d.b.promoter.running == 0 && len(d.b.promoter.waiting) == 0
	})
	if c.optimised.Load() != 1 {
		t.Errorf("%d compilations for a program that is gone", c.optimised.Load())
	}
}

// Threads launch on their queues, in several shapes, while one code takes over from the other and programs come and go: every launch
// runs once, on one of the two.
func TestTakeOverUnderLaunches(t *testing.T) {
	const threads, launches, rounds = 4, 200, 20
	for range rounds {
		c := newTiered()
		c.meta = image.Meta{FrameWarp: 64}
		d := open(t, auto(c))
		m := tierModule(1)
		m.Slice = func(string) (string, func(int) int, error) { return add(1) + " " + add(1), nil, nil }
		p, err := d.Load(m)
		if err != nil {
			t.Fatal(err)
		}
		k := kernel(t, p, "k0")
		a, v := word(t, d)
		var wg sync.WaitGroup
		for i := range threads {
			q, err := d.NewQueue(0)
			if err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				for n := range launches {
					l := launch(uint32(1+(i+n)%3), a)
					if err := k.Start(l.Block); err != nil {
						t.Error(err)
					}
					if err := q.Launch(k, l); err != nil {
						t.Error(err)
					}
				}
				if err := q.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		close(c.gate)
		wg.Wait()
		if v() != 10*threads*launches {
			t.Errorf("%d blocks", v())
		}
		if err := p.Unload(); err != nil {
			t.Error(err)
		}
	}
}
