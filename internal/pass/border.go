package pass

import "kudzu/internal/ir"

// What passes that version code on its borders share: numbers that differ by constants are below a bound if the smallest and the largest
// are, and no sum in between wraps.

// maxDistance is how far apart such numbers may be.
const maxDistance = 1 << 24

// withoutConstant takes v apart into a base and a constant, through sums of block b; nil: of any block.
func withoutConstant(v *ir.Value, b *ir.Block) (base *ir.Value, k int64) {
	for a := v.Def; a != nil && a.Op == ir.Add && len(a.Args) == 2 && a.Args[1].Const && (b == nil || a.Block == b); a = v.Def {
		n := k + a.Args[1].Int()
		if n < -maxDistance || n > maxDistance {
			break
		}
		v, k = a.Args[0], n
	}
	return v, k
}

// farFromEnd compares bound with the largest 32-bit number: true where adding span to what is below bound, by cmp, does not wrap.
func farFromEnd(f *ir.Func, cmp ir.Cmp, bound *ir.Value, span int64) *ir.Inst {
	top, le := uint64(1<<31-1), ir.LE
	if cmp == ir.LO || cmp == ir.LS {
		top, le = 1<<32-1, ir.LS
	}
	in := f.NewInst(ir.ICmp, []ir.Type{ir.I1}, bound, ir.ConstInt(ir.I32, top-uint64(span)))
	in.Cmp = le
	return in
}
