package simt

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// emitLop3 is any function of three bits, as LLVM's own minimiser likes it: the sum of the products of its truth table.
func emitLop3(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	x, b, c := a[0], a[1], a[2]
	pair := func(bits uint8) ll.Val { // a function of b and c: bit 3 is 11, 2 is 10, 1 is 01, 0 is 00
		inverted := bits&1 != 0
		if inverted {
			bits ^= 15
		}
		var r ll.Val
		switch bits {
		case 0:
			r = b.Int(0)
		case 2:
			r = e.And(e.Not(b), c)
		case 4:
			r = e.And(b, e.Not(c))
		case 6:
			r = e.Xor(b, c)
		case 8:
			r = e.And(b, c)
		case 10:
			r = c
		case 12:
			r = b
		case 14:
			r = e.Or(b, c)
		}
		if inverted {
			return e.Not(r)
		}
		return r
	}
	hi, lo := in.Lut>>4, in.Lut&15
	if hi == lo {
		e.result(in, pair(hi))
		return
	}
	e.result(in, e.Or(e.And(x, pair(hi)), e.And(e.Not(x), pair(lo))))
}

// emitPrmt picks four bytes of a pair by selectors of four bits; the top bit of one copies the byte's sign instead.
func emitPrmt(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	s := a[2]
	wide := e.Or(e.ZExt(a[0], "i64"), e.Shl(e.ZExt(a[1], "i64"), ll.Int("i64", 32)))
	r := ll.Int("i32", 0)
	for i := range 4 {
		sel := e.LShr(s, s.Int(int64(4*i)))
		amount := e.ZExt(e.Shl(e.And(sel, sel.Int(7)), sel.Int(3)), "i64")
		b := e.Trunc(e.LShr(wide, amount), "i8")
		b = e.Select(e.ICmp("ne", e.And(sel, sel.Int(8)), sel.Int(0)), e.AShr(b, b.Int(7)), b)
		r = e.Or(r, e.Shl(e.ZExt(b, "i32"), s.Int(int64(8*i))))
	}
	e.result(in, r)
}

// emitFns finds the n-th set bit from a base on, upwards for a positive number, downwards for a negative one; none is all ones. Zero asks
// whether the base's own bit is set.
func emitFns(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	mask, base, n := a[0], a[1], a[2]
	zero := e.ICmp("eq", n, n.Int(0))
	down := e.ICmp("slt", n, n.Int(0))
	// Downwards is upwards in the mirrored word.
	m := e.Select(down, e.Intr("bitreverse", mask), mask)
	from := e.Select(down, e.Sub(base.Int(31), base), base)
	count := e.Select(zero, n.Int(1), e.Call("i32", "llvm.abs.i32", n, ll.Int("i1", 0)))
	m = e.And(m, emit.ShiftBy(e.Func, "shl", m.Int(-1), from))
	m = e.Select(zero, e.And(m, emit.ShiftBy(e.Func, "shl", m.Int(1), base)), m)
	// Drop the lowest bit count-1 times: binary search over the places by counting bits below.
	at := n.Int(0)
	for step := int64(16); step > 0; step /= 2 {
		try := e.Add(at, at.Int(step))
		below := e.And(m, e.Not(e.Shl(m.Int(-1), try)))
		few := e.ICmp("ult", e.Intr("ctpop", below), count)
		at = e.Select(few, try, at)
	}
	found := e.ICmp("uge", e.Intr("ctpop", m), count)
	at = e.Select(down, e.Sub(at.Int(31), at), at)
	outside := e.ICmp("ugt", base, base.Int(31))
	e.result(in, e.Select(e.And(found, e.Not(outside)), at, at.Int(-1)))
}
