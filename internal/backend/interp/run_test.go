package interp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kudzu/internal/backend"
)

// bench runs one kernel of a module whose first parameter is the address of out, whose words are the result.
type bench struct {
	t    testing.TB
	dev  backend.Device
	prog backend.Program
	out  bytes.Buffer
	errs bytes.Buffer
}

const header = ".version 8.7\n.target sm_90a\n.address_size 64\n"

func newBench(t testing.TB, text string) *bench {
	t.Helper()
	b := &bench{t: t}
	b.dev = open(t, Config{Out: &b.out, Err: &b.errs})
	if !strings.Contains(text, ".version") {
		text = header + text
	}
	m, err := moduleOf(text)
	if err != nil {
		t.Fatal(err)
	}
	if b.prog, err = b.dev.Load(m); err != nil {
		t.Fatal(err)
	}
	return b
}

// launch runs the kernel over words 32-bit words of output and returns them.
func (b *bench) launch(kernel string, l backend.Launch, words int, init ...uint32) ([]uint32, error) {
	b.t.Helper()
	k, err := b.prog.Kernel(kernel)
	if err != nil {
		b.t.Fatal(err)
	}
	a, err := b.dev.Memory().Alloc(uint64(max(words, 1)*4), 256)
	if err != nil {
		b.t.Fatal(err)
	}
	m := hostBytes(uint64(a), uint64(words*4))
	clear(m)
	for i, v := range init {
		binary.LittleEndian.PutUint32(m[4*i:], v)
	}
	for i := range 3 {
		l.Grid[i], l.Block[i] = max(1, l.Grid[i]), max(1, l.Block[i])
	}
	l.Params = binary.LittleEndian.AppendUint64(nil, uint64(a))
	q, err := b.dev.NewQueue(0)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := q.Launch(k, &l); err != nil {
		return nil, err
	}
	if err := q.Sync(); err != nil {
		return nil, err
	}
	res := make([]uint32, words)
	for i := range res {
		res[i] = binary.LittleEndian.Uint32(m[4*i:])
	}
	return res, nil
}

func (b *bench) want(kernel string, l backend.Launch, want ...uint32) {
	b.t.Helper()
	got, err := b.launch(kernel, l, len(want))
	if err != nil {
		b.t.Fatal(err)
	}
	for i := range want {
		if got[i] != want[i] {
			b.t.Fatalf("%s: word %d is %#x, want %#x (all %#x)", kernel, i, got[i], want[i], got)
		}
	}
}

func (b *bench) fault(kernel string, l backend.Launch, kind backend.FaultKind) *backend.Fault {
	b.t.Helper()
	_, err := b.launch(kernel, l, 1)
	var f *backend.Fault
	if !errors.As(err, &f) {
		b.t.Fatalf("%s: error %v, want a fault", kernel, err)
	}
	if f.Kind != kind {
		b.t.Fatalf("%s: %v, want %v", kernel, f, kind)
	}
	return f
}

// entry wraps a body that finds the address of out in %out, its thread in %t, and has registers to use.
func entry(name, body string) string {
	return fmt.Sprintf(`.visible .entry %s(.param .u64 p_out) {
	.reg .pred %%p<8>; .reg .b16 %%h<16>; .reg .b32 %%r<64>, %%t; .reg .b64 %%rd<32>, %%out; .reg .f32 %%f<32>; .reg .f64 %%d<8>; .reg .b128 %%q<4>;
	ld.param.u64 %%out, [p_out]; mov.u32 %%t, %%tid.x;
%s
	ret;
}
`, name, body)
}

func threads(n uint32) backend.Launch { return backend.Launch{Block: [3]uint32{n}} }

// A lock taken by every thread of a warp, whose holder is above its spinners: only fairness lets it go on.
func TestSpinLockInsideWarp(t *testing.T) {
	b := newBench(t, entry("k", `
again:
	atom.global.cas.b32 %r1, [%out], 0, 1;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra again;
	ld.global.u32 %r2, [%out+4];
	add.u32 %r2, %r2, 1;
	st.global.u32 [%out+4], %r2;
	atom.global.exch.b32 %r3, [%out], 0;
`))
	b.want("k", threads(96), 0, 96)
}

