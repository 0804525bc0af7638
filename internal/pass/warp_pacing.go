package pass

import (
	"container/heap"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// warpPacing keeps the warps of a block near each other where they share memory. After it, between a load from shared memory and a store
// that another warp may do there well behind its own load, there is a barrier: the program's, or a mark that all warps come to (where
// they may go different ways: that lets every other warp have a turn) before one goes on.
//
// Warps run one after the other from barrier to barrier, and so the first would be through with a stretch before the last begins. No
// multiprocessor does that: behind a barrier all warps go on at once, and one that uses what it loaded waits long enough for the others
// to load too. Programs that lack a barrier between reading the result of one sum over the block and writing the parts of
// the next are right there every time. A store that follows its load closely is left alone: in-place steps of trees and sorts are
// such, their threads read what no other warp writes, and what is wrong there is wrong on hardware too. So are stores of which the
// threads' addresses show that they are never where another warp loads.
func warpPacing(st *state) error {
	f := st.f
	if n := st.cfg.Block; st.m.Width != 32 || n[0] != 0 && n[0]*n[1]*n[2] <= 32 {
		return st.unchanged()
	}
	f.Rewire()
	p := &pacer{st: st, f: f}
	var stores []*ir.Inst
	loads, bars := false, false
	for _, b := range f.RPO() {
		for _, in := range b.Insts {
			bars = bars || suspends(in)
			loads = loads || in.Op == ir.Load && in.Space == ir.Shared
			if in.Space == ir.Shared && (in.Op == ir.Store || in.Op == ir.Atomic || in.Op == ir.AtomicCAS) {
				stores = append(stores, in)
			}
		}
	}
	if !bars || !loads || len(stores) == 0 {
		return st.unchanged()
	}
	held := false
	for _, s := range stores {
		if list := p.meets(s); len(list) > 0 {
			held = p.hold(s, list) || held
		}
	}
	if !held {
		return st.unchanged()
	}
	return nil
}

const (
	// near is how soon behind a load a store may follow it, in instructions, to be left alone.
	near = 32
	// Some take longer than others; loops count for a few iterations.
	globalLoad, exchange, someRounds = 16, 4, 8
	// maxLooks bounds the work on one kernel, in instructions looked at.
	maxLooks = 1 << 20
)

// pacer looks for loads and stores of different warps at one address.
type pacer struct {
	st         *state
	f          *ir.Func
	a          *shapeAnalysis // nil until a pair is found
	looks      int
	at         *threadValues
	iterations map[*ir.Loop][]*threadValues

	dom   *ir.DomTree
	li    *ir.LoopInfo
	free  map[*ir.Loop]bool // loops without a barrier
	apart map[*ir.Block]bool
	whole bool // all warps meet at all barriers
}

func (p *pacer) graph() {
	if p.dom != nil {
		return
	}
	p.dom, p.li = p.st.dominators(), p.st.loops()
	p.free = map[*ir.Loop]bool{}
	for _, l := range p.li.Loops {
		p.free[l] = true
	}
	for _, b := range p.f.Blocks {
		for _, in := range b.Insts {
			if suspends(in) {
				for l := p.li.Innermost(b); l != nil; l = l.Parent {
					p.free[l] = false
				}
			}
		}
	}
}

// freeLoop is the outermost loop around b without a barrier, or nil.
func (p *pacer) freeLoop(b *ir.Block) (out *ir.Loop) {
	for l := p.li.Innermost(b); l != nil && p.free[l]; l = l.Parent {
		out = l
	}
	return out
}

func weight(in *ir.Inst) int {
	switch {
	case in.Op == ir.Phi:
		return 0
	case in.Op == ir.Load && in.Space != ir.Shared && in.Space != ir.ParamSpace:
		return globalLoad
	case gathers(in.Op):
		return exchange
	}
	return 1
}

// way is the end of a block, and the least weight from there to the store.
type way struct {
	b    *ir.Block
	dist int
}

type nearest []way

func (w nearest) Len() int           { return len(w) }
func (w nearest) Less(i, j int) bool { return w[i].dist < w[j].dist }
func (w nearest) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *nearest) Push(x any)        { *w = append(*w, x.(way)) }
func (w *nearest) Pop() any {
	old := *w
	x := old[len(old)-1]
	*w = old[:len(old)-1]
	return x
}

