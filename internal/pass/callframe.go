package pass

import (
	"slices"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// Frames of functions that may be under way more than once: what a function still needs after a call that may come back
// to it is stored before the call and loaded behind it.

// frames lays out g's frame, local variables first, and puts stores before the calls that re-enter. What is loaded
// behind them waits for the frame's address, which connect knows: refind fills it in.
func (c *caller) frames(g *called) {
	f := g.f
	size := g.inFrame()
	g.frame = (f.LocalBytes + 7) &^ 7
	g.spills = map[*ir.Value]int{}
	f.Renumber()
	f.Rewire()
	live := analysis.Live(f, func(*ir.Value) bool { return true })
	phis := newHeads(f)
	vars := map[*ir.Value]*ssaVar{}
	var order []*ir.Value
	for _, s := range c.sites {
		if s.from != g || !s.reenters() {
			continue
		}
		reloads := c.reload(g, s, live.In(s.next))
		for _, v := range append([]*ir.Value{f.Params[0]}, live.In(s.next)...) {
			x := reloads[v]
			if x == nil {
				continue
			}
			if vars[v] == nil {
				vars[v] = newSSA(phis, v.Type)
				order = append(order, v)
				if v.Def != nil {
					vars[v].out[v.Def.Block] = v
				} else {
					vars[v].in[f.Blocks[0]] = v
				}
			}
			vars[v].out[s.next] = x
		}
	}
	g.frame = (g.frame + 15) &^ 15
	size.Bits = uint64(g.frame)
	g.rename(vars, order)
	phis.done()
}

// reload makes the values that live across the call s there again behind it: rematerialised, or stored in the frame before it and
// loaded. It returns what stands for each.
func (c *caller) reload(g *called, s *site, live []*ir.Value) map[*ir.Value]*ir.Value {
	f := g.f
	copies := map[*ir.Value]*ir.Value{}
	sp := f.Params[0]
	fp := f.NewInst(ir.Copy, []ir.Type{ir.I64}, sp) // refind makes it the frame's address
	fp.Line = s.call.Line
	head := []*ir.Inst{fp}
	copies[sp] = fp.Results[0]
	for _, v := range live {
		if v == sp || slices.Contains(s.call.Results, v) {
			continue
		}
		if d := v.Def; d != nil && analysis.Remat(d, analysis.RematFolded, func(a *ir.Value) bool { return a == sp }) {
			n := f.CloneInst(d, func(a *ir.Value) *ir.Value {
				if a == sp {
					return fp.Results[0]
				}
				return a
			})
			n.Line = s.call.Line
			head = append(head, n)
			copies[v] = n.Results[0]
			continue
		}
		off := g.spill(v)
		c.spillStore(f, s, sp, off, v)
		ins, x := c.spillLoad(f, fp.Results[0], off, v.Type, s.call.Line)
		head = append(head, ins...)
		copies[v] = x
	}
	for _, in := range head {
		in.Block = s.next
	}
	s.next.Insts = append(head, s.next.Insts...)
	return copies
}

// inFrame makes the addresses of local variables sums with the stack pointer. The constant it returns is to be the frame's
// size, which is not known yet.
func (g *called) inFrame() *ir.Value {
	slot := map[string]int{}
	for _, s := range g.f.Slots {
		slot[s.Name] = s.Offset
	}
	size := ir.ConstInt(ir.I64, 0)
	for _, b := range g.f.Blocks {
		for _, in := range b.Insts {
			if in.Op != ir.LocalAddr || in.StackEnd {
				continue
			}
			off := size
			if in.Sym != "" {
				off = ir.ConstInt(ir.I64, uint64(in.Off+int64(slot[in.Sym])))
			}
			in.Op, in.Attr, in.Args = ir.Add, ir.Attr{}, []*ir.Value{g.f.Params[0], off}
		}
	}
	return size
}

func (g *called) spill(v *ir.Value) int {
	off, ok := g.spills[v]
	if !ok {
		n := max(v.Type.Bits()/8, 1)
		off = (g.frame + n - 1) / n * n
		g.spills[v] = off
		g.frame = off + n
	}
	return off
}

// rename makes every use read the copy that reaches it: the value itself, or what was loaded behind a call.
func (g *called) rename(vars map[*ir.Value]*ssaVar, order []*ir.Value) {
	type use struct {
		in *ir.Inst
		i  int
	}
	uses := map[*ir.Value][]use{}
	for _, b := range g.f.Blocks {
		for _, in := range b.Insts {
			for i, a := range in.Args {
				if vars[a] != nil {
					uses[a] = append(uses[a], use{in, i})
				}
			}
		}
	}
	g.f.Rewire()
	for _, v := range order {
		s := vars[v]
		for _, u := range uses[v] {
			b := u.in.Block
			switch {
			case u.in.Op == ir.Phi:
				u.in.Args[u.i] = s.atEnd(u.in.Targets[u.i])
			case v.Def != nil && v.Def.Block == b && s.out[b] == v:
				// behind its definition
			case s.out[b] != nil && s.out[b] != v:
				u.in.Args[u.i] = s.out[b] // behind a load, which comes first in its block
			default:
				u.in.Args[u.i] = s.atStart(b)
			}
		}
	}
}

// local appends an access to local memory.
func (c *caller) local(b *ir.Block, op ir.Op, line int32, types []ir.Type, args ...*ir.Value) *ir.Inst {
	in := c.k.NewInst(op, types, args...)
	in.Line, in.Space, in.Align = line, ir.Local, 8
	b.Append(in)
	return in
}

// spillStore keeps v in the frame, before the call.
func (c *caller) spillStore(f *ir.Func, s *site, sp *ir.Value, off int, v *ir.Value) {
	at := len(s.block.Insts) - 2 // the call and the jump
	put := func(in *ir.Inst) {
		in.Line = s.call.Line
		insertAt(s.block, at, in)
		at++
	}
	a := f.NewInst(ir.Add, []ir.Type{ir.I64}, sp, ir.ConstInt(ir.I64, uint64(off)))
	put(a)
	if v.Type == ir.I1 {
		z := f.NewInst(ir.ZExt, []ir.Type{ir.I8}, v)
		put(z)
		v = z.Results[0]
	}
	st := f.NewInst(ir.Store, nil, a.Results[0], v)
	st.Space, st.Align = ir.Local, uint8(min(v.Type.Bits()/8, 16))
	put(st)
}

func (c *caller) spillLoad(f *ir.Func, fp *ir.Value, off int, t ir.Type, line int32) ([]*ir.Inst, *ir.Value) {
	a := f.NewInst(ir.Add, []ir.Type{ir.I64}, fp, ir.ConstInt(ir.I64, uint64(off)))
	mt := t
	if t == ir.I1 {
		mt = ir.I8
	}
	ld := f.NewInst(ir.Load, []ir.Type{mt}, a.Results[0])
	ld.Space, ld.Align = ir.Local, uint8(min(mt.Bits()/8, 16))
	ins := []*ir.Inst{a, ld}
	x := ld.Results[0]
	if t == ir.I1 {
		n := f.NewInst(ir.ICmp, []ir.Type{ir.I1}, x, ir.ConstInt(ir.I8, 0))
		n.Cmp = ir.NE
		ins = append(ins, n)
		x = n.Results[0]
	}
	for _, in := range ins {
		in.Line = line
	}
	return ins, x
}

// refind gives the block behind a call that re-enters the address of the caller's frame: below the stack pointer that
// the callee was given, by the frame's size or by the word stored there.
func (c *caller) refind(s *site, sp *ir.Value) {
	b := s.next
	n := numPhis(b)
	fp := b.Insts[n] // reload put it first
	if s.fixed {
		fp.Op = ir.Sub
		fp.Args = []*ir.Value{sp, ir.ConstInt(ir.I64, uint64(s.from.frame))}
		return
	}
	a := c.k.NewInst(ir.Sub, []ir.Type{ir.I64}, sp, ir.ConstInt(ir.I64, 16))
	a.Line = fp.Line
	insertAt(b, n, a)
	fp.Op, fp.Args = ir.Load, []*ir.Value{a.Results[0]}
	fp.Space, fp.Align = ir.Local, 8
}
