package truth

import (
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/cuda"
	"kudzu/internal/backend/interp"
	"kudzu/internal/driver"
)

var (
	recordFile = flag.String("record", "", "run every line on the real driver and write its answers to this file")
	openFile   = flag.String("open", "../../../testdata/isa/rows-open.txt", "known differences, with reasons")
	childFrom  = flag.Int("from", -1, "of a recording child: the first line")
	rowsFile   = flag.String("rows", "../../../testdata/isa/rows.gz", "the recorded answers")
)

// spellings bounds the lines of one form.
const spellings = 24

// TestRecord runs every line on a real GPU and writes its answers. The vendor's compiler dies on a few lines and a fault
// ends all work of a process, so lines run in a child; when it dies the next child begins behind the guilty line.
func TestRecord(t *testing.T) {
	if *recordFile == "" {
		t.Skip("-record is not given")
	}
	if *childFrom >= 0 {
		recordFrom(t, *childFrom)
		return
	}
	lines := Lines(spellings)
	results := map[string][]byte{}
	for from := 0; from < len(lines); {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRecord$", "-record="+*recordFile, fmt.Sprintf("-from=%d", from))
		out, err := cmd.CombinedOutput()
		next := len(lines)
		b, readErr := os.ReadFile(*recordFile + ".part")
		if readErr != nil {
			t.Fatalf("%v\n%s", readErr, out)
		}
		for _, row := range strings.Split(strings.TrimSpace(string(b)), "\n") {
			i, v, _ := strings.Cut(row, " ")
			n, e := strconv.Atoi(i)
			if e != nil || n >= len(lines) {
				t.Fatalf("row %q", row)
			}
			next = n + 1
			if data, e := base64.StdEncoding.DecodeString(v); e == nil && v != "" {
				results[lines[n].Text] = data
			}
		}
		if err != nil {
			t.Logf("died at %s", lines[next-1].Text)
		}
		from = next
	}
	t.Logf("%d lines, %d answered: %v", len(lines), len(results), Chapters(lines))
	f, err := os.Create(*recordFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(f, lines, results); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(*recordFile + ".part")
}

// recordFrom is the child: before each line it writes its number, after it the answer.
func recordFrom(t *testing.T, from int) {
	devs, err := cuda.New().Open()
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{Device: devs[0], Host: newHostPage(t), Module: func(s string) (*backend.Module, error) {
		return &backend.Module{Name: "truth", Text: s}, nil
	}}
	f, err := os.Create(*recordFile + ".part")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, l := range Lines(spellings) {
		if i < from {
			continue
		}
		fmt.Fprintf(f, "%d ", i)
		b, err := r.Run(l)
		var jit *cuda.JITError
		if err != nil && !errors.As(err, &jit) {
			t.Fatalf("%s: %v", l.Text, err)
		}
		fmt.Fprintln(f, base64.StdEncoding.EncodeToString(b))
	}
}

// TestInterp compares the interpreter with the recorded answers.
func TestInterp(t *testing.T) { compare(t, interp.New(interp.Config{})) }

func compare(t *testing.T, b backend.Backend) {
	want, err := Read(*rowsFile)
	if err != nil {
		t.Fatal(err)
	}
	devs, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{Device: devs[0], Host: newHostPage(t), Module: func(s string) (*backend.Module, error) { return driver.Describe("truth", s, targetSM) }}
	open := readOpen(t)
	agree, rows, bad := 0, 0, 0
	for _, l := range Lines(spellings) {
		w, ok := want[l.Text]
		if !ok {
			continue
		}
		rows += Lanes
		got, err := r.Run(l)
		problem := ""
		if err != nil {
			problem = err.Error()
		} else if d := l.Diff(got, w); len(d) > 0 {
			agree += Lanes - min(len(d), Lanes)
			problem = fmt.Sprintf("%d differences, lane %d %s = %#x, hardware %#x", len(d), d[0].Lane, d[0].What, d[0].Got, d[0].Want)
		} else {
			agree += Lanes
			continue
		}
		if open.allows(l.Text) {
			continue
		}
		if bad++; bad <= 60 {
			t.Errorf("%s: %s: %s", l.Chapter, l.Text, problem)
		}
	}
	t.Logf("%s: %d of %d rows agree, %d lines differ that are not listed", b.Name(), agree, rows, bad)
	const least = 20000
	if agree < least {
		t.Errorf("%d rows agree, at least %d are wanted", agree, least)
	}
	for p, n := range open {
		if n == 0 {
			t.Errorf("%s: nothing that begins with %q differs any more: take it off the list", *openFile, p)
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

// readOpen reads the list of known differences: a beginning of a line, a tab, the reason.
func readOpen(t *testing.T) openList {
	t.Helper()
	b, err := os.ReadFile(*openFile)
	if err != nil {
		t.Fatal(err)
	}
	list := openList{}
	for _, line := range strings.Split(string(b), "\n") {
		if p, why, ok := strings.Cut(line, "\t"); ok && line[0] != '#' {
			if why == "" {
				t.Errorf("%s: %q has no reason", *openFile, p)
			}
			list[p] = 0
		}
	}
	return list
}
