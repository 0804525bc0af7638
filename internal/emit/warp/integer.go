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

// emitDiv divides vectors of up to 32 bits as doubles: processors divide no vectors of integers.
func emitDiv(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		if n > 1 && a[0].T.ElemBits() <= 32 && !emit.PlainDivisor(in) {
			return e.floatDiv(in.Op, a[0], a[1])
		}
		return emit.Div(e.Func, in, a)
	})
}

// floatDiv divides integers of up to 32 bits as doubles: both are exact there, the quotient is off by less than one, and
// truncation gives the right integer because a quotient below an integer by less than 2^-53 of it cannot occur.
func (e *emitter) floatDiv(op ir.Op, x, y ll.Val) ll.Val {
	const elem = "i32"
	signed := op == ir.DivS || op == ir.RemS
	to, ext := ll.Conv("uitofp"), ll.Conv("zext")
	if signed {
		to, ext = "sitofp", "sext"
	}
	_, orig := x.T.Split()
	xw, yw := e.Convert(ext, x, elem), e.Convert(ext, y, elem)
	zero := e.ICmp("eq", y, y.Int(0))
	d := e.Select(e.ICmp("eq", yw, yw.Int(0)), yw.Int(1), yw)
	fx, fy := e.Convert(to, xw, "double"), e.Convert(to, d, "double")
	q := e.FDiv(fx, fy)
	// The only quotient outside i32 is -2^31 / -1; 64 bits hold it.
	qi := e.Trunc(e.FPToSI(q, "i64"), elem)
	if op == ir.DivS || op == ir.DivU {
		r := e.Trunc(qi, orig)
		return e.Select(zero, r.Int(-1), r)
	}
	r := e.Sub(xw, e.Mul(qi, d))
	r = e.Trunc(r, orig)
	return e.Select(zero, x.Int(-1), r)
}
