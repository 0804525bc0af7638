package driver

import (
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/logx"
	"kudzu/internal/spec/cu"
)

func TestLaunchChecks(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	k, e, req := mustFn(t, th, m, "k"), mustFn(t, th, m, "empty"), mustFn(t, th, m, "req")
	p, _ := th.MemAlloc(64)
	ps := c.params(uint64(p), 77)
	type dim [3]uint32
	one := dim{1, 1, 1}
	for _, r := range []struct {
		what   string
		f      cu.CUfunction
		g, b   dim
		shared uint32
		params hostmem.Ptr
		code   int
	}{
		{"NULL", 0, one, one, 0, 0, 400}, {"junk", 0x123450, one, one, 0, 0, 400}, {"a module", cu.CUfunction(m), one, one, 0, 0, 400},
		{"plain", e, one, one, 0, 0, 0}, {"1025 threads", e, one, dim{1025, 1, 1}, 0, 0, 1}, {"1024 threads", e, one, dim{1024, 1, 1}, 0, 0, 0},
		{"2048 threads", e, one, dim{512, 2, 2}, 0, 0, 1}, {"z 65", e, one, dim{1, 1, 65}, 0, 0, 1}, {"0 threads", e, one, dim{0, 1, 1}, 0, 0, 1},
		{"0 blocks", e, dim{0, 1, 1}, one, 0, 0, 1}, {"y 65536", e, dim{1, 65536, 1}, one, 0, 0, 1}, {"y 65535", e, dim{1, 65535, 1}, one, 0, 0, 0},
		{"x 2^31", e, dim{1 << 31, 1, 1}, one, 0, 0, 1}, {"all shared", e, one, one, 49152, 0, 0}, {"too much shared", e, one, one, 49153, 0, 1},
		{"far too much shared", e, one, one, 1 << 31, 0, 1},
		{"params", k, one, one, 0, ps, 0}, {"no params", k, one, one, 0, 0, 1}, {"maxntid", k, one, dim{513, 1, 1}, 0, ps, 1}, {"maxntid in another shape", k, one, dim{1, 512, 1}, 0, ps, 0},
		{"static and dynamic", k, one, one, 48128, ps, 0}, {"one more", k, one, one, 48129, ps, 1},
		{"reqntid", req, one, dim{32, 2, 1}, 0, 0, 0}, {"not reqntid", req, one, dim{64, 1, 1}, 0, 0, 1}, {"params nobody asked for", e, one, one, 0, ps, 0},
	} {
		want(t, r.what, th.LaunchKernel(r.f, r.g[0], r.g[1], r.g[2], r.b[0], r.b[1], r.b[2], r.shared, 0, r.params, 0), r.code)
	}
	want(t, "raise", th.FuncSetAttribute(k, 8, 100000), 0)
	want(t, "raised", th.LaunchKernel(k, 1, 1, 1, 1, 1, 1, 100000, 0, ps, 0), 0)
	want(t, "past raised", th.LaunchKernel(k, 1, 1, 1, 1, 1, 1, 100001, 0, ps, 0), 1)
	want(t, "junk stream", th.LaunchKernel(e, 1, 1, 1, 1, 1, 1, 0, 0x123456, 0, 0), 400)

	for _, r := range []struct {
		grid uint32
		code int
	}{{132, 0}, {132 * 32, 0}, {132*32 + 1, 720}, {1<<31 - 1, 720}} {
		want(t, "cooperative", th.LaunchCooperativeKernel(e, r.grid, 1, 1, 64, 1, 1, 0, 0, 0), r.code)
	}
	want(t, "sync", th.CtxSynchronize(), 0)
	back := c.words(0)
	th.MemcpyDtoH(back, p, 4)
	if v := hostmem.Load[uint32](back); v != 77 {
		t.Errorf("the kernel got %d", v)
	}
}

func TestLaunchExtra(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	k, e := mustFn(t, th, m, "k"), mustFn(t, th, m, "empty")
	p, _ := th.MemAlloc(64)
	buf := uint64(c.words(uint64(p), 55))
	size := func(n uint64) uint64 { return uint64(c.words(n)) }
	for _, r := range []struct {
		what  string
		f     cu.CUfunction
		extra []uint64
		code  int
	}{
		{"12 bytes", k, []uint64{1, buf, 2, size(12), 0}, 0}, {"16 bytes", k, []uint64{1, buf, 2, size(16), 0}, 701}, {"8 bytes", k, []uint64{1, buf, 2, size(8), 0}, 0},
		{"13 bytes", k, []uint64{1, buf, 2, size(13), 0}, 701}, {"no size", k, []uint64{1, buf, 0}, 1}, {"empty", k, []uint64{0}, 1}, {"junk", k, []uint64{7, 0, 0}, 1},
		{"size first", k, []uint64{2, size(12), 1, buf, 0}, 0}, {"nothing needed", e, []uint64{0}, 0}, {"huge", k, []uint64{1, buf, 2, size(^uint64(0)), 0}, 701},
	} {
		want(t, r.what, th.LaunchKernel(r.f, 1, 1, 1, 1, 1, 1, 0, 0, 0, c.words(r.extra...)), r.code)
	}
	want(t, "both", th.LaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, 0, c.params(uint64(p), 1), c.words(1, buf, 2, size(12), 0)), 1)
	back := c.words(0)
	th.MemcpyDtoH(back, p, 4)
	if v := hostmem.Load[uint32](back); v != 55 {
		t.Errorf("the kernel got %d", v)
	}
}

