package engine

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMakespan replays chunk.h's policy on the grids and block times of the bench suite for 1 to 128 threads: see
// testdata/makespan. It is the same on every machine.
func TestMakespan(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	bin := filepath.Join(t.TempDir(), "makespan")
	if out, err := exec.Command(cc, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", bin, "testdata/makespan/main.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(bin).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
