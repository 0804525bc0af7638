package pass

import (
	"math/bits"

	"kudzu/internal/ir"
)

// bounds is where a value lies, as a signed number of its type, as far as a few steps back tell: thread indices divided and cut
// to pieces as compilers write it for signed numbers. block is the launch's shape, or zero.
func bounds(v *ir.Value, block [3]uint32, depth int) (lo, hi int64) {
	if v.Type.IsFloat() || v.Type.Bits() > 32 {
		return -1 << 63, 1<<63 - 1
	}
	lo, hi = typeRange(v.Type)
	if v.Const {
		return v.Int(), v.Int()
	}
	d := v.Def
	if d == nil || depth > 12 {
		return lo, hi
	}
	fits := func(l, h int64) (int64, int64) {
		if l < lo || h > hi {
			return lo, hi
		}
		return l, h
	}
	arg := func(i int) (int64, int64) { return bounds(d.Args[i], block, depth+1) }
	switch d.Op {
	case ir.SReg:
		return sregBounds(d.Sreg, block, lo, hi)
	case ir.Copy:
		return arg(0)
	case ir.ZExt:
		if l, h := arg(0); l >= 0 && d.Args[0].Type != ir.I1 {
			return l, h
		}
	case ir.Add:
		l0, h0 := arg(0)
		l1, h1 := arg(1)
		return fits(l0+l1, h0+h1)
	case ir.Sub:
		l0, h0 := arg(0)
		l1, h1 := arg(1)
		return fits(l0-h1, h0-l1)
	case ir.Mul:
		l0, h0 := arg(0)
		l1, h1 := arg(1)
		if l0 >= 0 && l1 >= 0 {
			return fits(l0*l1, h0*h1)
		}
	case ir.Shl:
		if c := d.Args[1]; c.Const && c.Bits < 31 {
			if l, h := arg(0); l >= 0 {
				return fits(l<<c.Bits, h<<c.Bits)
			}
		}
	case ir.ShrU, ir.ShrS:
		if c := d.Args[1]; c.Const && c.Bits < 32 {
			if l, h := arg(0); l >= 0 || d.Op == ir.ShrS {
				return l >> c.Bits, h >> c.Bits
			} else if n := d.Args[0].Type.Bits(); c.Bits > 0 && int(c.Bits) < n {
				return 0, 1<<(n-int(c.Bits)) - 1
			}
		}
	case ir.And:
		l0, h0 := arg(0)
		l1, h1 := arg(1)
		switch {
		case l0 >= 0 && l1 >= 0:
			return 0, min(h0, h1)
		case l1 >= 0:
			return 0, h1
		case l0 >= 0:
			return 0, h0
		}
	case ir.Or, ir.Xor:
		l0, h0 := arg(0)
		l1, h1 := arg(1)
		if l0 >= 0 && l1 >= 0 {
			return 0, int64(1)<<bits.Len64(uint64(h0|h1)) - 1
		}
	}
	return lo, hi
}

func sregBounds(s ir.SpecialReg, block [3]uint32, lo, hi int64) (int64, int64) {
	switch s {
	case ir.TidX, ir.TidY, ir.TidZ:
		if n := block[s-ir.TidX]; n > 0 {
			return 0, int64(n) - 1
		}
		return 0, 1023
	case ir.LaneID, ir.WarpID:
		return 0, 31
	case ir.NtidX, ir.NtidY, ir.NtidZ:
		return 1, 1024
	case ir.CtaidY, ir.CtaidZ, ir.NctaidY, ir.NctaidZ:
		return 0, 65535
	case ir.CtaidX:
		return 0, hi
	}
	return lo, hi
}

// foldBounds knows what shifts and masks do to numbers that lie in a small range: signed division of what is not negative is a
// shift, and the rest of it a mask.
func foldBounds(in *ir.Inst, t ir.Type, block [3]uint32) *ir.Value {
	if t.Bits() > 32 || len(in.Args) != 2 {
		return nil
	}
	a, b := in.Args[0], in.Args[1]
	switch in.Op {
	case ir.ShrS, ir.ShrU:
		if !b.Const || b.Bits >= uint64(t.Bits()) || a.Const {
			return nil
		}
		lo, hi := bounds(a, block, 0)
		switch {
		case lo < 0:
		case hi>>b.Bits == 0:
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
		lo, hi := bounds(a, block, 0)
		if lo < 0 {
			return nil
		}
		used := int64(1)<<bits.Len64(uint64(hi)) - 1 // bits that a may have
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

// masked is v as bits of another value.
func masked(v *ir.Value) (*ir.Value, uint64) {
	if d := v.Def; d != nil && d.Op == ir.And && d.Args[1].Const {
		return d.Args[0], d.Args[1].Bits
	}
	return v, 1<<v.Type.Bits() - 1
}
