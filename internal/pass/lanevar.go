package pass

import (
	"cmp"
	"slices"

	"kudzu/internal/ir"
)

// laneVar is a variable of the lanes on the new graph. It is empty where the loop it lives in begins an iteration. What it is in a block is
// what the nearest block gave it that dominates this one: one that writes it, or one with a phi, which stand where writes meet other
// ways (Cytron et al., iterated dominance frontiers).
type laneVar struct {
	l      *linearizer
	typ    ir.Type
	empty  *ir.Value // false for masks; nil for values: undefined
	reset  *ir.Block
	writes []blockWrites
	defs   []laneDef // by interval
	places *varPlaces
}

type blockWrites struct {
	at   *ir.Block
	list []write
}

// laneDef is a block that writes the variable or has a phi of it, or where it becomes empty.
type laneDef struct {
	block      *ir.Block
	first, end int32 // its interval in the dominator tree
	up         int   // the def that dominates it, -1: none
}

// varPlaces is what variables, one after the other, need of the graph, and what the one under way is in each block. Blocks go by their
// numbers; what is held of one counts where its epoch is the variable's.
type varPlaces struct {
	blocks      []*ir.Block // in reverse postorder
	nums        ir.BlockNums
	dom         *ir.DomTree
	frontier    [][]int32
	loop        []*stretchBack // the innermost stretch that control goes back in
	head        *heads
	epoch       int32
	inAt, outAt []int32 // epochs of in and out
	in, out     []*ir.Value
	joins       []int32 // epoch of phis
	written     []int32 // epoch of writes
	writes      []int32 // which of laneVar.writes
	work        []int32
}

// stretchBack is the blocks between a block that control comes back to and the last that goes back there.
type stretchBack struct {
	first, last int
	outer       *stretchBack
}

func (l *linearizer) newPlaces() *varPlaces {
	p := &varPlaces{dom: ir.Dominators(l.f), head: newHeads(l.f)}
	p.blocks, p.nums = p.dom.Reachable()
	p.frontier = p.dom.Frontiers()
	n := len(p.blocks)
	p.inAt, p.outAt, p.joins, p.written, p.writes = make([]int32, n), make([]int32, n), make([]int32, n), make([]int32, n), make([]int32, n)
	p.in, p.out, p.loop = make([]*ir.Value, n), make([]*ir.Value, n), make([]*stretchBack, n)
	var top *stretchBack // stretches that overlap count as one inside of the other
	for i, b := range p.blocks {
		for top != nil && top.last < i {
			top = top.outer
		}
		last := -1
		for _, q := range b.Preds {
			if j, ok := p.nums.Of(q); ok {
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

// bound is the last block on a way to block b that does not come through the beginning of an iteration, reset.
func (p *varPlaces) bound(b, reset *ir.Block) int {
	from := -1
	if reset != nil {
		if !p.dom.Dominates(reset, b) {
			panic("BUG: a loop's header does not dominate what is in it")
		}
		from, _ = p.nums.Of(reset)
	}
	last, _ := p.nums.Of(b)
	for s := p.loop[last]; s != nil && s.first > from; s = s.outer {
		last = max(last, s.last)
	}
	return last
}

func (l *linearizer) newVar(places *varPlaces, home *ir.Block, t ir.Type, empty *ir.Value) *laneVar {
	places.epoch++
	v := &laneVar{l: l, typ: t, empty: empty, places: places}
	if loop := l.a.li.Innermost(home); loop != nil {
		v.reset = loop.Header
	}
	return v
}

// write adds an assignment at the end of b.
func (v *laneVar) write(b *ir.Block, w write) {
	p := v.places
	at, ok := p.nums.Of(b)
	if !ok { // it is not reached any more
		return
	}
	if p.written[at] != p.epoch {
		p.written[at], p.writes[at] = p.epoch, int32(len(v.writes))
		v.writes = append(v.writes, blockWrites{at: b})
	}
	x := &v.writes[p.writes[at]]
	x.list = append(x.list, w)
}

// solve finds where phis must stand on the ways to some blocks, once all writes are known.
func (v *laneVar) solve(to ...*ir.Block) {
	p := v.places
	last := -1
	for _, b := range to {
		last = max(last, p.bound(b, v.reset))
	}
	reset := -1
	if v.reset != nil {
		if reset, _ = p.nums.Of(v.reset); p.written[reset] != p.epoch {
			v.def(v.reset)
		}
	}
	work := p.work[:0]
	for i := range v.writes {
		at, _ := p.nums.Of(v.writes[i].at)
		v.def(v.writes[i].at)
		work = append(work, int32(at))
	}
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		for _, y := range p.frontier[x] {
			if int(y) > last || int(y) <= reset || p.joins[y] == p.epoch {
				continue
			}
			p.joins[y] = p.epoch
			if p.written[y] != p.epoch {
				v.def(v.places.blocks[y])
				work = append(work, y)
			}
		}
	}
	p.work = work
	slices.SortFunc(v.defs, func(x, y laneDef) int { return cmp.Compare(x.first, y.first) })
	for i := range v.defs {
		up := i - 1
		for up >= 0 && v.defs[up].end <= v.defs[i].first {
			up = v.defs[up].up
		}
		v.defs[i].up = up
	}
}

func (v *laneVar) def(b *ir.Block) {
	at, _ := v.places.nums.Of(b)
	first, end := v.places.dom.Interval(at)
	v.defs = append(v.defs, laneDef{block: b, first: first, end: end})
}

// before is the nearest def that dominates the block of a number and is not in it; nil: none.
func (v *laneVar) before(at int) *ir.Block {
	first, _ := v.places.dom.Interval(at)
	i, _ := slices.BinarySearchFunc(v.defs, first, func(d laneDef, at int32) int { return cmp.Compare(d.first, at) })
	for i--; i >= 0 && v.defs[i].end <= first; {
		i = v.defs[i].up
	}
	if i < 0 {
		return nil
	}
	return v.defs[i].block
}

// atStart is the variable as b begins; nil: empty.
func (v *laneVar) atStart(b *ir.Block) *ir.Value {
	p := v.places
	at, ok := p.nums.Of(b)
	if !ok || b == v.reset {
		return nil
	}
	if p.inAt[at] == p.epoch {
		return p.in[at]
	}
	if p.joins[at] != p.epoch {
		if d := v.before(at); d != nil {
			return v.atEnd(d)
		}
		return nil
	}
	phi := v.l.f.NewInst(ir.Phi, []ir.Type{v.typ})
	p.head.put(b, phi)
	p.inAt[at], p.in[at] = p.epoch, phi.Results[0]
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
	p := v.places
	at, ok := p.nums.Of(b)
	if !ok || p.written[at] != p.epoch {
		return v.atStart(b)
	}
	if p.outAt[at] == p.epoch {
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
	p.outAt[at], p.out[at] = p.epoch, cur
	return cur
}