func TestLaunchEx(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	e := mustFn(t, th, m, "empty")
	// One attribute is 72 bytes: id, then the value at 8.
	attr := func(id uint64, v ...uint64) []uint64 {
		return append(append([]uint64{id}, v...), make([]uint64, 8-len(v))...)
	}
	for _, r := range []struct {
		what  string
		attrs []uint64
		grid  uint32
		code  int
	}{
		{"none", nil, 1, 0}, {"cooperative", attr(2, 1), 132 * 64, 720}, {"not cooperative", attr(2, 0), 132 * 64, 0}, {"cluster", attr(4, 2|1<<32, 1), 4, 0},
		{"cluster does not divide", attr(4, 3|1<<32, 1), 4, 912}, {"priority", attr(8, 1), 1, 0}, {"unknown", attr(99, 1), 1, 1}, {"event", attr(7, 1), 1, 400},
	} {
		cfg := &cu.CUlaunchConfig{GridDimX: r.grid, GridDimY: 1, GridDimZ: 1, BlockDimX: 64, BlockDimY: 1, BlockDimZ: 1}
		if len(r.attrs) > 0 {
			cfg.Attrs, cfg.NumAttrs = uint64(c.words(r.attrs...)), 1
		}
		want(t, r.what, th.LaunchKernelEx(cfg, e, 0, 0), r.code)
	}
}

// TestSticky has each kind of fault end its context and no other.
func TestSticky(t *testing.T) {
	for name, codes := range map[string]int{"bad": 700, "mis": 716, "trp": 719} {
		th, c, m, _ := withPrimary(t)
		ctx, _ := th.CtxGetCurrent()
		p, _ := th.MemAlloc(64)
		s, _ := th.StreamCreate(0)
		e, _ := th.EventCreate(0)
		h := c.words(0)
		f := mustFn(t, th, m, name)
		line := stderrOf(t, func() {
			want(t, name, th.LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, 0, 0), 0)
			want(t, "sync", th.StreamSynchronize(s), codes)
		})
		if !strings.HasPrefix(line, "kudzu: kernel "+name+": ") || strings.Count(line, "\n") != 1 {
			t.Errorf("message %q", line)
		}
		if name == "bad" && line != "kudzu: kernel bad: illegal address 0x10 in block (0,0,0), thread (0,0,0), PTX line 12\n" {
			t.Errorf("message %q", line)
		}
		_, e1 := th.MemAlloc(4)
		_, e2 := th.StreamCreate(0)
		_, e3 := th.EventCreate(0)
		_, e4 := th.CtxGetLimit(0)
		_, e5 := th.ModuleLoadData(c.str(fakePTX))
		_, e6 := th.ModuleGetFunction(m, "k")
		_, e7 := th.FuncGetAttribute(0, f)
		_, _, e8 := th.MemGetInfo()
		_, e9 := th.StreamGetFlags(s)
		_, _, e10 := th.MemGetAddressRange(p)
		for i, err := range []error{e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, th.StreamQuery(s), th.StreamQuery(0), th.CtxSynchronize(), th.MemFree(p),
			th.MemcpyHtoD(p, h, 4), th.EventQuery(e), th.EventDestroy(e), th.MemHostAlloc(h, 64, 0), th.LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0),
			th.StreamDestroy(s), th.ModuleUnload(m), th.MemHostRegister(h, 8, 0), th.EventRecord(e, s)} {
			if code(err) != codes {
				t.Errorf("%s, call %d: %d, want %d", name, i, code(err), codes)
			}
		}
		_, e1 = th.CtxGetDevice()
		_, e2 = th.CtxGetFlags()
		_, e3 = th.DeviceGetCount()
		_, e4 = th.CtxGetCurrent()
		_, e5 = th.DevicePrimaryCtxRetain(0)
		for i, err := range []error{e1, e2, e3, e4, e5, th.PointerGetAttribute(h, 2, p), th.CtxPushCurrent(ctx), th.CtxSetCurrent(ctx)} {
			if err != nil {
				t.Errorf("%s, harmless call %d: %v", name, i, err)
			}
		}
		other, err := th.CtxCreate(0, 0)
		want(t, "another context", err, 0)
		_, err = th.MemAlloc(4)
		want(t, "MemAlloc there", err, 0)
		want(t, "destroy", th.CtxDestroy(other), 0)
		want(t, "reset", th.DevicePrimaryCtxReset(0), 0)
		th.DevicePrimaryCtxRetain(0)
		_, err = th.MemAlloc(4)
		want(t, "MemAlloc after reset", err, 0)
	}
}

