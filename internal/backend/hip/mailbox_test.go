package hip_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sort"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/hip"
	"kudzu/internal/devrt"
	"kudzu/internal/testkit"
	"kudzu/internal/testkit/hipdouble"
)

// speaker prints, takes memory and gives it back if it is 100 bytes, and fails an assertion in the thread that its parameter names.
const speaker = `.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 fn, .param .b64 c);
.global .align 1 .b8 fmt[] = {116, 37, 45, 51, 100, 124, 37, 46, 50, 102, 124, 37, 115, 124, 37, 42, 108, 120, 124, 37, 115, 10, 0};
.global .align 1 .b8 word[] = {111, 107, 0};
.visible .entry k(.param .u64 out, .param .u32 bad, .param .u32 bytes)
{
	.local .align 8 .b8 args[48];
	.reg .pred %p<4>;
	.reg .b32 %r<8>;
	.reg .b64 %a<12>;
	.reg .f64 %d<2>;
	mov.u32 %r1, %tid.x;
	mov.u64 %a1, args;
	cvta.local.u64 %a2, %a1;
	st.u32 [%a2], %r1;
	cvt.rn.f64.u32 %d1, %r1;
	mul.f64 %d1, %d1, 0d3FD0000000000000;
	st.f64 [%a2+8], %d1;
	mov.u64 %a3, word;
	cvta.global.u64 %a3, %a3;
	st.u64 [%a2+16], %a3;
	mov.u32 %r2, 6;
	st.u32 [%a2+24], %r2;
	mov.u64 %a4, 0xabcd;
	st.u64 [%a2+32], %a4;
	mov.u64 %a4, 0;
	st.u64 [%a2+40], %a4;
	mov.u64 %a5, fmt;
	cvta.global.u64 %a5, %a5;
	{
	.param .b32 q0;
	.param .b64 q1;
	.param .b64 q2;
	st.param.b64 [q1], %a5;
	st.param.b64 [q2], %a2;
	call (q0), vprintf, (q1, q2);
	ld.param.b32 %r3, [q0];
	}
	ld.param.u64 %a6, [out];
	mul.wide.u32 %a7, %r1, 4;
	add.s64 %a6, %a6, %a7;
	{
	.param .b64 q0;
	.param .b64 q1;
	ld.param.u32 %r7, [bytes];
	cvt.u64.u32 %a8, %r7;
	st.param.b64 [q1], %a8;
	call (q0), malloc, (q1);
	ld.param.b64 %a9, [q0];
	}
	st.u32 [%a9+96], %r1;
	ld.u32 %r4, [%a9+96];
	mad.lo.u32 %r3, %r3, 1000, %r4;
	st.global.u32 [%a6], %r3;
	setp.ne.u32 %p2, %r7, 100;
	@%p2 bra KEEP;
	{
	.param .b64 q0;
	st.param.b64 [q0], %a9;
	call free, (q0);
	}
KEEP:
	ld.param.u32 %r5, [bad];
	setp.ne.u32 %p1, %r1, %r5;
	@%p1 bra END;
	{
	.param .b64 q0;
	.param .b64 q1;
	.param .b32 q2;
	.param .b64 q3;
	.param .b64 q4;
	st.param.b64 [q0], %a3;
	st.param.b64 [q1], %a3;
	st.param.b32 [q2], 42;
	st.param.b64 [q3], %a3;
	st.param.b64 [q4], 1;
	call __assertfail, (q0, q1, q2, q3, q4);
	}
END:
	ret;
}
`

