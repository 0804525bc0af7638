package pass

import "kudzu/internal/ir"

// linearize turns divergent control flow into masks. After it every branch condition is the same for all lanes of a
// warp, every operation with effects has the mask of lanes that act (none: all lanes), phis where divergent ways met are
// selects, loops that lanes leave at different times run until no lane is left, and stretches that do anything costly
// are jumped over when no lane wants them.
//
// The method is partial linearization (Moll and Hack, PLDI 2018): blocks are taken in an order in which dominated
// blocks stand together; a divergent branch goes to the first of its targets and the others are deferred until their
// turn; a uniform branch stays one and both ways carry the deferred blocks. Masks and phis are treated as variables
// that the edges of the original graph assign, and SSA form is rebuilt on the new graph.
func linearize(st *state) error {
	if st.m.Width == 1 {
		return st.unchanged()
	}
	a := st.shapes()
	if expandSwitches(a) {
		if err := loopSimplify(st); err != nil {
			return err
		}
		a = st.shapes()
	}
	tmp := &linearizer{a: a}
	if splitCritical(st.f, tmp.leavesDivergent) {
		relayout(st.f)
		st.changed(graph)
		a = st.shapes()
	}
	l := &linearizer{st: st, f: st.f, a: a, mask: map[*ir.Block]*ir.Value{}, after: map[*ir.Loop]*ir.Block{},
		guards: map[*ir.Block]*ir.Block{}, guardArg: map[*ir.Block]*ir.Value{}}
	l.collect()
	l.masks()
	l.divergentLoops()
	l.guard()
	l.order()
	l.linear()
	l.detachPhis()
	l.applyMasks()
	l.rewrite()
	l.variables()
	prune(l.f)
	repairSSA(l.f)
	relayout(l.f)
	return nil
}

// edge is one edge of the original graph.
type edge struct {
	from, to *ir.Block
	div      bool      // taken by some of the lanes
	split    bool      // one of several ways of a uniform branch: what it assigns holds only if it is taken
	cond     *ir.Value // div or split: i1
	neg      bool
	mask     *ir.Value
}

type linearizer struct {
	st *state
	f  *ir.Func
	a  *shapeAnalysis

	edges map[*ir.Block][]*edge // by source
	into  map[*ir.Block][]*edge // by target
	mask  map[*ir.Block]*ir.Value
	names []*maskVar // masks that are variables
	phis  []*phiVar
	root  *ir.Value // all lanes of the warp

	// The graph to linearize: successors without back edges, deduplicated.
	ctl   map[*ir.Block][]*ir.Block
	multi map[*ir.Block]bool        // the block's branch is divergent
	after map[*ir.Loop]*ir.Block    // divergent loops: where lanes go when the loop is done
	next  map[*ir.Block][]*ir.Block // the new successors, parallel to ctl for uniform branches
	ord   []*ir.Block
	idx   map[*ir.Block]int

	guards   map[*ir.Block]*ir.Block // guarded block → its guard
	skip     map[*ir.Block]*ir.Block // guard → where it goes when no lane wants the block, nil: deferred blocks only
	guardArg map[*ir.Block]*ir.Value // guard → the name of the mask it tests
}

// expandSwitches turns every switch on a varying index into a chain of branches.
func expandSwitches(a *shapeAnalysis) bool {
	f, changed := a.f, false
	for _, b := range append([]*ir.Block(nil), f.Blocks...) {
		t := b.Term()
		if t.Op != ir.Switch || a.fact(t.Args[0]).kind >= ir.WarpUniform && !leavesAny(a, b) {
			continue
		}
		changed = true
		idx, targets := t.Args[0], t.Targets
		cur := b
		b.Insts = b.Insts[:len(b.Insts)-1]
		for i := 0; i < len(targets)-1; i++ {
			c := f.NewInst(ir.ICmp, []ir.Type{ir.I1}, idx, ir.ConstInt(ir.I32, uint64(i)))
			c.Cmp, c.Line = ir.EQ, t.Line
			cur.Append(c)
			n := f.NewBlock("")
			setTerm(f, cur, ir.CondBr, []*ir.Value{c.Results[0]}, targets[i], n).Line = t.Line
			cur = n
		}
		setTerm(f, cur, ir.Br, nil, targets[len(targets)-1]).Line = t.Line
		fixSwitchPhis(f, b, targets)
	}
	if changed {
		f.Rewire()
	}
	return changed
}

