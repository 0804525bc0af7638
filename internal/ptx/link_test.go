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

func TestLinkPrototypes(t *testing.T) {
	def := linkHead + ".visible .func (.param .b32 r) f (.param .b32 x) { ret; }\n"
	for proto, ok := range map[string]bool{
		"(.param .b32 q) f (.param .b32 y)": true, "(.param .b32 r) f (.param .u32 x)": true,
		"f (.param .b32 x)": false, "(.param .b32 r) f ()": false, "(.param .b32 r) f (.param .b32 x, .param .b32 y)": false,
		"(.param .b64 r) f (.param .b32 x)": false, "(.param .b32 r) f (.param .align 4 .b8 x[4])": false,
	} {
		a := linkHead + ".extern .func " + proto + ";\n"
		for _, parts := range [][]Part{{{"a", a}, {"b", def}}, {{"b", def}, {"a", a}}} {
			_, err := Link(parts)
			want := "Prototype doesn't match for 'f' in '" + parts[1].Name + "', first defined in 'b'"
			if ok && err != nil || !ok && (err == nil || err.Error() != want) {
				t.Errorf("%s: %v", proto, err)
			}
		}
	}
}

func TestLimitRegisters(t *testing.T) {
	text, err := LimitRegisters(linkHead+".visible .entry a() { ret; }\n.visible .entry b() .maxnreg 40 { ret; }\n.visible .entry c() .maxntid 8 { ret; }\n", 24)
	if want := linkHead + ".visible .entry a() .maxnreg 24 { ret; }\n.visible .entry b() .maxnreg 40 { ret; }\n.visible .entry c() .maxntid 8 .maxnreg 24 { ret; }\n"; err != nil || text != want {
		t.Errorf("%v\n%s", err, text)
	}
}