// Blocks that wait for each other: the first for a flag of the last.
func TestBlocksWaitForEachOther(t *testing.T) {
	b := newBench(t, entry("k", `
	mov.u32 %r1, %ctaid.x;
	atom.global.add.u32 %r2, [%out], 1;
wait:
	ld.volatile.global.u32 %r3, [%out];
	setp.lt.u32 %p1, %r3, 5;
	@%p1 bra wait;
	atom.global.add.u32 %r4, [%out+4], %r3;
`))
	b.want("k", backend.Launch{Grid: [3]uint32{5}, Cooperative: true}, 5, 25)
	b.want("k", backend.Launch{Grid: [3]uint32{5}}, 5, 25)
}

func TestDeadlockIsAFault(t *testing.T) {
	b := newBench(t, entry("one", `
	setp.eq.u32 %p1, %t, 3;
	@%p1 bar.sync 1, 64;
`)+entry("mask", `
	setp.eq.u32 %p1, %t, 0;
	@!%p1 bra spin;
	bar.warp.sync 3;
	bra done;
spin:
	bar.sync 0;
done:
`))
	if f := b.fault("one", threads(32), backend.FaultDeadlock); f.Thread != [3]uint32{3, 0, 0} || f.Line == 0 {
		t.Errorf("%v", f)
	}
	b.fault("mask", threads(32), backend.FaultDeadlock)
}

func TestRecursionAndFunctionPointers(t *testing.T) {
	b := newBench(t, `
.func (.param .u32 r) fact(.param .u32 n) {
	.reg .u32 %a<4>; .reg .pred %p;
	ld.param.u32 %a1, [n];
	setp.gt.u32 %p, %a1, 1;
	@%p bra more;
	st.param.u32 [r], 1;
	ret;
more:
	sub.u32 %a2, %a1, 1;
	{
	.param .u32 x; .param .u32 y;
	st.param.u32 [x], %a2;
	call (y), fact, (x);
	ld.param.u32 %a3, [y];
	}
	mul.lo.u32 %a3, %a3, %a1;
	st.param.u32 [r], %a3;
	ret;
}
.func (.param .u32 r) twice(.param .u32 n) {
	.reg .u32 %a<4>;
	ld.param.u32 %a1, [n];
	add.u32 %a1, %a1, %a1;
	st.param.u32 [r], %a1;
	ret;
}
.func endless() {
	call endless;
	ret;
}
.global .u64 table[2] = { fact, twice };
`+entry("k", `
	and.b32 %r1, %t, 1;
	mul.wide.u32 %rd1, %r1, 8;
	mov.u64 %rd2, table;
	add.u64 %rd2, %rd2, %rd1;
	ld.global.u64 %rd3, [%rd2];
	add.u32 %r2, %t, 4;
	{
	.param .u32 x; .param .u32 y;
	st.param.u32 [x], %r2;
proto: .callprototype (.param .u32 _) _ (.param .u32 _);
	call (y), %rd3, (x), proto;
	ld.param.u32 %r3, [y];
	}
	mul.wide.u32 %rd4, %t, 4;
	add.u64 %rd4, %out, %rd4;
	st.global.u32 [%rd4], %r3;
`)+entry("deep", "	call endless;\n"))
	b.want("k", threads(4), 24, 10, 720, 14)
	b.fault("deep", threads(1), backend.FaultStack)
}

