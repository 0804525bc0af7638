package cudacc

import (
	"reflect"
	"strings"
	"testing"
)

// TestPostpone: calls of functions that a namespace does not have get names that are looked for at instantiation.
func TestPostpone(t *testing.T) {
	for _, c := range []struct {
		text         string
		line, column int
		member, want string
	}{
		{"template <class T> int f(T x) {\n  return cub::Sync(x);\n}", 2, 15, "Sync", "template <class T> int f(T x) {\n  return cub__Sync(x);\n}"},
		{"::a::b::c (x)", 1, 9, "c", "__a__b__c (x)"},
		{"cub::Sync x;", 1, 6, "Sync", ""},
		{"cub::Synchronize(x)", 1, 6, "Sync", ""},
		{"Sync(x)", 1, 1, "Sync", ""},
		{"cub::Sync(x)", 7, 6, "Sync", ""},
	} {
		if got := string(Amend([]byte(c.text), []Refusal{{Line: c.line, Column: c.column, Member: c.member}})); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// TestUnmarked: a deduction guide loses its execution space, and nothing else around it.
func TestUnmarked(t *testing.T) {
	for text, want := range map[string]string{
		"template <class T>\n_CCCL_HOST_DEVICE A(T&) -> A<T>;": "template <class T>\n                  A(T&) -> A<T>;",
		"#endif\n__device__ A(int) -> A<int>;":                 "#endif\n           A(int) -> A<int>;",
		"};\n__device__ explicit A(int) -> A<int>;":            "};\n           explicit A(int) -> A<int>;",
		"}; A(int) -> A<int>;":                                 "",
		"#define X\nA(int) -> A<int>;":                         "",
	} {
		if got := string(unmarked([]byte(text), strings.Index(text, "A("))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestReadRefused(t *testing.T) {
	text := "a b.cu:3:9: error: initialization is not supported for __shared__ variables\n  x\n  ^\na b.cu:3:9: error: initialization is not supported for __shared__ variables\n" +
		"/h.h:12:1: error: initialization is not supported for __shared__ variables\nc.cu:1:1: error: another\n" +
		"/h.h:14:15: error: no member named 'Sync' in namespace 'thrust::cub'\n/h.h:15:3: error: no member named 'f' in namespace 'a'; did you mean 'g'?\n"
	text += "/h.h:16:3: error: in CUDA/HIP, deduction guides may only be annotated with '__host__ __device__'; '__host__'-only, '__device__'-only, or '__global__' deduction guides are not allowed\n" +
		"/h.h:17:5: error: static assertion expression is not an integral constant expression\n" +
		"/h.h:18:5: error: reference to __host__ function 'f<int, 'x'>' in __host__ __device__ function\n/h.h:19:5: error: reference to __host__ function 'f' in __global__ function\n"
	want := Refused{"a b.cu": {{Line: 3, Column: 9}}, "/h.h": {
		{Line: 12, Column: 1}, {Line: 14, Column: 15, Member: "Sync"}, {Line: 15, Column: 3, Member: "f"}, {Line: 16, Column: 3, Guide: true},
		{Line: 17, Column: 5, Offset: true}, {Line: 18, Column: 5, Host: true},
	}}
	if got := ReadRefused(text); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSpaceLinkage(t *testing.T) {
	for text, want := range map[string]string{
		`extern "C"__global__ void k();`: `extern "C" __global__ void k();`, `extern"C"__device__ int i; f("C"_x);`: `extern"C" __device__ int i; f("C"_x);`, `extern "C" __global__`: "",
	} {
		if got := string(SpaceLinkage([]byte(text))); got != want {
			t.Errorf("%s: got %s", text, got)
		}
	}
}

// TestWrapCalls: calls of host functions are in a host lambda with their qualifiers and arguments; those of members stay as they are.
func TestWrapCalls(t *testing.T) {
	const b, a = beforeCall, afterCall
	for _, c := range []struct{ text, names, want string }{
		{"x = a::b::f(1, g(2));", "f", "x = " + b + "a::b::f(1, g(2))" + a + ";"},
		{"return f<A<int>, 3>\n  (x) + 1;", "f", "return " + b + "f<A<int>, 3>\n  (x)" + a + " + 1;"},
		{"f(')', \")\", /* ) */ y)", "f", b + "f(')', \")\", /* ) */ y)" + a},
		{"f(h(1)) + h(2)", "fh", b + "f(h(1))" + a + " + " + b + "h(2)" + a},
		{"; o.f(1);", "f", "; " + b + "o.f(1)" + a + ";"},
		{"a.o->f(1)", "f", b + "a.o->f(1)" + a},
		{"o.~f()", "f", b + "o.~f()" + a},
		{"g(x).f(1)", "f", ""},
		{"g(x)->f(1)", "f", ""},
		{"g[x]->h.f(1)", "f", ""},
		{"f < 3; g(1)", "f", ""},
		{b + "f(1)" + a, "f", ""},
	} {
		var names []int
		for i := range c.text {
			if strings.ContainsRune(c.names, rune(c.text[i])) && strings.Contains("(< ", c.text[i+1:i+2]) && (i == 0 || strings.Contains(" (.>:~", c.text[i-1:i])) {
				names = append(names, i)
			}
		}
		if got := string(wrapCalls([]byte(c.text), names)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}
