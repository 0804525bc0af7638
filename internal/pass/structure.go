package pass

import "kudzu/internal/ir"

// structure brings the graph into the form that linearize works on. After it threads end in one block; a trap names the
// block beside it as its successor; every loop has one preheader and one latch that only jumps back, its exit
// blocks have no predecessors from outside, and what is used after a loop leaves it through a phi in an exit block.
func structure(st *state) error {
	f := st.f
	prune(f)
	f.Rewire()
	unifyExits(f)
	traps(f)
	prune(f)
	for i := 0; ; i++ {
		f.Rewire()
		dom := ir.Dominators(f)
		li := ir.Loops(f, dom)
		if li.Irreducible {
			return &ir.Unsupported{What: "irreducible control flow"}
		}
		if !canonicalLoop(f, li) {
			break
		}
		if i > 100_000 {
			panic("BUG: loops do not settle")
		}
	}
	li := ir.Loops(f, ir.Dominators(f))
	splitCritical(f, func(u, v *ir.Block) bool {
		// Edges out of a loop: lanes that leave it at different times are latched in one variable if they share an exit.
		l := li.Innermost(u)
		return l != nil && !l.Contains(v)
	})
	closeLoops(f)
	relayout(f)
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

// canonicalLoop fixes one thing of one loop; false when all are in form.
func canonicalLoop(f *ir.Func, li *ir.LoopInfo) bool {
	for _, l := range li.Loops {
		h := l.Header
		var outside []*ir.Block
		for _, p := range h.Preds {
			if !l.Contains(p) {
				outside = append(outside, p)
			}
		}
		if len(outside) != 1 || len(outside[0].Succs()) != 1 || outside[0].Term().Op == ir.Trap {
			mergePreds(f, h, outside)
			return true
		}
		if latch := l.Latches[0]; len(l.Latches) != 1 || latch.Term().Op != ir.Br || len(latch.Insts) != numPhis(latch)+1 || latch == h {
			mergePreds(f, h, l.Latches)
			return true
		}
		for _, y := range l.Exits {
			var inside []*ir.Block
			for _, p := range y.Preds {
				if l.Contains(p) {
					inside = append(inside, p)
				}
			}
			if len(inside) != len(y.Preds) {
				mergePreds(f, y, inside)
				return true
			}
		}
	}
	return false
}

// splitCritical puts a block on every edge from a block with several successors to one with several predecessors, so that
// what an edge assigns has a place of its own.
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

// closeLoops puts phis into exit blocks for everything used behind a loop, innermost loops first.
func closeLoops(f *ir.Func) {
	dom := ir.Dominators(f)
	li := ir.Loops(f, dom)
	// Leading a value to its use may put a phi into another loop that it then leaves again.
	for again := true; again; {
		again = false
		for i := len(li.Loops) - 1; i >= 0; i-- {
			again = closeLoop(f, li.Loops[i], dom) || again
		}
	}
}

type useOf struct {
	in  *ir.Inst
	arg int
}

func closeLoop(f *ir.Func, l *ir.Loop, dom *ir.DomTree) bool {
	uses := map[*ir.Value][]useOf{}
	var vals []*ir.Value
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			for i, a := range in.Args {
				at := b
				if in.Op == ir.Phi {
					at = in.Targets[i]
				}
				if a.Def == nil || l.Contains(at) || !l.Contains(a.Def.Block) {
					continue
				}
				if in.Op == ir.Phi && contains(l.Exits, b) && l.Contains(in.Targets[i]) {
					continue
				}
				if uses[a] == nil {
					vals = append(vals, a)
				}
				uses[a] = append(uses[a], useOf{in, i})
			}
		}
	}
	for _, v := range vals {
		s := newSSA(f, v.Type)
		for _, y := range l.Exits {
			if !dom.Dominates(v.Def.Block, y) {
				continue
			}
			phi := f.NewInst(ir.Phi, []ir.Type{v.Type})
			for _, p := range y.Preds {
				phi.Args, phi.Targets = append(phi.Args, v), append(phi.Targets, p)
			}
			insertAt(y, 0, phi)
			s.out[y], s.in[y] = phi.Results[0], phi.Results[0]
		}
		for _, u := range uses[v] {
			if u.in.Op == ir.Phi {
				u.in.Args[u.arg] = s.atEnd(u.in.Targets[u.arg])
			} else {
				u.in.Args[u.arg] = s.atStart(u.in.Block)
			}
		}
	}
	return len(vals) > 0
}
