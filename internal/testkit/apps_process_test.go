package testkit

import (
	"strings"
	"testing"
)

// TestAppProcess: fork, exec, exit and signals, with nothing of ours in the program's way.
func TestAppProcess(t *testing.T) {
	exe := appProgram(t, "app_process")
	rows := []struct {
		name, out string
		code      int
		faults    int // kernel faults that are reported
		again     int // runs with a cache that has all kernels: nothing is slow any more
	}{
		{name: "fork_before", out: "ok\n"},
		{name: "fork_after", out: "ok\n"},
		{name: "fork_busy", out: "ok\n"},
		{name: "fork_threads", out: "ok\n"},
		{name: "exit_busy", out: "at exit answered\nat exit answered\n", code: 42},
		{name: "return_busy", out: "ok\n"},
		{name: "exit_thread", code: 43},
		{name: "exec_busy", out: "replaced\n", code: 44},
		{name: "sigchld", out: "ok\n"},
		{name: "sigchld_ignored", out: "ok\n"},
		{name: "segv_before", out: "ok\n", faults: 1},
		{name: "segv_after", out: "ok\n", faults: 1, again: 10},
		{name: "segv_default", out: "ok\n"},
		{name: "masked", out: "ok\n", faults: 1},
		{name: "timer", out: "ok\n"},
		{name: "closed_files", out: "ok\n"},
		{name: "late_env", out: "ok\n"},
		{name: "late_handler", out: "ok\n"},
	}
	onBackends(t, func(t *testing.T, backend string) {
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				a := newApp(t, backend, exe, row.name)
				r := a.run()
				for i := 0; i < row.again && r.code == row.code && r.stdout == row.out; i++ {
					r = a.run()
				}
				if r.code != row.code || r.stdout != row.out {
					t.Errorf("exit code %d (%v), want %d; stdout %q, want %q; stderr %q", r.code, r.err, row.code, r.stdout, row.out, r.stderr)
				}
				if n := strings.Count(r.stderr, "kudzu: kernel poke: illegal address 0x0 "); n != row.faults || strings.Count(r.stderr, "\n") != row.faults {
					t.Errorf("stderr %q, want %d lines about a fault", r.stderr, row.faults)
				}
			})
		}
	})
}

// TestAppDevices: four devices, on every backend.
func TestAppDevices(t *testing.T) {
	exe := appProgram(t, "app_devices")
	onBackends(t, func(t *testing.T, backend string) {
		r := newApp(t, backend, exe).set("KUDZU_DEVICES", "4").set("KUDZU_MEMORY", "64M").run()
		if r.wantOut(t, "ok\n"); strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "kernel poke: illegal address 0x0") {
			t.Errorf("stderr %q, want one line about a fault", r.stderr)
		}
	})
}

// TestAppLoad: the library may be opened and closed as often as anyone likes.
func TestAppLoad(t *testing.T) {
	newApp(t, "", appProgram(t, "app_load", "-ldl"), "300").run().want(t, "ok\n")
}

// TestAppStress: 64 threads, three streams each, everything at once; then many launches and allocations, which must leave
// the process as large as it was.
func TestAppStress(t *testing.T) {
	exe := appProgram(t, "app_stress")
	rows := map[string][]string{
		"cpu":    {"threads 3", "launches 100000", "allocs 100000"},
		"interp": {"threads 1", "launches 10000", "allocs 100000"},
	}
	for _, backend := range appBackends { // not at the same time: they take every core
		for _, args := range rows[backend] {
			t.Run(backend+" "+args, func(t *testing.T) {
				r := newApp(t, backend, exe, strings.Fields(args)...).set("KUDZU_MEMORY", "8G").run()
				r.wantOut(t, "ok\n")
				t.Log(strings.TrimSpace(r.stderr))
			})
		}
	}
}
