package testkit

import (
	"os"
	"strings"
	"testing"
	"time"
)

// The long forms take hours on a small machine: KUDZU_STRESS=1 asks for them.
func longStress() bool { return os.Getenv("KUDZU_STRESS") != "" }

// TestStress: 64 threads with eight streams each do everything at once, and every result is checked. The program watches over
// itself: no progress for a minute is a failure that says where each thread was. A seed gives each thread the same list again.
func TestStress(t *testing.T) {
	exe := appProgram(t, "stress")
	rows := map[string][]string{"cpu": {"1 15000", "2 15000"}, "interp": {"1 5000"}}
	limit := 2 * time.Minute
	if longStress() {
		rows, limit = map[string][]string{"cpu": {"1 5000000"}, "interp": {"1 500000"}}, 6*time.Hour
	}
	for _, backend := range appBackends {
		for _, args := range rows[backend] {
			t.Run(backend+" "+args, func(t *testing.T) {
				a := newApp(t, backend, exe, strings.Fields(args)...).set("KUDZU_MEMORY", "8G") // what is free depends on nobody else
				a.timeout = limit
				r := a.run()
				r.wantOut(t, "ok\n")
				t.Log(strings.TrimSpace(r.stderr))
			})
		}
	}
}

// TestLeak: what is made and ended many times leaves memory, files and threads as they were.
func TestLeak(t *testing.T) {
	exe := appProgram(t, "app_leak")
	rows := []struct {
		what        string
		short, long string
	}{
		{"launches", "50000", "1000000"}, {"pairs", "50000", "1000000"}, {"streams", "20000", "200000"}, {"events", "50000", "1000000"},
		{"graphs", "4000", "100000"}, {"modules", "500", "20000"}, {"arrays", "50000", "100000"}, {"contexts", "200", "10000"},
	}
	for _, row := range rows {
		t.Run(row.what, func(t *testing.T) {
			n := row.short
			if longStress() {
				n = row.long
			}
			a := newApp(t, "cpu", exe, row.what, n).set("KUDZU_MEMORY", "8G")
			a.timeout = 3 * time.Minute
			if longStress() {
				a.timeout = 2 * time.Hour
			}
			r := a.run()
			r.wantOut(t, "ok\n")
			t.Log(strings.TrimSpace(r.stderr))
		})
	}
}
