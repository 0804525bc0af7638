package simt

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// lanewise is the common way of an operation on integers.
func lanewise(op emit.Lanewise) emitFn {
	return func(e *emitter, in *ir.Inst) { e.result(in, op(e.Func, in, e.operands(in))) }
}

// emitDp4a adds the products of four bytes.
func emitDp4a(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	r := a[2]
	for i := range 4 {
		r = e.Add(r, e.Mul(e.part(a[0], 8, i, in.Dot&ir.DotSignedA != 0), e.part(a[1], 8, i, in.Dot&ir.DotSignedB != 0)))
	}
	e.result(in, r)
}

// emitDp2a adds the products of two halves of a with two bytes of b, the high ones with DotHigh.
func emitDp2a(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	r := a[2]
	for i := range 2 {
		j := i
		if in.Dot&ir.DotHigh != 0 {
			j += 2
		}
		r = e.Add(r, e.Mul(e.part(a[0], 16, i, in.Dot&ir.DotSignedA != 0), e.part(a[1], 8, j, in.Dot&ir.DotSignedB != 0)))
	}
	e.result(in, r)
}

// part is piece i of so many bits of an i32, extended.
func (e *emitter) part(x ll.Val, bits, i int, signed bool) ll.Val {
	if signed {
		return e.AShr(e.Shl(x, x.Int(int64(32-bits*(i+1)))), x.Int(int64(32-bits)))
	}
	return e.And(e.LShr(x, x.Int(int64(bits*i))), x.Int(1<<bits-1))
}
