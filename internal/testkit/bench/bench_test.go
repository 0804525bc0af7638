package main

import (
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/ptx"
)

func sample() results {
	ok := func(name string, gcc, clang, kudzu, pocl float64) row {
		return row{Name: name, What: "a problem", Module: "m", GCC: gcc, Clang: clang, Kudzu: kudzu, PoCL: pocl, KudzuOK: true, PoCLOK: pocl > 0}
	}
	wrong := ok("wrong", 1, 1, 1, 1)
	wrong.KudzuOK = false
	added := ok("added", 3, 3, 2, 0)
	added.Group, added.Baseline, added.BaselineOK, added.GCCCPU, added.KudzuCPU = programGroup, 8, true, 5, 4
	return results{
		Suite:  rowsFile{Threads: 2, Reps: 7, Rows: []row{ok("fast", 8, 4, 1, 16), ok("even", 2, 3, 2, 1), ok("slow", 0, 1, 4, 0), wrong, added}},
		Launch: []figure{{"quick", 1, "us", 2}, {"late", 3, "ms", 2}, {"free", 9, "MB", 0}},
		Compile: &compileTimes{PTXAS: "ptxas 1", PTXASStart: 1, Kernels: []kernelTime{
			{Kernel: "a", Set: "bench", Kudzu: 3, PTXAS: 2}, {Kernel: "b", Set: "bench", Kudzu: 9, PTXAS: 2}, {Kernel: "c", Set: "bench", Kudzu: 2, PTXAS: 2},
			{Kernel: "d", Set: "bench", MMA: true, Kudzu: 8, First: 20, PTXAS: 2}, {Kernel: "e", Set: "bench", Error: "no"}}},
	}
}

func TestScore(t *testing.T) {
	rows := sample().Suite.Rows
	s := scoreOf(inGroup(rows, coreGroup))
	if s.rows != 3 || s.wrong != 1 || s.poclRows != 2 || s.tierRows != 0 {
		t.Errorf("counts: %+v", s)
	}
	if math.Abs(s.native-1) > 1e-9 || s.median != 1 { // 4, 1 and 1/4
		t.Errorf("geomean %v, median %v, want 1 and 1", s.native, s.median)
	}
	if want := math.Cbrt(0.5); math.Abs(s.capped-want) > 1e-9 { // 2, 1 and 1/4
		t.Errorf("capped geomean %v, want %v", s.capped, want)
	}
	if math.Abs(s.pocl-math.Sqrt(8)) > 1e-9 || !slices.Equal(s.underPoCL, []string{"even 0.50"}) {
		t.Errorf("PoCL: %v, under 1: %v", s.pocl, s.underPoCL)
	}
	if !slices.Equal(s.under, []string{"slow 0.25"}) {
		t.Errorf("under 0.7: %v", s.under)
	}
	if s := scoreOf(inGroup(rows, programGroup)); s.rows != 1 || s.tierRows != 1 || s.tier != 0.25 || s.median != 1.5 {
		t.Errorf("the other group: %+v", s)
	}
}

func TestVerdict(t *testing.T) {
	r := sample()
	text := r.verdict()
	for _, want := range []string{"**missed**: 4 of 5 rows", "- met: core, 3 rows: median 1.00", "**missed**: core: geomean 0.79 of native", "- met: programs, 1 rows: median 1.50",
		"**missed**: core: rows under 0.7 of native: slow 0.25", "- met: baseline code: 0.25 of", "- met: quick: 1 us", "**missed**: late: 3 ms",
		"**missed**: optimised code, cold compile, bench: median 1.50", "**missed**: optimised code, cold compile, bench, with mma: median 4.00",
		"- met: first launch, bench, with mma: 100 % of 1 kernels"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "free") {
		t.Error("a figure without target is judged")
	}
}

// Pages have lines that fit, however many rows are slow.
func TestItem(t *testing.T) {
	text := item(strings.Repeat("a row 0.25, ", 30))
	for line := range strings.Lines(text) {
		if n := len(strings.TrimSuffix(line, "\n")); n > pageWidth || n < 2 {
			t.Errorf("%d characters: %q", n, line)
		}
	}
	if !strings.HasPrefix(text, "- a row") || strings.Count(text, "a row")+strings.Count(text, "a\n  row") != 30 {
		t.Errorf("%q", text)
	}
}

