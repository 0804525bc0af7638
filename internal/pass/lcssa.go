package pass

import (
	"cmp"
	"slices"

	"kudzu/internal/ir"
)

// closeLoops brings the function into loop-closed SSA form: phis in exit blocks for everything used behind a loop, innermost loops first.
func closeLoops(f *ir.Func) {
	dom := ir.Dominators(f)
	c := &closer{f: f, dom: dom, head: newHeads(f)}
	c.findUses()
	li := ir.Loops(f, dom)
	// Leading a value to its use may put a phi into another loop that it then leaves again.
	for again := true; again; {
		again = false
		for i := len(li.Loops) - 1; i >= 0; i-- {
			again = c.loop(li.Loops[i]) || again
		}
	}
	c.head.done()
}

// closer knows the uses of every value, so that a loop is closed by looking at it alone.
type closer struct {
	f     *ir.Func
	dom   *ir.DomTree
	head  *heads       // the new phis
	uses  [][]useOf    // by value ID; a use counts as long as the argument is the value
	place ir.BlockNums // of blocks in f.Blocks
	meet  *meetings
}

// useOf is an argument, and where it stands: the block, and in it the instruction; new phis stand before what was there.
type useOf struct {
	in          *ir.Inst
	arg         int
	block, inst int
}

func (u *useOf) compare(v *useOf) int {
	return cmp.Or(cmp.Compare(u.block, v.block), cmp.Compare(u.inst, v.inst), cmp.Compare(u.arg, v.arg))
}

// at is the block at whose end or in which the value must be there.
func (u *useOf) at() *ir.Block {
	if u.in.Op == ir.Phi {
		return u.in.Targets[u.arg]
	}
	return u.in.Block
}

func (c *closer) findUses() {
	c.place = c.f.NumberBlocks(c.f.Blocks)
	c.uses = make([][]useOf, c.f.NumValues())
	for bi, b := range c.f.Blocks {
		for i, in := range b.Insts {
			c.note(in, bi, i)
		}
	}
}

func (c *closer) note(in *ir.Inst, block, inst int) {
	for i, a := range in.Args {
		if a.Def == nil {
			continue
		}
		for a.ID >= len(c.uses) {
			c.uses = append(c.uses, nil)
		}
		c.uses[a.ID] = append(c.uses[a.ID], useOf{in, i, block, inst})
	}
}

// loop closes one loop; false: it was closed already.
func (c *closer) loop(l *ir.Loop) bool {
	var outside []useOf // in order of the text
	find := func(in *ir.Inst) {
		for _, r := range in.Results {
			if r.ID >= len(c.uses) {
				continue
			}
			for _, u := range c.uses[r.ID] {
				if u.in.Args[u.arg] == r && !l.Contains(u.at()) {
					outside = append(outside, u)
				}
			}
		}
	}
	for _, b := range l.Blocks {
		for _, in := range c.head.of(b) {
			find(in)
		}
		for _, in := range b.Insts {
			find(in)
		}
	}
	slices.SortFunc(outside, func(x, y useOf) int { return x.compare(&y) })
	uses := map[*ir.Value][]useOf{}
	var vals []*ir.Value
	for _, u := range outside {
		v := u.in.Args[u.arg]
		if uses[v] == nil {
			vals = append(vals, v)
		}
		uses[v] = append(uses[v], u)
	}
	if len(vals) == 0 {
		return false
	}
	if c.meet == nil {
		c.meet = newMeetings(c.dom)
	}
	meet := c.meet.of(l.Exits...)
	for _, v := range vals {
		c.value(l, v, uses[v], meet)
	}
	return true
}

// value leads one value through the loop's exits to its uses behind it. meet is where ways from the exits meet.
func (c *closer) value(l *ir.Loop, v *ir.Value, uses []useOf, meet bitset) {
	s := newSSA(c.head, v.Type)
	s.dom, s.meet = c.dom, meet
	for _, y := range l.Exits {
		if !c.dom.Dominates(v.Def.Block, y) {
			continue
		}
		phi := c.f.NewInst(ir.Phi, []ir.Type{v.Type})
		for _, p := range y.Preds {
			phi.Args, phi.Targets = append(phi.Args, v), append(phi.Targets, p)
		}
		c.head.put(y, phi)
		s.phis = append(s.phis, phi)
		s.out[y], s.in[y] = phi.Results[0], phi.Results[0]
	}
	for _, u := range uses {
		var x *ir.Value
		if u.in.Op == ir.Phi {
			x = s.atEnd(u.in.Targets[u.arg])
		} else {
			x = s.atStart(u.in.Block)
		}
		u.in.Args[u.arg] = x
		for x.ID >= len(c.uses) {
			c.uses = append(c.uses, nil)
		}
		c.uses[x.ID] = append(c.uses[x.ID], u)
	}
	for _, phi := range s.phis {
		at, _ := c.place.Of(phi.Block)
		c.note(phi, at, -len(c.head.of(phi.Block))) // the last that its block got
	}
}
