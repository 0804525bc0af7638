package main

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// The targets of the rows. A row counts at most rowCap in the geomean, so that a few very fast ones do not hide the others.
const (
	rowCap       = 2.0
	leastRow     = 0.7
	leastMedian  = 1.0
	leastGeomean = 1.1
	leastPoCL    = 1.0
	leastTier    = 0.2 // of optimised code's speed, for baseline code
	leastWgmma   = 0.8 // of the speed of the same product with mma
)

// namedTargets are rows with a target of their own.
var namedTargets = []struct {
	row   string
	least float64
}{
	{"radix", 0.7}, {"softmax", 0.9}, {"hgemm_mma", 1.0}, {"histogram_shared", 0.9}, {"histogram_global", 0.9}, {"scan", 0.9},
	{"spmv_scalar", 0.9}, {"spmv_vector", 0.9}, {"attention", 0.9}, {"convolution", 0.9},
}

// named is a row whose results are right, or nil.
func (f *rowsFile) named(name string) *row {
	for i := range f.Rows {
		if w := &f.Rows[i]; w.Name == name && w.KudzuOK {
			return w
		}
	}
	return nil
}

// score is what acceptance asks of rows.
type score struct {
	rows, wrong            int
	native, capped, median float64 // geomean, the same with capped rows, and median of the ratios against native
	pocl                   float64
	poclRows               int
	tier                   float64 // geomean of baseline code's speed over optimised code's
	tierRows, tierWrong    int
	under, underPoCL       []string
}

func scoreOf(rows []row) score {
	var s score
	var logs, capped, plogs, tlogs float64
	var ratios []float64
	for i := range rows {
		r := &rows[i]
		if !r.KudzuOK || r.Kudzu <= 0 || r.native() <= 0 {
			s.wrong++
			continue
		}
		s.rows++
		logs += math.Log(r.ratio())
		capped += math.Log(min(r.ratio(), rowCap))
		ratios = append(ratios, r.ratio())
		if r.ratio() < leastRow {
			s.under = append(s.under, fmt.Sprintf("%s %.2f", r.Name, r.ratio()))
		}
		if r.PoCL > 0 && r.PoCLOK {
			s.poclRows++
			plogs += math.Log(r.pocl())
			if r.pocl() < leastPoCL {
				s.underPoCL = append(s.underPoCL, fmt.Sprintf("%s %.2f", r.Name, r.pocl()))
			}
		}
		switch {
		case r.Baseline > 0 && r.BaselineOK:
			s.tierRows++
			tlogs += math.Log(r.baseline())
		case r.Baseline > 0:
			s.tierWrong++
		}
	}
	mean := func(logs float64, n int) float64 {
		if n == 0 {
			return 0
		}
		return math.Exp(logs / float64(n))
	}
	s.median = median(ratios)
	s.native, s.capped, s.pocl, s.tier = mean(logs, s.rows), mean(capped, s.rows), mean(plogs, s.poclRows), mean(tlogs, s.tierRows)
	return s
}

// judge writes targets down, met or missed.
type judge struct{ strings.Builder }

func (j *judge) line(ok bool, format string, args ...any) {
	sign := "met"
	if !ok {
		sign = "**missed**"
	}
	j.WriteString(item(fmt.Sprintf("%s: %s", sign, fmt.Sprintf(format, args...))))
}

// pageWidth is how long a line of a page may be.
const pageWidth = 120

// item is an item of a list, in lines that fit.
func item(text string) string {
	var b strings.Builder
	room := pageWidth - 2
	b.WriteString("-")
	for word := range strings.FieldsSeq(text) {
		if n := utf8.RuneCountInString(word) + 1; n <= room {
			room -= n
		} else {
			b.WriteString("\n ")
			room = pageWidth - 1 - n
		}
		b.WriteString(" " + word)
	}
	return b.String() + "\n"
}

// list is names in a line.
func list(names []string) string { return or(strings.Join(names, ", "), "none") }

// verdict holds the figures against what was set as their target.
func (r *results) verdict() string {
	var j judge
	all := scoreOf(r.Suite.Rows)
	j.line(all.wrong == 0, "%d of %d rows compute what the native code computes", all.rows, all.rows+all.wrong)
	for _, group := range []string{coreGroup, programGroup} {
		j.group(group, inGroup(r.Suite.Rows, group))
	}
	for _, t := range namedTargets {
		if w := r.Suite.named(t.row); w != nil {
			j.line(w.ratio() >= t.least, "%s %.2f of native (target %.1f)", t.row, w.ratio(), t.least)
		}
	}
	if mma, wgmma := r.Suite.named("hgemm_mma"), r.Suite.named("hgemm_wgmma"); mma != nil && wgmma != nil {
		j.line(mma.Kudzu/wgmma.Kudzu >= leastWgmma, "hgemm_wgmma %.2f of hgemm_mma's speed (target %.1f)", mma.Kudzu/wgmma.Kudzu, leastWgmma)
	}
	if all.poclRows > 0 {
		j.line(all.pocl >= 3, "geomean against PoCL %.2f over %d rows (target 3)", all.pocl, all.poclRows)
	}
	if all.tierRows > 0 {
		j.line(all.tier >= leastTier && all.tierWrong == 0, "baseline code: %.2f of optimised code's speed, geomean of %d rows (target %.1f); %d wrong", all.tier, all.tierRows, leastTier, all.tierWrong)
	}
	for _, f := range r.Launch {
		if f.Target > 0 {
			j.line(f.Value <= f.Target, "%s: %.3g %s (target %g)", f.Name, f.Value, f.Unit, f.Target)
		}
	}
	j.compile(r.Compile)
	return strings.TrimSuffix(j.String(), "\n")
}

func (j *judge) group(name string, rows []row) {
	s := scoreOf(rows)
	if s.rows == 0 {
		return
	}
	j.line(s.median >= leastMedian, "%s, %d rows: median %.2f of native (target %.1f)", name, s.rows, s.median, leastMedian)
	j.line(s.capped >= leastGeomean, "%s: geomean %.2f of native, no row counted above %.1f (target %.1f); %.2f without the cap", name, s.capped, rowCap, leastGeomean, s.native)
	j.line(len(s.under) == 0, "%s: rows under %.1f of native: %s", name, leastRow, list(s.under))
	if s.poclRows > 0 {
		j.line(len(s.underPoCL) == 0, "%s: rows slower than on PoCL: %s", name, list(s.underPoCL))
	}
}

func (j *judge) compile(c *compileTimes) {
	if c == nil || c.PTXAS == "" {
		return
	}
	for _, s := range c.summaries() {
		target := 2.0
		if strings.HasSuffix(s.name, "mma") {
			target = 3
		}
		j.line(s.ratio <= target && s.failed == 0, "optimised code, cold compile, %s: median %.2f of ptxas (target %g)", s.name, s.ratio, target)
		if f := s.first; f.n > 0 {
			in, twice := 100*float64(f.in)/float64(f.n), 100*float64(f.twice)/float64(f.n)
			j.line(in >= 95 && f.twice == f.n, "first launch, %s: %.0f %% of %d kernels have code within the larger of %d ms and ptxas's time (target 95), %.0f %% within twice that (target 100); median %.1f ms",
				s.name, in, f.n, firstLimit, twice, f.median)
		}
	}
}
