package simt

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// directed rounds towards zero or an infinity.
func (e *emitter) directed(in *ir.Inst, t ir.Type, a []ll.Val) ll.Val {
	e.fail("%s of %s rounded %s", in.Op, t, in.Rnd)
	return ll.Val{}
}

func (e *emitter) directedIToF(in *ir.Inst, name string, x ll.Val, to ir.Type) ll.Val {
	e.fail("%s to %s rounded %s", in.Op, to, in.Rnd)
	return ll.Val{}
}

func (e *emitter) directedF64ToF32(in *ir.Inst, x ll.Val) ll.Val {
	e.fail("%s of f64 rounded %s", in.Op, in.Rnd)
	return ll.Val{}
}
