package simt

import (
	"kudzu/internal/emit"
	"kudzu/internal/emit/float"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// The common way of floating point: operations of IEEE 754 with subnormal numbers on, rounded to nearest; flushing is written
// out. Packed pairs are vectors of two while they are computed with.

// halves applies op to the parts of packed pairs, or to the values themselves.
func (e *emitter) halves(t ir.Type, a []ll.Val, op func(el ir.Type, a []ll.Val) ll.Val) ll.Val {
	el, packed := float.Element(t)
	if !packed {
		return op(t, a)
	}
	vt := ll.Vec(2, typ(el))
	r := ll.Poison(vt)
	parts := make([]ll.Val, len(a))
	for i, x := range a {
		parts[i] = e.Bitcast(x, vt)
	}
	for j := range 2 {
		one := make([]ll.Val, len(a))
		for i, p := range parts {
			one[i] = e.Extract(p, j)
		}
		r = e.Insert(r, op(el, one), j)
	}
	return e.Bitcast(r, "i32")
}

// fc is a float constant given by its bits.
func fc(t ir.Type, bits uint64) ll.Val { return emit.Const(t, bits) }

func emitArith(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	e.result(in, e.halves(t, e.operands(in), func(el ir.Type, a []ll.Val) ll.Val {
		args := make([]ll.Val, len(a))
		for i, x := range a {
			args[i] = e.Flushed(in, el, x)
		}
		if in.Op == ir.FRcp {
			args = append([]ll.Val{fc(el, float.Formats[el].One)}, args...)
		}
		var r ll.Val
		if el == ir.F32 && in.OneUlp {
			r = e.rough(in, args)
		} else {
			r = e.Arith(in, el, args)
		}
		switch {
		case el == ir.F64 && e.dirty != nil && !e.computed[in.Results[0]]:
			r = e.pickNaN(in, r, a)
		case el == ir.F16 && in.FTZ:
			r = e.FlushBits(r, el)
		case el == ir.F32 && e.NeedsFlush(in):
			r = e.FlushTiny(in, r, args)
		}
		if in.Sat {
			r = e.Saturate(r, el)
		}
		return r
	}))
}

// pickNaN gives an f64 NaN the bits that NVIDIA's hardware gives it: the second operand's payload, else the third's, else the first's, made
// quiet, else the NaN of its own. What loops compute with further goes without (keptNaNs).
func (e *emitter) pickNaN(in *ir.Inst, r ll.Val, a []ll.Val) ll.Val {
	r = e.Select(e.FCmp("uno", r, r), fc(ir.F64, float.Formats[ir.F64].NaN), r)
	for _, x := range float.NaNOrder(in.Op, a) {
		b := e.Bits(x)
		r = e.Select(e.FCmp("uno", x, x), e.Bitcast(e.Or(b, b.Int(1<<51)), "double"), r)
	}
	return r
}

// fence keeps a number apart from LLVM's folding. AMD's code generator (19 to 22) cannot select the intrinsic of a number that all
// lanes share and that a vector unit made: there it is a vector register that LLVM does not see into.
func (e *emitter) fence(x ll.Val) ll.Val {
	if _, ok := e.t.(amdgcn); ok {
		return e.Op(x.T, `call %s asm "", "=v,0"(%s)`, x.T, x)
	}
	return e.Intr("arithmetic.fence", x)
}

// emitSign is FNeg and FAbs on the bits: a NaN becomes the canonical one, of f64 a quiet one.
func emitSign(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	e.result(in, e.halves(t, e.operands(in), func(el ir.Type, a []ll.Val) ll.Val {
		x := a[0]
		if in.FTZ && (el == ir.F32 || el == ir.F16) { // the mode does not reach operations on bits
			x = e.FlushBits(x, el)
		}
		return e.SignBits(in.Op, x, el)
	}))
}

func emitCopysign(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	e.result(in, e.halves(t, []ll.Val{e.clean(in.Args[0]), e.clean(in.Args[1])}, func(el ir.Type, a []ll.Val) ll.Val {
		return e.Copysign(a[0], a[1], el)
	}))
}

// emitMinMax: a NaN gives the other operand, or NaN where asked; -0 is less than +0.
func emitMinMax(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	args := e.operands(in)
	if in.XorSign { // .xorsign.abs looks at the signs, NaNs' too
		args = []ll.Val{e.clean(in.Args[0]), e.clean(in.Args[1])}
	}
	e.result(in, e.halves(t, args, func(el ir.Type, a []ll.Val) ll.Val {
		x, y := a[0], a[1]
		if in.FTZ && (el == ir.F32 || el == ir.F16) {
			x, y = e.FlushBits(x, el), e.FlushBits(y, el)
		}
		return e.MinMaxBits(float.MinMaxOf(in), x, y, el)
	}))
}

func emitFRound(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	x := e.Flushed(in, t, e.val(in.Args[0]))
	var r ll.Val
	if t == ir.BF16 {
		r = e.NarrowBF16(e.RoundIntegral(e.WidenBF16(x), in.Rnd))
	} else {
		r = e.RoundIntegral(x, in.Rnd)
	}
	if in.Sat {
		r = e.Saturate(r, t)
	}
	e.result(in, r)
}

// emitFRelu: negative numbers and -0 become +0, NaN the canonical one.
func emitFRelu(e *emitter, in *ir.Inst) {
	t := in.Results[0].Type
	e.result(in, e.halves(t, e.operands(in), func(el ir.Type, a []ll.Val) ll.Val {
		return e.Relu(a[0], el)
	}))
}
