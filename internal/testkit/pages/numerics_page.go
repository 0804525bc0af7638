package pages

import (
	"fmt"
	"math"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/driver"
	"kudzu/internal/testkit/truth"
)

// numericsPage writes docs/znumerics.md. It also gives the functions whose error is past their bound.
func numericsPage(dev backend.Device, host truth.Host) (page string, past []string, err error) {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	b.WriteString(header("internal/testkit/truth/tolerance.go, testdata/isa/rows.gz and measurement"))
	p("# How near results are\n\nThe rules are in [numerics.md](numerics.md). Both tables are measured on the interpreter. Compiled kernels give the same\n")
	p("bits, because both executors evaluate the one definition in internal/approx.\n\n## Against the exact value\n\n%d values each.\n\n", samples)
	p("| instruction | range | the manual's bound | largest error | at |\n|---|---|---|---|---|\n")
	for i := range functions {
		f := &functions[i]
		worst, err := f.measure(dev, host)
		if err != nil {
			return "", nil, err
		}
		name, _, _ := strings.Cut(f.inst, " ")
		p("| `%s` | %s | %s | %s | %.6g |\n", name, f.ranges, f.says, f.show(worst.err), worst.at)
		if !(worst.err <= f.bound) {
			past = append(past, fmt.Sprintf("%s: error %s, bound %s, at %g", name, f.show(worst.err), f.says, worst.at))
		}
	}
	if err := deviations(p, dev, host); err != nil {
		return "", nil, err
	}
	return b.String(), past, nil
}

func (f *function) show(e float64) string {
	switch f.kind {
	case inUlps:
		return fmt.Sprintf("%.2f ulp", e)
	case absolute:
		return fmt.Sprintf("absolute 2^%.1f", math.Log2(e))
	}
	return fmt.Sprintf("relative 2^%.1f", math.Log2(e))
}

// deviations measures the tolerated differences from the recorded card.
func deviations(p func(string, ...any), dev backend.Device, host truth.Host) error {
	record, err := truth.Read(root + "testdata/isa/rows.gz")
	if err != nil {
		return err
	}
	lines, err := truth.Recorded(record)
	if err != nil {
		return err
	}
	want := map[string][]byte{}
	for _, r := range record {
		want[r.Text] = r.Bytes
	}
	open, err := readOpen("rows-open.txt")
	if err != nil {
		return err
	}
	r := &truth.Runner{Device: dev, Host: host, Module: func(s string) (*backend.Module, error) { return driver.Describe("numerics", s, 90) }}
	p("\n## Against the card (sm_90)\n\nEverything else is compared bit for bit. A result passes if it is within the ulps or within the absolute difference.\n\n")
	p("| instruction | tolerated | why | spellings | values | same bits | largest difference |\n|---|---|---|---|---|---|---|\n")
	for _, g := range truth.Groups() {
		var d truth.Deviation
		n := 0
		for _, l := range lines {
			if !g.Has(l) || open.has(l.Text) {
				continue
			}
			got, err := r.Run(l)
			if err != nil {
				return fmt.Errorf("%s: %w", l.Text, err)
			}
			n++
			l.Deviation(&d, got, want[l.Text])
		}
		p("| `%s` | %s | %s | %d | %d | %.1f %% | %s |\n", g.Name, tolerated(g.Tolerance), g.Reason, n, d.Values, 100*float64(d.Same)/float64(max(d.Values, 1)), largest(g.Tolerance, d))
	}
	return nil
}

func tolerated(t truth.Tolerance) string {
	var parts []string
	if t.Ulp > 0 {
		parts = append(parts, fmt.Sprintf("%g ulp", t.Ulp))
	}
	if t.Abs > 0 {
		parts = append(parts, fmt.Sprintf("%.2g", t.Abs))
	}
	return strings.Join(parts, " or ")
}

// largest is the largest difference in the units that the tolerance is in.
func largest(t truth.Tolerance, d truth.Deviation) string {
	switch {
	case d.Same == d.Values:
		return "none"
	case t.Abs == 0:
		return fmt.Sprintf("%g ulp", d.Ulp)
	case t.Ulp == 0:
		return fmt.Sprintf("%.2g", d.Abs)
	}
	return fmt.Sprintf("%g ulp, %.2g", d.Ulp, d.Abs)
}
