package c

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// again runs nvrtc_again and gives what it prints, and whether the Go image was loaded.
func again(t *testing.T, exe, dir string, env []string, args ...string) (out string, image bool) {
	t.Helper()
	cmd := exec.Command(exe, args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "LD_LIBRARY_PATH="+dist(t), "KUDZU_LOG=", "KUDZU_COMPILER="), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	out, ok := strings.CutSuffix(string(b), "Go 0\n")
	if !ok {
		out, image = strings.CutSuffix(out, "Go 1\n")
	}
	if err != nil || !ok && !image {
		t.Fatalf("%v\n%s%s", err, b, &stderr)
	}
	return out, image
}

// TestNVRTCAgain: what NVRTC has answered once it answers again in a new process without the Go image, in the same words; and not from
// there when anything is different.
func TestNVRTCAgain(t *testing.T) {
	libs := dist(t)
	if _, err := os.Stat(filepath.Join(libs, "../bin/kudzu")); err != nil {
		t.Skip("no compiler: make dist")
	}
	if clang, err := exec.Command("../scripts/setup.sh", "clang").Output(); err != nil || len(clang) == 0 {
		t.Skip("no clang")
	}
	for _, major := range []string{"12", "13"} {
		t.Run(major, func(t *testing.T) {
			exe := compile(t, "nvrtc_again", "-L"+libs, "-l:libnvrtc.so."+major)
			dir, other, cache := t.TempDir(), t.TempDir(), t.TempDir()
			if err := os.Chmod(cache, 0o700); err != nil {
				t.Fatal(err)
			}
			for i, at := range []string{dir, other} {
				header(t, at, 40+i)
			}
			env := []string{"KUDZU_CACHE_DIR=" + cache}
			want, image := again(t, exe, dir, env)
			if strings.Count(want, `cannot open source file "nowhere.h"`) != 2 {
				t.Errorf("a header that is not there:\n%s", want)
			}
			if !image || !strings.Contains(want, "_Z5twiceIfEvPT_") || !strings.Contains(want, "was declared but never referenced") {
				t.Fatalf("the first time, Go %v:\n%s", image, want)
			}
			check := func(what, at string, env []string, same, wantImage bool, args ...string) {
				t.Helper()
				got, image := again(t, exe, at, env, args...)
				if (got == want) != same || image != wantImage {
					t.Errorf("%s: Go %v, the same %v\n%s\n--- at first\n%s", what, image, got == want, got, want)
				}
			}
			check("again", dir, env, true, false)
			check("without a cache", dir, append(env, "CUDA_CACHE_DISABLE=1"), true, true)
			check("another place", other, env, false, true)
			check("another place again", other, env, false, false)
			check("another compiler", dir, append(env, "KUDZU_CCCL=/nowhere"), true, true)

			usual, _ := again(t, exe, dir, append(env, "CUDA_CACHE_DISABLE=1"), "odd")
			if got, _ := again(t, exe, dir, env, "odd"); got != usual {
				t.Errorf("what is seldom done, behind an answer:\n%s\n--- without\n%s", got, usual)
			}
			check("still", dir, env, true, false)
			damage(t, cache)
			check("damaged entries", dir, env, true, true)
			check("which were written again", dir, env, true, false)
			if err := os.WriteFile(filepath.Join(dir, "include/nowhere.h"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			check("a header that was not there", dir, env, false, true)
			header(t, dir, 50)
			check("a changed header", dir, env, false, true)
		})
	}
}

// header writes the header that one of the requests finds in a folder.
func header(t *testing.T, dir string, k int) {
	t.Helper()
	dir = filepath.Join(dir, "include")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "k.h"), fmt.Appendf(nil, "#define K %d\n", k), 0o600); err != nil {
		t.Fatal(err)
	}
}

// damage changes the last byte of every entry.
func damage(t *testing.T, cache string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(cache, "*", "*.kzc"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no entries")
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)-1] ^= 1
		if err := os.WriteFile(f, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNVRTCWaits: while a program that was answered from the cache is compiled in Go, calls of other programs return, and forks.
func TestNVRTCWaits(t *testing.T) {
	libs := dist(t)
	if _, err := os.Stat(filepath.Join(libs, "../bin/kudzu")); err != nil {
		t.Skip("no compiler: make dist")
	}
	if clang, err := exec.Command("../scripts/setup.sh", "clang").Output(); err != nil || len(clang) == 0 {
		t.Skip("no clang")
	}
	exe := compile(t, "nvrtc_wait", "-L"+libs, "-l:libnvrtc.so.13", "-lpthread")
	cache := t.TempDir()
	if err := os.Chmod(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{{nil, "all 0\n"}, {[]string{cache}, "others 0, the child 0, before it was over 3\nall 0\n"}} {
		cmd := exec.Command(exe, c.args...)
		cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+libs, "KUDZU_LOG=", "KUDZU_COMPILER=", "KUDZU_CACHE_DIR="+cache)
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != c.want {
			t.Fatalf("%v: %v\n%s", c.args, err, out)
		}
	}
}
