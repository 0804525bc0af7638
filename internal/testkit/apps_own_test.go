package testkit

import (
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
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
