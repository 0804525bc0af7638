package lower

import (
	"testing"

	"kudzu/internal/ir"
	"kudzu/internal/ptx"
)

// Where a thread may speak for its warpgroup, the four warps wait for each other; else they need not.
func TestWarpgroupWaits(t *testing.T) {
	const head, wait = ".version 8.0\n.target sm_90a\n.address_size 64\n.entry k() {\n.shared .align 8 .b8 b[8];\n.reg .b64 %s;\n", "wgmma.wait_group.sync.aligned 1;\n"
	const arrive = "mbarrier.arrive.shared.b64 %s, [b];\n"
	for text, want := range map[string]int{head + wait + "}\n": 0, head + wait + arrive + "}\n": 1} {
		m, err := ptx.ParseModule(text)
		if err != nil {
			t.Fatal(err)
		}
		out, err := Kernel(m, "k", Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, b := range out.Funcs[0].Blocks {
			for _, in := range b.Insts {
				if in.Op == ir.Bar && in.Args[0].Bits == ir.BarWarpgroup && in.Args[1].Bits == 128 {
					n++
				}
			}
		}
		if n != want {
			t.Errorf("%d barriers, want %d:\n%s", n, want, text)
		}
	}
}
