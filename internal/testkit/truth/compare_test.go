package truth

import (
	"errors"
	"flag"
	"fmt"
	"kudzu/internal/testkit"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/cpuid/v2"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/compile"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/ptx/isa/spell"
	"kudzu/internal/testkit/compiled"
)

// onlyLines is for working on some lines: KUDZU_FULL=1 go test -run CPU ./internal/testkit/truth -lines '^vmad'.
var onlyLines = flag.String("lines", "", "compare only lines that match this expression")

// isaDir is where the recorded answers and the lists of known differences are.
const isaDir = "../../../testdata/isa/"

// TestMain serves as the compiler process when the cpu backend starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// TestInterp compares the interpreter with all recorded answers.
func TestInterp(t *testing.T) {
	comparison{backend: interp.New(interp.Config{}), batch: 1, workers: 1, least: 20000, open: isaDir + "rows-open.txt"}.run(t)
}

// TestCPU compares compiled kernels with the recorded answers. Several lines share a kernel, because most of the time is
// the compiler's; a few lines of each form are a sample that go test can afford, KUDZU_FULL=1 takes all, and for this machine
// each in a kernel of its own.
func TestCPU(t *testing.T) {
	c := compiledFor(t, compile.Target{})
	c.least = 20000
	switch {
	case os.Getenv("KUDZU_FULL") == "":
		c.sample = 3
	case compiled.Target() == compile.Target{}:
		c.batch = 1
	}
	c.run(t)
}

// TestAVX2 does the same with code for a processor without AVX-512.
func TestAVX2(t *testing.T) {
	if runtime.GOARCH != "amd64" || !cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.F16C) {
		t.Skip("this machine does not run x86-64-v3")
	}
	c := compiledFor(t, compile.Target{Triple: "x86_64-linux-gnu", CPU: "x86-64-v3"})
	if os.Getenv("KUDZU_FULL") == "" {
		c.sample = 1
	}
	c.run(t)
}

// TestBaseline compares the baseline compiler's code with the record, without libLLVM.
func TestBaseline(t *testing.T) {
	compiled.Baseline(t)
	c := compiledFor(t, compile.Target{})
	if os.Getenv("KUDZU_FULL") == "" {
		c.sample = 2
	}
	c.run(t)
}

// TestBaselineAVX2 does the same for a processor without AVX-512.
func TestBaselineAVX2(t *testing.T) {
	c := compiledFor(t, compiled.BaselineAVX2(t))
	if os.Getenv("KUDZU_FULL") == "" {
		c.sample = 1
	}
	c.run(t)
}

// compiledFor is the compiler for a target against the record.
func compiledFor(t *testing.T, target compile.Target) comparison {
	cfg := compiled.Config(t)
	if target != (compile.Target{}) {
		cfg.Target = target
	}
	return comparison{backend: devices.CPU(cfg), batch: 8, workers: 3, open: isaDir + "rows-open-cpu.txt"}
}

// sample keeps n lines of each form: the first, and others spread over the rest.
func sample(lines []*Line, n int) []*Line {
	var out []*Line
	for len(lines) > 0 {
		end := 1
		for end < len(lines) && lines[end].Form == lines[0].Form {
			end++
		}
		for i := range min(n, end) {
			out = append(out, lines[i*end/min(n, end)])
		}
		lines = lines[end:]
	}
	return out
}

// comparison is one executor against the record.
type comparison struct {
	backend backend.Backend
	batch   int    // lines in one kernel
	workers int    // kernels at a time
	least   int    // rows that must agree
	open    string // the list of known differences
	sample  int    // lines of a form, without those that are listed; 0: all
	failed  func() // see Runner
	refuses bool   // what is not supported is counted, and no difference
}

// verdict is what became of a line: nothing is agreement.
type verdict struct {
	line    *Line
	problem string
	agree   int // rows
	refused bool
}

// recorded are the lines of the record, and what each gave.
func recorded(t *testing.T) ([]*Line, map[string][]byte) {
	t.Helper()
	record, err := Read(*rowsFile)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := Recorded(record)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{}
	for _, r := range record {
		want[r.Text] = r.Bytes
	}
	return lines, want
}

func (c comparison) run(t *testing.T) {
	lines, want := recorded(t)
	c.against(t, lines, want)
}

// against compares with what is wanted of lines.
func (c comparison) against(t *testing.T, lines []*Line, want map[string][]byte) {
	devs, err := c.backend.Open()
	if err != nil {
		t.Fatal(err)
	}
	open := readOpen(t, c.open)
	switch {
	case *onlyLines == "open": // those that are listed
		lines = slices.DeleteFunc(lines, func(l *Line) bool { return !open.allows(l.Text) })
		c.least, c.sample = 0, 0
	case *onlyLines != "":
		rx := regexp.MustCompile(*onlyLines)
		lines = slices.DeleteFunc(lines, func(l *Line) bool { return !rx.MatchString(l.Text) })
		c.least = 0
		maps.DeleteFunc(open, func(p string, _ int) bool { return !rx.MatchString(p) })
	}
	if c.sample > 0 {
		lines = sample(slices.DeleteFunc(lines, func(l *Line) bool { return open.allows(l.Text) }), c.sample)
	}
	c.report(t, lines, c.judge(t, devs[0], lines, want), open)
}

