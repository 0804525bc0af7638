package cudacc

import (
	"strings"
	"testing"
)

func TestUnstatic(t *testing.T) {
	for text, want := range map[string]string{
		"static __device__ int a;":                                         "a",
		"__device__ static float a[3], b = 4;":                             "a",
		"static __constant__ int a[2][3];\n__device__ int b;":              "a",
		"__device__ static const int a = 7; __constant__ int b;":           "",
		"static __device__ const char *a;":                                 "a",
		"static __device__ char *const a = 0;":                             "",
		"static __device__ int f(int x) { return x; }":                     "",
		"static __device__ __forceinline__ T f();":                         "",
		"static __device__ int (*a)(int) = f;":                             "a",
		"// static __device__ int a;\n#define D static __device__\nint b;": "",
		"const int a = 8; static int b;":                                   "",
		"extern \"C\" { static __device__ int a{5}; }":                     "a",
		"namespace n::m { static __device__ int a; } ":                     "a",
		"namespace { struct S { int x; }; static __device__ S a; }":        "a",
		"__global__ void k() { static __device__ int a; } ":                "",
		"static __managed__ int b;":                                        "b",
		"template <class T> static __device__ T a;":                        "",
	} {
		got, names := Unstatic(text)
		if strings.Join(names, " ") != want || len(got) != len(text) || strings.Contains(got, "static") != (want == "" && strings.Contains(text, "static")) {
			t.Errorf("%q: %q, names %q, want %q", text, got, names, want)
		}
	}
}

func TestRestatic(t *testing.T) {
	const code = ".visible .global .align 4 .u32 a;\n.visible .const .align 4 .b8 b[8] = {1};\n.visible .global .align 4 .u32 c = 3;\n.visible .global .u32 ab;\n" +
		".global .align 4 .u32 _ZL2de = 4;\n.global .u32 _ZL1c;\n.const .u32 _ZL1fIiE;\nld.global.u32 %r1, [_ZL2de+4];\n"
	const want = ".global .align 4 .u32 a;\n.const .align 4 .b8 b[8] = {1};\n.visible .global .align 4 .u32 c = 3;\n.visible .global .u32 ab;\n" +
		".global .align 4 .u32 de = 4;\n.global .u32 _ZL1c;\n.const .u32 _ZL1fIiE;\nld.global.u32 %r1, [de+4];\n"
	names := []string{"_ZL2de", "_ZL1c", "k"}
	if got := Restatic(code, []string{"b", "a"}, names); got != want || strings.Join(names, " ") != "de _ZL1c k" {
		t.Errorf("names %q, got\n%swant\n%s", names, got, want)
	}
}
