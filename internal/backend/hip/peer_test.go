package hip_test

import (
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/codeobject"
	"kudzu/internal/dl"
	"kudzu/internal/driver"
	"kudzu/internal/spec/cu"
	"kudzu/internal/testkit/hipdouble"

	hipbackend "kudzu/internal/backend/hip"
)

// ask calls one of the double's own functions.
func ask(t *testing.T, path, name string, args ...uintptr) int {
	t.Helper()
	lib, err := dl.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := lib.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return int(f.Call(args...))
}

// TestPeers: who can reach whom is HIP's answer, and HIP is told once for all contexts of a device. Three GPUs and a processor.
func TestPeers(t *testing.T) {
	lib := hipdouble.Build(t)
	t.Setenv("KUDZU_DOUBLE_DEVICES", "gfx1100,gfx1101,gfx90a")
	t.Setenv("KUDZU_BACKEND", "hip,other")
	driver.Start([]backend.Backend{hipbackend.New(hipbackend.Config{Compiler: &canned{}, Library: lib}), other{}})
	th := new(driver.Thread)
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(th.Init(0))
	if n, err := th.DeviceGetCount(); err != nil || n != 4 {
		t.Fatalf("%d devices, %v", n, err)
	}
	for _, c := range []struct {
		a, b cu.CUdevice
		can  int32
	}{{0, 1, 1}, {1, 0, 1}, {0, 2, 0}, {2, 1, 0}, {0, 0, 0}, {0, 3, 0}, {3, 0, 0}} {
		if can, err := th.DeviceCanAccessPeer(c.a, c.b); err != nil || can != c.can {
			t.Errorf("%d reaches %d: %d, %v", c.a, c.b, can, err)
		}
	}
	var ctx [3]cu.CUcontext
	for i := range ctx {
		var err error
		ctx[i], err = th.CtxCreate(0, cu.CUdevice(i))
		ok(err)
	}
	second, err := th.CtxCreate(0, 0)
	ok(err)
	enabled := func(want int) {
		t.Helper()
		if got := ask(t, lib, "kz_double_enabled", 0, 1); got != want {
			t.Errorf("HIP has it at %d, want %d", got, want)
		}
	}
	ok(th.CtxEnablePeerAccess(ctx[1], 0))
	enabled(1)
	ok(th.CtxSetCurrent(ctx[0]))
	ok(th.CtxEnablePeerAccess(ctx[1], 0)) // another context of the same device
	if err := th.CtxEnablePeerAccess(ctx[1], 0); err != driver.Result(cu.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) {
		t.Errorf("twice: %v", err)
	}
	if err := th.CtxEnablePeerAccess(ctx[2], 0); err != driver.Result(cu.CUDA_ERROR_PEER_ACCESS_UNSUPPORTED) {
		t.Errorf("one that cannot be reached: %v", err)
	}
	ok(th.CtxDisablePeerAccess(ctx[1]))
	enabled(1)
	ok(th.CtxSetCurrent(second))
	ok(th.CtxDisablePeerAccess(ctx[1]))
	enabled(0)
	// A context that ends gives back what it had; so does one whose peer has ended.
	ok(th.CtxEnablePeerAccess(ctx[1], 0))
	enabled(1)
	ok(th.CtxDestroy(second))
	enabled(0)
	ok(th.CtxSetCurrent(ctx[0]))
	ok(th.CtxEnablePeerAccess(ctx[1], 0))
	ok(th.CtxDestroy(ctx[1]))
	enabled(1)
	ok(th.CtxDisablePeerAccess(ctx[1]))
	enabled(0)
}

// other is a backend with one device that is no GPU.
type other struct{}

func (other) Name() string                    { return "other" }
func (other) Open() ([]backend.Device, error) { return []backend.Device{otherDevice{}}, nil }

type otherDevice struct{ backend.Device }

func (otherDevice) Info() *backend.Info {
	return &backend.Info{Name: "other", Peers: true, Major: 8, WarpSize: 32, Processors: 1, MaxThreads: 1024}
}

// TestStack: a kernel of unknown depth has HIP's limit raised before it runs, to what contexts asked for, within HIP's bounds.
func TestStack(t *testing.T) {
	target, err := codeobject.ParseTarget("gfx1100")
	if err != nil {
		t.Fatal(err)
	}
	object := func(deep bool) []byte {
		t.Helper()
		k := codeobject.Kernel{Name: "add", Args: []codeobject.Arg{{Offset: 0, Size: 24, Kind: "by_value"}}, KernargSize: 24, Wave: 32, VGPRs: 8, MaxFlat: 1024, DynamicStack: deep}
		b, err := codeobject.Build(&codeobject.Source{Target: target, Version: 5, Kernels: []codeobject.Kernel{k}, Code: [][]byte{{0, 0, 0x81, 0xbf}}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, old := range []bool{false, true} {
		var flags []string
		if old {
			flags = []string{"-DROCM5"}
		}
		lib := hipdouble.Build(t, flags...)
		hipdouble.Serve(t, func(*hipdouble.Launch) error { return nil })
		launch := func(d backend.Device, deep bool, want int) {
			t.Helper()
			p := load(t, d, add)
			k, err := p.Kernel("add")
			if err != nil {
				t.Fatal(err)
			}
			q, err := d.NewQueue(0)
			if err != nil {
				t.Fatal(err)
			}
			if err := q.Launch(k, &backend.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Params: make([]byte, 24)}); err != nil {
				t.Fatal(err)
			}
			if err := q.Close(); err != nil {
				t.Fatal(err)
			}
			if old {
				want = 0
			}
			if got := ask(t, lib, "kz_double_stack", 0); got != want {
				t.Errorf("HIP's limit is %d, want %d", got, want)
			}
		}
		c := &canned{code: object(false)}
		d := open(t, c, lib, "gfx1100")[0]
		if old {
			c.code[8] = 2 // code objects of version 4: what ROCm 5.2 takes
		}
		launch(d, false, 0)
		c.code = object(true)
		if old {
			c.code[8] = 2
		}
		launch(d, true, 16<<10)
		d.(backend.StackLimit).SetStack(40_000)
		d.(backend.StackLimit).SetStack(2_000) // another context asks for less: it has more
		launch(d, true, 40<<10)
		d.(backend.StackLimit).SetStack(512 << 10)
		launch(d, true, 128<<10-16)
	}
}

// TestRealMonitor asks the ROCm SMI of this machine, if it has one. Without a GPU the answer is one line.
func TestRealMonitor(t *testing.T) {
	found, err := hipbackend.New(hipbackend.Config{}).Monitor()
	switch {
	case err == nil:
		t.Log(found)
	case !strings.Contains(err.Error(), "rsmi_"):
		t.Skip(err)
	case strings.Contains(err.Error(), "\n"):
		t.Errorf("%q", err)
	}
}
