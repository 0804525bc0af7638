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

func isTrueConst(v *ir.Value) bool { return v != nil && isTrue(v) }

// variables rebuilds masks and phis on the new graph, whose Preds are current.
func (l *linearizer) variables() {
	f := l.f
	with := map[*ir.Value]*ir.Value{}
	l.edgeMasks()
	places := l.newPlaces()
	for _, m := range l.names {
		v := l.newVar(places, m.block, ir.I1, ir.ConstInt(ir.I1, 0))
		for _, e := range l.into[m.block] {
			v.write(e.from, write{nil, e.mask})
		}
		g := l.guards[m.block]
		if g != nil {
			v.solve(m.block, g)
		} else {
			v.solve(m.block)
		}
		x := v.atStart(m.block)
		if x == nil {
			x = v.none()
		}
		with[m.name] = x
		if g != nil {
			with[l.guardArg[g]] = v.guardMask(g)
		}
	}
	for _, p := range l.phis {
		v := l.newVar(places, p.block, p.phi.Results[0].Type, nil)
		for i, from := range p.phi.Targets {
			for _, e := range l.into[p.block] {
				if e.from == from {
					v.write(from, write{e.mask, p.phi.Args[i]})
				}
			}
		}
		v.solve(p.block)
		x := v.atStart(p.block)
		if x == nil {
			x = v.none()
		}
		with[p.phi.Results[0]] = x
	}
	places.head.done()
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
