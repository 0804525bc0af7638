package truth

import (
	"os"
	"testing"

	"kudzu/internal/backend/interp"
	"kudzu/internal/compile"
)

// recordedEdges are the lines of EdgeLines that were recorded, and what each gave.
func recordedEdges(t *testing.T) ([]*Line, map[string][]byte) {
	t.Helper()
	record, err := Read(isaDir + "rows-edges.gz")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := RecordedEdges(record)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{}
	for _, r := range record {
		want[r.Text] = r.Bytes
	}
	return lines, want
}

// TestEdgesInterp compares the interpreter with a card on edge values in atomics and matrix products.
func TestEdgesInterp(t *testing.T) {
	lines, want := recordedEdges(t)
	comparison{backend: interp.New(interp.Config{}), batch: 1, workers: 1, open: isaDir + "edges-open.txt"}.against(t, lines, want)
}

// TestEdgesCPU does the same with compiled kernels; KUDZU_FULL=1 takes all lines.
func TestEdgesCPU(t *testing.T) {
	lines, want := recordedEdges(t)
	c := compiledFor(t, compile.Target{})
	c.open = isaDir + "edges-open-cpu.txt"
	if os.Getenv("KUDZU_FULL") == "" {
		c.sample = 1
	}
	c.against(t, lines, want)
}
