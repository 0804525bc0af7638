package testkit

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAppOwnFaults: a fault of the program's, in a function that a stream calls or sent by itself, is answered as without us: by its
// handler or by the system, and nothing is said about it.
func TestAppOwnFaults(t *testing.T) {
	exe := appProgram(t, "app_own")
	rows := []struct {
		name, out string
		code      int // -1: SIGSEGV
	}{
		{"callback_segv", "", -1},
		{"callback_null", "", -1},
		{"callback_before", "own handler\n", 45},
		{"callback_after", "own handler\n", 45},
		{"raised", "", -1},
		{"raised_handled", "own handler\n", 45},
	}
	onBackends(t, func(t *testing.T, backend string) {
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				r := newApp(t, backend, exe, row.name).run()
				var exit *exec.ExitError
				signal := syscall.Signal(0)
				if errors.As(r.err, &exit) {
					signal = exit.Sys().(syscall.WaitStatus).Signal()
				}
				if r.code != row.code || r.stdout != row.out || (row.code == -1) != (signal == syscall.SIGSEGV) {
					t.Errorf("exit code %d (%v), want %d; stdout %q, want %q", r.code, r.err, row.code, r.stdout, row.out)
				}
				if strings.TrimSpace(r.stderr) != "" {
					t.Errorf("stderr %q", r.stderr)
				}
			})
		}
	})
}

// TestAppBlocked: kernels fault on a thread that has blocked every signal.
func TestAppBlocked(t *testing.T) {
	exe := appProgram(t, "app_own")
	onBackends(t, func(t *testing.T, backend string) {
		r := newApp(t, backend, exe, "blocked").set("KUDZU_THREADS", "1").run()
		if r.wantOut(t, "ok\n"); strings.Count(r.stderr, "kernel poke: illegal address 0x0") != 20 {
			t.Errorf("stderr %q, want 20 lines about a fault", r.stderr)
		}
	})
}

// TestAppTaken: kernels fault in a program that has set the signals of faults back after the first call.
func TestAppTaken(t *testing.T) {
	exe := appProgram(t, "app_own")
	onBackends(t, func(t *testing.T, backend string) {
		r := newApp(t, backend, exe, "taken").run()
		if r.wantOut(t, "ok\n"); strings.Count(r.stderr, "kernel poke: illegal address 0x0") != 4 {
			t.Errorf("stderr %q, want 4 lines about a fault", r.stderr)
		}
	})
}

// TestAppClosed: a program that closes all its files, ours too, goes on, and keeps what it opens then.
func TestAppClosed(t *testing.T) {
	exe := appProgram(t, "app_own")
	onBackends(t, func(t *testing.T, backend string) { newApp(t, backend, exe, "closed").run().want(t, "ok\n") })
}

// TestAppNoLeaks: to a program that is checked for leaks nothing of ours looks like one.
func TestAppNoLeaks(t *testing.T) {
	appLibraries(t)
	if out, err := exec.Command(appCompiler(), "-print-file-name=libasan.so").Output(); err != nil || !filepath.IsAbs(strings.TrimSpace(string(out))) {
		t.Skip("the C compiler has no AddressSanitizer")
	}
	exe := appProgram(t, "app_leaks", "-fsanitize=address", "-lcuda", "-lpthread")
	onBackends(t, func(t *testing.T, backend string) { newApp(t, backend, exe).run().want(t, "ok\n") })
}

// TestAppLimits: a program that is short of something gets CUDA's code and one line about it, soon, or all works.
func TestAppLimits(t *testing.T) {
	exe := appProgram(t, "app_limits")
	const memory, system = 2, 304
	rows := []struct {
		what   string
		values []uint64
		codes  []int // that the first call may answer; 0: kernels work
	}{
		{"as", []uint64{100 << 20, 300 << 20, 700 << 20, 1000 << 20, 1500 << 20}, []int{memory}},
		{"as", []uint64{1970 << 20, 2000 << 20, 2050 << 20, 2100 << 20, 2300 << 20, 2400 << 20, 2500 << 20, 2600 << 20}, []int{0, memory}},
		{"as", []uint64{3 << 30, 6 << 30, 64 << 30}, []int{0}},
		{"as", []uint64{1 << 40}, []int{0}},
		{"data", []uint64{1 << 20, 20 << 20, 100 << 20}, []int{memory}},
		{"data", []uint64{1 << 30}, []int{0}},
		{"nofile", []uint64{3, 4, 5, 6, 7}, []int{system}},
		{"nofile", []uint64{9, 10, 12, 16, 24, 64}, []int{0}},
		{"nproc", []uint64{1, 4}, []int{system}},
		{"stack", []uint64{128 << 10, 1 << 20}, []int{0}},
		{"fsize", []uint64{0, 4096}, []int{0}},
	}
	onBackends(t, func(t *testing.T, backend string) {
		for _, row := range rows {
			for _, v := range row.values {
				t.Run(fmt.Sprint(row.what, " ", v), func(t *testing.T) {
					a := newApp(t, backend, exe, row.what, fmt.Sprint(v))
					a.timeout = time.Minute
					r := a.run()
					code, works := 0, r.stdout == "works 0\n"
					_, err := fmt.Sscanf(r.stdout, "cuInit %d", &code)
					if r.code != 0 || !slices.Contains(row.codes, code) || err != nil && !works {
						t.Errorf("exit code %d (%v), stdout %q, want %v\n%s", r.code, r.err, r.stdout, row.codes, r.stderr)
					}
					if n := strings.Count(r.stderr, "\n"); n > 1 || n == 0 && code != 0 {
						t.Errorf("stderr %q, want one line", r.stderr)
					}
				})
			}
		}
	})
}
