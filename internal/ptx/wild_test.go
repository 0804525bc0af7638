package ptx

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestWild indexes and parses every module in the directory named by KUDZU_WILD: PTX of real programs, which is not ours to
// commit. It is opt-in (make apps).
func TestWild(t *testing.T) {
	dir := os.Getenv("KUDZU_WILD")
	if dir == "" {
		t.Skip("KUDZU_WILD names no directory of PTX files")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.ptx"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no PTX in %s", dir)
	}
	var bytes, insts, kernels int
	var indexing, parsing time.Duration
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		bytes += len(text)
		start := time.Now()
		x, err := IndexModule(text)
		indexing += time.Since(start)
		if err != nil {
			t.Errorf("%s: %.500v", name, err)
			continue
		}
		kernels += len(x.Kernels())
		if _, err := x.Vars(); err != nil {
			t.Errorf("%s: variables: %.500v", name, err)
		}
		start = time.Now()
		m, err := ParseModule(text)
		parsing += time.Since(start)
		if err != nil {
			t.Errorf("%s: %.1500v", name, err)
			continue
		}
		for _, f := range m.Funcs {
			if f.Body != nil {
				insts += len(f.Body.Insts)
			}
		}
		if ks := x.Kernels(); len(ks) > 0 {
			k := ks[len(ks)/2].Name
			if _, err := x.Check(k); err != nil {
				t.Errorf("%s: kernel %s: %.500v", name, k, err)
			}
		}
	}
	t.Logf("%d modules, %d kernels, %d instructions, %d MB: index %.0f MB/s, parse %.1f MB/s", len(files), kernels, insts, bytes>>20,
		float64(bytes)/indexing.Seconds()/1e6, float64(bytes)/parsing.Seconds()/1e6)
}
