package c

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// of lists the processes that have word in their environment, by their arguments.
func of(word string) (list []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !strings.Contains(string(env), word) {
			continue
		}
		if args, err := os.ReadFile(filepath.Join(dir, "cmdline")); err == nil {
			list = append(list, strings.TrimSpace(strings.ReplaceAll(string(args), "\x00", " ")))
		}
	}
	return list
}

// TestNVRTCEarly: the compiler process and its clang are started beside the Go image, once, leave no trace in the program, and end
// with it.
func TestNVRTCEarly(t *testing.T) {
	libs := dist(t)
	if _, err := os.Stat(filepath.Join(libs, "../bin/kudzu")); err != nil {
		t.Skip("no compiler: make dist")
	}
	if clang, err := exec.Command("../scripts/setup.sh", "clang").Output(); err != nil || len(clang) == 0 {
		t.Skip("no clang")
	}
	exe := compile(t, "nvrtc_early", "-L"+libs, "-l:libnvrtc.so.13", "-lpthread")
	cache := t.TempDir()
	if err := os.Chmod(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+libs, "KUDZU_LOG=", "KUDZU_COMPILER=", "KUDZU_CACHE_DIR="+cache)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if want := "0 0, no child 1, signals 0, file 0, mask 1\n"; line != want || err != nil {
		t.Errorf("%q, %v, want %q", line, err, want)
	}
	var early, compilers int
	for _, args := range of(cache) {
		if strings.Contains(args, "kudzu compiler") && !strings.Contains(args, " worker") {
			compilers++
		}
		if strings.Contains(args, "kudzu compiler with ") {
			early++
		}
	}
	if early != 1 || compilers != 1 {
		t.Errorf("%d compiler processes, %d of them started early: %q", compilers, early, of(cache))
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	for end := time.Now().Add(20 * time.Second); len(of(cache)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("left behind: %q", of(cache))
		}
	}
}