// judge runs the lines and compares each with what is wanted of it.
func (c comparison) judge(t *testing.T, dev backend.Device, lines []*Line, want map[string][]byte) []verdict {
	parts := batches(lines, c.batch)
	work := make(chan int)
	answers := make(chan verdict)
	mine := newClaims(t)
	var wg sync.WaitGroup
	for range mine.workers(c.workers) {
		r := &Runner{Device: dev, Host: testkit.NewHostPage(t, HostBytes), Module: describe, Failed: c.failed}
		wg.Go(func() {
			for i := range work {
				if mine.take(i) {
					judge(r, parts[i], want, answers)
				}
			}
		})
	}
	go func() {
		for i := range parts {
			work <- i
		}
		close(work)
		wg.Wait()
		close(answers)
	}()
	var all []verdict
	for v := range answers {
		all = append(all, v)
	}
	return all
}

// describe is a module for a card that has what it asks for.
func describe(s string) (*backend.Module, error) {
	_, name, _ := strings.Cut(s, ".target ")
	name, _, _ = strings.Cut(name, "\n")
	target, ok := isa.TargetOf(name)
	if !ok {
		return nil, fmt.Errorf("target %q", name)
	}
	return driver.Describe("truth", s, target.SM)
}

// batches puts lines together that may share a kernel: whether all of a kernel's operations flush subnormals decides how it
// is compiled, so those that do and those that do not stay apart.
func batches(lines []*Line, n int) [][]*Line {
	type kind struct {
		profile spell.Profile
		ftz     bool
	}
	var out [][]*Line
	open := map[kind]int{} // a batch that has room
	for _, l := range lines {
		k := kind{l.profile, strings.Contains(l.Text, ".ftz")}
		i, ok := open[k]
		if !ok || len(out[i]) >= n {
			i = len(out)
			open[k] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], l)
	}
	return out
}

// judge runs lines together; if that fails, each half alone, until the guilty line is found.
func judge(r *Runner, lines []*Line, want map[string][]byte, to chan<- verdict) {
	got, err := r.RunAll(lines)
	if err != nil && r.Failed != nil {
		r.Failed()
	}
	if err != nil && len(lines) > 1 {
		half := len(lines) / 2
		judge(r, lines[:half], want, to)
		judge(r, lines[half:], want, to)
		return
	}
	for i, l := range lines {
		v := verdict{line: l}
		var u *backend.Unsupported
		if err != nil {
			v.problem, v.refused = err.Error(), errors.As(err, &u)
		} else if d := l.Diff(got[i], want[l.Text]); len(d) > 0 {
			v.agree = Lanes - min(len(d), Lanes)
			v.problem = fmt.Sprintf("%d differences, lane %d %s = %#x, hardware %#x", len(d), d[0].Lane, d[0].What, d[0].Got, d[0].Want)
		} else {
			v.agree = Lanes
		}
		to <- v
	}
}

func (c comparison) report(t *testing.T, lines []*Line, all []verdict, open openList) {
	order := map[*Line]int{}
	for i, l := range lines {
		order[l] = i
	}
	slices.SortFunc(all, func(a, b verdict) int { return order[a.line] - order[b.line] })
	agree, bad, refused := 0, 0, 0
	dump := os.Getenv("KUDZU_TRUTH") // a file for every line that differs
	var list strings.Builder
	for _, v := range all {
		agree += v.agree
		if v.problem == "" {
			continue
		}
		fmt.Fprintf(&list, "%s\t%s\t%s\n", v.line.Chapter, v.line.Text, v.problem)
		if open.allows(v.line.Text) {
			continue
		}
		if c.refuses && v.refused {
			refused++
			continue
		}
		if bad++; bad <= 60 {
			t.Errorf("%s: %s: %s", v.line.Chapter, v.line.Text, v.problem)
		}
	}
	if dump != "" {
		if err := os.WriteFile(dump, []byte(list.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%s: %d of %d rows agree, %d lines differ that are not listed, %d are refused", c.backend.Name(), agree, Lanes*len(all), bad, refused)
	if *claimDir != "" {
		return // the rest is true of all parts together
	}
	if agree < c.least {
		t.Errorf("%d rows agree, at least %d are wanted", agree, c.least)
	}
	for p, n := range open {
		if n == 0 && c.sample == 0 {
			t.Errorf("%s: nothing that begins with %q differs any more: take it off the list", c.open, p)
		}
	}
}

// openList counts, by the beginning of a line, the known differences that were met.
type openList map[string]int

func (o openList) allows(line string) bool {
	found := false
	for p := range o {
		if strings.HasPrefix(line, p) {
			o[p]++
			found = true
		}
	}
	return found
}

// readOpen reads a list of known differences: a beginning of a line, a tab, the reason.
func readOpen(t *testing.T, file string) openList {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list := openList{}
	for _, line := range strings.Split(string(b), "\n") {
		if p, why, ok := strings.Cut(line, "\t"); ok && line[0] != '#' {
			if why == "" {
				t.Errorf("%s: %q has no reason", file, p)
			}
			list[p] = 0
		}
	}
	return list
}
