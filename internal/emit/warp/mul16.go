package warp

import (
	"kudzu/internal/analysis"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// emitMul multiplies. A product of numbers of 16 bits, one of which is not negative, is the instruction that adds two such products:
// the upper halves are the signs, and one of them is zero. It is half of what a product of 32 bits costs.
func emitMul(e *emitter, in *ir.Inst) {
	small := e.cpu.avx512 && in.Results[0].Type == ir.I32 && e.smallProduct(in.Args[0], in.Args[1])
	e.each(in, func(n int, a []ll.Val) ll.Val {
		if !small || n < 16 {
			return e.Mul(a[0], a[1])
		}
		return e.chunks(a, 16, func(p []ll.Val) ll.Val {
			const pairs = "<32 x i16>"
			return e.Call(p[0].T, "llvm.x86.avx512.pmaddw.d.512", e.Bitcast(p[0], pairs), e.Bitcast(p[1], pairs))
		})
	})
}

// smallProduct reports numbers of 16 bits of which one is never negative. What LLVM makes of constants is left to it.
func (e *emitter) smallProduct(x, y *ir.Value) bool {
	if x.Const || y.Const {
		return false
	}
	half := analysis.RangeOf(ir.I16)
	const depth = 6
	a, b := e.rangeOf(x, depth), e.rangeOf(y, depth)
	return a.Within(half) && b.Within(half) && (a.Lo >= 0 || b.Lo >= 0)
}
