package simt

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

func emitNot(e *emitter, in *ir.Inst) { e.result(in, e.not(e.val(in.Args[0]))) }

// place is a position or length in a word of w bits. PTX takes it modulo 256; for 64 bits the hardware reads it whole, and
// what is past the width is as good as the width.
func (e *emitter) place(x ll.Val, w int64) ll.Val {
	if w == 64 {
		return e.intr("umin", x, k(x, 255))
	}
	return e.op2("and", x, k(x, 255))
}

// emitBfe extracts a field. Bits past the top are copies of the sign for signed fields; the sign of a field that reaches
// past the top is the top bit.
func emitBfe(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	x, w := a[0], int64(bitsOf(a[0].T))
	pos, length := e.place(a[1], w), e.place(a[2], w)
	none := e.cmp("eq", length, k(length, 0))
	if in.Op == ir.BfeU {
		f := e.shift("lshr", x, pos)
		drop := e.intr("usub.sat", k(length, w), length)
		f = e.shift("lshr", e.shift("shl", f, drop), drop)
		e.result(in, e.sel(none, k(x, 0), f))
		return
	}
	// Bring the field's last bit to the top, then shift it down with its sign.
	end := e.intr("umin", e.op2("add", pos, length), k(pos, w))
	t := e.shift("shl", x, e.op2("sub", k(pos, w), end))
	inside := e.intr("usub.sat", end, pos)
	beyond := e.cmp("eq", inside, k(inside, 0))
	sign := e.op2("ashr", x, k(x, w-1))
	f := e.shift("ashr", t, e.op2("sub", k(pos, w), inside))
	e.result(in, e.sel(none, k(x, 0), e.sel(beyond, sign, f)))
}

// emitBfi inserts a field of a into b.
func emitBfi(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	field, base := a[0], a[1]
	w := int64(bitsOf(base.T))
	pos, length := e.place(a[2], w), e.place(a[3], w)
	mask := e.shift("shl", e.not(e.shift("shl", k(base, -1), length)), pos)
	e.result(in, e.op2("or", e.op2("and", e.shift("shl", field, pos), mask), e.op2("and", base, e.not(mask))))
}

// emitBfind gives the position of the highest bit that differs from the sign, or all ones.
func emitBfind(e *emitter, in *ir.Inst) {
	x := e.val(in.Args[0])
	w := int64(bitsOf(x.T))
	if in.Op == ir.BfindS {
		x = e.op2("xor", x, e.op2("ashr", x, k(x, w-1)))
	}
	c := e.toBits(e.clz(x), 32) // with no bit set the width, and the difference is -1
	e.result(in, e.op2("sub", k(c, w-1), c))
}

// emitBmsk is a mask of len bits from pos on; Wrap takes both modulo 32, otherwise they clamp.
func emitBmsk(e *emitter, in *ir.Inst) {
	pos, length := e.val(in.Args[0]), e.val(in.Args[1])
	if in.Wrap {
		pos, length = e.op2("and", pos, k(pos, 31)), e.op2("and", length, k(length, 31))
	}
	e.result(in, e.shift("shl", e.not(e.shift("shl", k(pos, -1), length)), pos))
}

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
			r = k(b, 0)
		case 2:
			r = e.op2("and", e.not(b), c)
		case 4:
			r = e.op2("and", b, e.not(c))
		case 6:
			r = e.op2("xor", b, c)
		case 8:
			r = e.op2("and", b, c)
		case 10:
			r = c
		case 12:
			r = b
		case 14:
			r = e.op2("or", b, c)
		}
		if inverted {
			return e.not(r)
		}
		return r
	}
	hi, lo := in.Lut>>4, in.Lut&15
	if hi == lo {
		e.result(in, pair(hi))
		return
	}
	e.result(in, e.op2("or", e.op2("and", x, pair(hi)), e.op2("and", e.not(x), pair(lo))))
}

// emitFsh shifts a pair of words: left keeps the high one, right the low one. Clamped, 32 gives the other word whole.
func emitFsh(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	lo, hi, s := a[0], a[1], a[2]
	name, whole := "fshl", lo
	if in.Op == ir.FshR {
		name, whole = "fshr", hi
	}
	r := e.intr(name, hi, lo, s)
	if !in.Wrap {
		r = e.sel(e.cmp("uge", s, k(s, 32)), whole, r)
	}
	e.result(in, r)
}

// emitPrmt picks four bytes of a pair by selectors of four bits; the top bit of one copies the byte's sign instead.
func emitPrmt(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	s := a[2]
	wide := e.op2("or", e.conv("zext", a[0], "i64"), e.op2("shl", e.conv("zext", a[1], "i64"), ll.Int("i64", 32)))
	r := ll.Int("i32", 0)
	for i := range 4 {
		sel := e.op2("lshr", s, k(s, int64(4*i)))
		amount := e.conv("zext", e.op2("shl", e.op2("and", sel, k(sel, 7)), k(sel, 3)), "i64")
		b := e.conv("trunc", e.op2("lshr", wide, amount), "i8")
		b = e.sel(e.cmp("ne", e.op2("and", sel, k(sel, 8)), k(sel, 0)), e.op2("ashr", b, k(b, 7)), b)
		r = e.op2("or", r, e.op2("shl", e.conv("zext", b, "i32"), k(s, int64(8*i))))
	}
	e.result(in, r)
}

// emitFns finds the n-th set bit from a base on, upwards for a positive number, downwards for a negative one; none is all ones. Zero asks
// whether the base's own bit is set.
func emitFns(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	mask, base, n := a[0], a[1], a[2]
	zero := e.cmp("eq", n, k(n, 0))
	down := e.cmp("slt", n, k(n, 0))
	// Downwards is upwards in the mirrored word.
	m := e.sel(down, e.intr("bitreverse", mask), mask)
	from := e.sel(down, e.op2("sub", k(base, 31), base), base)
	count := e.sel(zero, k(n, 1), e.o.Call("i32", "llvm.abs.i32", n, ll.Int("i1", 0)))
	m = e.op2("and", m, e.shift("shl", k(m, -1), from))
	m = e.sel(zero, e.op2("and", m, e.shift("shl", k(m, 1), base)), m)
	// Drop the lowest bit count-1 times: binary search over the places by counting bits below.
	at := k(n, 0)
	for step := int64(16); step > 0; step /= 2 {
		try := e.op2("add", at, k(at, step))
		below := e.op2("and", m, e.not(e.op2("shl", k(m, -1), try)))
		few := e.cmp("ult", e.intr("ctpop", below), count)
		at = e.sel(few, try, at)
	}
	found := e.cmp("uge", e.intr("ctpop", m), count)
	at = e.sel(down, e.op2("sub", k(at, 31), at), at)
	outside := e.cmp("ugt", base, k(base, 31))
	e.result(in, e.sel(e.op2("and", found, e.not(outside)), at, k(at, -1)))
}
