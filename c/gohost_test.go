package c

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGoHost: a program that is itself Go keeps its preemption signals.
func TestGoHost(t *testing.T) {
	libs := dist(t)
	exe := filepath.Join(t.TempDir(), "gohost")
	cmd := exec.Command("go", "build", "-o", exe, filepath.Join(root(t), "testdata/apps/abi_gohost/main.go"))
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "CGO_CFLAGS=-I"+filepath.Join(root(t), "include"), "CGO_LDFLAGS=-L"+libs)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	stdout, stderr, err := run(t, libs, nil, exe)
	if err != nil || stdout != "ok\n" || stderr != "" {
		t.Errorf("%v\n%s%s", err, stdout, stderr)
	}
}
