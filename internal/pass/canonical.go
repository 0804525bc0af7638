package pass

import "kudzu/internal/ir"

// canonicalLoops gives every loop one preheader, one latch that only jumps back, and exits without predecessors from outside. Preds are
// kept current; li does not know the new blocks.
func canonicalLoops(f *ir.Func, li *ir.LoopInfo) {
	c := &canonical{f: f, li: li, inner: map[*ir.Block]*ir.Loop{}, todo: make([]bool, len(li.Loops)), at: make(map[*ir.Loop]int, len(li.Loops))}
	for i, l := range li.Loops {
		c.todo[i], c.at[l] = true, i
	}
	// The first loop that is not in form is always next: outer loops before those in them.
	for i := 0; i < len(li.Loops); i++ {
		for c.todo[i] {
			y := c.fix(li.Loops[i])
			if y == nil {
				c.todo[i] = false
				continue
			}
			// Loops around that are left to y too have another way out now.
			first := i
			for o := li.Loops[i].Parent; o != nil && !c.contains(o, y); o = o.Parent {
				first = c.at[o]
				c.todo[first] = true
			}
			i = first
		}
	}
}

type canonical struct {
	f     *ir.Func
	li    *ir.LoopInfo
	inner map[*ir.Block]*ir.Loop // of new blocks
	todo  []bool
	at    map[*ir.Loop]int
}

func (c *canonical) contains(l *ir.Loop, b *ir.Block) bool {
	if x, ok := c.inner[b]; ok {
		return l.Encloses(x)
	}
	return l.Contains(b)
}

// fix changes one thing of a loop, and gives the block that ways to which were brought together; nil: the loop is in form.
func (c *canonical) fix(l *ir.Loop) *ir.Block {
	h := l.Header
	var outside, latches []*ir.Block
	for _, p := range h.Preds {
		if c.contains(l, p) {
			latches = append(latches, p)
		} else {
			outside = append(outside, p)
		}
	}
	if len(outside) != 1 || len(outside[0].Succs()) != 1 || outside[0].Term().Op == ir.Trap {
		c.merge(h, outside, l.Parent)
		return h
	}
	if latch := latches[0]; len(latches) != 1 || latch.Term().Op != ir.Br || len(latch.Insts) != numPhis(latch)+1 || latch == h {
		c.merge(h, latches, l)
		return h
	}
	for _, y := range c.exits(l) {
		var inside []*ir.Block
		for _, p := range y.Preds {
			if c.contains(l, p) {
				inside = append(inside, p)
			}
		}
		if len(inside) != len(y.Preds) {
			in := l.Parent
			for in != nil && !c.contains(in, y) {
				in = in.Parent
			}
			c.merge(y, inside, in)
			return y
		}
	}
	return nil
}

// exits are the blocks that the loop is left to. New blocks in it go on in it.
func (c *canonical) exits(l *ir.Loop) []*ir.Block {
	var exits []*ir.Block
	seen := map[*ir.Block]bool{}
	for _, b := range l.Blocks {
		for _, s := range b.Succs() {
			if !c.contains(l, s) && !seen[s] {
				seen[s] = true
				exits = append(exits, s)
			}
		}
	}
	return exits
}

// merge brings the ways from preds to b together in a new block of loop in.
func (c *canonical) merge(b *ir.Block, preds []*ir.Block, in *ir.Loop) {
	n := mergePreds(c.f, b, preds)
	c.inner[n] = in
	moved := map[*ir.Block]bool{}
	for _, p := range preds {
		moved[p] = true
	}
	kept := b.Preds[:0]
	for _, p := range b.Preds {
		if !moved[p] {
			kept = append(kept, p)
		}
	}
	b.Preds = append(kept, n)
	n.Preds = append(n.Preds, preds...)
}
