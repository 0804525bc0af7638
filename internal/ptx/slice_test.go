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

// TestSliceTables: a table of functions that name the table, as the destructors of C++ name their class's.
func TestSliceTables(t *testing.T) {
	const text = `.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 r) f(.param .b64 a);
.global .align 8 .u64 table[2] = {0, f};
.func (.param .b32 r) f(.param .b64 a)
{
	.reg .b64 %rd<2>;
	mov.u64 %rd1, table;
	ret;
}
.visible .entry k()
{
	.reg .b64 %rd<2>;
	mov.u64 %rd1, table;
	ret;
}
`
	x, err := IndexModule(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := x.Slice("k")
	if err != nil {
		t.Fatal(err)
	}
	proto, table, body := strings.Index(s.Text, "f(.param .b64 a)\n;"), strings.Index(s.Text, "table[2]"), strings.Index(s.Text, "f(.param .b64 a)\n{")
	if proto < 0 || table < proto || body < table {
		t.Errorf("declaration at %d, table at %d, function at %d:\n%s", proto, table, body, s.Text)
	}
	if _, err := ParseModule(s.Text); err != nil {
		t.Error(err)
	}
}

// TestSliceKernels: kernels that name each other are declared ahead, whatever stands around their names.
func TestSliceKernels(t *testing.T) {
	for _, head := range []string{
		".visible .entry e", ".entry e()", ".visible .entry e /* ) */ .maxntid 32", ".visible .entry e() .pragma \"nounroll)\"; .maxntid 32",
		".visible .entry e // of (\n", ".visible .entry e(.param .u64 .ptr .global a) .reqntid 8, 1, 1",
	} {
		x, err := IndexModule(header + head + " { .reg .u64 r; mov.u64 r, f; ret; }\n.entry f() { .reg .u64 r; mov.u64 r, e; ret; }\n")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"e", "f"} {
			s, err := x.Slice(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ParseModule(s.Text); err != nil {
				t.Errorf("%s of %s: %v\n%s", name, head, err, s.Text)
			}
		}
	}
}
