package worker

import (
	"errors"
	"strings"
	"testing"

	"kudzu/internal/codeobject"
	"kudzu/internal/compile"
	"kudzu/internal/devrt"
)

// speaker asks the device runtime for everything; what it declares in vain is not defined.
const speaker = `.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf
(
	.param .b64 f,
	.param .b64 a
);
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.visible .entry k(.param .u64 p)
{
	.reg .b64 %a<4>;
	ld.param.u64 %a1, [p];
	{
	.param .b64 q;
	.param .b64 r;
	st.param.b64 [q], %a1;
	call (r), malloc, (q);
	ld.param.b64 %a2, [r];
	}
	{
	.param .b64 q;
	.param .b64 s;
	.param .b32 r;
	st.param.b64 [q], %a1;
	st.param.b64 [s], %a2;
	call (r), vprintf, (q, s);
	}
	{
	.param .b64 q;
	st.param.b64 [q], %a2;
	call free, (q);
	}
	trap;
}
`

// bound links an object and gives the variables that it wants.
func bound(t *testing.T, object []byte) map[string]bool {
	t.Helper()
	linked, err := codeobject.Link(object)
	if err != nil {
		t.Fatal(err)
	}
	o, err := codeobject.Read(linked)
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	if _, err := o.Bind(func(n string) (uint64, bool) { asked[n] = true; return 0x1000, true }); err != nil {
		t.Fatal(err)
	}
	return asked
}

// sampler uses every function that textures and surfaces have.
const sampler = `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 tex, .param .u64 out)
{
	.reg .b32 %r<10>; .reg .f32 %f<8>; .reg .b64 %t, %a; .reg .pred %p;
	ld.param.u64 %t, [tex]; ld.param.u64 %a, [out];
	mov.u32 %r0, %tid.x; cvt.rn.f32.u32 %f0, %r0; setp.lt.u32 %p, %r0, 4;
	tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%t, {%f0,%f0}];
	tex.cube.v4.f32.f32 {%f2,%f3,%f4,%f5}, [%t, {%f0,%f1,%f0,%f0}];
	@%p tld4.r.2d.v4.f32.f32 {%f3,%f4,%f5,%f6}, [%t, {%f1,%f2}];
	txq.width.b32 %r1, [%t];
	suld.b.2d.b32.trap %r2, [%t, {%r0,%r1}];
	sust.b.2d.b32.zero [%t, {%r0,%r1}], %r2;
	sust.p.2d.b32.clamp [%t, {%r0,%r1}], %r2;
	sured.b.add.2d.u32.zero [%t, {%r0,%r1}], %r2;
	add.f32 %f1, %f1, %f2; add.f32 %f1, %f1, %f3; st.global.f32 [%a], %f1;
	ret;
}
`

// TestTextures: on AMD's GPUs instructions on textures are functions that come with the kernel; NVIDIA's stay as they are.
func TestTextures(t *testing.T) {
	p, err := New("")
	if err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"gfx1201", "gfx942"} {
		target, _ := compile.GPUTarget(name)
		r, err := p.Run(&compile.Request{PTX: sampler, Target: target})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if asked := bound(t, r.Image); !asked[devrt.Mailbox] || !asked[devrt.Textures] || len(asked) != 2 {
			t.Errorf("%s: bound %v", name, asked)
		}
	}
	target, _ := compile.GPUTarget("sm_90")
	r, err := p.Run(&compile.Request{PTX: sampler, Target: target})
	if err != nil || !strings.Contains(string(r.Image), "tex.cube") || strings.Contains(string(r.Image), "kudzu_tex") {
		t.Errorf("sm_90: %v", err)
	}
	_, err = p.Run(&compile.Request{PTX: strings.Replace(sampler, "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%t, {%f0,%f0}]", "tex.2dms.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%t, {%r0,%r0,%r0,%r0}]", 1), Target: mustTarget(t, "gfx1100")})
	var u *compile.Unsupported
	if !errors.As(err, &u) || u.Line != 9 {
		t.Errorf("several samples: %v", err)
	}
}

func mustTarget(t *testing.T, name string) compile.Target {
	t.Helper()
	target, ok := compile.GPUTarget(name)
	if !ok {
		t.Fatalf("no target %s", name)
	}
	return target
}

// TestDeviceRuntime: on AMD's GPUs the functions come with the kernel, and their memory is bound by name; NVIDIA's driver has them.
func TestDeviceRuntime(t *testing.T) {
	p, err := New("")
	if err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"gfx1100", "gfx90a"} {
		target, _ := compile.GPUTarget(name)
		r, err := p.Run(&compile.Request{PTX: speaker, Target: target, Emit: []string{"asm"}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		asked := bound(t, r.Image)
		if !asked[devrt.Mailbox] || !asked[devrt.Heap] || len(asked) != 2 {
			t.Errorf("%s: bound %v", name, asked)
		}
		if asm := r.Emitted["asm"]; strings.Contains(asm, "s_trap") || !strings.Contains(asm, "s_endpgm") {
			t.Errorf("%s: a trap that ROCm would end the process for", name)
		}
	}
	target, _ := compile.GPUTarget("sm_90")
	r, err := p.Run(&compile.Request{PTX: speaker, Target: target})
	if err != nil || !strings.Contains(string(r.Image), "malloc") {
		t.Errorf("sm_90: %v", err)
	}
	if err == nil && strings.Contains(string(r.Image), devrt.Mailbox) {
		t.Error("sm_90: the mailbox is AMD's")
	}
}
