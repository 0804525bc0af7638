package pass

import "kudzu/internal/ir"

// fullMaskLoops peels the full iterations of jammed warps' loops. After it a loop of one block that lanes leave one by one has another
// before it, without masks and without the choices that keep what lanes had when they left: it runs while every lane of every
// jammed warp goes on. The loop itself does what is left, mostly nothing.
//
// Warps that are not jammed have such a loop where it stores vectors of four elements a lane: only of all lanes are these one piece of
// memory, which need not be taken apart into elements and put together again. And they have it where three values or more are kept of
// lanes that left, as a running mean, its squares and their count.
//
// Norms, sums and softmax walk a row by strides of the block. With masks each of eight jammed warps has a mask, a choice for each
// value that leaves the loop and half of its vectors in the stack, in every iteration, for the sake of the last one.
func fullMaskLoops(st *state) error {
	if st.m.Width != 32 || st.never("full_mask_loops") {
		return st.unchanged()
	}
	f := st.f
	f.Rewire()
	var found []*fullLoop
	for _, b := range f.Blocks {
		if l := fullLoopOf(f, b); l != nil && (st.m.Jam > 1 || l.wide() || l.kept() >= manyKept) {
			found = append(found, l)
		}
	}
	if len(found) == 0 {
		return st.unchanged()
	}
	for _, l := range found {
		l.peel()
	}
	relayout(f)
	if err := simplify(st); err != nil {
		return err
	}
	return dce(st)
}

// maxFullInsts bounds what is copied; manyKept is how many values that lanes keep are worth it for one warp.
const maxFullInsts, manyKept = 700, 3

// fullLoop is a block that is a loop by itself, with a mask for each warp.
type fullLoop struct {
	f         *ir.Func
	pre, body *ir.Block
	exit      *ir.Block
	masks     []*ir.Inst // phis
	goOn      []*ir.Value
}

// fullLoopOf is the loop that b is; nil: it is none, or all its lanes go together already.
func fullLoopOf(f *ir.Func, b *ir.Block) *fullLoop {
	t := b.Term()
	if !onAny(t) || t.Args[0].Def.Block != b || len(b.Preds) != 2 || len(b.Insts) > maxFullInsts {
		return nil
	}
	l := &fullLoop{f: f, body: b}
	switch {
	case t.Targets[0] == b && t.Targets[1] != b:
		l.exit = t.Targets[1]
	default:
		return nil
	}
	l.pre = b.Preds[0]
	if l.pre == b {
		l.pre = b.Preds[1]
	}
	if l.pre.Term().Op != ir.Br {
		return nil
	}
	for _, in := range b.Insts[:len(b.Insts)-1] {
		if !harmless(in) || in.Op == ir.Atomic || in.Op == ir.AtomicCAS {
			return nil
		}
	}
	if !l.leaves(t.Args[0].Def.Args[0], map[*ir.Value]bool{}) || len(l.masks) == 0 {
		return nil
	}
	return l
}

// wide reports a loop that stores vectors of four elements, and reads such.
func (l *fullLoop) wide() bool {
	reads, writes := false, false
	for _, in := range l.body.Insts {
		switch {
		case in.Op == ir.Load:
			reads = reads || len(in.Results) == 4
		case in.Op == ir.Store:
			writes = writes || len(in.Args) == 5
		}
	}
	return reads && writes
}

// kept counts the values that lanes keep when they leave: each is a choice an iteration.
func (l *fullLoop) kept() int {
	n := 0
	for _, phi := range l.body.Insts[:numPhis(l.body)] {
		if d := from(phi, l.body).Def; d != nil && d.Op == ir.Select && (d.Args[1] == phi.Results[0] || d.Args[2] == phi.Results[0]) {
			n++
		}
	}
	return n
}

