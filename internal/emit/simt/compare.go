package simt

import (
	"kudzu/internal/emit/float"
	"kudzu/internal/ir"
)

func emitFCmp(e *emitter, in *ir.Inst) {
	t := in.Args[0].Type
	x, y := e.Flushed(in, t, e.val(in.Args[0])), e.Flushed(in, t, e.val(in.Args[1]))
	if t == ir.BF16 {
		x, y = e.WidenBF16(x), e.WidenBF16(y)
	}
	switch float.Apart(in) {
	case 0:
		x = e.fence(x)
	case 1:
		y = e.fence(y)
	}
	e.result(in, e.FCmp(float.Preds[in.Cmp], x, y))
}

func emitSelect(e *emitter, in *ir.Inst) {
	a, b := e.val(in.Args[1]), e.val(in.Args[2])
	if !e.dirty[in.Results[0]] { // one side's NaNs are made by arithmetic, the other's may not be touched
		a, b = e.clean(in.Args[1]), e.clean(in.Args[2])
	}
	e.result(in, e.Select(e.val(in.Args[0]), a, b))
}

func emitFTest(e *emitter, in *ir.Inst) { e.result(in, e.Test(in, e.val(in.Args[0]))) }
