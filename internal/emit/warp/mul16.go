package warp

import (
	"math"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// emitMul multiplies. A product of numbers of 16 bits, one of which is not negative, is the instruction that adds two such products:
// the upper halves are the signs, and one of them is zero. It is half of what a product of 32 bits costs.
func emitMul(e *emitter, in *ir.Inst) {
	small := e.cpu.avx512 && in.Results[0].Type == ir.I32 && smallProduct(in.Args[0], in.Args[1])
	e.each(in, func(n int, a []ll.Val) ll.Val {
		if !small || n < 16 {
			return e.op2("mul", a[0], a[1])
		}
		return e.chunks(a, 16, func(p []ll.Val) ll.Val {
			const pairs = "<32 x i16>"
			return e.o.Call(p[0].T, "llvm.x86.avx512.pmaddw.d.512", e.o.Op(pairs, "bitcast %s to %s", p[0], pairs), e.o.Op(pairs, "bitcast %s to %s", p[1], pairs))
		})
	})
}

// smallProduct reports numbers of 16 bits of which one is never negative. What LLVM makes of constants is left to it.
func smallProduct(x, y *ir.Value) bool {
	if x.Const || y.Const {
		return false
	}
	xlo, xhi := between(x, rangeDepth)
	ylo, yhi := between(y, rangeDepth)
	return xlo >= math.MinInt16 && xhi <= math.MaxInt16 && ylo >= math.MinInt16 && yhi <= math.MaxInt16 && (xlo >= 0 || ylo >= 0)
}

const rangeDepth = 6

// between is where a number of at most 32 bits lies.
func between(v *ir.Value, depth int) (lo, hi int64) {
	w := v.Type.Bits()
	all := int64(1)<<w - 1
	if v.Const {
		return v.Int(), v.Int()
	}
	lo, hi = -(all+1)/2, all/2
	if depth == 0 {
		return lo, hi
	}
	if most := all &^ int64(ir.Zeros(v)); most <= hi {
		lo, hi = 0, most
	}
	d := v.Def
	if d == nil {
		return lo, hi
	}
	l, h := lo, hi
	switch d.Op {
	case ir.Keep:
		return between(d.Args[v.Index], depth-1)
	case ir.SExt:
		if d.Args[0].Type != ir.I1 {
			l, h = between(d.Args[0], depth-1)
		}
	case ir.Add, ir.Sub:
		l0, h0 := between(d.Args[0], depth-1)
		l1, h1 := between(d.Args[1], depth-1)
		if d.Op == ir.Sub {
			l1, h1 = -h1, -l1
		}
		l, h = l0+l1, h0+h1
	case ir.Dp4a:
		l, h = between(d.Args[2], depth-1)
		al, ah := bytesBetween(d.Args[0], d.Imm&1 != 0)
		bl, bh := bytesBetween(d.Args[1], d.Imm&2 != 0)
		l += 4 * min(al*bl, al*bh, ah*bl, ah*bh)
		h += 4 * max(al*bl, al*bh, ah*bl, ah*bh)
	}
	if l < -(all+1)/2 || h > all/2 { // it may wrap
		return lo, hi
	}
	return max(lo, l), min(hi, h)
}

// bytesBetween is where the four bytes of a word lie.
func bytesBetween(v *ir.Value, signed bool) (lo, hi int64) {
	z := ir.Zeros(v)
	most := int64(0)
	for i := range 4 {
		most = max(most, int64(^z>>(8*i)&0xff))
	}
	if signed && most > 127 {
		return -128, 127
	}
	return 0, most
}
