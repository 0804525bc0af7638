package warp

import (
	"kudzu/internal/analysis"
	"kudzu/internal/emit/float"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// unpair sees a packed pair as twice as many elements; pair is the way back.
func (e *emitter) unpair(x ll.Val, t ir.Type) ll.Val {
	el, packed := float.Element(t)
	if !packed {
		return x
	}
	n, _ := x.T.Split()
	vt := ll.Vec(2*n, typ(el))
	return e.Bitcast(x, vt)
}

func (e *emitter) pair(x ll.Val, t ir.Type, n int) ll.Val {
	if _, packed := float.Element(t); !packed {
		return x
	}
	vt := ll.Vec(n, "i32")
	return e.Bitcast(x, vt)
}

// allFlushed reports a kernel that may run with the processor's flush mode: every f32 operation asks for flushing or does
// not mind, some asks, and there is no f64 arithmetic.
func allFlushed(f *ir.Func) bool {
	some := false
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			if !floatSensitive(in) {
				continue
			}
			for _, v := range append(append([]*ir.Value(nil), in.Args...), in.Results...) {
				if v.Type == ir.F64 {
					return false
				}
			}
			if !in.FTZ {
				return false
			}
			some = some || !in.EitherFTZ
		}
	}
	return some
}

// floatSensitive reports an operation whose result may depend on the flush mode.
func floatSensitive(in *ir.Inst) bool {
	wide := func(vs []*ir.Value) bool {
		for _, v := range vs {
			switch v.Type {
			case ir.F32, ir.F64, ir.BF16, ir.BF16x2: // bf16 is computed in f32, and its subnormals are f32's
				return true
			}
		}
		return false
	}
	switch in.Op {
	case ir.FAdd, ir.FSub, ir.FMul, ir.FDiv, ir.FFma, ir.FSqrt, ir.FRcp, ir.FMin, ir.FMax, ir.FCmp, ir.FRound, ir.FRelu, ir.FToS, ir.FToU:
		return wide(in.Args)
	case ir.FExt:
		return in.Args[0].Type == ir.F32
	case ir.FTrunc: // to bf16 on bits; a subnormal number of f32 becomes a zero of f16 unless it is rounded away from zero
		away := in.Rnd != ir.RN && in.Rnd != ir.RZ
		return in.Args[0].Type == ir.F64 || in.Results[0].Type == ir.F16 && away
	case ir.Mma:
		return true
	case ir.Atomic, ir.Redux:
		if in.AtomOp == ir.AtomExch {
			return false
		}
		return len(in.Args) > 1 && wide(in.Args[1:]) || in.Op == ir.Redux && wide(in.Args[:1])
	}
	return false
}

// clean is v in n lanes with the bits that others may see.
func (e *emitter) clean(v *ir.Value, n int) ll.Val { return e.cleaned(v, e.of(v, n), n) }

func emitArith(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	el, _ := float.Element(t)
	e.each(in, func(n int, a []ll.Val) ll.Val {
		args := make([]ll.Val, len(a))
		for i, x := range a {
			args[i] = e.Flushed(in, el, e.unpair(x, t))
		}
		if in.Op == ir.FRcp {
			args = append([]ll.Val{args[0].Float(float.Formats[el].One)}, args...)
		}
		if el == ir.F64 && (in.Op == ir.FAdd || in.Op == ir.FMul || in.Op == ir.FFma) {
			// Of two NaN operands the hardware keeps the second's payload, x86 the first's.
			args[0], args[1] = args[1], args[0]
		}
		r, ok := e.arithExtended(in, el, a, args)
		if !ok {
			r = e.Arith(in, el, args)
		}
		if el == ir.F64 && !e.computed[in.Results[0]] {
			r = e.pickNaN(in, r, a)
		}
		if el == ir.F16 && in.FTZ {
			r = e.FlushBits(r, el)
		}
		if el == ir.F32 && e.NeedsFlush(in) {
			r = e.FlushTiny(in, r, args)
		}
		if in.Sat {
			r = e.Saturate(r, el)
		}
		return e.pair(r, t, n)
	})
}

// chunks applies op to pieces of n lanes; a scalar is put into a vector.
func (e *emitter) chunks(a []ll.Val, n int, op func([]ll.Val) ll.Val) ll.Val {
	total, _ := a[0].T.Split()
	if total < n {
		parts := make([]ll.Val, len(a))
		for i, x := range a {
			if total == 1 {
				parts[i] = e.splatN(x, n)
			} else {
				parts[i] = e.Shuffle(x, x, rangeInts(0, n, func(j int) int { return j % total }))
			}
		}
		r := op(parts)
		if total == 1 {
			return e.Extract(r, 0)
		}
		return e.Shuffle(r, r, rangeInts(0, total, func(j int) int { return j }))
	}
	var out []ll.Val
	for at := 0; at < total; at += n {
		parts := make([]ll.Val, len(a))
		for i, x := range a {
			parts[i] = e.slice(x, at, n)
		}
		out = append(out, op(parts))
	}
	return e.concat(out)
}

