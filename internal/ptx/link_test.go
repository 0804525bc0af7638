package ptx

import (
	"strings"
	"testing"
)

const linkHead = ".version 8.0\n.target sm_80\n.address_size 64\n"

func TestLink(t *testing.T) {
	a := linkHead + `
.file 1 "a.cu"
.extern .func (.param .b32 r) twice (.param .b32 x);
.extern .global .align 4 .u32 shared_count;
.global .align 4 .u32 mine = 1;
.func helper() { .reg .u32 %r1; .loc 1 2 3
 ld.global.u32 %r1, [mine]; add.u32 %r1, %r1, 1; ret; }
.visible .entry main() { .reg .u32 %r1; ld.global.u32 %r1, [shared_count]; call helper; ret; }
`
	b := linkHead + `
.global .align 4 .u32 mine = 2;
.visible .global .align 4 .u32 shared_count = 7;
.func helper() { ret; }
.weak .func common() { ret; }
.visible .func (.param .b32 r) twice (.param .b32 x) { .reg .u32 %r1; ld.param.u32 %r1, [x]; shl.b32 %r1, %r1, 1; st.param.b32 [r], %r1; ret; }
`
	c := strings.Replace(linkHead, "8.0", "8.3", 1) + ".weak .func common() { ret; }\n.extern .func (.param .b32 s) vprintf (.param .b64 f, .param .b64 a);\n"
	text, err := Link([]Part{{"a", a}, {"b", b}, {"c", c}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseModule(text); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for what, n := range map[string]int{".version 8.3": 1, ".loc": 0, "mine$L0": 2, "mine$L1": 1, "helper$L0": 3, ".extern": 1, "shared_count": 2, "add.u32": 1, ".entry main": 1, "common": 2, "vprintf": 1} {
		if got := strings.Count(text, what); got != n {
			t.Errorf("%q: %d times, want %d\n%s", what, got, n, text)
		}
	}
	if one, err := Link([]Part{{"a", a}}); err != nil || one != a {
		t.Error("a single module is changed")
	}
	if _, err := Link([]Part{{"b", b}, {"b2", b}}); err == nil || !strings.Contains(err.Error(), "Multiple definition of") {
		t.Errorf("defined twice: %v", err)
	}
	if _, err := Link([]Part{{"b", b}, {"bad", "no PTX"}}); err == nil {
		t.Error("bad text linked")
	}
}
