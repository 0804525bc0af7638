package driver

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// These tests run real PTX: the driver over the interpreter.

const realPTX = `
.version 7.8
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter;
.visible .const .align 4 .u32 scale = 3;
.visible .entry vecadd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
	.reg .u64 %rd<8>; .reg .u32 %r<8>; .reg .f32 %f<4>; .reg .pred %p;
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r3;
	ld.param.u32 %r5, [n];
	setp.ge.u32 %p, %r4, %r5;
	@%p bra done;
	ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];
	mul.wide.u32 %rd4, %r4, 4;
	add.u64 %rd1, %rd1, %rd4; add.u64 %rd2, %rd2, %rd4; add.u64 %rd3, %rd3, %rd4;
	ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2];
	add.f32 %f3, %f1, %f2;
	st.global.f32 [%rd3], %f3;
done:
	ret;
}
.visible .entry count() {
	.reg .u32 %r<4>;
	ld.const.u32 %r1, [scale];
	atom.global.add.u32 %r2, [counter], %r1;
	ret;
}
.visible .entry poke(.param .u64 p) {
	.reg .u64 %rd<2>; .reg .u32 %r<2>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, 42;
	st.global.u32 [%rd1], %r1;
	ret;
}
.visible .entry stop() { trap; ret; }
.extern .shared .align 4 .b8 dyn[];
.visible .entry sums(.param .u64 out) {
	.reg .u64 %rd<4>; .reg .u32 %r<10>; .reg .pred %p;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, dyn;
	shl.b32 %r3, %r1, 2;
	add.u32 %r3, %r2, %r3;
	st.shared.u32 [%r3], %r1;
	bar.sync 0;
	setp.ne.u32 %p, %r1, 0;
	@%p bra done;
	mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, %ntid.x;
loop:
	ld.shared.u32 %r7, [%r2];
	add.u32 %r5, %r5, %r7;
	add.u32 %r2, %r2, 4;
	add.u32 %r4, %r4, 1;
	setp.lt.u32 %p, %r4, %r6;
	@%p bra loop;
	ld.param.u64 %rd1, [out];
	st.global.u32 [%rd1], %r5;
done:
	ret;
}
`

