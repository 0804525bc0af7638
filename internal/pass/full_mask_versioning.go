package pass

import "kudzu/internal/ir"

// fullMaskVersioning versions code under a border condition on whether the mask is full. After it a costly region that such a
// condition guards is there twice: for warps of which every lane is inside, without masks and without the blends of the other side, and for the rest.
//
// Most warps of a stencil have no lane on the border. With masks each of their loads is an instruction of its own, and what lanes
// inside and lanes on the border store is chosen lane by lane, address and all.
func fullMaskVersioning(st *state) error {
	if st.m.Width != 32 || st.m.Jam > 1 || st.never("full_mask_versioning") || !acyclic(st.f) {
		return nil
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
	return nil
}

// insideAccesses is how many accesses to memory a stretch has whose code is worth having twice.
const insideAccesses = 6

// insideCode bounds what is copied.
const insideCode = 400

// acyclic reports a function without loops and barriers, in an order in which blocks come after what leads to them.
func acyclic(f *ir.Func) bool {
	f.Rewire()
	if len(ir.Loops(f, ir.Dominators(f)).Loops) > 0 {
		return false
	}
	for _, b := range f.Blocks {
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

// copyInside copies the chain for warps whose lanes all have m.
func copyInside(f *ir.Func, g *ir.Block, m *ir.Value, chain []*ir.Block) {
	known := map[*ir.Value]bool{}
	learn(known, m, true)
	with := map[*ir.Value]*ir.Value{}
	value := func(v *ir.Value) *ir.Value {
		if v == nil {
			return nil
		}
		if w := with[v]; w != nil {
			return w
		}
		if k, ok := truth(known, v, 0); ok {
			return ir.ConstInt(ir.I1, map[bool]uint64{true: 1}[k])
		}
		return v
	}
	end := chain[len(chain)-1].Succs()[0]
	var copies []*ir.Block
	for range chain {
		copies = append(copies, f.NewBlock(""))
	}
	for i, b := range chain {
		for _, in := range b.Insts {
			if in.Op == ir.Phi { // the copy is entered from the block before alone
				for k, from := range in.Targets {
					if from == chain[max(i, 1)-1] {
						with[in.Results[0]] = value(in.Args[k])
					}
				}
				continue
			}
			mask := value(in.Mask)
			if mask != nil && mask.Const {
				if mask.Bits == 0 && in.Op == ir.Store {
					continue
				}
				if mask.Bits != 0 {
					mask = nil
				}
			}
			var types []ir.Type
			for _, r := range in.Results {
				types = append(types, r.Type)
			}
			c := f.NewInst(in.Op, types)
			c.Attr, c.Line, c.Mask = in.Attr, in.Line, mask
			for _, a := range in.Args {
				c.Args = append(c.Args, value(a))
			}
			for k, r := range in.Results {
				with[r] = c.Results[k]
			}
			if in.Op.IsTerm() {
				c.Targets = []*ir.Block{end}
				if i+1 < len(chain) {
					c.Targets[0] = copies[i+1]
				}
			}
			copies[i].Append(c)
		}
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
