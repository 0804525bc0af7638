package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// row is one line of the harness's figures; times in milliseconds, medians, 0 where there is none.
type row struct {
	Name      string  `json:"row"`
	Group     string  `json:"group,omitempty"`
	What      string  `json:"what"`
	Module    string  `json:"module"`
	Tolerance float64 `json:"tolerance"`
	Bytes     float64 `json:"bytes"`
	Ops       float64 `json:"ops"`
	Compute   bool    `json:"compute"`
	MMA       bool    `json:"mma"`

	GCC         float64 `json:"gcc_ms"`
	Clang       float64 `json:"clang_ms"`
	Kudzu       float64 `json:"kudzu_ms"`
	PoCL        float64 `json:"pocl_ms,omitempty"`
	GCCCPU      float64 `json:"gcc_cpu_ms,omitempty"` // processor time of all threads
	ClangCPU    float64 `json:"clang_cpu_ms,omitempty"`
	KudzuCPU    float64 `json:"kudzu_cpu_ms,omitempty"`
	Baseline    float64 `json:"baseline_ms,omitempty"` // of baseline code, from a run of its own
	BaselineOK  bool    `json:"baseline_ok,omitempty"`
	GCCSpread   float64 `json:"gcc_spread"`
	ClangSpread float64 `json:"clang_spread"`
	KudzuSpread float64 `json:"kudzu_spread"`
	KudzuError  float64 `json:"kudzu_error"`
	KudzuOK     bool    `json:"kudzu_ok"`
	PoCLOK      bool    `json:"pocl_ok"`
}

// native is the better of the two compilers.
func (r *row) native() float64 { return better(r.GCC, r.Clang) }

// better is the smaller of two times; 0 is none.
func better(a, b float64) float64 {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}

func (r *row) ratio() float64 { return r.native() / r.Kudzu }
func (r *row) pocl() float64  { return r.PoCL / r.Kudzu }

// cpu is the ratio of processor times; 0 when they were not measured.
func (r *row) cpu() float64 {
	if r.KudzuCPU == 0 {
		return 0
	}
	return better(r.GCCCPU, r.ClangCPU) / r.KudzuCPU
}

// baseline is the speed of baseline code as a part of optimised code's; 0 when it was not measured.
func (r *row) baseline() float64 {
	if r.Baseline == 0 {
		return 0
	}
	return r.Kudzu / r.Baseline
}

// The groups of rows: what the suite began with, and what real programs' kernels do. Figures of before there were two are of the first.
const (
	coreGroup    = "core"
	programGroup = "programs"
)

// inGroup are the rows of a group, in their order.
func inGroup(rows []row, group string) []row {
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return cmp.Or(r.Group, coreGroup) != group })
}

// rowsFile is what one run of the harness writes.
type rowsFile struct {
	Threads int    `json:"threads"`
	Reps    int    `json:"reps"`
	Device  string `json:"device"`
	PoCL    string `json:"pocl"`
	Rows    []row  `json:"rows"`
}

// figure is one of the launch and start-up figures; a target of 0 is none.
type figure struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Target float64 `json:"target"`
}

type launchFile struct {
	Figures []figure `json:"launch"`
}

// results is docs/bench/results.json.
type results struct {
	Machine machine       `json:"machine"`
	Suite   rowsFile      `json:"suite"`
	Launch  []figure      `json:"launch,omitempty"`
	Compile *compileTimes `json:"compile,omitempty"`
}

// scaling is docs/bench/scaling.json: the same rows at several thread counts on one machine.
type scaling struct {
	Machine machine    `json:"machine"`
	Runs    []rowsFile `json:"runs"`
}

func runReport(args []string) error {
	var rows, base, launch, comp, machineFile, out string
	fs := flag.NewFlagSet("report", flag.ContinueOnError)
	fs.StringVar(&rows, "rows", "", "figures of the harness")
	fs.StringVar(&base, "baseline", "", "figures of the harness -tier baseline")
	fs.StringVar(&launch, "launch", "", "figures of the harness -launch")
	fs.StringVar(&comp, "compile", "", "figures of bench compile")
	fs.StringVar(&machineFile, "machine", "", "a machine described by scripts/bench.sh -machine; empty: this one")
	fs.StringVar(&out, "o", "docs/bench", "folder to write")
	if err := fs.Parse(args); err != nil {
		return err
	}
	m, err := describe(machineFile)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	if fs.NArg() > 0 { // runs at several thread counts
		s := scaling{Machine: m}
		for _, file := range fs.Args() {
			var r rowsFile
			if err := readJSON(file, &r); err != nil {
				return err
			}
			s.Runs = append(s.Runs, r)
		}
		return s.write(out)
	}
	res := results{Machine: m}
	if err := readJSON(rows, &res.Suite); err != nil {
		return err
	}
	if len(res.Suite.Rows) == 0 {
		return errors.New("no rows")
	}
	if base != "" {
		var b rowsFile
		if err := readJSON(base, &b); err != nil {
			return err
		}
		res.Suite.addBaseline(b.Rows)
	}
	if launch != "" {
		var l launchFile
		if err := readJSON(launch, &l); err != nil {
			return err
		}
		res.Launch = l.Figures
	}
	if comp != "" {
		res.Compile = &compileTimes{}
		if err := readJSON(comp, res.Compile); err != nil {
			return err
		}
	}
	return res.write(out)
}

// addBaseline takes the times of baseline code into the rows of the same names.
func (f *rowsFile) addBaseline(rows []row) {
	for _, b := range rows {
		if i := slices.IndexFunc(f.Rows, func(r row) bool { return r.Name == b.Name }); i >= 0 {
			f.Rows[i].Baseline, f.Rows[i].BaselineOK = b.Kudzu, b.KudzuOK
		}
	}
}

func readJSON(file string, v any) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

func writeJSON(file string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o666)
}

func (r *results) write(dir string) error {
	if err := writeJSON(filepath.Join(dir, "results.json"), r); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "results.md"), []byte(r.markdown()), 0o666); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "ratios.svg"), []byte(chart(r.Suite.Rows)), 0o666); err != nil {
		return err
	}
	fmt.Println(r.verdict())
	return nil
}

func (s *scaling) write(dir string) error {
	slices.SortFunc(s.Runs, func(a, b rowsFile) int { return a.Threads - b.Threads })
	if err := writeJSON(filepath.Join(dir, "scaling.json"), s); err != nil {
		return err
	}
	text := s.markdown()
	fmt.Print(text)
	return os.WriteFile(filepath.Join(dir, "scaling.md"), []byte(text), 0o666)
}
