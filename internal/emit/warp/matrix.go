package warp

import "kudzu/internal/ir"

func emitMma(e *emitter, in *ir.Inst)       { e.unsupported("mma") }
func emitLdMatrix(e *emitter, in *ir.Inst)  { e.unsupported("ldmatrix") }
func emitStMatrix(e *emitter, in *ir.Inst)  { e.unsupported("stmatrix") }
func emitMovMatrix(e *emitter, in *ir.Inst) { e.unsupported("movmatrix") }
