package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// firstKernel reads the line "main … ms, first kernel … ms".
func firstKernel(stdout string) (ms float64, ok bool) {
	for _, line := range lines(stdout) {
		var at float64
		if n, _ := fmt.Sscanf(line, "main %f ms, first kernel %f ms", &at, &ms); n == 2 {
			return ms, true
		}
	}
	return 0, false
}

// TestAppNoLLVM: without libLLVM kernels stay on baseline code, or are interpreted where there is none, and one line says so
// and what to do.
func TestAppNoLLVM(t *testing.T) {
	for tier, word := range map[string]string{"auto": "not optimised", "optimised": "interpreted"} {
		if tier == "auto" && runtime.GOARCH != "amd64" {
			word = "interpreted"
		}
		a := newApp(t, "cpu", appProgram(t, "app_run"), "works", "fill", "heap").set("KUDZU_LLVM", "/nonexistent/libLLVM.so").set("KUDZU_TIER", tier)
		r := a.run()
		r.wantOut(t, "works 0\nfill 0\nheap 0\n")
		said := lines(r.stderr)
		if tier == "auto" && r.stderr == "" { // the program ended before it was known
			continue
		}
		if len(said) != 1 || !strings.Contains(said[0], word) || !strings.Contains(said[0], "install") || !strings.Contains(said[0], "/nonexistent/libLLVM.so") {
			t.Errorf("%s: stderr %q, want one line", tier, r.stderr)
		}
	}
}

// TestAppNoCompiler: the libraries without the kudzu program beside them.
func TestAppNoCompiler(t *testing.T) {
	exe := appProgram(t, "app_run")
	for name, prepare := range map[string]func(t *testing.T, bin string){
		"absent": func(*testing.T, string) {},
		"no program": func(t *testing.T, bin string) {
			if err := os.WriteFile(filepath.Join(bin, "kudzu"), []byte("not a program"), 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"another program": func(t *testing.T, bin string) {
			if err := os.Symlink("/bin/true", filepath.Join(bin, "kudzu")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, "cpu", exe, "works", "fill")
			tree := t.TempDir()
			lib, bin := filepath.Join(tree, "lib"), filepath.Join(tree, "bin")
			if err := os.CopyFS(lib, os.DirFS(a.libs)); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(bin, 0o755); err != nil {
				t.Fatal(err)
			}
			prepare(t, bin)
			a.libs = lib
			r := a.run()
			r.wantOut(t, "works 0\nfill 0\n")
			said := lines(r.stderr)
			if len(said) != 1 || !strings.Contains(said[0], "interpreted") || !strings.Contains(said[0], filepath.Join(bin, "kudzu")) {
				t.Errorf("stderr %q, want one line with the program's path", r.stderr)
			}
			if strings.Contains(r.stderr, "libLLVM") {
				t.Errorf("it is not libLLVM that is missing: %s", r.stderr)
			}
		})
	}
}

// proc is a compiler process of the application under test.
type proc struct {
	pid    int
	worker bool
	cpu    time.Duration
}

// compilers finds the compiler processes that work for a cache directory: the application's own and no other's.
func compilers(cache string) []proc {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well formed
	var all []proc
	for _, d := range dirs {
		cmd, err := os.ReadFile(d + "/cmdline")
		if err != nil || !strings.Contains(string(cmd), "kudzu\x00compiler\x00") {
			continue
		}
		env, err := os.ReadFile(d + "/environ")
		if err != nil || !slices.Contains(strings.Split(string(env), "\x00"), "KUDZU_CACHE_DIR="+cache) {
			continue
		}
		stat, err := os.ReadFile(d + "/stat")
		pid, bad := strconv.Atoi(filepath.Base(d))
		if err != nil || bad != nil {
			continue
		}
		f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		user, _ := strconv.Atoi(f[11]) // in ticks of 10 ms
		system, _ := strconv.Atoi(f[12])
		if f[0] != "Z" {
			all = append(all, proc{pid, strings.HasSuffix(string(cmd), "worker\x00"), time.Duration(user+system) * 10 * time.Millisecond})
		}
	}
	return all
}

// endCompilers ends the compiler processes that work for a cache directory. They finish what they have begun after the program
// has ended, and would write to a folder that the test removes.
func endCompilers(cache string) {
	for range 200 {
		all := compilers(cache)
		if len(all) == 0 {
			return
		}
		for _, p := range all {
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestAppCompilerKilled kills compiler processes in the middle of a compilation: the kernel is tried again once and then
// interpreted, which is said with the reason; the program and its other kernels go on.
func TestAppCompilerKilled(t *testing.T) {
	exe := appProgram(t, "app_slow")
	const middle = 120 * time.Millisecond // of processor time: libLLVM is loaded after 50, the kernel done after 700 or more
	rows := []struct {
		name   string
		worker bool // the process that compiles, else the one that watches it
		kills  int
		after  time.Duration
		out    string
		says   string
	}{
		{"worker", true, 1, middle, "slow 0 5\nworks 0\nok\n", ""},
		{"worker twice", true, 2, middle, "slow 0 5\nworks 0\nok\n", "kudzu: kernel slow: the compiler process ended with killed, and so did a second one; it is interpreted\n"},
		{"worker at its start", true, 1, 0, "slow 0 5\nworks 0\nok\n", ""},
		{"supervisor", false, 1, middle, "slow 0 5\nworks 0\nok\n", ""},
		{"supervisor twice", false, 2, middle, "slow 0 5\nworks 0\nok\n",
			"kudzu: kernel slow: the compiler process ended with a closed pipe, and so did a second one: compiler process died; it is interpreted\n"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			// On a busy machine the compiler may be done before it is caught: try again, then leave it.
			var a *app
			var r result
			killed := 0
			for attempt := 0; killed != row.kills; attempt++ {
				if attempt == 4 {
					t.Skipf("the compiler was never caught in the middle (killed %d of %d)", killed, row.kills)
				}
				a, killed = newApp(t, "cpu", exe, "60").set("KUDZU_TIER", "optimised"), 0
				r = killCompilers(a, row.worker, row.kills, row.after, &killed)
			}
			r.wantOut(t, row.out)
			if r.stderr != row.says {
				t.Errorf("stderr %q, want %q", r.stderr, row.says)
			}
			for end := time.Now().Add(time.Minute); len(compilers(a.cache)) > 0; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("compiler processes outlive the program: %v", compilers(a.cache))
				}
			}
		})
	}
}

// killCompilers runs the application and kills its compiler, or that one's supervisor, so many times in mid-compile; it
// gives up soon after the application has ended.
func killCompilers(a *app, worker bool, kills int, after time.Duration, killed *int) result {
	return a.during(func(pid int) {
		dead := map[int]bool{}
		for end := time.Now().Add(30 * time.Second); *killed < kills && alive(pid) && time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
			all := compilers(a.cache)
			i := slices.IndexFunc(all, func(p proc) bool { return p.worker && !dead[p.pid] && p.cpu >= after })
			if i < 0 {
				continue
			}
			dead[all[i].pid] = true
			victim := all[i].pid
			if !worker {
				if i = slices.IndexFunc(all, func(p proc) bool { return !p.worker }); i < 0 {
					continue
				}
				victim = all[i].pid
			}
			if syscall.Kill(victim, syscall.SIGKILL) == nil {
				*killed++
			}
		}
	})
}

// alive reports a process that runs: one that ended and was not waited for yet is a zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	i := strings.LastIndexByte(string(stat), ')')
	return i >= 0 && i+2 < len(stat) && stat[i+2] != 'Z'
}
