package cudacc

import (
	"strings"
	"testing"
)

// TestUninitialized: the declarations that clang refuses become members of unions, on the lines where they were.
func TestUninitialized(t *testing.T) {
	const unit = "__shared__ union __kudzu_rawN { __device__ __kudzu_rawN() {} __device__ ~__kudzu_rawN() {} struct { "
	ref := func(name string) string {
		return " static constexpr auto &" + name + " = __kudzu_sharedN.v." + name + ";"
	}
	end := " } v; } __kudzu_sharedN;"
	for _, c := range []struct{ text, want string }{
		{"{ int i; __shared__ B @b; }", unit + " B b;" + end + ref("b")},
		{"static __shared__ P<1, (2 > 1)> @p, @q[3]\n[4];", unit + "  P<1, (2 > 1)> p, q[3]\n[4];" + end + ref("p") + ref("q")},
		{"// ; {\n__shared__ /* ; */ alignas(8) B @b;", unit + " /* ; */ alignas(8) B b;" + end + ref("b")},
		{"x;\n#pragma unroll\n__shared__ B @b;", unit + " B b;" + end + ref("b")},
		{"f(); __shared__ struct { B x; } @s;", unit + " struct { B x; } s;" + end + ref("s")},
		{"__shared__ B @b(3);", ""},
		{"__shared__ B @b = {};", ""},
		{"SHARED B @b;", ""},
		{"f(__shared__ B @b);", ""},
	} {
		var at []Refusal
		text := c.text
		for i := strings.IndexByte(text, '@'); i >= 0; i = strings.IndexByte(text, '@') {
			text = text[:i] + text[i+1:]
			line := strings.Count(text[:i], "\n")
			at = append(at, Refusal{Line: line + 1, Column: i - strings.LastIndexByte(text[:i], '\n')})
		}
		got := string(Amend([]byte(text), at))
		if c.want == "" {
			if got != "" {
				t.Errorf("%q: got %q, want it as it is", c.text, got)
			}
			continue
		}
		id := got[strings.Index(got, "__kudzu_raw")+len("__kudzu_raw"):]
		id, _, _ = strings.Cut(id, " ")
		if want := strings.ReplaceAll(c.want, "N", id); !strings.Contains(got, want) || strings.Count(got, "\n") != strings.Count(text, "\n") {
			t.Errorf("%q: got\n%q, want in it\n%q", c.text, got, want)
		}
	}
	ptx := ".visible .global .align 8 .u64 _ZZ1kvE3bar = generic(_ZZ1kvE15__kudzu_shared40);\n.global .u64 p = generic(q);\n"
	o := &Options{Arch: "80", Debug: true}
	if got, _ := o.Finish(ptx, 0); got != ".visible .global .align 8 .u64 _ZZ1kvE3bar;\n.global .u64 p = generic(q);\n" {
		t.Errorf("references that were not folded: %q", got)
	}
}
