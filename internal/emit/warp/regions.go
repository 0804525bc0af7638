package warp

import (
	"fmt"
	"maps"
	"slices"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Between two barriers that all warps meet at lies a region: the code from one to the next. Each gets a loop over the warps of
// its own, without a jump to find the point where a warp goes on. Code that several barriers lead to is written several times.

// span is a region: where it begins, its blocks in order, and the points it may end at (0: the end of the kernel).
type span struct {
	start  *ir.Block
	blocks []*ir.Block
	ends   []int
	waits  []int       // points at which a warp may wait on memory on the way
	again  []*ir.Block // what may follow these
}

// maxRepeat is by how much the text may grow for loops of their own.
const maxRepeat = 400

// spans finds the regions; nil if the code would grow too much.
func (e *emitter) spans() (out []span) {
	more := maxRepeat
	places := e.f.NumberBlocks(e.f.Blocks)
	for _, b := range e.f.Blocks {
		more += len(b.Insts)
	}
	for k := range len(e.f.Regions.Points) + 1 {
		start := e.f.Blocks[0]
		if k > 0 {
			if e.waitsAt(k) { // in the middle of others
				out = append(out, span{})
				continue
			}
			start = e.f.Regions.Points[k-1].Next
		}
		s := e.spanFrom(start, places)
		for _, b := range slices.Concat(s.blocks, s.again) {
			more -= len(b.Insts)
		}
		if more < 0 {
			return nil
		}
		out = append(out, s)
	}
	return out
}

func (e *emitter) spanFrom(start *ir.Block, places ir.BlockNums) span {
	ends, waits := map[int]bool{}, map[int]bool{}
	first, again := map[*ir.Block]bool{}, map[*ir.Block]bool{}
	e.reach(start, first, ends, waits)
	for done := 0; done < len(waits); { // behind one there may be others
		done = len(waits)
		for _, k := range slices.Sorted(maps.Keys(waits)) {
			e.reach(e.f.Regions.Points[k-1].Next, again, ends, waits)
		}
	}
	place := func(b *ir.Block) int { i, _ := places.Of(b); return i }
	inOrder := func(set map[*ir.Block]bool) []*ir.Block {
		return slices.SortedFunc(maps.Keys(set), func(a, b *ir.Block) int { return place(a) - place(b) })
	}
	return span{start: start, blocks: inOrder(first), ends: slices.Sorted(maps.Keys(ends)), waits: slices.Sorted(maps.Keys(waits)), again: inOrder(again)}
}

// reach adds the blocks from start to the next points, and those points.
func (e *emitter) reach(start *ir.Block, seen map[*ir.Block]bool, ends, waits map[int]bool) {
	if seen[start] {
		return
	}
	seen[start] = true
	work := []*ir.Block{start}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if k := e.pointOf(b); k > 0 {
			if e.waitsAt(k) {
				waits[k] = true
			} else {
				ends[k] = true
			}
			continue
		}
		if len(b.Succs()) == 0 {
			ends[0] = true
		}
		for _, x := range b.Succs() {
			if !seen[x] {
				seen[x] = true
				work = append(work, x)
			}
		}
	}
}

// regionLoops writes the loops over warps, one for each region.
func (e *emitter) regionLoops(spans []span) {
	c, o := &e.ctx, e.Func
	c.nextPC = o.Alloca("i32", 4)
	c.redAcc, c.redDone = o.Alloca("i32", 4), o.Alloca("i32", 4)
	o.Store(ll.Int("i32", 0), c.redAcc, 0)
	o.Store(ll.Int("i32", 0), c.nextPC, 0)
	for _, b := range e.f.Blocks { // constants, which any region may use
		for _, in := range b.Insts {
			switch in.Op {
			case ir.SharedAddr, ir.LocalAddr, ir.ParamAddr, ir.Undef:
				e.inst(in)
			}
		}
	}
	e.beginWaits(spans)
	for k, s := range spans {
		if s.start != nil {
			e.regionLoop(k, s)
		}
	}
}

func (e *emitter) regionLoop(k int, s span) {
	c, o := &e.ctx, e.Func
	name := func(what string) string { return fmt.Sprintf("%s.%d", what, k) }
	o.Line = 0
	o.Label(name("region"))
	if k > 0 && len(e.f.Regions.Points[k-1].At.Results) > 0 {
		acc := o.Load("i32", c.redAcc, 0)
		o.Store(acc, c.redDone, 0)
	}
	e.noneWaits(s)
	o.Br(name("warp.head"))
	o.Label(name("warp.head"))
	next := e.countWarps(name("region"))
	e.beginTurn()
	c.warpNext = name("warp.next")
	e.spanBody(fmt.Sprintf("r%d", k), s.blocks, func() { o.Br(e.labels[s.start]) })
	o.Label(c.warpNext)
	o.CondBr(next(c.warpNext), name("warp.head"), name("region.end"))
	o.Label(name("region.end"))
	e.waitRounds(k, s)
	to := func(end int) string {
		if end == 0 {
			return "block.next"
		}
		return fmt.Sprintf("region.%d", end)
	}
	last := len(s.ends) - 1
	if last < 0 { // it never ends
		o.Unreachable()
		return
	}
	if last == 0 {
		o.Br(to(s.ends[0]))
		return
	}
	pc := o.Load("i32", c.nextPC, 0)
	text := fmt.Sprintf("switch %s, label %%%s [", pc, to(s.ends[last]))
	for _, end := range s.ends[:last] {
		pc := end
		if end == 0 {
			pc = -1
		}
		text += fmt.Sprintf(" i32 %d, label %%%s", pc, to(end))
	}
	o.Do("%s ]", text)
}

// beginTurn computes what holds for the warp whose turn it is.
func (e *emitter) beginTurn() {
	clear(e.ctx.sregs)
	e.warpValues()
	for _, in := range e.turnStarts() {
		if in.Op == ir.EntryMask {
			emitEntryMask(e, in)
		}
	}
}

// spanBody writes blocks under labels of their own, behind the jump to one of them.
func (e *emitter) spanBody(name string, blocks []*ir.Block, jump func()) {
	for i, b := range blocks {
		e.labels[b] = fmt.Sprintf("%s.b%d", name, i)
	}
	clear(e.phis)
	jump()
	resume := map[*ir.Block]int{}
	for i, p := range e.f.Regions.Points {
		resume[p.Next] = i + 1
	}
	for _, b := range blocks {
		e.label(e.labels[b])
		e.enter(b)
		if k := resume[b]; k > 0 {
			e.restore(k)
		}
		e.insts(b.Insts)
	}
	e.Line = 0
}
