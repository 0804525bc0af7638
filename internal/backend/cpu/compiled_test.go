package cpu

import (
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"kudzu/internal/backend"
	"kudzu/internal/compile"
	"kudzu/internal/compile/worker"
	"kudzu/internal/config"
)

// TestMain serves as the compiler process when a test's client starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	if config.Get(config.Tier) == "" { // tests count compilations; those of tiers say so
		os.Setenv(config.Tier, compile.Optimised.String())
	}
	os.Exit(m.Run())
}

const header = ".version 8.0\n.target sm_90\n.address_size 64\n"

// compiled opens a device with the real compiler, or skips.
func compiled(t *testing.T) *Device {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := compile.New(compile.Config{Command: []string{self, "compiler"}, Version: "test"})
	d := open(t, Config{Compiler: c})
	_, k := load(t, d, ptxModule(".visible .entry k() { ret; }", 0))
	var none *compile.NoCompiler
	if err := k.Prepare([3]uint32{32, 1, 1}); errors.As(err, &none) || err != nil && strings.Contains(err.Error(), "no compiler") {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	return d
}

func ptxModule(body string, params int) *backend.Module {
	text := header + body
	return &backend.Module{
		Name: "test", Text: text, Options: backend.Options{OptLevel: -1},
		Kernels: []backend.KernelDecl{{Name: "k", ParamBytes: params}},
		Slice:   func(string) (string, func(int) int, error) { return text, func(n int) int { return n }, nil },
	}
}

func TestCompiledFaults(t *testing.T) {
	d := compiled(t)
	rows := []struct{ name, body, want string }{
		{"store to a bad address", `.visible .entry k(.param .u64 p) {
	.reg .u64 %a;
	.reg .u32 %t;
	ld.param.u64 %a, [p];
	mov.u32 %t, %tid.x;
	st.global.u32 [%a], %t;
	ret;
}`, "kernel k: illegal address 0x40"},
		{"trap", `.visible .entry k(.param .u64 p) {
	.reg .pred %q;
	.reg .u32 %t;
	mov.u32 %t, %tid.x;
	setp.eq.u32 %q, %t, 40;
	@%q trap;
	ret;
}`, "kernel k: trap"},
		{"store in a function that calls itself", `.func f(.param .u32 n) {
	.reg .u64 %a; .reg .u32 %n; .reg .pred %q;
	ld.param.u32 %n, [n];
	setp.ne.u32 %q, %n, 0;
	@%q bra DEEPER; mov.u64 %a, 0x40;
	st.global.u32 [%a], %n;
	ret;
DEEPER:
	sub.u32 %n, %n, 1;
	{ .param .u32 m; st.param.u32 [m], %n; call f, (m); }
	ret;
}
.visible .entry k(.param .u64 p) {
	{ .param .u32 m; st.param.u32 [m], 3; call f, (m); }
	ret;
}`, "kernel k: illegal address 0x40"},
		{"call of no function", `.func f() { ret; }
.global .u64 g = f;
.visible .entry k(.param .u64 p) {
	.reg .u64 %a;
	ld.param.u64 %a, [p]; proto: .callprototype _ ();
	call %a, proto;
	ret;
}`, "kernel k: illegal address"},
		{"recursion without end", `.func f(.param .u32 n) {
	.reg .u32 %n;
	ld.param.u32 %n, [n]; add.u32 %n, %n, 1;
	{ .param .u32 m; st.param.u32 [m], %n; call f, (m); }
	st.local.u32 [0], %n; ret; }
.visible .entry k(.param .u64 p) { { .param .u32 m; st.param.u32 [m], 3; call f, (m); } ret; }`, "kernel k: stack"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, k := load(t, d, ptxModule(row.body, 8))
			q, err := d.NewQueue(0)
			if err != nil {
				t.Fatal(err)
			}
			l := &backend.Launch{Grid: [3]uint32{3, 1, 1}, Block: [3]uint32{64, 1, 1}, Params: binary.LittleEndian.AppendUint64(nil, 0x40)}
			if err := q.Launch(k, l); err != nil {
				t.Fatal(err)
			}
			err = q.Close()
			var f *backend.Fault
			if !errors.As(err, &f) || !strings.HasPrefix(f.Error(), row.want) {
				t.Fatalf("got %v, want %s", err, row.want)
			}
			if f.Line != 9 && row.name != "recursion without end" {
				t.Errorf("PTX line %d, want 9: %v", f.Line, err)
			}
			if row.name == "trap" && f.Thread != [3]uint32{40, 0, 0} {
				t.Errorf("thread %v, want 40", f.Thread)
			}
		})
	}
}

