package warp

import (
	"fmt"

	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// context is the operands that all code of the kernel may use, and what is under way.
type context struct {
	launch, worker       ll.Val
	params, vars, rt     ll.Val
	shared, local, frame ll.Val
	grid, block          [3]ll.Val
	warps, threads       ll.Val
	bid                  ll.Val
	ctaid                [3]ll.Val
	warp                 ll.Val // i32
	first                ll.Val // linear number of the warp's first thread
	warpFrame            ll.Val
	sregs                map[ir.SpecialReg]*rep
	paramVals            map[string]ll.Val
	entryMask            ll.Val

	pc, nextPC      ll.Val // block-level program counter, in memory
	redAcc, redDone ll.Val
	warpNext        string // the label of the next warp
	pending         []pending
	misaligned      bool // some access may be
	outside         bool // likewise
}

func (e *emitter) load(t ll.Type, base ll.Val, off int, meta string) ll.Val {
	return e.LoadAs(t, e.at(base, off), ll.Access{Meta: meta})
}

// at is the address off bytes above base.
func (e *emitter) at(base ll.Val, off int) ll.Val {
	if off == 0 {
		return base
	}
	return e.Offset(base, int64(off))
}

// invariant marks what nobody writes while the kernel runs.
const invariant = "!invariant.load !6"

// firstBlock is the number of the first block that a call runs.
var firstBlock = ll.Val{T: "i64", S: "%first"}

// function writes the kernel's function: blocks, warps in them, the code in those.
func (e *emitter) function() {
	o := e.mod.Func("i32 @"+entryName+"(ptr %l, ptr %w, i64 %first, i64 %count)", true)
	e.Func = o
	c := &e.ctx
	c.launch, c.worker = ll.Val{T: "ptr", S: "%l"}, ll.Val{T: "ptr", S: "%w"}
	c.sregs, c.paramVals = map[ir.SpecialReg]*rep{}, map[string]ll.Val{}
	e.nanSources(false)
	e.slots()
	e.keepPlaces()
	e.oncePlaces()
	e.launchValues()
	end := o.Add(firstBlock, ll.Val{T: "i64", S: "%count"})
	start := e.firstBlock()
	o.Br("block.head")

	o.Label("block.head")
	bid := o.Phi("i64")
	bid.Add(ll.Val{T: "i64", S: "%first"}, "entry")
	var ids [3]*ll.Phi
	for i := range ids {
		ids[i] = o.Phi("i32")
		ids[i].Add(start[i], "entry")
		c.ctaid[i] = ids[i].Val
	}
	c.bid = bid.Val
	more := o.ICmp("ult", bid.Val, end)
	o.CondBr(more, "block.body", "done")
	o.Label("done")
	o.Ret(ll.Int("i32", 0))

	o.Label("block.body")
	step := ll.Int("i32", 1)
	if e.inRows() {
		step = e.rowLoop(end)
	} else {
		o.Store(bid.Val, e.at(c.worker, image.WorkerBlock), 0)
		e.beginOnces()
		e.warpLoop()
	}

	o.Label("block.next")
	next := o.Add(bid.Val, e.ZExt(step, "i64"))
	bid.Add(next, "block.next")
	e.nextBlock(ids, step)
	o.Br("block.head")
	e.misalignedEnd()
	e.outsideEnd()
	e.finishPhis()
	e.helpers()
	e.products()
	e.meta.FrameWarp = uint32(((e.frame+63)&^63+e.jam-1)/e.jam+63) &^ 63
	if e.w == 1 {
		e.meta.FrameWarp *= 32 // a frame for each thread
	}
	e.meta.Spins = e.spins
}

// launchValues loads what holds for the whole launch.
func (e *emitter) launchValues() {
	c := &e.ctx
	field := func(t ll.Type, off int) ll.Val { return e.load(t, c.launch, off, invariant) }
	c.params, c.vars, c.rt = field("ptr", image.LaunchParams), field("ptr", image.LaunchVars), field("ptr", image.LaunchRT)
	for i := range c.grid {
		c.grid[i] = field("i32", image.LaunchGrid+4*i)
	}
	n := e.cfg.Block
	if n == [3]uint32{} {
		for i := range c.block {
			c.block[i] = field("i32", image.LaunchBlock+4*i)
		}
		c.threads = field("i32", image.LaunchThreads)
		c.warps = field("i32", image.LaunchWarps)
		if e.w == 1 {
			c.warps = c.threads
		}
	} else {
		for i := range c.block {
			c.block[i] = ll.Int("i32", int64(n[i]))
		}
		t := int64(n[0]) * int64(n[1]) * int64(n[2])
		c.threads = ll.Int("i32", t)
		c.warps = ll.Int("i32", (t+int64(e.w)-1)/int64(e.w))
	}
	worker := func(off int) ll.Val { return e.load("ptr", c.worker, off, invariant) }
	c.shared, c.frame, c.local = worker(image.WorkerShared), worker(image.WorkerFrame), worker(image.WorkerLocal)
	for _, b := range e.f.Blocks {
		for _, in := range b.Insts {
			switch in.Op {
			case ir.Param:
				e.param(in)
			case ir.VarAddr:
				e.varAddr(in)
			}
		}
	}
}

// param loads a parameter once, at the start.
func (e *emitter) param(in *ir.Inst) {
	t := typ(in.Results[0].Type)
	key := fmt.Sprintf("%d %s", in.Off, t)
	c := &e.ctx
	if _, ok := c.paramVals[key]; !ok {
		if t == "i1" {
			b := e.load("i8", c.params, int(in.Off), invariant)
			c.paramVals[key] = e.ICmp("ne", b, b.Int(0))
		} else {
			c.paramVals[key] = e.LoadAs(t, e.at(c.params, int(in.Off)), ll.Access{Align: 1, Meta: invariant})
		}
	}
	e.rep(in.Results[0]).scalar = c.paramVals[key]
}

// firstBlock is the index of the first block in three dimensions.
func (e *emitter) firstBlock() [3]ll.Val {
	c, o := &e.ctx, e.Func
	gx := o.ZExt(c.grid[0], "i64")
	gy := o.ZExt(c.grid[1], "i64")
	x := o.URem(firstBlock, gx)
	yz := o.UDiv(firstBlock, gx)
	y := o.URem(yz, gy)
	z := o.UDiv(yz, gy)
	var r [3]ll.Val
	for i, v := range []ll.Val{x, y, z} {
		r[i] = o.Trunc(v, "i32")
	}
	return r
}

// nextBlock counts the index up, x fastest.
func (e *emitter) nextBlock(ids [3]*ll.Phi, step ll.Val) {
	c, o := &e.ctx, e.Func
	carry := ll.Int("i1", 1)
	for i := range ids {
		up := o.Add(ids[i].Val, step)
		step = ll.Int("i32", 1)
		over := o.ICmp("uge", up, c.grid[i])
		if i == 2 {
			over = ll.Int("i1", 0)
		}
		wrapped := o.Select(over, up.Int(0), up)
		n := o.Select(carry, wrapped, ids[i].Val)
		ids[i].Add(n, "block.next")
		carry = o.And(carry, over)
	}
}

// warpLoop writes the loop over the warps of a block, and over the regions between barriers around it.
func (e *emitter) warpLoop() {
	c, o := &e.ctx, e.Func
	r := e.f.Regions
	if r != nil && r.PerWarp {
		e.perWarpLoop()
		return
	}
	if r != nil {
		if spans := e.spans(); spans != nil {
			e.regionLoops(spans)
			return
		}
	}
	head := "block.body"
	var pc ll.Val
	if r != nil {
		c.pc, c.nextPC = o.Alloca("i32", 4), o.Alloca("i32", 4)
		c.redAcc, c.redDone = o.Alloca("i32", 4), o.Alloca("i32", 4)
		o.Store(ll.Int("i32", 0), c.pc, 0)
		o.Store(ll.Int("i32", 0), c.redAcc, 0)
		o.Br("region.head")
		o.Label("region.head")
		pc = o.Load("i32", c.pc, 0)
		acc := o.Load("i32", c.redAcc, 0)
		o.Store(acc, c.redDone, 0)
		head = "region.head"
	}
	o.Br("warp.head")
	o.Label("warp.head")
	next := e.countWarps(head)
	e.warpValues()
	if r != nil {
		e.dispatch(pc)
	} else {
		o.Br("b0")
	}
	c.warpNext = "warp.next"
	e.body()

	o.Line = 0
	o.Label("warp.next")
	again := next("warp.next")
	if r == nil {
		o.Do("br %s, label %%warp.head, label %%block.next%s", again, e.copies())
		return
	}
	o.CondBr(again, "warp.head", "region.next")
	o.Label("region.next")
	to := o.Load("i32", c.nextPC, 0)
	o.Store(to, c.pc, 0)
	done := o.ICmp("eq", to, to.Int(-1))
	o.CondBr(done, "block.next", "region.head")
}

// Copies of a thread's code, and how long it may be to have them.
const (
	threadCopies = 4
	copiedInsts  = 100
)

// copies asks LLVM for copies of the code of single threads that loop: each has a history of branches of its own, and what is in
// flight at the end of one thread's loop stays so. Measured for rows of a sparse matrix: 23.5 ms with one copy, 20.2 with two, 19.4 with four.
func (e *emitter) copies() string {
	n := e.cfg.Block
	if e.w > 1 || n == [3]uint32{} || n[0]*n[1]*n[2]%threadCopies != 0 || len(ir.Loops(e.f, ir.Dominators(e.f)).Loops) == 0 {
		return ""
	}
	insts := 0
	for _, b := range e.f.Blocks {
		insts += len(b.Insts)
	}
	if insts > copiedInsts {
		return ""
	}
	e.mod.Raw(fmt.Sprintf("!8 = distinct !{!8, !9}\n!9 = !{!\"llvm.loop.unroll.count\", i32 %d}\n", threadCopies))
	return ", !llvm.loop !8"
}

// countWarps begins a loop over the warps of a block, as many at a time as the code is for, and gives what ends a round of it in
// block at: whether there is another. Code for all warps of a block has no loop, and numbers that LLVM can see.
func (e *emitter) countWarps(from string) func(at string) ll.Val {
	c, o := &e.ctx, e.Func
	if n := e.cfg.Block; int(n[0]*n[1]*n[2]) == e.jam*e.w {
		c.warp = ll.Int("i32", 0)
		return func(string) ll.Val { return ll.Int("i1", 0) }
	}
	warp := o.Phi("i32")
	warp.Add(ll.Int("i32", 0), from)
	c.warp = warp.Val
	return func(at string) ll.Val {
		up := o.Add(warp.Val, warp.Val.Int(int64(e.jam)))
		warp.Add(up, at)
		return e.ICmp("ult", up, c.warps)
	}
}

// dispatch jumps to the resume point pc.
func (e *emitter) dispatch(pc ll.Val) {
	text := fmt.Sprintf("switch %s, label %%b0 [", pc)
	for i, p := range e.f.Regions.Points {
		text += fmt.Sprintf(" i32 %d, label %%b%d", i+1, indexOf(e.f.Blocks, p.Next))
	}
	e.Do("%s ]", text)
}

func indexOf(bs []*ir.Block, b *ir.Block) int {
	for i, x := range bs {
		if x == b {
			return i
		}
	}
	panic("BUG: resume block is not in the function")
}

// noteWarp writes down which warp runs, for whoever reports a fault. Threads that run one after the other to their ends do it once a warp.
func (e *emitter) noteWarp() {
	c, o := &e.ctx, e.Func
	number := c.warp
	if e.w > 1 {
		o.Store(number, e.at(c.worker, image.WorkerWarp), 0)
		return
	}
	number = o.LShr(c.warp, c.warp.Int(5))
	if e.f.Regions != nil {
		o.Store(number, e.at(c.worker, image.WorkerWarp), 0)
		return
	}
	first := e.ICmp("eq", e.And(c.warp, ll.Int("i32", 31)), ll.Int("i32", 0))
	o.CondBr(first, "warp.first", "warp.on")
	o.Label("warp.first")
	o.Store(number, e.at(c.worker, image.WorkerWarp), 0)
	o.Br("warp.on")
	o.Label("warp.on")
}

// warpValues computes what holds for one warp.
func (e *emitter) warpValues() {
	c, o := &e.ctx, e.Func
	e.noteWarp()
	c.first = o.Mul(c.warp, c.warp.Int(int64(e.w)))
	if e.f.Regions != nil {
		c.warpFrame = e.frameOf(c.warp)
	}
	needMask := false
	for _, in := range e.turnStarts() {
		if in.Op == ir.SReg {
			if c.sregs[in.Sreg] == nil {
				c.sregs[in.Sreg] = e.sreg(in)
			}
			e.widenSReg(in, c.sregs[in.Sreg])
		}
		needMask = needMask || in.Op == ir.EntryMask
	}
	if needMask {
		lanes := e.iota("i32")
		t := o.Add(e.splat(c.first), lanes)
		c.entryMask = o.ICmp("ult", t, e.splat(c.threads))
	}
}

// turnStarts are the special registers and masks of the kernel.
func (e *emitter) turnStarts() []*ir.Inst {
	if e.starts != nil {
		return e.starts
	}
	for _, b := range e.f.Blocks {
		for _, in := range b.Insts {
			if in.Op == ir.SReg || in.Op == ir.EntryMask {
				e.starts = append(e.starts, in)
			}
		}
	}
	return e.starts
}

// iota is the vector 0, 1, 2, …
func (e *emitter) iota(t ll.Type) ll.Val {
	elems := make([]int64, e.w)
	for i := range elems {
		elems[i] = int64(i)
	}
	if e.w == 1 {
		return ll.Int(t, 0)
	}
	return ll.ConstVec(t, elems)
}
