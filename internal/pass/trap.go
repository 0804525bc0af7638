package pass

import "kudzu/internal/ir"

// leadOn gives every trap the successor that the thread would have had without it: the other way of the nearest branch before it, or the
// end of the kernel.
//
// An edge from a trap goes to a block that stands behind it in an order which follows all edges but those back to the head of a loop, so
// that no cycle comes about: where both ways of a branch trap, one leads to the other and that one past the branch. And since what
// dominates the block it goes to dominates the branch, and the branch the trap, no head of a loop loses its dominance.
func leadOn(f *ir.Func) {
	var traps []*ir.Block
	var end *ir.Block
	for _, b := range f.Blocks {
		switch t := b.Term(); {
		case t.Op == ir.Trap && len(t.Targets) == 0:
			traps = append(traps, b)
		case t.Op == ir.Exit:
			end = b
		}
	}
	if len(traps) == 0 {
		return
	}
	dom, num := ir.Dominators(f), trapsFirst(f)
	for _, b := range traps {
		to := beside(b, dom, num)
		if to == nil {
			if end == nil { // nothing else ends
				end = f.NewBlock("end")
				setTerm(f, end, ir.Exit, nil)
			}
			to = end
		}
		b.Term().Targets = []*ir.Block{to}
		for _, phi := range to.Insts[:numPhis(to)] {
			u := f.NewInst(ir.Undef, []ir.Type{phi.Results[0].Type})
			beforeTerm(b, u)
			phi.Args, phi.Targets = append(phi.Args, u.Results[0]), append(phi.Targets, b)
		}
	}
}

// beside is the first way past b that a branch before it has, from the nearest branch on; nil: there is none.
func beside(b *ir.Block, dom *ir.DomTree, num map[*ir.Block]int) *ir.Block {
	for d := dom.Idom(b); d != nil; d = dom.Idom(d) {
		if d.Term().Op != ir.CondBr {
			continue
		}
		var to *ir.Block
		for _, s := range d.Succs() {
			if num[s] > num[b] && !dom.Dominates(s, b) && (to == nil || num[s] < num[to]) {
				to = s
			}
		}
		if to != nil {
			return to
		}
	}
	return nil
}

// trapsFirst numbers the blocks in reverse postorder, of the ways of a branch those first that only lead to traps.
func trapsFirst(f *ir.Func) map[*ir.Block]int {
	ends := map[*ir.Block]bool{} // leads to the end of the kernel
	var work []*ir.Block
	for _, b := range f.Blocks {
		if b.Term().Op == ir.Exit {
			work = append(work, b)
		}
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if !ends[b] {
			ends[b] = true
			work = append(work, b.Preds...)
		}
	}
	num := make(map[*ir.Block]int, len(f.Blocks))
	seen := map[*ir.Block]bool{f.Blocks[0]: true}
	type visit struct {
		b    *ir.Block
		next int // successors twice: those that end, then the others
	}
	stack := []visit{{f.Blocks[0], 0}}
	for left := len(f.Blocks); len(stack) > 0; {
		v := &stack[len(stack)-1]
		ss := v.b.Succs()
		if v.next == 2*len(ss) {
			num[v.b] = left
			left--
			stack = stack[:len(stack)-1]
			continue
		}
		s := ss[v.next%max(len(ss), 1)]
		first := v.next < len(ss)
		v.next++
		if ends[s] == first && !seen[s] {
			seen[s] = true
			stack = append(stack, visit{s, 0})
		}
	}
	return num
}
