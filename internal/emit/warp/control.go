package warp

import (
	"fmt"
	"strings"

	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

func emitBr(e *emitter, in *ir.Inst) {
	if e.suspended(in.Block) {
		e.Br(e.ctx.warpNext)
		return
	}
	e.Br(e.labels[in.Targets[0]])
}

func emitCondBr(e *emitter, in *ir.Inst) {
	e.CondBr(e.scalar(in.Args[0]), e.labels[in.Targets[0]], e.labels[in.Targets[1]])
}

func emitSwitch(e *emitter, in *ir.Inst) {
	x := e.scalar(in.Args[0])
	last := len(in.Targets) - 1
	text := fmt.Sprintf("switch %s, label %%%s [", x, e.labels[in.Targets[last]])
	for i, t := range in.Targets[:last] {
		text += fmt.Sprintf(" i32 %d, label %%%s", i, e.labels[t])
	}
	e.Do("%s ]", text)
}

// emitExit ends the warp: lanes that ended before are in no mask any more.
func emitExit(e *emitter, in *ir.Inst) {
	r := e.f.Regions
	if r != nil && r.PerWarp {
		e.perWarpExit()
		return
	}
	if r != nil {
		e.Store(ll.Int("i32", -1), e.ctx.nextPC, 0)
	}
	e.Br(e.ctx.warpNext)
}

// emitTrap stops the kernel, saying where.
func emitTrap(e *emitter, in *ir.Inst) {
	c, o := &e.ctx, e.Func
	act := e.active(in)
	if in.Mask == nil && e.w > 1 && !c.entryMask.IsZero() {
		act = e.number(c.entryMask)
	}
	o.Store(ll.Int("i32", int64(in.Line)), e.at(c.worker, image.WorkerStopLine), 0)
	o.Store(act, e.at(c.worker, image.WorkerStopLanes), 0)
	code := in.Stop
	if code == 0 {
		code = image.StopTrap
	}
	o.Ret(ll.Int("i32", int64(code)))
}

func emitGridSync(e *emitter, in *ir.Inst) { e.unsupported("a grid-wide barrier") }

func emitCall(e *emitter, in *ir.Inst) { e.unsupported("a call that cannot be inlined") }

// emitAsm: lower keeps no instruction for this target.
func emitAsm(e *emitter, in *ir.Inst) { e.unsupported("the instruction %q as it is", in.Sym) }

// rtCall calls entry i of the runtime.
func (e *emitter) rtCall(ret ll.Type, i int, args ...ll.Val) ll.Val {
	p := e.load("ptr", e.ctx.rt, 8*i, invariant)
	text := ""
	for j, a := range args {
		if j > 0 {
			text += ", "
		}
		text += a.String()
	}
	if ret == "void" {
		e.Do("call void %s(%s)", p.S, text)
		return ll.Val{}
	}
	return e.Op(ret, "call %s %s(%s)", ret, p.S, text)
}

// emitCallRt calls the runtime for each acting lane.
func emitCallRt(e *emitter, in *ir.Inst) {
	c := &e.ctx
	if k := e.pointOf(in.Block); k > 0 && e.f.Regions.Points[k-1].At == in {
		if e.f.Regions.PerWarp {
			e.perWarpYield(k)
		} else {
			e.regionYield(k)
		}
		return
	}
	if in.Entry == image.RtYield || in.Entry == image.RtNanosleep {
		e.spins = true
	}
	if in.Entry == image.RtAssert {
		emitAssert(e, in)
		return
	}
	ret := ll.Type("void")
	if len(in.Results) > 0 {
		ret = typ(in.Results[0].Type)
	}
	e.lanes(in, func(lane func(i int) ll.Val) []ll.Val {
		args := []ll.Val{c.launch, c.worker}
		for i := range in.Args {
			args = append(args, lane(i))
		}
		r := e.rtCall(ret, int(in.Entry), args...)
		if ret == "void" {
			return nil
		}
		return []ll.Val{r}
	})
}

// emitAssert reports each failing lane by its own number: the runtime prints a line for every lane it finds in the worker.
func emitAssert(e *emitter, in *ir.Inst) {
	mask, _ := e.mask(in)
	var args []ll.Val
	for _, a := range in.Args {
		if uniform(a) {
			args = append(args, e.stored(a, 1))
		} else {
			args = append(args, e.stored(a, e.w))
		}
	}
	bit := ll.Int("i32", 1)
	if e.w > 1 {
		var each []string
		for i := range e.w {
			each = append(each, fmt.Sprintf("i32 %d", int32(uint32(1)<<i)))
		}
		bit = ll.Val{T: ll.Vec(e.w, "i32"), S: "<" + strings.Join(each, ", ") + ">"}
	}
	e.overLanes(mask, append(args, bit), nil, func(lane []ll.Val) []ll.Val {
		n := len(lane) - 1
		e.Store(lane[n], e.at(e.ctx.worker, image.WorkerStopLanes), 0)
		e.rtCall("void", image.RtAssert, append([]ll.Val{e.ctx.launch, e.ctx.worker}, lane[:n]...)...)
		return nil
	})
}

// emitClock reads a counter of the machine.
func emitClock(e *emitter, in *ir.Inst) {
	entry := image.RtClock
	switch in.Sreg {
	case ir.GlobalTimer, ir.GlobalTimerLo, ir.GlobalTimerHi:
		entry = image.RtTimer
	}
	x := e.rtCall("i64", entry)
	switch in.Sreg {
	case ir.ClockHi, ir.GlobalTimerHi:
		x = e.LShr(x, x.Int(32))
	}
	if in.Results[0].Type == ir.I32 {
		x = e.Trunc(x, "i32")
	}
	if e.lanesOf(in.Results[0]) > 1 {
		x = e.splat(x)
	}
	e.set(in.Results[0], x)
}
