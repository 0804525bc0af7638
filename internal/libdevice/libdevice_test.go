package libdevice

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table has every function of the module, with its type.
func TestTable(t *testing.T) {
	if !slices.IsSortedFunc(Functions, func(a, b Function) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not in order")
	}
	defined := regexp.MustCompile(`(?m)^define (\S+) @__nv_(\w+)\(([^)]*)\)`)
	types := map[string]string{}
	name := regexp.MustCompile(` %\d+`)
	for _, m := range defined.FindAllStringSubmatch(Text(), -1) {
		types[m[2]] = m[1] + "(" + name.ReplaceAllString(m[3], "") + ")"
	}
	llvm := strings.NewReplacer("*f64", "ptr", "*f32", "ptr", "*s32", "ptr", "[]f64", "ptr", "[]f32", "ptr", "[]u8", "ptr",
		"f64", "double", "f32", "float", "s32", "i32", "u32", "i32", "s64", "i64", "u64", "i64", "u16", "i16")
	for _, f := range Functions {
		if want := llvm.Replace(f.Type); types[f.Name] != want {
			t.Errorf("%s is %s in the module, %s in the table", f.Name, types[f.Name], want)
		}
		delete(types, f.Name)
	}
	for name := range types {
		t.Errorf("%s is not in the table", name)
	}
}

// A part of the library has what its functions need, and nothing else.
func TestFor(t *testing.T) {
	for _, c := range []struct{ names, has, not string }{
		{"__nv_sinf", "@__nv_sinf(|@far_anglef(float|@window.words =|@llvm.fma.f32|!nvvmir.version|attributes #0", "@__nv_cosf(|@__nv_sin(|@far_angle("},
		{"__nv_lgammaf", "define internal fastcc double @log_gamma(", "@__nv_tgamma("},
		{"__nv_fast_expf llvm.fma.f64", "@__nvvm_reflect|@.str =", "llvm.fma.f64"},
	} {
		text := For(strings.Fields(c.names))
		for s := range strings.SplitSeq(c.has, "|") {
			if !strings.Contains(text, s) {
				t.Errorf("%s: no %s in\n%s", c.names, s, text)
			}
		}
		for s := range strings.SplitSeq(c.not, "|") {
			if strings.Contains(text, s) {
				t.Errorf("%s: %s in\n%s", c.names, s, text)
			}
		}
	}
	if text := For([]string{"cosf", "far_angle", "__nv_nothing"}); text != "" {
		t.Errorf("of none of its functions: %s", text)
	}
}
