package lower

import (
	"sort"

	"kudzu/internal/ir"
)

// finish turns the graph under construction into a well-formed one: removed phis give way to what they are, dead phis go,
// unreachable blocks go, straight-line neighbours are joined, and blocks are laid out in reverse postorder.
func (s *ssa) finish() {
	for _, b := range s.f.Blocks {
		s.seal(b)
	}
	reach := s.layout()
	s.f.Blocks = reach
	live := map[*ir.Block]bool{}
	for _, b := range reach {
		live[b] = true
	}
	phis := map[*ir.Block][]*ir.Inst{}
	var work []*ir.Inst
	kept := map[*ir.Inst]bool{}
	use := func(v *ir.Value) *ir.Value {
		v = s.resolve(v)
		if d := v.Def; d != nil && d.Op == ir.Phi && !kept[d] {
			kept[d] = true
			phis[d.Block] = append(phis[d.Block], d)
			work = append(work, d)
		}
		return v
	}
	for _, b := range reach {
		for _, in := range b.Insts {
			for i, a := range in.Args {
				in.Args[i] = use(a)
			}
		}
	}
	for len(work) > 0 {
		phi := work[len(work)-1]
		work = work[:len(work)-1]
		n := 0
		for i, a := range phi.Args {
			if live[phi.Targets[i]] {
				phi.Targets[n], phi.Args[n] = phi.Targets[i], use(a)
				n++
			}
		}
		phi.Targets, phi.Args = phi.Targets[:n], phi.Args[:n]
	}
	for b, ps := range phis {
		sortPhis(ps)
		b.Insts = append(ps, b.Insts...)
	}
	s.placeUndefs()
	s.f.Rewire()
	joinBlocks(s.f)
	s.f.Renumber()
}

// layout is the reachable blocks in reverse postorder, among equals in the order of the PTX text (blocks are numbered so), so
// that dumps read like their source.
func (s *ssa) layout() []*ir.Block {
	type visit struct {
		b    *ir.Block
		todo []*ir.Block // highest number first
	}
	seen := map[*ir.Block]bool{}
	begin := func(b *ir.Block) visit {
		seen[b] = true
		todo := append([]*ir.Block(nil), b.Succs()...)
		sort.Slice(todo, func(i, j int) bool { return todo[i].ID > todo[j].ID })
		return visit{b, todo}
	}
	stack := []visit{begin(s.f.Blocks[0])}
	var post []*ir.Block
	for len(stack) > 0 {
		t := &stack[len(stack)-1]
		if len(t.todo) == 0 {
			post = append(post, t.b)
			stack = stack[:len(stack)-1]
			continue
		}
		n := t.todo[0]
		t.todo = t.todo[1:]
		if !seen[n] {
			stack = append(stack, begin(n))
		}
	}
	for i, j := 0, len(post)-1; i < j; i, j = i+1, j-1 {
		post[i], post[j] = post[j], post[i]
	}
	return post
}

// sortPhis orders by creation, which does not depend on map order.
func sortPhis(ps []*ir.Inst) {
	for i := 1; i < len(ps); i++ {
		for j := i; j > 0 && ps[j-1].Results[0].ID > ps[j].Results[0].ID; j-- {
			ps[j-1], ps[j] = ps[j], ps[j-1]
		}
	}
}

// placeUndefs puts the undefined values that are used at the top of the entry.
func (s *ssa) placeUndefs() {
	used := map[*ir.Value]bool{}
	for _, b := range s.f.Blocks {
		for _, in := range b.Insts {
			for _, a := range in.Args {
				used[a] = used[a] || s.isUndef(a)
			}
		}
	}
	var top []*ir.Inst
	for t := ir.Void; t < ir.NumTypes; t++ {
		if u := s.undefs[t]; u != nil && used[u] {
			u.Def.Block = s.f.Blocks[0]
			top = append(top, u.Def)
		}
	}
	e := s.f.Blocks[0]
	e.Insts = append(top, e.Insts...)
}

// joinBlocks merges a block with its only successor where it is that one's only predecessor.
func joinBlocks(f *ir.Func) {
	gone := map[*ir.Block]*ir.Block{} // merged block → the block it is part of
	kept := f.Blocks[:0]
	for _, b := range f.Blocks {
		if gone[b] != nil {
			continue
		}
		kept = append(kept, b)
		for {
			t := b.Term()
			if t.Op != ir.Br {
				break
			}
			n := t.Targets[0]
			if n == b || len(n.Preds) != 1 || gone[n] != nil || n == f.Blocks[0] || len(n.Insts) > 0 && n.Insts[0].Op == ir.Phi {
				break
			}
			gone[n] = b
			b.Insts = b.Insts[:len(b.Insts)-1]
			for _, in := range n.Insts {
				b.Append(in)
			}
			if b.Name == "" {
				b.Name = n.Name
			}
		}
	}
	f.Blocks = kept
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			if in.Op != ir.Phi {
				break
			}
			for i, t := range in.Targets {
				for gone[t] != nil {
					t = gone[t]
				}
				in.Targets[i] = t
			}
		}
	}
	f.Rewire()
}
