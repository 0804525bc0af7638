package pass

import "kudzu/internal/ir"

// ssaVar rebuilds SSA form for one variable that has several definitions: it finds the value that reaches a program point and
// puts phis where ways meet. Preds must be current.
type ssaVar struct {
	f    *ir.Func
	typ  ir.Type
	out  map[*ir.Block]*ir.Value // defined in the block, as it leaves
	in   map[*ir.Block]*ir.Value
	none *ir.Value // what reaches where nothing was defined; nil: an undef is made
	phis []*ir.Inst
	head *heads // where phis and undefs are put
}

func newSSA(head *heads, t ir.Type) *ssaVar {
	return &ssaVar{f: head.f, typ: t, out: map[*ir.Block]*ir.Value{}, in: map[*ir.Block]*ir.Value{}, head: head}
}

func (s *ssaVar) undef() *ir.Value {
	if s.none == nil {
		u := s.f.NewInst(ir.Undef, []ir.Type{s.typ})
		s.head.put(s.f.Blocks[0], u) // the entry has no phis
		s.none = u.Results[0]
	}
	return s.none
}

func (s *ssaVar) atEnd(b *ir.Block) *ir.Value {
	if v := s.out[b]; v != nil {
		return v
	}
	return s.atStart(b)
}

func (s *ssaVar) atStart(b *ir.Block) *ir.Value {
	if v := s.in[b]; v != nil {
		return v
	}
	switch len(b.Preds) {
	case 0:
		s.in[b] = s.undef()
	case 1:
		s.in[b] = s.atEnd(b.Preds[0])
	default:
		phi := s.f.NewInst(ir.Phi, []ir.Type{s.typ})
		s.head.put(b, phi)
		s.in[b] = phi.Results[0]
		s.phis = append(s.phis, phi)
		for _, p := range b.Preds {
			phi.Args = append(phi.Args, s.atEnd(p))
			phi.Targets = append(phi.Targets, p)
		}
	}
	return s.in[b]
}

// repairSSA gives every use whose definition no longer dominates it the value that reaches it, undefined where none
// does. Preds must be current.
func repairSSA(f *ir.Func) {
	dom := ir.Dominators(f)
	head := newHeads(f)
	vars := map[*ir.Value]*ssaVar{}
	get := func(v *ir.Value) *ssaVar {
		s := vars[v]
		if s == nil {
			s = newSSA(head, v.Type)
			s.out[v.Def.Block] = v
			vars[v] = s
		}
		return s
	}
	bad := func(v *ir.Value, at *ir.Block) bool {
		return v.Def != nil && v.Def.Block != at && !dom.Dominates(v.Def.Block, at)
	}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			for i, a := range in.Args {
				if in.Op == ir.Phi {
					if p := in.Targets[i]; bad(a, p) {
						in.Args[i] = get(a).atEnd(p)
					}
				} else if bad(a, b) {
					in.Args[i] = get(a).atStart(b)
				}
			}
			if in.Mask != nil && bad(in.Mask, b) {
				in.Mask = get(in.Mask).atStart(b)
			}
		}
	}
	head.done()
}
