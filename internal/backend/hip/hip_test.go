package hip_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/hip"
	"kudzu/internal/codeobject"
	"kudzu/internal/compile"
	"kudzu/internal/driver"
	api "kudzu/internal/spec/hip"
	"kudzu/internal/testkit"
	"kudzu/internal/testkit/hipdouble"
)

// canned is a compiler that has one answer.
type canned struct {
	code []byte
	err  error
	last *compile.Request
}

func (c *canned) Object(req *compile.Request, check func([]byte) error) (*compile.Result, error) {
	c.last = req
	if c.err != nil {
		return nil, c.err
	}
	if err := check(c.code); err != nil {
		return nil, &compile.Failed{Stage: "code object", Text: err.Error()}
	}
	return &compile.Result{Image: c.code}, nil
}

func (c *canned) Facts(*compile.Request) (*compile.Facts, error) {
	return &compile.Facts{PTXVersion: 80}, nil
}

// add is the module whose kernel internal/codeobject/testdata/kernels.ll has the code of.
const add = `.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter[4] = {100, 0, 0, 1000};
.visible .global .align 4 .u32 maybe = 10000;
.visible .entry add(.param .u64 out, .param .u64 unused, .param .u32 n) { ret; }
`

func load(t *testing.T, d backend.Device, text string) backend.Program {
	t.Helper()
	m, err := driver.Describe("m", text, 90)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Load(m)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func open(t *testing.T, c hip.Compiler, lib, archs string) []backend.Device {
	t.Helper()
	t.Setenv("KUDZU_DOUBLE_DEVICES", archs)
	devs, err := hip.New(hip.Config{Compiler: c, Library: lib}).Open()
	if err != nil {
		t.Fatal(err)
	}
	return devs
}

func object(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../codeobject/testdata", name+".elf"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRowsAreCalled: hip.api has signatures for what is called, and only for that.
func TestRowsAreCalled(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(b)
	}
	for _, r := range api.Rows {
		name := "hip.H" + r.Name[1:]
		if i := strings.Index(text.String(), name); i < 0 {
			t.Errorf("%s is not called: mark it opaque", r.Name)
		}
	}
}

// TestNoLibrary: without ROCm there is one line that says so, and a library that is something else is none.
func TestNoLibrary(t *testing.T) {
	junk := filepath.Join(t.TempDir(), "libamdhip64.so.6")
	if err := os.WriteFile(junk, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, lib := range []string{"/nonexistent/libamdhip64.so.6", junk, "libc.so.6"} {
		devs, err := hip.New(hip.Config{Library: lib}).Open()
		if err == nil || len(devs) != 0 || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "ROCm: ") {
			t.Errorf("%s: %d devices, %v", lib, len(devs), err)
		}
	}
}

// TestRealLibrary asks the library of this machine, if it has one. Without a GPU the answer is one line, and stays.
func TestRealLibrary(t *testing.T) {
	b := hip.New(hip.Config{Compiler: &canned{}})
	devs, err := b.Open()
	switch {
	case err == nil:
		t.Logf("%s: %d devices", b.Library(), len(devs))
	case b.Library() == "":
		t.Skip(err)
	default:
		if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "hipError") && !strings.Contains(err.Error(), "no AMD GPU") {
			t.Errorf("%v", err)
		}
		if _, again := b.Open(); again == nil || again.Error() != err.Error() {
			t.Errorf("asked again: %v", again)
		}
	}
}

// TestNoDevice: a runtime without devices.
func TestNoDevice(t *testing.T) {
	lib := hipdouble.Build(t)
	t.Setenv("KUDZU_DOUBLE_DEVICES", ",")
	if devs, err := hip.New(hip.Config{Library: lib}).Open(); err == nil || !strings.Contains(err.Error(), "hipErrorNoDevice") {
		t.Errorf("%d devices, %v", len(devs), err)
	}
}

