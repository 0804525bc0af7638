package pass

import (
	"fmt"
	"strings"
	"testing"

	"kudzu/internal/ir"
)

// TestLiveAcrossCalls: values that a kernel keeps while it calls a function get a phi where the function begins, not one at each of its
// joins: a kernel of Cycles had 1.6 million of those.
func TestLiveAcrossCalls(t *testing.T) {
	const live, joins = 20, 50
	var b strings.Builder
	b.WriteString("module \"k\" params=8\nfunc \"k\" kernel {\nb0:\n  %0:i64 = param\n  %1:i64 = localaddr\n  %2:i32 = sreg tid.x\n")
	b.WriteString("  %3:i1 = icmp eq %2, i32:1\n  condbr %3 -> b1, b2\n")
	b.WriteString("b1:\n  %4:i32 = call sym=\"f\" %1, %2\n  store global align=4 %0, %4\n  exit\nb2:\n")
	for i := range live {
		fmt.Fprintf(&b, "  %%%d:i32 = load global align=4 %%0\n", i+5)
	}
	fmt.Fprintf(&b, "  %%%d:i32 = call sym=\"f\" %%1, %%2\n  store global align=4 %%0, %%%[1]d\n", live+5)
	for i := range live {
		fmt.Fprintf(&b, "  store global align=4 %%0, %%%d\n", i+5)
	}
	b.WriteString("  exit\n}\nfunc \"f\" (%0:i64, %1:i32) -> i32 {\nb0:\n  %2:i1 = icmp eq %1, i32:1\n  br -> b1\n")
	for i := range joins {
		fmt.Fprintf(&b, "b%d:\n  condbr %%2 -> b%d, b%d\nb%d:\n  br -> b%d\n", 2*i+1, 2*i+2, 2*i+3, 2*i+2, 2*i+3)
	}
	fmt.Fprintf(&b, "b%d:\n  ret %%1\n}\n", 2*joins+1)
	m, err := ir.Read(b.String())
	if err != nil {
		t.Fatal(err)
	}
	st := &state{m: m, f: m.Funcs[0], cfg: Config{Verify: true}}
	for i := range passes {
		if passes[i].Name == "calls" {
			err = st.run(&passes[i])
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	phis := 0
	for _, block := range st.f.Blocks {
		phis += numPhis(block)
	}
	if most := live + 3 + 3 + 2*2; phis < live || phis > most {
		t.Errorf("%d phis, at most %d are needed", phis, most)
	}
}
