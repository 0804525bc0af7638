package lower

import (
	"errors"
	"os"
	"path/filepath"
	"sort"
	"testing"
	"time"

	"kudzu/internal/ir"
	"kudzu/internal/ptx"
)

// TestWild lowers every kernel of the modules in the directory named by KUDZU_WILD: PTX of real programs, which is not ours
// to commit. It is opt-in (make apps), and prints what could not be lowered and why.
func TestWild(t *testing.T) {
	dir := os.Getenv("KUDZU_WILD")
	if dir == "" {
		t.Skip("KUDZU_WILD names no directory of PTX files")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.ptx"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no PTX in %s", dir)
	}
	reasons := map[string]int{}
	kernels, insts, out := 0, 0, 0
	var spent time.Duration
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ptx.ParseModule(string(data))
		if err != nil {
			t.Errorf("%s: %.300v", name, err)
			continue
		}
		for _, f := range m.Funcs {
			if f.Kind != ptx.Entry || f.Body == nil {
				continue
			}
			kernels++
			insts += len(f.Body.Insts)
			start := time.Now()
			mod, err := Kernel(m, f.Name, Options{})
			spent += time.Since(start)
			if u := (*Unsupported)(nil); errors.As(err, &u) {
				reasons[u.What]++
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			for _, b := range mod.Funcs[0].Blocks {
				out += len(b.Insts)
			}
			if err := ir.Verify(mod); err != nil {
				t.Errorf("%s: %s: %.1000v", name, f.Name, err)
			}
		}
	}
	t.Logf("%d kernels, %d PTX instructions, %d IR instructions, lowered in %v", kernels, insts, out, spent)
	var all []string
	for r := range reasons {
		all = append(all, r)
	}
	sort.Slice(all, func(i, j int) bool { return reasons[all[i]] > reasons[all[j]] })
	for _, r := range all {
		t.Logf("%6d %s", reasons[r], r)
	}
}
