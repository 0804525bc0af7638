package warp

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// lanewise is an operation on integers that both emitters write alike.
func lanewise(op emit.Lanewise) emitFn {
	return func(e *emitter, in *ir.Inst) {
		e.each(in, func(n int, a []ll.Val) ll.Val { return op(e.Func, in, a) })
	}
}

func emitMulHi(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		if n > 1 && a[0].T.ElemBits() == 64 {
			return e.mulHi64(a[0], a[1], in.Op == ir.MulHiS)
		}
		return emit.MulHi(e.Func, in, a)
	})
}

// mulHi64 is the high half of a 64×64 product from 32-bit parts: vectors of i128 would be taken apart lane by lane.
func (e *emitter) mulHi64(a, b ll.Val, signed bool) ll.Val {
	low := func(x ll.Val) ll.Val { return e.And(x, x.Int(0xffffffff)) }
	high := func(x ll.Val) ll.Val { return e.LShr(x, x.Int(32)) }
	al, ah, bl, bh := low(a), high(a), low(b), high(b)
	ll_, lh, hl, hh := e.Mul(al, bl), e.Mul(al, bh), e.Mul(ah, bl), e.Mul(ah, bh)
	mid := e.Add(e.Add(high(ll_), low(lh)), low(hl))
	r := e.Add(e.Add(hh, high(lh)), e.Add(high(hl), high(mid)))
	if signed {
		za := e.And(e.AShr(a, a.Int(63)), b)
		zb := e.And(e.AShr(b, b.Int(63)), a)
		r = e.Sub(e.Sub(r, za), zb)
	}
	return r
}
