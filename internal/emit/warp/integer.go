package warp

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// binary is an operation that LLVM has under a name.
func binary(name ll.Bin) emitFn {
	return func(e *emitter, in *ir.Inst) {
		e.each(in, func(n int, a []ll.Val) ll.Val { return e.Op(a[0].T, "%s %s, %s", name, a[0], a[1].S) })
	}
}

func intrinsic2(name string) emitFn {
	return func(e *emitter, in *ir.Inst) {
		e.each(in, func(n int, a []ll.Val) ll.Val { return e.Intr(name, a[0], a[1]) })
	}
}

func emitMulHi(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		bits := a[0].T.ElemBits()
		wide := ll.IntType(2 * bits)
		ext, shift := ll.Conv("zext"), ll.Bin("lshr")
		if in.Op == ir.MulHiS {
			ext, shift = "sext", "ashr"
		}
		if bits == 64 && n > 1 {
			return e.mulHi64(a[0], a[1], in.Op == ir.MulHiS)
		}
		p := e.Mul(e.Convert(ext, a[0], wide), e.Convert(ext, a[1], wide))
		return e.Trunc(e.Binary(shift, p, p.Int(int64(bits))), ll.IntType(bits))
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

// emitDiv divides as the hardware does: by zero gives all ones, a remainder too; the smallest number by -1 wraps. LLVM's division is undefined there, so the divisor is replaced first.
func emitDiv(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x, y := a[0], a[1]
		c := in.Args[1]
		if c.Const && c.Bits != 0 && c.Int() != -1 {
			return e.Binary(map[ir.Op]ll.Bin{ir.DivS: "sdiv", ir.DivU: "udiv", ir.RemS: "srem", ir.RemU: "urem"}[in.Op], x, y)
		}
		if n > 1 && x.T.ElemBits() <= 32 {
			return e.floatDiv(in.Op, x, y)
		}
		y = e.Freeze(y)
		zero := e.ICmp("eq", y, y.Int(0))
		d := e.Select(zero, y.Int(1), y)
		signed := in.Op == ir.DivS || in.Op == ir.RemS
		var minus ll.Val
		if signed {
			minus = e.ICmp("eq", y, y.Int(-1))
			d = e.Select(minus, y.Int(1), d)
		}
		switch in.Op {
		case ir.DivS:
			q := e.Binary("sdiv", x, d)
			q = e.Select(minus, e.Sub(x.Int(0), x), q)
			return e.Select(zero, x.Int(-1), q)
		case ir.DivU:
			return e.Select(zero, x.Int(-1), e.UDiv(x, d))
		case ir.RemS:
			r := e.Binary("srem", x, d)
			r = e.Select(minus, x.Int(0), r)
			return e.Select(zero, x.Int(-1), r)
		}
		return e.Select(zero, x.Int(-1), e.URem(x, d))
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

func emitNeg(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.Sub(a[0].Int(0), a[0]) })
}

func emitAbsS(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		return e.Intr("abs", a[0], ll.Int("i1", 0))
	})
}

func emitCarry(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		s := e.Add(a[0], a[1])
		c1 := e.ICmp("ult", s, a[0])
		_, elem := s.T.Split()
		t := e.Add(s, e.ZExt(a[2], elem))
		return e.Or(c1, e.ICmp("ult", t, s))
	})
}

func emitBorrow(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		b1 := e.ICmp("ult", a[0], a[1])
		d := e.Sub(a[0], a[1])
		_, elem := d.T.Split()
		return e.Or(b1, e.ICmp("ult", d, e.ZExt(a[2], elem)))
	})
}

func emitPopc(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.Resize(e.Intr("ctpop", a[0]), 32) })
}

func emitClz(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.Resize(e.clz(a[0]), 32) })
}

func (e *emitter) clz(x ll.Val) ll.Val {
	return e.Intr("ctlz", x, ll.Int("i1", 0))
}

func emitBrev(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.Intr("bitreverse", a[0]) })
}

// shl, lshr and ashr clamp the amount as PTX does.
func (e *emitter) shift(name ll.Bin, x, amount ll.Val) ll.Val {
	w := int64(x.T.ElemBits())
	if name == "ashr" {
		return e.Binary(name, x, e.Resize(e.Intr("umin", amount, amount.Int(w-1)), x.T.ElemBits()))
	}
	big := e.ICmp("ugt", amount, amount.Int(w-1))
	s := e.Binary(name, x, e.Resize(e.Select(big, amount.Int(0), amount), x.T.ElemBits()))
	return e.Select(big, x.Int(0), s)
}

var shiftNames = map[ir.Op]ll.Bin{ir.Shl: "shl", ir.ShrU: "lshr", ir.ShrS: "ashr"}

func emitShift(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		name := shiftNames[in.Op]
		if c := in.Args[1]; c.Const {
			w := uint64(a[0].T.ElemBits())
			switch {
			case c.Bits < w:
				return e.Binary(name, a[0], a[0].Int(int64(c.Bits)))
			case in.Op == ir.ShrS:
				return e.Binary(name, a[0], a[0].Int(int64(w)-1))
			}
			return a[0].Int(0)
		}
		return e.shift(name, a[0], a[1])
	})
}