func onInterp(t *testing.T) (*Thread, *cmem, cu.CUmodule) {
	t.Helper()
	Start([]backend.Backend{interp.New(interp.Config{Out: io.Discard, Err: io.Discard})})
	th := &Thread{ID: threadIDs.Add(1)}
	if err := th.Init(0); err != nil {
		t.Fatal(err)
	}
	ctx, err := th.DevicePrimaryCtxRetain(0)
	if err == nil {
		err = th.CtxSetCurrent(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := &cmem{}
	m, err := th.ModuleLoadData(c.str(realPTX))
	if err != nil {
		_, log, _, _ := load(th, c, realPTX)
		t.Fatal(err, log)
	}
	t.Cleanup(func() {
		if err := th.DevicePrimaryCtxReset(0); err != nil {
			t.Error(err)
		}
	})
	return th, c, m
}

func TestInterpVecadd(t *testing.T) {
	th, c, m := onInterp(t)
	const n = 1000
	a, b, out := c.words(make([]uint64, n/2)...), c.words(make([]uint64, n/2)...), c.words(make([]uint64, n/2)...)
	for i := range n {
		hostmem.Slice[float32](a, n)[i], hostmem.Slice[float32](b, n)[i] = float32(i), float32(2*i)
	}
	var d [3]DevPtr
	for i := range d {
		var err error
		if d[i], err = th.MemAlloc(4 * n); err != nil {
			t.Fatal(err)
		}
	}
	s, _ := th.StreamCreate(1)
	want(t, "a", th.MemcpyHtoDAsync(d[0], a, 4*n, s), 0)
	want(t, "b", th.MemcpyHtoDAsync(d[1], b, 4*n, s), 0)
	want(t, "launch", th.LaunchKernel(mustFn(t, th, m, "vecadd"), (n+127)/128, 1, 1, 128, 1, 1, 0, s, c.params(uint64(d[0]), uint64(d[1]), uint64(d[2]), n), 0), 0)
	want(t, "out", th.MemcpyDtoHAsync(out, d[2], 4*n, s), 0)
	want(t, "sync", th.StreamSynchronize(s), 0)
	for i, v := range hostmem.Slice[float32](out, n) {
		if v != float32(3*i) {
			t.Fatalf("element %d is %v", i, v)
		}
	}
}

func TestInterpVariablesAndHostMemory(t *testing.T) {
	th, c, m := onInterp(t)
	p, n, err := th.ModuleGetGlobal(m, "counter")
	if err != nil || n != 4 {
		t.Fatal(n, err)
	}
	k := mustFn(t, th, m, "count")
	want(t, "count", th.LaunchKernel(k, 10, 1, 1, 32, 1, 1, 0, 0, 0, 0), 0)
	scale, _, _ := th.ModuleGetGlobal(m, "scale")
	want(t, "scale", th.MemcpyHtoD(scale, c.words(5), 4), 0)
	want(t, "count", th.LaunchKernel(k, 10, 1, 1, 32, 1, 1, 0, 0, 0, 0), 0)
	back := c.words(0)
	want(t, "read", th.MemcpyDtoH(back, p, 4), 0)
	if v := hostmem.Load[uint32](back); v != 320*8 {
		t.Errorf("counter is %d", v)
	}
	poke := mustFn(t, th, m, "poke")
	want(t, "host", th.MemAllocHost(back, 64), 0)
	host := hostmem.Load[hostmem.Ptr](back)
	managed, _ := th.MemAllocManaged(64, 1)
	own := c.words(0)
	want(t, "register", th.MemHostRegister(own, 8, 0), 0)
	for what, q := range map[string]hostmem.Ptr{"pinned": host, "managed": hostmem.Ptr(managed), "registered": own} {
		want(t, what, th.LaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, 0, c.params(uint64(q)), 0), 0)
		want(t, what, th.CtxSynchronize(), 0)
		if v := hostmem.Load[uint32](q); v != 42 {
			t.Errorf("%s memory holds %d", what, v)
		}
	}
	out, _ := th.MemAlloc(4)
	want(t, "sums", th.LaunchKernel(mustFn(t, th, m, "sums"), 1, 1, 1, 100, 1, 1, 400, 0, c.params(uint64(out)), 0), 0)
	want(t, "read", th.MemcpyDtoH(back, out, 4), 0)
	if v := hostmem.Load[uint32](back); v != 4950 {
		t.Errorf("sum is %d", v)
	}
	if v, err := th.FuncGetAttribute(5, poke); v != 80 || err != nil {
		t.Error(v, err)
	}
	want(t, "unload", th.ModuleUnload(m), 0)
}

func TestInterpFaults(t *testing.T) {
	for _, r := range []struct {
		kernel string
		addr   uint64
		code   int
		says   string
	}{
		{"poke", 0, 700, "illegal address 0x0"}, {"poke", 0x1234560, 700, "illegal address 0x1234560"}, {"poke", 1 << 63, 700, "illegal address"}, {"stop", 0, 719, "trap"},
	} {
		th, c, m := onInterp(t)
		line := stderrOf(t, func() {
			want(t, r.kernel, th.LaunchKernel(mustFn(t, th, m, r.kernel), 1, 1, 1, 1, 1, 1, 0, 0, c.params(r.addr), 0), 0)
			want(t, r.kernel, th.CtxSynchronize(), r.code)
		})
		if !strings.HasPrefix(line, "kudzu: kernel "+r.kernel+": "+r.says) || !strings.Contains(line, "block (0,0,0), thread (0,0,0), PTX line ") {
			t.Errorf("message %q", line)
		}
		_, err := th.MemAlloc(4)
		want(t, "sticky", err, r.code)
		want(t, "reset", th.DevicePrimaryCtxReset(0), 0)
		th.DevicePrimaryCtxRetain(0)
		m, err = th.ModuleLoadData(c.str(realPTX))
		want(t, "load again", err, 0)
		p, _ := th.MemAlloc(4)
		want(t, "launch again", th.LaunchKernel(mustFn(t, th, m, "poke"), 1, 1, 1, 1, 1, 1, 0, 0, c.params(uint64(p)), 0), 0)
		want(t, "sync again", th.CtxSynchronize(), 0)
	}
}

// TestInterpLoop is the leak test in small: objects made and given back many times.
func TestInterpLoop(t *testing.T) {
	th, c, m := onInterp(t)
	poke := mustFn(t, th, m, "poke")
	free, _, _ := th.MemGetInfo()
	back := c.words(0)
	p, _ := th.MemAlloc(1 << 20)
	ps := c.params(uint64(p))
	for range 300 {
		s, err := th.StreamCreate(0)
		want(t, "stream", err, 0)
		e, _ := th.EventCreate(0)
		want(t, "launch", th.LaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, s, ps, 0), 0)
		want(t, "legacy", th.LaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, 0, ps, 0), 0)
		want(t, "record", th.EventRecord(e, s), 0)
		want(t, "read", th.MemcpyDtoH(back, p, 4), 0)
		q, err := th.MemAlloc(1 << 20)
		want(t, "alloc", err, 0)
		want(t, "free", th.MemFree(q), 0)
		want(t, "event", th.EventDestroy(e), 0)
		want(t, "destroy", th.StreamDestroy(s), 0)
	}
	want(t, "free", th.MemFree(p), 0)
	if now, _, _ := th.MemGetInfo(); now != free {
		t.Errorf("%d bytes lost", free-now)
	}
}

// TestRegistersOfBounds: as many blocks as a kernel asks for have room in the register file, as recorded on an H200.
func TestRegistersOfBounds(t *testing.T) {
	th, c, _ := onInterp(t)
	for _, k := range []struct {
		bounds string
		most   int32
	}{{".maxntid 256, 1, 1 .minnctapersm 4", 64}, {".maxntid 256, 1, 1 .minnctapersm 8", 32}, {".maxntid 256, 1, 1 .minnctapersm 8 .maxnreg 40", 40}, {".minnctapersm 8", 255}} {
		var b strings.Builder
		fmt.Fprintf(&b, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) %s { .reg .f32 f<100>; .reg .b64 a; ld.param.u64 a, [p];\n", k.bounds)
		for i := range 100 {
			fmt.Fprintf(&b, "ld.global.f32 f%d, [a+%d];\n", i, 4*i)
		}
		for i := range 100 {
			fmt.Fprintf(&b, "st.global.f32 [a+%d], f%d;\n", 4*i, 99-i)
		}
		b.WriteString("ret; }\n")
		m, err := th.ModuleLoadData(c.str(b.String()))
		want(t, "load", err, 0)
		n, err := th.FuncGetAttribute(cu.CU_FUNC_ATTRIBUTE_NUM_REGS, mustFn(t, th, m, "k"))
		if want(t, "registers", err, 0); n > k.most || n < min(k.most, 64) {
			t.Errorf("%s: %d registers, want at most %d", k.bounds, n, k.most)
		}
	}
}
