package pass

import (
	"sort"

	"kudzu/internal/ir"
)

// The cost of a stretch from which on it is jumped over when no lane wants it; a mispredicted branch costs about
// twenty cycles, a vector operation about one or two.
const guardCost = 14

// guard puts a test before each costly stretch that only some lanes may want: if no lane does, control goes on behind it.
func (l *linearizer) guard() {
	l.skip = map[*ir.Block]*ir.Block{}
	saved := l.install()
	f := l.f
	dom, pdom := ir.Dominators(f), ir.PostDominators(f)
	blocks := f.RPO()
	l.restore(saved)

	isVar := map[*ir.Block]bool{}
	for _, m := range l.names {
		isVar[m.block] = true
	}
	for _, b := range blocks {
		if !isVar[b] || l.isLatch(b) || len(b.Succs()) == 0 && b.Term().Op == ir.Exit {
			continue
		}
		cost := 0
		for _, d := range blocks {
			if dom.Dominates(b, d) {
				cost += l.cost(d)
			}
		}
		if cost < guardCost {
			continue
		}
		g := f.NewBlock("")
		l.guardArg[g] = f.NewValue(ir.I1)
		test := l.newInst(ir.AnyLane, b.Insts[0].Line, l.guardArg[g])
		g.Append(test)
		setTerm(f, g, ir.CondBr, []*ir.Value{test.Results[0]}, b, b)
		l.guards[b] = g
		j := pdom.Idom(b)
		for j != nil && dom.Dominates(b, j) {
			j = pdom.Idom(j)
		}
		l.skip[g] = j
	}
	for b, g := range l.guards {
		for p, ss := range l.ctl {
			for i, s := range ss {
				if s == b {
					l.ctl[p][i] = g
				}
			}
		}
		for og, s := range l.skip {
			if s == b {
				l.skip[og] = g
			}
		}
	}
	for b, g := range l.guards {
		l.ctl[g] = []*ir.Block{b}
		if s := l.skip[g]; s != nil && s != b {
			l.ctl[g] = append(l.ctl[g], s)
		}
	}
}

func (l *linearizer) isLatch(b *ir.Block) bool {
	loop := l.a.li.Innermost(b)
	return loop != nil && loop.Latches[0] == b
}

// cost is about the cycles a block takes; what must never run without lanes is dear.
func (l *linearizer) cost(b *ir.Block) int {
	n := 0
	if loop := l.a.li.Innermost(b); loop != nil && loop.Header == b {
		n += 100 // an endless loop if no lane is there to leave it
	}
	for _, in := range b.Insts {
		switch in.Op {
		case ir.Phi, ir.Copy, ir.Undef, ir.Br, ir.CondBr:
		case ir.Load, ir.Store:
			k := l.a.fact(in.Args[0])
			if k.kind >= ir.WarpUniform || in.Volatile || in.Order != ir.Weak {
				n += 100 // one scalar access
			} else if in.Op == ir.Store && in.Space == ir.Shared {
				n += 12 // read back soon, and what a mask stored cannot be forwarded to that
			} else if k.kind == ir.Affine || k.guess {
				n += 3
			} else {
				n += 16
			}
		case ir.FDiv, ir.FSqrt, ir.FRcp, ir.DivS, ir.DivU, ir.RemS, ir.RemU:
			n += 16
		default:
			if in.Op.Row().Effects != 0 {
				n += 100
			} else if l.a.fact0(in).kind < ir.WarpUniform {
				n += 2
			}
		}
	}
	return n
}

// fact0 is the fact of the first result.
func (a *analysis) fact0(in *ir.Inst) fact {
	if len(in.Results) == 0 {
		return fact{kind: ir.BlockUniform}
	}
	return a.fact(in.Results[0])
}

// install makes ctl the function's graph for a moment, so that the graph algorithms run on it.
func (l *linearizer) install() map[*ir.Block][]*ir.Block {
	saved := map[*ir.Block][]*ir.Block{}
	for _, b := range l.f.Blocks {
		t := b.Term()
		saved[b] = t.Targets
		t.Targets = l.ctl[b]
	}
	l.f.Rewire()
	return saved
}

func (l *linearizer) restore(saved map[*ir.Block][]*ir.Block) {
	for b, ts := range saved {
		b.Term().Targets = ts
	}
	l.f.Rewire()
}

// order sorts the blocks: a block after what leads to it, the blocks that one dominates together.
func (l *linearizer) order() {
	saved := l.install()
	f := l.f
	dom := ir.Dominators(f)
	rpo := f.RPO()
	num := map[*ir.Block]int{}
	for i, b := range rpo {
		num[b] = i
	}
	kids := map[*ir.Block][]*ir.Block{}
	for _, b := range rpo {
		if d := dom.Idom(b); d != nil {
			kids[d] = append(kids[d], b)
		}
	}
	l.idx = map[*ir.Block]int{}
	stack := []*ir.Block{f.Blocks[0]}
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		l.idx[b] = len(l.ord)
		l.ord = append(l.ord, b)
		ks := kids[b]
		sort.Slice(ks, func(i, j int) bool { return num[ks[i]] > num[ks[j]] })
		stack = append(stack, ks...)
	}
	l.restore(saved)
}

// linear computes the new successors of every block.
func (l *linearizer) linear() {
	l.next = map[*ir.Block][]*ir.Block{}
	deferred := map[*ir.Block]map[*ir.Block]bool{}
	for _, b := range l.ord {
		d := deferred[b]
		to := func(targets ...*ir.Block) *ir.Block {
			set := map[*ir.Block]bool{}
			for t := range d {
				set[t] = true
			}
			for _, t := range targets {
				set[t] = true
			}
			var first *ir.Block
			for t := range set {
				if first == nil || l.idx[t] < l.idx[first] {
					first = t
				}
			}
			if first == nil {
				return nil
			}
			if l.idx[first] <= l.idx[b] {
				panic("BUG: linearized edge goes back")
			}
			for t := range set {
				if t != first {
					if deferred[first] == nil {
						deferred[first] = map[*ir.Block]bool{}
					}
					deferred[first][t] = true
				}
			}
			return first
		}
		if l.isGuard(b) {
			l.next[b] = []*ir.Block{to(l.ctl[b][0])}
			if s := l.skip[b]; s != nil {
				l.next[b] = append(l.next[b], to(s))
			} else {
				l.next[b] = append(l.next[b], to())
			}
			continue
		}
		if l.multi[b] {
			l.next[b] = []*ir.Block{to(l.ctl[b]...)}
			continue
		}
		for _, s := range l.ctl[b] {
			l.next[b] = append(l.next[b], to(s))
		}
		if len(l.ctl[b]) == 0 {
			l.next[b] = nil
			if len(d) > 0 && !l.isLatch(b) {
				panic("BUG: the last block defers others")
			}
		}
	}
}

func (l *linearizer) isGuard(b *ir.Block) bool { _, ok := l.skip[b]; return ok }
