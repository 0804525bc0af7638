package ptx

import (
	"strings"
	"testing"
)

const header = ".version 9.0\n.target sm_90\n.address_size 64\n"

func TestParseSmall(t *testing.T) {
	text := header + `
.global .align 8 .b32 tab[2][3] = {{1, 2, 3}, {4, 5}};
.global .b64 ptr = generic(tab)+4;
.func (.param .b32 r) f(.param .b32 a, .param .b64 b);
.visible .entry k(.param .u64 out, .param .align 4 .b8 s[12], .param .u32 n) .maxntid 256, 1, 1
{
	.reg .pred %p<3>;
	.reg .b32 %r<10>; .reg .b64 %rd<4>; .reg .f32 x; .reg .v4 .f32 v;
	.shared .align 16 .b8 sh[64];
	.param .b32 pa, pr; .param .b64 pb;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	ld.param.u32 %r2, [n];
	setp.ge.u32 %p1|%p2, %r1, %r2;
	@%p1 bra $L;
	{
		.reg .f32 %r1;
		mov.f32 %r1, 0f3F800000;
		add.rn.f32 x, %r1, 1.5;
	}
	mad.lo.s32 %r3, %r1, 4, 1+2*3;
	st.global.v4.f32 [%rd1+16], v;
	st.global.v2.u32 [%rd1+-8], {%r1, %r3};
	st.param.b32 [pa], %r1;
	call (pr), f, (pa, pb);
	mov.u64 %rd2, sh;
	mov.u64 %rd3, tab+8;
	mov.u64 %rd2, tab[2+2];
	mov.u64 %rd2, sh[-3];
	bar.sync 0;
	shfl.sync.bfly.b32 %r4|%p2, %r1, 1, 31, -1;
	mov.b64 {%r5, _}, %rd2;
$L:
	ret;
}`
	m, err := ParseModule(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Funcs[1].Params[2].Offset; got != 20 {
		t.Errorf("offset of n: %d", got)
	}
	once := m.String()
	m2, err := ParseModule(once)
	if err != nil {
		t.Fatalf("%v\n%s", err, once)
	}
	if twice := m2.String(); twice != once {
		t.Errorf("print changed:\n%s\n%s", once, twice)
	}
	// An element's address counts scalars, as ptxas does: 4 bytes each, not rows of 12.
	for _, want := range []string{"mov.u64 %rd3, tab+8", "mov.u64 %rd2, tab+16", "mov.u64 %rd2, sh+-3"} {
		if !strings.Contains(once, want) {
			t.Errorf("no %q in\n%s", want, once)
		}
	}
	for _, bad := range []string{"x[0]", "n[0]", "tab[1][2]", "tab[1.5]", "tab[", "tab[]", "tab[1]+4", "%r1[0]"} {
		if _, err := ParseModule(strings.Replace(text, "mov.u64 %rd3, tab+8", "mov.u64 %rd3, "+bad, 1)); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
	if !strings.Contains(once, "mov.f32 %r1$1, 0f3F800000") {
		t.Errorf("shadowing lost:\n%s", once)
	}
}
