package warp

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// bf16 is held as its bits and computed in f32, whose upper half it is.

// widenBF16 is exact.
func (e *emitter) widenBF16(x ll.Val) ll.Val {
	w := e.conv("zext", x, "i32")
	return e.fromBits(e.op2("shl", w, k(w, 16)), ir.F32)
}

// narrowBF16 rounds to nearest even; NaNs become the canonical one.
func (e *emitter) narrowBF16(x ll.Val) ll.Val {
	b := e.bits(x, ir.F32)
	odd := e.op2("and", e.op2("lshr", b, k(b, 16)), k(b, 1))
	r := e.op2("lshr", e.op2("add", b, e.op2("add", odd, k(b, 0x7fff))), k(b, 16))
	nan := e.fcmp("uno", x, fconst(x, ir.F32, 0))
	r = e.sel(nan, k(r, 0x7fff), r)
	return e.conv("trunc", r, "i16")
}

// truncBF16 rounds towards zero or an infinity.
func (e *emitter) truncBF16(x ll.Val, rnd ir.Rnd) ll.Val {
	b := e.bits(x, ir.F32)
	low := e.op2("and", b, k(b, 0xffff))
	some := e.cmp("ne", low, k(b, 0))
	neg := e.cmp("slt", b, k(b, 0))
	r := e.op2("lshr", b, k(b, 16))
	one := e.conv("zext", some, "i32")
	switch rnd {
	case ir.RP:
		r = e.op2("add", r, e.sel(neg, k(b, 0), one))
	case ir.RM:
		r = e.op2("add", r, e.sel(neg, one, k(b, 0)))
	case ir.RNA:
		r = e.op2("lshr", e.op2("add", b, k(b, 0x8000)), k(b, 16))
	}
	nan := e.fcmp("uno", x, fconst(x, ir.F32, 0))
	r = e.sel(nan, k(r, 0x7fff), r)
	return e.conv("trunc", r, "i16")
}

// arithBF16 computes in f32. Twice eight bits and two fit in 24, so rounding twice is harmless for all but the fused
// operation, which rounds to odd first.
func (e *emitter) arithBF16(in *ir.Inst, a []ll.Val) ll.Val {
	if in.Rnd != ir.RN {
		e.unsupported("%s of bf16 with a directed rounding", in.Op)
	}
	w := make([]ll.Val, len(a))
	for i, x := range a {
		w[i] = e.widenBF16(x)
	}
	switch in.Op {
	case ir.FFma:
		return e.fmaNarrow(w[0], w[1], w[2], e.narrowBF16)
	case ir.FSqrt:
		return e.narrowBF16(e.sqrt(w[0]))
	}
	return e.narrowBF16(e.op2(emit.Arith[in.Op], w[0], w[1]))
}
