package warp

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

func emitNot(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.not(a[0]) })
}

func (e *emitter) not(x ll.Val) ll.Val {
	n, elem := split(x.T)
	if elem == "i1" {
		return e.op2("xor", x, ll.Splat(n, ll.Int("i1", 1)))
	}
	return e.op2("xor", x, k(x, -1))
}

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
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x, w := a[0], int64(intBits(a[0].T))
		pos, length := e.place(a[1], w), e.place(a[2], w)
		none := e.cmp("eq", length, k(length, 0))
		if in.Op == ir.BfeU {
			f := e.shift("lshr", x, pos)
			drop := e.intr("usub.sat", k(length, w), length)
			f = e.shift("lshr", e.shift("shl", f, drop), drop)
			return e.sel(none, k(x, 0), f)
		}
		// Bring the field's last bit to the top, then shift it down with its sign.
		end := e.intr("umin", e.op2("add", pos, length), k(pos, w))
		up := e.op2("sub", k(pos, w), end)
		// The field's length that lies inside the word; a field beyond it is only sign.
		t := e.shift("shl", x, up)
		inside := e.intr("usub.sat", end, pos)
		beyond := e.cmp("eq", inside, k(inside, 0))
		sign := e.op2("ashr", x, k(x, w-1))
		f := e.shift("ashr", t, e.op2("sub", k(pos, w), inside))
		return e.sel(none, k(x, 0), e.sel(beyond, sign, f))
	})
}

// emitBfi inserts a field of a into b.
func emitBfi(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		field, base := a[0], a[1]
		w := int64(intBits(base.T))
		pos, length := e.place(a[2], w), e.place(a[3], w)
		ones := e.not(e.shift("shl", k(base, -1), length))
		mask := e.shift("shl", ones, pos)
		return e.op2("or", e.op2("and", e.shift("shl", field, pos), mask), e.op2("and", base, e.not(mask)))
	})
}

// emitBfind gives the position of the highest bit that differs from the sign, or all ones.
func emitBfind(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x, w := a[0], int64(intBits(a[0].T))
		if in.Op == ir.BfindS {
			x = e.op2("xor", x, e.op2("ashr", x, k(x, w-1)))
		}
		// With no bit set clz is the width and the difference -1.
		c := e.toI32(e.clz(x))
		return e.op2("sub", k(c, w-1), c)
	})
}

// emitBmsk is a mask of len bits from pos on; Wrap takes both modulo 32, otherwise they clamp.
func emitBmsk(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		pos, length := a[0], a[1]
		if in.Wrap {
			pos, length = e.op2("and", pos, k(pos, 31)), e.op2("and", length, k(length, 31))
		}
		ones := e.not(e.shift("shl", k(pos, -1), length))
		return e.shift("shl", ones, pos)
	})
}

// emitLop3 is any function of three bits: the sum of products of its truth table, which LLVM makes one vpternlog of.
func emitLop3(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		tab := in.Lut
		x, b, c := a[0], a[1], a[2]
		pair := func(bits uint8) ll.Val { // a function of b and c: bit 3 is 11, 2 is 10, 1 is 01, 0 is 00
			switch bits {
			case 0:
				return k(b, 0)
			case 1:
				return e.not(e.op2("or", b, c))
			case 2:
				return e.op2("and", e.not(b), c)
			case 3:
				return e.not(b)
			case 4:
				return e.op2("and", b, e.not(c))
			case 5:
				return e.not(c)
			case 6:
				return e.op2("xor", b, c)
			case 7:
				return e.not(e.op2("and", b, c))
			case 8:
				return e.op2("and", b, c)
			case 9:
				return e.not(e.op2("xor", b, c))
			case 10:
				return c
			case 11:
				return e.op2("or", e.not(b), c)
			case 12:
				return b
			case 13:
				return e.op2("or", b, e.not(c))
			case 14:
				return e.op2("or", b, c)
			}
			return k(b, -1)
		}
		hi, lo := tab>>4, tab&15
		if hi == lo {
			return pair(hi)
		}
		return e.op2("or", e.op2("and", x, pair(hi)), e.op2("and", e.not(x), pair(lo)))
	})
}

// emitFsh shifts a pair of words: left keeps the high one, right the low one.
func emitFsh(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		lo, hi, s := a[0], a[1], a[2]
		name := "fshl"
		if in.Op == ir.FshR {
			name = "fshr"
		}
		if in.Wrap {
			return e.intr(name, hi, lo, s)
		}
		// Clamped: 32 gives the other word whole.
		big := e.cmp("uge", s, k(s, 32))
		r := e.intr(name, hi, lo, s)
		if in.Op == ir.FshL {
			return e.sel(big, lo, r)
		}
		return e.sel(big, hi, r)
	})
}

