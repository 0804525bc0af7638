package simt

import "kudzu/internal/ir"

// emitMma calls the function that lower made of a product. Products that targets have instructions for are kept before.
func emitMma(e *emitter, in *ir.Inst) {
	if in.Sym == "" {
		m := in.Mat
		e.fail("mma.m%dn%dk%d of %s", m.M, m.N, m.K, m.A)
	}
	e.returned(in, "@"+e.symbol(in.Sym), in.Args)
}