// TestDevices: what the library says of devices is what programs hear; what cannot be used is left out and said.
func TestDevices(t *testing.T) {
	lib := hipdouble.Build(t)
	devs := open(t, &canned{}, lib, "gfx1100,gfx90a:sramecc+:xnack-,gfx803")
	if len(devs) != 2 {
		t.Fatalf("%d devices", len(devs))
	}
	a, b := devs[0].Info(), devs[1].Info()
	if a.Name != "Double 0 (gfx1100)" || b.Name != "Double 1 (gfx90a)" || a.UUID == b.UUID || a.WarpSize != 32 || b.WarpSize != 32 || a.Processors != 48 ||
		a.SharedBlock != 48<<10 || a.SharedOptin != 64<<10 || a.Major != 8 || a.Minor != 6 || a.Memory != 1<<30 || a.MaxBlock[0] != 1024 || a.HostPointers || !a.Cooperative {
		t.Errorf("%+v\n%+v", a, b)
	}
	if _, err := hip.New(hip.Config{Library: lib, Env: func(k string) string { return map[string]string{"KUDZU_COMPUTE_CAPABILITY": "x"}[k] }}).Open(); err == nil {
		t.Error("a compute capability of x")
	}
}

// TestOverride: what HSA_OVERRIDE_GFX_VERSION makes of a device is what is compiled for.
func TestOverride(t *testing.T) {
	lib := hipdouble.Build(t)
	t.Setenv("HSA_OVERRIDE_GFX_VERSION", "11.0.0")
	c := &canned{code: object(t, "gfx1100")}
	d := open(t, c, lib, "gfx1103")[0]
	k, err := load(t, d, add).Kernel("add")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Prepare([3]uint32{}); err != nil || c.last.Target.CPU != "gfx1100" || c.last.Target.Triple != "amdgcn-amd-amdhsa" {
		t.Errorf("%+v, %v", c.last, err)
	}
}

// TestVersions: an old runtime gets code objects it can read.
func TestVersions(t *testing.T) {
	for _, v := range []struct {
		flags []string
		want  int
	}{{nil, 5}, {[]string{"-DROCM5"}, 4}} {
		c := &canned{err: errors.New("not now")}
		d := open(t, c, hipdouble.Build(t, v.flags...), "gfx1100")[0]
		k, err := load(t, d, add).Kernel("add")
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Prepare([3]uint32{}); err == nil || c.last.Options.CodeObject != v.want {
			t.Errorf("version %d, want %d, %v", c.last.Options.CodeObject, v.want, err)
		}
	}
}

// TestGeneric: a processor that the compiler has no name for gets its family's code, of version 6, where the runtime takes that;
// where it does not, the device is left out and said why.
func TestGeneric(t *testing.T) {
	c := &canned{err: errors.New("not now")}
	d := open(t, c, hipdouble.Build(t), "gfx1153")[0]
	k, err := load(t, d, add).Kernel("add")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Prepare([3]uint32{}); err == nil || c.last.Options.CodeObject != 6 || c.last.Target.CPU != "gfx11-generic" {
		t.Errorf("%+v, %v", c.last, err)
	}
	t.Setenv("KUDZU_DOUBLE_DEVICES", "gfx1153")
	if _, err := hip.New(hip.Config{Library: hipdouble.Build(t, "-DROCM5")}).Open(); err == nil || !strings.Contains(err.Error(), "gfx1153") || !strings.Contains(err.Error(), "generic") {
		t.Errorf("an old runtime: %v", err)
	}
}

