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
	"strings"

	"kudzu/internal/compile"
	"kudzu/internal/ptx"
)

// gpuRow is what became of one kernel for one target.
type gpuRow struct {
	Target string  `json:"target"`
	Set    string  `json:"set"`
	Kernel string  `json:"kernel"`
	Bytes  int     `json:"bytes"` // of its PTX
	MMA    bool    `json:"mma"`
	Ms     float64 `json:"ms"`     // of processor
	Answer string  `json:"answer"` // "compiled", "refused: why", "failed: why"
}

func (r *gpuRow) id() string { return r.Target + " " + r.Set + " " + r.Kernel }

// runGPU compiles kernels for GPUs and tells how many can be and how long each took: those of PTX files, and a sample of a library's.
// With -rows a run that was stopped goes on where it was.
func runGPU(args []string) error {
	fs := flag.NewFlagSet("gpu", flag.ContinueOnError)
	targets := fs.String("targets", "gfx1100,gfx1201,gfx90a,gfx942", "what to compile for")
	kudzu := fs.String("kudzu", "dist/bin/kudzu", "the compiler process")
	apps := fs.String("apps", "", "also kernels of this library")
	count := fs.Int("count", 500, "how many of the library's")
	file := fs.String("rows", "", "file of the rows, one a line: those in it are not compiled again, new ones are added")
	page := fs.String("page", "", "write the page here, and the time of every kernel beside it (.tsv)")
	texts := fs.String("texts", "", "only write the PTX of the kernels into this folder, each a file")
	about := fs.String("about", "", "for the page: what was run where and when")
	if err := fs.Parse(args); err != nil {
		return err
	}
	units, err := gpuUnits(fs.Args(), *apps, *count)
	if err != nil {
		return err
	}
	if *texts != "" {
		return writeTexts(*texts, units)
	}
	rows, err := readRows(*file)
	if err != nil {
		return err
	}
	names := strings.Split(*targets, ",")
	if rows, err = compileGPU(units, names, *kudzu, *file, rows); err != nil {
		return err
	}
	text := gpuTable(rows, names)
	fmt.Print(text)
	if *page == "" {
		return nil
	}
	if err := os.WriteFile(*page, []byte(gpuPage(*about, text, rows, names)), 0o666); err != nil {
		return err
	}
	return os.WriteFile(strings.TrimSuffix(*page, ".md")+".tsv", []byte(everyKernel(rows, names)), 0o666)
}

// gpuUnits are the kernels of files and of a library, each name of a set once.
func gpuUnits(files []string, library string, n int) ([]unit, error) {
	var units []unit
	for _, file := range files {
		more, err := fileUnits(file)
		if err != nil {
			return nil, err
		}
		units = append(units, more...)
	}
	if library != "" {
		more, err := libraryUnits(library, n)
		if err != nil {
			return nil, err
		}
		units = append(units, more...)
	}
	// The small ones first: what a run that is stopped leaves are the long ones.
	slices.SortStableFunc(units, func(x, y unit) int { return cmp.Compare(x.Bytes, y.Bytes) })
	return units, nil
}