// leavesAny reports a block with an edge out of a loop that lanes leave at different times.
func leavesAny(a *shapeAnalysis, b *ir.Block) bool {
	l := &linearizer{a: a}
	for _, s := range b.Succs() {
		if l.leavesDivergent(b, s) {
			return true
		}
	}
	return false
}

// fixSwitchPhis gives the phis behind an expanded switch one argument for each new predecessor.
func fixSwitchPhis(f *ir.Func, b *ir.Block, targets []*ir.Block) {
	f.Rewire()
	seen := map[*ir.Block]bool{}
	for _, s := range targets {
		if seen[s] {
			continue
		}
		seen[s] = true
		for _, phi := range s.Insts[:numPhis(s)] {
			have := map[*ir.Block]bool{}
			var old *ir.Value
			args, from := phi.Args[:0:0], phi.Targets[:0:0]
			for i, p := range phi.Targets {
				if p == b {
					old = phi.Args[i]
					continue
				}
				have[p] = true
				args, from = append(args, phi.Args[i]), append(from, p)
			}
			for _, p := range s.Preds {
				if !have[p] {
					args, from = append(args, old), append(from, p)
				}
			}
			phi.Args, phi.Targets = args, from
		}
	}
}

// collect lists the edges and says which are divergent.
func (l *linearizer) collect() {
	l.edges, l.into = map[*ir.Block][]*edge{}, map[*ir.Block][]*edge{}
	for _, b := range l.a.rpo {
		t := b.Term()
		add := func(to *ir.Block, div, neg bool) {
			e := &edge{from: b, to: to, div: div, neg: neg}
			if t.Op == ir.CondBr {
				e.cond = t.Args[0]
				e.split = !div && t.Targets[0] != t.Targets[1]
			}
			l.edges[b] = append(l.edges[b], e)
			l.into[to] = append(l.into[to], e)
		}
		switch t.Op {
		case ir.CondBr:
			div := l.a.fact(t.Args[0]).kind < ir.WarpUniform
			if t.Targets[0] == t.Targets[1] {
				add(t.Targets[0], false, false)
				break
			}
			add(t.Targets[0], div, false)
			add(t.Targets[1], div, true)
		default:
			seen := map[*ir.Block]bool{}
			for _, s := range t.Targets {
				if !seen[s] {
					seen[s] = true
					add(s, false, false)
				}
			}
		}
	}
}

// newInst makes a pure i1 operation.
func (l *linearizer) newInst(op ir.Op, line int32, args ...*ir.Value) *ir.Inst {
	in := l.f.NewInst(op, []ir.Type{ir.I1}, args...)
	in.Line = line
	return in
}

// masks gives each block its mask: that of a block all of whose lanes come here, or a variable.
func (l *linearizer) masks() {
	f := l.f
	n := l.st.cfg.Block
	entry := f.Blocks[0]
	if n != [3]uint32{} && n[0]*n[1]*n[2]%32 == 0 {
		l.root = ir.ConstInt(ir.I1, 1)
	} else {
		in := l.newInst(ir.EntryMask, 0)
		insertAt(entry, 0, in)
		l.root = in.Results[0]
	}
	pdom := l.iterationPostDominators()
	li := l.a.li
	for _, b := range l.a.rpo {
		loop := li.Innermost(b)
		switch {
		case b == entry:
			l.mask[b] = l.root
			continue
		case loop != nil && loop.Header == b:
			pre := l.preheader(loop)
			if !l.a.divergent[loop] {
				l.mask[b] = l.mask[pre]
			} else {
				phi := l.newInst(ir.Phi, 0)
				insertAt(b, 0, phi)
				l.mask[b] = phi.Results[0]
			}
			continue
		}
		// Lanes that leave a divergent loop pass its latch too: its mask is always a variable.
		latch := loop != nil && l.a.divergent[loop] && loop.Latches[0] == b
		if d := l.sameLanes(b, loop, pdom); d != nil && !latch {
			l.mask[b] = l.mask[d]
			continue
		}
		if es := l.into[b]; len(es) == 1 && !es[0].div && !l.leavesDivergent(es[0].from, b) && !latch {
			l.mask[b] = l.mask[es[0].from]
			continue
		}
		v := f.NewValue(ir.I1)
		l.mask[b] = v
		l.names = append(l.names, &maskVar{b, v})
	}
}

