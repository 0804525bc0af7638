package c

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLtH200: matrix transforms and fp8 products put elements and scales where an H200's cuBLASLt does, with its statuses. Two
// differences are meant: we leave the rest of a tile alone, and write the orders of int8's tensor cores for int32 too.
func TestLtH200(t *testing.T) {
	libs, from := dist(t), filepath.Join(root(t), "internal/shim/cublaslt/testdata")
	exe := filepath.Join(t.TempDir(), "record")
	cc(t, "-std=gnu11", "-O1", "-Wall", "-Wno-overflow", "-I"+filepath.Join(root(t), "include"), filepath.Join(from, "record.c"), "-o", exe,
		"-L"+libs, "-l:libcublasLt.so.13", "-l:libcudart.so.13", "-lm")
	stdout, stderr, err := run(t, libs, nil, exe)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	text, err := os.ReadFile(filepath.Join(from, "h200.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want, got := strings.Split(string(text), "\n"), strings.Split(stdout, "\n")
	if len(want) != 26 || len(got) != len(want) {
		t.Fatalf("%d lines, on an H200 %d\n%s", len(got), len(want), stdout)
	}
	padding, refused := regexp.MustCompile(`padding written \d+$`), regexp.MustCompile(`^(transform type 10 .* order [34]): status 15, wrong \d+,`)
	for i, w := range want {
		w = padding.ReplaceAllString(w, "padding written 0")
		if w = refused.ReplaceAllString(w, "$1: status 0, wrong 0,"); got[i] != w {
			t.Errorf("%s\non an H200 %s", got[i], w)
		}
	}
}

// TestLtPrivate: what NVIDIA's libcublas asks of libcublasLt when a handle is made and ended is answered with success.
func TestLtPrivate(t *testing.T) {
	libs := dist(t)
	exe := filepath.Join(t.TempDir(), "private")
	src := exe + ".c"
	write(t, src, []byte(`#include <dlfcn.h>
int main(int argc, char **argv) {
	void *lt = dlopen(argv[1], RTLD_NOW);
	int (*init)(void *, int, int) = lt ? (int (*)(void *, int, int))dlsym(lt, "cublasLtCtxInit") : 0, (*end)(void *) = lt ? (int (*)(void *))dlsym(lt, "cublasLtShutdownCtx") : 0;
	char context[1024] = {0};
	return !init || !end || init(context, 0x81, 0x7fffffff) || end(context);
}
`))
	cc(t, "-std=gnu11", src, "-o", exe, "-ldl")
	for _, major := range []string{"11", "12", "13"} {
		if out, stderr, err := run(t, libs, nil, exe, "libcublasLt.so."+major); err != nil {
			t.Errorf("libcublasLt.so.%s: %v\n%s%s", major, err, out, stderr)
		}
	}
}
