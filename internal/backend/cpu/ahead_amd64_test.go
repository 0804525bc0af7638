package cpu

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/compile"
)

// slow is a compiler whose compilations end when the test says so.
type slow struct {
	fake
	gate    chan struct{} // a compilation ends with each value
	under   atomic.Int32  // compilations under way
	most    atomic.Int32
	refuses error // of Facts
	dies    atomic.Bool
}

func (s *slow) Compile(r *compile.Request) (*compile.Result, error) {
	n := s.under.Add(1)
	for old := s.most.Load(); n > old && !s.most.CompareAndSwap(old, n); old = s.most.Load() {
	}
	<-s.gate
	s.under.Add(-1)
	if s.dies.Load() {
		return nil, &compile.Crash{Kernel: r.Kernel, Signal: "SIGSEGV"}
	}
	return s.fake.Compile(r)
}

func (s *slow) Cached(*compile.Request) (*compile.Result, bool) { return nil, false }

func (s *slow) Facts(*compile.Request) (*compile.Facts, error) {
	return &compile.Facts{PTXVersion: 80}, s.refuses
}

// affine is *p0 = *p0 * 3 + c: the order of launches shows.
func affine(c byte) string {
	return fmt.Sprintf("48 8b 07 48 8b 00 48 8b 08 48 8d 0c 49 48 83 c1 %02x 48 89 08 31 c0 c3", c)
}

// many is a module of n kernels, k0 to kn-1, that do affine steps.
func many(n int) *backend.Module {
	m := &backend.Module{Name: "many", Text: "many"}
	for i := range n {
		m.Kernels = append(m.Kernels, backend.KernelDecl{Name: fmt.Sprintf("k%d", i), ParamBytes: 8})
	}
	m.Slice = func(name string) (string, func(int) int, error) {
		var i int
		_, err := fmt.Sscanf(name, "k%d", &i)
		return affine(byte(i + 1)), nil, err
	}
	return m
}