// iterationPostDominators is the post-dominator tree of one iteration: a jump back to a header counts as leaving the loop,
// because lanes that take it do not come to the rest of the loop's body this time.
func (l *linearizer) iterationPostDominators() *ir.DomTree {
	type old struct {
		t       *ir.Inst
		targets []*ir.Block
	}
	var saved []old
	for _, loop := range l.a.li.Loops {
		t := loop.Latches[0].Term()
		saved = append(saved, old{t, t.Targets})
	}
	for _, loop := range l.a.li.Loops {
		loop.Latches[0].Term().Targets = append([]*ir.Block(nil), loop.Exits...)
	}
	l.f.Rewire()
	pdom := ir.PostDominators(l.f)
	for _, s := range saved {
		s.t.Targets = s.targets
	}
	l.f.Rewire()
	return pdom
}

func (l *linearizer) preheader(loop *ir.Loop) *ir.Block {
	for _, p := range loop.Header.Preds {
		if !loop.Contains(p) {
			return p
		}
	}
	panic("BUG: loop without preheader")
}

// sameLanes finds a block that dominates b in the same loop and whose lanes all come to b.
func (l *linearizer) sameLanes(b *ir.Block, loop *ir.Loop, pdom *ir.DomTree) *ir.Block {
	for d := l.a.dom.Idom(b); d != nil; d = l.a.dom.Idom(d) {
		if l.a.li.Innermost(d) == loop {
			if pdom.Dominates(b, d) {
				return d
			}
			return nil
		}
		if loop != nil && !loop.Contains(d) {
			return nil
		}
	}
	return nil
}

// divergentLoops changes the graph so that lanes leave a divergent loop only at its latch.
func (l *linearizer) divergentLoops() {
	f := l.f
	l.ctl, l.multi = map[*ir.Block][]*ir.Block{}, map[*ir.Block]bool{}
	for _, loop := range l.a.li.Loops {
		if l.a.divergent[loop] {
			x := f.NewBlock("")
			setTerm(f, x, ir.Br, nil, x) // rewritten later
			l.after[loop] = x
			l.multi[x] = true
		}
	}
	add := func(b, s *ir.Block) {
		if !contains(l.ctl[b], s) {
			l.ctl[b] = append(l.ctl[b], s)
		}
	}
	for _, b := range l.a.rpo {
		l.ctl[b] = nil
		for _, e := range l.edges[b] {
			if h := l.a.li.Innermost(e.to); h != nil && h.Header == e.to && h.Contains(b) {
				continue // a back edge
			}
			from := b
			for loop := l.a.li.Innermost(b); loop != nil && !loop.Contains(e.to); loop = loop.Parent {
				if x := l.after[loop]; x != nil {
					add(from, loop.Latches[0])
					from = x
				}
			}
			add(from, e.to)
			l.multi[b] = l.multi[b] || e.div
		}
	}
	for loop, x := range l.after {
		add(loop.Latches[0], x)
	}
}

// leavesDivergent reports an edge out of a loop that lanes leave at different times.
func (l *linearizer) leavesDivergent(from, to *ir.Block) bool {
	for loop := l.a.li.Innermost(from); loop != nil && !loop.Contains(to); loop = loop.Parent {
		if l.a.divergent[loop] {
			return true
		}
	}
	return false
}

