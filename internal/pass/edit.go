package pass

import (
	"slices"

	"kudzu/internal/ir"
)

// replaceAll rewrites every use of a key into its value, through chains.
func replaceAll(f *ir.Func, with map[*ir.Value]*ir.Value) {
	if len(with) == 0 {
		return
	}
	find := func(v *ir.Value) *ir.Value {
		for n := 0; ; n++ {
			w, ok := with[v]
			if !ok || w == v {
				return v
			}
			if n > len(with) {
				panic("BUG: values replace each other in a circle")
			}
			v = w
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			for i, a := range in.Args {
				in.Args[i] = find(a)
			}
			if in.Mask != nil {
				in.Mask = find(in.Mask)
			}
		}
	}
}

// numPhis is how many phis b begins with.
func numPhis(b *ir.Block) int {
	n := 0
	for n < len(b.Insts) && b.Insts[n].Op == ir.Phi {
		n++
	}
	return n
}

// insertAt puts ins into b before index i.
func insertAt(b *ir.Block, i int, ins ...*ir.Inst) {
	for _, in := range ins {
		in.Block = b
	}
	b.Insts = append(b.Insts[:i:i], append(ins, b.Insts[i:]...)...)
}

// heads collects instructions that go to the beginning of blocks, each before those that came earlier, and puts them there at once:
// a block that gets many is written once.
type heads struct {
	f  *ir.Func
	at [][]*ir.Inst // by block ID
}

func newHeads(f *ir.Func) *heads { return &heads{f: f} }

func (h *heads) put(b *ir.Block, in *ir.Inst) {
	for b.ID >= len(h.at) {
		h.at = append(h.at, make([][]*ir.Inst, b.ID+1-len(h.at))...)
	}
	in.Block = b
	h.at[b.ID] = append(h.at[b.ID], in)
}

// of is what b has got so far.
func (h *heads) of(b *ir.Block) []*ir.Inst {
	if b.ID < len(h.at) {
		return h.at[b.ID]
	}
	return nil
}

// done puts them into the blocks.
func (h *heads) done() {
	for _, b := range h.f.Blocks {
		if b.ID < len(h.at) && len(h.at[b.ID]) > 0 {
			slices.Reverse(h.at[b.ID])
			b.Insts = append(h.at[b.ID], b.Insts...)
		}
	}
	h.at = nil
}

// beforeTerm puts in at the end of b, before its terminator.
func beforeTerm(b *ir.Block, in *ir.Inst) *ir.Inst {
	insertAt(b, len(b.Insts)-1, in)
	return in
}

// setTerm replaces b's terminator.
func setTerm(f *ir.Func, b *ir.Block, op ir.Op, args []*ir.Value, targets ...*ir.Block) *ir.Inst {
	in := f.NewInst(op, nil, args...)
	in.Targets, in.Block = targets, b
	if t := b.Term(); t != nil {
		in.Line = t.Line
		b.Insts[len(b.Insts)-1] = in
	} else {
		b.Insts = append(b.Insts, in)
	}
	return in
}

// retarget changes the edges from b to old into edges to new; phis are the caller's.
func retarget(b, old, new *ir.Block) {
	t := b.Term()
	for i, s := range t.Targets {
		if s == old {
			t.Targets[i] = new
		}
	}
}

// renamePred changes the incoming block of b's phis.
func renamePred(b, old, new *ir.Block) {
	for _, in := range b.Insts[:numPhis(b)] {
		for i, t := range in.Targets {
			if t == old {
				in.Targets[i] = new
			}
		}
	}
}

// splitEdge puts an empty block on the edge from u to v.
func splitEdge(f *ir.Func, u, v *ir.Block) *ir.Block {
	n := f.NewBlock("")
	setTerm(f, n, ir.Br, nil, v).Line = u.Term().Line
	retarget(u, v, n)
	renamePred(v, u, n)
	return n
}

