package warp

import (
	"math"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// rangeOf is where a value lies, as far as depth steps back tell and the bits that are known to be zero.
func (e *emitter) rangeOf(v *ir.Value, depth int) analysis.Range {
	r, d := analysis.RangeOf(v.Type), v.Def
	if v.Const {
		return analysis.Range{Lo: v.Int(), Hi: v.Int()}
	}
	if depth == 0 || d == nil || v.Type.IsFloat() || v.Type.Bits() > 64 {
		return r
	}
	if most := ^analysis.Zeros(v) & (math.MaxUint64 >> (64 - v.Type.Bits())); most <= uint64(r.Hi) {
		r = analysis.Range{Hi: int64(most)}
	}
	of := func(i int) analysis.Range { return e.rangeOf(d.Args[i], depth-1) }
	switch d.Op {
	case ir.SharedAddr:
		if off := e.sharedOffset(d.Sym) + d.Off; off >= 0 {
			return analysis.Range{Lo: off, Hi: off}
		}
	case ir.LocalAddr:
		if off := e.localOffset(d); off >= 0 {
			return analysis.Range{Lo: off, Hi: off}
		}
	case ir.Keep:
		return of(v.Index)
	case ir.Trunc:
		// Left to the zero bits: known through it, a histogram's addresses of 32 bits would come out of their vector as 16 bits each
		// (offsetsOneByOne), which is 8 to 13 % slower by llvm-mca.
		return r
	case ir.Dp4a:
		four := analysis.Range{Lo: 4, Hi: 4}
		sum := of(2).Add(byteRange(d.Args[0], d.Dot&ir.DotSignedA != 0).Mul(byteRange(d.Args[1], d.Dot&ir.DotSignedB != 0)).Mul(four))
		if sum.Within(analysis.RangeOf(v.Type)) { // it does not wrap
			return r.Intersect(sum)
		}
	default:
		return r.Intersect(analysis.Transfer(v, of))
	}
	return r
}

// byteRange is where the four bytes of a word lie.
func byteRange(v *ir.Value, signed bool) analysis.Range {
	z := analysis.Zeros(v)
	most := int64(0)
	for i := range 4 {
		most = max(most, int64(^z>>(8*i)&0xff))
	}
	if signed && most > 127 {
		return analysis.RangeOf(ir.I8)
	}
	return analysis.Range{Hi: most}
}
