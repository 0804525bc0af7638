package pass

import (
	"math/rand"
	"slices"
	"testing"

	"kudzu/internal/ir"
)

// randomNest has loops in loops, each from its header to the last block: -1 for blocks that are no headers.
func randomNest(r *rand.Rand, n int) []int {
	last := slices.Repeat([]int{-1}, n)
	open := []int{}
	for i := range n {
		for len(open) > 0 && last[open[len(open)-1]] < i {
			open = open[:len(open)-1]
		}
		if i > 0 && i+1 < n && r.Intn(4) == 0 {
			end := n - 2
			if len(open) > 0 {
				end = last[open[len(open)-1]]
			}
			if end >= i {
				last[i] = i + r.Intn(end-i+1)
				open = append(open, i)
			}
		}
	}
	return last
}

// inLoop reports that h is a header and b in its loop.
func inLoop(last []int, h, b int) bool { return last[h] >= 0 && b >= h && b <= last[h] }

// throughHeaders is where an edge between two blocks leads that enters loops by their headers.
func throughHeaders(last []int, from, to int) int {
	for changed := true; changed; {
		changed = false
		for h := range last {
			if inLoop(last, h, to) && to != h && !inLoop(last, h, from) {
				to, changed = h, true
			}
		}
	}
	return to
}

// randomLoops is a reducible graph: loops in loops with several ways out and back, and branches that skip parts.
func randomLoops(r *rand.Rand, n int) *ir.Func {
	f := &ir.Func{}
	for range n {
		f.NewBlock("")
	}
	last := randomNest(r, n)
	for i, b := range f.Blocks {
		if i == n-1 {
			setTerm(f, b, ir.Exit, nil)
			continue
		}
		var targets []*ir.Block
		for range 1 + r.Intn(2) + r.Intn(8)/7 {
			to := i + 1
			if r.Intn(2) == 0 {
				to = i + 1 + r.Intn(n-i-1)
			}
			targets = append(targets, f.Blocks[throughHeaders(last, i, to)])
		}
		for h := range n {
			if inLoop(last, h, i) && (i == last[h] || r.Intn(8) == 0) {
				targets = append(targets, f.Blocks[h])
				break
			}
		}
		op, args := ir.Br, []*ir.Value(nil)
		if len(targets) == 2 {
			op, args = ir.CondBr, []*ir.Value{ir.ConstInt(ir.I1, 1)}
		} else if len(targets) > 2 {
			op, args = ir.Switch, []*ir.Value{ir.ConstInt(ir.I32, 0)}
		}
		setTerm(f, b, op, args, targets...)
	}
	prune(f)
	f.Rewire()
	return f
}

// plainDivergence is what shapeAnalysis.spread finds, with a label for every block instead of the dominance frontiers.
type plainDivergence struct {
	a             *shapeAnalysis
	varying, warp map[*ir.Block]bool
	divergent     map[*ir.Loop]bool
	left          map[*ir.Loop]uint8
}

func (p *plainDivergence) mark(b *ir.Block, level uint8) {
	p.warp[b] = true
	if level == 2 {
		p.varying[b] = true
	}
}

func (p *plainDivergence) spread(starts []*ir.Block, from int, in *ir.Loop, level uint8) {
	label, back := map[*ir.Block]*ir.Block{}, map[*ir.Block]*ir.Block{}
	step := func(from int, to, l *ir.Block) {
		switch old := label[to]; {
		case p.a.at(to) <= from:
			if b := back[to]; b != nil && b != l {
				l = to
			}
			back[to] = l
		case old == nil:
			label[to] = l
		case old != l && old != to:
			label[to] = to
			p.mark(to, level)
		}
	}
	for _, s := range starts {
		step(from, s, s)
	}
	for i := from + 1; i < len(p.a.rpo); i++ {
		if l := label[p.a.rpo[i]]; l != nil {
			for _, s := range p.a.rpo[i].Succs() {
				step(i, s, l)
			}
		}
	}
	for l := in; l != nil; l = l.Parent {
		if !p.apart(l, back[l.Header], label) {
			continue
		}
		p.divergent[l] = p.divergent[l] || level == 2
		p.warp[l.Header] = true
		for _, y := range l.Exits {
			p.mark(y, level)
		}
		if p.left[l] < level && len(l.Exits) > 1 {
			p.left[l] = level
			p.spread(l.Exits, p.a.at(l.Header), l.Parent, level)
		}
	}
}

func (p *plainDivergence) apart(l *ir.Loop, back *ir.Block, label map[*ir.Block]*ir.Block) bool {
	var out *ir.Block
	for _, y := range l.Exits {
		if x := label[y]; x != nil {
			if out != nil && out != x {
				return true
			}
			out = x
		}
	}
	return out != nil && back != nil && back != out
}

// TestDivergence: on random graphs, with random branches that lanes or warps take differently, the analysis finds what the plain
// method finds.
func TestDivergence(t *testing.T) {
	marks, loops := 0, 0
	for seed := range int64(1000) {
		r := rand.New(rand.NewSource(seed))
		f := randomLoops(r, 3+r.Intn(30))
		a := &shapeAnalysis{f: f, dom: ir.Dominators(f), rpo: f.RPO()}
		a.li = ir.Loops(f, a.dom)
		if a.li.Irreducible {
			t.Fatalf("seed %d: irreducible\n%v", seed, f)
		}
		a.num = f.NumberBlocks(a.rpo)
		a.todo.list(f, a.rpo)
		a.prepare()
		p := &plainDivergence{a, map[*ir.Block]bool{}, map[*ir.Block]bool{}, map[*ir.Loop]bool{}, map[*ir.Loop]uint8{}}
		for range 1 + r.Intn(6) {
			i := r.Intn(len(a.rpo))
			b, level := a.rpo[i], uint8(1+r.Intn(2))
			if len(b.Succs()) < 2 {
				continue
			}
			var starts []int32
			for _, s := range b.Succs() {
				starts = append(starts, int32(a.at(s)))
			}
			a.spread(starts, i, a.li.Innermost(b), level)
			p.spread(b.Succs(), i, a.li.Innermost(b), level)
		}
		for i, b := range a.rpo {
			if a.varyingPhis[i] != p.varying[b] || a.warpPhis[i] != p.warp[b] {
				t.Fatalf("seed %d: b%d: phis vary %v, by warps %v, want %v and %v\n%v", seed, b.ID, a.varyingPhis[i], a.warpPhis[i], p.varying[b], p.warp[b], f)
			}
			if p.warp[b] {
				marks++
			}
		}
		for _, l := range a.li.Loops {
			if a.divergent[l] != p.divergent[l] {
				t.Fatalf("seed %d: the loop of b%d is divergent: %v\n%v", seed, l.Header.ID, a.divergent[l], f)
			}
			if p.divergent[l] {
				loops++
			}
		}
	}
	if marks < 1000 || loops < 100 {
		t.Errorf("only %d joins and %d loops: the graphs are too plain", marks, loops)
	}
}
