package pass

import (
	"slices"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// packStores has what a thread keeps of several words, and stores into shared memory one behind the other, done as one. After it blocks that
// follow each other, each of which stores a word where a condition holds and counts the place for the next one up there, are a StoreKept.
//
// That is the compaction of a tile: where a thread begins says a sum over those before it, so that what all lanes keep is mostly one
// stretch of memory. Lanes that store their first words, then their second ones and so on, store it in pieces of no order.
func packStores(st *state) error {
	if st.m.Width != 32 || st.m.Jam > 1 || st.never("pack_stores") {
		return st.unchanged()
	}
	st.f.Rewire()
	p := &packer{f: st.f, taken: map[*ir.Block]bool{}, least: leastKept}
	if st.always("pack_stores") {
		p.least = 1
	}
	var found []*packing
	for _, b := range st.f.RPO() {
		if c := p.from(b); c != nil {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		return st.unchanged()
	}
	for _, c := range found {
		p.pack(c)
	}
	if err := dce(st); err != nil {
		return err
	}
	for _, c := range found {
		c.straighten(st.f)
	}
	prune(st.f)
	mergeChains(st.f)
	return dce(st) // who asked whether any lane stores
}

// How many stores make it worth it, and how many there may be: a row of bits for each lane.
const leastKept, mostKept = 5, 16

// packer looks for such stores.
type packer struct {
	f     *ir.Func
	taken map[*ir.Block]bool // heads of links
	least int
}

// packing is stores that follow each other.
type packing struct{ links []*link }

// link is one of them: at the end of head warps branch to side, where the store is, if any lane is in mask.
type link struct {
	head, side, join *ir.Block
	store            *ir.Inst
	mask             *ir.Value
}

// linkAt is the link that begins at the end of b, or nil.
func (p *packer) linkAt(b *ir.Block) *link {
	t := b.Term()
	if !onAny(t) || len(t.Targets) != 2 || t.Targets[0] == t.Targets[1] {
		return nil
	}
	l := &link{head: b, side: t.Targets[0], join: t.Targets[1], mask: t.Args[0].Def.Args[0]}
	if end := l.side.Term(); len(l.side.Preds) != 1 || len(l.join.Preds) != 2 || end.Op != ir.Br || end.Targets[0] != l.join {
		return nil
	}
	for _, in := range l.side.Insts {
		switch {
		case in.Op == ir.Store && l.store == nil && in.Mask == l.mask && keepable(in):
			l.store = in
		case in.Op == ir.Phi || in.Op.Row().Effects != 0:
			return nil
		}
	}
	if l.store == nil {
		return nil
	}
	return l
}

// keepable reports a store of one word into shared memory that nobody watches.
func keepable(in *ir.Inst) bool {
	return in.Space == ir.Shared && len(in.Args) == 2 && in.Args[1].Type.Bits() == 32 && !in.Volatile && in.Order == ir.Weak
}

// from is the stores that follow each other from b on, or nil.
func (p *packer) from(b *ir.Block) *packing {
	c := &packing{}
	forms := &analysis.Forms{}
	for !p.taken[b] && len(c.links) < mostKept {
		l := p.linkAt(b)
		if l == nil {
			break
		}
		if n := len(c.links); n > 0 && !(quiet(b) && follows(forms, c.links[n-1], l)) {
			break
		}
		c.links = append(c.links, l)
		b = l.join
	}
	if len(c.links) < p.least {
		return nil
	}
	for _, l := range c.links {
		p.taken[l.head] = true
	}
	return c
}

// quiet reports a block that touches nothing.
func quiet(b *ir.Block) bool {
	return !slices.ContainsFunc(b.Insts, func(in *ir.Inst) bool { return !in.Op.IsTerm() && in.Op.Row().Effects != 0 })
}

// follows reports that m stores where l does, or one word behind it in lanes in which l has stored.
func follows(forms *analysis.Forms, l, m *link) bool {
	x, y := m.store.Args[0], l.store.Args[0]
	if a, b := x.Def, y.Def; a != nil && b != nil && a.Op == ir.ZExt && b.Op == ir.ZExt && a.Args[0].Type == ir.I32 && b.Args[0].Type == ir.I32 { // an offset of 32 bits
		x, y = a.Args[0], b.Args[0]
	}
	d := forms.Of(x).Plus(forms.Of(y), -1)
	if len(d.Terms) == 1 && d.C == 0 && d.Terms[0].K == 4 && l.one(d.Terms[0].V) { // the sum is part of the address
		return true
	}
	if d.C != 0 || len(d.Terms) != 2 || d.Terms[0].V.Type != d.Terms[1].V.Type || d.Terms[0].Ext != d.Terms[1].Ext {
		return false
	}
	next, at := d.Terms[0], d.Terms[1]
	if next.K != 4 {
		next, at = at, next
	}
	return next.K == 4 && (at.K+4)<<(64-d.Bits) == 0 && l.counts(next.V, at.V)
}

// counts reports that behind the link next is at, and one more where l has stored.
func (l *link) counts(next, at *ir.Value) bool {
	if d := next.Def; d != nil && d.Op == ir.Phi && d.Block == l.join {
		var x *ir.Value
		for i, from := range d.Targets {
			if from == l.side {
				x = d.Args[i]
			} else if !apart(d.Args[i], at, 0, 0) {
				return false
			}
		}
		return x != nil && l.step(x, at)
	}
	return l.step(next, at)
}

// step reports that x is at, and one more where l's mask is set.
func (l *link) step(x, at *ir.Value) bool {
	d := x.Def
	if d == nil {
		return false
	}
	switch d.Op {
	case ir.Select:
		set, clear := d.Args[1], d.Args[2]
		switch {
		case d.Args[0] == l.mask:
		case opposite(d.Args[0], l.mask):
			set, clear = clear, set
		default:
			return false
		}
		return apart(set, at, 1, 0) && apart(clear, at, 0, 0)
	case ir.Add:
		return l.one(d.Args[1]) && apart(d.Args[0], at, 0, 0) || l.one(d.Args[0]) && apart(d.Args[1], at, 0, 0)
	}
	return false
}

// one reports the mask as a number.
func (l *link) one(v *ir.Value) bool {
	d := v.Def
	switch {
	case d == nil:
		return false
	case d.Op == ir.ZExt:
		return d.Args[0] == l.mask
	case d.Op != ir.Select || !d.Args[1].Const || !d.Args[2].Const:
		return false
	}
	set, clear := d.Args[1].Bits, d.Args[2].Bits
	return d.Args[0] == l.mask && set == 1 && clear == 0 || opposite(d.Args[0], l.mask) && set == 0 && clear == 1
}

// apart reports that x is y + k: sums with constants, chosen alike.
func apart(x, y *ir.Value, k int64, depth int) bool {
	if x == y {
		return k == 0
	}
	if x.Type != y.Type || depth > 3*mostKept {
		return false
	}
	if x.Const && y.Const {
		return x.Int() == y.Int()+k
	}
	if d := x.Def; d != nil && d.Op == ir.Add && d.Args[1].Const {
		return apart(d.Args[0], y, k-d.Args[1].Int(), depth+1)
	}
	if d := y.Def; d != nil && d.Op == ir.Add && d.Args[1].Const {
		return apart(x, d.Args[0], k+d.Args[1].Int(), depth+1)
	}
	a, b := x.Def, y.Def
	if a == nil || b == nil || a.Op != b.Op {
		return false
	}
	switch a.Op {
	case ir.Select:
		return a.Args[0] == b.Args[0] && apart(a.Args[1], b.Args[1], k, depth+1) && apart(a.Args[2], b.Args[2], k, depth+1)
	case ir.Phi:
		if a.Block != b.Block || len(a.Block.Preds) != 2 || !slices.Equal(a.Targets, b.Targets) {
			return false
		}
		for i := range a.Args {
			if !apart(a.Args[i], b.Args[i], k, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}

// pack puts one store behind the last of them.
func (p *packer) pack(c *packing) {
	last := c.links[len(c.links)-1]
	var stored, kept []*ir.Value
	for i, l := range c.links {
		l.mask = l.head.Term().Args[0].Def.Args[0] // it may have been a phi of the link before
		if i == 0 {
			l.hoist(l.store.Args[0])
		}
		l.hoist(l.store.Args[1])
		stored, kept = append(stored, l.store.Args[1]), append(kept, l.mask)
		p.always(l)
		l.side.Insts = slices.DeleteFunc(l.side.Insts, func(in *ir.Inst) bool { return in == l.store })
	}
	first := c.links[0].store
	var put []*ir.Inst
	some := kept[0]
	for _, m := range kept[1:] {
		or := p.f.NewInst(ir.Or, []ir.Type{ir.I1}, some, m)
		or.Line, some = first.Line, or.Results[0]
		put = append(put, or)
	}
	in := p.f.NewInst(ir.StoreKept, nil, slices.Concat(first.Args[:1], stored, kept)...)
	in.Space, in.Align, in.Line, in.Mask = first.Space, first.Align, first.Line, some
	insertAt(last.join, numPhis(last.join), append(put, in)...)
}

// always computes on all ways what the side leaves as it was where no lane is in the mask.
func (p *packer) always(l *link) {
	with := map[*ir.Value]*ir.Value{}
	for _, phi := range l.join.Insts[:numPhis(l.join)] {
		x, y := phi.Args[0], phi.Args[1]
		if phi.Targets[0] != l.side {
			x, y = y, x
		}
		if d := x.Def; d != nil && d.Op == ir.Select && (d.Args[0] == l.mask && d.Args[2] == y || opposite(d.Args[0], l.mask) && d.Args[1] == y) {
			l.hoist(x)
			with[phi.Results[0]] = x
		}
	}
	replaceAll(p.f, with)
}

// hoist computes v before the branch to the side.
func (l *link) hoist(v *ir.Value) {
	d := v.Def
	if d == nil || d.Block != l.side {
		return
	}
	for _, a := range d.Args {
		l.hoist(a)
	}
	l.side.Insts = slices.DeleteFunc(l.side.Insts, func(in *ir.Inst) bool { return in == d })
	beforeTerm(l.head, d)
}

// straighten takes the branches away that lead to nothing any more.
func (c *packing) straighten(f *ir.Func) {
	for _, l := range c.links {
		if len(l.side.Insts) == 1 && numPhis(l.join) == 0 {
			setTerm(f, l.head, ir.Br, nil, l.join)
		}
	}
}
