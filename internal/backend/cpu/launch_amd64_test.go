package cpu

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/compile"
	"kudzu/internal/image"
)

// fake "compiles" PTX text that is machine code in hex.
type fake struct {
	calls atomic.Int32
	err   error
	meta  image.Meta
}

func (f *fake) Compile(r *compile.Request) (*compile.Result, error) {
	f.calls.Add(1)
	if f.err != nil {
		return nil, f.err
	}
	code, err := hex.DecodeString(strings.ReplaceAll(r.PTX, " ", ""))
	if err != nil {
		return nil, err
	}
	m := f.meta
	m.Kernel, m.Block = r.Kernel, r.Block
	return &compile.Result{Parsed: &image.Image{Meta: m, Machine: image.X86_64, Code: code, Text: uint32(len(code))}}, nil
}

const (
	addOne  = "48 8b 07 48 8b 00 f0 48 01 08 31 c0 c3"                            // atomic *p0 += count
	badRead = "c7 46 20 01 00 00 00 48 89 56 18 31 c0 8b 00 c3"                   // w->warp = 1, w->block = first, *(int*)0
	stop    = "c7 46 28 07 00 00 00 c7 46 2c 04 00 00 00 b8 03 00 00 00 c3"       // line 7, lane 2, deadlock
	loadVar = "48 8b 07 48 8b 00 48 8b 4f 08 48 8b 09 48 8b 09 48 89 08 31 c0 c3" // *p0 = *(u64*)vars[0]
)

func module(code string, vars ...backend.VarDecl) *backend.Module {
	return &backend.Module{
		Name: "test", Text: code, Vars: vars,
		Kernels: []backend.KernelDecl{{Name: "k", ParamBytes: 8}},
		Slice:   func(string) (string, func(int) int, error) { return code, func(n int) int { return n + 1000 }, nil },
	}
}

func open(t testing.TB, cfg Config) *Device {
	t.Helper()
	cfg.Memory = 256 << 20
	all, err := New(cfg).Open()
	if err != nil {
		t.Fatal(err)
	}
	return all[0].(*Device)
}

func load(t testing.TB, d *Device, m *backend.Module) (*Program, *Kernel) {
	t.Helper()
	p, err := d.Load(m)
	if err != nil {
		t.Fatal(err)
	}
	k, err := p.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	return p.(*Program), k.(*Kernel)
}

func launch(block uint32, p0 backend.Addr) *backend.Launch {
	return &backend.Launch{Grid: [3]uint32{5, 2, 1}, Block: [3]uint32{block, 2, 1}, Params: binary.LittleEndian.AppendUint64(nil, uint64(p0))}
}

func word(t testing.TB, d *Device) (backend.Addr, func() uint64) {
	t.Helper()
	a, err := d.mem.Alloc(8, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := d.mem.Bytes(a, 8)
	clear(b)
	return backend.Addr(a), func() uint64 { return binary.LittleEndian.Uint64(b) }
}

func TestVariants(t *testing.T) {
	f := &fake{}
	d := open(t, Config{Compiler: f})
	p, k := load(t, d, module(addOne))
	q, err := d.NewQueue(0)
	if err != nil {
		t.Fatal(err)
	}
	a, v := word(t, d)
	want := uint64(0)
	for range 3 {
		for i := uint32(1); i <= 12; i++ {
			if err := q.Launch(k, launch(i, a)); err != nil {
				t.Fatal(err)
			}
			want += 10
		}
	}
	if err := q.Sync(); err != nil || v() != want {
		t.Errorf("%v: %d, want %d", err, v(), want)
	}
	if n := f.calls.Load(); n != maxShapes+1 {
		t.Errorf("%d compilations, want %d shapes and the generic one", n, maxShapes)
	}
	if err := q.Launch(k, &backend.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{1, 2, 1}}); err != nil {
		t.Errorf("no parameters: %v", err)
	}
	f.meta.ParamBytes = 16
	_, k2 := load(t, d, module(addOne))
	if err := q.Launch(k2, launch(1, a)); err == nil {
		t.Error("a launch with too few parameter bytes")
	}
	_ = q.Close() // the launch without parameters may have faulted
	if err := q.Launch(k, launch(1, a)); !errors.Is(err, backend.ErrClosed) && err == nil {
		t.Errorf("launch on a closed queue: %v", err)
	}
	if err := p.Unload(); err != nil {
		t.Error(err)
	}
	if err := p.Unload(); err != backend.ErrClosed {
		t.Errorf("second unload: %v", err)
	}
	if _, err := p.Kernel("nope"); !errors.Is(err, backend.ErrNotFound) {
		t.Error(err)
	}
}