func writeTexts(dir string, units []unit) error {
	for i := range units {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.ptx", i)), []byte(units[i].text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

func readRows(file string) ([]gpuRow, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var rows []gpuRow
	for line := range strings.Lines(string(data)) {
		var r gpuRow
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// fileUnits are the kernels of a PTX file.
func fileUnits(file string) ([]unit, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	x, err := ptx.IndexModule(string(text))
	if err != nil {
		return nil, err
	}
	var units []unit
	for _, k := range x.Kernels() {
		u, err := newUnit(x, k.Name, filepath.Base(file), "")
		if err != nil {
			return nil, err
		}
		units = append(units, u)
	}
	return units, nil
}

// compileGPU compiles what has no row yet; each row is written when it is known.
func compileGPU(units []unit, targets []string, kudzu, file string, rows []gpuRow) ([]gpuRow, error) {
	done := map[string]bool{}
	for i := range rows {
		done[rows[i].id()] = true
	}
	path, err := filepath.Abs(kudzu)
	if err != nil {
		return nil, err
	}
	var log *os.File
	if file != "" {
		if log, err = os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666); err != nil {
			return nil, err
		}
		defer log.Close()
	}
	c := compile.New(compile.Config{Command: []string{path, "compiler"}})
	defer c.Close()
	for _, name := range targets {
		target, ok := compile.GPUTarget(name)
		if !ok {
			return nil, fmt.Errorf("%s is no GPU", name)
		}
		for i := range units {
			u := &units[i]
			r := gpuRow{Target: name, Set: u.Set, Kernel: u.Kernel, Bytes: u.Bytes, MMA: u.MMA}
			if done[r.id()] {
				continue
			}
			done[r.id()] = true
			start := programTime(path)
			_, err := c.Object(&compile.Request{PTX: u.text, Kernel: u.Kernel, Target: target}, func([]byte) error { return nil })
			r.Ms, r.Answer = ms(max(programTime(path)-start, 0)), gpuAnswer(err)
			rows = append(rows, r)
			progress("%s: %d of %d kernels", name, i+1, len(units))
			if log == nil {
				continue
			}
			b, err := json.Marshal(&r)
			if err != nil {
				return nil, err
			}
			if _, err := log.Write(append(b, '\n')); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

func gpuAnswer(err error) string {
	var u *compile.Unsupported
	switch {
	case err == nil:
		return "compiled"
	case errors.As(err, &u):
		return "refused: " + u.What
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return "failed: " + first
}

// gpuTable is the table of targets, and what did not compile.
func gpuTable(rows []gpuRow, targets []string) string {
	var b, not strings.Builder
	b.WriteString("| target | kernels | compiled | refused | failed | median ms | 90 % ms | 99 % ms | longest ms | all, s |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, t := range targets {
		var took []float64
		n, refused, failed, sum := 0, 0, 0, 0.0
		for i := range rows {
			r := &rows[i]
			if r.Target != t {
				continue
			}
			n++
			switch {
			case r.Answer == "compiled":
				took = append(took, r.Ms)
				sum += r.Ms
				continue
			case strings.HasPrefix(r.Answer, "refused"):
				refused++
			default:
				failed++
			}
			fmt.Fprintf(&not, "- %s, `%s`: %s\n", t, r.Kernel, r.Answer)
		}
		slices.Sort(took)
		at := func(share float64) float64 {
			if len(took) == 0 {
				return 0
			}
			return took[min(int(share*float64(len(took))), len(took)-1)]
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %.1f | %.1f | %.1f | %.1f | %.0f |\n", t, n, len(took), refused, failed, at(0.5), at(0.9), at(0.99), at(1), sum/1000)
	}
	if not.Len() > 0 {
		b.WriteString("\nNot compiled:\n\n" + not.String())
	}
	return b.String()
}

// kernelTimesOf are the rows by kernel, the longest first.
type kernelTimesOf struct {
	set, kernel string
	bytes       int
	mma         bool
	ms          map[string]float64
	longest     float64
}

func byKernel(rows []gpuRow) []*kernelTimesOf {
	of := map[string]*kernelTimesOf{}
	var list []*kernelTimesOf
	for i := range rows {
		r := &rows[i]
		k := of[r.Set+" "+r.Kernel]
		if k == nil {
			k = &kernelTimesOf{set: r.Set, kernel: r.Kernel, bytes: r.Bytes, mma: r.MMA, ms: map[string]float64{}}
			of[r.Set+" "+r.Kernel] = k
			list = append(list, k)
		}
		if r.Answer == "compiled" {
			k.ms[r.Target] = r.Ms
			k.longest = max(k.longest, r.Ms)
		}
	}
	return list
}

// shorten cuts the parameters off a C++ kernel's mangled name, so that a line of the page fits a screen; the list has it whole.
func shorten(name string) string {
	const fits = 60
	if len(name) <= fits {
		return name
	}
	if head, _, ok := strings.Cut(name, "EEv"); ok && len(head) < fits {
		return head + "EEv…"
	}
	return name[:fits] + "…"
}

// everyKernel is a line a kernel: where it comes from, its name, and milliseconds for each target.
func everyKernel(rows []gpuRow, targets []string) string {
	var b strings.Builder
	b.WriteString("set\tkernel\tbytes\tmma\t" + strings.Join(targets, "\t") + "\n")
	for _, k := range byKernel(rows) {
		fmt.Fprintf(&b, "%s\t%s\t%d\t%t", k.set, k.kernel, k.bytes, k.mma)
		for _, t := range targets {
			if v, ok := k.ms[t]; ok {
				fmt.Fprintf(&b, "\t%.1f", v)
			} else {
				b.WriteString("\t-")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func gpuPage(about, table string, rows []gpuRow, targets []string) string {
	var b strings.Builder
	b.WriteString("# Compiling for AMD's GPUs\n\nWritten by `bench gpu -page` (scripts/gpu-compile.sh).\n\n" + about + "\n\n" + table)
	list := byKernel(rows)
	slices.SortStableFunc(list, func(x, y *kernelTimesOf) int { return cmp.Compare(y.longest, x.longest) })
	fmt.Fprintf(&b, "\nThe time of every kernel, with its whole name, is in [gpu-compile.tsv](gpu-compile.tsv). The longest, in ms:\n\n| kernel | PTX bytes | matrix | %s |\n|---|---|---|%s\n",
		strings.Join(targets, " | "), strings.Repeat("---|", len(targets)))
	for _, k := range list[:min(12, len(list))] {
		fmt.Fprintf(&b, "| `%s` | %d | %t |", shorten(k.kernel), k.bytes, k.mma)
		for _, t := range targets {
			if v, ok := k.ms[t]; ok {
				fmt.Fprintf(&b, " %.0f |", v)
			} else {
				b.WriteString(" - |")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
