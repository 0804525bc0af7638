package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kudzu/internal/compile"
	"kudzu/internal/fatbin"
	"kudzu/internal/ptx"
)

// kernelTime is one kernel's line of the compile-time table.
type kernelTime struct {
	Kernel string  `json:"kernel"`
	Set    string  `json:"set"` // "bench", or the name of the library it comes from
	MMA    bool    `json:"mma"`
	Bytes  int     `json:"bytes"`
	Kudzu  float64 `json:"kudzu_ms"`              // of optimised code
	First  float64 `json:"baseline_ms,omitempty"` // of baseline code, which the first launch waits for; 0: it has none
	PTXAS  float64 `json:"ptxas_ms,omitempty"`
	Error  string  `json:"error,omitempty"`
}

// compileTimes is the whole measurement.
type compileTimes struct {
	Reps       int          `json:"reps"`
	KudzuStart float64      `json:"kudzu_start_ms"` // the compiler process's first answer: process, libLLVM and an empty kernel
	PTXASStart float64      `json:"ptxas_start_ms"` // an empty kernel
	PTXAS      string       `json:"ptxas"`          // its version; "" when there is none
	Kernels    []kernelTime `json:"kernels"`
}

// unit is a kernel to compile: a module of its own.
type unit struct {
	kernelTime
	text  string
	arch  string
	block [3]uint32
}

type compileFlags struct {
	kernels, list, kudzu, ptxas, out, apps string
	count, reps                            int
	baselineOnly                           bool
}

func runCompile(args []string) error {
	var f compileFlags
	fs := flag.NewFlagSet("compile", flag.ContinueOnError)
	fs.StringVar(&f.kernels, "kernels", "bench/kernels", "folder of the bench kernels' PTX")
	fs.StringVar(&f.list, "list", "", "file with the harness's -list: which kernels, with which blocks")
	fs.StringVar(&f.kudzu, "kudzu", "dist/bin/kudzu", "the compiler")
	fs.StringVar(&f.ptxas, "ptxas", "", "ptxas to compare with; empty: KUDZU_PTXAS, or the one in PATH")
	fs.StringVar(&f.out, "json", "", "where to write the figures")
	fs.StringVar(&f.apps, "apps", "", "also kernels of this library")
	fs.IntVar(&f.count, "n", 200, "how many kernels of the library")
	fs.BoolVar(&f.baselineOnly, "baseline", false, "measure baseline code alone")
	fs.IntVar(&f.reps, "reps", 3, "compilations of each kernel; the median counts")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if f.reps < 1 {
		return errors.New("-reps: at least 1")
	}
	units, err := benchUnits(f.kernels, f.list)
	if err != nil {
		return err
	}
	if f.apps != "" {
		more, err := libraryUnits(f.apps, f.count)
		if err != nil {
			return err
		}
		units = append(units, more...)
	}
	times, err := measure(units, &f)
	if err != nil {
		return err
	}
	times.print()
	if f.out == "" {
		return nil
	}
	b, err := json.MarshalIndent(times, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(f.out, append(b, '\n'), 0o666)
}

// benchUnits reads the harness's list: row, module, kernel, block, grid.
func benchUnits(dir, list string) ([]unit, error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	var units []unit
	seen := map[string]bool{}
	modules := map[string]*ptx.Index{}
	for line := range strings.Lines(string(text)) {
		var row, module, kernel, grid string
		var b [3]uint32
		if _, err := fmt.Sscanf(line, "%s %s %s %d,%d,%d %s", &row, &module, &kernel, &b[0], &b[1], &b[2], &grid); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", list, line, err)
		}
		if id := fmt.Sprint(kernel, b); seen[id] {
			continue
		} else {
			seen[id] = true
		}
		if modules[module] == nil {
			data, err := os.ReadFile(filepath.Join(dir, module+".ptx"))
			if err != nil {
				return nil, err
			}
			if modules[module], err = ptx.IndexModule(string(data)); err != nil {
				return nil, fmt.Errorf("%s: %w", module, err)
			}
		}
		target := modules[module].Target
		u, err := newUnit(modules[module], kernel, "bench", fmt.Sprintf("sm_%d%s", max(target.SM, 80), target.Suffix))
		if err != nil {
			return nil, err
		}
		u.block = b
		units = append(units, u)
	}
	return units, nil
}

func newUnit(x *ptx.Index, kernel, set, arch string) (unit, error) {
	s, err := x.Slice(kernel)
	if err != nil {
		return unit{}, fmt.Errorf("%s: %w", kernel, err)
	}
	mma := strings.Contains(s.Text, "mma.sync") || strings.Contains(s.Text, "mma_async") || strings.Contains(s.Text, "wmma.")
	return unit{kernelTime: kernelTime{Kernel: kernel, Set: set, MMA: mma, Bytes: len(s.Text)}, text: s.Text, arch: arch}, nil
}

