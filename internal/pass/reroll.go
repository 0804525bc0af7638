package pass

import (
	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// reroll takes back what the compiler of the PTX did to loops whose number of iterations only the data know: a loop for the
// iterations left over (n & (u-1)) followed by one that does u iterations at a time. After it such a pair is one loop of n iterations in
// kernels that run thread by thread. Others keep it: as vectors, lanes gain more from long straight code than they lose.
//
// A GPU pays nothing for the second loop. A CPU guesses when each of the two ends, and is wrong for both where lengths vary: a
// sparse matrix product with a row a thread takes 22.9 ms of a core with the pair, 19.4 with one loop (and four copies of the thread's code, which
// give each of them its own history of branches; with one copy of it 23.5).
//
// What must hold is proved: the second loop's body is u times the first's (reroll_proof.go), it begins where the first ended (linear
// forms), and together they have n iterations. What is left to a test at run time is that there is one at all.
func reroll(st *state) error {
	if st.m.Width != 1 || st.never("reroll") {
		return st.unchanged()
	}
	f := st.f
	seen := map[*ir.Block]bool{} // a pair that stays for when there is no iteration is not looked at again
	for again := true; again; {
		again = false
		f.Rewire()
		li := ir.Loops(f, ir.Dominators(f))
		for _, l := range li.Loops {
			a := oneBlock(l)
			if a == nil || seen[a.h] {
				continue
			}
			seen[a.h] = true
			if r := findPair(f, li, a); r != nil && r.proved() {
				r.join()
				prune(f)
				again = true
				break
			}
		}
	}
	return nil
}

// oneLoop is a loop of one block, but for one that only jumps back.
type oneLoop struct {
	ind       *analysis.Induction
	h, latch  *ir.Block
	pre, exit *ir.Block
}

func oneBlock(l *ir.Loop) *oneLoop {
	h := l.Header
	t := h.Term()
	if len(l.Latches) != 1 || len(l.Exits) != 1 || t.Op != ir.CondBr || len(h.Preds) != 2 {
		return nil
	}
	o := &oneLoop{ind: analysis.NewInduction(l), h: h, latch: l.Latches[0], exit: l.Exits[0], pre: h.Preds[0]}
	if l.Contains(o.pre) {
		o.pre = h.Preds[1]
	}
	if len(l.Blocks) > 2 || len(l.Blocks) == 2 && len(o.latch.Insts) != 1 || l.Contains(o.pre) {
		return nil
	}
	for _, in := range h.Insts[numPhis(h) : len(h.Insts)-1] {
		switch {
		case len(in.Results) != 1:
			return nil
		case in.Op == ir.Load && !in.Volatile && in.Order == ir.Weak:
		case in.Op.Row().Effects != 0:
			return nil
		}
	}
	return o
}

// ways are the first value of a phi of the loop and the one for the next iteration.
func (o *oneLoop) ways(phi *ir.Inst) (init, next *ir.Value) { return analysis.Carried(o.ind.Loop, phi) }

// step is by how much a phi grows in an iteration, if it is a counter.
func (o *oneLoop) step(phi *ir.Inst) (int64, bool) {
	if v := o.ind.Var(phi); v != nil {
		return v.Step.Constant()
	}
	return 0, false
}

// pair is the two loops and what stands around them:
//
//	q: n & (u-1) == 0 ? j : (pa ->) a      a -> j      j: n < u ? x : (pb ->) b      b -> x
type pair struct {
	f            *ir.Func
	a, b         *oneLoop
	q, j, x      *ir.Block
	n, rem       *ir.Value
	forms        analysis.Forms
	lo, hi       *ir.Value // n = hi - lo; nil where n is not a difference
	u            int64
	part         map[*ir.Block]bool
	twin         map[*ir.Inst]*ir.Inst // phis of b: the phi of a that it goes on with
	ahead        map[*ir.Inst]uint64   // by how much it is above
	replacements map[*ir.Inst]*ir.Inst // phis of x: what they get from the one loop is what the next iteration of this phi of a would
	same         map[*ir.Inst]*ir.Value
}

// findPair matches the graph.
func findPair(f *ir.Func, li *ir.LoopInfo, a *oneLoop) *pair {
	r := &pair{f: f, a: a, j: a.exit, part: map[*ir.Block]bool{a.h: true, a.latch: true, a.exit: true}}
	r.forms.Look = r.look
	r.q = through(a.pre, r.part)
	for _, in := range r.j.Insts[:len(r.j.Insts)-1] {
		if in.Op.Row().Effects != 0 {
			return nil
		}
	}
	qt, jt := r.q.Term(), r.j.Term()
	if qt.Op != ir.CondBr || jt.Op != ir.CondBr || len(r.j.Preds) != 2 || !contains(r.q.Succs(), r.j) || !r.remainder(qt) {
		return nil
	}
	for _, l := range li.Loops {
		b := oneBlock(l)
		if b == nil || b.h == a.h || !contains(r.j.Succs(), b.exit) {
			continue
		}
		part := map[*ir.Block]bool{b.h: true, b.latch: true}
		if through(b.pre, part) == r.j {
			r.b, r.x = b, b.exit
			for p := range part {
				r.part[p] = true
			}
			return r
		}
	}
	return nil
}

// through is the block before the loop: b, or the only one before it where b only computes and jumps.
func through(b *ir.Block, part map[*ir.Block]bool) *ir.Block {
	if b.Term().Op != ir.Br || len(b.Preds) != 1 || numPhis(b) > 0 {
		return b
	}
	for _, in := range b.Insts[:len(b.Insts)-1] {
		if in.Op.Row().Effects != 0 {
			return b
		}
	}
	part[b] = true
	return b.Preds[0]
}

// remainder reads off n and u: the first loop is left out where n & (u-1) is 0.
func (r *pair) remainder(t *ir.Inst) bool {
	c := t.Args[0].Def
	if c == nil || c.Op != ir.ICmp || !isZero(c.Args[1]) || !(c.Cmp == ir.EQ && t.Targets[0] == r.j || c.Cmp == ir.NE && t.Targets[1] == r.j) {
		return false
	}
	r.rem = c.Args[0]
	d := r.rem.Def
	if d == nil || d.Op != ir.And || !d.Args[1].Const {
		return false
	}
	r.n, r.u = d.Args[0], d.Args[1].Int()+1
	if r.u < 2 || r.u > 64 || r.u&(r.u-1) != 0 {
		return false
	}
	if d := r.n.Def; d != nil && d.Op == ir.Sub {
		r.hi, r.lo = d.Args[0], d.Args[1]
	}
	return true
}

// proved reports that the two loops are one.
func (r *pair) proved() bool {
	return r.tripCounts() && r.short() && r.twins() && r.sameBody() && r.leaves()
}

// tripCounts reports that the first loop has n & (u-1) iterations and the second does the rest of n.
func (r *pair) tripCounts() bool {
	rem, n := r.lin(r.rem), r.lin(r.n)
	ta, ok := r.span(r.a, 1)
	if !ok || !ta.Equal(rem) {
		return false
	}
	tb, ok := r.span(r.b, r.u)
	return ok && tb.Equal(n.Plus(rem, -1))
}

// span is the number of single iterations of a loop that ends when a counter of ±by per iteration hits a number.
func (r *pair) span(o *oneLoop, by int64) (analysis.Linear, bool) {
	s, step, ok := o.ind.Trips(o.h.Term(), &r.forms)
	return s, ok && s.Bits == r.n.Type.Bits() && (step == by || step == -by)
}

// short reports that the second loop is left out exactly if n < u, n being no 0.
func (r *pair) short() bool {
	t := r.j.Term()
	c := t.Args[0].Def
	if c == nil || c.Op != ir.ICmp || !c.Args[1].Const || c.Args[0].Type != r.n.Type || t.Targets[0] == t.Targets[1] {
		return false
	}
	cmp := c.Cmp
	if t.Targets[0] != r.x { // the condition is for going on
		switch cmp {
		case ir.LO:
			cmp = ir.HS
		case ir.LS:
			cmp = ir.HI
		case ir.HI:
			cmp = ir.LS
		case ir.HS:
			cmp = ir.LO
		default:
			return false
		}
	}
	n, x, k := r.lin(r.n), r.lin(c.Args[0]), c.Args[1].Int()
	minus := analysis.Linear{Bits: n.Bits}.Plus(n, -1)
	less := n.Plus(analysis.Linear{C: 1}, -1)
	switch cmp {
	case ir.LO:
		return x.Equal(n) && k == r.u || x.Equal(less) && k == r.u-1
	case ir.LS:
		return x.Equal(n) && k == r.u-1 || x.Equal(less) && k == r.u-2
	case ir.HI:
		return x.Equal(minus) && k == -r.u
	case ir.HS:
		return x.Equal(minus) && k == 1-r.u
	}
	return false
}

// twins finds for every value that the second loop carries from iteration to iteration the one of the first that it goes on with.
func (r *pair) twins() bool {
	r.twin, r.ahead = map[*ir.Inst]*ir.Inst{}, map[*ir.Inst]uint64{}
	for _, pb := range r.b.h.Insts[:numPhis(r.b.h)] {
		init, _ := r.b.ways(pb)
		step, counts := r.b.step(pb)
		if !counts {
			pa := r.goesOn(init)
			if pa == nil {
				return false
			}
			r.twin[pb] = pa
			continue
		}
		for _, pa := range r.a.h.Insts[:numPhis(r.a.h)] {
			s, ok := r.a.step(pa)
			if !ok || s*r.u != step || pa.Results[0].Type != pb.Results[0].Type {
				continue
			}
			first, _ := r.a.ways(pa)
			if d := r.lin(init).Plus(r.after(first, s), -1); len(d.Terms) == 0 {
				r.twin[pb], r.ahead[pb] = pa, d.C
				break
			}
		}
	}
	return true
}

// goesOn is the phi of the first loop whose last value v is, whether the loop ran or not.
func (r *pair) goesOn(v *ir.Value) *ir.Inst {
	d := v.Def
	if d == nil || d.Op != ir.Phi || d.Block != r.j {
		return nil
	}
	var skipped, last *ir.Value
	for i, from := range d.Targets {
		if from == r.q {
			skipped = d.Args[i]
		} else {
			last = d.Args[i]
		}
	}
	for _, pa := range r.a.h.Insts[:numPhis(r.a.h)] {
		if init, next := r.a.ways(pa); next == last && skipped != nil && sameValue(init, skipped) {
			return pa
		}
	}
	return nil
}

// leaves reports that nothing but phis behind the loops reads what they compute, and notes what those get.
func (r *pair) leaves() bool {
	r.replacements, r.same = map[*ir.Inst]*ir.Inst{}, map[*ir.Inst]*ir.Value{}
	inside := func(v *ir.Value) bool { return v.Def != nil && r.part[v.Def.Block] }
	for _, b := range r.f.Blocks {
		if r.part[b] {
			continue
		}
		for _, in := range b.Insts {
			for i, a := range in.Args {
				if inside(a) && !(b == r.x && in.Op == ir.Phi && r.part[in.Targets[i]]) {
					return false
				}
			}
		}
	}
	for _, phi := range r.x.Insts[:numPhis(r.x)] {
		var short, long *ir.Value
		for i, from := range phi.Targets {
			switch from {
			case r.j:
				short = phi.Args[i]
			case r.b.h:
				long = phi.Args[i]
			}
		}
		if short == nil || long == nil {
			return false
		}
		if !inside(short) && sameValue(short, long) {
			r.same[phi] = short
			continue
		}
		pa := r.goesOn(short)
		for _, pb := range r.b.h.Insts[:numPhis(r.b.h)] {
			if _, next := r.b.ways(pb); pa != nil && next == long && r.twin[pb] == pa && r.ahead[pb] == 0 {
				r.replacements[phi] = pa
			}
		}
		if r.replacements[phi] == nil {
			return false
		}
	}
	return true
}

// join writes the one loop and leads to it.
func (r *pair) join() {
	f, vals := r.f, map[*ir.Value]*ir.Value{}
	from := []*ir.Block{r.a.h}
	if r.a.pre != r.q {
		from = append(from, r.a.pre)
	}
	copies := cloneBlocks(f, from, vals)
	loop, pre := copies[r.a.h], copies[r.a.pre]
	if pre == nil {
		pre = f.NewBlock("")
	}
	if pre.Term() != nil {
		pre.Insts = pre.Insts[:len(pre.Insts)-1]
	}
	pre.Append(f.NewInst(ir.Br, nil)).Targets = []*ir.Block{loop}
	pre.Term().Line = r.q.Term().Line

	for _, phi := range loop.Insts[:numPhis(loop)] {
		for i, t := range phi.Targets {
			phi.Targets[i] = loop
			if t == r.a.pre || t == pre {
				phi.Targets[i] = pre
			}
		}
	}
	line := loop.Term().Line
	left := f.NewInst(ir.Phi, []ir.Type{r.n.Type})
	down := f.NewInst(ir.Add, []ir.Type{r.n.Type}, left.Results[0], ir.ConstInt(r.n.Type, ^uint64(0)))
	left.Args, left.Targets = []*ir.Value{r.n, down.Results[0]}, []*ir.Block{pre, loop}
	more := f.NewInst(ir.ICmp, []ir.Type{ir.I1}, down.Results[0], ir.ConstInt(r.n.Type, 0))
	more.Cmp, left.Line, down.Line, more.Line = ir.NE, line, line, line
	insertAt(loop, 0, left)
	beforeTerm(loop, down)
	beforeTerm(loop, more)
	setTerm(f, loop, ir.CondBr, []*ir.Value{more.Results[0]}, loop, r.x)

	for _, phi := range r.x.Insts[:numPhis(r.x)] {
		v := r.same[phi]
		if pa := r.replacements[phi]; pa != nil {
			_, next := r.a.ways(pa)
			v = vals[next]
		}
		phi.Args, phi.Targets = append(phi.Args, v), append(phi.Targets, loop)
	}
	r.lead(pre)
}

// lead makes q go to the one loop, always or if there is an iteration.
func (r *pair) lead(to *ir.Block) {
	f := r.f
	if r.someRound() {
		dropPred(r.j, r.q)
		setTerm(f, r.q, ir.Br, nil, to)
		return
	}
	old := f.NewBlock("")
	t := r.q.Term()
	setTerm(f, old, t.Op, t.Args, t.Targets...).Line = t.Line
	for _, s := range t.Targets {
		renamePred(s, r.q, old)
	}
	c := f.NewInst(ir.ICmp, []ir.Type{ir.I1}, r.n, ir.ConstInt(r.n.Type, 0))
	if r.lo != nil {
		c.Args, c.Cmp = []*ir.Value{r.lo, r.hi}, ir.GE
	}
	c.Line = t.Line
	beforeTerm(r.q, c)
	setTerm(f, r.q, ir.CondBr, c.Results, old, to)
}

// someRound reports that a branch on the way to q has seen to it that lo < hi, or n is not 0.
func (r *pair) someRound() bool {
	for b, n := r.q, 0; len(b.Preds) == 1 && n < 16; b, n = b.Preds[0], n+1 {
		t := b.Preds[0].Term()
		if t.Op != ir.CondBr || t.Targets[0] == t.Targets[1] || t.Args[0].Def == nil || t.Args[0].Def.Op != ir.ICmp {
			continue
		}
		c, yes := t.Args[0].Def, t.Targets[0] == b
		x, y := c.Args[0], c.Args[1]
		cmp := c.Cmp
		if r.lo == nil {
			zero, one := x == r.n && isZero(y), x == r.n && y.Const && y.Bits == 1
			if zero && (cmp == ir.EQ && !yes || (cmp == ir.NE || cmp == ir.GT) && yes || cmp == ir.LE && !yes) || one && (cmp == ir.LT && !yes || cmp == ir.GE && yes) {
				return true
			}
			continue
		}
		if sameValue(x, r.hi) && sameValue(y, r.lo) {
			x, y = y, x
			cmp = cmp.Swapped()
		}
		if sameValue(x, r.lo) && sameValue(y, r.hi) && (cmp == ir.GE && !yes || cmp == ir.LT && yes) {
			return true
		}
	}
	return false
}
