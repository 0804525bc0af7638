package pass

import "kudzu/internal/ir"

// loadOnce has loads that decide where a block's warps go done once for the block. After it a load that all threads of the block do at one
// address, before any thread may have written there, is marked Once, if branches are the same for the whole block because of that: what the
// first warp that came by has read is what the others see, too.
//
// PyTorch's optimisers end early where a number in memory says that gradients overflowed, and blocks of sparse matrices walk rows whose
// ends they load. Each warp has such a number to itself otherwise, and warps that may part are not known to meet: no turns, no jam, and
// barriers that save all that lives.
//
// That nobody has written is keeper.unordered's: in kernels without atomics and the like, until a store that others see. There another
// warp's load may only show something else if it races with a store, and racing loads may show either. The mark makes it one of the two.
func loadOnce(st *state) error {
	n := st.cfg.Block
	if st.m.Width != 32 || n == [3]uint32{} || n[0]*n[1]*n[2] <= 32 || st.never("load_once") {
		return st.unchanged()
	}
	li := st.loops()
	if li.Irreducible || len(li.Loops) == 0 && len(barPoints(st.f).Points) == 0 {
		return st.unchanged()
	}
	before := st.shapes()
	marked := onceLoads(st, before)
	if len(marked) == 0 {
		return st.unchanged()
	}
	apart := map[*ir.Block]bool{} // at whose end warps may part
	for _, b := range st.f.Blocks {
		if t := b.Term(); len(t.Targets) > 1 && before.fact(t.Args[0]).kind == ir.WarpUniform {
			apart[b] = true
		}
	}
	for _, in := range marked {
		in.Once = true
	}
	st.changed(values)
	after := st.shapes()
	d := deciders{dom: st.dominators(), seen: map[*ir.Inst]bool{}}
	for b := range apart {
		if c := b.Term().Args[0]; after.fact(c).kind == ir.BlockUniform {
			d.madeOf(c)
		}
	}
	kept := false
	for _, in := range marked {
		in.Once = d.seen[in] || st.always("load_once")
		kept = kept || in.Once
	}
	st.changed(values)
	st.shapes()
	if !kept {
		return st.unchanged()
	}
	return nil
}

// onceLoads finds the loads that may be marked. One in a loop is done more than once.
func onceLoads(st *state, a *shapeAnalysis) (found []*ir.Inst) {
	plain := (&keeper{f: st.f}).unordered()
	for _, b := range st.f.Blocks {
		if !plain[b] || a.li.Innermost(b) != nil {
			continue
		}
		for _, in := range b.Insts {
			if in.Op == ir.Load && in.Space == ir.Global && !in.ReadOnly && in.Mask == nil && a.fact(in.Args[0]).kind == ir.BlockUniform {
				found = append(found, in)
			}
		}
	}
	return found
}

// deciders are instructions that branches depend on.
type deciders struct {
	dom  *ir.DomTree
	seen map[*ir.Inst]bool
}

// madeOf adds what v is computed from, and the branches that choose it.
func (d *deciders) madeOf(v *ir.Value) {
	in := v.Def
	if in == nil || d.seen[in] {
		return
	}
	d.seen[in] = true
	for _, a := range in.Args {
		d.madeOf(a)
	}
	if in.Op != ir.Phi {
		return
	}
	meet := d.dom.Idom(in.Block)
	for _, p := range in.Targets {
		for x := p; x != nil; x = d.dom.Idom(x) {
			if t := x.Term(); len(t.Targets) > 1 {
				d.madeOf(t.Args[0])
			}
			if x == meet {
				break
			}
		}
	}
}