// libraryUnits takes n kernels, evenly spaced, of all the PTX in a library: the modules for the highest target that ptxas of
// today still knows.
func libraryUnits(file string, n int) ([]unit, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	type named struct {
		x      *ptx.Index
		kernel string
		arch   string
	}
	best, all := 0, map[int][]named{}
	magic := binary.LittleEndian.AppendUint32(nil, fatbin.HeaderMagic)
	for part := data; ; {
		i := bytes.Index(part, magic)
		if i < 0 {
			break
		}
		part = part[i:]
		c, err := fatbin.Parse(part)
		if err != nil { // the number occurs by chance too
			part = part[4:]
			continue
		}
		part = part[4:]
		for k := range c.Entries {
			if c.Entries[k].Kind != fatbin.PTX {
				continue
			}
			text, err := c.Entries[k].Text()
			if err != nil {
				continue
			}
			t, ok := fatbin.PTXTarget(text)
			if !ok || t.SM > 121 || t.SM < 75 {
				continue
			}
			x, err := ptx.IndexModule(string(text))
			if err != nil {
				return nil, err
			}
			for _, k := range x.Kernels() {
				all[t.SM] = append(all[t.SM], named{x, k.Name, t.String()})
			}
			best = max(best, t.SM)
		}
	}
	from := all[best]
	if len(from) == 0 {
		return nil, fmt.Errorf("%s: no PTX for targets of 7.5 to 12.1", file)
	}
	var units []unit
	n = min(n, len(from))
	for i := range n {
		k := from[i*len(from)/n]
		u, err := newUnit(k.x, k.kernel, filepath.Base(file), k.arch)
		if err != nil {
			return nil, err
		}
		units = append(units, u)
	}
	return units, nil
}

const emptyKernel = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n"

func measure(units []unit, f *compileFlags) (*compileTimes, error) {
	kudzu, err := filepath.Abs(f.kudzu)
	if err != nil {
		return nil, err
	}
	c := compile.New(compile.Config{Command: []string{kudzu, "compiler"}})
	defer c.Close()
	out := &compileTimes{Reps: f.reps}
	start := time.Now()
	if _, err := c.Compile(&compile.Request{PTX: emptyKernel, Kernel: "empty"}); err != nil {
		return nil, fmt.Errorf("the compiler process: %w", err)
	}
	out.KudzuStart = ms(time.Since(start))
	p := findPTXAS(f.ptxas)
	if p != nil {
		defer os.RemoveAll(p.dir)
		out.PTXAS = p.version
		if out.PTXASStart, err = p.median(emptyKernel, "sm_80", max(f.reps, 5)); err != nil {
			return nil, err
		}
	} else {
		fmt.Println("no ptxas (PATH or KUDZU_PTXAS): only Kudzu's times")
	}
	for i := range units {
		u := &units[i]
		var err error
		if u.First, err = compiled(c, u, f.reps, compile.Baseline); err != nil {
			progress("%s: %v", u.Kernel, err)
		}
		if !f.baselineOnly {
			u.Kudzu, err = compiled(c, u, f.reps, compile.Optimised)
		}
		if err != nil {
			u.Error = err.Error()
		}
		if p != nil && u.Error == "" {
			if u.PTXAS, err = p.median(u.text, u.arch, f.reps); err != nil {
				u.Error = err.Error()
			}
		}
		progress("%d of %d kernels", i+1, len(units))
		out.Kernels = append(out.Kernels, u.kernelTime)
	}
	return out, nil
}

// compiled is how long a kernel takes to compile, in milliseconds.
func compiled(c *compile.Client, u *unit, reps int, tier compile.Tier) (float64, error) {
	var took []float64
	for range reps {
		start := time.Now()
		if _, err := c.Compile(&compile.Request{PTX: u.text, Kernel: u.Kernel, Block: u.block, Options: compile.Options{Tier: tier}}); err != nil {
			return 0, err
		}
		took = append(took, ms(time.Since(start)))
	}
	return median(took), nil
}

// progress shows how far a long measurement is, where a person is looking.
func progress(format string, args ...any) {
	if st, err := os.Stderr.Stat(); err == nil && st.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintf(os.Stderr, "\r"+format+" ", args...)
	}
}

// ptxas is NVIDIA's assembler on this machine.
type ptxas struct{ path, version, dir string }

func findPTXAS(path string) *ptxas {
	if path == "" {
		path = os.Getenv("KUDZU_PTXAS")
	}
	if path == "" {
		path, _ = exec.LookPath("ptxas")
	}
	if path == "" {
		return nil
	}
	text, err := exec.Command(path, "--version").Output()
	if err != nil {
		return nil
	}
	dir, err := os.MkdirTemp("", "kudzu-ptxas")
	if err != nil {
		return nil
	}
	version := "ptxas"
	for line := range strings.Lines(string(text)) {
		if _, after, ok := strings.Cut(line, ", V"); ok {
			version = "ptxas " + strings.TrimSpace(after)
		}
	}
	return &ptxas{path, version, dir}
}

