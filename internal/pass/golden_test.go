package pass

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"kudzu/internal/ir"
)

var update = flag.Bool("update", false, "write want.ir from what the passes give")

// TestGolden runs the passes that a file's first lines name ("passes: structure, linearize", "block: 256 1 1") on in.ir and
// compares with want.ir. The folder is named after the last pass.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	covered := map[string]bool{}
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, "testdata/"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := golden(t, a, covered)
			if *update {
				a.Files = []txtar.File{a.Files[0], {Name: "want.ir", Data: []byte(got)}}
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(a.Files) != 2 || string(a.Files[1].Data) != got {
				t.Errorf("differs from want.ir (-update writes it):\n%s", got)
			}
		})
	}
	for _, p := range passes {
		if name := strings.TrimRight(p.Name, " 0123456789"); !covered[name] {
			t.Errorf("pass %s has no file in testdata", name)
		}
	}
}

func golden(t *testing.T, a *txtar.Archive, covered map[string]bool) string {
	t.Helper()
	m, err := ir.Read(string(a.Files[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	st := &state{m: m, f: m.Funcs[0], cfg: Config{Lockstep: true, Verify: true}}
	m.Width = 32
	var run []string
	for _, line := range strings.Split(string(a.Comment), "\n") {
		if s, ok := strings.CutPrefix(line, "passes: "); ok {
			run = strings.Split(s, ", ")
		}
		if s, ok := strings.CutPrefix(line, "block: "); ok {
			n := &st.cfg.Block
			if _, err := fmt.Sscan(s, &n[0], &n[1], &n[2]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range run {
		found := false
		for _, p := range passes {
			if p.Name == name {
				found = true
				if err := st.run(&p); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !found {
			t.Fatalf("no pass %q", name)
		}
		covered[name] = true
	}
	s := m.String()
	if f := m.Funcs[0]; f.Regions != nil {
		s += fmt.Sprintf("; regions, per warp: %v\n", f.Regions.PerWarp)
		for i, p := range f.Regions.Points {
			s += fmt.Sprintf("; %d: goes on at b%d, keeps", i+1, p.Next.ID)
			for _, v := range p.Live {
				s += " " + v.String()
			}
			s += "\n"
		}
	}
	if m.Width != 32 {
		s += fmt.Sprintf("; width %d\n", m.Width)
	}
	if m.Jam > 1 {
		s += fmt.Sprintf("; %d warps jammed\n", m.Jam)
	}
	return s
}
