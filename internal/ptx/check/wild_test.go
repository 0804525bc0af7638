package check

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestWild parses and checks every module in the directory named by KUDZU_WILD (make apps): nothing may be refused.
func TestWild(t *testing.T) {
	dir := os.Getenv("KUDZU_WILD")
	if dir == "" {
		t.Skip("KUDZU_WILD names no directory of PTX files")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.ptx"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no PTX in %s", dir)
	}
	bytes := 0
	var spent time.Duration
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		bytes += len(data)
		start := time.Now()
		_, err = Text(string(data))
		spent += time.Since(start)
		if err != nil {
			t.Errorf("%s: %.1000v", name, err)
		}
	}
	t.Logf("%d modules, %d MB: parse and check %.1f MB/s", len(files), bytes>>20, float64(bytes)/spent.Seconds()/1e6)
}
