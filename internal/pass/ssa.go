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

	dom  *ir.DomTree // with meet: where ways do not meet, the value is that of the block that dominates; nil: not known
	meet bitset      // blocks at which different definitions may meet, by number in dom
}

// bitset is a set of small numbers.
type bitset []uint64

func (s bitset) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }
func (s bitset) add(i int)      { s[i/64] |= 1 << (i % 64) }

// meetings finds where definitions meet: the iterated dominance frontier of their blocks. Phis at every join on the way between a
// definition and its uses would be as many as values live across calls times the joins of what is called.
type meetings struct {
	dom       *ir.DomTree
	order     []*ir.Block
	nums      ir.BlockNums
	frontiers [][]int32
}

func newMeetings(dom *ir.DomTree) *meetings {
	m := &meetings{dom: dom, frontiers: dom.Frontiers()}
	m.order, m.nums = dom.Reachable()
	return m
}

// of gives the meeting points of definitions in some blocks, and of no definition at the function's beginning.
func (m *meetings) of(blocks ...*ir.Block) bitset {
	set := make(bitset, (len(m.order)+63)/64)
	var work []int32
	for _, b := range blocks {
		if i, ok := m.nums.Of(b); ok {
			work = append(work, int32(i))
		}
	}
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		for _, j := range m.frontiers[i] {
			if !set.has(int(j)) {
				set.add(int(j))
				work = append(work, j)
			}
		}
	}
	return set
}

// reaching is the block at whose beginning the variable has the value that it has at the beginning of b, or at whose end it is
// defined: b itself or one that dominates it. defined says which.
func (s *ssaVar) reaching(b *ir.Block) (from *ir.Block, defined bool) {
	_, nums := s.dom.Reachable()
	for {
		i, ok := nums.Of(b)
		if !ok || s.meet.has(i) || s.in[b] != nil {
			return b, false
		}
		up := s.dom.Idom(b)
		if up == nil {
			return b, false
		}
		if b = up; s.out[b] != nil {
			return b, true
		}
	}
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
	if s.dom != nil {
		if from, defined := s.reaching(b); from != b {
			v := s.out[from]
			if !defined {
				v = s.atStart(from)
			}
			s.in[b] = v
			return v
		}
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
	var meet *meetings
	of := map[*ir.Block]bitset{}
	get := func(v *ir.Value) *ssaVar {
		s := vars[v]
		if s == nil {
			s = newSSA(head, v.Type)
			s.out[v.Def.Block] = v
			if meet == nil {
				meet = newMeetings(dom)
			}
			at := v.Def.Block
			if of[at] == nil {
				of[at] = meet.of(at)
			}
			s.dom, s.meet = dom, of[at]
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