// TestDeviceRuntime: what device code prints and asserts arrives when the program waits; its memory is its own. The functions are devrt's
// PTX, executed by the interpreter in the double's memory.
func TestDeviceRuntime(t *testing.T) {
	lib := hipdouble.Build(t)
	runner := hipdouble.NewInterpreted(t, lib)
	t.Setenv("KUDZU_DOUBLE_DEVICES", "gfx1100")
	var out, complaints bytes.Buffer
	devs, err := hip.New(hip.Config{Compiler: runner, Library: lib, Out: &out, Err: &complaints}).Open()
	if err != nil {
		t.Fatal(err)
	}
	d := devs[0]
	k, err := load(t, d, devrt.Define(speaker, []string{"vprintf", "malloc", "free", "__assertfail"})).Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(0)
	if err != nil {
		t.Fatal(err)
	}
	const threads = 64
	at, err := d.Memory().Alloc(4*threads, 256)
	if err != nil {
		t.Fatal(err)
	}
	launch := func(q backend.Queue, bad, bytes uint32) error {
		params := binary.LittleEndian.AppendUint64(nil, uint64(at))
		params = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(params, bad), bytes)
		return q.Launch(k, &backend.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{threads, 1, 1}, Params: params})
	}
	h := testkit.NewHostPage(t, 4*threads)
	for round := range 3 {
		out.Reset()
		if err := errors.Join(launch(q, 999, 100), q.Copy(h.Addr(), at, 4*threads), q.Sync()); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		sort.Strings(lines)
		if len(lines) != threads || lines[0] != "t0  |0.00|ok|  abcd|(null)" || lines[threads-1] != "t9  |2.25|ok|  abcd|(null)" {
			t.Fatalf("round %d: %d lines, %q … %q", round, len(lines), lines[0], lines[len(lines)-1])
		}
		for i := range threads {
			if n := binary.LittleEndian.Uint32(h[4*i:]); n != uint32(6000+i) {
				t.Errorf("thread %d: %d", i, n)
			}
		}
	}
	// The ring goes round (a launch is 5 KB of 1 MB), and a heap that is given back to serves again (8 KB of 8 MB).
	for range 210 {
		if err := errors.Join(launch(q, 999, 100), q.Sync()); err != nil {
			t.Fatal(err)
		}
	}
	out.Reset()
	err = errors.Join(launch(q, 7, 100), q.Sync())
	var f *backend.Fault
	if !errors.As(err, &f) || f.Kind != backend.FaultAssert || f.Kernel != "k" {
		t.Fatalf("a failed assertion: %v", err)
	}
	if s := complaints.String(); s != "ok:42: ok: block: [0,0,0], thread: [7,0,0] Assertion `ok` failed.\n" {
		t.Errorf("%q", s)
	}
	if !strings.Contains(out.String(), "t7  |1.75|ok|  abcd|(null)\n") {
		t.Error("what was printed before is lost")
	}
	if err := launch(q, 999, 100); !errors.As(err, &f) {
		t.Errorf("a launch after it: %v", err)
	}
	// Another queue is another context's: it goes on. There a heap that nobody gives back to is used up: malloc gives 0.
	if q, err = d.NewQueue(0); err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		if err = errors.Join(launch(q, 999, 60000), q.Sync()); err != nil {
			if i != 1 { // twice 64 blocks of 64 KB are 8 MB, and there is something else
				t.Errorf("the heap was used up after %d launches", i)
			}
			break
		}
	}
	if !errors.As(err, &f) || f.Kind != backend.FaultAddress {
		t.Errorf("a store to what malloc did not give: %v", err)
	}
}

// TestLimits: what a context asks for before kernels use them is what the buffer for printing and the heap become.
func TestLimits(t *testing.T) {
	lib := hipdouble.Build(t)
	runner := hipdouble.NewInterpreted(t, lib)
	t.Setenv("KUDZU_DOUBLE_DEVICES", "gfx1100")
	var out bytes.Buffer
	devs, err := hip.New(hip.Config{Compiler: runner, Library: lib, Out: &out, Err: &out}).Open()
	if err != nil {
		t.Fatal(err)
	}
	d := devs[0]
	limits, ok := d.(backend.DomainLimits)
	if !ok {
		t.Fatal("the device takes no limits")
	}
	if err := errors.Join(limits.SetLimits(1, 1<<20+1, 0), limits.SetLimits(2, 0, 20<<20), limits.SetLimits(3, 1<<19, 4<<20)); err != nil {
		t.Fatal(err)
	}
	k, err := load(t, d, devrt.Define(speaker, []string{"vprintf", "malloc", "free", "__assertfail"})).Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(0)
	if err != nil {
		t.Fatal(err)
	}
	const threads, launches = 64, 220
	at, err := d.Memory().Alloc(4*threads, 256)
	if err != nil {
		t.Fatal(err)
	}
	launch := func(bytes uint32) error {
		params := binary.LittleEndian.AppendUint64(nil, uint64(at))
		params = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(params, 999), bytes)
		return q.Launch(k, &backend.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{threads, 1, 1}, Params: params})
	}
	for range launches { // more than a ring of 1 MiB holds
		if err := launch(100); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Sync(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != launches*threads {
		t.Errorf("%d lines, want %d", n, launches*threads)
	}
	if err := limits.SetLimits(1, 8<<20, 64<<20); err != nil { // too late, and no error
		t.Error(err)
	}
	for i := range 9 {
		if err := errors.Join(launch(60000), q.Sync()); err != nil {
			if i != 4 { // 64 blocks of 64 KiB a launch, 20 MiB and something else
				t.Errorf("the heap was used up after %d launches: %v", i, err)
			}
			return
		}
	}
	t.Error("the heap has no end")
}
