package texels

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/hip"
	"kudzu/internal/backend/interp"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/testkit/hipdouble"
)

// forms has what the jobs do not: guards, vector registers, sinks, immediates, references, an instruction over several lines, names
// like those of the calls that instructions become, and a function of the program's own.
const forms = `.version 8.1
.target sm_80
.address_size 64
.global .texref ref;
.global .surfref sref;
.visible .func (.param .b32 r) kudzu_own (.param .b64 h, .param .b32 x)
{
	.reg .b64 %h; .reg .b32 %x; .reg .f32 %f<5>;
	ld.param.b64 %h, [h]; ld.param.b32 %x, [x];
	tex.2d.v4.f32.s32 {%f1, _, _, _}, [%h, {%x, 1}];
	st.param.f32 [r], %f1;
	ret;
}
.visible .entry k(.param .u64 tex, .param .u64 surf, .param .u64 out)
{
	.reg .pred %p<3>;
	.reg .b32 %r<12>;
	.reg .f32 %f<12>, kudzu_r;
	.reg .v4 .f32 %v;
	.reg .v2 .f32 %c;
	.reg .b16 %h<3>;
	.reg .b64 %t, %s, %a, %l<3>;
	ld.param.u64 %t, [tex];
	ld.param.u64 %s, [surf];
	ld.param.u64 %a, [out];
	mov.u32 %r1, %tid.x;
	mad.wide.u32 %a, %r1, 64, %a;
	and.b32 %r2, %r1, 1;
	setp.eq.u32 %p1, %r2, 1;
	cvt.rn.f32.u32 %f1, %r1;
	mov.f32 kudzu_r, 0f40200000;
	@%p1 tex.2d.v4.f32.f32 {%f2, %f3, _, _}, [%t, {%f1, 0f3FC00000}];
	@!%p1 mov.f32 %f2, 0f42280000;
	@!%p1 mov.f32 %f3, %f2;
	st.global.f32 [%a], %f2;
	st.global.f32 [%a+4], %f3;
	mov.f32 %c.x, %f1;
	mov.f32 %c.y, kudzu_r;
	tex.2d.v4.f32.f32 %v, // the first; and
		[%t, /* ; */ %c];
	st.global.f32 [%a+8], %v.x;
	@!%p1 tex.2d.v4.f32.s32 {%f4, _, _, _}|%p1, [ref, {%r1, 2}]; @%p1 st.global.f32 [%a+12], %f4;
	txq.width.b32 %r3, [ref];
	suq.height.b32 %r4, [sref];
	istypep.texref %p2, ref;
	selp.b32 %r5, 1, 0, %p2;
	istypep.surfref %p2, %s;
	selp.b32 %r6, 1, 0, %p2;
	mad.lo.u32 %r3, %r3, 1000, %r4;
	mad.lo.u32 %r3, %r3, 10, %r5;
	mad.lo.u32 %r3, %r3, 10, %r6;
	st.global.u32 [%a+16], %r3;
	{
	.param .b64 q0; .param .b32 q1, q2;
	st.param.b64 [q0], %t; st.param.b32 [q1], %r1;
	call (q2), kudzu_own, (q0, q1);
	ld.param.b32 %r7, [q2];
	}
	st.global.u32 [%a+20], %r7;
	shl.b32 %r8, %r1, 2;
	@%p1 sust.b.2d.b32.trap [%s, {%r8, 0}], 1234;
	@!%p2 sust.b.2d.b32.trap [sref, {%r8, 2}], %r1;
	suld.b.2d.v2.b16.zero {%h1, _}, [%s, {%r8, 0}];
	cvt.u32.u16 %r9, %h1;
	mov.u32 %r10, 0; mov.u32 %r11, 1;
	sured.b.add.2d.u32.zero [%s, {%r10, %r11}], %r1;
	st.global.u32 [%a+24], %r9;
	ret;
}
`

const formThreads = 8

