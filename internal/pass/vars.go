package pass

import (
	"slices"

	"kudzu/internal/ir"
)

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
	writes []blockWrites
	places *varPlaces
}

type blockWrites struct {
	at   *ir.Block
	list []write
}

// varPlaces is what the variable under way is in each block, by place in the order: what it holds counts where the place's round is the
// variable's, so that variables, one after the other, need not clear it.
type varPlaces struct {
	nums        ir.BlockNums
	reached     int // places of blocks that can be reached
	round       int32
	reach       []int32 // rounds of blocks that a write may come before
	inAt, outAt []int32 // rounds of in and out
	in, out     []*ir.Value
	written     []int32 // round of writes
	writes      []int32 // which of laneVar.writes
	dom         *ir.DomTree
	loop        []*stretchBack // by place: the innermost stretch that control goes back in
	work        []*ir.Block
	head        *heads
}

// stretchBack is the places between a block that control comes back to and the last that goes back there.
type stretchBack struct {
	first, last int
	outer       *stretchBack
}

func (l *linearizer) newPlaces() *varPlaces {
	// Blocks that are not reached any more stand behind the others until they are pruned.
	order := slices.Clone(l.ord)
	for _, b := range l.f.Blocks {
		if i, ok := l.idx[b]; !ok || l.ord[i] != b {
			order = append(order, b)
		}
	}
	n := len(order)
	p := &varPlaces{nums: l.f.NumberBlocks(order), reached: len(l.ord), reach: make([]int32, n), inAt: make([]int32, n), outAt: make([]int32, n), in: make([]*ir.Value, n), out: make([]*ir.Value, n),
		written: make([]int32, n), writes: make([]int32, n), dom: ir.Dominators(l.f), loop: make([]*stretchBack, n), head: newHeads(l.f)}
	var top *stretchBack // stretches that overlap count as one inside of the other
	for i, b := range l.ord {
		for top != nil && top.last < i {
			top = top.outer
		}
		last := -1
		for _, q := range b.Preds {
			if j := p.of(q); j < p.reached {
				last = max(last, j)
			}
		}
		if last >= i {
			for o := top; o != nil; o = o.outer {
				o.last = max(o.last, last)
			}
			top = &stretchBack{i, last, top}
		}
		p.loop[i] = top
	}
	return p
}

// of is the place of a block.
func (p *varPlaces) of(b *ir.Block) int {
	i, _ := p.nums.Of(b)
	return i
}

// bound is the last place on a way to block b that does not come through the beginning of an iteration, reset.
func (p *varPlaces) bound(b, reset *ir.Block) int {
	from := -1
	if reset != nil && p.dom.Dominates(reset, b) {
		from = p.of(reset)
	}
	last := p.of(b)
	for s := p.loop[last]; s != nil && s.first > from; s = s.outer {
		last = max(last, s.last)
	}
	return last
}

func (l *linearizer) newVar(places *varPlaces, home *ir.Block, t ir.Type, empty *ir.Value) *laneVar {
	places.round++
	v := &laneVar{l: l, typ: t, empty: empty, places: places}
	if loop := l.a.li.Innermost(home); loop != nil {
		v.reset = loop.Header
	}
	return v
}

// write adds an assignment at the end of b.
func (v *laneVar) write(b *ir.Block, w write) {
	p, at := v.places, v.places.of(b)
	if p.written[at] != p.round {
		p.written[at], p.writes[at] = p.round, int32(len(v.writes))
		v.writes = append(v.writes, blockWrites{at: b})
	}
	x := &v.writes[p.writes[at]]
	x.list = append(x.list, w)
}

// follow finds the blocks a write may reach on the way to some, once all writes are known.
func (v *laneVar) follow(to ...*ir.Block) {
	p := v.places
	last := -1
	for _, b := range to {
		last = max(last, p.bound(b, v.reset))
	}
	work := p.work[:0]
	for i := range v.writes {
		work = append(work, v.writes[i].at)
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, s := range b.Succs() {
			if at := p.of(s); s != v.reset && (at <= last || at >= p.reached) && p.reach[at] != p.round {
				p.reach[at] = p.round
				work = append(work, s)
			}
		}
	}
	p.work = work
}

// atStart is the variable as b begins; nil: empty.
func (v *laneVar) atStart(b *ir.Block) *ir.Value {
	p, at := v.places, v.places.of(b)
	if p.reach[at] != p.round || b == v.reset {
		return nil
	}
	if p.inAt[at] == p.round {
		return p.in[at]
	}
	if len(b.Preds) == 1 {
		x := v.atEnd(b.Preds[0])
		p.inAt[at], p.in[at] = p.round, x
		return x
	}
	phi := v.l.f.NewInst(ir.Phi, []ir.Type{v.typ})
	p.head.put(b, phi)
	p.inAt[at], p.in[at] = p.round, phi.Results[0]
	for _, q := range b.Preds {
		x := v.atEnd(q)
		if x == nil {
			x = v.none()
		}
		phi.Args, phi.Targets = append(phi.Args, x), append(phi.Targets, q)
	}
	return phi.Results[0]
}

func (v *laneVar) none() *ir.Value {
	if v.empty == nil {
		u := v.l.f.NewInst(ir.Undef, []ir.Type{v.typ})
		v.places.head.put(v.l.f.Blocks[0], u) // the entry has no phis
		v.empty = u.Results[0]
	}
	return v.empty
}

// atEnd is the variable as b ends.
func (v *laneVar) atEnd(b *ir.Block) *ir.Value {
	p, at := v.places, v.places.of(b)
	if p.written[at] != p.round {
		return v.atStart(b)
	}
	if p.outAt[at] == p.round {
		return p.out[at]
	}
	cur := v.atStart(b)
	for _, w := range v.writes[p.writes[at]].list {
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
	p.outAt[at], p.out[at] = p.round, cur
	return cur
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
			v.follow(m.block, g)
		} else {
			v.follow(m.block)
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
		v.follow(p.block)
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