// leaves takes the masks of the next iteration apart, each what a phi is and a condition of its own.
func (l *fullLoop) leaves(v *ir.Value, seen map[*ir.Value]bool) bool {
	d := v.Def
	if d == nil || d.Block != l.body || seen[v] {
		return d != nil && seen[v]
	}
	seen[v] = true
	switch d.Op {
	case ir.Or:
		return l.leaves(d.Args[0], seen) && l.leaves(d.Args[1], seen)
	case ir.And:
		for i, m := range d.Args {
			if p := m.Def; p != nil && p.Op == ir.Phi && p.Block == l.body && from(p, l.body) == v {
				l.masks, l.goOn = append(l.masks, p), append(l.goOn, d.Args[1-i])
				return true
			}
		}
	}
	return false
}

// from is what phi is on the way from b.
func from(phi *ir.Inst, b *ir.Block) *ir.Value {
	for i, p := range phi.Targets {
		if p == b {
			return phi.Args[i]
		}
	}
	panic("BUG: phi without a way")
}

// peel puts the copy without masks before the loop.
func (l *fullLoop) peel() {
	f := l.f
	fast, mixed := f.NewBlock(""), f.NewBlock("")
	c := &fullMaskCopy{f: f, known: map[*ir.Value]bool{}, with: map[*ir.Value]*ir.Value{}}
	for _, m := range l.masks {
		c.with[m.Results[0]] = constBool(true)
	}
	insts, term := l.body.Insts, l.body.Term()
	np := numPhis(l.body)
	on := map[*ir.Value]bool{} // what is true where the fast loop goes on
	for i, m := range l.masks {
		on[m.Results[0]] = true
		learn(on, l.goOn[i], true)
	}
	var phis []*ir.Inst
	for _, phi := range insts[:np] {
		v := phi.Results[0]
		if c.with[v] != nil {
			continue
		}
		if stays(on, from(phi, l.body), v) {
			c.with[v] = from(phi, l.pre)
			continue
		}
		n := f.NewInst(ir.Phi, []ir.Type{v.Type}, from(phi, l.pre))
		n.Line, n.Targets = phi.Line, []*ir.Block{l.pre}
		fast.Append(n)
		c.with[v] = n.Results[0]
		phis = append(phis, phi)
	}
	for _, in := range insts[np : len(insts)-1] {
		if n := c.inst(in); n != nil {
			fast.Append(n)
		}
	}
	for _, phi := range phis {
		n := c.with[phi.Results[0]].Def
		n.Args, n.Targets = append(n.Args, c.value(chosen(on, from(phi, l.body)))), append(n.Targets, fast)
	}
	conds, before := l.conditions()
	for i, v := range conds {
		conds[i] = c.value(v)
	}
	enter := before
	for _, m := range l.masks {
		enter = append(enter, from(m, l.pre))
	}
	l.branch(fast, conds, term.Line, fast, mixed)
	l.branch(l.pre, enter, term.Line, fast, l.body)
	setTerm(f, mixed, ir.CondBr, []*ir.Value{c.value(term.Args[0])}, l.body, l.exit).Line = term.Line
	for _, b := range []*ir.Block{l.body, l.exit} {
		for _, phi := range b.Insts[:numPhis(b)] {
			phi.Args, phi.Targets = append(phi.Args, c.value(from(phi, l.body))), append(phi.Targets, mixed)
		}
	}
	f.Rewire()
	l.repair(c, fast)
}

// stays reports that v, the phi's value of the next iteration, is the phi itself while all lanes go on.
func stays(on map[*ir.Value]bool, v, phi *ir.Value) bool { return chosen(on, v) == phi }

// chosen looks through choices that are known while all lanes go on.
func chosen(on map[*ir.Value]bool, v *ir.Value) *ir.Value {
	for v.Def != nil && v.Def.Op == ir.Select {
		is, ok := truth(on, v.Def.Args[0], 0)
		switch {
		case !ok:
			return v
		case is:
			v = v.Def.Args[1]
		default:
			v = v.Def.Args[2]
		}
	}
	return v
}

