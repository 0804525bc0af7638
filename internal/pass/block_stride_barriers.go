package pass

import (
	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// blockStrideBarriers interchanges the loop of warps with block-stride and grid-stride loops. After it such a loop ends each iteration in
// a barrier of the compiler's own, which says whether any warp goes on, so that the block walks memory in order.
//
// A loop in which neighbouring threads read contiguous elements and then all jump ahead by the size of the block or the
// grid is how GPUs walk arrays. One warp after the other would fetch single lines from pages far apart, which no
// prefetcher follows: half the speed. An iteration of all warps is a stretch of a kilobyte and runs at the speed of memory.
func blockStrideBarriers(st *state) error {
	n := st.cfg.Block
	if threads := n[0] * n[1] * n[2]; st.m.Width != 32 || threads < minInterleavedWarps*32 && !st.always("block_stride_barriers") || int(threads) == 32*st.m.Jam || st.never("block_stride_barriers") {
		return st.unchanged()
	}
	f := st.f
	f.Rewire()
	if !plainBars(f) {
		return st.unchanged()
	}
	a := st.shapes()
	if r := barPoints(f); len(r.Points) > 0 && !allMeet(st, r) {
		return st.unchanged()
	}
	applied := false
	for _, l := range a.li.Loops {
		t := newTurn(a, l)
		if t.fits() && (t.jumps() || st.always("block_stride_barriers")) && t.reached() {
			t.apply()
			applied = true
		}
	}
	if !applied {
		return st.unchanged()
	}
	f.Rewire()
	return nil
}

// minInterleavedWarps is how many warps make turns worth their barriers.
const minInterleavedWarps = 4

// page is how far the prefetchers of processors look.
const page = 4096

// stretch is how much contiguous memory they need to begin.
const stretch = 1024

// manyStreams is how many arrays at once make a warp's arithmetic too long for the loads of the next one to begin meanwhile.
const manyStreams = 3

// plainBars reports that every barrier of the kernel is for all threads and has a constant name.
func plainBars(f *ir.Func) bool {
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			if isYield(in) || in.Op == ir.GridSync || in.Op == ir.Bar && (in.BarKind == ir.BarArrive || !in.Args[0].Const || !isZero(in.Args[1])) {
				return false
			}
		}
	}
	return true
}

// barPoints is the kernel's own barriers as allMeet wants them.
func barPoints(f *ir.Func) *ir.Regions {
	r := &ir.Regions{}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			if in.Op == ir.Bar {
				r.Points = append(r.Points, ir.Resume{At: in})
			}
		}
	}
	return r
}

// turn is a loop that may take turns.
type turn struct {
	a      *shapeAnalysis
	f      *ir.Func
	l      *ir.Loop
	ind    *analysis.Induction
	leaps  []leap      // contiguous loads that leap over what other warps and blocks load
	guards []*ir.Block // whose jumps around the loop must go: every warp comes to the barrier
}

func newTurn(a *shapeAnalysis, l *ir.Loop) *turn {
	return &turn{a: a, f: a.f, l: l, ind: a.st.induction(l)}
}

// leap is a load of which an iteration of all warps is so many contiguous bytes.
type leap struct {
	in        *ir.Inst
	iterBytes int64
}

// fits reports an innermost loop that runs while any lane is in it and does nothing but compute and access memory.
func (t *turn) fits() bool {
	l := t.l
	if len(l.Latches) != 1 || len(l.Exits) != 1 {
		return false
	}
	for _, o := range t.a.li.Loops {
		if o.Parent == l {
			return false
		}
	}
	end := l.Latches[0].Term()
	if end.Op != ir.CondBr || end.Targets[0] != l.Header || end.Targets[1] != l.Exits[0] || !onAny(end) {
		return false
	}
	for _, b := range l.Blocks {
		for _, in := range b.Insts {
			if !harmless(in) {
				return false
			}
		}
	}
	return true
}

// onAny reports a branch that is taken if any lane wants it.
func onAny(t *ir.Inst) bool {
	return t.Op == ir.CondBr && t.Args[0].Def != nil && t.Args[0].Def.Op == ir.AnyLane
}

// harmless reports an operation that a warp may execute with no lane in its mask, and that keeps no other warp waiting.
func harmless(in *ir.Inst) bool {
	switch in.Op {
	case ir.Load, ir.Store, ir.Atomic, ir.AtomicCAS:
		return !in.Volatile && (in.Order == ir.Weak || in.Order == ir.Relaxed && in.Op != ir.Load && in.Op != ir.Store)
	case ir.Br, ir.CondBr, ir.Shfl, ir.VoteAny, ir.VoteAll, ir.VoteUni, ir.Ballot, ir.WarpSync:
		return true
	}
	return in.Op.Row().Effects == 0 && !in.Op.IsTerm()
}

// step is by how much an address grows in an iteration: a constant, or something known only at run time.
type step struct {
	c       int64
	unknown bool // the same in every iteration, not zero as far as one knows
	bad     bool // no such thing
}

func (t *turn) step(v *ir.Value) step {
	s, ok := t.ind.Stride(v)
	for _, x := range s.Terms {
		ok = ok && t.a.fact(x.V).kind >= ir.WarpUniform
	}
	return step{int64(s.C), len(s.Terms) > 0, !ok}
}