func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// A program's kernels are compiled beside each other, and run in the order of their launches whatever ends first.
func TestAhead(t *testing.T) {
	const n = 12
	s := &slow{gate: make(chan struct{})}
	d := open(t, Config{Compiler: s})
	p, err := d.Load(many(n))
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(0)
	if err != nil {
		t.Fatal(err)
	}
	a, v := word(t, d)
	want := uint64(0)
	for round := range 2 {
		for i := range n {
			k, err := p.Kernel(fmt.Sprintf("k%d", i))
			if err != nil {
				t.Fatal(err)
			}
			l := launch(4, a)
			l.Grid = [3]uint32{1, 1, 1}
			if err := k.(backend.Starter).Start(l.Block); err != nil {
				t.Fatal(err)
			}
			if err := q.Launch(k, l); err != nil {
				t.Fatal(err)
			}
			want = want*3 + uint64(i+1)
		}
		if done, err := q.Done(); done || err != nil {
			t.Fatalf("round %d: done before anything is compiled: %v", round, err)
		}
	}
	at := int32(min(n, turns()))
	within(t, "not as many are compiled at a time as there are processors", func() bool { return s.under.Load() == at })
	close(s.gate)
	if err := q.Sync(); err != nil || v() != want {
		t.Errorf("%v: %d, want %d", err, v(), want)
	}
	if s.calls.Load() != n || s.most.Load() != at {
		t.Errorf("%d compilations of %d kernels, %d at a time", s.calls.Load(), n, s.most.Load())
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Unload(); err != nil {
		t.Error(err)
	}
}

// What the text tells is an error of the launch, as ever.
func TestAheadRefused(t *testing.T) {
	s := &slow{gate: make(chan struct{}), refuses: &compile.Unsupported{What: "wgmma", Line: 3}}
	s.err = s.refuses
	close(s.gate)
	d := open(t, Config{Compiler: s})
	_, k := load(t, d, module(addOne))
	var u *backend.Unsupported
	if err := k.Start([3]uint32{4, 2, 1}); !errors.As(err, &u) || u.What != "wgmma" {
		t.Errorf("%v", err)
	}
}

// A kernel whose compiler dies although its text passed is interpreted; without an interpreter the queue ends.
func TestAheadDies(t *testing.T) {
	for _, interp := range []bool{false, true} {
		s := &slow{gate: make(chan struct{})}
		s.dies.Store(true)
		fb := &runner{}
		cfg := Config{Compiler: s}
		if interp {
			cfg.Fallback = fb
		}
		d := open(t, cfg)
		p, k := load(t, d, module(addOne))
		q, err := d.NewQueue(0)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := word(t, d)
		l := launch(4, a)
		if err := k.Start(l.Block); err != nil {
			t.Fatal(err)
		}
		if err := q.Launch(k, l); err != nil {
			t.Fatal(err)
		}
		close(s.gate)
		err = q.Sync()
		if interp && (err != nil || d.b.Stats().Runs != 1) {
			t.Errorf("interpreted: %v, %d runs", err, d.b.Stats().Runs)
		}
		if !interp && (err == nil || !strings.Contains(err.Error(), "SIGSEGV")) {
			t.Errorf("without an interpreter: %v", err)
		}
		_ = q.Close()
		if err := p.Unload(); err != nil {
			t.Error(err)
		}
	}
}

// A fault before its turn skips the launch; the module goes when the compiler is done with it.
func TestAheadSkipped(t *testing.T) {
	s := &slow{gate: make(chan struct{}, 8)}
	d := open(t, Config{Compiler: s})
	_, bad := load(t, d, module(badRead))
	p, k := load(t, d, module(addOne))
	q, err := d.NewQueue(0)
	if err != nil {
		t.Fatal(err)
	}
	a, v := word(t, d)
	s.gate <- struct{}{}
	if err := q.Launch(bad, launch(4, a)); err != nil {
		t.Fatal(err)
	}
	l := launch(4, a)
	if err := k.Start(l.Block); err != nil {
		t.Fatal(err)
	}
	err = q.Launch(k, l) // may or may not see the fault already
	var f *backend.Fault
	if err != nil && !errors.As(err, &f) {
		t.Error(err)
	}
	if err := q.Sync(); !errors.As(err, &f) {
		t.Errorf("no fault: %v", err)
	}
	_ = q.Close()
	go func() { time.Sleep(10 * time.Millisecond); close(s.gate) }()
	if err := p.Unload(); err != nil {
		t.Error(err)
	}
	if v() != 0 || s.under.Load() != 0 {
		t.Errorf("ran %d, %d compilations left", v(), s.under.Load())
	}
}

// A kernel that turns out to need the fallback while its module goes: neither waits for the other.
func TestAheadFallsBackAtUnload(t *testing.T) {
	s := &slow{gate: make(chan struct{})}
	s.err = &compile.Unsupported{What: "x", Line: 1}
	d := open(t, Config{Compiler: s, Fallback: &runner{}})
	p, k := load(t, d, module(addOne))
	if err := k.Start([3]uint32{4, 2, 1}); err != nil {
		t.Fatal(err)
	}
	go func() {
		<-p.gone
		time.Sleep(10 * time.Millisecond)
		close(s.gate)
	}()
	done := make(chan error)
	go func() { done <- p.Unload() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("Unload waits for ever")
	}
}

// What waits for its turn is called off when the module goes.
func TestAheadCalledOff(t *testing.T) {
	s := &slow{gate: make(chan struct{})}
	d := open(t, Config{Compiler: s})
	n := turns() + 3
	p, err := d.Load(many(n))
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		k, err := p.Kernel(fmt.Sprintf("k%d", i))
		if err != nil {
			t.Fatal(err)
		}
		if err := k.(backend.Starter).Start([3]uint32{4, 2, 1}); err != nil {
			t.Fatal(err)
		}
	}
	within(t, "nothing is compiled", func() bool { return int(s.under.Load()) == turns() })
	go func() {
		<-p.(*Program).gone
		time.Sleep(10 * time.Millisecond)
		close(s.gate)
	}()
	if err := p.Unload(); err != nil {
		t.Error(err)
	}
	if int(s.calls.Load()) != turns() {
		t.Errorf("%d compilations, of which %d were under way", s.calls.Load(), turns())
	}
}
