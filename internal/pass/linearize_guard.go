package pass

import (
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
	// The cost of a block and of all that it dominates: a block comes after those that dominate it.
	cost := make([]int, len(blocks))
	nums := f.NumberBlocks(blocks)
	for i := len(blocks) - 1; i >= 0; i-- {
		cost[i] += l.cost(blocks[i])
		if d := dom.Idom(blocks[i]); d != nil {
			at, _ := nums.Of(d)
			cost[at] += cost[i]
		}
	}
	for i, b := range blocks {
		if !isVar[b] || l.isLatch(b) || len(b.Succs()) == 0 && b.Term().Op == ir.Exit {
			continue
		}
		if cost[i] < guardCost {
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
	through := func(b *ir.Block) *ir.Block {
		if g := l.guards[b]; g != nil {
			return g
		}
		return b
	}
	for _, ss := range l.ctl {
		for i, s := range ss {
			ss[i] = through(s)
		}
	}
	for g, s := range l.skip {
		if s != nil {
			l.skip[g] = through(s)
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
func (a *shapeAnalysis) fact0(in *ir.Inst) fact {
	if len(in.Results) == 0 {
		return fact{kind: ir.BlockUniform}
	}
	return a.fact(in.Results[0])
}

func (l *linearizer) isGuard(b *ir.Block) bool { _, ok := l.skip[b]; return ok }
