package pass

import (
	"slices"
	"sort"

	"kudzu/internal/ir"
)

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

// lastEnd lets every block that never comes to the end of the kernel lead there, for the order: the end is the last block.
func (l *linearizer) lastEnd() {
	var end *ir.Block
	var work []*ir.Block
	for _, b := range l.f.Blocks {
		if b.Term().Op == ir.Exit {
			end = b
			work = append(work, b)
		}
	}
	if end == nil {
		return
	}
	ends := l.f.NewBlockSet()
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if ends.Add(b) {
			work = append(work, b.Preds...)
		}
	}
	for _, b := range l.f.Blocks {
		if t := b.Term(); !ends.Has(b) {
			t.Targets = append(slices.Clone(t.Targets), end)
		}
	}
	l.f.Rewire()
}

// order sorts the blocks: a block after what leads to it, the blocks that one dominates together.
func (l *linearizer) order() {
	saved := l.install()
	l.lastEnd()
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
	deferred := make([]*positionSet, len(l.ord)) // by position in ord: blocks that must still come
	for at, b := range l.ord {
		d := deferred[at]
		to := func(targets ...*ir.Block) *ir.Block {
			set := d
			for _, t := range targets {
				set = set.with(l.idx[t])
			}
			if set == nil {
				return nil
			}
			first, rest := set.first()
			if first <= at {
				panic("BUG: linearized edge goes back")
			}
			deferred[first] = deferred[first].union(rest)
			return l.ord[first]
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
			if d != nil && !l.isLatch(b) {
				panic("BUG: the last block defers others")
			}
		}
	}
}
