package pass

import "kudzu/internal/ir"

// maskVar is the mask of a block as a variable: the or of the masks of the edges into it.
type maskVar struct {
	block *ir.Block
	name  *ir.Value
}

// phiVar is a phi as a variable, assigned by the edges into its block.
type phiVar struct {
	block *ir.Block
	phi   *ir.Inst
}

// write is an assignment at the end of a block.
type write struct {
	mask *ir.Value // lanes that are assigned; nil: this is a mask, or it in
	val  *ir.Value
}

// laneVar is a variable of the lanes on the new graph. It is empty where the loop it lives in begins an iteration.
type laneVar struct {
	l      *linearizer
	typ    ir.Type
	empty  *ir.Value // false for masks; nil for values: undefined
	reset  *ir.Block
	writes map[*ir.Block][]write
	reach  map[*ir.Block]bool // blocks that a write may come before
	in     map[*ir.Block]*ir.Value
	out    map[*ir.Block]*ir.Value
}

func (l *linearizer) newVar(home *ir.Block, t ir.Type, empty *ir.Value) *laneVar {
	v := &laneVar{l: l, typ: t, empty: empty, writes: map[*ir.Block][]write{}, in: map[*ir.Block]*ir.Value{}, out: map[*ir.Block]*ir.Value{}}
	if loop := l.a.li.Innermost(home); loop != nil {
		v.reset = loop.Header
	}
	return v
}

// follow finds the blocks a write may reach, once all writes are known.
func (v *laneVar) follow() {
	v.reach = map[*ir.Block]bool{}
	var work []*ir.Block
	for b := range v.writes {
		work = append(work, b)
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, s := range b.Succs() {
			if !v.reach[s] && s != v.reset {
				v.reach[s] = true
				work = append(work, s)
			}
		}
	}
}

// atStart is the variable as b begins; nil: empty.
func (v *laneVar) atStart(b *ir.Block) *ir.Value {
	if !v.reach[b] || b == v.reset {
		return nil
	}
	if x, ok := v.in[b]; ok {
		return x
	}
	if len(b.Preds) == 1 {
		x := v.atEnd(b.Preds[0])
		v.in[b] = x
		return x
	}
	phi := v.l.f.NewInst(ir.Phi, []ir.Type{v.typ})
	insertAt(b, 0, phi)
	v.in[b] = phi.Results[0]
	for _, p := range b.Preds {
		x := v.atEnd(p)
		if x == nil {
			x = v.none()
		}
		phi.Args, phi.Targets = append(phi.Args, x), append(phi.Targets, p)
	}
	return v.in[b]
}

func (v *laneVar) none() *ir.Value {
	if v.empty == nil {
		u := v.l.f.NewInst(ir.Undef, []ir.Type{v.typ})
		e := v.l.f.Blocks[0]
		insertAt(e, numPhis(e), u)
		v.empty = u.Results[0]
	}
	return v.empty
}

// atEnd is the variable as b ends.
func (v *laneVar) atEnd(b *ir.Block) *ir.Value {
	ws := v.writes[b]
	if len(ws) == 0 {
		return v.atStart(b)
	}
	if x, ok := v.out[b]; ok {
		return x
	}
	cur := v.atStart(b)
	for _, w := range ws {
		switch {
		case cur == nil || isTrueConst(w.mask):
			cur = w.val
		case w.mask == nil:
			cur = beforeTerm(b, v.l.newInst(ir.Or, b.Term().Line, cur, w.val)).Results[0]
		default:
			in := v.l.f.NewInst(ir.Select, []ir.Type{v.typ}, w.mask, w.val, cur)
			in.Line = b.Term().Line
			cur = beforeTerm(b, in).Results[0]
		}
	}
	v.out[b] = cur
	return cur
}

func isTrueConst(v *ir.Value) bool { return v != nil && isTrue(v) }

// variables rebuilds masks and phis on the new graph, whose Preds are current.
func (l *linearizer) variables() {
	f := l.f
	with := map[*ir.Value]*ir.Value{}
	l.edgeMasks()
	for _, m := range l.names {
		v := l.newVar(m.block, ir.I1, ir.ConstInt(ir.I1, 0))
		for _, e := range l.into[m.block] {
			v.writes[e.from] = append(v.writes[e.from], write{nil, e.mask})
		}
		v.follow()
		x := v.atStart(m.block)
		if x == nil {
			x = v.none()
		}
		with[m.name] = x
		if g := l.guards[m.block]; g != nil {
			with[l.guardArg[g]] = v.guardMask(g)
		}
	}
	for _, p := range l.phis {
		v := l.newVar(p.block, p.phi.Results[0].Type, nil)
		for i, from := range p.phi.Targets {
			for _, e := range l.into[p.block] {
				if e.from == from {
					v.writes[from] = append(v.writes[from], write{e.mask, p.phi.Args[i]})
				}
			}
		}
		v.follow()
		x := v.atStart(p.block)
		if x == nil {
			x = v.none()
		}
		with[p.phi.Results[0]] = x
	}
	replaceAll(f, with)
}

// guardMask is the mask a guard tests: that of the block behind it.
func (v *laneVar) guardMask(g *ir.Block) *ir.Value {
	if x := v.atStart(g); x != nil {
		return x
	}
	return v.none()
}

// edgeMasks computes, at the end of each block, the masks of the edges that leave it.
func (l *linearizer) edgeMasks() {
	needed := map[*ir.Block]bool{}
	for _, m := range l.names {
		needed[m.block] = true
	}
	for _, p := range l.phis {
		needed[p.block] = true
	}
	for _, b := range l.a.rpo {
		for _, e := range l.edges[b] {
			e.mask = l.mask[b]
			if !e.div && !e.split || !needed[e.to] {
				continue
			}
			c := e.cond
			line := b.Term().Line
			if e.neg {
				c = beforeTerm(b, l.newInst(ir.Not, line, c)).Results[0]
			}
			if isTrue(l.mask[b]) {
				e.mask = c
			} else {
				e.mask = beforeTerm(b, l.newInst(ir.And, line, l.mask[b], c)).Results[0]
			}
		}
	}
}