// emitPrmt picks four bytes of a pair by selectors; bit 3 of one copies the byte's sign instead.
func emitPrmt(e *emitter, in *ir.Inst) {
	sel := in.Args[2]
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x, y, s := a[0], a[1], a[2]
		if n > 1 && sel.Const {
			return e.prmtBytes(x, y, sel.Bits)
		}
		wide := e.op2("or", e.conv("zext", x, "i64"), e.op2("shl", e.conv("zext", y, "i64"), k(e.conv("zext", y, "i64"), 32)))
		var r ll.Val
		for i := range 4 {
			sel := e.op2("and", e.op2("lshr", s, k(s, int64(4*i))), k(s, 15))
			amount := e.conv("zext", e.op2("shl", e.op2("and", sel, k(sel, 7)), k(sel, 3)), "i64")
			b := e.conv("trunc", e.op2("lshr", wide, amount), "i8")
			neg := e.op2("ashr", b, k(b, 7))
			b = e.sel(e.cmp("ne", e.op2("and", sel, k(sel, 8)), k(sel, 0)), neg, b)
			part := e.conv("zext", b, "i32")
			if i > 0 {
				part = e.op2("shl", part, k(part, int64(8*i)))
			}
			if i == 0 {
				r = part
			} else {
				r = e.op2("or", r, part)
			}
		}
		return r
	})
}

// prmtBytes picks bytes by a known selector: a permutation of all lanes' bytes, and signs of some.
func (e *emitter) prmtBytes(x, y ll.Val, sel uint64) ll.Val {
	n, _ := split(x.T)
	bytes := ll.Vec(4*n, "i8")
	var pick []int
	for i := range 4 * n {
		s := int(sel >> (4 * (i & 3)) & 7)
		pick = append(pick, i&^3+s&3+s>>2*4*n)
	}
	r := e.shuffle(e.o.Op(bytes, "bitcast %s to %s", x, bytes), e.o.Op(bytes, "bitcast %s to %s", y, bytes), pick)
	if sel&0x8888 != 0 {
		neg := e.op2("ashr", r, ll.Splat(4*n, ll.Int("i8", 7)))
		if sel&0x8888 == 0x8888 {
			r = neg
		} else {
			// With masks, not a select: LLVM makes that a shift by 7 or 0, and LLVM 19's shift of bytes by 0 with GFNI keeps the
			// sign alone.
			signs, rest := make([]int64, 4*n), make([]int64, 4*n)
			for i := range signs {
				signs[i] = -int64(sel >> (4*(i&3) + 3) & 1)
				rest[i] = ^signs[i]
			}
			r = e.op2("or", e.op2("and", neg, ll.ConstVec("i8", signs)), e.op2("and", r, ll.ConstVec("i8", rest)))
		}
	}
	return e.o.Op(x.T, "bitcast %s to %s", r, x.T)
}

// emitFns finds the n-th set bit from a base, lane by lane in a loop over bits.
func emitFns(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		mask, base, off := a[0], a[1], a[2]
		zero, ones := k(mask, 0), k(mask, -1)
		up := e.cmp("sgt", off, zero)
		down := e.cmp("slt", off, zero)
		// Offset 0 asks for the base bit itself.
		at := e.shift("lshr", mask, base)
		here := e.cmp("ne", e.op2("and", at, k(at, 1)), zero)
		r := e.sel(here, base, ones)
		want := e.sel(up, off, e.op2("sub", zero, off))
		moving := e.op2("or", up, down)
		r = e.sel(moving, ones, r)
		count := zero
		found := e.op2("xor", moving, moving)
		pos := base
		for i := 0; i < 32; i++ {
			bit := e.op2("and", e.shift("lshr", mask, pos), k(mask, 1))
			count = e.op2("add", count, bit)
			hit := e.op2("and", e.op2("and", moving, e.cmp("eq", count, want)), e.op2("and", e.cmp("ne", bit, zero), e.not(found)))
			r = e.sel(hit, pos, r)
			found = e.op2("or", found, hit)
			pos = e.sel(up, e.op2("add", pos, k(pos, 1)), e.op2("sub", pos, k(pos, 1)))
		}
		return e.sel(e.cmp("ult", base, k(base, 32)), r, ones) // a search that begins outside does not come in
	})
}
