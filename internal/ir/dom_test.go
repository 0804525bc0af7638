package ir

import (
	"math/rand"
	"slices"
	"testing"
)

// randomGraph is a function of n blocks whose entry nobody goes to: edges forward, some back, some into the middle of others' loops, and
// blocks that nothing reaches or that never end.
func randomGraph(r *rand.Rand, n int) *Func {
	f := &Func{}
	for range n {
		f.NewBlock("")
	}
	back := r.Float64() / 2
	for i, b := range f.Blocks {
		to := func() *Block {
			if i+1 < n && r.Float64() >= back {
				return f.Blocks[i+1+r.Intn(min(n-i-1, 1+r.Intn(6)))]
			}
			return f.Blocks[1+r.Intn(n-1)]
		}
		in := f.NewInst(Exit, nil)
		switch k := r.Intn(10); {
		case i == n-1 || i > 0 && k == 0:
		case k < 4:
			in.Op, in.Targets = Br, []*Block{to()}
		case k < 9:
			in = f.NewInst(CondBr, nil, ConstInt(I1, 1))
			in.Targets = []*Block{to(), to()}
		default:
			in = f.NewInst(Switch, nil, ConstInt(I32, 0))
			in.Targets = []*Block{to(), to(), to()}
		}
		b.Append(in)
	}
	f.Rewire()
	return f
}

// reach is the blocks on ways from some over edges, without a step into one.
func reach(from []*Block, edges func(*Block) []*Block, without *Block) map[*Block]bool {
	seen := map[*Block]bool{}
	work := slices.Clone(from)
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if b != without && !seen[b] {
			seen[b] = true
			work = append(work, edges(b)...)
		}
	}
	return seen
}

func succs(b *Block) []*Block { return b.Succs() }
func preds(b *Block) []*Block { return b.Preds }

// TestDominators: a dominates b if b is not reached without a, and so of the reverse graph.
func TestDominators(t *testing.T) {
	for seed := range int64(600) {
		r := rand.New(rand.NewSource(seed))
		f := randomGraph(r, 2+r.Intn(24))
		dom, pdom := Dominators(f), PostDominators(f)
		start := f.Blocks[:1]
		live := reach(start, succs, nil)
		ends := endsOf(f)
		for _, a := range f.Blocks {
			most, least := reach(start, succs, a), reach(ends, preds, a)
			for _, b := range f.Blocks {
				if got, want := dom.Dominates(a, b), live[a] && live[b] && !most[b]; got != want {
					t.Fatalf("seed %d: b%d dominates b%d: %v\n%v", seed, a.ID, b.ID, got, f)
				}
				if !live[a] || !live[b] {
					continue
				}
				if got, want := pdom.Dominates(a, b), !least[b]; got != want {
					t.Fatalf("seed %d: b%d postdominates b%d: %v\n%v", seed, a.ID, b.ID, got, f)
				}
			}
		}
		checkIdoms(t, seed, f, live, dom)
		checkIdoms(t, seed, f, live, pdom)
		checkFrontiers(t, seed, f, dom)
	}
}

// endsOf are the blocks without successors, and a block of each region that has none.
func endsOf(f *Func) (ends []*Block) {
	for _, b := range f.PostOrder() {
		if len(b.Succs()) == 0 {
			ends = append(ends, b)
		}
	}
	for _, b := range f.PostOrder() {
		if !reach(ends, preds, nil)[b] {
			ends = append(ends, b)
		}
	}
	return ends
}

func checkIdoms(t *testing.T, seed int64, f *Func, live map[*Block]bool, tree *DomTree) {
	t.Helper()
	for b := range live {
		d := tree.Idom(b)
		for _, a := range f.Blocks {
			if strict := a != b && tree.Dominates(a, b); strict && (d == nil || !tree.Dominates(a, d)) || d == a && !strict {
				t.Fatalf("seed %d: the immediate dominator of b%d is not below b%d\n%v", seed, b.ID, a.ID, f)
			}
		}
	}
}

func checkFrontiers(t *testing.T, seed int64, f *Func, dom *DomTree) {
	t.Helper()
	order, _ := dom.Reachable()
	for x, list := range dom.Frontiers() {
		for y, b := range order {
			want := false
			for _, p := range b.Preds {
				want = want || dom.Dominates(order[x], p) && (b == order[x] || !dom.Dominates(order[x], b))
			}
			if n := len(list); slices.Contains(list, int32(y)) != want || n != len(slices.Compact(slices.Clone(list))) {
				t.Fatalf("seed %d: the frontier of b%d is %v\n%v", seed, order[x].ID, list, f)
			}
		}
	}
}

// TestLoops: a loop is what reaches a back edge to its header without the header; loops are nested or apart unless the graph is
// irreducible.
func TestLoops(t *testing.T) {
	for seed := range int64(600) {
		r := rand.New(rand.NewSource(seed))
		f := randomGraph(r, 2+r.Intn(24))
		dom := Dominators(f)
		li := Loops(f, dom)
		live := reach(f.Blocks[:1], succs, nil)
		headers := map[*Block]*Loop{}
		for _, l := range li.Loops {
			headers[l.Header] = l
		}
		for h := range live {
			var latches []*Block
			for _, p := range h.Preds {
				if live[p] && dom.Dominates(h, p) {
					latches = append(latches, p)
				}
			}
			l := headers[h]
			if (len(latches) > 0) != (l != nil) {
				t.Fatalf("seed %d: b%d is a header: %v\n%v", seed, h.ID, l != nil, f)
			}
			if l == nil {
				continue
			}
			in := reach(latches, func(b *Block) []*Block {
				return slices.DeleteFunc(slices.Clone(b.Preds), func(p *Block) bool { return !live[p] })
			}, h)
			in[h] = true
			checkLoop(t, seed, li, l, live, in)
		}
	}
}

// checkLoop compares a loop with the blocks that are in it.
func checkLoop(t *testing.T, seed int64, li *LoopInfo, l *Loop, live, in map[*Block]bool) {
	t.Helper()
	f, h := l.Header.Func, l.Header
	for b := range live {
		if l.Contains(b) != in[b] && !li.Irreducible {
			t.Fatalf("seed %d: b%d is in the loop of b%d: %v\n%v", seed, b.ID, h.ID, !in[b], f)
		}
		if slices.Contains(l.Blocks, b) != in[b] {
			t.Fatalf("seed %d: b%d is listed in the loop of b%d: %v\n%v", seed, b.ID, h.ID, !in[b], f)
		}
		leaves := false
		for _, p := range b.Preds {
			leaves = leaves || in[p] && !in[b]
		}
		if slices.Contains(l.Exits, b) != leaves {
			t.Fatalf("seed %d: b%d is an exit of the loop of b%d: %v\n%v", seed, b.ID, h.ID, !leaves, f)
		}
	}
}