func TestVariables(t *testing.T) {
	f := &fake{meta: image.Meta{Vars: []string{"table"}}}
	d := open(t, Config{Compiler: f})
	m := module(loadVar,
		backend.VarDecl{Name: "x", Size: 3, Align: 1, Init: []byte{1, 2, 3}},
		backend.VarDecl{Name: "ext", Extern: true, Size: 4, Align: 4},
		backend.VarDecl{Name: "table", Const: true, Size: 32, Align: 8, Relocs: []backend.VarReloc{
			{Offset: 0, Size: 8, Symbol: "x", Addend: 2}, {Offset: 8, Size: 1, Symbol: "x", Mask: 0xff00}, {Offset: 16, Size: 8, Symbol: "fn"},
		}},
		backend.VarDecl{Name: "big", Size: 5 << 20, Align: 4096})
	p, k := load(t, d, m)
	x, n, err := p.Var("x")
	if err != nil || n != 3 {
		t.Fatal(n, err)
	}
	tab, _, _ := p.Var("table")
	b, err := d.mem.Bytes(uint64(tab), 32)
	if err != nil {
		t.Fatal(err)
	}
	if got := binary.LittleEndian.Uint64(b); got != uint64(x)+2 || b[8] != byte(x>>8) || binary.LittleEndian.Uint64(b[16:]) != image.FuncID("fn") {
		t.Errorf("table % x, x at %#x", b, x)
	}
	big, _, _ := p.Var("big")
	if big%4096 != 0 {
		t.Errorf("big at %#x", big)
	}
	if _, _, err := p.Var("ext"); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("ext: %v", err)
	}
	q, _ := d.NewQueue(0)
	a, v := word(t, d)
	if err := q.Launch(k, launch(32, a)); err != nil {
		t.Fatal(err)
	}
	if err := q.Sync(); err != nil || v() != uint64(x)+2 {
		t.Errorf("%v: the kernel read %#x", err, v())
	}
	info, err := k.Info()
	if err != nil || info.Const != 32 || info.MaxThreads != 1024 || info.BinaryVersion != backend.DefaultCapability.SM() {
		t.Errorf("%+v, %v", info, err)
	}
	_ = q.Close()
	if err := p.Unload(); err != nil {
		t.Error(err)
	}
	for _, bad := range []backend.VarDecl{
		{Name: "v", Size: 1 << 60, Align: 1}, {Name: "v", Size: 4, Align: 3}, {Name: "v", Size: 1, Align: 1, Init: []byte{1, 2}},
		{Name: "v", Size: 4, Align: 4, Relocs: []backend.VarReloc{{Offset: 1, Size: 8}}}, {Name: "v", Size: 1 << 40, Align: 4},
	} {
		if _, err := d.Load(module(addOne, bad)); err == nil {
			t.Errorf("loaded %+v", bad)
		}
	}
	if free, total := d.mem.Usage(); total-free > 4<<20 {
		t.Errorf("%d bytes lost", total-free)
	}
}