// A kernel waits for the host; the host launches more meanwhile.
func TestCompiledSpin(t *testing.T) {
	d := compiled(t)
	p, k := load(t, d, ptxModule(`.visible .entry k(.param .u64 p) {
	.reg .u64 %a;
	.reg .u32 %v;
	.reg .pred %q;
	ld.param.u64 %a, [p];
L:
	ld.volatile.global.u32 %v, [%a];
	setp.eq.u32 %q, %v, 0;
	@%q bra L;
	st.global.u32 [%a+4], %v;
	ret;
}`, 8))
	a, err := d.mem.Alloc(8, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := d.mem.Bytes(a, 8)
	clear(b)
	q, _ := d.NewQueue(0)
	l := &backend.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{1, 1, 1}, Params: binary.LittleEndian.AppendUint64(nil, a)}
	for range 10 {
		if err := q.Launch(k, l); err != nil {
			t.Fatal(err)
		}
	}
	flag := (*uint32)(unsafe.Pointer(&b[0]))
	time.AfterFunc(5*time.Millisecond, func() { atomic.StoreUint32(flag, 7) })
	if err := q.Close(); err != nil || b[4] != 7 {
		t.Errorf("%v: %d", err, b[4])
	}
	if err := p.Unload(); err != nil {
		t.Error(err)
	}
}

// TestStack: a kernel that recurses deeper than its stack faults, and runs once a context asked for more.
func TestStack(t *testing.T) {
	d := compiled(t)
	_, k := load(t, d, ptxModule(`.func f(.param .u32 n) {
	.local .b8 room[64];
	.reg .u32 %n;
	.reg .pred %p;
	ld.param.u32 %n, [n];
	st.local.u32 [room], %n;
	setp.eq.u32 %p, %n, 0;
	@%p bra END;
	sub.u32 %n, %n, 1;
	{ .param .u32 m; st.param.u32 [m], %n; call f, (m); }
	ld.local.u32 %n, [room];
	END: ret; }
.visible .entry k(.param .u64 n) { .reg .u32 %n; ld.param.u32 %n, [n]; { .param .u32 m; st.param.u32 [m], %n; call f, (m); } ret; }`, 8))
	run := func(depth uint64) error {
		q, err := d.NewQueue(0)
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Launch(k, &backend.Launch{Grid: [3]uint32{2, 1, 1}, Block: [3]uint32{32, 1, 1}, Params: binary.LittleEndian.AppendUint64(nil, depth)}); err != nil {
			t.Fatal(err)
		}
		return q.Close()
	}
	if err := run(400); err != nil {
		t.Errorf("400 calls: %v", err)
	}
	var f *backend.Fault
	if err := run(3000); !errors.As(err, &f) || f.Kind != backend.FaultStack {
		t.Errorf("3,000 calls in 64 KB: %v", err)
	}
	d.SetStack(512 << 10)
	d.SetStack(1024) // another context's wish takes nothing back
	if err := run(3000); err != nil {
		t.Errorf("3,000 calls in 512 KB: %v", err)
	}
	if err := run(300000); !errors.As(err, &f) || f.Kind != backend.FaultStack {
		t.Errorf("300,000 calls in 512 KB: %v", err)
	}
}
