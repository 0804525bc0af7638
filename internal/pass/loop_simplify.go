package pass

import "kudzu/internal/ir"

// loopSimplify brings loops into canonical form (as LLVM's LoopSimplify and LCSSA) for linearize. After it threads end in one
// block; a trap names the block beside it as its successor; every loop has one preheader and one latch that only jumps back, dedicated
// exit blocks, and what is used after a loop leaves it through a phi in an exit block.
func loopSimplify(st *state) error {
	f := st.f
	prune(f)
	f.Rewire()
	unifyExits(f)
	traps(f)
	prune(f)
	f.Rewire()
	loops := ir.Loops(f, ir.Dominators(f))
	if loops.Irreducible {
		return &ir.Unsupported{What: "irreducible control flow"}
	}
	canonicalLoops(f, loops)
	li := ir.Loops(f, ir.Dominators(f))
	splitCritical(f, func(u, v *ir.Block) bool {
		// Edges out of a loop: lanes that leave it at different times are latched in one variable if they share an exit.
		l := li.Innermost(u)
		return l != nil && !l.Contains(v)
	})
	closeLoops(f)
	relayout(f)
	st.changed(graph)
	return nil
}

// unifyExits makes all threads end in one block.
func unifyExits(f *ir.Func) {
	var ends []*ir.Block
	for _, b := range f.Blocks {
		if t := b.Term(); t.Op == ir.Exit || t.Op == ir.Ret {
			ends = append(ends, b)
		}
	}
	if len(ends) == 1 && len(ends[0].Insts) == 1 && ends[0] != f.Blocks[0] {
		return
	}
	if len(ends) == 0 {
		return
	}
	r := f.NewBlock("end")
	setTerm(f, r, ir.Exit, nil)
	for _, b := range ends {
		setTerm(f, b, ir.Br, nil, r)
	}
	f.Rewire()
}

// traps gives each trap the successor that the thread would have had without it: a trap stops the whole kernel, so where
// it leads never matters, but an edge keeps its block in the loop and before the join.
func traps(f *ir.Func) {
	for bi := 0; bi < len(f.Blocks); bi++ {
		b := f.Blocks[bi]
		if t := b.Term(); t.Op != ir.Trap || len(t.Targets) > 0 {
			continue
		}
		for len(b.Preds) > 1 && len(b.Insts) < 64 { // a copy each
			p := b.Preds[len(b.Preds)-1]
			vals := map[*ir.Value]*ir.Value{}
			c := cloneBlocks(f, []*ir.Block{b}, vals)[b]
			n := numPhis(c)
			with := map[*ir.Value]*ir.Value{}
			for _, phi := range c.Insts[:n] {
				for j, from := range phi.Targets {
					if from == p {
						with[phi.Results[0]] = phi.Args[j]
					}
				}
			}
			c.Insts = c.Insts[n:]
			for _, in := range c.Insts {
				for j, a := range in.Args {
					if w := with[a]; w != nil {
						in.Args[j] = w
					}
				}
			}
			retarget(p, b, c)
			dropPred(b, p)
			f.Rewire()
		}
	}
	f.Rewire()
	leadOn(f)
	f.Rewire()
}

// splitCritical puts a block on every edge from a block with several successors to one with several predecessors, so that
// what an edge assigns has a block of its own.
func splitCritical(f *ir.Func, but func(u, v *ir.Block) bool) bool {
	changed := false
	for _, b := range append([]*ir.Block(nil), f.Blocks...) {
		if len(b.Succs()) < 2 {
			continue
		}
		for _, s := range append([]*ir.Block(nil), b.Succs()...) {
			if len(s.Preds) > 1 && contains(b.Succs(), s) && !but(b, s) {
				splitEdge(f, b, s)
				changed = true
			}
		}
	}
	f.Rewire()
	return changed
}
