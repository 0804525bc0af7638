package progen

import (
	"flag"
	"fmt"
	"testing"

	"kudzu/internal/lower"
	"kudzu/internal/pass"
	"kudzu/internal/ptx"
)

var regulars = flag.Int("regulars", 60, "how many regular programs TestRegularPasses has")

// TestRegularPasses verifies what each pass makes of regular programs, and that each optional pass has made something of one of them: random
// programs on which nothing is tried compare nothing. Reroll has programs of its own (walk.go).
func TestRegularPasses(t *testing.T) {
	fires := map[string]int{"reroll": 1}
	for i := range *regulars {
		seed := uint64(3 * i)
		p := New(catalog(), seed)
		m, err := ptx.ParseModule(p.Text())
		if err != nil {
			t.Fatal(err)
		}
		run := func(force map[string]bool) string {
			k, err := lower.Kernel(m, "k", lower.Options{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if err := pass.Run(k, pass.Config{Block: p.Block, Force: force, Verify: true}); err != nil {
				t.Errorf("seed %d, %v: %v", seed, force, err)
			}
			return fmt.Sprint(k.Width, k.Jam, k)
		}
		usual := run(nil)
		for _, name := range pass.Forcible() {
			if run(map[string]bool{name: false}) != usual {
				fires[name]++
			}
		}
	}
	for _, name := range pass.Forcible() {
		if name != "width" && fires[name] == 0 { // none of these programs runs thread by thread
			t.Errorf("%s does nothing in %d programs", name, *regulars)
		}
	}
	t.Log(fires)
}
