package warp

import (
	"fmt"
	"slices"

	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// texRows is the most operand words of an instruction, and texResults of its results.
const (
	texLanes   = 32
	texRows    = 16
	texResults = 4
)

// emitTexture calls the runtime for the whole warp: handles and words go to memory, results come back from it. What is known of the lanes
// it is told: of one handle only the first is stored, and results that nobody reads are not filled in.
func emitTexture(e *emitter, in *ir.Inst) {
	o := e.Func
	if len(in.Args)-1 > texRows || len(in.Results) > texResults {
		panic(fmt.Sprintf("BUG: %s with %d arguments", in.Op, len(in.Args)))
	}
	room := func(key string, bytes int) ll.Val {
		p, ok := e.scratch[key]
		if !ok {
			p = o.Alloca(ll.Array(bytes, "i8"), 64)
			e.scratch[key] = p
		}
		return p
	}
	args, results := room("texture arguments", texLanes*8+texRows*texLanes*4), room("texture results", texResults*texLanes*4)
	at, op := 0, in.UnitOp
	for i, a := range in.Args {
		if i == 0 && e.w > 1 && uniform(a) {
			o.Store(e.scalar(a), args, 64)
			op |= image.TexOneHandle
			at += texLanes * bytesOf(a.Type)
			continue
		}
		if i == 2 && uniform(a) {
			op |= image.TexOneRow
		}
		x := e.stored(a, e.w)
		if i > 0 && a.Type != ir.I32 {
			panic(fmt.Sprintf("BUG: argument %d of %s is %s", i, in.Op, a.Type))
		}
		o.Store(x, e.at(args, at), 64)
		at += texLanes * bytesOf(a.Type)
	}
	if len(in.Results) > 0 && !slices.ContainsFunc(in.Results[1:], func(r *ir.Value) bool { return e.used[r] }) {
		op |= image.TexOneResult
	}
	answer := e.rtCall("i64", image.RtTexture, e.ctx.launch, e.ctx.worker, ll.Int("i32", int64(int32(op))), e.active(in), args, results)
	e.orTexture(in, answer)
	for i, r := range in.Results {
		if !e.used[r] {
			continue
		}
		t := ll.Vec(e.w, typ(r.Type))
		e.set(r, o.Load(t, e.at(results, i*texLanes*4), 64))
	}
}

// orTexture goes on if the runtime answered 0, else leaves the kernel with the code it gave.
func (e *emitter) orTexture(in *ir.Inst, answer ll.Val) {
	o := e.Func
	stop, on := o.NewLabel("texture.stop"), o.NewLabel("texture.on")
	o.Do("br %s, label %%%s, label %%%s, !prof !7", e.ICmp("ne", answer, ll.Int("i64", 0)), stop, on)
	o.Label(stop)
	o.Store(ll.Int("i32", int64(in.Line)), e.at(e.ctx.worker, image.WorkerStopLine), 0)
	o.Store(e.Trunc(e.LShr(answer, ll.Int("i64", 32)), "i32"), e.at(e.ctx.worker, image.WorkerStopLanes), 0)
	o.Ret(e.Trunc(answer, "i32"))
	e.label(on)
}
