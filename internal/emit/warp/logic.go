package warp

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

func emitOr(e *emitter, in *ir.Inst) {
	if !e.eitherOrder(in) {
		lanewise(emit.Binary("or"))(e, in)
	}
}

// emitLop3 is any function of three bits: the sum of products of its truth table, which LLVM makes one vpternlog of.
func emitLop3(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		tab := in.Lut
		x, b, c := a[0], a[1], a[2]
		pair := func(bits uint8) ll.Val { // a function of b and c: bit 3 is 11, 2 is 10, 1 is 01, 0 is 00
			switch bits {
			case 0:
				return b.Int(0)
			case 1:
				return e.Not(e.Or(b, c))
			case 2:
				return e.And(e.Not(b), c)
			case 3:
				return e.Not(b)
			case 4:
				return e.And(b, e.Not(c))
			case 5:
				return e.Not(c)
			case 6:
				return e.Xor(b, c)
			case 7:
				return e.Not(e.And(b, c))
			case 8:
				return e.And(b, c)
			case 9:
				return e.Not(e.Xor(b, c))
			case 10:
				return c
			case 11:
				return e.Or(e.Not(b), c)
			case 12:
				return b
			case 13:
				return e.Or(b, e.Not(c))
			case 14:
				return e.Or(b, c)
			}
			return b.Int(-1)
		}
		hi, lo := tab>>4, tab&15
		if hi == lo {
			return pair(hi)
		}
		return e.Or(e.And(x, pair(hi)), e.And(e.Not(x), pair(lo)))
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
		low, high := e.ZExt(x, "i64"), e.ZExt(y, "i64")
		wide := e.Or(low, e.Shl(high, high.Int(32)))
		var r ll.Val
		for i := range 4 {
			sel := e.And(e.LShr(s, s.Int(int64(4*i))), s.Int(15))
			amount := e.ZExt(e.Shl(e.And(sel, sel.Int(7)), sel.Int(3)), "i64")
			b := e.Trunc(e.LShr(wide, amount), "i8")
			neg := e.AShr(b, b.Int(7))
			b = e.Select(e.ICmp("ne", e.And(sel, sel.Int(8)), sel.Int(0)), neg, b)
			part := e.ZExt(b, "i32")
			if i > 0 {
				part = e.Shl(part, part.Int(int64(8*i)))
			}
			if i == 0 {
				r = part
			} else {
				r = e.Or(r, part)
			}
		}
		return r
	})
}

// prmtBytes picks bytes by a known selector: a permutation of all lanes' bytes, and signs of some.
func (e *emitter) prmtBytes(x, y ll.Val, sel uint64) ll.Val {
	n, _ := x.T.Split()
	bytes := ll.Vec(4*n, "i8")
	var pick []int
	for i := range 4 * n {
		s := int(sel >> (4 * (i & 3)) & 7)
		pick = append(pick, i&^3+s&3+s>>2*4*n)
	}
	r := e.Shuffle(e.Bitcast(x, bytes), e.Bitcast(y, bytes), pick)
	if sel&0x8888 != 0 {
		neg := e.AShr(r, ll.Splat(4*n, ll.Int("i8", 7)))
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
			r = e.Or(e.And(neg, ll.ConstVec("i8", signs)), e.And(r, ll.ConstVec("i8", rest)))
		}
	}
	return e.Bitcast(r, x.T)
}

// emitFns finds the n-th set bit from a base, lane by lane in a loop over bits.
func emitFns(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		mask, base, off := a[0], a[1], a[2]
		zero, ones := mask.Int(0), mask.Int(-1)
		up := e.ICmp("sgt", off, zero)
		down := e.ICmp("slt", off, zero)
		// Offset 0 asks for the base bit itself.
		at := emit.ShiftBy(e.Func, "lshr", mask, base)
		here := e.ICmp("ne", e.And(at, at.Int(1)), zero)
		r := e.Select(here, base, ones)
		want := e.Select(up, off, e.Sub(zero, off))
		moving := e.Or(up, down)
		r = e.Select(moving, ones, r)
		count := zero
		found := e.Xor(moving, moving)
		pos := base
		for i := 0; i < 32; i++ {
			bit := e.And(emit.ShiftBy(e.Func, "lshr", mask, pos), mask.Int(1))
			count = e.Add(count, bit)
			hit := e.And(e.And(moving, e.ICmp("eq", count, want)), e.And(e.ICmp("ne", bit, zero), e.Not(found)))
			r = e.Select(hit, pos, r)
			found = e.Or(found, hit)
			pos = e.Select(up, e.Add(pos, pos.Int(1)), e.Sub(pos, pos.Int(1)))
		}
		return e.Select(e.ICmp("ult", base, base.Int(32)), r, ones) // a search that begins outside does not come in
	})
}