func TestFaultReport(t *testing.T) {
	f := &fake{meta: image.Meta{Lines: []image.Line{{Offset: 0, Line: 3}, {Offset: 13, Line: 4}, {Offset: 15, Line: 5}}}}
	d := open(t, Config{Compiler: f})
	check := func(code string, want string) {
		t.Helper()
		_, k := load(t, d, module(code))
		q1, err := d.NewQueueIn(7, 0)
		if err != nil {
			t.Fatal(err)
		}
		q2, _ := d.NewQueueIn(7, 3)
		one := launch(32, 0)
		one.Grid = [3]uint32{1, 1, 1} // of several blocks that fault, any may be the first
		if err := q1.Launch(k, one); err != nil {
			t.Fatal(err)
		}
		err = q1.Sync()
		var bf *backend.Fault
		if !errors.As(err, &bf) || !strings.HasPrefix(bf.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		if err2 := q2.Launch(k, launch(32, 0)); err2 != err {
			t.Errorf("another queue of the domain: %v", err2)
		}
		heard := error(nil)
		if err := q2.(backend.Callbacks).Callback(func(e error) { heard = e }); err != nil {
			t.Error(err)
		}
		if err2 := q2.Sync(); err2 != err || heard != err {
			t.Errorf("sync %v, callback heard %v", err2, heard)
		}
		_ = q1.Close()
		_ = q2.Close()
	}
	check(badRead, "kernel k: illegal address 0x0 in block (0,0,0), warp of thread (0,1,0), PTX line 1004")
	check(stop, "kernel k: deadlock in block (0,0,0), thread (2,0,0), PTX line 1007")
}

// runner stands for the interpreter.
type runner struct {
	backend.Program
	backend.Kernel
	vars     func(string) (backend.Addr, uint64, error)
	prepared error
	ran      atomic.Int32
	fault    error
}

func (r *runner) LoadWith(_ *backend.Module, vars func(string) (backend.Addr, uint64, error)) (backend.Program, error) {
	r.vars = vars
	return program{r}, nil
}

type program struct{ r *runner }

func (p program) Kernel(string) (backend.Kernel, error)      { return p.r, nil }
func (p program) Var(n string) (backend.Addr, uint64, error) { return p.r.vars(n) }
func (p program) Unload() error                              { return nil }
func (r *runner) Name() string                               { return "k" }
func (r *runner) Info() (*backend.KernelInfo, error)         { return &backend.KernelInfo{Registers: 77}, nil }
func (r *runner) Prepare([3]uint32) error                    { return r.prepared }
func (r *runner) Run(l *backend.Launch) error {
	r.ran.Add(1)
	return r.fault
}

func TestFallback(t *testing.T) {
	for _, why := range []error{&compile.NoCompiler{Why: "test"}, &compile.Unsupported{What: "tcgen05.mma", Line: 5}, &compile.Failed{Stage: "emit", Text: "test"}} {
		f, r := &fake{err: why}, &runner{}
		d := open(t, Config{Compiler: f, Fallback: r})
		_, k := load(t, d, module(addOne, backend.VarDecl{Name: "x", Size: 4, Align: 4}))
		q, _ := d.NewQueue(0)
		for i := range 10 {
			if err := q.Launch(k, launch(uint32(i+1), 0)); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.Sync(); err != nil || r.ran.Load() != 10 || f.calls.Load() != 1 {
			t.Errorf("%v: %d runs, %d compilations", err, r.ran.Load(), f.calls.Load())
		}
		if a, _, err := r.vars("x"); err != nil || a == 0 {
			t.Errorf("variable: %v", err)
		}
		if i, err := k.Info(); err != nil || i.Registers != 77 {
			t.Errorf("%+v, %v", i, err)
		}
		if s := d.b.Stats(); s.Fallbacks != 1 || s.Runs != 10 {
			t.Errorf("%+v", s)
		}
		r.fault = &backend.Fault{Kind: backend.FaultTrap, Kernel: "k"}
		_ = q.Launch(k, launch(1, 0))
		if err := q.Sync(); err != r.fault {
			t.Errorf("fault: %v", err)
		}
		_ = q.Close()
	}
}

func TestNobodyCan(t *testing.T) {
	u := &backend.Unsupported{What: "x", Kernel: "k", Line: 1}
	d := open(t, Config{Compiler: &fake{err: &compile.Unsupported{What: "x", Line: 1}}, Fallback: &runner{prepared: u}})
	_, k := load(t, d, module(addOne))
	q, _ := d.NewQueue(0)
	for range 2 {
		if err := q.Launch(k, launch(1, 0)); err != error(u) {
			t.Errorf("got %v", err)
		}
	}
	if err := q.Sync(); err != nil {
		t.Errorf("an unsupported kernel must not end the queue: %v", err)
	}
	d = open(t, Config{Compiler: &fake{err: &compile.Unsupported{What: "x", Line: 1}}})
	_, k = load(t, d, module(addOne))
	var got *backend.Unsupported
	if err := q.Launch(k, launch(1, 0)); !errors.As(err, &got) || got.Line != 1001 || got.What != "x" {
		t.Errorf("got %v", err)
	}
	d = open(t, Config{Compiler: &fake{err: &compile.Failed{Stage: "image", Text: "undefined symbol fmaxf"}}})
	_, k = load(t, d, module(addOne))
	var broken *compile.Failed
	if err := q.Launch(k, launch(1, 0)); !errors.As(err, &broken) || errors.As(err, &got) {
		t.Errorf("got %v", err)
	}
	d = open(t, Config{Compiler: &fake{err: &compile.Crash{Kernel: "k", Signal: "killed"}}, Fallback: &runner{}})
	_, k = load(t, d, module(addOne))
	var c *compile.Crash
	if err := q.Launch(k, launch(1, 0)); !errors.As(err, &c) {
		t.Errorf("got %v", err)
	}
	_ = q.Close()
}

func BenchmarkLaunchSync(b *testing.B) {
	d := open(b, Config{Compiler: &fake{}})
	_, k := load(b, d, module("31 c0 c3"))
	q, _ := d.NewQueue(0)
	l := &backend.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Params: make([]byte, 32)}
	b.ReportAllocs()
	for b.Loop() {
		if q.Launch(k, l) != nil || q.Sync() != nil {
			b.Fatal(fmt.Errorf("failed"))
		}
	}
	_ = q.Close()
}

// teller also answers about kernels without compiling them.
type teller struct {
	fake
	told compile.Facts
	err  error
}

func (f *teller) Facts(*compile.Request) (*compile.Facts, error) { return &f.told, f.err }

// TestInfoCompilesNothing: programs ask about many kernels that they never launch.
func TestInfoCompilesNothing(t *testing.T) {
	c := &teller{fake: fake{meta: image.Meta{SharedStatic: 64, Registers: 20}}, told: compile.Facts{SharedStatic: 48, LocalThread: 16, Registers: 32, PTXVersion: 80}}
	d := open(t, Config{Compiler: c})
	p, err := d.Load(module(addOne))
	if err != nil {
		t.Fatal(err)
	}
	k, err := p.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	i, err := k.Info()
	if err != nil || i.StaticShared != 48 || i.Local != 16 || i.Registers != 32 || i.PTXVersion != 80 || c.calls.Load() != 0 {
		t.Errorf("%+v, %v, %d compilations", i, err, c.calls.Load())
	}
	if err := k.Prepare([3]uint32{32, 1, 1}); err != nil {
		t.Fatal(err)
	}
	if i, err := k.Info(); err != nil || i.StaticShared != 64 || c.calls.Load() != 1 {
		t.Errorf("compiled: %+v, %v, %d compilations", i, err, c.calls.Load())
	}
	// A compiler that cannot tell still compiles.
	c = &teller{fake: fake{meta: image.Meta{SharedStatic: 64}}, err: errors.New("no")}
	if p, err = open(t, Config{Compiler: c}).Load(module(addOne)); err != nil {
		t.Fatal(err)
	}
	if k, err = p.Kernel("k"); err != nil {
		t.Fatal(err)
	}
	if i, err := k.Info(); err != nil || i.StaticShared != 64 || c.calls.Load() != 1 {
		t.Errorf("silent: %+v, %v, %d compilations", i, err, c.calls.Load())
	}
}
