package demangle

import (
	"os"
	"strings"
	"testing"
)

// TestNames: kernels of llama.cpp and of PyTorch, as c++filt (binutils 2.40) reads them.
func TestNames(t *testing.T) {
	b, err := os.ReadFile("testdata/names.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) < 390 || len(lines)%2 != 0 {
		t.Fatalf("%d lines", len(lines))
	}
	for i := 0; i < len(lines); i += 2 {
		want := strings.TrimPrefix(lines[i+1], "\t")
		if got := Name(lines[i]); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", lines[i], got, want)
		}
		if f := Function(lines[i]); strings.HasPrefix(f, "_Z") || !strings.HasPrefix(lines[i], "_ZZ") && !strings.Contains(want, f) {
			t.Errorf("%s: function %s", lines[i], f)
		}
		if s := Short(lines[i]); strings.HasPrefix(s, "_Z") || strings.Contains(s, "(anonymous") {
			t.Errorf("%s: short %s", lines[i], s)
		}
	}
}

func TestForms(t *testing.T) {
	for _, row := range []struct{ mangled, name, function, short string }{
		{"_Z3addPKfS0_Pfi", "add(float const*, float const*, float*, int)", "add", "add"},
		{"_Z5scaleIfLi4EEvPT_i", "void scale<float, 4>(float*, int)", "scale<float, 4>", "scale"},
		{"_ZN12_GLOBAL__N_14foldIcEEvv", "void (anonymous namespace)::fold<char>()", "(anonymous namespace)::fold<char>", "fold"},
		{"_ZN34_INTERNAL_c0ffee12_4_a_cu_deadbee14foldEv", "(anonymous namespace)::fold()", "(anonymous namespace)::fold", "fold"},
		{"_ZN2at6native49_GLOBAL__N__b6ca21f8_16_ForeachUnaryOp_cu_77fe6231kEv", "at::native::(anonymous namespace)::k()", "at::native::(anonymous namespace)::k", "at::native::k"},
		{"__nv_static_45__38_tmpxft_00000001_a_cpp1_ii_deadbeef__Z3addPf", "add(float*)", "add", "add"},
		{"_ZL3addPf__intern__0123abcd", "add(float*)", "add", "add"},
		{"_Z3addPf.constprop.0", "add(float*)", "add", "add"},
		{"_Z1fPFviE", "f(void (*)(int))", "f", "f"},
		{"_Z1fRA3_Ki", "f(int const (&) [3])", "f", "f"},
		{"_Z1fM1AFiiE", "f(int (A::*)(int))", "f", "f"},
		{"_Z1fM1AKFivE", "f(int (A::*)() const)", "f", "f"},
		{"_Z1fM1Ai", "f(int A::*)", "f", "f"},
		{"_Z1fIJifEEvDpRKT_", "void f<int, float>(int const&, float const&)", "f<int, float>", "f"},
		{"_Z1fIJEEvDpT_", "void f<>()", "f<>", "f"},
		{"_Z1fIRiEvOT_", "void f<int&>(int&)", "f<int&>", "f"},
		{"_Z1fILb1ELin3ELj4EEvv", "void f<true, -3, 4u>()", "f<true, -3, 4u>", "f"},
		{"_Z1kDF16_DF16b", "k(_Float16, std::bfloat16_t)", "k", "k"},
		{"_ZZ1gvENKUlOT_E_clIiEEvS0_", "void g()::{lambda(auto:1&&)#1}::operator()<int>(int&&) const", "g::{lambda(auto:1&&)#1}::operator()<int>", "g::{lambda#1}::operator()"},
		// S2_ is T0_ of f, and then the second argument of k.
		{"_Z1kILi2EZ1fIifEvT_T0_EUliE_EvS2_", "void k<2, f<int, float>(int, float)::{lambda(int)#1}>(f<int, float>(int, float)::{lambda(int)#1})", "k<2, f<int, float>(int, float)::{lambda(int)#1}>", "k"},
		{"saxpy", "saxpy", "saxpy", "saxpy"},
		{"_Z", "_Z", "_Z", "_Z"},
		{"_Z3ad", "_Z3ad", "_Z3ad", "_Z3ad"},
		{"", "", "", ""},
	} {
		if n, f, s := Name(row.mangled), Function(row.mangled), Short(row.mangled); n != row.name || f != row.function || s != row.short {
			t.Errorf("%s:\n%s | %s | %s, want\n%s | %s | %s", row.mangled, n, f, s, row.name, row.function, row.short)
		}
	}
}

func TestColumn(t *testing.T) {
	if got := Column("_Z5scaleIfLi4EEvPT_i", 20); got != "scale<float, 4>" {
		t.Error(got)
	}
	if got := Column("_Z5scaleIfLi4EEvPT_i", 11); got != "scale<f… 4>" {
		t.Error(got)
	}
}

// TestGrowth: names that say the same thing twice, over and over.
func TestGrowth(t *testing.T) {
	for _, in := range []string{
		"_Z1f1AIiiE" + strings.Repeat("IS_S_E", 40),
		"_Z1fP1aPS0_" + strings.Repeat("FS1_S1_E", 60),
		"_Z1f" + strings.Repeat("P", 10000) + "i",
		"_Z" + strings.Repeat("N1a", 10000),
		"_Z1fI" + strings.Repeat("J", 5000),
		"_Z1fIJ" + strings.Repeat("JJEJE", 40) + "EEvDpDpDpT_",
	} {
		if got := Name(in); len(got) > max(len(in), maxText) {
			t.Errorf("%d bytes of %d", len(got), len(in))
		}
	}
	double := "_Z1f1aIiE" // each type has the one before it twice
	for i := range 60 {
		s := "S" + strings.ToUpper(base36(i)) + "_"
		double += "1bI" + s + s + "E"
	}
	if got := Name(double); len(got) > maxText {
		t.Errorf("%d bytes", len(got))
	}
}

func base36(n int) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	if n < 36 {
		return digits[n : n+1]
	}
	return base36(n/36) + digits[n%36:n%36+1]
}

func FuzzName(f *testing.F) {
	b, err := os.ReadFile("testdata/names.txt")
	if err != nil {
		f.Fatal(err)
	}
	for i, l := range strings.Split(string(b), "\n") {
		if i%2 == 0 {
			f.Add(l)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, text := range []string{Name(s), Function(s), Short(s), Column(s, 40)} {
			if len(text) > max(len(s), maxText) {
				t.Errorf("%d bytes", len(text))
			}
		}
	})
}