func stderrOf(t *testing.T, f func()) string {
	t.Helper()
	logx.SetLevel(logx.Warn)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old, err := syscall.Dup(2) // messages go to the file descriptor, whatever os.Stderr is
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Dup3(int(w.Fd()), 2, 0); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	func() {
		defer func() {
			_ = syscall.Dup3(old, 2, 0)
			_ = syscall.Close(old)
		}()
		f()
	}()
	buf := make([]byte, 4096)
	n, _ := r.Read(buf)
	_ = r.Close()
	return string(buf[:n])
}

// TestRandomHandles throws random, flipped and foreign values at everything that takes a handle.
func TestRandomHandles(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	s, _ := th.StreamCreate(0)
	e, _ := th.EventCreate(0)
	f := mustFn(t, th, m, "k")
	ctx, _ := th.CtxGetCurrent()
	live := map[uint64]bool{uint64(s): true, uint64(e): true, uint64(f): true, uint64(ctx): true, uint64(m): true}
	r := rand.New(rand.NewPCG(3, 4))
	out := c.words(0)
	for range 20000 {
		v := r.Uint64()
		if r.IntN(2) == 0 {
			v = []uint64{uint64(s), uint64(e), uint64(f), uint64(ctx), uint64(m)}[r.IntN(5)] ^ 1<<r.IntN(64)
		}
		if live[v] || v <= 2 {
			continue
		}
		for i, err := range []error{
			th.StreamSynchronize(cu.CUstream(v)), th.StreamDestroy(cu.CUstream(v)), th.EventQuery(cu.CUevent(v)), th.EventRecord(cu.CUevent(v), s), th.EventRecord(e, cu.CUstream(v)),
			th.EventDestroy(cu.CUevent(v)), th.ModuleUnload(cu.CUmodule(v)), th.LibraryUnload(cu.CUlibrary(v)), th.LaunchKernel(cu.CUfunction(v), 1, 1, 1, 1, 1, 1, 0, 0, 0, 0),
			th.FuncGetName(out, cu.CUfunction(v)), th.KernelGetName(out, cu.CUkernel(v)), th.CtxDestroy(cu.CUcontext(v)), th.MemFree(DevPtr(v)), th.StreamWaitEvent(s, cu.CUevent(v), 0),
		} {
			if err == nil {
				t.Fatalf("call %d accepts %#x", i, v)
			}
		}
	}
	for i, err := range []error{th.StreamSynchronize(cu.CUstream(e)), th.EventQuery(cu.CUevent(s)), th.ModuleUnload(cu.CUmodule(f)), th.CtxDestroy(cu.CUcontext(s))} {
		if err == nil {
			t.Errorf("call %d accepts a handle of another kind", i)
		}
	}
}

// nullQueue takes launches and does nothing, to measure the driver alone.
type nullQueue struct{ backend.Queue }

func (nullQueue) Launch(backend.Kernel, *backend.Launch) error { return nil }
func (nullQueue) Done() (bool, error)                          { return true, nil }
func (nullQueue) Sync() error                                  { return nil }

func benchLaunch(b *testing.B, kind streamKind, blocking int) {
	th, c, m, _ := withPrimary(b)
	k := mustFn(b, th, m, "k")
	p, _ := th.MemAlloc(64)
	ps := c.params(uint64(p), 77)
	cx := current.Load().devices[0].primary
	for range blocking {
		if _, err := th.StreamCreate(0); err != nil {
			b.Fatal(err)
		}
	}
	h := cu.CUstream(0)
	if kind != legacyStream {
		h, _ = th.StreamCreate(uint32(kind))
		current.Load().streams.Get(handleValue(h)).q = nullQueue{}
	} else {
		cx.legacy.Load().q = nullQueue{}
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := th.LaunchKernel(k, 64, 1, 1, 256, 1, 1, 0, h, ps, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLaunchLegacy(b *testing.B)        { benchLaunch(b, legacyStream, 0) }
func BenchmarkLaunchLegacyBeside8(b *testing.B) { benchLaunch(b, legacyStream, 8) }
func BenchmarkLaunchBlocking(b *testing.B)      { benchLaunch(b, blockingStream, 0) }
func BenchmarkLaunchNonBlocking(b *testing.B)   { benchLaunch(b, nonBlockingStream, 0) }

func TestLaunchDoesNotAllocate(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	k := mustFn(t, th, m, "k")
	p, _ := th.MemAlloc(64)
	ps := c.params(uint64(p), 77)
	h, _ := th.StreamCreate(1)
	current.Load().streams.Get(handleValue(h)).q = nullQueue{}
	if n := testing.AllocsPerRun(1000, func() { _ = th.LaunchKernel(k, 64, 1, 1, 256, 1, 1, 0, h, ps, 0) }); n > 0.1 {
		t.Errorf("%v allocations a launch", n)
	}
}