// runForms runs it with references bound to the same arrays, and gives what it wrote and the surface afterwards.
func runForms(t *testing.T, b backend.Backend) []byte {
	t.Helper()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	driver.Start([]backend.Backend{b})
	th := &driver.Thread{ID: 1}
	ok(th.Init(0))
	r, err := NewRunner(th)
	ok(err)
	defer func() { ok(th.DevicePrimaryCtxReset(0)) }()
	j := &Job{Array: cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 8, Height: 4, Format: cu.CU_AD_FORMAT_FLOAT, NumChannels: 1, Flags: cu.CUDA_ARRAY3D_SURFACE_LDST}}
	var f []float32
	for i := range 32 {
		f = append(f, float32(i)*1.25)
	}
	array := func() cu.CUarray {
		a, err := th.Array3DCreate(&j.Array)
		ok(err)
		ok(r.copyArray(j, a, 8, 4, 0, floats(f...), false))
		return a
	}
	sampled, written := array(), array()
	rd := cu.CUDA_RESOURCE_DESC{ResType: cu.CU_RESOURCE_TYPE_ARRAY}
	rd.Res.Array().HArray = sampled
	td := desc(linear, 0, clamp)
	tex, err := th.TexObjectCreate(&rd, &td, nil)
	ok(err)
	rd.Res.Array().HArray = written
	surf, err := th.SurfObjectCreate(&rd)
	ok(err)
	text := append([]byte(forms), 0)
	m, err := th.ModuleLoadData(hostmem.Of(&text[0]))
	ok(err)
	ref, err := th.ModuleGetTexRef(m, "ref")
	ok(err)
	ok(th.TexRefSetArray(ref, sampled, cu.CU_TRSA_OVERRIDE_FORMAT))
	sref, err := th.ModuleGetSurfRef(m, "sref")
	ok(err)
	ok(th.SurfRefSetArray(sref, written, 0))
	k, err := th.ModuleGetFunction(m, "k")
	ok(err)
	out, err := th.MemAlloc(64 * formThreads)
	ok(err)
	ok(th.MemsetD8(out, 0xcc, 64*formThreads))
	values := [3]uint64{uint64(tex), uint64(surf), uint64(out)}
	var params [3]hostmem.Ptr
	for i := range values {
		params[i] = hostmem.Of(&values[i])
	}
	ok(th.LaunchKernel(k, 1, 1, 1, formThreads, 1, 1, 0, 0, hostmem.Of(&params[0]), 0))
	runtime.KeepAlive(&values)
	ok(th.CtxSynchronize())
	got := make([]byte, 64*formThreads+4*32)
	ok(th.MemcpyDtoH(hostmem.Of(&got[0]), out, 64*formThreads))
	ok(r.copyArray(j, written, 8, 4, 0, got[64*formThreads:], true))
	ok(th.TexObjectDestroy(tex))
	ok(th.SurfObjectDestroy(surf))
	ok(th.MemFree(out))
	return got
}

// TestForms: calls instead of instructions do the same in every form.
func TestForms(t *testing.T) {
	want := runForms(t, interp.New(interp.Config{Out: io.Discard, Err: io.Discard}))
	lib := hipdouble.Build(t)
	runner := hipdouble.NewInterpreted(t, lib)
	t.Setenv("KUDZU_DOUBLE_DEVICES", "gfx1100")
	got := runForms(t, hip.New(hip.Config{Compiler: runner, Library: lib}))
	if !bytes.Equal(got, want) {
		t.Errorf("% x\ninterpreted without calls:\n% x", got, want)
	}
}

// TestRealForms does that on AMD's instructions, as TestRealHIP.
func TestRealForms(t *testing.T) {
	b := realHIP(t)
	want := runForms(t, interp.New(interp.Config{Out: io.Discard, Err: io.Discard}))
	if got := runForms(t, b); !bytes.Equal(got, want) {
		t.Errorf("% x\ninterpreted without calls:\n% x", got, want)
	}
}
