package warp

import (
	"fmt"

	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Warps that may stand at different barriers have a program counter each. A warp's frame begins with its state; the
// block's frame holds the barriers.
const (
	warpPC     = 0  // i32: where it goes on
	warpStatus = 4  // i32: running, waiting, done
	warpBar    = 8  // i32: the barrier it waits at
	warpRed    = 12 // i32: result of a reducing barrier

	running = 0
	waiting = 1
	done    = 2

	barArrived = 0 // i32: threads that have come
	barCount   = 4 // i32: threads expected; 0: all that are not done
	barAcc     = 8 // i32: reduction so far
	barBytes   = 16
	numBars    = ir.BarWarpgroup + 8 // those that programs name, and one for each warpgroup

	blockDone  = numBars * barBytes // i32: warps that have ended
	blockBars  = blockDone + 4      // i32: one bit a barrier to which warps have come and which is not open
	blockBytes = blockDone + 64
)

// blockFrame is the bytes of the frame that belong to the block.
func (e *emitter) blockFrame() uint32 {
	switch r := e.f.Regions; {
	case r != nil && r.PerWarp:
		return blockBytes
	case e.regionsWait():
		return waitBytes
	}
	return 0
}

// perWarpLoop runs the warps that can run, round and round, until all are done. If none can, the kernel is stuck.
func (e *emitter) perWarpLoop() {
	c, o := &e.ctx, e.Func
	if e.jam > 1 {
		panic("BUG: jammed warps wait for each other")
	}
	e.meta.FrameBlock = blockBytes
	progress, yields := o.Alloca("i32", 4), o.Alloca("i32", 4)
	c.nextPC = yields
	start := "block.body"
	if e.hasYields() {
		e.meta.Resumable = true
		at := e.at(c.worker, image.WorkerResume)
		again := o.Load("i32", at, 0)
		o.Store(ll.Int("i32", 0), at, 0)
		o.CondBr(e.ICmp("ne", again, ll.Int("i32", 0)), "sched.head", "block.start")
		o.Label("block.start")
		start = "block.start"
	}
	for off := 0; off < blockBytes; off += 64 {
		o.Store(ll.Zero("<16 x i32>"), e.at(c.frame, off), 64)
	}
	o.Br("init.head")
	o.Label("init.head")
	i := o.Phi("i32")
	i.Add(ll.Int("i32", 0), start)
	wf := e.frameOf(i.Val)
	o.Store(ll.Zero("<4 x i32>"), wf, 16)
	up := o.Add(i.Val, i.Val.Int(1))
	i.Add(up, "init.head")
	o.CondBr(e.ICmp("ult", up, c.warps), "init.head", "sched.head")

	o.Label("sched.head")
	o.Store(ll.Int("i32", 0), progress, 0)
	o.Store(ll.Int("i32", 0), yields, 0)
	o.Br("warp.head")
	o.Label("warp.head")
	warp := o.Phi("i32")
	warp.Add(ll.Int("i32", 0), "sched.head")
	c.warp = warp.Val
	c.warpFrame = e.frameOf(c.warp)
	status := e.load("i32", c.warpFrame, warpStatus, "")
	if e.coll.bytes > 0 {
		o.CondBr(e.ICmp("eq", status, ll.Int("i32", collecting)), "try", "warp.ask")
		o.Label("warp.ask")
	}
	o.CondBr(e.ICmp("eq", status, ll.Int("i32", running)), "warp.run", "warp.next")
	o.Label("warp.run")
	o.Store(ll.Int("i32", 1), progress, 0)
	e.warpValues()
	e.dispatch(e.load("i32", c.warpFrame, warpPC, ""))
	c.warpNext = "warp.next"
	e.body()
	e.tries(progress)

	o.Line = 0
	o.Label("warp.next")
	next := o.Add(warp.Val, warp.Val.Int(1))
	warp.Add(next, "warp.next")
	o.CondBr(e.ICmp("ult", next, c.warps), "warp.head", "sched.next")
	o.Label("sched.next")
	ended := e.load("i32", c.frame, blockDone, "")
	o.CondBr(e.ICmp("eq", ended, c.warps), "block.next", "sched.more")
	o.Label("sched.more")
	spun := o.Load("i32", yields, 0)
	o.CondBr(e.ICmp("ne", spun, ll.Int("i32", 0)), "sched.yield", "sched.check")
	o.Label("sched.yield")
	if e.hasYields() {
		leave := e.rtCall("i32", image.RtYield, c.launch, c.worker)
		o.CondBr(e.ICmp("ne", leave, ll.Int("i32", 0)), "sched.leave", "sched.head")
		o.Label("sched.leave")
		o.Ret(ll.Int("i32", image.StopYield))
	} else {
		o.Br("sched.head")
	}
	o.Label("sched.check")
	went := o.Load("i32", progress, 0)
	o.CondBr(e.ICmp("ne", went, ll.Int("i32", 0)), "sched.head", "stuck")
	o.Label("stuck")
	o.Ret(ll.Int("i32", image.StopDeadlock))
}

func (e *emitter) hasYields() bool {
	for _, p := range e.f.Regions.Points {
		if p.At.Op == ir.CallRt {
			return true
		}
	}
	return false
}

// threadsIn is the threads that one warp's arrival counts for.
func (e *emitter) threadsIn() ll.Val { return ll.Int("i32", int64(e.w)) }

// perWarpBar arrives at a barrier, and waits there unless it is an arrival only (k 0).
func (e *emitter) perWarpBar(in *ir.Inst, k int) {
	c, o := &e.ctx, e.Func
	id := e.barID(in.Args[0])
	count := e.scalar(in.Args[1])
	off := e.ZExt(e.Mul(id, ll.Int("i32", barBytes)), "i64")
	bar := o.GEP("i8", c.frame, off)
	if len(in.Args) > 2 {
		part := e.barPart(in)
		old := e.load("i32", bar, barAcc, "")
		came := e.load("i32", bar, barArrived, "")
		sum := e.barCombine(in.BarKind, old, part)
		acc := e.Select(e.ICmp("eq", came, ll.Int("i32", 0)), part, sum)
		o.Store(acc, e.at(bar, barAcc), 0)
	}
	if k > 0 {
		e.save(k)
		o.Store(ll.Int("i32", int64(k)), e.at(c.warpFrame, warpPC), 0)
		o.Store(ll.Int("i32", int64(waiting)), e.at(c.warpFrame, warpStatus), 0)
		o.Store(id, e.at(c.warpFrame, warpBar), 0)
	}
	o.Do("call void @kz.arrive(%s, %s, %s, %s, %s)", c.frame, id, count, e.threadsIn(), c.warps)
}

// barID is the number of a barrier in the block's frame.
func (e *emitter) barID(id *ir.Value) ll.Val {
	if id.Const && id.Bits == ir.BarWarpgroup {
		group := e.UDiv(e.Mul(e.ctx.warp, ll.Int("i32", int64(e.w))), ll.Int("i32", 128))
		return e.Add(group, ll.Int("i32", ir.BarWarpgroup))
	}
	return e.And(e.scalar(id), ll.Int("i32", ir.BarWarpgroup-1))
}

// perWarpExit ends the warp; barriers that waited for it alone may open.
func (e *emitter) perWarpExit() {
	c, o := &e.ctx, e.Func
	o.Store(ll.Int("i32", int64(done)), e.at(c.warpFrame, warpStatus), 0)
	n := e.load("i32", c.frame, blockDone, "")
	o.Store(e.Add(n, ll.Int("i32", 1)), e.at(c.frame, blockDone), 0)
	o.Do("call void @kz.exit(%s, %s, %s)", c.frame, e.threadsIn(), c.warps)
	o.Br(c.warpNext)
}

// perWarpYield lets the other warps run and goes on in the next round.
func (e *emitter) perWarpYield(k int) {
	c, o := &e.ctx, e.Func
	e.spins = true
	e.save(k)
	o.Store(ll.Int("i32", int64(k)), e.at(c.warpFrame, warpPC), 0)
	o.Store(ll.Int("i32", 1), c.nextPC, 0)
}

// helpers writes the functions that barriers call.
func (e *emitter) helpers() {
	if r := e.f.Regions; r == nil || !r.PerWarp {
		return
	}
	e.collectHelpers()
	e.mod.Declare("i32", "llvm.cttz.i32", "i32", "i1")
	size := (e.frame + 63) &^ 63
	e.mod.Raw(fmt.Sprintf(`
define internal void @kz.open(ptr %%frame, i32 %%id, i32 %%unit, i32 %%warps) #0 {
  %%o32 = mul i32 %%id, %[1]d
  %%o = zext i32 %%o32 to i64
  %%bar = getelementptr i8, ptr %%frame, i64 %%o
  %%came = load i32, ptr %%bar
  %%cp = getelementptr i8, ptr %%bar, i64 %[2]d
  %%count = load i32, ptr %%cp
  %%dp = getelementptr i8, ptr %%frame, i64 %[3]d
  %%ended = load i32, ptr %%dp
  %%left = sub i32 %%warps, %%ended
  %%all = mul i32 %%left, %%unit
  %%none = icmp eq i32 %%count, 0
  %%want = select i1 %%none, i32 %%all, i32 %%count
  %%some = icmp ne i32 %%came, 0
  %%enough = icmp uge i32 %%came, %%want
  %%go = and i1 %%some, %%enough
  br i1 %%go, label %%open, label %%out
open:
  store i32 0, ptr %%bar
  %%mp = getelementptr i8, ptr %%frame, i64 %[11]d
  %%mask = load i32, ptr %%mp
  %%bit = shl i32 1, %%id
  %%keep = xor i32 %%bit, -1
  %%still = and i32 %%mask, %%keep
  store i32 %%still, ptr %%mp
  %%ap = getelementptr i8, ptr %%bar, i64 %[4]d
  %%acc = load i32, ptr %%ap
  br label %%head
head:
  %%i = phi i32 [ 0, %%open ], [ %%up, %%next ]
  %%i64 = zext i32 %%i to i64
  %%w0 = mul i64 %%i64, %[5]d
  %%w1 = add i64 %%w0, %[6]d
  %%w = getelementptr i8, ptr %%frame, i64 %%w1
  %%sp = getelementptr i8, ptr %%w, i64 %[7]d
  %%status = load i32, ptr %%sp
  %%bp = getelementptr i8, ptr %%w, i64 %[8]d
  %%at = load i32, ptr %%bp
  %%waits = icmp eq i32 %%status, %[10]d
  %%here = icmp eq i32 %%at, %%id
  %%free = and i1 %%waits, %%here
  br i1 %%free, label %%wake, label %%next
wake:
  store i32 0, ptr %%sp
  %%rp = getelementptr i8, ptr %%w, i64 %[9]d
  store i32 %%acc, ptr %%rp
  br label %%next
next:
  %%up = add i32 %%i, 1
  %%more = icmp ult i32 %%up, %%warps
  br i1 %%more, label %%head, label %%out
out:
  ret void
}

define internal void @kz.arrive(ptr %%frame, i32 %%id, i32 %%count, i32 %%unit, i32 %%warps) #0 {
  %%o32 = mul i32 %%id, %[1]d
  %%o = zext i32 %%o32 to i64
  %%bar = getelementptr i8, ptr %%frame, i64 %%o
  %%came = load i32, ptr %%bar
  %%now = add i32 %%came, %%unit
  store i32 %%now, ptr %%bar
  %%cp = getelementptr i8, ptr %%bar, i64 %[2]d
  store i32 %%count, ptr %%cp
  %%mp = getelementptr i8, ptr %%frame, i64 %[11]d
  %%mask = load i32, ptr %%mp
  %%bit = shl i32 1, %%id
  %%both = or i32 %%mask, %%bit
  store i32 %%both, ptr %%mp
  call void @kz.open(ptr %%frame, i32 %%id, i32 %%unit, i32 %%warps)
  ret void
}

define internal void @kz.exit(ptr %%frame, i32 %%unit, i32 %%warps) #0 {
entry:
  %%mp = getelementptr i8, ptr %%frame, i64 %[11]d
  %%mask = load i32, ptr %%mp
  %%none = icmp eq i32 %%mask, 0
  br i1 %%none, label %%out, label %%head
head:
  %%m = phi i32 [ %%mask, %%entry ], [ %%rest, %%head ]
  %%i = call i32 @llvm.cttz.i32(i32 %%m, i1 true)
  %%less = add i32 %%m, -1
  %%rest = and i32 %%m, %%less
  call void @kz.open(ptr %%frame, i32 %%i, i32 %%unit, i32 %%warps)
  %%more = icmp ne i32 %%rest, 0
  br i1 %%more, label %%head, label %%out
out:
  ret void
}
`, barBytes, barCount, blockDone, barAcc, size, blockBytes, warpStatus, warpBar, warpRed, waiting, blockBars))
}
