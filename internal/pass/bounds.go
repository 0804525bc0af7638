package pass

import (
	"math/bits"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// bounds is where a value of at most 32 bits lies, as far as a few steps back tell: thread indices divided and cut
// to pieces as compilers write it for signed numbers. block is the launch's shape, or zero.
func bounds(v *ir.Value, block [3]uint32, depth int) analysis.Range {
	d := v.Def
	switch {
	case v.Type.IsFloat() || v.Type.Bits() > 32:
		return analysis.RangeOf(ir.I64)
	case v.Const:
		return analysis.Range{Lo: v.Int(), Hi: v.Int()}
	case d == nil || depth > 12:
		return analysis.RangeOf(v.Type)
	case d.Op == ir.SReg:
		return analysis.SRegRange(d.Sreg, v.Type, block)
	}
	return analysis.Transfer(v, func(i int) analysis.Range { return bounds(d.Args[i], block, depth+1) })
}

// foldBounds knows what shifts and masks do to numbers that lie in a small range: signed division of what is not negative is a
// shift, and the rest of it a mask.
func foldBounds(in *ir.Inst, t ir.Type, block [3]uint32) *ir.Value {
	if t.Bits() > 32 || len(in.Args) != 2 {
		return nil
	}
	a, b := in.Args[0], in.Args[1]
	switch in.Op {
	case ir.ICmp:
		if b.Const && !a.Const && a.Type.Bits() <= 32 && a.Type != ir.I1 {
			return foldCompare(in.Cmp, bounds(a, block, 0), b.Int())
		}
	case ir.ShrS, ir.ShrU:
		if !b.Const || b.Bits >= uint64(t.Bits()) || a.Const {
			return nil
		}
		r := bounds(a, block, 0)
		switch {
		case r.Lo < 0:
		case r.Hi>>b.Bits == 0:
			return ir.ConstInt(t, 0)
		case in.Op == ir.ShrS:
			in.Op = ir.ShrU
		}
	case ir.And:
		if !b.Const || a.Const {
			return nil
		}
		if d := a.Def; d != nil && d.Op == ir.And && d.Args[1].Const {
			in.Args = []*ir.Value{d.Args[0], ir.ConstInt(t, d.Args[1].Bits&b.Bits)}
			return nil
		}
		r := bounds(a, block, 0)
		if r.Lo < 0 {
			return nil
		}
		used := int64(1)<<bits.Len64(uint64(r.Hi)) - 1 // bits that a may have
		if m := b.Int(); m&used == used {
			return a
		} else if m&used == 0 {
			return ir.ConstInt(t, 0)
		}
	case ir.Sub: // x - (x and -2^k) is what the mask cut off
		x, m := masked(a)
		y, n := masked(b)
		if x == y && !a.Const && m&n == n {
			in.Op, in.Args = ir.And, []*ir.Value{x, ir.ConstInt(t, m&^n)}
		}
	}
	return nil
}

// foldCompare is the answer that all numbers of r give, or nil. A loop that a block of this shape goes through once tests the thread's
// number so.
func foldCompare(c ir.Cmp, r analysis.Range, n int64) *ir.Value {
	lo, hi := r.Lo, r.Hi
	switch c {
	case ir.LO, ir.LS, ir.HI, ir.HS:
		if lo < 0 || n < 0 {
			return nil
		}
	case ir.EQ, ir.NE:
		if n < lo || n > hi {
			return constBool(c == ir.NE)
		}
		return nil
	}
	first, last := compare(c, uint64(lo), uint64(n), lo, n), compare(c, uint64(hi), uint64(n), hi, n)
	if first != last {
		return nil
	}
	return constBool(first)
}

// masked is v as bits of another value.
func masked(v *ir.Value) (*ir.Value, uint64) {
	if d := v.Def; d != nil && d.Op == ir.And && d.Args[1].Const {
		return d.Args[0], d.Args[1].Bits
	}
	return v, 1<<v.Type.Bits() - 1
}
