package pass

import (
	"fmt"
	"strings"
	"testing"

	"kudzu/internal/ir"
)

// TestTooLarge: a kernel of more operations and branches than are worth masks runs its lanes one by one. One that is only long does not.
func TestTooLarge(t *testing.T) {
	for _, c := range []struct{ ops, branches, width int }{{mostMasked + 10, 0, 32}, {mostMasked - 8000, mostApart + 1, 32}, {mostMasked + 10, mostApart + 1, 1}} {
		var b strings.Builder
		b.WriteString("module \"k\" params=8\nfunc \"k\" kernel {\nb0:\n  %0:i64 = param\n  %1:i32 = sreg tid.x\n")
		v := 1
		for range c.ops {
			fmt.Fprintf(&b, "  %%%d:i32 = mul %%%d, %%1\n", v+1, v)
			v++
		}
		fmt.Fprintf(&b, "  store global align=4 %%0, %%%d\n", v)
		for i := range c.branches {
			fmt.Fprintf(&b, "  %%%d:i1 = icmp eq %%1, i32:%d\n  condbr %%%d -> b%d, b%d\n", v+1, i, v+1, 2*i+1, 2*i+2)
			fmt.Fprintf(&b, "b%d:\n  store global align=4 %%0, %%1\n  br -> b%d\nb%d:\n", 2*i+1, 2*i+2, 2*i+2)
			v++
		}
		b.WriteString("  exit\n}\n")
		m, err := ir.Read(b.String())
		if err != nil {
			t.Fatal(err)
		}
		st := &state{m: m, f: m.Funcs[0]}
		if err := width(st); err != nil || st.m.Width != c.width {
			t.Errorf("%d operations, %d branches: width %d, %v", c.ops, c.branches, st.m.Width, err)
		}
	}
}
