package main

import (
	"fmt"
	"slices"
	"strings"
)

func (r *results) markdown() string {
	var b strings.Builder
	b.WriteString("# Bench results\n\nWritten by `make bench`; how to read it is in [README.md](README.md).\n\n")
	r.Machine.markdown(&b)
	fmt.Fprintf(&b, "- %d threads everywhere, medians of %d interleaved samples; %s\n", r.Suite.Threads, r.Suite.Reps, or(r.Suite.PoCL, "without PoCL"))
	fmt.Fprintf(&b, "\n## Verdict\n\n%s\n", r.verdict())
	b.WriteString("\n![Kudzu against native code and PoCL, row by row](ratios.svg)\n\n## Rows\n\n")
	b.WriteString("Times in ms. *native* is the better of gcc and clang; ratios above 1 mean that Kudzu is faster. *processor time* is the\n" +
		"same ratio of processor time, which other programs on the machine disturb less. *baseline* is the speed of baseline code\n" +
		"as a part of optimised code's.\n")
	r.markdownRows(&b, coreGroup, "Core: the classics that the suite began with")
	r.markdownRows(&b, programGroup, "Programs: what kernels of real programs do")
	r.markdownLaunch(&b)
	r.markdownCompile(&b)
	return b.String()
}

func (r *results) markdownRows(b *strings.Builder, group, title string) {
	rows := inGroup(r.Suite.Rows, group)
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n| row | gcc | clang | kudzu | pocl | native / kudzu | processor time | pocl / kudzu | baseline | rate | error |\n", title)
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for i := range rows {
		w := &rows[i]
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %.1g |\n", w.Name, millis(w.GCC), millis(w.Clang), millis(w.Kudzu), millis(w.PoCL),
			mark(w.ratio(), leastRow), mark(w.cpu(), leastRow), mark(w.pocl(), leastPoCL), mark(w.baseline(), 0), w.rate(), w.KudzuError)
	}
	b.WriteString("\n| row | problem |\n|---|---|\n")
	for i := range rows {
		fmt.Fprintf(b, "| %s | %s |\n", rows[i].Name, rows[i].What)
	}
}

func (m *machine) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "- %s, %d cores, %s\n- native: %s\n- native: %s\n- flags of both: `%s`\n- commit %s, %s\n", m.CPU, m.Cores, m.Kernel,
		or(m.GCC, "no gcc"), or(m.Clang, "no clang"), m.Flags, or(m.Commit, "unknown"), m.Date)
	if m.Load > 0 {
		busy := ""
		if m.Load > float64(2*m.Cores) {
			busy = ": the machine was busy with other work, so that times and ratios are disturbed"
		}
		b.WriteString(item(fmt.Sprintf("load average %.1f over the last 15 minutes of the run%s", m.Load, busy)))
	}
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func millis(ms float64) string {
	switch {
	case ms == 0:
		return "-"
	case ms < 10:
		return fmt.Sprintf("%.2f", ms)
	}
	return fmt.Sprintf("%.1f", ms)
}

