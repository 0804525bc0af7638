package worker

import (
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
		linked, err := codeobject.Link(r.Image)
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