func TestPrintf(t *testing.T) {
	b := newBench(t, `
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 fmt[] = {37,100,32,37,115,32,37,53,46,50,102,124,37,45,52,100,124,37,35,120,32,37,108,108,117,32,37,99,32,37,103,32,37,37,10,0};
.global .align 1 .b8 word[] = {104,105,0};
`+entry("k", `
	.local .align 8 .b8 args[64];
	mov.u32 %r1, -7;
	st.local.u32 [args], %r1;
	mov.u64 %rd1, word;
	cvta.global.u64 %rd1, %rd1;
	st.local.u64 [args+8], %rd1;
	mov.f64 %d1, 0d4009000000000000;
	st.local.f64 [args+16], %d1;
	st.local.u32 [args+24], 42;
	st.local.u32 [args+28], 255;
	mov.u64 %rd2, -1;
	st.local.u64 [args+32], %rd2;
	st.local.u32 [args+40], 65;
	mov.f64 %d1, 0d3FB999999999999A;
	st.local.f64 [args+48], %d1;
	mov.u64 %rd3, fmt;
	cvta.global.u64 %rd3, %rd3;
	mov.u64 %rd4, args;
	cvta.local.u64 %rd4, %rd4;
	{
	.param .b64 p0; .param .b64 p1; .param .b32 rv;
	st.param.b64 [p0], %rd3;
	st.param.b64 [p1], %rd4;
	call (rv), vprintf, (p0, p1);
	ld.param.b32 %r2, [rv];
	}
	st.global.u32 [%out], %r2;
`))
	b.want("k", threads(1), 8)
	if got, want := b.out.String(), "-7 hi  3.12|42  |0xff 18446744073709551615 A 0.1 %\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

func TestAssertAndMalloc(t *testing.T) {
	b := newBench(t, `
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.global .align 1 .b8 msg[] = {120,62,48,0};
`+entry("bad", `
	mov.u64 %rd1, msg;
	cvta.global.u64 %rd1, %rd1;
	{
	.param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
	st.param.b64 [a], %rd1; st.param.b64 [b], %rd1; st.param.b32 [c], 17; st.param.b64 [d], %rd1; st.param.b64 [e], 1;
	call __assertfail, (a, b, c, d, e);
	}
`)+entry("heap", `
	{
	.param .b64 n; .param .b64 p;
	st.param.b64 [n], 64;
	call (p), malloc, (n);
	ld.param.b64 %rd1, [p];
	}
	st.u32 [%rd1+60], 7;
	ld.u32 %r1, [%rd1+60];
	st.global.u32 [%out], %r1;
	{
	.param .b64 n;
	st.param.b64 [n], %rd1;
	call free, (n);
	}
	setp.ne.u32 %p1, %r1, 7;
	@%p1 st.u32 [%rd1], 1;
`)+entry("past", `
	{
	.param .b64 n; .param .b64 p;
	st.param.b64 [n], 64;
	call (p), malloc, (n);
	ld.param.b64 %rd1, [p];
	}
	st.u32 [%rd1+64], 7;
`))
	f := b.fault("bad", threads(1), backend.FaultAssert)
	if want := "x>0:17: x>0: block: [0,0,0], thread: [0,0,0] Assertion `x>0` failed."; f.Detail != want || b.errs.String() != want+"\n" {
		t.Errorf("%q, stderr %q", f.Detail, b.errs.String())
	}
	b.want("heap", threads(1), 7)
	b.fault("past", threads(1), backend.FaultAddress)
}

func TestFaults(t *testing.T) {
	b := newBench(t, ".shared .align 4 .b8 s[64];\n"+
		entry("misaligned", "	ld.global.u32 %r1, [%out+2];\n")+
		entry("sharedend", "	st.shared.u32 [s+128], %t;\n")+
		entry("localend", "	.local .align 4 .b8 l[16];\n	st.local.u32 [l+16], %t;\n")+
		entry("bar16", "	mov.u32 %r1, 16;\n	barrier.sync %r1;\n")+
		entry("host", "	mov.u64 %rd1, 4096;\n	ld.u32 %r1, [%rd1];\n")+
		entry("badcall", "	mov.u64 %rd1, 77;\nproto: .callprototype _ ();\n	call %rd1, proto;\n")+
		entry("trap", "	setp.eq.u32 %p1, %t, 5;\n	@%p1 trap;\n"))
	b.fault("misaligned", threads(1), backend.FaultMisaligned)
	b.fault("sharedend", threads(1), backend.FaultAddress)
	b.fault("localend", threads(1), backend.FaultAddress)
	b.fault("bar16", threads(1), backend.FaultInstruction)
	b.fault("host", threads(1), backend.FaultAddress)
	b.fault("badcall", threads(1), backend.FaultAddress)
	if f := b.fault("trap", threads(32), backend.FaultTrap); f.Thread != [3]uint32{5, 0, 0} {
		t.Errorf("%v", f)
	}
}

// One kernel of a module that cannot run leaves the others alone.
func TestUnsupportedIsPerKernel(t *testing.T) {
	text := strings.Replace(header, "sm_90a", "sm_100a", 1)
	b := newBench(t, text+entry("good", "	st.global.u32 [%out], 9;\n")+entry("bad", "	tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"))
	b.want("good", threads(1), 9)
	_, err := b.launch("bad", threads(1), 1)
	var u *backend.Unsupported
	if !errors.As(err, &u) || u.Kernel != "bad" || u.Line == 0 || !strings.Contains(u.What, "tcgen05.relinquish") {
		t.Fatalf("%v", err)
	}
	b.want("good", threads(1), 9)
}

func TestStackInstructions(t *testing.T) {
	b := newBench(t, entry("k", `
	stacksave.u64 %rd1;
	alloca.u64 %rd2, 40, 16;
	st.local.u32 [%rd2+36], 11;
	ld.local.u32 %r1, [%rd2+36];
	stackrestore.u64 %rd1;
	alloca.u64 %rd3, 8, 16;
	sub.u64 %rd4, %rd3, %rd2;
	st.global.u32 [%out], %r1;
	cvt.u32.u64 %r2, %rd4;
	st.global.u32 [%out+4], %r2;
`)+entry("huge", "	alloca.u64 %rd2, 1000000, 16;\n"))
	b.want("k", threads(1), 11, 0)
	b.fault("huge", threads(1), backend.FaultStack)
}

// Blocks at the same time give what one after the other gives; a fault of one ends the others.
func TestParallelBlocks(t *testing.T) {
	text := header + entry("k", `
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mad.lo.u32 %r3, %r1, %r2, %t;
	mul.wide.u32 %rd1, %r3, 4;
	add.u64 %rd1, %out, %rd1;
	st.global.u32 [%rd1+4], %r3;
	red.global.add.u32 [%out], 1;
`) + entry("bad", `
	mov.u32 %r1, %ctaid.x;
	setp.eq.u32 %p1, %r1, 3;
	@%p1 trap;
loop:
	bra loop;
`)
	b := newBench(t, text)
	b.dev.(*device).workers = 4
	want := []uint32{64 * 32}
	for i := range uint32(64 * 32) {
		want = append(want, i)
	}
	b.want("k", backend.Launch{Grid: [3]uint32{64}, Block: [3]uint32{32}}, want...)
	f := b.fault("bad", backend.Launch{Grid: [3]uint32{8}}, backend.FaultTrap)
	if f.Block != [3]uint32{3, 0, 0} {
		t.Errorf("%v", f)
	}
}

// Distributed shared memory, cluster barriers, mapa and multicast copies.
func TestClusters(t *testing.T) {
	b := newBench(t, entry("k", `
	.shared .align 16 .b8 buf[64];
	.shared .align 8 .b64 bar;
	mov.u32 %r1, %cluster_ctarank;
	mov.u32 %r2, %cluster_nctarank;
	mov.u32 %r3, buf;
	mul.lo.u32 %r4, %r1, 10;
	st.shared.u32 [%r3], %r4;
	mov.u32 %r20, bar;
	mbarrier.init.shared.b64 [%r20], 1;
	fence.mbarrier_init.release.cluster;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	add.u32 %r5, %r1, 1;
	rem.u32 %r5, %r5, %r2;
	mapa.shared::cluster.u32 %r6, %r3, %r5;
	ld.shared::cluster.u32 %r7, [%r6];
	getctarank.shared::cluster.u32 %r8, %r6;
	mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r20], 16;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra after;
	mov.u16 %h1, 15;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [buf+16], [%out], 16, [bar], %h1;
after:
	mbarrier.try_wait.parity.shared.b64 %p2, [%r20], 0;
	@!%p2 bra after;
	ld.shared.u32 %r9, [buf+28];
	barrier.cluster.arrive;
	barrier.cluster.wait;
	mov.u32 %r10, %ctaid.x;
	mul.wide.u32 %rd1, %r10, 12;
	add.u64 %rd1, %out, %rd1;
	st.global.u32 [%rd1+16], %r7;
	st.global.u32 [%rd1+20], %r8;
	st.global.u32 [%rd1+24], %r9;
`))
	got, err := b.launch("k", backend.Launch{Grid: [3]uint32{8}, Cluster: [3]uint32{4, 1, 1}}, 28, 1, 2, 3, 77)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		r := uint32(i+1) % 4
		if g := got[4+3*i:][:3]; g[0] != 10*r || g[1] != r || g[2] != 77 {
			t.Errorf("block %d: %v", i, g)
		}
	}
}

// What no machine can do is an error, not a crash.
func TestHostileKernels(t *testing.T) {
	b := newBench(t, entry("local", "	.local .align 4 .b8 l[1000000000];\n	st.local.u32 [l], 1;\n")+
		entry("shared", "	.shared .align 4 .b8 s[1000000000];\n	st.shared.u32 [s], 1;\n")+
		entry("regs", "	.reg .b32 %z<60000>;\n	mov.u32 %z59999, 5;\n	st.global.u32 [%out], %z59999;\n")+
		entry("brx", "	ts: .branchtargets a;\n	brx.idx %t, ts;\na:\n"))
	for _, k := range []string{"local", "shared"} {
		if _, err := b.launch(k, threads(1), 1); err == nil {
			t.Errorf("%s: no error", k)
		}
	}
	b.want("regs", threads(1024), 5)
	b.fault("brx", threads(2), backend.FaultInstruction)
}
