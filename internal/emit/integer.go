package emit

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Lanewise writes an operation on integers whose lanes have nothing to do with each other: a are its operands, vectors of lanes or one
// thread's values.
type Lanewise func(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val

// Binary is an operation that LLVM has under a name.
func Binary(op ll.Bin) Lanewise {
	return func(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val { return b.Binary(op, a[0], a[1]) }
}

// Intrinsic is one that LLVM has as an intrinsic.
func Intrinsic(name string) Lanewise {
	return func(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val { return b.Intr(name, a...) }
}

// Not turns every bit over.
func Not(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val { return b.Not(a[0]) }

// Neg is 0 - a.
func Neg(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val { return b.Sub(a[0].Int(0), a[0]) }

// AbsS is the magnitude of a signed number; the smallest stays.
func AbsS(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val { return b.Intr("abs", a[0], ll.Int("i1", 0)) }

// ICmp compares.
func ICmp(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val { return b.ICmp(IntPreds[in.Cmp], a[0], a[1]) }

// MulHi is the high half of a product, by one of twice the width.
func MulHi(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val {
	ext, shift := ll.Conv("zext"), ll.Bin("lshr")
	if in.Op == ir.MulHiS {
		ext, shift = "sext", "ashr"
	}
	bits := a[0].T.ElemBits()
	wide := ll.IntType(2 * bits)
	p := b.Mul(b.Convert(ext, a[0], wide), b.Convert(ext, a[1], wide))
	return b.Trunc(b.Binary(shift, p, p.Int(int64(bits))), ll.IntType(bits))
}

var divNames = map[ir.Op]ll.Bin{ir.DivS: "sdiv", ir.DivU: "udiv", ir.RemS: "srem", ir.RemU: "urem"}

// PlainDivisor reports a constant that LLVM's division is defined for.
func PlainDivisor(in *ir.Inst) bool {
	c := in.Args[1]
	return c.Const && c.Bits != 0 && c.Type != ir.I128 && c.Int() != -1
}

// Div divides as NVIDIA's hardware does: by zero gives all ones, a remainder too; the smallest number by -1 wraps. LLVM's division is
// undefined there, so the divisor is replaced first.
func Div(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val {
	x, y := a[0], a[1]
	if PlainDivisor(in) {
		return b.Binary(divNames[in.Op], x, y)
	}
	y = b.Freeze(y)
	zero := b.ICmp("eq", y, y.Int(0))
	d := b.Select(zero, y.Int(1), y)
	var minus ll.Val
	if in.Op == ir.DivS || in.Op == ir.RemS {
		minus = b.ICmp("eq", y, y.Int(-1))
		d = b.Select(minus, y.Int(1), d)
	}
	r := b.Binary(divNames[in.Op], x, d)
	switch in.Op {
	case ir.DivS:
		r = b.Select(minus, b.Sub(x.Int(0), x), r)
	case ir.RemS:
		r = b.Select(minus, x.Int(0), r)
	}
	return b.Select(zero, x.Int(-1), r)
}

// Carry is whether a sum with a carry carries.
func Carry(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val {
	s := b.Add(a[0], a[1])
	over := b.ICmp("ult", s, a[0])
	t := b.Add(s, b.ZExt(a[2], s.T.Elem()))
	return b.Or(over, b.ICmp("ult", t, s))
}

// Borrow is whether a difference with a borrow borrows.
func Borrow(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val {
	under := b.ICmp("ult", a[0], a[1])
	d := b.Sub(a[0], a[1])
	return b.Or(under, b.ICmp("ult", d, b.ZExt(a[2], d.T.Elem())))
}

// Popc counts bits.
func Popc(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val { return b.Resize(b.Intr("ctpop", a[0]), 32) }

// LeadingZeros counts the zero bits at the top; of zero that is the width.
func LeadingZeros(b *ll.Func, x ll.Val) ll.Val { return b.Intr("ctlz", x, ll.Int("i1", 0)) }

// Clz counts the zero bits at the top.
func Clz(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val { return b.Resize(LeadingZeros(b, a[0]), 32) }

// ShiftBy clamps the amount, an i32, as PTX does.
func ShiftBy(b *ll.Func, op ll.Bin, x, amount ll.Val) ll.Val {
	w := x.T.ElemBits()
	if op == "ashr" {
		return b.Binary(op, x, b.Resize(b.Intr("umin", amount, amount.Int(int64(w-1))), w))
	}
	big := b.ICmp("ugt", amount, amount.Int(int64(w-1)))
	s := b.Binary(op, x, b.Resize(b.Select(big, amount.Int(0), amount), w))
	return b.Select(big, x.Int(0), s)
}

var shiftNames = map[ir.Op]ll.Bin{ir.Shl: "shl", ir.ShrU: "lshr", ir.ShrS: "ashr"}

// Shift is a clamped shift; one by a constant needs no clamping at run time.
func Shift(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val {
	x, name := a[0], shiftNames[in.Op]
	c := in.Args[1]
	if !c.Const {
		return ShiftBy(b, name, x, a[1])
	}
	w := uint64(x.T.ElemBits())
	switch {
	case c.Bits < w:
		return b.Binary(name, x, x.Int(int64(c.Bits)))
	case in.Op == ir.ShrS:
		return b.Binary(name, x, x.Int(int64(w)-1))
	}
	return x.Int(0)
}

// place is a position or length in a word of w bits. PTX takes it modulo 256; for 64 bits the hardware reads it whole, and
// what is past the width is as good as the width.
func place(b *ll.Func, x ll.Val, w int64) ll.Val {
	if w == 64 {
		return b.Intr("umin", x, x.Int(255))
	}
	return b.And(x, x.Int(255))
}

// Bfe extracts a field. Bits past the top are copies of the sign for signed fields; the sign of a field that reaches
// past the top is the top bit.
func Bfe(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val {
	x, w := a[0], int64(a[0].T.ElemBits())
	pos, length := place(b, a[1], w), place(b, a[2], w)
	none := b.ICmp("eq", length, length.Int(0))
	if in.Op == ir.BfeU {
		f := ShiftBy(b, "lshr", x, pos)
		drop := b.Intr("usub.sat", length.Int(w), length)
		f = ShiftBy(b, "lshr", ShiftBy(b, "shl", f, drop), drop)
		return b.Select(none, x.Int(0), f)
	}
	// Bring the field's last bit to the top, then shift it down with its sign. A field beyond the word is only sign.
	end := b.Intr("umin", b.Add(pos, length), pos.Int(w))
	t := ShiftBy(b, "shl", x, b.Sub(pos.Int(w), end))
	inside := b.Intr("usub.sat", end, pos)
	beyond := b.ICmp("eq", inside, inside.Int(0))
	sign := b.AShr(x, x.Int(w-1))
	f := ShiftBy(b, "ashr", t, b.Sub(pos.Int(w), inside))
	return b.Select(none, x.Int(0), b.Select(beyond, sign, f))
}

// Bfi inserts a field of the first operand into the second.
func Bfi(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val {
	field, base := a[0], a[1]
	w := int64(base.T.ElemBits())
	pos, length := place(b, a[2], w), place(b, a[3], w)
	mask := ShiftBy(b, "shl", b.Not(ShiftBy(b, "shl", base.Int(-1), length)), pos)
	return b.Or(b.And(ShiftBy(b, "shl", field, pos), mask), b.And(base, b.Not(mask)))
}

// Bfind gives the position of the highest bit that differs from the sign, or all ones.
func Bfind(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val {
	x, w := a[0], int64(a[0].T.ElemBits())
	if in.Op == ir.BfindS {
		x = b.Xor(x, b.AShr(x, x.Int(w-1)))
	}
	c := b.Resize(LeadingZeros(b, x), 32) // with no bit set the width, and the difference is -1
	return b.Sub(c.Int(w-1), c)
}

// Bmsk is a mask of len bits from pos on; Wrap takes both modulo 32, otherwise they clamp.
func Bmsk(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val {
	pos, length := a[0], a[1]
	if in.Wrap {
		pos, length = b.And(pos, pos.Int(31)), b.And(length, length.Int(31))
	}
	return ShiftBy(b, "shl", b.Not(ShiftBy(b, "shl", pos.Int(-1), length)), pos)
}

// Fsh shifts a pair of words: left keeps the high one, right the low one. Clamped, 32 gives the other word whole.
func Fsh(b *ll.Func, in *ir.Inst, a []ll.Val) ll.Val {
	lo, hi, s := a[0], a[1], a[2]
	name, whole := "fshl", lo
	if in.Op == ir.FshR {
		name, whole = "fshr", hi
	}
	if in.Wrap {
		return b.Intr(name, hi, lo, s)
	}
	big := b.ICmp("uge", s, s.Int(32))
	return b.Select(big, whole, b.Intr(name, hi, lo, s))
}