// TestRefusals: what must not reach the GPU does not.
func TestRefusals(t *testing.T) {
	lib := hipdouble.Build(t)
	c := &canned{code: object(t, "gfx1100")}
	devs := open(t, c, lib, "gfx1100,gfx1201")
	p := load(t, devs[0], add)
	k, err := p.Kernel("add")
	if err != nil {
		t.Fatal(err)
	}
	q, err := devs[0].NewQueue(0)
	if err != nil {
		t.Fatal(err)
	}
	other, err := devs[1].NewQueue(99)
	if err != nil {
		t.Fatal(err)
	}
	params := make([]byte, 24)
	one := [3]uint32{1, 1, 1}
	var u *backend.Unsupported
	if err := q.Launch(k, &backend.Launch{Grid: [3]uint32{1 << 24, 1, 1}, Block: [3]uint32{256, 1, 1}, Params: params}); !errors.As(err, &u) {
		t.Errorf("2^32 threads in a dimension: %v", err)
	}
	if err := q.Launch(k, &backend.Launch{Grid: one, Block: one, Cluster: [3]uint32{2, 1, 1}, Params: params}); !errors.As(err, &u) {
		t.Errorf("a cluster: %v", err)
	}
	if err := q.Launch(k, &backend.Launch{Grid: one, Block: one, Params: params[:8]}); err == nil {
		t.Error("too few parameters")
	}
	if err := other.Launch(k, &backend.Launch{Grid: one, Block: one, Params: params}); err == nil {
		t.Error("a kernel on another device's queue")
	}
	// Code for another processor is not loaded, and said so.
	k, err = load(t, devs[1], add).Kernel("add")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Prepare([3]uint32{}); err == nil || !strings.Contains(err.Error(), "gfx1100") || !strings.Contains(err.Error(), "gfx1201") {
		t.Errorf("code for gfx1100 on gfx1201: %v", err)
	}
	// A variable that nobody defines is named.
	text := strings.Replace(add, ".visible .global .align 4 .u32 counter[4] = {100, 0, 0, 1000};", "", 1)
	k, err = load(t, devs[0], text).Kernel("add")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Prepare([3]uint32{}); !errors.Is(err, codeobject.ErrUnbound) || !strings.Contains(err.Error(), "counter") {
		t.Errorf("an undefined variable: %v", err)
	}
	// What the compiler cannot do is a refusal of that kernel, with the line of the module.
	c.err = &compile.Unsupported{What: "tcgen05.mma", Line: 6}
	k, err = load(t, devs[0], add).Kernel("add")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Prepare([3]uint32{}); !errors.As(err, &u) || u.What != "tcgen05.mma" || u.Line == 0 {
		t.Errorf("an instruction that cannot be compiled: %v", err)
	}
}

// TestRealCode runs code that LLVM made on whatever executes AMD's instructions: a runner outside that speaks the double's
// protocol (docs/amd.md). KUDZU_DOUBLE_RUNNER and KUDZU_DOUBLE_ARENA say where it is.
func TestRealCode(t *testing.T) {
	if os.Getenv("KUDZU_DOUBLE_RUNNER") == "" {
		t.Skip("KUDZU_DOUBLE_RUNNER is not set: nothing here executes AMD's instructions")
	}
	lib := hipdouble.Build(t)
	for i, name := range []string{"gfx1100", "gfx1201"} {
		c := &canned{code: object(t, name)}
		d := open(t, c, lib, "gfx1100,gfx1201")[i]
		p := load(t, d, add)
		k, err := p.Kernel("add")
		if err != nil {
			t.Fatal(err)
		}
		q, err := d.NewQueue(0)
		if err != nil {
			t.Fatal(err)
		}
		out, err := d.Memory().Alloc(256, 256)
		if err != nil {
			t.Fatal(err)
		}
		params := binary.LittleEndian.AppendUint64(nil, uint64(out))
		params = binary.LittleEndian.AppendUint32(append(params, make([]byte, 8)...), 1)
		err = q.Launch(k, &backend.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{40, 1, 1}, DynamicShared: 256, Params: append(params, 0, 0, 0, 0)})
		h := testkit.NewHostPage(t, 256)
		if err := errors.Join(err, q.Copy(h.Addr(), out, 256), q.Sync()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		// tab[1] + counter[0], table[1], link[1] = counter[3], maybe
		for _, i := range []int{0, 31, 39} {
			if n := binary.LittleEndian.Uint32(h[4*i:]); n != 2+100+22+1000+10000 {
				t.Errorf("%s: thread %d: %d", name, i, n)
			}
		}
	}
}
