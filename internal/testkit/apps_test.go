package testkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Whole programs in C (testdata/apps), linked against the libraries in dist, on both executors: what a user's program sees.

// repository is the root of the tree as this test sees it.
const repository = "../.."

// recordedOn is the compute capability of the device whose driver's answers were recorded.
const recordedOn = "9.0"

var appBackends = []string{"cpu", "interp"}

var libraries struct {
	once sync.Once
	dir  string // dist/lib
	skip string
	err  error
}

// appLibraries builds dist once and gives its lib folder. The script takes a lock and leaves alone what is current.
func appLibraries(t *testing.T) string {
	t.Helper()
	libraries.once.Do(func() {
		if _, err := exec.LookPath(appCompiler()); err != nil {
			libraries.skip = "no C compiler: install gcc, or name one in CC"
			return
		}
		touchSources()
		out, err := exec.Command(filepath.Join(repository, "scripts/dist.sh")).CombinedOutput()
		if err != nil {
			libraries.err = fmt.Errorf("scripts/dist.sh: %w\n%s", err, out)
			return
		}
		libraries.dir, libraries.err = filepath.Abs(filepath.Join(repository, "dist/lib"))
	})
	if libraries.skip != "" {
		t.Skip(libraries.skip)
	}
	if libraries.err != nil {
		t.Fatal(libraries.err)
	}
	return libraries.dir
}

// touchSources looks at what the programs and libraries are made of, so that go test knows a cached result by it.
func touchSources() {
	for _, pattern := range []string{"c/*/*", "include/*", "scripts/dist.sh", "testdata/apps/*", "examples/*/*", "cmd/*/*", "internal/*/*", "internal/*/*/*"} {
		files, _ := filepath.Glob(filepath.Join(repository, pattern)) // the pattern is well formed
		for _, f := range files {
			_, _ = os.Stat(f) // one that vanishes meanwhile is no concern of ours
		}
	}
}

func appCompiler() string {
	if c := os.Getenv("CC"); c != "" {
		return c
	}
	return "gcc"
}

var programs struct {
	mu   sync.Mutex
	made map[string]string
	dir  string
}

// appProgram compiles testdata/apps/<name>.c once and gives the program's path.
func appProgram(t *testing.T, name string, flags ...string) string {
	t.Helper()
	libs := appLibraries(t)
	programs.mu.Lock()
	defer programs.mu.Unlock()
	if path := programs.made[name]; path != "" {
		return path
	}
	if programs.made == nil {
		programs.made = map[string]string{}
		dir, err := os.MkdirTemp("", "kudzu-apps-")
		if err != nil {
			t.Fatal(err)
		}
		programs.dir = dir
	}
	src := filepath.Join(repository, "testdata/apps", name+".c")
	exe := filepath.Join(programs.dir, name)
	args := []string{"-std=gnu11", "-O1", "-Wall", "-I" + filepath.Join(repository, "include"), src, "-o", exe, "-L" + libs}
	if flags == nil {
		flags = []string{"-lcuda", "-lpthread"}
	}
	if out, err := exec.Command(appCompiler(), append(args, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", src, err, out)
	}
	programs.made[name] = exe
	return exe
}

// cleanApps removes what appProgram made; TestMain calls it.
func cleanApps() {
	if programs.dir != "" {
		_ = os.RemoveAll(programs.dir) // the system empties its folder of temporary files
	}
}

// app is a program about to be run.
type app struct {
	t       *testing.T
	exe     string
	args    []string
	libs    string // "": dist/lib
	env     []string
	cache   string
	timeout time.Duration
}

// newApp prepares a program with a cache of its own. The environment is bare: nothing of the tester's own settings.
func newApp(t *testing.T, backend, exe string, args ...string) *app {
	t.Helper()
	a := &app{t: t, exe: exe, args: args, libs: appLibraries(t), cache: privateDir(t), timeout: 3 * time.Minute}
	a.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	if backend != "" {
		a.set("KUDZU_BACKEND", backend)
	}
	if v := os.Getenv("KUDZU_LLVM"); v != "" { // where the machine's libLLVM is
		a.set("KUDZU_LLVM", v)
	}
	return a
}

func (a *app) set(name, value string) *app {
	a.env = append(a.env, name+"="+value)
	return a
}

func privateDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endCompilers(dir) })
	return dir
}

