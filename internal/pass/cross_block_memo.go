package pass

import (
	"maps"
	"slices"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

const (
	memoBytes      = 24 << 10 // of all warps of a block, which must stay in the nearest cache
	memoIterations = 4        // of a loop
	memoMinGain    = 4        // operations that must be saved beside what is read back
	memoGatherCost = 4        // operations that a load costs that is not contiguous
)

// crossBlockMemo memoises block-invariant vectors across blocks. After it, vectors computed from memory that the next block of a row of
// blocks reads too are computed by the first block that a thread runs, a warp at a time, and read back by the others: between
// keep.begin and keep lies what computes them, and keep's results are what is read. In a loop the first iterations are kept, each for itself.
//
// A row of a matrix a block is multiplied with the same vector again and again: what its quantised form is turned into is the same.
//
// Memory that was loaded as read-only counts; other memory where blocks have no way to tell each other that they wrote it (plain
// below), as a multiprocessor's own cache may show blocks that run there one after the other what it had.
func crossBlockMemo(st *state) error {
	n := st.cfg.Block
	warps := int(n[0] * n[1] * n[2] / 32)
	if st.m.Width != 32 || warps == 0 || st.m.Jam > 1 || st.never("cross_block_memo") {
		return st.unchanged()
	}
	k := &keeper{f: st.f, a: st.shapes(), moved: map[*ir.Value]bool{}, any: st.always("cross_block_memo")}
	k.ways = map[*ir.Block][]*ir.Block{}
	if k.a.li.Irreducible {
		return st.unchanged()
	}
	k.plain = k.unordered()
	k.compare()
	taken := map[*ir.Block]int{}
	for _, b := range st.f.Blocks {
		if l := k.a.li.Innermost(b); l == nil || l.Parent == nil && innermost(k.a.li, l) {
			if n := k.block(b, l, memoBytes/warps-alongside(b, taken)); n > 0 {
				taken[b] = n
			}
		}
	}
	if len(taken) == 0 {
		return st.unchanged()
	}
	return nil
}

// alongside sums what is taken in blocks that run before or after b, not instead of it.
func alongside(b *ir.Block, taken map[*ir.Block]int) int {
	sum := 0
	after := analysis.Reach([]*ir.Block{b}, nil)
	for x, n := range taken {
		if after[x] || analysis.Reach([]*ir.Block{x}, nil)[b] {
			sum += n
		}
	}
	return sum
}

// keeper finds what does not change from block to block: in a loop, what is the same in the same iteration.
type keeper struct {
	f     *ir.Func
	a     *shapeAnalysis
	moved map[*ir.Value]bool
	plain map[*ir.Block]bool // where plain loads count
	any   bool               // whether it pays or not

	ways  map[*ir.Block][]*ir.Block // those on the ways to a block from its immediate dominator, which is one of them
	going map[*ir.Block]bool        // the heads of loops and the points where ways meet that were asked about: whether these are decided
}

// unordered finds the blocks of code where no thread has written to memory that others see, in a kernel without atomics, fences and
// the like: what another block writes while this one runs is nothing that a program can rely on. What was written before a barrier
// counts behind every barrier: other warps of the block may wait there from elsewhere in the code.
func (k *keeper) unordered() map[*ir.Block]bool {
	var stores, bars []*ir.Block
	for _, b := range k.f.Blocks {
		for _, in := range b.Insts {
			switch in.Op {
			case ir.Load, ir.Store:
				if in.Volatile || in.Order != ir.Weak {
					return nil
				}
				if seenByOthers(in) {
					stores = append(stores, b)
				}
			case ir.Bar:
				bars = append(bars, b)
			default:
				if in.Op.Row().Effects&ir.Writes != 0 {
					return nil
				}
			}
		}
	}
	written := analysis.Reach(stores, nil)
	for _, b := range bars {
		if written[b] && storeBefore(b, written) {
			maps.Copy(written, analysis.Reach(bars, nil))
			break
		}
	}
	plain := map[*ir.Block]bool{}
	for _, b := range k.f.Blocks {
		plain[b] = !written[b]
	}
	return plain
}

// seenByOthers reports a store that a load from global memory may show: the thread's own memory and the block's are elsewhere.
func seenByOthers(in *ir.Inst) bool {
	return in.Op == ir.Store && in.Space != ir.Shared && in.Space != ir.Local
}

// storeBefore reports that a store comes before the last barrier of b: in it, or on a way to it.
func storeBefore(b *ir.Block, written map[*ir.Block]bool) bool {
	for _, p := range b.Preds {
		if written[p] {
			return true
		}
	}
	stored := false
	for _, in := range b.Insts {
		switch {
		case seenByOthers(in):
			stored = true
		case in.Op == ir.Bar && stored:
			return true
		}
	}
	return false
}

// compare finds what moves, hoping for everything until something speaks against it.
func (k *keeper) compare() {
	for changed := true; changed; {
		changed = false
		k.going = map[*ir.Block]bool{} // what is found moved later in this round is asked about again in the next one
		for _, b := range k.a.rpo {
			for _, in := range b.Insts {
				if len(in.Results) > 0 && !k.moved[in.Results[0]] && !k.same(in) {
					changed = true
					for _, r := range in.Results {
						k.moved[r] = true
					}
				}
			}
		}
	}
}

// block rewrites b if that pays, and gives the bytes that a warp needs for it.
func (k *keeper) block(b *ir.Block, l *ir.Loop, room int) int {
	group := map[*ir.Inst]bool{}
	behind := map[*ir.Inst]bool{} // what needs the group's results: the group is put together before it
	var list []*ir.Inst
	cost := 0
	for _, in := range b.Insts {
		switch {
		case in.Op == ir.Phi:
		case !uses(in, behind) && k.member(in, group):
			group[in] = true
			list = append(list, in)
			cost += k.cost(in)
		case uses(in, behind) || uses(in, group):
			behind[in] = true
		}
	}
	if len(list) == 0 {
		return 0
	}
	out, bytes := k.leaving(list, group)
	if len(out) == 0 {
		return 0
	}
	iters := 1
	if l != nil {
		iters = min(memoIterations, room/bytes-1) // and a place for those that are not kept
		bytes *= iters + 1
	}
	if cost < 2*len(out)+memoMinGain && !k.any || iters < 1 || bytes > room {
		return 0
	}
	var types []ir.Type
	for _, v := range out {
		types = append(types, v.Type)
	}
	begin, end := k.f.NewInst(ir.KeepBegin, nil), k.f.NewInst(ir.Keep, types, out...)
	begin.Line, end.Line, begin.Iters = list[0].Line, list[0].Line, uint8(iters)
	if l != nil {
		begin.Args = []*ir.Value{k.counter(l)}
	}
	with := map[*ir.Value]*ir.Value{}
	for i, v := range out {
		with[v] = end.Results[i]
	}
	for _, x := range k.f.Blocks {
		for _, in := range x.Insts {
			if group[in] {
				continue
			}
			for i, a := range in.Args {
				if v := with[a]; v != nil {
					in.Args[i] = v
				}
			}
		}
	}
	k.order(b, group, list, begin, end)
	return bytes
}

// order puts the group together, behind what it needs.
func (k *keeper) order(b *ir.Block, group map[*ir.Inst]bool, list []*ir.Inst, begin, end *ir.Inst) {
	need := map[*ir.Inst]bool{}
	var visit func(in *ir.Inst)
	visit = func(in *ir.Inst) {
		for _, a := range in.Args {
			if d := a.Def; d != nil && d.Block == b && d.Op != ir.Phi && !group[d] && !need[d] {
				need[d] = true
				visit(d)
			}
		}
	}
	for _, in := range list {
		visit(in)
	}
	var first, rest []*ir.Inst
	for _, in := range b.Insts {
		switch {
		case in.Op == ir.Phi || need[in]:
			first = append(first, in)
		case !group[in]:
			rest = append(rest, in)
		}
	}
	begin.Block, end.Block = b, b
	first = append(append(append(first, begin), list...), end)
	b.Insts = append(first, rest...)
}

// member reports a vector that is made of read-only memory and is the same in the next block of a row.
func (k *keeper) member(in *ir.Inst, group map[*ir.Inst]bool) bool {
	if len(in.Results) == 0 || in.Op == ir.Phi || k.moved[in.Results[0]] {
		return false
	}
	for _, r := range in.Results {
		if w := r.Type.Bits(); k.a.fact(r).kind != ir.Varying || w < 8 || w > 32 {
			return false
		}
	}
	if in.Op == ir.Load {
		return true
	}
	return uses(in, group)
}

// uses reports an instruction that reads a result of one of the others.
func uses(in *ir.Inst, of map[*ir.Inst]bool) bool {
	for _, a := range in.Args {
		if a.Def != nil && of[a.Def] {
			return true
		}
	}
	return in.Mask != nil && in.Mask.Def != nil && of[in.Mask.Def]
}

func (k *keeper) cost(in *ir.Inst) int {
	if in.Op != ir.Load {
		return 1
	}
	f := k.a.fact(in.Args[0])
	if f.kind == ir.Affine && f.pat == (pattern{s: int64(in.Results[0].Type.Bits() / 8)}) && len(in.Results) == 1 {
		return 1
	}
	return memoGatherCost
}

// leaving are the results that others need, and the bytes of them.
func (k *keeper) leaving(list []*ir.Inst, group map[*ir.Inst]bool) (out []*ir.Value, bytes int) {
	used := map[*ir.Value]bool{}
	for _, b := range k.f.Blocks {
		for _, in := range b.Insts {
			if !group[in] {
				for _, a := range in.Args {
					used[a] = true
				}
			}
		}
	}
	for _, in := range list {
		for _, r := range in.Results {
			if used[r] {
				out = append(out, r)
				bytes += max(64, 32*r.Type.Bits()/8)
			}
		}
	}
	return out, bytes
}

// counter counts the iterations of a loop, from 0.
func (k *keeper) counter(l *ir.Loop) *ir.Value {
	h := l.Header
	phi := k.f.NewInst(ir.Phi, []ir.Type{ir.I64}) // 2^32 iterations are seconds
	up := k.f.NewInst(ir.Add, []ir.Type{ir.I64}, phi.Results[0], ir.ConstInt(ir.I64, 1))
	for _, p := range h.Preds {
		from := ir.ConstInt(ir.I64, 0)
		if l.Contains(p) {
			from = up.Results[0]
		}
		phi.Args, phi.Targets = append(phi.Args, from), append(phi.Targets, p)
	}
	phi.Line, up.Line = h.Insts[0].Line, h.Insts[0].Line
	insertAt(h, numPhis(h), up)
	insertAt(h, 0, phi)
	return phi.Results[0]
}

// unmoved reports a value that is the same in the next block of a row, seen from block at. What a loop leaves behind is, if the loop
// has as many iterations then.
func (k *keeper) unmoved(v *ir.Value, at *ir.Block) bool {
	if v.Const {
		return true
	}
	if v.Def == nil || k.moved[v] {
		return false
	}
	for l := k.a.li.Innermost(v.Def.Block); l != nil && !l.Contains(at); l = l.Parent {
		if !k.decided(l.Header, l.Blocks) {
			return false
		}
	}
	return true
}

// decided reports that control leaves each of the blocks as it does in the next block of a row. They are those of the loop with this
// head, or those on the ways to this point.
func (k *keeper) decided(to *ir.Block, blocks []*ir.Block) bool {
	if ok, known := k.going[to]; known {
		return ok
	}
	for _, b := range blocks {
		t := b.Term()
		if t.Op != ir.Br && (t.Op != ir.CondBr || !k.unmoved(t.Args[0], b)) {
			k.going[to] = false
			return false
		}
	}
	k.going[to] = true
	return true
}

// same reports an instruction that gives the same in the next block of a row.
func (k *keeper) same(in *ir.Inst) bool {
	switch in.Op {
	case ir.Param, ir.VarAddr:
		return true
	case ir.SReg:
		by, ok := analysis.BlockStep(in.Sreg)
		return ok && by == 0
	case ir.Phi:
		if !k.sameWay(in.Block) {
			return false
		}
	case ir.Load:
		if !in.ReadOnly && !k.plain[in.Block] || in.Mask != nil || in.Space != ir.Global || in.Volatile || in.Order != ir.Weak {
			return false
		}
	default:
		if in.Op.Row().Effects != 0 || in.Op.IsTerm() || len(in.Args) == 0 || in.Mask != nil || in.Op == ir.FirstLane {
			return false
		}
	}
	for _, a := range in.Args {
		if !k.unmoved(a, in.Block) {
			return false
		}
	}
	return true
}

// sameWay reports a block that is reached as in the next block of a row: the head of a loop, in the same iteration, or a point to which
// branches on something that does not move lead, from where all ways to it part.
func (k *keeper) sameWay(b *ir.Block) bool {
	if l := k.a.li.Innermost(b); l != nil && l.Header == b {
		return true
	}
	way, ok := k.ways[b]
	if !ok {
		from := k.a.dom.Idom(b)
		seen := map[*ir.Block]bool{}
		for work := slices.Clone(b.Preds); len(work) > 0; {
			x := work[len(work)-1]
			work = work[:len(work)-1]
			if !seen[x] {
				seen[x] = true
				way = append(way, x)
				if x != from {
					work = append(work, x.Preds...)
				}
			}
		}
		k.ways[b] = way
	}
	return k.decided(b, way)
}