// branch ends b with one that goes to yes if every lane has every condition.
func (l *fullLoop) branch(b *ir.Block, conds []*ir.Value, line int32, yes, no *ir.Block) {
	term := b.Term()
	if term != nil {
		b.Insts = b.Insts[:len(b.Insts)-1]
	}
	var all *ir.Value
	for _, v := range conds {
		if isTrue(v) {
			continue
		}
		a := l.f.NewInst(ir.AllLanes, []ir.Type{ir.I1}, v)
		a.Line = line
		b.Append(a)
		if all == nil {
			all = a.Results[0]
			continue
		}
		and := l.f.NewInst(ir.And, []ir.Type{ir.I1}, all, a.Results[0])
		and.Line = line
		b.Append(and)
		all = and.Results[0]
	}
	if all == nil {
		all = constBool(true)
	}
	br := l.f.NewInst(ir.CondBr, nil, all)
	br.Line, br.Targets = line, []*ir.Block{yes, no}
	b.Append(br)
}

// offset is a number plus a constant below a bound, signed or not: what a warp's condition to go on looks like.
type offset struct {
	cmp   ir.Cmp
	base  *ir.Value
	bound *ir.Value
}

// conditions are those under which all lanes go on, and what must hold before the loop for them to be enough. Warps' numbers that differ by
// constants are below a bound if the smallest and the largest are, and no sum wraps.
func (l *fullLoop) conditions() (conds, before []*ir.Value) {
	type reach struct {
		least, most     int64
		leastIs, mostIs *ir.Value
		n               int
	}
	found := map[offset]*reach{}
	var order []offset
	for _, v := range l.goOn {
		o, k, ok := l.offsetOf(v)
		if !ok {
			conds = append(conds, v)
			continue
		}
		r := found[o]
		if r == nil {
			r = &reach{k, k, v, v, 0}
			found[o] = r
			order = append(order, o)
		}
		r.n++
		if k < r.least {
			r.least, r.leastIs = k, v
		}
		if k > r.most {
			r.most, r.mostIs = k, v
		}
	}
	for _, o := range order {
		r := found[o]
		conds = append(conds, r.leastIs)
		if r.n == 1 {
			continue
		}
		conds = append(conds, r.mostIs)
		in := farFromEnd(l.f, o.cmp, o.bound, r.most-r.least)
		in.Line = l.body.Term().Line
		beforeTerm(l.pre, in)
		before = append(before, in.Results[0])
	}
	return conds, before
}

// offsetOf takes v apart: base + k below a bound that the loop does not change.
func (l *fullLoop) offsetOf(v *ir.Value) (o offset, k int64, ok bool) {
	d := v.Def
	if d == nil || d.Op != ir.ICmp || d.Block != l.body || d.Args[0].Type != ir.I32 {
		return o, 0, false
	}
	switch d.Cmp {
	case ir.LT, ir.LE, ir.LO, ir.LS:
	default:
		return o, 0, false
	}
	o = offset{d.Cmp, d.Args[0], d.Args[1]}
	if o.bound.Def != nil && o.bound.Def.Block == l.body {
		return o, 0, false
	}
	o.base, k = withoutConstant(o.base, l.body)
	return o, k, true
}

// repair gives uses behind the loop the value that reaches them.
func (l *fullLoop) repair(c *fullMaskCopy, fast *ir.Block) {
	head := newHeads(l.f)
	dom := ir.Dominators(l.f)
	vars := map[*ir.Value]*ssaVar{}
	bad := func(v *ir.Value, at *ir.Block) bool {
		return v.Def != nil && v.Def.Block == l.body && at != l.body && !dom.Dominates(l.body, at)
	}
	get := func(v *ir.Value) *ssaVar {
		s := vars[v]
		if s == nil {
			s = newSSA(head, v.Type)
			s.out[l.body], s.out[fast] = v, c.value(v)
			vars[v] = s
		}
		return s
	}
	for _, b := range l.f.Blocks {
		for _, in := range b.Insts {
			for i, v := range in.Args {
				if in.Op == ir.Phi {
					if p := in.Targets[i]; bad(v, p) {
						in.Args[i] = get(v).atEnd(p)
					}
				} else if bad(v, b) {
					in.Args[i] = get(v).atStart(b)
				}
			}
			if in.Mask != nil && bad(in.Mask, b) {
				in.Mask = get(in.Mask).atStart(b)
			}
		}
	}
	head.done()
	l.f.Rewire()
}
