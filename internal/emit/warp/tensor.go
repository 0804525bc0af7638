package warp

import (
	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// emitTensor calls the runtime for the whole warp: addresses and words go to memory, the bytes that were copied come back from it.
func emitTensor(e *emitter, in *ir.Inst) {
	o := e.Func
	const words = image.TensorCoords + image.TensorShifts
	room := func(key string, bytes int) ll.Val {
		p, ok := e.scratch[key]
		if !ok {
			p = o.Alloca(ll.Array(bytes, "i8"), 64)
			e.scratch[key] = p
		}
		return p
	}
	args, results := room("tensor arguments", texLanes*(8+8+4*words)), room("tensor results", texLanes*4)
	maps, second := e.hostAddress(in.Args[0], ir.Generic), e.hostAddress(in.Args[1], ir.Shared)
	o.Store(maps, e.at(args, 0), 64)
	o.Store(second, e.at(args, texLanes*8), 64)
	for i, a := range in.Args[2:] {
		o.Store(e.stored(a, e.w), e.at(args, texLanes*(16+4*i)), 64)
	}
	answer := e.rtCall("i64", image.RtTensor, e.ctx.launch, e.ctx.worker, ll.Int("i32", int64(int32(in.UnitOp))), e.active(in), args, results)
	e.orTexture(in, answer)
	t := ll.Vec(e.w, "i32")
	e.set(in.Results[0], o.Load(t, results, 64))
}

// hostAddress is where each lane's address in a space is, as numbers.
func (e *emitter) hostAddress(a *ir.Value, sp ir.Space) ll.Val {
	v := e.stored(a, e.w)
	switch sp {
	case ir.Shared, ir.ParamSpace, ir.Local:
		return e.Add(v, e.base(sp, e.w))
	}
	return v
}
