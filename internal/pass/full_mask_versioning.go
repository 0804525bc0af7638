package pass

import "kudzu/internal/ir"

// fullMaskVersioning versions code under a border condition on whether the mask is full. After it a costly region that such a
// condition guards is there twice: for warps of which every lane is inside, without masks and without the blends of the other side, and for the rest.
//
// Most warps of a stencil have no lane on the border. With masks each of their loads is an instruction of its own, and what lanes
// inside and lanes on the border store is chosen lane by lane, address and all.
func fullMaskVersioning(st *state) error {
	if st.m.Width != 32 || st.m.Jam > 1 || st.never("full_mask_versioning") || !acyclic(st) {
		return st.unchanged()
	}
	least := insideAccesses
	if st.always("full_mask_versioning") {
		least = 0
	}
	for _, g := range st.f.Blocks {
		t := g.Term()
		if !onAny(t) || t.Targets[0] == t.Targets[1] {
			continue
		}
		m := t.Args[0].Def.Args[0]
		if chain := chainOf(t.Targets[0]); chain != nil && accessesWith(chain[0], m) >= least {
			copyInside(st.f, g, m, chain)
			relayout(st.f)
			if err := simplify(st); err != nil {
				return err
			}
			return dce(st) // one is enough: others would multiply
		}
	}
	return st.unchanged()
}

// insideAccesses is how many accesses to memory a stretch has whose code is worth having twice.
const insideAccesses = 6

// insideCode bounds what is copied.
const insideCode = 400

// acyclic reports a function without loops and barriers, in an order in which blocks come after what leads to them.
func acyclic(st *state) bool {
	if len(st.loops().Loops) > 0 {
		return false
	}
	for _, b := range st.f.Blocks {
		for _, in := range b.Insts {
			if in.Op == ir.Bar || in.Op == ir.GridSync || isYield(in) {
				return false
			}
		}
	}
	return true
}

// chainOf is the blocks from b that follow each other without a choice, up to one that only ends the kernel; nil: there is no such end.
func chainOf(b *ir.Block) []*ir.Block {
	var chain []*ir.Block
	n := 0
	for len(b.Succs()) == 1 {
		chain = append(chain, b)
		n += len(b.Insts)
		b = b.Succs()[0]
	}
	if len(b.Succs()) != 0 || len(b.Insts) != 1 || b.Term().Op != ir.Exit || len(chain) == 0 || n > insideCode || numPhis(chain[0]) > 0 {
		return nil
	}
	return chain
}

// accessesWith counts accesses of the lanes of m.
func accessesWith(b *ir.Block, m *ir.Value) int {
	n := 0
	for _, in := range b.Insts {
		if (in.Op == ir.Load || in.Op == ir.Store) && in.Mask == m {
			n++
		}
	}
	return n
}

// copyInside copies the chain for warps whose lanes all have m, and has g choose between the copy and the chain.
func copyInside(f *ir.Func, g *ir.Block, m *ir.Value, chain []*ir.Block) {
	c := &fullMaskCopy{f: f, known: map[*ir.Value]bool{}, with: map[*ir.Value]*ir.Value{}}
	learn(c.known, m, true)
	end := chain[len(chain)-1].Succs()[0]
	copies := make([]*ir.Block, len(chain), len(chain)+1)
	for i := range chain {
		copies[i] = f.NewBlock("")
	}
	copies = append(copies, end)
	for i, b := range chain {
		c.block(b, chain[max(i, 1)-1], copies[i], copies[i+1])
	}
	n := f.NewBlock("")
	all := f.NewInst(ir.AllLanes, []ir.Type{ir.I1}, m)
	all.Line = g.Term().Line
	n.Append(all)
	br := f.NewInst(ir.CondBr, nil, all.Results[0])
	br.Line, br.Targets = g.Term().Line, []*ir.Block{copies[0], chain[0]}
	n.Append(br)
	retarget(g, chain[0], n)
	renamePred(chain[0], g, n)
	f.Rewire()
}

// fullMaskCopy copies code for warps in which conditions are known.
type fullMaskCopy struct {
	f     *ir.Func
	known map[*ir.Value]bool      // conditions that are true, or false, in all lanes
	with  map[*ir.Value]*ir.Value // original → copy
}

// value is v in the copy: a constant where the known conditions decide it.
func (c *fullMaskCopy) value(v *ir.Value) *ir.Value {
	if w := c.with[v]; w != nil {
		return w
	}
	if is, ok := truth(c.known, v, 0); ok {
		return constBool(is)
	}
	return v
}

// block copies b to the block to, which is entered from the copy of prev alone and goes on to next.
func (c *fullMaskCopy) block(b, prev, to, next *ir.Block) {
	for _, in := range b.Insts {
		if in.Op == ir.Phi {
			for k, from := range in.Targets {
				if from == prev {
					c.with[in.Results[0]] = c.value(in.Args[k])
				}
			}
			continue
		}
		n := c.inst(in)
		if n == nil {
			continue
		}
		if in.Op.IsTerm() {
			n.Targets = []*ir.Block{next}
		}
		to.Append(n)
	}
}

// inst is the copy of one instruction, without a mask that is full; nil: a store of no lane.
func (c *fullMaskCopy) inst(in *ir.Inst) *ir.Inst {
	if in.Op == ir.Store && in.Mask != nil && isFalse(c.value(in.Mask)) {
		return nil
	}
	n := c.f.CloneInst(in, c.value)
	if n.Mask != nil && isTrue(n.Mask) {
		n.Mask = nil
	}
	for k, r := range in.Results {
		c.with[r] = n.Results[k]
	}
	return n
}

// learn notes what follows from v being true, or false, in every lane.
func learn(known map[*ir.Value]bool, v *ir.Value, is bool) {
	if _, ok := known[v]; ok || v.Const {
		return
	}
	known[v] = is
	d := v.Def
	if d == nil {
		return
	}
	switch {
	case d.Op == ir.Not:
		learn(known, d.Args[0], !is)
	case d.Op == ir.And && is, d.Op == ir.Or && !is:
		learn(known, d.Args[0], is)
		learn(known, d.Args[1], is)
	}
}

// truth is what v is in every lane, if that follows.
func truth(known map[*ir.Value]bool, v *ir.Value, depth int) (is, ok bool) {
	if is, ok = known[v]; ok {
		return is, true
	}
	d := v.Def
	if d == nil || v.Type != ir.I1 || depth > 8 {
		return false, false
	}
	switch d.Op {
	case ir.Not:
		is, ok = truth(known, d.Args[0], depth+1)
		return !is, ok
	case ir.And, ir.Or:
		x, okx := truth(known, d.Args[0], depth+1)
		y, oky := truth(known, d.Args[1], depth+1)
		if dom := d.Op == ir.Or; okx && x == dom || oky && y == dom {
			return dom, true
		}
		return x, okx && oky
	}
	return false, false
}
