package cudart_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestNvcc builds a program with NVIDIA's compiler, where KUDZU_NVCC names it, against our runtime library and with
// NVIDIA's own linked in, for the legacy and the per-thread default stream.
func TestNvcc(t *testing.T) {
	nvcc := os.Getenv("KUDZU_NVCC")
	if nvcc == "" {
		t.Skip("KUDZU_NVCC does not name the vendor's compiler")
	}
	dist(t)
	for _, kind := range []string{"shared", "static"} {
		for _, stream := range []string{"legacy", "per-thread"} {
			exe := filepath.Join(t.TempDir(), "rt_nvcc")
			cmd := exec.Command(nvcc, "-std=c++17", "--extended-lambda", "-arch=compute_75", "-cudart", kind, "--default-stream", stream,
				filepath.Join(repository, "testdata/apps/rt_nvcc.cu"), "-o", exe)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", nvcc, err, out)
			}
			for _, b := range backends {
				want := "thread 0 of nvcc\nthread 1 of nvcc\nok\n"
				if stdout, stderr := run(t, []string{"KUDZU_BACKEND=" + b}, exe); stdout != want || stderr != "" {
					t.Errorf("%s runtime, %s stream, %s: %s%s", kind, stream, b, stdout, stderr)
				}
			}
		}
	}
}
