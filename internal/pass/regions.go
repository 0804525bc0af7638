package pass

import (
	"slices"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// regions makes every point where a warp waits a resume point. After it a barrier that suspends is the last operation
// of its block before the jump to the block that goes on, and Func.Regions lists these points with the values that
// are needed behind them and cannot be had again for nothing. Barriers of a block that is one warp are gone.
func regions(st *state) error {
	f := st.f
	n := st.cfg.Block
	threads := n[0] * n[1] * n[2]
	alone := threads != 0 && threads <= uint32(st.m.Width)
	if alone {
		oneWarp(f)
	}
	before := slices.Clone(f.Blocks)
	r := &ir.Regions{}
	for bi := 0; bi < len(f.Blocks); bi++ {
		b := f.Blocks[bi]
		for i, in := range b.Insts {
			if in.Op == ir.GridSync {
				return &ir.Unsupported{What: "a grid-wide barrier", Line: int(in.Line)}
			}
			if !suspends(in) && !(st.m.Width == 1 && gathers(in.Op)) {
				if in.Op == ir.Bar {
					r.PerWarp = true // an arrival is counted
				}
				continue
			}
			next := f.NewBlock("")
			next.Insts = append(next.Insts, b.Insts[i+1:]...)
			for _, x := range next.Insts {
				x.Block = next
			}
			b.Insts = b.Insts[: i+1 : i+1]
			for _, s := range next.Succs() {
				renamePred(s, b, next)
			}
			setTermAfter(f, b, next, in.Line)
			r.Points = append(r.Points, ir.Resume{At: in, Next: next})
			break
		}
	}
	relayout(f)
	if len(r.Points) == 0 && !r.PerWarp {
		f.Regions = nil
		if !alone && slices.Equal(before, f.Blocks) {
			return st.unchanged()
		}
		return nil
	}
	f.Regions = r
	st.changed(graph)
	rematAddresses(f)
	rematExtensions(f)
	rematScalars(st)
	st.changed(values)
	r.PerWarp = r.PerWarp || st.m.Width == 1 || !allMeet(st, r) || !waitsInTurn(r)
	liveAcross(f, r)
	return nil
}

func setTermAfter(f *ir.Func, b, next *ir.Block, line int32) {
	in := f.NewInst(ir.Br, nil)
	in.Targets, in.Line = []*ir.Block{next}, line
	b.Append(in)
}

// suspends reports an operation at which a warp waits for others.
func suspends(in *ir.Inst) bool {
	return in.Op == ir.Bar && in.BarKind != ir.BarArrive || isYield(in)
}

// gathers reports an operation of a warp's lanes for which they wait where they run one by one.
func gathers(op ir.Op) bool {
	switch op {
	case ir.Shfl, ir.VoteAny, ir.VoteAll, ir.VoteUni, ir.Ballot, ir.MatchAny, ir.MatchAll, ir.Redux, ir.Elect, ir.WarpSync, ir.Mma:
		return true
	}
	return false
}

// isYield reports the mark that a loop waits on memory that other warps of the block may write.
func isYield(in *ir.Inst) bool { return in.Op == ir.CallRt && in.Entry == rtYield }

// oneWarp replaces the barriers of a block that is one warp: it meets itself at once.
func oneWarp(f *ir.Func) {
	all := ir.ConstInt(ir.I32, 1<<32-1)
	for _, b := range f.Blocks {
		kept := b.Insts[:0:0]
		for _, in := range b.Insts {
			if in.Op != ir.Bar {
				kept = append(kept, in)
				continue
			}
			switch in.BarKind {
			case ir.BarSync, ir.BarArrive, ir.BarPace:
				continue
			case ir.BarRedAnd:
				in.Op, in.Attr = ir.VoteAll, ir.Attr{}
			case ir.BarRedOr:
				in.Op, in.Attr = ir.VoteAny, ir.Attr{}
			case ir.BarRedPopc:
				v := f.NewInst(ir.Ballot, []ir.Type{ir.I32}, in.Args[2], all)
				v.Mask, v.Line, v.Block = in.Mask, in.Line, b
				kept = append(kept, v)
				in.Op, in.Attr, in.Mask = ir.Popc, ir.Attr{}, nil
				in.Args = []*ir.Value{v.Results[0]}
				kept = append(kept, in)
				continue
			}
			in.Attr = ir.Attr{}
			in.Args = []*ir.Value{in.Args[2], all}
			kept = append(kept, in)
		}
		b.Insts = kept
	}
}

// waitsInTurn reports that a warp that waits on memory between two barriers can be left there until the others have come to the second one.
// Not where a mark bounds how far warps run ahead: what it waits for may be written behind the mark by a warp that would wait there for all.
// And not where a barrier finds something out, which is added up from the first warp to the last.
func waitsInTurn(r *ir.Regions) bool {
	yields, plain := false, true
	for _, p := range r.Points {
		yields = yields || isYield(p.At)
		plain = plain && (isYield(p.At) || p.At.BarKind == ir.BarSync)
	}
	return plain || !yields
}

// allMeet reports that all warps of the block provably wait at the same barriers in the same order, whichever of them wait on memory
// in between.
func allMeet(st *state, r *ir.Regions) bool {
	f := st.f
	a := st.shapes()
	waits := map[*ir.Block]bool{}
	for _, p := range r.Points {
		in := p.At
		if isYield(in) {
			continue
		}
		if in.Op != ir.Bar || !in.Args[0].Const || !isZero(in.Args[1]) {
			return false
		}
		waits[in.Block] = true
	}
	pdom := st.postDominators()
	for _, b := range f.Blocks {
		t := b.Term()
		if len(t.Targets) < 2 || a.fact(t.Args[0]).kind == ir.BlockUniform {
			continue
		}
		for x := range analysis.Between(b, pdom.Idom(b)) {
			if waits[x] {
				return false
			}
		}
	}
	return true
}

// liveAcross computes the values that live across each point.
func liveAcross(f *ir.Func, r *ir.Regions) {
	live := analysis.Live(f, func(v *ir.Value) bool { return v.Def != nil && !analysis.Anywhere(v) })
	for i := range r.Points {
		p := &r.Points[i]
		p.Live = nil
		for _, v := range live.In(p.Next) {
			if !slices.Contains(p.At.Results, v) {
				p.Live = append(p.Live, v)
			}
		}
	}
}
