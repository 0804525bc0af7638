package warp

import (
	"kudzu/internal/analysis"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// emitDp4a adds four products of bytes: VNNI's instruction where one operand is unsigned and the other signed.
func emitDp4a(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		sa, sb := in.Dot&ir.DotSignedA != 0, in.Dot&ir.DotSignedB != 0
		switch { // bytes that are not negative are unsigned as well
		case sa && sb && plainBytes(in.Args[0]):
			sa = false
		case sa && sb && plainBytes(in.Args[1]):
			sb = false
		}
		if e.cpu.vnni && n > 1 && sa != sb {
			x, y := a[0], a[1]
			if sa {
				x, y = y, x
			}
			return e.chunks([]ll.Val{a[2], x, y}, 16, func(p []ll.Val) ll.Val {
				return e.Call("<16 x i32>", "llvm.x86.avx512.vpdpbusd.512", p[0], p[1], p[2])
			})
		}
		if e.cpu.vnni && n > 1 && sa && sb {
			// signed × signed: move a up by 128 and take 128 × Σb away again.
			x := e.Xor(a[0], a[0].Int(-0x7f7f7f80))
			ones := a[0].Int(-0x7f7f7f80)
			neg := e.chunks([]ll.Val{k2(a[2]), ones, a[1]}, 16, func(p []ll.Val) ll.Val {
				return e.Call("<16 x i32>", "llvm.x86.avx512.vpdpbusd.512", p[0], p[1], p[2])
			})
			acc := e.Sub(a[2], neg)
			return e.chunks([]ll.Val{acc, x, a[1]}, 16, func(p []ll.Val) ll.Val {
				return e.Call("<16 x i32>", "llvm.x86.avx512.vpdpbusd.512", p[0], p[1], p[2])
			})
		}
		sum := a[2]
		for i := 0; i < 4; i++ {
			sum = e.Add(sum, e.Mul(e.field(a[0], 8*i, 8, sa), e.field(a[1], 8*i, 8, sb)))
		}
		return sum
	})
}

// plainBytes reports four bytes none of which is negative: nibbles, ones.
func plainBytes(v *ir.Value) bool {
	const signs = 0x80808080
	return analysis.Zeros(v)&signs == signs
}

// k2 is the zero of x's type.
func k2(x ll.Val) ll.Val { return x.Int(0) }

// field is bits at … at+n-1 of an i32, widened.
func (e *emitter) field(x ll.Val, at, n int, signed bool) ll.Val {
	up := e.Shl(x, x.Int(int64(32-at-n)))
	if signed {
		return e.AShr(up, x.Int(int64(32-n)))
	}
	return e.LShr(up, x.Int(int64(32-n)))
}

// emitDp2a adds two products of a half word and a byte; DotHigh takes the upper bytes.
func emitDp2a(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		sa, sb := in.Dot&ir.DotSignedA != 0, in.Dot&ir.DotSignedB != 0
		base := 0
		if in.Dot&ir.DotHigh != 0 {
			base = 16
		}
		sum := a[2]
		for i := 0; i < 2; i++ {
			sum = e.Add(sum, e.Mul(e.field(a[0], 16*i, 16, sa), e.field(a[1], base+8*i, 8, sb)))
		}
		return sum
	})
}
