package c

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestStatic: a program with libcudart_static.a needs no path to find the runtime, says what NVIDIA's says where there is none, and
// has the symbols for itself.
func TestStatic(t *testing.T) {
	libs := dist(t)
	print := func(exe string) string {
		t.Helper()
		cmd := exec.Command(exe)
		for _, v := range os.Environ() {
			if !strings.HasPrefix(v, "LD_") {
				cmd.Env = append(cmd.Env, v)
			}
		}
		cmd.Env = append(cmd.Env, "KUDZU_BACKEND=interp")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	exe := compile(t, "load_static", filepath.Join(libs, "libcudart_static.a"), "-ldl")
	if got, want := print(exe), "0 13 cudaSuccess 1: no error\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	needed, err := exec.Command("readelf", "-d", exe).CombinedOutput()
	if err != nil || strings.Contains(string(needed), "libcudart") {
		t.Errorf("%v\n%s", err, needed)
	}
	nowhere := []string{"-DKZ_FOLDER=\"" + t.TempDir() + "\"", "-Ibase", "-I../internal/abi", "static/runtime.c", "static/stubs.S", "-ldl"}
	exe = compile(t, "load_static", nowhere...)
	want := "35 0 cudaErrorInsufficientDriver -1: CUDA driver version is insufficient for CUDA runtime version\n"
	if got := print(exe); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
