package truth

import (
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"kudzu/internal/testkit"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/cuda"
)

var (
	recordFile = flag.String("record", "", "run every line on the real driver and write its answers to this file")
	recordEdge = flag.Bool("edges", false, "with -record: the lines of EdgeLines")
	childFrom  = flag.Int("from", -1, "of a recording child: the first line")
	rowsFile   = flag.String("rows", "../../../testdata/isa/rows.gz", "the recorded answers")
)

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
	lines := toRecord()
	results := map[string][]byte{}
	for from := 0; from < len(lines); {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRecord$", "-record="+*recordFile, fmt.Sprintf("-from=%d", from), fmt.Sprintf("-edges=%v", *recordEdge))
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

func toRecord() []*Line {
	if *recordEdge {
		return EdgeLines()
	}
	return Lines(spellings)
}

// recordFrom is the child: before each line it writes its number, after it the answer.
func recordFrom(t *testing.T, from int) {
	devs, err := cuda.New(cuda.Config{}).Open()
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{Device: devs[0], Host: testkit.NewHostPage(t, HostBytes), Module: func(s string) (*backend.Module, error) {
		return &backend.Module{Name: "truth", Text: s}, nil
	}}
	f, err := os.Create(*recordFile + ".part")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, l := range toRecord() {
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
