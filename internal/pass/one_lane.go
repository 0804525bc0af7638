package pass

import (
	"math/bits"
	"slices"

	"kudzu/internal/ir"
)

// oneLaneTakes reports that all these loops, which wait for locks, are entered by one lane of a warp at most, and always by
// the same one, which also makes all other operations that could take a lock. Then no lane waits for another of its warp:
// who holds a lock is who waits for the next, as thread 0 that takes a lock for its block.
func oneLaneTakes(st *state, locks []*ir.Loop) bool {
	if len(locks) == 0 {
		return true
	}
	lanes := uint32(0)
	for _, l := range locks {
		lanes |= lanesAt(st, l.Header)
	}
	for _, b := range st.f.Blocks {
		if bits.OnesCount32(lanes) > 1 {
			break
		}
		if slices.ContainsFunc(b.Insts, mayLock) {
			lanes |= lanesAt(st, b)
		}
	}
	return bits.OnesCount32(lanes) <= 1
}

// mayLock reports an operation that can take a lock without waiting for it.
func mayLock(in *ir.Inst) bool {
	return in.Op == ir.AtomicCAS || in.Op == ir.Atomic && in.AtomOp == ir.AtomExch
}

// lanesAt has a bit for each lane that may come to b, by the branches that dominate it.
func lanesAt(st *state, b *ir.Block) uint32 {
	dom := st.dominators()
	lanes := ^uint32(0)
	for from := dom.Idom(b); from != nil && from != b; from = dom.Idom(b) {
		if t := from.Term(); t.Op == ir.CondBr && t.Targets[0] != t.Targets[1] && onlyFrom(dom, from, b) {
			lanes &= lanesWhere(st, t.Args[0], b == t.Targets[0])
		}
		b = from
	}
	return lanes
}

// onlyFrom reports that b is entered from one block alone; its own back edges do not count.
func onlyFrom(dom *ir.DomTree, from, b *ir.Block) bool {
	return !slices.ContainsFunc(b.Preds, func(p *ir.Block) bool { return p != from && !dom.Dominates(b, p) })
}

// lanesWhere has a bit for each lane that may ever find a condition to be as wanted.
func lanesWhere(st *state, cond *ir.Value, wanted bool) uint32 {
	const all = ^uint32(0)
	d := cond.Def
	if d == nil {
		return all
	}
	switch {
	case d.Op == ir.Not:
		return lanesWhere(st, d.Args[0], !wanted)
	case d.Op == ir.And && wanted, d.Op == ir.Or && !wanted:
		return lanesWhere(st, d.Args[0], wanted) & lanesWhere(st, d.Args[1], wanted)
	case d.Op == ir.ICmp && (d.Cmp == ir.EQ && wanted || d.Cmp == ir.NE && !wanted):
		for i, number := range d.Args {
			if number.Const {
				return lanesEqual(st.shapes().fact(d.Args[1-i]), number.Bits)
			}
		}
	}
	return all
}

// lanesEqual has a bit for each lane in which a value may be a number. What the value is in lane 0 may change, but it stays a multiple of
// align, so that the low bits say which lane it is.
func lanesEqual(f fact, number uint64) uint32 {
	if f.kind != ir.Affine || f.align == 0 {
		return ^uint32(0)
	}
	low := uint64(f.align) - 1
	lanes := uint32(0)
	for l := range 32 {
		if (uint64(f.pat.at(l))^number)&low == 0 {
			lanes |= 1 << l
		}
	}
	return lanes
}
