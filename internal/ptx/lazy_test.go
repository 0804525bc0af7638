package ptx

import (
	"strings"
	"testing"
)

// A kernel whose table of functions is large is sliced without them, and each of them by itself, with the same shared variables.
func TestLazyFunctions(t *testing.T) {
	text := func(proto string, pad int) string {
		return `.version 8.0
.target sm_80
.address_size 64
.shared .align 4 .b8 a[16];
.shared .align 8 .b8 b[16];
.shared .align 8 .b8 other[16];
.extern .shared .align 16 .b8 dyn[];
.func helper() { .reg .u32 %r; ld.shared.u32 %r, [b]; ret; }
.func f() { call helper; ret; /*` + strings.Repeat(".", pad) + `*/ }
.func g() { .reg .u32 %r; mov.u32 %r, dyn; ret; }
.func far() { .reg .u32 %r; ld.shared.u32 %r, [other]; ret; }
.global .u64 table[2] = {f, g};
.entry k(.param .u64 p) .maxntid 64
{
	.reg .u64 %rd; .reg .u32 %r;
	ld.shared.u32 %r, [a];
	ld.global.u64 %rd, [table];
	pr: .callprototype ` + proto + `;
	call %rd, pr;
	ret;
}
.entry plain() { call far; ret; }
`
	}
	index := func(text string) *Index {
		x, err := IndexModule(text)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	x := index(text("()_ ()", lazyBytes))
	if got := strings.Join(x.Lazy("k"), " "); got != "f g" {
		t.Errorf("lazy: %q", got)
	}
	for _, c := range []struct{ name, function, has, lacks string }{
		{"k", "", ".shared .align 4 .b8 a[16];\n.shared .align 8 .b8 b[16];\n.extern .shared .align 16 .b8 dyn[];\n|.func f()\n;|.entry k(", "call helper|other|far"},
		{"k", "f", ".shared .align 4 .b8 a[16];\n.shared .align 8 .b8 b[16];\n.extern .shared .align 16 .b8 dyn[];\n|call helper|.entry " + LazyEntry + "f() .maxntid 64\n", ".entry k(|table"},
		{"k", "g", ".shared .align 4 .b8 a[16];\n|.entry " + LazyEntry + "g() .maxntid 64\n", ".entry k(|call helper"},
	} {
		s, err := x.SliceLazy(c.name, c.function)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range strings.Split(c.has, "|") {
			if !strings.Contains(s.Text, want) {
				t.Errorf("%s %s: no %q", c.name, c.function, want)
			}
		}
		for _, not := range strings.Split(c.lacks, "|") {
			if strings.Contains(s.Text, not) {
				t.Errorf("%s %s: %q is there", c.name, c.function, not)
			}
		}
		if _, err := ParseModule(s.Text); err != nil {
			t.Error(err)
		}
	}
	if names := x.Lazy("plain"); names != nil {
		t.Errorf("a kernel without calls through pointers: %v", names)
	}
	if names := index(text("()_ ()", 0)).Lazy("k"); names != nil {
		t.Errorf("a small table: %v", names)
	}
	if names := index(text("(.param .b32 _)_ ()", lazyBytes)).Lazy("k"); names != nil {
		t.Errorf("calls with results: %v", names)
	}
}
