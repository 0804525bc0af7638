package warp

import (
	"fmt"

	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Warps that wait on memory in a region, as the one that looks back in a scan over the device does. All warps still meet at all barriers, so
// that each region keeps a loop over the warps of its own. A warp that has to wait leaves its number behind, and when all others have come
// to the region's end those that are left are tried again, round by round, by a second copy of what may follow. Between two rounds other
// blocks may run: what is needed then stands in the block's frame.
const (
	waitRegion = 0 // i32: the region
	waitWarps  = 4 // i32: one bit a warp that waits
	waitBytes  = 64
)

// waitsAt reports a point at which a warp waits on memory, not for the block's other warps.
func (e *emitter) waitsAt(k int) bool { return e.f.Regions.Points[k-1].At.Op == ir.CallRt }

// regionsWait reports a kernel of regions in which warps wait on memory.
func (e *emitter) regionsWait() bool {
	r := e.f.Regions
	return r != nil && !r.PerWarp && e.hasYields()
}

// settleRegions gives warps a program counter each where regions in which they wait would have too much code.
func (e *emitter) settleRegions() {
	if e.regionsWait() && e.spans() == nil {
		e.f.Regions.PerWarp = true
	}
}

// beginWaits goes to the first region, or to where a block goes on that was left.
func (e *emitter) beginWaits(spans []span) {
	c, o := &e.ctx, e.Func
	if !e.regionsWait() {
		o.Br("region.0")
		return
	}
	if e.jam > 1 {
		panic("BUG: jammed warps wait on memory")
	}
	e.meta.FrameBlock, e.meta.Resumable, e.spins = waitBytes, true, true
	at := e.at(c.worker, image.WorkerResume)
	again := o.Load("i32", at, 0)
	o.Store(ll.Int("i32", 0), at, 0)
	o.CondBr(e.ICmp("ne", again, ll.Int("i32", 0)), "block.again", "block.start")
	o.Label("block.again")
	text := fmt.Sprintf("switch %s, label %%block.lost [", e.load("i32", c.frame, waitRegion, ""))
	for k, s := range spans {
		if len(s.waits) > 0 {
			text += fmt.Sprintf(" i32 %d, label %%again.%d", k, k)
		}
	}
	o.Do("%s ]", text)
	o.Label("block.lost")
	o.Unreachable()
	o.Label("block.start")
	o.Br("region.0")
}

// noneWaits begins a region.
func (e *emitter) noneWaits(s span) {
	if len(s.waits) > 0 {
		e.Store(ll.Int("i32", 0), e.at(e.ctx.frame, waitWarps), 0)
	}
}

// regionYield leaves the warp at point k until the others have come to the region's end.
func (e *emitter) regionYield(k int) {
	c, o := &e.ctx, e.Func
	e.save(k)
	o.Store(ll.Int("i32", int64(k)), e.at(c.warpFrame, warpPC), 0)
	waits := e.load("i32", c.frame, waitWarps, "")
	o.Store(e.Or(waits, e.Shl(ll.Int("i32", 1), c.warp)), e.at(c.frame, waitWarps), 0)
}

// waitRounds tries the warps that wait in region k again, until none does.
func (e *emitter) waitRounds(k int, s span) {
	if len(s.waits) == 0 {
		return
	}
	c, o := &e.ctx, e.Func
	name := func(what string) string { return fmt.Sprintf("%s.%d", what, k) }
	o.Br(name("round"))
	o.Label(name("round"))
	waits := e.load("i32", c.frame, waitWarps, "")
	o.CondBr(e.ICmp("ne", waits, ll.Int("i32", 0)), name("wait"), name("together"))
	o.Label(name("wait"))
	o.Store(ll.Int("i32", int64(k)), e.at(c.frame, waitRegion), 0)
	leave := e.rtCall("i32", image.RtYield, c.launch, c.worker)
	o.CondBr(e.ICmp("ne", leave, ll.Int("i32", 0)), name("leave"), name("again"))
	o.Label(name("leave"))
	o.Ret(ll.Int("i32", image.StopYield))

	o.Label(name("again"))
	all := e.load("i32", c.frame, waitWarps, "")
	e.noneWaits(s)
	o.Br(name("again.head"))
	o.Label(name("again.head"))
	left := o.Phi("i32")
	left.Add(all, name("again"))
	c.warp = e.Intr("cttz", left.Val, ll.Int("i1", 1))
	e.beginTurn()
	c.warpNext = name("again.next")
	e.spanBody(fmt.Sprintf("a%d", k), s.again, func() {
		pc := e.load("i32", c.warpFrame, warpPC, "")
		last := len(s.waits) - 1
		next := func(k int) string { return e.labels[e.f.Regions.Points[k-1].Next] }
		text := fmt.Sprintf("switch %s, label %%%s [", pc, next(s.waits[last]))
		for _, k := range s.waits[:last] {
			text += fmt.Sprintf(" i32 %d, label %%%s", k, next(k))
		}
		o.Do("%s ]", text)
	})
	o.Label(c.warpNext)
	rest := e.And(left.Val, e.Sub(left.Val, ll.Int("i32", 1)))
	left.Add(rest, c.warpNext)
	o.CondBr(e.ICmp("ne", rest, ll.Int("i32", 0)), name("again.head"), name("round"))
	o.Label(name("together"))
}
