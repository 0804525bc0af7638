package warp

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

func emitTrunc(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.Trunc(a[0], typ(in.Results[0].Type)) })
}

// emitExtend widens. Lane 0 of a guess that is zero-extended follows the lanes behind a wrap, which are the ones that
// are in use then (an index that starts at -1 under a mask that excludes it).
func emitExtend(e *emitter, in *ir.Inst) {
	name := ll.Conv("sext")
	if in.Op == ir.ZExt {
		name = "zext"
	}
	r := in.Results[0]
	to := typ(r.Type)
	e.set(r, e.Convert(name, e.of(in.Args[0], e.lanesOf(r)), to))
	if !r.Shape.Guess {
		return
	}
	x := e.scalar(in.Args[0])
	if in.Op == ir.SExt {
		e.setGuess(r, e.Convert(name, x, to))
		return
	}
	far := int64(0) // the lane furthest above lane 0, which need not be the last one
	for l := range e.w {
		far = max(far, laneOffset(in.Args[0].Shape, l))
	}
	top := e.Add(x, ll.Int(x.T, ll.Wrap(far, x.T.ElemBits())))
	wraps := e.And(e.ICmp("slt", x, x.Int(0)), e.ICmp("sge", top, x.Int(0)))
	e.setGuess(r, e.Select(wraps, e.SExt(x, to), e.ZExt(x, to)))
}

func emitBitcast(e *emitter, in *ir.Inst) {
	to := typ(in.Results[0].Type)
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x := a[0]
		if !e.asIs[in] {
			x = e.cleaned(in.Args[0], x, n)
		}
		return e.Recast(x, to)
	})
}

func emitIToF(e *emitter, in *ir.Inst) {
	from, to := in.Args[0].Type, in.Results[0].Type
	name := ll.Conv("sitofp")
	if in.Op == ir.UToF {
		name = "uitofp"
	}
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x := a[0]
		if in.Rnd != ir.RN && !(to == ir.F64 && from.Bits() <= 32) {
			return e.directedIToF(in, name, x, to)
		}
		if to == ir.BF16 || to == ir.F16 && from.Bits() == 64 {
			f := e.OddF32(e.OddFromInt(name, x))
			if to == ir.F16 {
				return e.FPTrunc(f, "half")
			}
			return e.NarrowBF16(f)
		}
		if to == ir.F16 {
			return e.FPTrunc(e.Convert(name, x, "float"), "half") // exact below the overflow
		}
		return e.Convert(name, x, typ(to))
	})
}

func emitFExt(e *emitter, in *ir.Inst) {
	from, to := in.Args[0].Type, in.Results[0].Type
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x := e.Flushed(in, from, a[0])
		if from == ir.F32 && in.FTZ || e.dirty[in.Args[0]] && to == ir.F64 {
			x = e.canonical(x, from, n) // f64 keeps the payload
		}
		if from == ir.BF16 {
			x = e.WidenBF16(x)
			if in.FTZ { // bits, which the mode does not reach
				x = e.FlushBits(x, ir.F32)
			}
		}
		if f, ok := e.extended[x]; ok && to == ir.F32 {
			return f
		}
		return e.FPExt(x, typ(to))
	})
}

func emitFTrunc(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.FTrunc(in, a[0]) })
}

func emitFToI(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.ToInt(in, a[0]) })
}

// emitPack concatenates parts, the first lowest.
func emitPack(e *emitter, in *ir.Inst) {
	to := in.Results[0].Type
	e.each(in, func(n int, a []ll.Val) ll.Val {
		wide := ll.IntType(to.Bits())
		var r ll.Val
		at := 0
		for i, v := range in.Args {
			x := e.ZExt(e.Bits(e.cleaned(v, a[i], n)), wide)
			if at > 0 {
				x = e.Shl(x, x.Int(int64(at)))
			}
			if i == 0 {
				r = x
			} else {
				r = e.Or(r, x)
			}
			at += v.Type.Bits()
		}
		return e.Recast(r, typ(to))
	})
}

func emitUnpack(e *emitter, in *ir.Inst) {
	from := in.Args[0]
	at := 0
	for _, v := range in.Results {
		n := e.lanesOf(v)
		x := e.Bits(e.clean(from, n))
		if at > 0 {
			x = e.LShr(x, x.Int(int64(at)))
		}
		x = e.Trunc(x, ll.IntType(v.Type.Bits()))
		e.set(v, e.Recast(x, typ(v.Type)))
		at += v.Type.Bits()
	}
	e.extendPairs(in, e.clean(from, e.lanesOf(in.Results[0])))
}
