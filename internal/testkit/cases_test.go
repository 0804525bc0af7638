package testkit

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/cuda"
)

var (
	casesDir  = flag.String("cases", "../../testdata/cases", "where the case files are")
	recordDir = flag.String("record", "", "run on the real driver and write case files with its answers below this folder")
	viaDir    = flag.String("via", "", "of TestRecord: load what our compiler made of each module, from this folder (TestTranslate writes it)")
	onlyCase  = flag.String("only", "", "run this one case")
)

// TestRecord runs every case on a real NVIDIA driver. Without -record it compares with what was recorded, so that a new
// driver or card that answers otherwise is seen; with it, it writes the answers.
func TestRecord(t *testing.T) {
	b := cuda.New(cuda.Config{Through: Folder(*viaDir)})
	devs, err := b.Open()
	if err != nil {
		t.Skipf("no real driver: %v", err)
	}
	cases, err := Load(*casesDir)
	if err != nil {
		t.Fatal(err)
	}
	info := devs[0].Info()
	header := fmt.Sprintf("sm_%d%d %s", info.Major, info.Minor, info.Name)
	for _, c := range cases {
		name := caseName(c)
		if *onlyCase != "" && name != *onlyCase {
			continue
		}
		t.Run(name, func(t *testing.T) {
			// After a fault the real driver refuses everything until the process ends.
			if strings.HasPrefix(name, "fault/") && *onlyCase == "" {
				runAlone(t, name)
				return
			}
			if sm := info.Major*10 + info.Minor; sm < capability(c.PTX) {
				t.Skipf("the case is for sm_%d, this is sm_%d", capability(c.PTX), sm)
			}
			out, err := c.Execute(devs[0], plainModule)
			if err != nil && strings.Contains(err.Error(), "Unsupported .version") {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if *recordDir != "" {
				writeRecord(t, c, c.Record(header, out))
				for i, r := range c.Runs { // hand-written values must hold on hardware too
					r.Recorded, r.RecFault = out[i].Results, out[i].Fault
				}
			}
			compareAll(t, c, out)
		})
	}
}

func runAlone(t *testing.T, name string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestRecord$", "-cases="+*casesDir, "-record="+*recordDir, "-via="+*viaDir, "-only="+name)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func caseName(c *Case) string {
	rel, err := filepath.Rel(*casesDir, c.Path)
	if err != nil {
		return c.Path
	}
	return strings.TrimSuffix(rel, ".txtar")
}

func compareAll(t *testing.T, c *Case, out []*Outcome) {
	t.Helper()
	for i, r := range c.Runs {
		if err := r.Compare(out[i]); err != nil {
			t.Errorf("run %d: %s: %v", i+1, r.Line, err)
		}
	}
}

func writeRecord(t *testing.T, c *Case, text []byte) {
	t.Helper()
	rel, err := filepath.Rel(*casesDir, c.Path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(*recordDir, rel)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// plainModule is the module as text alone: the real driver reads PTX itself.
func plainModule(ptx string) (*backend.Module, error) {
	return &backend.Module{Name: "case", Text: ptx}, nil
}
