package lower

import (
	"errors"
	"math/rand"
	"testing"

	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/testkit"
)

// Bodies with their instructions in any order, labels anywhere and guards on anything are wild control flow with right types:
// every instruction for itself is what the checker let through. All must become IR that verifies.
func TestScrambled(t *testing.T) {
	cases, err := testkit.Load("../../testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	lowered := 0
	for n, c := range cases {
		r := rand.New(rand.NewSource(int64(n)))
		for range rounds {
			m, err := ptx.ParseModule(c.PTX)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range m.Funcs {
				if f.Body != nil {
					scramble(r, f.Body)
				}
			}
			for _, f := range m.Funcs {
				if f.Kind != ptx.Entry || f.Body == nil {
					continue
				}
				mod, err := Kernel(m, f.Name, Options{})
				if u := (*Unsupported)(nil); errors.As(err, &u) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				lowered++
				if err := ir.Verify(mod); err != nil {
					t.Fatalf("%s %s: %v", c.Path, f.Name, err)
				}
			}
		}
	}
	t.Logf("%d bodies", lowered)
}

func scramble(r *rand.Rand, b *ptx.Body) {
	r.Shuffle(len(b.Insts), func(i, j int) { b.Insts[i], b.Insts[j] = b.Insts[j], b.Insts[i] })
	var preds []int32
	for i, reg := range b.Regs {
		if reg.Type == isa.Pred {
			preds = append(preds, int32(i))
		}
	}
	for i := range b.Insts {
		in := &b.Insts[i]
		in.Pred = -1
		if len(preds) > 0 && r.Intn(3) == 0 {
			in.Pred, in.Not = preds[r.Intn(len(preds))], r.Intn(2) == 0
		}
	}
	// More branches, to anywhere.
	if len(b.Labels) > 0 {
		for i := range b.Insts {
			if b.Insts[i].Op() == isa.Bra {
				for range 3 {
					j := r.Intn(len(b.Insts))
					guard, not := b.Insts[j].Pred, b.Insts[j].Not
					b.Insts[j] = b.Insts[i]
					b.Insts[j].Args = append([]ptx.Operand(nil), b.Insts[i].Args...)
					b.Insts[j].Args[0].Label = int32(r.Intn(len(b.Labels)))
					b.Insts[j].Pred, b.Insts[j].Not = guard, not
				}
				break
			}
		}
	}
	for i := range b.Labels {
		b.Labels[i].Inst = int32(r.Intn(len(b.Insts) + 1))
	}
}
