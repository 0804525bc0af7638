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
}

func (e *emitter) load(t string, base ll.Val, off int, more string) ll.Val {
	return e.o.Op(t, "load %s, %s%s", t, e.at(base, off), more)
}

// at is the address off bytes above base.
func (e *emitter) at(base ll.Val, off int) ll.Val {
	if off == 0 {
		return base
	}
	return e.o.Op("ptr", "getelementptr i8, %s, i64 %d", base, off)
}

// invariant marks what nobody writes while the kernel runs.
const invariant = ", !invariant.load !6"

// function writes the kernel's function: blocks, warps in them, the code in those.
func (e *emitter) function() {
	o := e.mod.Func("i32 @"+entryName+"(ptr %l, ptr %w, i64 %first, i64 %count)", true)
	e.o = o
	c := &e.ctx
	c.launch, c.worker = ll.Val{T: "ptr", S: "%l"}, ll.Val{T: "ptr", S: "%w"}
	c.sregs, c.paramVals = map[ir.SpecialReg]*rep{}, map[string]ll.Val{}
	e.nanSources(false)
	e.slots()
	e.keepPlaces()
	e.launchValues()
	end := o.Op("i64", "add i64 %%first, %%count")
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
	more := o.Op("i1", "icmp ult %s, %s", bid.Val, end.S)
	o.CondBr(more, "block.body", "done")
	o.Label("done")
	o.Do("ret i32 0")

	o.Label("block.body")
	step := ll.Int("i32", 1)
	if e.inRows() {
		step = e.rowLoop(end)
	} else {
		o.Do("store %s, %s", bid.Val, e.at(c.worker, image.WorkerBlock))
		e.warpLoop()
	}

	o.Label("block.next")
	next := o.Op("i64", "add %s, %s", bid.Val, e.conv("zext", step, "i64").S)
	bid.Add(next, "block.next")
	e.nextBlock(ids, step)
	o.Br("block.head")
	e.misalignedEnd()
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
	field := func(t string, off int) ll.Val { return e.load(t, c.launch, off, invariant) }
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
			c.paramVals[key] = e.o.Op("i1", "icmp ne %s, 0", b)
		} else {
			c.paramVals[key] = e.load(t, c.params, int(in.Off), ", align 1"+invariant)
		}
	}
	e.rep(in.Results[0]).scalar = c.paramVals[key]
}

// firstBlock is the index of the first block in three dimensions.
func (e *emitter) firstBlock() [3]ll.Val {
	c, o := &e.ctx, e.o
	gx := o.Op("i64", "zext %s to i64", c.grid[0])
	gy := o.Op("i64", "zext %s to i64", c.grid[1])
	x := o.Op("i64", "urem i64 %%first, %s", gx.S)
	yz := o.Op("i64", "udiv i64 %%first, %s", gx.S)
	y := o.Op("i64", "urem %s, %s", yz, gy.S)
	z := o.Op("i64", "udiv %s, %s", yz, gy.S)
	var r [3]ll.Val
	for i, v := range []ll.Val{x, y, z} {
		r[i] = o.Op("i32", "trunc %s to i32", v)
	}
	return r
}

// nextBlock counts the index up, x fastest.
func (e *emitter) nextBlock(ids [3]*ll.Phi, step ll.Val) {
	c, o := &e.ctx, e.o
	carry := ll.Int("i1", 1)
	for i := range ids {
		up := o.Op("i32", "add %s, %s", ids[i].Val, step.S)
		step = ll.Int("i32", 1)
		over := o.Op("i1", "icmp uge %s, %s", up, c.grid[i].S)
		if i == 2 {
			over = ll.Int("i1", 0)
		}
		wrapped := o.Op("i32", "select %s, i32 0, %s", over, up)
		n := o.Op("i32", "select %s, %s, %s", carry, wrapped, ids[i].Val)
		ids[i].Add(n, "block.next")
		carry = o.Op("i1", "and %s, %s", carry, over.S)
	}
}

// warpLoop writes the loop over the warps of a block, and over the regions between barriers around it.
func (e *emitter) warpLoop() {
	c, o := &e.ctx, e.o
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
		o.Do("store i32 0, %s", c.pc)
		o.Do("store i32 0, %s", c.redAcc)
		o.Br("region.head")
		o.Label("region.head")
		pc = o.Op("i32", "load i32, %s", c.pc)
		acc := o.Op("i32", "load i32, %s", c.redAcc)
		o.Do("store %s, %s", acc, c.redDone)
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
	to := o.Op("i32", "load i32, %s", c.nextPC)
	o.Do("store %s, %s", to, c.pc)
	done := o.Op("i1", "icmp eq %s, -1", to)
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
	c, o := &e.ctx, e.o
	if n := e.cfg.Block; int(n[0]*n[1]*n[2]) == e.jam*e.w {
		c.warp = ll.Int("i32", 0)
		return func(string) ll.Val { return ll.Int("i1", 0) }
	}
	warp := o.Phi("i32")
	warp.Add(ll.Int("i32", 0), from)
	c.warp = warp.Val
	return func(at string) ll.Val {
		up := o.Op("i32", "add %s, %d", warp.Val, e.jam)
		warp.Add(up, at)
		return e.cmp("ult", up, c.warps)
	}
}

// dispatch jumps to the resume point pc.
func (e *emitter) dispatch(pc ll.Val) {
	text := fmt.Sprintf("switch %s, label %%b0 [", pc)
	for i, p := range e.f.Regions.Points {
		text += fmt.Sprintf(" i32 %d, label %%b%d", i+1, indexOf(e.f.Blocks, p.Next))
	}
	e.o.Do("%s ]", text)
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
	c, o := &e.ctx, e.o
	number := c.warp
	if e.w > 1 {
		o.Do("store %s, %s", number, e.at(c.worker, image.WorkerWarp))
		return
	}
	number = o.Op("i32", "lshr %s, 5", c.warp)
	if e.f.Regions != nil {
		o.Do("store %s, %s", number, e.at(c.worker, image.WorkerWarp))
		return
	}
	first := e.cmp("eq", e.op2("and", c.warp, ll.Int("i32", 31)), ll.Int("i32", 0))
	o.CondBr(first, "warp.first", "warp.on")
	o.Label("warp.first")
	o.Do("store %s, %s", number, e.at(c.worker, image.WorkerWarp))
	o.Br("warp.on")
	o.Label("warp.on")
}

// warpValues computes what holds for one warp.
func (e *emitter) warpValues() {
	c, o := &e.ctx, e.o
	e.noteWarp()
	c.first = o.Op("i32", "mul %s, %d", c.warp, e.w)
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
		t := o.Op(lanes.T, "add %s, %s", e.splat(c.first), lanes.S)
		c.entryMask = o.Op(ll.Vec(e.w, "i1"), "icmp ult %s, %s", t, e.splat(c.threads).S)
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
func (e *emitter) iota(t string) ll.Val {
	elems := make([]int64, e.w)
	for i := range elems {
		elems[i] = int64(i)
	}
	if e.w == 1 {
		return ll.Int(t, 0)
	}
	return ll.ConstVec(t, elems)
}