// mark sets a ratio below its bound in bold.
func mark(v, bound float64) string {
	switch {
	case v == 0:
		return "-"
	case v < bound:
		return fmt.Sprintf("**%.2f**", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func (w *row) rate() string {
	switch {
	case w.Ops > 0 && w.Compute:
		return fmt.Sprintf("%.1f Gop/s", w.Ops/w.Kudzu*1e-6)
	case w.Bytes > 0:
		return fmt.Sprintf("%.1f GB/s", w.Bytes/w.Kudzu*1e-6)
	}
	return ""
}

func (r *results) markdownLaunch(b *strings.Builder) {
	if len(r.Launch) == 0 {
		return
	}
	b.WriteString("\n## Launch and start-up\n\nMedians of 20. Processes are fresh where the line says so; the cache is warm.\n\n| what | | target |\n|---|--:|--:|\n")
	for _, f := range r.Launch {
		target := ""
		if f.Target > 0 {
			target = fmt.Sprintf("%g %s", f.Target, unit2(f.Unit))
		}
		fmt.Fprintf(b, "| %s | %.3g %s | %s |\n", f.Name, f.Value, unit2(f.Unit), target)
	}
}

func unit2(u string) string { return strings.Replace(u, "us", "µs", 1) }

func (r *results) markdownCompile(b *strings.Builder) {
	c := r.Compile
	if c == nil {
		return
	}
	fmt.Fprintf(b, "\n## Compile time\n\nCold compile of one kernel, cut out of its module, in a compiler process that is already running.\nStarting that process with libLLVM takes %.0f ms, once.\n", c.KudzuStart)
	if c.PTXAS != "" {
		fmt.Fprintf(b, "%s -O3 compiles the same text, its process included (%.1f ms for an empty kernel).\n", c.PTXAS, c.PTXASStart)
	}
	fmt.Fprintf(b, "Medians of %d. *baseline* is what the first launch waits for, *optimised* what replaces it; ratios are of optimised code.\n\n"+
		"| kernels | | baseline ms | optimised ms | ptxas ms | median ratio | without ptxas's start | at most 2 | worst |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n", c.Reps)
	for _, s := range c.summaries() {
		fmt.Fprintf(b, "| %s | %d | %s | %.1f | %.1f | %.2f | %.2f | %d | %.1f |\n", s.name, s.n, millis(s.first.median), s.kudzu, s.ptxas, s.ratio, s.net, s.within, s.slowest)
	}
	b.WriteString("\n| kernel | PTX bytes | baseline ms | optimised ms | ptxas ms | ratio |\n|---|--:|--:|--:|--:|--:|\n")
	sorted := slices.Clone(c.Kernels)
	slices.SortStableFunc(sorted, func(x, y kernelTime) int { return boolInt(x.MMA) - boolInt(y.MMA) })
	for _, k := range sorted {
		if k.Set != "bench" {
			continue
		}
		ratio := ""
		if k.PTXAS > 0 {
			ratio = fmt.Sprintf("%.2f", k.Kudzu/k.PTXAS)
		}
		fmt.Fprintf(b, "| %s | %d | %s | %s | %s | %s |\n", k.Kernel, k.Bytes, millis(k.First), millis(k.Kudzu), millis(k.PTXAS), ratio)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// markdown compares each run with the first, and saxpy with the better of the native triads (STREAM's).
func (s *scaling) markdown() string {
	var b strings.Builder
	b.WriteString("# Scaling\n\nWritten by `bench report`; how to read it is in [README.md](README.md).\n\n")
	s.Machine.markdown(&b)
	if len(s.Runs) == 0 {
		return b.String()
	}
	first := s.Runs[0]
	b.WriteString("\n| row |")
	for _, r := range s.Runs {
		fmt.Fprintf(&b, " %d threads, ms | times |", r.Threads)
	}
	b.WriteString(" native times |\n|---|" + strings.Repeat("--:|--:|", len(s.Runs)) + "--:|\n")
	for _, base := range first.Rows {
		fmt.Fprintf(&b, "| %s |", base.Name)
		native := ""
		for _, r := range s.Runs {
			i := slices.IndexFunc(r.Rows, func(w row) bool { return w.Name == base.Name })
			if i < 0 {
				b.WriteString(" - | - |")
				continue
			}
			fmt.Fprintf(&b, " %s | %.1f |", millis(r.Rows[i].Kudzu), base.Kudzu/r.Rows[i].Kudzu)
			native = fmt.Sprintf("%.1f", base.native()/r.Rows[i].native())
		}
		fmt.Fprintf(&b, " %s |\n", native)
	}
	for _, r := range s.Runs {
		var saxpy, triad float64
		for _, w := range r.Rows {
			switch w.Name {
			case "saxpy":
				saxpy = w.Bytes / w.Kudzu * 1e-6
			case "triad":
				triad = w.Bytes / w.native() * 1e-6
			}
		}
		if saxpy > 0 && triad > 0 {
			fmt.Fprintf(&b, "\n%d threads: saxpy %.1f GB/s, STREAM triad (native) %.1f GB/s: %.0f %% (target 80 %%).\n", r.Threads, saxpy, triad, 100*saxpy/triad)
		}
	}
	return b.String()
}
