package nvvmir

import (
	"errors"
	"strings"
	"testing"
)

func TestOpaque(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"load float, float* %p", "load float, ptr %p"},
		{"i8** %p", "ptr %p"},
		{"i8 addrspace(3)* %p", "ptr addrspace(3) %p"},
		{"i8 addrspace(1)* addrspace(3)* %p", "ptr addrspace(3) %p"},
		{"%struct.a* %p, %\"b c\"* %q", "ptr %p, ptr %q"},
		{"[4 x i8*]* @s", "ptr @s"},
		{"<{ i8, { i32*, i1 } }>* %x", "ptr %x"},
		{"<4 x float>* %x", "ptr %x"},
		{"void (i32*, ...)* @f", "ptr @f"},
		{"{ i8*, i64 } (i32)* (i8*)* %f", "ptr %f"},
		{"call void (i8*, ...) @f(i8* %x)", "call void (ptr, ...) @f(ptr %x)"},
		{"bitcast (i8* getelementptr ([4 x i8], [4 x i8]* @s, i64 0) to i32*)", "bitcast (ptr getelementptr ([4 x i8], ptr @s, i64 0) to ptr )"},
		{`asm "mov $0, *x", "=r,*m"(i32* %p) ; float* here`, `asm "mov $0, *x", "=r,*m"(ptr %p) ; float* here`},
		{`@s = constant [3 x i8] c"a*\00"`, `@s = constant [3 x i8] c"a*\00"`},
		{"!{void ()* @k, !\"k*\", i32 1}", "!{ptr @k, !\"k*\", i32 1}"},
		{"%S* byval align 8 %x, i32* %y", "ptr byval(%S) align 8 %x, ptr %y"},
		{"{ i8*, i32 }* noalias sret %x", "ptr noalias sret({ ptr, i32 }) %x"},
		{"ptr byval(i8*) %x", "ptr byval(ptr) %x"},
		{"ptr %x", "ptr %x"},
		{"i32 2 * 3", "i32 ptr 3"}, // no IR; nothing must break
		{"* ) ]* \"", "* ) ]* \""},
		{"i8*\n; end", "ptr\n; end"},
	} {
		got := Opaque(c.in)
		if squeezed := strings.Join(strings.FieldsFunc(got, func(r rune) bool { return r == ' ' }), " "); squeezed != c.want {
			t.Errorf("%s: %q, want %q", c.in, got, c.want)
		}
		if named := strings.Contains(c.want, "byval(%S)") || strings.Contains(c.want, "sret("); len(got) != len(c.in) && !named {
			t.Errorf("%s: %q has another length", c.in, got)
		}
	}
}

func FuzzOpaque(f *testing.F) {
	f.Add("define void @k(float* %p, { i8*, <2 x i32 addrspace(3)*> }* byval %q) {\n ret void }")
	f.Add("call void (i8*, ...)* \"a")
	f.Fuzz(func(t *testing.T, s string) {
		if got := Opaque(s); len(got) < len(s) { // positions stay, or move to the right
			t.Errorf("%q became %q", s, got)
		}
	})
}

func TestParse(t *testing.T) {
	o, err := Parse([]string{"-arch=compute_90a", "-opt=0", "-ftz=1", "-prec-div=0", "-prec-sqrt=0", "-fma=0", "-g", "-generate-line-info", "-gen-lto"})
	if err != nil || *o != (Options{Arch: "90a", FTZ: true, FastDiv: true, FastSqrt: true, NoFMA: true, Debug: true, Lines: true, LTO: true}) {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err = Parse(nil); err != nil || o.Arch != defaultArch || o.Level != 3 || o.NoFMA {
		t.Errorf("%+v, %v", o, err)
	}
	for _, bad := range []string{"", "-foo", "-arch", "-arch=sm_80", "-arch=compute_1", "-arch=compute_80a", "-arch=compute_90f", "-arch=compute_100af", "-opt=7", "-opt", "-ftz=2", "-ftz", "-g=1", "-maxrregcount=32"} {
		var no *BadOption
		if _, err := Parse([]string{"-arch=compute_80", bad}); !errors.As(err, &no) || no.Option != bad || err.Error() != "libnvvm : error: "+bad+" is an unsupported option" {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for arch, want := range map[string]int{"80": 7, "90a": 7, "100f": 22, "121": 22} {
		if got := LLVM(arch, 22); got != want {
			t.Errorf("%s: LLVM %d", arch, got)
		}
	}
}