// median is how long ptxas -O3 takes for the text, in milliseconds, its process included.
func (p *ptxas) median(text, arch string, reps int) (float64, error) {
	in, out := filepath.Join(p.dir, "k.ptx"), filepath.Join(p.dir, "k.cubin")
	if err := os.WriteFile(in, []byte(text), 0o666); err != nil {
		return 0, err
	}
	var took []float64
	for range reps {
		start := time.Now()
		b, err := exec.Command(p.path, "-O3", "-arch="+arch, "-o", out, in).CombinedOutput()
		if err != nil {
			return 0, fmt.Errorf("ptxas: %w: %s", err, bytes.TrimSpace(b))
		}
		took = append(took, ms(time.Since(start)))
	}
	return median(took), nil
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}

// summary is what a set of kernels comes to; ratios are Kudzu's time over ptxas's.
type summary struct {
	name                string
	n, failed, within   int // within: at most twice ptxas
	first               firstTimes
	kudzu, ptxas        float64
	ratio, net, slowest float64 // net: ptxas without its start
}

// firstTimes is what baseline code of a set of kernels comes to.
type firstTimes struct {
	n, in, twice int // kernels that have it; within the larger of firstLimit and ptxas's time; within twice that
	median       float64
	slowest      float64 // over that limit
}

// firstLimit is how long a first launch may take to start whatever ptxas needs, in milliseconds.
const firstLimit = 50

// firstOf sums up the baseline times of kernels.
func firstOf(list []kernelTime) firstTimes {
	var t firstTimes
	var all []float64
	for _, k := range list {
		if k.First <= 0 {
			continue
		}
		t.n++
		all = append(all, k.First)
		r := k.First / max(firstLimit, k.PTXAS)
		if r <= 1 {
			t.in++
		}
		if r <= 2 {
			t.twice++
		}
		t.slowest = max(t.slowest, r)
	}
	t.median = median(all)
	return t
}

// summaries groups by set, kernels with mma apart.
func (t *compileTimes) summaries() []summary {
	type group struct {
		k, p, r, net []float64
		all          []kernelTime
	}
	groups, order := map[string]*group{}, []string{}
	failed := map[string]int{}
	for _, k := range t.Kernels {
		name := k.Set
		if k.MMA {
			name += ", with mma"
		}
		g := groups[name]
		if g == nil {
			g = &group{}
			groups[name] = g
			order = append(order, name)
		}
		if k.Error != "" {
			failed[name]++
			continue
		}
		g.k = append(g.k, k.Kudzu)
		g.all = append(g.all, k)
		if k.PTXAS > 0 {
			g.p = append(g.p, k.PTXAS)
			g.r = append(g.r, k.Kudzu/k.PTXAS)
			g.net = append(g.net, k.Kudzu/max(k.PTXAS-t.PTXASStart, 0.1))
		}
	}
	var out []summary
	for _, name := range order {
		g := groups[name]
		s := summary{name: name, n: len(g.k), failed: failed[name], kudzu: median(g.k), ptxas: median(g.p), ratio: median(g.r), net: median(g.net), first: firstOf(g.all)}
		for _, r := range g.r {
			s.slowest = max(s.slowest, r)
			if r <= 2 {
				s.within++
			}
		}
		out = append(out, s)
	}
	return out
}

func (t *compileTimes) print() {
	fmt.Printf("cold compile, medians of %d; the compiler process's start %.1f ms, %s's %.1f ms\n", t.Reps, t.KudzuStart, cmp.Or(t.PTXAS, "ptxas"), t.PTXASStart)
	for _, k := range t.Kernels {
		if k.Set != "bench" && k.Error == "" {
			continue
		}
		line := fmt.Sprintf("%-28.28s %8.1f ms %8.1f ms", k.Kernel, k.First, k.Kudzu)
		if k.PTXAS > 0 {
			line += fmt.Sprintf(" %8.1f ms  %5.2f", k.PTXAS, k.Kudzu/k.PTXAS)
		}
		if k.Error != "" {
			line += "  " + strings.ReplaceAll(k.Error, "\n", "; ")
		}
		fmt.Println(line)
	}
	for _, s := range t.summaries() {
		fmt.Printf("%s: %d kernels, median %.1f ms", s.name, s.n, s.kudzu)
		if s.ptxas > 0 {
			verdict := "ok"
			if s.ratio > 2 {
				verdict = "MISSED"
			}
			fmt.Printf(", ptxas %.1f ms; median ratio %.2f (target 2: %s), %d within, worst %.1f", s.ptxas, s.ratio, verdict, s.within, s.slowest)
		}
		if s.failed > 0 {
			fmt.Printf("; %d FAILED", s.failed)
		}
		fmt.Println()
		if f := s.first; f.n > 0 {
			fmt.Printf("%s, baseline: %d kernels, median %.1f ms; %.1f %% within the larger of %d ms and ptxas (target 95), %.1f %% within twice that (target 100), worst %.2f\n",
				s.name, f.n, f.median, 100*float64(f.in)/float64(f.n), firstLimit, 100*float64(f.twice)/float64(f.n), f.slowest)
		}
	}
}