// meets finds the loads on the ways to s without a barrier that other warps may do where s stores.
func (p *pacer) meets(s *ir.Inst) (list []*ir.Inst) {
	p.graph()
	own := p.freeLoop(s.Block)
	seen := map[*ir.Block]bool{}
	var todo nearest
	back := func(b *ir.Block, insts []*ir.Inst, dist int) {
		loop := p.freeLoop(b)
		for i := len(insts) - 1; i >= 0; i-- {
			in := insts[i]
			if p.looks++; suspends(in) || p.looks > maxLooks {
				return
			}
			w := weight(in)
			if loop != nil && loop != own {
				w *= someRounds
			}
			dist += w
			if in.Op != ir.Load || in.Space != ir.Shared || dist <= near || own != nil && own == loop {
				continue
			}
			if len(list) > 0 || p.mayMeet(in, s) { // behind the first that matters the others cost nothing
				list = append(list, in)
			}
		}
		for _, x := range b.Preds {
			if !seen[x] && (own == nil || b != own.Header || !own.Contains(x)) {
				heap.Push(&todo, way{x, dist})
			}
		}
	}
	back(s.Block, s.Block.Insts[:indexOf(s)], 0)
	for len(todo) > 0 {
		w := heap.Pop(&todo).(way)
		if !seen[w.b] {
			seen[w.b] = true
			back(w.b, w.b.Insts, w.dist)
		}
	}
	return list
}

func indexOf(in *ir.Inst) int {
	for i, x := range in.Block.Insts {
		if x == in {
			return i
		}
	}
	panic("BUG: an instruction is not in its block")
}

// hold puts the mark where all ways from the loads to s pass, as near to the loads as it may be; false: there is no such point.
func (p *pacer) hold(s *ir.Inst, list []*ir.Inst) bool {
	var at *ir.Block
	for b := s.Block; b != nil; b = p.dom.Idom(b) {
		if !p.between(b, s, list) {
			break
		}
		if p.freeLoop(b) == nil && p.together(b) {
			at = b
		}
		if b == p.f.Blocks[0] {
			break
		}
	}
	if at == nil {
		return false // in the middle of what some warps do, or of iterations without a barrier
	}
	i := numPhis(at)
	for _, l := range list {
		if l.Block == at && (at != s.Block || indexOf(l) < indexOf(s)) {
			i = max(i, indexOf(l)+1)
		}
	}
	zero := ir.ConstInt(ir.I32, 0)
	bar := p.f.NewInst(ir.Bar, nil, zero, zero)
	bar.BarKind, bar.Line = ir.BarPace, s.Line
	insertAt(at, i, bar)
	return true
}

// between reports that every way from a load to s passes b behind the load. b dominates s.
func (p *pacer) between(b *ir.Block, s *ir.Inst, list []*ir.Inst) bool {
	for _, l := range list {
		if l.Block == b || !p.dom.Dominates(b, l.Block) {
			continue
		}
		// b comes before both: it is passed again if the way to s is around a loop with b in it.
		if !p.loopCarried(l, s, b) {
			return false
		}
	}
	return true
}

// loopCarried reports that the load comes behind s, in a loop that they and b are in.
func (p *pacer) loopCarried(l, s *ir.Inst, b *ir.Block) bool {
	if l.Block == s.Block {
		if indexOf(l) < indexOf(s) {
			return false
		}
	} else if !p.dom.Dominates(s.Block, l.Block) {
		return false
	}
	for x := p.li.Innermost(l.Block); x != nil; x = x.Parent {
		if x.Contains(s.Block) {
			return x.Contains(b)
		}
	}
	return false
}

// together reports a block that all warps come to, or, where the kernel's warps part at barriers anyway, any.
func (p *pacer) together(b *ir.Block) bool {
	if p.a == nil {
		p.a = p.st.shapes()
		p.whole = plainBars(p.f) && allMeet(p.st, barPoints(p.f))
		p.apart = map[*ir.Block]bool{}
		pdom := p.st.postDominators()
		for _, x := range p.f.Blocks {
			if t := x.Term(); p.whole && len(t.Targets) > 1 && p.a.fact(t.Args[0]).kind != ir.BlockUniform {
				for y := range analysis.Between(x, pdom.Idom(x)) {
					p.apart[y] = true
				}
			}
		}
	}
	return !p.apart[b]
}
