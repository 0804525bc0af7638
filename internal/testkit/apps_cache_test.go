package testkit

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// entries are the files of a cache.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".kzc") {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// change writes a file anew.
func change(f func(b []byte) []byte) func(path string) error {
	return func(path string) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, f(b), 0o600)
	}
}

func flip(at func(n int) int) func(path string) error {
	return change(func(b []byte) []byte {
		b[at(len(b))] ^= 0x10
		return b
	})
}

// instead puts something else where an entry was.
func instead(f func(path string) error) func(path string) error {
	return func(path string) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		return f(path)
	}
}

// TestAppDamagedCache damages every entry and runs the program again: right answers, no word about it, and the entry is
// written anew where that is possible.
func TestAppDamagedCache(t *testing.T) {
	exe := appProgram(t, "app_run")
	first := newApp(t, "cpu", exe, "fill")
	first.run().want(t, "fill 0\n")
	made := entries(t, first.cache)
	if len(made) == 0 {
		t.Fatal("nothing was cached")
	}
	rows := []struct {
		name   string
		damage func(path string) error
	}{
		{"empty", change(func([]byte) []byte { return nil })},
		{"half", change(func(b []byte) []byte { return b[:len(b)/2] })},
		{"one byte short", change(func(b []byte) []byte { return b[:len(b)-1] })},
		{"header only", change(func(b []byte) []byte { return b[:48] })},
		{"longer", change(func(b []byte) []byte { return append(b, 0) })},
		{"zeros", change(func(b []byte) []byte { return make([]byte, len(b)) })},
		{"first byte", flip(func(int) int { return 0 })},
		{"checksum", flip(func(int) int { return 20 })},
		{"image header", flip(func(int) int { return 50 })},
		{"middle", flip(func(n int) int { return n / 2 })},
		{"last byte", flip(func(n int) int { return n - 1 })},
		{"a directory", instead(func(p string) error { return os.Mkdir(p, 0o700) })},
		{"a full directory", instead(func(p string) error { return os.MkdirAll(filepath.Join(p, "x"), 0o700) })},
		{"a link to nothing", instead(func(p string) error { return os.Symlink("/nonexistent", p) })},
		{"a link to a device", instead(func(p string) error { return os.Symlink("/dev/zero", p) })},
		{"a pipe", instead(func(p string) error { return syscall.Mkfifo(p, 0o600) })},
		{"another's", instead(func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("x", 5000)), 0o600) })},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, "cpu", exe, "fill")
			if err := os.CopyFS(a.cache, os.DirFS(first.cache)); err != nil {
				t.Fatal(err)
			}
			for _, path := range entries(t, a.cache) {
				if err := row.damage(path); err != nil {
					t.Fatal(err)
				}
			}
			r := a.run()
			r.wantOut(t, "fill 0\n")
			if row.name == "a full directory" { // cannot be replaced by a file: that is worth one line
				if n := strings.Count(r.stderr, "\n"); n > 1 {
					t.Errorf("%d lines: %s", n, r.stderr)
				}
				return
			}
			if r.stderr != "" {
				t.Errorf("stderr %q", r.stderr)
			}
			again := a.set("KUDZU_LOG", "debug").run()
			if again.code != 0 || strings.Contains(again.stderr, "compile") || !strings.Contains(again.stderr, "cache hit fill") {
				t.Errorf("not healed: %s", again.stderr)
			}
		})
	}
}

