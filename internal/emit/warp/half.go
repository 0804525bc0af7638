package warp

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// bf16 is held as its bits and computed in f32, whose upper half it is.

// widenBF16 is exact.
func (e *emitter) widenBF16(x ll.Val) ll.Val {
	w := e.ZExt(x, "i32")
	return e.Recast(e.Shl(w, w.Int(16)), typ(ir.F32))
}

// narrowBF16 rounds to nearest even; NaNs become the canonical one.
func (e *emitter) narrowBF16(x ll.Val) ll.Val {
	b := e.Bits(x)
	odd := e.And(e.LShr(b, b.Int(16)), b.Int(1))
	r := e.LShr(e.Add(b, e.Add(odd, b.Int(0x7fff))), b.Int(16))
	nan := e.FCmp("uno", x, x.Float(0))
	r = e.Select(nan, r.Int(0x7fff), r)
	return e.Trunc(r, "i16")
}

// truncBF16 rounds towards zero or an infinity.
func (e *emitter) truncBF16(x ll.Val, rnd ir.Rnd) ll.Val {
	b := e.Bits(x)
	low := e.And(b, b.Int(0xffff))
	some := e.ICmp("ne", low, b.Int(0))
	neg := e.ICmp("slt", b, b.Int(0))
	r := e.LShr(b, b.Int(16))
	one := e.ZExt(some, "i32")
	switch rnd {
	case ir.RP:
		r = e.Add(r, e.Select(neg, b.Int(0), one))
	case ir.RM:
		r = e.Add(r, e.Select(neg, one, b.Int(0)))
	case ir.RNA:
		r = e.LShr(e.Add(b, b.Int(0x8000)), b.Int(16))
	}
	nan := e.FCmp("uno", x, x.Float(0))
	r = e.Select(nan, r.Int(0x7fff), r)
	return e.Trunc(r, "i16")
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
	return e.narrowBF16(e.Binary(emit.Arith[in.Op], w[0], w[1]))
}
