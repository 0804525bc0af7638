package testkit

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kudzu/internal/testkit/apinet"
)

var (
	netSeeds = flag.Int("net", 0, "TestNet: so many seeds of random calls a program, instead of the short list")
	netFirst = flag.Int("netfirst", 1000, "TestNet: the first of them")
	netKeep  = flag.String("netkeep", "", "TestNet: a folder that gets the programs, to run them elsewhere")
)

// netSuppressions: our libraries are not built for ThreadSanitizer, which does not see how their threads wait for each other.
const netSuppressions = "race:libkudzu\nmutex:libkudzu\nsignal:libkudzu\nthread:libkudzu\ndeadlock:libkudzu\n"

// netProgram compiles net.c with the functions of a major version, for a sanitizer or none.
func netProgram(t *testing.T, major int, sanitizer string) string {
	t.Helper()
	appLibraries(t)
	dir := t.TempDir()
	if *netKeep != "" {
		dir = *netKeep
	}
	f, err := os.Create(filepath.Join(dir, "net_rows.h"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := apinet.Write(f, major); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, fmt.Sprint("net", major, sanitizer))
	args := []string{"-std=gnu11", "-O0", "-Wall", "-I" + dir, filepath.Join(repository, "testdata/apps/net.c"), "-o", exe, "-ldl", "-lpthread"}
	if sanitizer != "" {
		short := map[string]string{"address": "asan", "thread": "tsan"}[sanitizer]
		if out, err := exec.Command(appCompiler(), "-print-file-name=lib"+short+".a").Output(); err != nil || !filepath.IsAbs(strings.TrimSpace(string(out))) {
			t.Skipf("the C compiler has no lib%s", short)
		}
		args = append(args, "-fsanitize="+sanitizer, "-static-lib"+short)
	}
	if out, err := exec.Command(appCompiler(), args...).CombinedOutput(); err != nil {
		t.Fatalf("net.c: %v\n%s", err, out)
	}
	return exe
}

// netRun makes one run and checks that nothing went wrong.
func netRun(t *testing.T, backend, exe string, seed, calls, threads int, traced bool) (functions int) {
	t.Helper()
	a := newApp(t, backend, exe, fmt.Sprint(seed), fmt.Sprint(calls), fmt.Sprint(threads)).set("KUDZU_LOG", "error")
	a.timeout = 10 * time.Minute
	if traced {
		a.set("KUDZU_TRACE", t.TempDir())
	}
	// What is alive at the end is known to Go's memory alone, which the sanitizers do not see.
	supp := filepath.Join(t.TempDir(), "tsan")
	if err := os.WriteFile(supp, []byte(netSuppressions), 0o600); err != nil {
		t.Fatal(err)
	}
	a.set("ASAN_OPTIONS", "detect_leaks=0").set("TSAN_OPTIONS", "suppressions="+supp)
	r := a.run()
	var got, ok, all, wrong int
	_, err := fmt.Sscanf(r.stdout, fmt.Sprint("seed ", seed, ": %d calls, %d succeeded, %d functions of %d, %d wrong\n"), &got, &ok, &functions, &all, &wrong)
	if r.code != 0 || err != nil || wrong != 0 || ok < got/10 {
		t.Errorf("%s %d %d %d: exit code %d (%v)\n%s%s", filepath.Base(exe), seed, calls, threads, r.code, r.err, r.stdout, tailOf(r.stderr))
	}
	return functions
}

func tailOf(s string) string { return s[max(0, len(s)-4000):] }

// TestNet: every function of every library, called at random with right and wrong arguments, never ends or harms the
// program: alone, from many threads, and in programs built for AddressSanitizer and ThreadSanitizer.
func TestNet(t *testing.T) {
	type run struct {
		backend        string
		calls, threads int
		traced         bool // the recorder follows the arguments, wrong ones too
	}
	rows := []struct {
		major     int
		sanitizer string
		runs      []run
	}{
		{12, "", []run{{"interp", 2700, 1, true}, {"interp", 2000, 8, false}, {"interp", 2000, 8, true}}},
		{13, "address", []run{{"cpu", 2700, 1, false}}}, {13, "thread", []run{{"interp", 1000, 4, false}}},
	}
	for _, row := range rows {
		t.Run(strings.TrimSpace(fmt.Sprint(row.major, " ", row.sanitizer)), func(t *testing.T) {
			t.Parallel()
			exe := netProgram(t, row.major, row.sanitizer)
			all, err := apinet.Functions(row.major)
			if err != nil {
				t.Fatal(err)
			}
			first, n, times := 1, 1, 1
			if *netSeeds > 0 {
				first, n, times = *netFirst, *netSeeds, 4
			}
			for seed := first; seed < first+n; seed++ {
				for _, r := range row.runs {
					if got := netRun(t, r.backend, exe, seed, r.calls*times, r.threads, r.traced); r.threads == 1 && got != all {
						t.Errorf("seed %d: %d functions were called of %d", seed, got, all)
					}
				}
			}
		})
	}
}
