package pass

import (
	"fmt"
	"strings"
	"testing"

	"kudzu/internal/ir"
)

// TestTooLarge: a kernel of more operations than are worth masks runs its lanes one by one, unless it has matrices.
func TestTooLarge(t *testing.T) {
	for _, c := range []struct{ ops, width int }{{mostMasked - 10, 32}, {mostMasked + 10, 1}} {
		var b strings.Builder
		b.WriteString("module \"k\" params=8\nfunc \"k\" kernel {\nb0:\n  %0:i64 = param\n  %1:i32 = sreg tid.x\n")
		for i := range c.ops - 4 {
			fmt.Fprintf(&b, "  %%%d:i32 = mul %%%d, %%1\n", i+2, i+1)
		}
		fmt.Fprintf(&b, "  store global align=4 %%0, %%%d\n  exit\n}\n", c.ops-3)
		m, err := ir.Read(b.String())
		if err != nil {
			t.Fatal(err)
		}
		st := &state{m: m, f: m.Funcs[0]}
		if err := width(st); err != nil || st.m.Width != c.width {
			t.Errorf("%d operations: width %d, %v", c.ops, st.m.Width, err)
		}
	}
}