func TestBaselineMerged(t *testing.T) {
	f := rowsFile{Rows: []row{{Name: "a", Kudzu: 1}, {Name: "b", Kudzu: 2}}}
	f.addBaseline([]row{{Name: "b", Kudzu: 8, KudzuOK: true}, {Name: "c", Kudzu: 1}})
	if b := &f.Rows[1]; b.baseline() != 0.25 || !b.BaselineOK || f.Rows[0].baseline() != 0 {
		t.Errorf("%+v", f.Rows)
	}
}

func TestChartIsXML(t *testing.T) {
	r := sample()
	d := xml.NewDecoder(strings.NewReader(chart(r.Suite.Rows)))
	bars := 0
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "circle" {
			bars++
		}
	}
	if bars != 4 { // three rows with PoCL and the legend
		t.Errorf("%d dots, want 4", bars)
	}
}

func TestScaling(t *testing.T) {
	run := func(threads int, scale float64) rowsFile {
		return rowsFile{Threads: threads, Rows: []row{
			{Name: "saxpy", Bytes: 80e6, GCC: 2 / scale, Kudzu: 2 / scale}, {Name: "triad", Bytes: 80e6, GCC: 1.6 / scale, Kudzu: 3 / scale}}}
	}
	text := (&scaling{Runs: []rowsFile{run(1, 1), run(16, 12)}}).markdown()
	for _, want := range []string{"| saxpy | 2.00 | 1.0 | 0.17 | 12.0 | 12.0 |", "16 threads: saxpy 480.0 GB/s, STREAM triad (native) 600.0 GB/s: 80 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

var update = flag.Bool("update", false, "write the pages in docs/bench of the figures that lie there")

// TestPagesInStep: the pages in docs/bench are what the report makes of the figures that lie with them.
func TestPagesInStep(t *testing.T) {
	var r results
	var s scaling
	for name, page := range map[string]struct {
		figures any
		text    func() string
	}{"results": {&r, r.markdown}, "scaling": {&s, s.markdown}} {
		base := "../../../docs/bench/" + name
		if err := readJSON(base+".json", page.figures); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(base+".md", []byte(page.text()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(base + ".md"); err != nil || string(got) != page.text() {
			t.Errorf("%s.md is not what the report writes (%v): go test ./internal/testkit/bench -run TestPagesInStep -update", base, err)
		}
	}
}

// TestKernelsInStep: every module's PTX is there, is valid, and has the kernels that its CUDA text has.
func TestKernelsInStep(t *testing.T) {
	files, err := filepath.Glob("../../../bench/kernels/*.cu")
	if err != nil || len(files) == 0 {
		t.Fatalf("no bench kernels: %v", err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(strings.TrimSuffix(file, ".cu") + ".ptx")
		if err != nil {
			t.Fatal(err)
		}
		x, err := ptx.IndexModule(string(text))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for line := range strings.Lines(string(source)) {
			name, ok := strings.CutPrefix(strings.TrimSpace(line), "KERNEL ")
			if name, _, _ = strings.Cut(name, "("); !ok || strings.Contains(name, "#") {
				continue
			}
			if x.Func(name) == nil {
				t.Errorf("%s: the PTX has no kernel %s: scripts/bench.sh -ptx", file, name)
			}
		}
	}
}

func TestVersus(t *testing.T) {
	dir := t.TempDir()
	write := func(name, row string, ms float64, ok bool) {
		text := fmt.Sprintf(`{"rows": [{"row": %q, "kudzu_ms": %g, "kudzu_ok": %v}]}`, row, ms, ok)
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("first-1", "a", 4, true)
	write("first-2", "a", 9, true) // disturbed
	write("first-3", "a", 3, true)
	write("second-3", "a", 2, true)
	write("first-4", "b", 1, true)
	if _, err := readPairs(dir); err == nil {
		t.Error("a row of one side only was taken")
	}
	write("second-5", "b", 1.05, false)
	pairs, err := readPairs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(pairs) != 2 || pairs[0].ratio() != 2 {
		t.Fatalf("%d pairs, the first %v", len(pairs), pairs[0].ratio())
	}
	var b strings.Builder
	if err := printPairs(&b, pairs); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"faster", "second WRONG", "2.000", "0.952", "geomean of 2 rows: 1.3801", "1 rows beyond 10 %"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}
