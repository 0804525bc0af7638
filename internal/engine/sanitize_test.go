package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestStressC builds the engine's C files with testdata/stress and runs them without Go and with the order of
// locks checked: plainly always, and with
// KUDZU_SANITIZE=thread, address or undefined under that sanitizer.
func TestStressC(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	files, err := filepath.Glob("*.c")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "stress")
	args := append([]string{"-std=gnu11", "-O2", "-g", "-pthread", "-Wall", "-Wextra", "-Werror", "-DKZ_LOCK_RANKS", "-Wl,--wrap=pthread_create", "-o", bin, "testdata/stress/main.c", "enter_" + runtime.GOARCH + ".S"}, files...)
	if s := os.Getenv("KUDZU_SANITIZE"); s != "" {
		args = append(args, "-fsanitize="+s, "-fno-sanitize-recover=all") // what is only printed would pass
	}
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, threads := range []string{"1", "4"} {
		out, err := exec.Command(bin, threads).CombinedOutput()
		if err != nil {
			t.Errorf("%s threads: %v\n%s", threads, err, out)
		}
	}
}