// TestAppBadCacheDir: a directory that cannot be used, or must not be, costs one line and no more.
func TestAppBadCacheDir(t *testing.T) {
	exe := appProgram(t, "app_run")
	rows := []struct {
		name string
		make func(t *testing.T, a *app)
		says string
	}{
		{"below a file", func(t *testing.T, a *app) {
			file := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			a.cache = filepath.Join(file, "cache")
		}, "not a directory"},
		{"a file", func(t *testing.T, a *app) {
			a.cache = filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(a.cache, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a directory"},
		{"not writable", func(t *testing.T, a *app) { a.cache = "/proc/kudzu" }, "/proc/kudzu"},
		{"read only", func(t *testing.T, a *app) {
			if os.Geteuid() == 0 {
				t.Skip("nothing is read only for root")
			}
			if err := os.Chmod(a.cache, 0o500); err != nil {
				t.Fatal(err)
			}
		}, "permission denied"},
		{"writable by all", func(t *testing.T, a *app) {
			if err := os.Chmod(a.cache, 0o777); err != nil {
				t.Fatal(err)
			}
		}, "can be written by others (mode 777): chmod go-w it"},
		{"of another user", func(t *testing.T, a *app) {
			if err := os.Chown(a.cache, 54321, -1); err != nil {
				t.Skip("only root can give a directory away")
			}
		}, "belongs to user 54321"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, "cpu", exe, "works", "fill")
			row.make(t, a)
			r := a.run()
			r.wantOut(t, "works 0\nfill 0\n")
			if said := lines(r.stderr); len(said) != 1 || !strings.HasPrefix(said[0], "kudzu: kernels are not cached: ") || !strings.Contains(said[0], row.says) {
				t.Errorf("stderr %q, want one line with %q", r.stderr, row.says)
			}
		})
	}
	t.Run("none", func(t *testing.T) { // no home, no variable
		a := newApp(t, "cpu", exe, "fill")
		a.env = []string{"PATH=" + os.Getenv("PATH"), "KUDZU_BACKEND=cpu"}
		a.cache = ""
		r := a.run()
		r.wantOut(t, "fill 0\n")
		if said := lines(r.stderr); len(said) != 1 || !strings.Contains(said[0], "no directory for the kernel cache") {
			t.Errorf("stderr %q", r.stderr)
		}
	})
}

// TestAppSecondRun: the second run of a program compiles nothing and starts no compiler, and is quick.
func TestAppSecondRun(t *testing.T) {
	exe := appProgram(t, "app_run")
	a := newApp(t, "cpu", exe, "time", "works", "fill", "count").set("KUDZU_LOG", "debug")
	first := a.run()
	for _, name := range []string{"fill", "twice", "count"} { // once, and where the compiler is quick once more, optimised
		if n := strings.Count(first.stderr, "kernel "+name+": compiled in "); first.code != 0 || n < 1 || n > 2 {
			t.Fatalf("the first run compiled %s %d times: %v\n%s", name, n, first.err, first.stderr)
		}
	}
	r := checkWarm(t, a)
	best, _ := firstKernel(r.stdout)
	least := r.cpu
	for range 5 { // other processes take turns too: the best of a few
		r := a.run()
		if ms, ok := firstKernel(r.stdout); ok {
			best = min(best, ms)
		}
		least = min(least, r.cpu)
	}
	t.Logf("whole run %v; first kernel %.1f ms after the process was started; %v of processor time", r.took, best, least)
	if least > 200*time.Millisecond { // 20 ms of a clock's time to the first kernel is the target, but a busy machine must not fail the test
		t.Errorf("a run without a compilation took %v of processor time", least)
	}
}

// checkWarm runs a program again and looks for anything but hits.
func checkWarm(t *testing.T, a *app) result {
	t.Helper()
	r := a.run()
	// On a busy machine the compiler of the run before may still be at its optimised code.
	for end := time.Now().Add(20 * time.Second); strings.Contains(r.stderr, "compile") && time.Now().Before(end); r = a.run() {
		time.Sleep(100 * time.Millisecond)
	}
	if r.code != 0 || !strings.Contains(r.stderr, "cache hit") {
		t.Errorf("%v: no hits\n%s%s", r.err, r.stdout, r.stderr)
	}
	for _, line := range lines(r.stderr) {
		if strings.Contains(line, "compile") { // compiled, or the compiler process
			t.Errorf("second run: %s", line)
		}
	}
	return r
}

// TestAppExamplesWarm: the second run of each example compiles nothing.
func TestAppExamplesWarm(t *testing.T) {
	appLibraries(t)
	built, err := filepath.Glob(filepath.Join(repository, "examples/*/kernel.cu"))
	if err != nil || len(built) < 6 {
		t.Fatalf("%d examples: %v", len(built), err)
	}
	for _, k := range built {
		name := filepath.Base(filepath.Dir(k))
		t.Run(name, func(t *testing.T) {
			exe, err := filepath.Abs(filepath.Join(repository, ".build/examples", name))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(exe); err != nil {
				t.Skip("not built: make examples")
			}
			t.Parallel()
			a := newApp(t, "cpu", exe, t.TempDir()).set("KUDZU_LOG", "debug").set("KUDZU_EXAMPLE_SMALL", "1")
			if r := a.run(); r.code != 0 || !strings.Contains(r.stderr, " compiled in ") {
				t.Fatalf("first run: %v\n%s%s", r.err, r.stdout, r.stderr)
			}
			t.Logf("second run took %v", checkWarm(t, a).took)
		})
	}
}
