package ptx

import (
	"strings"
	"testing"
)

// A kernel that calls through a pointer gets every function whose address the module takes, and a list of them.
func TestSlicePointers(t *testing.T) {
	const text = `.version 8.0
.target sm_80
.address_size 64
.func f() { ret; }
.func g() { ret; }
.func h() { ret; } // only called
.func far() { ret; }
.global .u64 table[1] = {g};
.entry set(.param .u64 p)
{
	.reg .u64 %rd<3>;
	mov.u64 %rd0, f; // call h
	/* call */ call h;
	st.global.u64 [table], %rd0;
	ret;
}
.entry use(.param .u64 p)
{
	.reg .u64 %rd<3>;
	.reg .pred %q;
	ld.param.u64 %rd0, [p];
	pr: .callprototype _ ();
	call %rd0, pr;
	@%q call h;
	ret;
}
.entry plain() { call far; ret; }
`
	x, err := IndexModule(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := x.Slice("use")
	if err != nil {
		t.Fatal(err)
	}
	if want := `.pragma "` + TakenPragma + `f,g";`; !strings.Contains(s.Text, want) {
		t.Errorf("no %s in:\n%s", want, s.Text)
	}
	for _, want := range []string{".func f()", ".func g()", ".func h()"} {
		if !strings.Contains(s.Text, want) {
			t.Errorf("no %s in:\n%s", want, s.Text)
		}
	}
	if strings.Contains(s.Text, "far") {
		t.Errorf("a function nobody takes the address of is in:\n%s", s.Text)
	}
	if _, err := ParseModule(s.Text); err != nil {
		t.Error(err)
	}
	if s, err := x.Slice("plain"); err != nil || strings.Contains(s.Text, "pragma") {
		t.Errorf("%v: a slice without pointers lists addresses:\n%s", err, s.Text)
	}
}