// result is what a program left behind.
type result struct {
	stdout, stderr string
	code           int   // -1: killed
	err            error // of starting, or a signal
	took           time.Duration
	cpu            time.Duration // the processor's time, which a busy machine does not change much
	maxRSS         int64         // bytes
}

// command is the program, ready to start.
func (a *app) command(ctx context.Context, stdout, stderr *bytes.Buffer) *exec.Cmd {
	cmd := exec.CommandContext(ctx, a.exe, a.args...)
	cmd.Env = append(a.env, "LD_LIBRARY_PATH="+a.libs, "KUDZU_CACHE_DIR="+a.cache)
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err == nil {
		cmd.Env = append(cmd.Env, fmt.Sprintf("APP_START=%d", ts.Nano()))
	}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = time.Minute // for a compiler process that still has standard error
	return cmd
}

// run runs the program to its end; one that hangs is killed and fails the test.
func (a *app) run() result {
	a.t.Helper()
	return a.during(nil)
}

// during runs the program and meanwhile calls f with its process id.
func (a *app) during(f func(pid int)) result {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), a.timeout)
	defer cancel()
	var o, e bytes.Buffer
	cmd := a.command(ctx, &o, &e)
	start := time.Now()
	err := cmd.Start()
	if err == nil {
		if f != nil {
			f(cmd.Process.Pid)
		}
		err = cmd.Wait()
	}
	r := result{stdout: o.String(), stderr: e.String(), err: err, took: time.Since(start), code: -1}
	if ctx.Err() != nil {
		a.t.Fatalf("%s %v hangs\nstdout: %s\nstderr: %s", filepath.Base(a.exe), a.args, r.stdout, r.stderr)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) || err == nil {
		r.code = cmd.ProcessState.ExitCode()
		if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			r.maxRSS = u.Maxrss << 10
			r.cpu = time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return r
}

// want checks standard output, and that the program ended with success and said nothing on standard error.
func (r result) want(t *testing.T, stdout string) {
	t.Helper()
	r.wantOut(t, stdout)
	if r.stderr != "" {
		t.Errorf("stderr is %q, want nothing", r.stderr)
	}
}

// wantOut checks standard output and success.
func (r result) wantOut(t *testing.T, stdout string) {
	t.Helper()
	if r.code != 0 || r.stdout != stdout {
		t.Errorf("exit code %d (%v), stdout %q, want %q; stderr %q", r.code, r.err, r.stdout, stdout, r.stderr)
	}
}

func lines(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }

// onBackends runs a test on both executors.
func onBackends(t *testing.T, f func(t *testing.T, backend string)) {
	appLibraries(t)
	for _, b := range appBackends {
		t.Run(b, func(t *testing.T) {
			t.Parallel()
			f(t, b)
		})
	}
}

// errorsKnown are the probes of errors.c that a backend answers otherwise than the real driver, with the reason.
var errorsKnown = map[string]map[string]struct{ got, why string }{}

// TestAppErrors compares the driver's answers with those recorded on an H200 (driver 580). Where the real driver crashed,
// any error will do.
func TestAppErrors(t *testing.T) {
	want, err := os.ReadFile(filepath.Join(repository, "testdata/apps/errors.want"))
	if err != nil {
		t.Fatal(err)
	}
	onBackends(t, func(t *testing.T, backend string) {
		r := newApp(t, backend, appProgram(t, "errors")).set("KUDZU_COMPUTE_CAPABILITY", recordedOn).run()
		got, real := lines(r.stdout), lines(string(want))
		if r.code != 0 || len(got) != len(real) {
			t.Fatalf("exit code %d, %d answers, want %d\n%s", r.code, len(got), len(real), r.stderr)
		}
		for i := range real {
			probe, w, _ := strings.Cut(real[i], " ")
			p, g, _ := strings.Cut(got[i], " ")
			known, differs := errorsKnown[backend][probe]
			switch {
			case p != probe:
				t.Fatalf("line %d is about probe %s, want %s", i+1, p, probe)
			case differs && g == w:
				t.Errorf("probe %s is right now: take it out of the table (%s)", probe, known.why)
			case differs && g == known.got, g == w:
			case w == "crash" && g != "0" && g != "crash":
			default:
				t.Errorf("probe %s answers %s, the real driver %s", probe, g, w)
			}
		}
	})
}
