package c

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTraceEnds: what is in the files after every way to end or go on as another process.
func TestTraceEnds(t *testing.T) {
	libs := dist(t)
	exe := compile(t, "trace_ends", "-L"+libs, "-lcuda", "-lpthread")
	rows := []struct {
		how   string
		rc    string // of the process, "" for success
		calls []int  // in each file
		left  int    // calls that did not return
	}{
		{"fork", "", []int{2, 2}, 0},
		{"exec", "", []int{1, 1}, 0},
		{"kill", "signal: killed", []int{1}, 0},
		{"fault", "signal: segmentation fault", []int{2}, 1},
		{"threads", "", []int{50}, 0},
		{"many", "", []int{40000}, 0},
		{"close", "", []int{2001}, 0},
		{"exit", "", nil, 4},
		{"signals", "", nil, 0},
		{"cancel", "", []int{6000}, 0},
	}
	for _, row := range rows {
		t.Run(row.how, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "trace")
			stdout, stderr, err := run(t, libs, []string{"KUDZU_TRACE=" + dir}, exe, row.how)
			if row.rc == "" && (err != nil || stdout != "ok\n") || stderr != "" || row.rc != "" && (err == nil || !strings.HasPrefix(err.Error(), row.rc)) {
				t.Fatalf("%v\n%s%s", err, stdout, stderr)
			}
			var calls []int
			left := 0
			for _, r := range traces(t, dir) {
				calls = append(calls, len(r.calls))
				for _, c := range r.calls {
					if c.t1 == 0 {
						left++
					}
				}
				if r.lost != 0 {
					t.Errorf("%d records were lost", r.lost)
				}
			}
			if row.calls != nil && !slices.Equal(calls, row.calls) || left > row.left || row.how == "fault" && left != 1 {
				t.Errorf("%v calls, %d did not return; want %v, %d", calls, left, row.calls, row.left)
			}
		})
	}
}

// TestTraceNoRoom: where nothing can be written, one line says so and the program runs.
func TestTraceNoRoom(t *testing.T) {
	libs := dist(t)
	exe := compile(t, "trace_ends", "-L"+libs, "-lcuda", "-lpthread")
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, nil)
	check := func(what, want string, stdout, stderr string, err error) {
		t.Helper()
		if err != nil || stdout != "ok\n" || !strings.HasPrefix(stderr, "kudzu: trace: ") || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: %v, stdout %q, stderr %q, want %q", what, err, stdout, stderr, want)
		}
	}
	for dir, want := range map[string]string{file: "Not a directory", filepath.Join(file, "trace"): "Not a directory", "/proc/trace": "/proc/trace: "} {
		stdout, stderr, err := run(t, libs, []string{"KUDZU_TRACE=" + dir}, exe, "many")
		check(dir, want, stdout, stderr, err)
	}
	// A limit of files' sizes would end the process with a signal.
	dir := filepath.Join(t.TempDir(), "trace")
	stdout, stderr, err := run(t, libs, []string{"KUDZU_TRACE=" + dir}, "/bin/sh", "-c", "ulimit -f 300; exec "+exe+" many")
	check("ulimit -f", "File too large", stdout, stderr, err)
	if r := traces(t, dir); len(r) != 1 || len(r[0].calls) < 500 {
		t.Errorf("%d files up to the limit", len(r))
	}
	// A full disk, where we may make one.
	disk := t.TempDir()
	if out, err := exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("no file system can be made: %s", out)
	}
	keep := filepath.Join(t.TempDir(), "kept")
	script := "mount -t tmpfs -o size=400k tmpfs " + disk + " && " + exe + " many && cp -r " + disk + " " + keep
	stdout, stderr, err = run(t, libs, []string{"KUDZU_TRACE=" + filepath.Join(disk, "trace")}, "unshare", "-rm", "/bin/sh", "-c", script)
	check("full disk", "No space left on device", stdout, stderr, err)
	if r := traces(t, filepath.Join(keep, "trace")); len(r) != 1 || len(r[0].calls) < 500 {
		t.Errorf("%d files up to the end of the disk", len(r))
	}
}

// TestTraceOff: without KUDZU_TRACE a front's slot leads where it always did, and there is no folder.
func TestTraceOff(t *testing.T) {
	libs := dist(t)
	exe := compile(t, "trace_off", "-L"+libs, "-lcuda", "-ldl")
	dir := filepath.Join(t.TempDir(), "trace")
	for _, env := range []string{"KUDZU_TRACE=", "KUDZU_TRACE=" + dir} {
		stdout, stderr, err := run(t, libs, []string{env}, exe)
		if err != nil || stdout != "ok\n" || stderr != "" {
			t.Errorf("%s: %v\n%s%s", env, err, stdout, stderr)
		}
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}

// TestTraceOdd: odd programs and file systems neither stop a traced program nor have files of others written or deleted.
func TestTraceOdd(t *testing.T) {
	libs := dist(t)
	exe := compile(t, "trace_odd", "-rdynamic", "-L"+libs, "-lcuda")
	for _, row := range []struct{ how, says string }{
		{"malloc", ""},
		{"short", "No space left on device; the program goes on untraced"},
		{"moved", "Stale file handle; the program goes on untraced"},
		{"module", ""},
	} {
		t.Run(row.how, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "trace")
			stdout, stderr, err := run(t, libs, []string{"KUDZU_TRACE=" + dir}, "timeout", "60", exe, row.how, dir)
			if err != nil || stdout != "ok\n" || !strings.Contains(stderr, row.says) || row.says == "" && stderr != "" {
				t.Errorf("%v\n%s%s", err, stdout, stderr)
			}
		})
	}
}
