package testkit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/backend/hip"
	"kudzu/internal/cache"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/testkit/hipdouble"
)

func caseModule(name string) func(ptx string) (*backend.Module, error) {
	return func(ptx string) (*backend.Module, error) { return driver.Describe(name, ptx, capability(ptx)) }
}

// TestCasesDouble runs the cases through backend/hip: every kernel's parameters, variables and shared memory pass through code
// object, linker, loader and argument block. What they compute is the interpreter's affair.
func TestCasesDouble(t *testing.T) {
	cases, err := Load(*casesDir)
	if err != nil {
		t.Fatal(err)
	}
	lib := hipdouble.Build(t)
	runner := hipdouble.NewInterpreted(t, lib)
	devs, err := hip.New(hip.Config{Compiler: runner, Library: lib}).Open()
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for i, c := range cases {
		name := caseName(c)
		if *onlyCase != "" && name != *onlyCase || testing.Short() && i%4 != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			defer runner.Reset() // after a fault
			for i, r := range c.Runs {
				one := *c
				one.Runs = c.Runs[i : i+1]
				runner.Reset()
				out, err := one.Execute(devs[0], caseModule(name))
				var u *backend.Unsupported
				if errors.As(err, &u) && r.Cluster != [3]uint32{} {
					return // AMD's GPUs have no clusters
				}
				if err != nil {
					t.Fatal(err)
				}
				if r.Fault = asHIP(r.Fault); r.RecFault != "" {
					r.RecFault = asHIP(r.RecFault)
				}
				compareAll(t, &one, out)
			}
			ran++
		})
	}
	if *onlyCase == "" && ran < len(cases)/8 {
		t.Errorf("%d of %d cases ran", ran, len(cases))
	}
}

// asHIP is the fault that HIP has for one of CUDA's: it knows fewer.
func asHIP(fault string) string {
	switch fault {
	case "misaligned":
		return "address"
	case "instruction":
		return "trap"
	case "deadlock":
		return "timeout"
	}
	return fault
}

// TestCasesHIP runs the cases on AMD's instructions: on a GPU, or on what answers for the double (docs/amd.md). KUDZU_HIP_CASES=1
// asks for it; KUDZU_HIP_TABLE is where the table of results goes.
func TestCasesHIP(t *testing.T) {
	if os.Getenv("KUDZU_HIP_CASES") == "" {
		t.Skip("KUDZU_HIP_CASES is not set")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := devices.Config{Compiler: []string{self, "compiler"}, Cache: cache.Open(cache.Config{Dir: dir})}
	b := devices.HIP(cfg)
	again := func() {}
	if os.Getenv("KUDZU_DOUBLE_RUNNER") != "" {
		lib := hipdouble.Build(t)
		b = hip.New(hip.Config{Compiler: devices.Client(cfg), Library: lib})
		again = func() { hipdouble.Reset(lib) } // a kernel that the runner could not run ends the double's device
	}
	devs, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := Load(*casesDir)
	if err != nil {
		t.Fatal(err)
	}
	tab := &table{device: devs[0].Info().Name, chapters: map[string]*chapterResult{}}
	for _, c := range cases {
		name := caseName(c)
		if *onlyCase != "" && !strings.HasPrefix(name, *onlyCase) || strings.HasPrefix(name, "fault/") {
			continue
		}
		start := time.Now()
		err := runCase(c, devs[0], name, again)
		tab.add(name, err, time.Since(start))
		if err != nil {
			t.Logf("%s: %v", name, err)
		}
	}
	t.Log(tab)
	if to := os.Getenv("KUDZU_HIP_TABLE"); to != "" {
		if err := os.WriteFile(to, []byte(tab.String()), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// runCase executes a case run by run, so that one which ends the device does not hide those after it.
func runCase(c *Case, d backend.Device, name string, again func()) error {
	var bad []error
	for i, r := range c.Runs {
		one := *c
		one.Runs = c.Runs[i : i+1]
		out, err := one.Execute(d, caseModule(name))
		if err == nil {
			err = r.Compare(out[0])
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("run %d of %d: %w", i+1, len(c.Runs), err))
			again()
		}
	}
	return errors.Join(bad...)
}

type chapterResult struct{ pass, wrong, refused int }

// table is what TestCasesHIP found, chapter by chapter.
type table struct {
	device   string
	chapters map[string]*chapterResult
	failed   []string
	took     time.Duration
}

func (t *table) add(name string, err error, took time.Duration) {
	ch := filepath.Dir(name)
	r := t.chapters[ch]
	if r == nil {
		r = &chapterResult{}
		t.chapters[ch] = r
	}
	t.took += took
	var u *backend.Unsupported
	switch {
	case err == nil:
		r.pass++
		return
	case errors.As(err, &u):
		r.refused++
	default:
		r.wrong++
	}
	t.failed = append(t.failed, fmt.Sprintf("%s: %v", name, err))
}

// String is the table.
func (t *table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %.0f s\n\n| chapter | pass | wrong | refused |\n|---|---|---|---|\n", t.device, t.took.Seconds())
	var names []string
	var all chapterResult
	for n, r := range t.chapters {
		names = append(names, n)
		all.pass, all.wrong, all.refused = all.pass+r.pass, all.wrong+r.wrong, all.refused+r.refused
	}
	sort.Strings(names)
	for _, n := range names {
		r := t.chapters[n]
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", n, r.pass, r.wrong, r.refused)
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d |\n\n", all.pass, all.wrong, all.refused)
	for _, f := range t.failed {
		fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(f, "\n", " "))
	}
	return b.String()
}
