package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestAppExit: a process ends at once and with its own code, whatever the library is doing and however it leaves.
func TestAppExit(t *testing.T) {
	exe := appProgram(t, "app_exit")
	states := lines(newApp(t, "", exe).run().stdout)
	cache := privateDir(t)
	onBackends(t, func(t *testing.T, backend string) {
		for _, state := range states {
			t.Run(state, func(t *testing.T) {
				t.Parallel()
				for _, how := range []string{"exit", "thread", "quick", "raw"} {
					a := newApp(t, backend, exe, state, how)
					a.cache = cache
					if r := a.run(); r.code != 7 || r.stdout != "" || state != "faulted" && r.stderr != "" {
						t.Errorf("%s: exit code %d (%v) after %v; %q %q", how, r.code, r.err, r.took, r.stdout, r.stderr)
					}
					if backend != "cpu" {
						break // the ways are the base's, which is the same
					}
				}
			})
		}
	})
}

// wantFaults: a host's run printed ok, and of its faults one line each and nothing else.
func wantFaults(t *testing.T, r result) {
	t.Helper()
	said := lines(r.stderr)
	good := len(said) == 3
	for _, line := range said {
		good = good && strings.HasPrefix(line, "kudzu: kernel poke: illegal address 0x0 ")
	}
	if r.code != 0 || r.stdout != "ok\n" || !good {
		t.Errorf("exit code %d (%v)\nstdout %q\nstderr %q", r.code, r.err, r.stdout, r.stderr)
	}
}

func hostFile(name string) string { return filepath.Join(repository, "testdata/apps/hosts", name) }

// TestHostPython: Python with its fault handler, enabled before us and after us. A crash of Python's own is still told by it.
func TestHostPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	for _, when := range []string{"before", "after"} {
		wantFaults(t, newApp(t, "cpu", python, hostFile("host.py"), when).run())
	}
	r := newApp(t, "cpu", python, hostFile("host.py"), "crash").run()
	if r.code != -1 || r.stdout != "ok\n" || !strings.Contains(r.stderr, "Fatal Python error: Segmentation fault") {
		t.Errorf("exit code %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
	}
}

var javaVersion = regexp.MustCompile(`version "(\d+)`)

// TestHostJava: a virtual machine that handles the same signals. KUDZU_JAVA names a java of version 22 or newer.
func TestHostJava(t *testing.T) {
	java := os.Getenv("KUDZU_JAVA")
	if java == "" {
		var err error
		if java, err = exec.LookPath("java"); err != nil {
			t.Skip("no java: name one of version 22 or newer in KUDZU_JAVA")
		}
	}
	out, err := exec.Command(java, "-version").CombinedOutput()
	m := javaVersion.FindSubmatch(out)
	if err != nil || m == nil {
		t.Skipf("%s: %v: %s", java, err, out)
	}
	if v, _ := strconv.Atoi(string(m[1])); v < 22 {
		t.Skipf("java %d has no foreign functions: name one of version 22 or newer in KUDZU_JAVA", v)
	}
	a := newApp(t, "cpu", java, "--enable-native-access=ALL-UNNAMED", hostFile("Host.java"))
	a.timeout = 2 * time.Minute
	wantFaults(t, a.run())
}

// TestHostGo: a Go program that opens the library when it runs.
func TestHostGo(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "gohost")
	cmd := exec.Command("go", "build", "-o", exe, hostFile("gohost/main_unsafe.go"))
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	wantFaults(t, newApp(t, "cpu", exe).run())
}