// mergePreds puts an empty block between some predecessors of b and b, with phis that merge their values.
func mergePreds(f *ir.Func, b *ir.Block, preds []*ir.Block) *ir.Block {
	in := map[*ir.Block]bool{}
	for _, p := range preds {
		in[p] = true
	}
	n := f.NewBlock("")
	for _, phi := range b.Insts[:numPhis(b)] {
		var args, rest []*ir.Value
		var from, restFrom []*ir.Block
		same := true
		for i, p := range phi.Targets {
			if in[p] {
				args, from = append(args, phi.Args[i]), append(from, p)
				same = same && phi.Args[i] == args[0]
			} else {
				rest, restFrom = append(rest, phi.Args[i]), append(restFrom, p)
			}
		}
		if len(args) == 0 {
			continue
		}
		v := args[0]
		if !same {
			m := f.NewInst(ir.Phi, []ir.Type{phi.Results[0].Type}, args...)
			m.Targets, m.Line = from, phi.Line
			n.Append(m)
			v = m.Results[0]
		}
		phi.Args, phi.Targets = append(rest, v), append(restFrom, n)
	}
	setTerm(f, n, ir.Br, nil, b)
	for _, p := range preds {
		retarget(p, b, n)
	}
	return n
}

// prune drops unreachable blocks, fixes the phis that knew them, and rewires.
func prune(f *ir.Func) {
	rpo := f.RPO()
	live := make(map[*ir.Block]bool, len(rpo))
	for _, b := range rpo {
		live[b] = true
	}
	kept := f.Blocks[:0]
	for _, b := range f.Blocks {
		if live[b] {
			kept = append(kept, b)
		}
	}
	f.Blocks = kept
	f.Rewire()
	for _, b := range f.Blocks {
		isPred := map[*ir.Block]bool{}
		for _, p := range b.Preds {
			isPred[p] = true
		}
		for _, phi := range b.Insts[:numPhis(b)] {
			args, from := phi.Args[:0], phi.Targets[:0]
			for i, p := range phi.Targets {
				if isPred[p] {
					args, from = append(args, phi.Args[i]), append(from, p)
				}
			}
			phi.Args, phi.Targets = args, from
		}
	}
}

// relayout puts the blocks in reverse postorder.
func relayout(f *ir.Func) {
	f.Blocks = f.RPO()
	f.Rewire()
}

// joinCopies has phis behind copied blocks take what comes from the copies, too.
func joinCopies(blocks []*ir.Block, copies map[*ir.Block]*ir.Block, vals map[*ir.Value]*ir.Value) {
	seen := map[*ir.Block]bool{}
	for _, b := range blocks {
		for _, s := range b.Term().Targets {
			if copies[s] != nil || seen[s] {
				continue
			}
			seen[s] = true
			for _, phi := range s.Insts[:numPhis(s)] {
				for i, p := range slices.Clone(phi.Targets) {
					if c := copies[p]; c != nil {
						v := phi.Args[i]
						if w := vals[v]; w != nil {
							v = w
						}
						phi.Args, phi.Targets = append(phi.Args, v), append(phi.Targets, c)
					}
				}
			}
		}
	}
}

// repair gives uses in copied blocks and behind both versions the definition that reaches them.
func repair(f *ir.Func, vals map[*ir.Value]*ir.Value) {
	prune(f)
	dom := ir.Dominators(f)
	head := newHeads(f)
	vars := map[*ir.Value]*ssaVar{}
	// Phis at every join would keep what is the same in all iterations of a loop from being known as that.
	meet, of := newMeetings(dom), map[[2]*ir.Block]bitset{}
	for v, w := range vals {
		s := newSSA(head, v.Type)
		s.out[v.Def.Block], s.out[w.Def.Block] = v, w
		at := [2]*ir.Block{v.Def.Block, w.Def.Block}
		if of[at] == nil {
			of[at] = meet.of(at[:]...)
		}
		s.dom, s.meet = dom, of[at]
		vars[v], vars[w] = s, s
	}
	bad := func(v *ir.Value, at *ir.Block) bool {
		return vars[v] != nil && v.Def.Block != at && !dom.Dominates(v.Def.Block, at)
	}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			for i, v := range in.Args {
				if in.Op == ir.Phi {
					if p := in.Targets[i]; bad(v, p) {
						in.Args[i] = vars[v].atEnd(p)
					}
				} else if bad(v, b) {
					in.Args[i] = vars[v].atStart(b)
				}
			}
			if in.Mask != nil && bad(in.Mask, b) {
				in.Mask = vars[in.Mask].atStart(b)
			}
		}
	}
	head.done()
}