// jumps reports that some access to global memory is contiguous and leaps over what the other warps access, and
// that none walks on its own.
func (t *turn) jumps() bool {
	far := false
	for _, b := range t.l.Blocks {
		for _, in := range b.Insts {
			if in.Op != ir.Load && in.Op != ir.Store || in.Space != ir.Global {
				continue
			}
			size, vals := int64(0), in.Results
			if in.Op == ir.Store {
				vals = in.Args[1:]
			}
			for _, v := range vals {
				size += int64(v.Type.Bits()+7) / 8
			}
			s := t.step(in.Args[0])
			f := t.a.fact(in.Args[0])
			side := (f.kind == ir.Affine || f.guess) && f.pat.seg == 0 && f.pat.s == size
			switch {
			case s.bad:
			case side && (s.unknown || s.c >= page):
				far = true
				n := t.a.st.cfg.Block
				if in.Op == ir.Load && t.a.dom.Dominates(in.Block, t.l.Latches[0]) {
					iterBytes := int64(n[0]) * int64(n[1]) * int64(n[2]) * size
					t.leaps = append(t.leaps, leap{in, iterBytes})
				}
			case s.c != 0 || s.unknown:
				return false
			}
		}
	}
	return far
}

// reached finds the jumps around the loop that only save time, and reports that there are no others that warps take differently.
func (t *turn) reached() bool {
	pdom := t.a.st.postDominators()
	t.guards = nil
	for _, b := range t.f.Blocks {
		end := b.Term()
		if len(end.Targets) < 2 || t.a.fact(end.Args[0]).kind == ir.BlockUniform || b == t.l.Latches[0] {
			continue
		}
		inside := analysis.Between(b, pdom.Idom(b))
		if !inside[t.l.Header] {
			continue
		}
		if !onAny(end) || t.l.Contains(b) || t.a.at(end.Targets[0]) <= t.a.at(b) {
			return false
		}
		for x := range inside {
			if li := t.a.li.Innermost(x); li != nil && li != t.l {
				return false
			}
			for _, in := range x.Insts {
				if !harmless(in) {
					return false
				}
			}
		}
		t.guards = append(t.guards, b)
	}
	return true
}

// apply takes the guards away and puts the barrier at the end of the loop.
func (t *turn) apply() {
	for _, g := range t.guards {
		end := g.Term()
		dropPred(end.Targets[1], g)
		setTerm(t.f, g, ir.Br, nil, end.Targets[0])
	}
	latch := t.l.Latches[0]
	end := latch.Term()
	for _, l := range t.leaps {
		switch {
		case l.iterBytes < stretch:
			t.prefetch(l.in, 1)
		case len(t.leaps) >= manyStreams:
			t.fetchAhead(l.in)
		}
	}
	bar := t.f.NewInst(ir.Bar, []ir.Type{ir.I1}, ir.ConstInt(ir.I32, 0), ir.ConstInt(ir.I32, 0), end.Args[0])
	bar.BarKind, bar.AllWarps, bar.Line = ir.BarRedOr, true, end.Line
	beforeTerm(latch, bar)
	end.Args = []*ir.Value{bar.Results[0]}
	t.a.st.changed(graph)
	t.f.Rewire()
}

// prefetch asks for what in will load some iterations later, at the end of an iteration.
func (t *turn) prefetch(in *ir.Inst, iters int64) {
	latch := t.l.Latches[0]
	put := func(op ir.Op, args ...*ir.Value) *ir.Value {
		x := t.f.NewInst(op, []ir.Type{ir.I64}, args...)
		x.Line = in.Line
		return beforeTerm(latch, x).Results[0]
	}
	at := t.next(in.Args[0], map[*ir.Value]*ir.Value{})
	if iters > 1 {
		at = put(ir.Add, in.Args[0], put(ir.Mul, put(ir.Sub, at, in.Args[0]), ir.ConstInt(ir.I64, uint64(iters))))
	}
	p := t.f.NewInst(ir.Prefetch, nil, at)
	p.Space, p.Line, p.Bytes = in.Space, in.Line, uint32((in.Results[0].Type.Bits()+7)/8*len(in.Results))
	beforeTerm(latch, p)
}

// fetchAhead asks for what a warp some turns later, or the first of the next iteration, will load where in loads.
func (t *turn) fetchAhead(in *ir.Inst) {
	put := func(x *ir.Inst) *ir.Inst {
		x.Line = in.Line
		for i, at := range in.Block.Insts {
			if at == in {
				insertAt(in.Block, i, x)
				break
			}
		}
		return x
	}
	at := put(t.f.NewInst(ir.Add, []ir.Type{ir.I64}, in.Args[0], ir.ConstInt(ir.I64, streamAhead)))
	p := t.f.NewInst(ir.Prefetch, nil, at.Results[0])
	p.Space, p.Bytes = in.Space, uint32((in.Results[0].Type.Bits()+7)/8*len(in.Results))
	put(p)
}

// next is v as it will be in the next iteration, computed at the end of this one: induction variables go on, and sums and products of them
// are computed again.
func (t *turn) next(v *ir.Value, done map[*ir.Value]*ir.Value) *ir.Value {
	d := v.Def
	if v.Const || d == nil || !t.l.Contains(d.Block) {
		return v
	}
	if t.ind.Var(d) != nil {
		_, next := analysis.Carried(t.l, d)
		return next
	}
	if _, _, linear := analysis.Coefficients(d); !linear && d.Op != ir.SExt && d.Op != ir.ZExt {
		return v
	}
	if n := done[v]; n != nil {
		return n
	}
	in := t.f.CloneInst(d, func(a *ir.Value) *ir.Value { return t.next(a, done) })
	beforeTerm(t.l.Latches[0], in)
	done[v] = in.Results[v.Index]
	return in.Results[v.Index]
}
