package testkit

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func endless(t *testing.T, backend, exe, limit string, args ...string) *app {
	return newApp(t, backend, exe, args...).set("KUDZU_LAUNCH_TIMEOUT", limit).set("KUDZU_COMPUTE_CAPABILITY", "9.0")
}

// TestAppEndless: with KUDZU_LAUNCH_TIMEOUT a kernel without an end is stopped, the context answers CUDA_ERROR_LAUNCH_TIMEOUT, and other
// contexts and the program live on.
func TestAppEndless(t *testing.T) {
	exe := appProgram(t, "app_endless")
	rows := []struct {
		kernel          string
		blocks, threads int
	}{
		{"loop", 1, 1}, {"loop", 1, 256}, {"loop", 1000, 64},
		{"divergent", 3, 32},
		{"barrier", 1, 64}, {"barrier", 1, 1024}, {"barrier", 5, 128},
		{"spin", 1, 1}, {"spin", 64, 32}, {"lock", 8, 64},
		{"sleep", 2, 32}, {"print", 2, 32}, {"cluster", 4, 64},
	}
	onBackends(t, func(t *testing.T, backend string) {
		for _, row := range rows {
			t.Run(fmt.Sprintf("%s %d %d", row.kernel, row.blocks, row.threads), func(t *testing.T) {
				r := endless(t, backend, exe, "0.2", row.kernel, fmt.Sprint(row.blocks), fmt.Sprint(row.threads)).run()
				r.stdout = strings.ReplaceAll(r.stdout, ".", "") // what print prints
				r.wantOut(t, "limited 1\nok\n")
				if !strings.Contains(r.stderr, "kernel "+row.kernel+": timeout in block (") || strings.Count(r.stderr, "\n") != 1 || !strings.HasSuffix(r.stderr, "ran longer than 200ms (KUDZU_LAUNCH_TIMEOUT)\n") {
					t.Errorf("stderr %q, want one line about the launch", r.stderr)
				}
			})
		}
		t.Run("in time", func(t *testing.T) {
			endless(t, backend, exe, "10", "time", "1", "1").run().want(t, "limited 1\nok\n")
		})
		t.Run("destroyed", func(t *testing.T) {
			endless(t, backend, exe, "0.2", "destroy", "4", "32").run().wantOut(t, "limited 1\nok\n")
		})
	})
}

// TestAppEndlessExit: a program ends beside an endless kernel at once, with and without a limit.
func TestAppEndlessExit(t *testing.T) {
	exe := appProgram(t, "app_endless")
	onBackends(t, func(t *testing.T, backend string) {
		for i, limit := range []string{"0", "3600"} {
			a := endless(t, backend, exe, limit, "exit", "3", "32")
			a.timeout = time.Minute
			a.run().want(t, fmt.Sprintf("limited %d\nok\n", i))
		}
	})
}

// TestAppLaunchTimeoutBad: a limit that is none is an error at the first call.
func TestAppLaunchTimeoutBad(t *testing.T) {
	exe := appProgram(t, "app_endless")
	for _, limit := range []string{"-1", "x", "1s", "nan", "1e300", "0.0001"} {
		r := endless(t, "cpu", exe, limit, "time", "1", "1").run()
		if r.code == 0 || !strings.Contains(r.stderr, "KUDZU_LAUNCH_TIMEOUT="+limit+": must be seconds") {
			t.Errorf("%s: exit code %d, stderr %q", limit, r.code, r.stderr)
		}
	}
}
