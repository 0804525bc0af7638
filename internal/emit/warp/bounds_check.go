package warp

import (
	"math/bits"

	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Offsets outside a space. Around shared memory the engine keeps every address that 32 bits reach free (engine/window.c), so an
// access outside faults by itself; only where address space is short is its offset tested. The threads' local memories lie side by
// side, so an offset in them is tested always, unless what it is made of proves that it is inside.

const (
	outsideLabel = "outside"
	illegalLabel = "illegal"
)

// hardwareWindow is where shared memory ends for the hardware, of which the first KiB is its own: what lies behind is no illegal address
// but an illegal instruction (engine's KZ_WINDOW).
const hardwareWindow = 16<<20 - 1024

// bounded leaves the kernel if a lane of mask is about to access size bytes outside its local or shared memory.
func (e *emitter) bounded(in *ir.Inst, size int, mask ll.Val, all bool) {
	switch {
	case in.Space == ir.Local:
		e.boundedLocal(in, int64(size), mask, all)
	case in.Space == ir.Shared && e.cfg.Bounds:
		e.boundedShared(in, ll.Int("i64", int64(size)), mask, all)
	}
}

func (e *emitter) boundedLocal(in *ir.Inst, size int64, mask ll.Val, all bool) {
	end := int64(e.meta.LocalThread)
	if size <= end && e.below(in.Args[0], uint64(end-size)+1) {
		return
	}
	a := e.offset(in)
	outside := e.ICmp("ugt", a, a.Int(end-size))
	if size > end {
		outside = ll.Splat(a.T.Lanes(), ll.Int("i1", 1))
	}
	e.orOutside(in, outside, ll.Splat(a.T.Lanes(), ll.Int("i1", 0)), mask, all)
}

// boundedShared is the test for shared memory; the size may be a lane's own.
func (e *emitter) boundedShared(in *ir.Inst, size, mask ll.Val, all bool) {
	a := e.offset(in)
	switch n, m := a.T.Lanes(), size.T.Lanes(); {
	case n > m:
		size = e.splatN(size, n)
	case m > n:
		a = e.splatN(a, m)
	}
	wide := func(x ll.Val) ll.Val { return e.splatN(e.ZExt(x, "i64"), a.T.Lanes()) }
	total := wide(e.load("i32", e.ctx.launch, image.LaunchSharedTotal, invariant))
	far := e.ICmp("uge", a, a.Int(hardwareWindow))
	if e.m.Clusters { // another block's memory is at a distance, before this one's or behind it
		rank := e.Add(e.AShr(a, a.Int(int64(bits.TrailingZeros(image.ClusterStride)))), wide(e.clusterReg(ir.ClusterCtaRank)))
		far = e.ICmp("uge", rank, wide(e.clusterReg(ir.ClusterNctaRank)))
		a = e.And(a, a.Int(image.ClusterStride-1))
	}
	e.orOutside(in, e.Or(far, e.ICmp("ugt", e.Add(a, size), total)), far, mask, all)
}

// offset is an access's offset in its space: one, or one a lane.
func (e *emitter) offset(in *ir.Inst) ll.Val {
	if uniform(in.Args[0]) || e.w == 1 {
		return e.scalar(in.Args[0])
	}
	return e.vector(in.Args[0])
}

// orOutside goes on unless a lane that acts is outside. One that is far outside makes it an illegal instruction.
func (e *emitter) orOutside(in *ir.Inst, outside, far, mask ll.Val, all bool) {
	acting := func(x ll.Val) ll.Val {
		if x.T.Lanes() < e.w { // one test for all lanes
			return e.Select(x, e.active(in), ll.Int("i32", 0))
		}
		if !all {
			x = e.And(x, mask)
		}
		return e.number(x)
	}
	test := outside
	if outside.T.Lanes() > 1 {
		test = e.ICmp("ne", acting(outside), ll.Int("i32", 0))
	}
	e.orStop(in, test, func() ll.Val { return acting(outside) }, func() {
		e.CondBr(e.ICmp("ne", acting(far), ll.Int("i32", 0)), illegalLabel, outsideLabel)
	})
	e.ctx.outside = true
}

// outsideEnd is where all of them stop.
func (e *emitter) outsideEnd() {
	if e.ctx.outside {
		e.Label(outsideLabel)
		e.Do("ret i32 %d", image.StopOutside)
		e.Label(illegalLabel)
		e.Do("ret i32 %d", image.StopIllegal)
	}
}
