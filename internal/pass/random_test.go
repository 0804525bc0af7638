package pass

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"kudzu/internal/ir"
)

// randomTargets is where each block leads: mostly on, sometimes anywhere, some nowhere.
func randomTargets(r *rand.Rand, n int) [][]int {
	targets := make([][]int, n)
	for i := range n - 1 {
		for range 1 + r.Intn(2) {
			to := 1 + r.Intn(n-1)
			if r.Intn(3) > 0 {
				to = i + 1 + r.Intn(min(4, n-i-1))
			}
			targets[i] = append(targets[i], to)
		}
		if i > 0 && r.Intn(7) == 0 {
			targets[i] = nil
		}
	}
	return targets
}

// randomKernel is the text of a kernel with any graph: cycles of several entries, traps, barriers, ends, loops without an end. Every
// block has a number that comes to it in a phi, and goes one way or the other by it.
func randomKernel(r *rand.Rand, n int) string {
	targets := randomTargets(r, n)
	// The text must have no block that is not reached.
	place := map[int]int{0: 0}
	order := []int{0}
	for k := 0; k < len(order); k++ {
		for _, to := range targets[order[k]] {
			if _, ok := place[to]; !ok {
				place[to] = len(order)
				order = append(order, to)
			}
		}
	}
	preds := make([][]int, len(order))
	for k, i := range order {
		for j, to := range targets[i] {
			if j == 0 || to != targets[i][0] {
				preds[place[to]] = append(preds[place[to]], k)
			}
		}
	}
	var b strings.Builder
	b.WriteString("module \"k\" params=8\nfunc \"k\" kernel {\n")
	for k, i := range order {
		fmt.Fprintf(&b, "b%d:\n", k)
		v := 10 + 10*k
		if k == 0 {
			fmt.Fprintf(&b, "  %%0:i64 = param\n  %%%d:i32 = sreg tid.x\n", v)
		} else {
			fmt.Fprintf(&b, "  %%%d:i32 = phi", v)
			for j, p := range preds[k] {
				if j > 0 {
					b.WriteString(",")
				}
				fmt.Fprintf(&b, " [b%d %%%d]", p, 11+10*p)
			}
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "  %%%d:i32 = add %%%d, i32:%d\n", v+1, v, r.Intn(9))
		if r.Intn(6) == 0 {
			b.WriteString("  bar sync i32:0, i32:0\n")
		}
		if r.Intn(3) == 0 {
			fmt.Fprintf(&b, "  store global align=4 %%0, %%%d\n", v+1)
		}
		switch t := targets[i]; {
		case len(t) == 0 && k > 0 && r.Intn(2) == 0:
			b.WriteString("  trap stop=2\n")
		case len(t) == 0:
			b.WriteString("  exit\n")
		case len(t) == 1 || t[0] == t[1]:
			fmt.Fprintf(&b, "  br -> b%d\n", place[t[0]])
		default:
			fmt.Fprintf(&b, "  %%%d:i1 = icmp eq %%%d, i32:%d\n  condbr %%%d -> b%d, b%d\n", v+2, v+1, r.Intn(5), v+2, place[t[0]], place[t[1]])
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// TestAnyGraph: whatever the graph, no pass refuses it or leaves code that is wrong in form: for warps, for single threads, and with
// optional passes forced on and off.
func TestAnyGraph(t *testing.T) {
	irreducible, traps := 0, 0
	for seed := range int64(1500) {
		r := rand.New(rand.NewSource(seed))
		text := randomKernel(r, 3+r.Intn(20))
		m, err := ir.Read(text)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		m.Funcs[0].Rewire()
		if ir.Loops(m.Funcs[0], ir.Dominators(m.Funcs[0])).Irreducible {
			irreducible++
		}
		traps += strings.Count(text, "trap")
		cfg := Config{Block: [3]uint32{64, 1, 1}, Verify: true}
		switch seed % 3 {
		case 1:
			cfg = Config{Threads: true, Lockstep: true, Verify: true}
		case 2:
			cfg.Force = map[string]bool{}
			for _, p := range Forcible() {
				cfg.Force[p] = r.Intn(2) == 0
			}
		}
		if err := Run(m, cfg); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
	}
	if irreducible < 100 || traps < 500 {
		t.Errorf("only %d irreducible graphs and %d traps", irreducible, traps)
	}
}
