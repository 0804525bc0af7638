package examples

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kudzu/internal/backend/compare"
)

// TestExamplesCompared runs the small forms with each launch compared with the interpreter: whole programs, through the C libraries.
func TestExamplesCompared(t *testing.T) {
	kz := kudzu(t)
	dirs, err := filepath.Glob("*/kernel.cu")
	if err != nil || len(dirs) < 6 {
		t.Fatalf("%d examples: %v", len(dirs), err)
	}
	for _, d := range dirs {
		name := filepath.Dir(d)
		t.Run(name, func(t *testing.T) {
			prog, err := filepath.Abs(filepath.Join(root, ".build/examples", name))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(prog); err != nil {
				t.Skip("examples are not built: make examples")
			}
			report := filepath.Join(t.TempDir(), "report")
			cmd := exec.Command(kz, "run", "--", prog, t.TempDir())
			cmd.Env = append(os.Environ(), "KUDZU_EXAMPLE_SMALL=1", "KUDZU_COMPARE=launches=1,seconds=120", "KUDZU_COMPARE_REPORT="+report)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			f, err := os.Open(report)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			n := 0
			for s := bufio.NewScanner(f); s.Scan(); n++ {
				var l compare.Line
				if err := json.Unmarshal(s.Bytes(), &l); err != nil {
					t.Fatal(err)
				}
				if l.Outcome != compare.Same || l.Touched == 0 {
					t.Errorf("%s", s.Bytes())
				}
			}
			if n == 0 {
				t.Error("no launch was compared")
			}
		})
	}
}