// detachPhis takes the phis out of their blocks, those of loop headers apart: a header has its preheader and its latch as
// predecessors before and after.
func (l *linearizer) detachPhis() {
	with := map[*ir.Value]*ir.Value{}
	for _, b := range l.a.rpo {
		if loop := l.a.li.Innermost(b); loop != nil && loop.Header == b {
			continue
		}
		n := numPhis(b)
		for _, phi := range b.Insts[:n] {
			if len(phi.Args) == 1 && !l.leavesDivergent(phi.Targets[0], b) {
				with[phi.Results[0]] = phi.Args[0]
			} else {
				l.phis = append(l.phis, &phiVar{b, phi})
			}
		}
		b.Insts = b.Insts[n:]
	}
	replaceAll(l.f, with)
	now := func(v *ir.Value) *ir.Value {
		for with[v] != nil {
			v = with[v]
		}
		return v
	}
	for _, p := range l.phis { // they are in no block now
		for i, v := range p.phi.Args {
			p.phi.Args[i] = now(v)
		}
	}
	for b, m := range l.mask { // conditions and masks that no instruction has yet
		l.mask[b] = now(m)
	}
	for b, v := range l.guardArg {
		l.guardArg[b] = now(v)
	}
	for _, list := range l.edges {
		for _, e := range list {
			e.cond, e.mask = now(e.cond), now(e.mask)
		}
	}
}

// applyMasks puts the block's mask on every operation with effects, and completes the masks of divergent loops.
func (l *linearizer) applyMasks() {
	for _, b := range l.a.rpo {
		m := l.mask[b]
		if isTrue(m) {
			m = nil
		}
		for _, in := range b.Insts {
			if in.Op.Row().Effects != 0 && in.Op != ir.Exit && in.Op != ir.Ret {
				in.Mask = m
			}
		}
	}
	for _, loop := range l.a.li.Loops {
		if !l.a.divergent[loop] {
			continue
		}
		pre, latch := l.preheader(loop), loop.Latches[0]
		phi := l.mask[loop.Header].Def
		phi.Args, phi.Targets = []*ir.Value{l.mask[pre], l.mask[latch]}, []*ir.Block{pre, latch}
	}
}

// rewrite gives the blocks their new successors.
func (l *linearizer) rewrite() {
	f := l.f
	for _, b := range l.ord {
		next, t := l.next[b], b.Term()
		loop := l.a.li.Innermost(b)
		switch {
		case l.isGuard(b):
			t.Targets = next
			if next[1] == nil || next[0] == next[1] {
				setTerm(f, b, ir.Br, nil, next[0])
			}
		case loop != nil && loop.Latches[0] == b && l.a.divergent[loop]:
			any := beforeTerm(b, l.newInst(ir.AnyLane, t.Line, l.mask[b]))
			setTerm(f, b, ir.CondBr, []*ir.Value{any.Results[0]}, loop.Header, next[0])
		case l.multi[b]:
			setTerm(f, b, ir.Br, nil, next[0])
		default:
			targets := make([]*ir.Block, len(t.Targets))
			for i, s := range t.Targets {
				targets[i] = l.newTarget(b, s)
			}
			t.Targets = targets
			if t.Op == ir.CondBr && targets[0] == targets[1] {
				setTerm(f, b, ir.Br, nil, targets[0])
			}
		}
	}
	f.Rewire()
}

// newTarget is where the edge from b to s of the original graph leads now, b's branch being uniform.
func (l *linearizer) newTarget(b, s *ir.Block) *ir.Block {
	if h := l.a.li.Innermost(s); h != nil && h.Header == s && h.Contains(b) {
		return s
	}
	to := s
	for loop := l.a.li.Innermost(b); loop != nil && !loop.Contains(s); loop = loop.Parent {
		if l.after[loop] != nil {
			to = loop.Latches[0]
			break
		}
	}
	if g := l.guards[to]; g != nil {
		to = g
	}
	for i, c := range l.ctl[b] {
		if c == to {
			return l.next[b][i]
		}
	}
	panic("BUG: edge without a place in the new graph")
}