func rangeInts(from, n int, f func(int) int) []int {
	r := make([]int, n)
	for i := range r {
		r[i] = f(from + i)
	}
	return r
}

// slice is lanes at … at+n-1 of x.
func (e *emitter) slice(x ll.Val, at, n int) ll.Val {
	if total, _ := x.T.Split(); at == 0 && total == n {
		return x
	}
	return e.Shuffle(x, x, rangeInts(at, n, func(j int) int { return j }))
}

// concat joins vectors of one type, a power of two of them.
func (e *emitter) concat(parts []ll.Val) ll.Val {
	for len(parts) > 1 {
		var next []ll.Val
		for i := 0; i < len(parts); i += 2 {
			n, _ := parts[i].T.Split()
			next = append(next, e.Shuffle(parts[i], parts[i+1], rangeInts(0, 2*n, func(j int) int { return j })))
		}
		parts = next
	}
	return parts[0]
}

func emitSign(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	el, _ := float.Element(t)
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x := e.unpair(a[0], t)
		if in.FTZ && (el == ir.F32 || el == ir.F16) {
			x = e.FlushBits(x, el)
		}
		if el == ir.F64 {
			return e.signF64(in.Op, x)
		}
		if el == ir.BF16 {
			return e.pair(e.SignBits(in.Op, x, el), t, n)
		}
		if in.Op == ir.FNeg {
			return e.pair(e.FNeg(x), t, n)
		}
		return e.pair(e.Intr("fabs", x), t, n)
	})
}

// signF64 leaves a NaN's sign and payload, and makes it quiet. On x86 -0 - x is all of that in one instruction; behind
// a fence LLVM does not see that it negates.
func (e *emitter) signF64(op ir.Op, x ll.Val) ll.Val {
	if op == ir.FNeg && !e.cpu.arm64 && !e.Flush {
		return e.FSub(e.fence(x.Float(1<<63)), x)
	}
	var r ll.Val
	if op == ir.FNeg {
		r = e.FNeg(x)
	} else {
		r = e.Intr("fabs", x)
	}
	b := e.Bits(x)
	quiet := e.Recast(e.Or(b, b.Int(1<<51)), typ(ir.F64))
	return e.Select(e.FCmp("uno", x, x.Float(0)), quiet, r)
}

func emitCopysign(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	e.each(in, func(n int, a []ll.Val) ll.Val {
		el, _ := float.Element(t)
		x, s := e.cleaned(in.Args[0], a[0], n), e.cleaned(in.Args[1], a[1], n)
		return e.pair(e.Copysign(e.unpair(x, t), e.unpair(s, t), el), t, n)
	})
}

// emitMinMax: a NaN gives the other operand, or NaN where asked; -0 is less than +0.
func emitMinMax(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	el, _ := float.Element(t)
	kind := float.MinMaxOf(in)
	x, y := in.Args[0], in.Args[1]
	kind.Magnitudes = analysis.NoSign(x) && analysis.NoSign(y)
	if el == ir.F32 && t == el {
		a, known := e.numbers.Of(x)
		b, too := e.numbers.Of(y)
		kind.Number = [2]bool{known, too}
		kind.NoZeros = known && a.NoZero() || too && b.NoZero() || y.Const && y.Bits == float.ZeroOf(in.Op)
	}
	e.each(in, func(n int, a []ll.Val) ll.Val {
		if in.XorSign { // .xorsign.abs looks at the signs, NaNs' too
			a = []ll.Val{e.cleaned(in.Args[0], a[0], n), e.cleaned(in.Args[1], a[1], n)}
		}
		x, y := e.unpair(a[0], t), e.unpair(a[1], t)
		if in.FTZ && (el == ir.F32 || el == ir.F16) {
			x, y = e.FlushBits(x, el), e.FlushBits(y, el)
		}
		r := e.minMax(kind, x, y, el)
		if el == ir.F64 && !e.computed[in.Results[0]] {
			r = e.quiet(r) // where both are NaNs; LLVM may see that as a copy
		}
		return e.pair(r, t, n)
	})
}

// minMax computes bf16 in f32.
func (e *emitter) minMax(m float.MinMax, x, y ll.Val, t ir.Type) ll.Val {
	if t == ir.BF16 {
		return e.NarrowBF16(e.MinMax(m, e.WidenBF16(x), e.WidenBF16(y), ir.F32))
	}
	return e.MinMax(m, x, y, t)
}

func emitFRound(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x := e.Flushed(in, t, a[0])
		if t == ir.BF16 {
			return e.NarrowBF16(e.RoundIntegral(e.WidenBF16(x), in.Rnd))
		}
		r := e.RoundIntegral(x, in.Rnd)
		if in.Sat {
			r = e.Saturate(r, t)
		}
		return r
	})
}

// emitFRelu: negative numbers and -0 become +0, NaN the canonical one.
func emitFRelu(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	el, _ := float.Element(t)
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.pair(e.Relu(e.unpair(a[0], t), el), t, n) })
}
