package warp

import (
	"kudzu/internal/emit"
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
	last := e.Add(x, ll.Int(x.T, ll.Wrap(laneOffset(in.Args[0].Shape, e.w-1), x.T.ElemBits())))
	wraps := e.And(e.ICmp("slt", x, x.Int(0)), e.ICmp("sge", last, x.Int(0)))
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

// emitFToI rounds to an integral value, then converts with clamping. NaN gives 0, or only the top bit for f64 and 64-bit
// results.
func emitFToI(e *emitter, in *ir.Inst) {
	from, to := in.Args[0].Type, in.Results[0].Type
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x := e.flushed(in, from, a[0])
		switch from {
		case ir.BF16:
			x = e.widenBF16(x)
		case ir.F16:
			x = e.FPExt(x, "float")
		}
		if in.Rnd != ir.RZ {
			x = e.roundIntegral(x, in.Rnd)
		}
		name := ll.Conv("fptosi")
		if in.Op == ir.FToU {
			name = "fptoui"
		}
		t := x.T.WithElem(typ(to))
		r := e.IntrOf(t, string(name)+".sat", []ll.Type{t, x.T}, x)
		if from == ir.F64 || to.Bits() == 64 {
			nan := e.FCmp("uno", x, x)
			r = e.Select(nan, r.Int(-1<<(to.Bits()-1)), r)
		}
		return r
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
			d := e.Convert(name, x, "double")
			if from.Bits() == 64 {
				d = e.oddF64(d, x, in.Op == ir.SToF)
			}
			f := e.oddF32(d)
			if to == ir.F16 {
				return e.FPTrunc(f, "half")
			}
			return e.narrowBF16(f)
		}
		if to == ir.F16 {
			return e.FPTrunc(e.Convert(name, x, "float"), "half") // exact below the overflow
		}
		return e.Convert(name, x, typ(to))
	})
}

// oddF64 makes the conversion d of a 64-bit integer x rounded to odd: what it rounded away shows in converting back.
func (e *emitter) oddF64(d, x ll.Val, signed bool) ll.Val {
	// Clear the low bits and make the last kept one sticky before converting instead: 11 bits may be lost.
	low := e.And(x, x.Int(0x7ff))
	some := e.ZExt(e.ICmp("ne", low, x.Int(0)), "i64")
	big := e.Or(e.And(x, x.Int(^0x7ff)), e.Shl(some, x.Int(11)))
	name := ll.Conv("uitofp")
	var wide ll.Val
	if signed {
		name = "sitofp"
		abs := e.Intr("abs", x, ll.Int("i1", 0))
		wide = e.ICmp("uge", abs, x.Int(1<<53))
	} else {
		wide = e.ICmp("uge", x, x.Int(1<<53))
	}
	return e.Select(wide, e.Convert(name, big, "double"), d)
}

// oddF32 rounds doubles to f32, to odd: rounding once more to a narrower type is then as if done once.
func (e *emitter) oddF32(d ll.Val) ll.Val {
	f := e.FPTrunc(d, "float")
	back := e.FPExt(f, "double")
	db, bb := e.Bits(d), e.Bits(back)
	mask := int64(1<<63 - 1)
	above := e.ICmp("ugt", e.And(bb, bb.Int(mask)), e.And(db, db.Int(mask)))
	differs := e.FCmp("one", back, d)
	fb := e.Bits(f)
	odd := e.Or(e.Select(above, e.Sub(fb, fb.Int(1)), fb), fb.Int(1))
	return e.Recast(e.Select(differs, odd, fb), typ(ir.F32))
}

func emitFExt(e *emitter, in *ir.Inst) {
	from, to := in.Args[0].Type, in.Results[0].Type
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x := e.flushed(in, from, a[0])
		if from == ir.F32 && in.FTZ || e.dirty[in.Args[0]] && to == ir.F64 {
			x = e.canonical(x, from, n) // f64 keeps the payload
		}
		if from == ir.BF16 {
			x = e.widenBF16(x)
			if in.FTZ { // bits, which the mode does not reach
				x = e.flushBits(x, ir.F32)
			}
		}
		return e.FPExt(x, typ(to))
	})
}

func emitFTrunc(e *emitter, in *ir.Inst) {
	from, to := in.Args[0].Type, in.Results[0].Type
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x := a[0]
		if from == ir.F32 && in.FTZ && (!e.flush || to == ir.BF16) { // bf16 is made of bits, which the mode does not reach
			x = e.flushBits(x, from)
		}
		r := e.narrow(in, x, from, to)
		if to == ir.F32 && in.FTZ && !e.flush {
			r = e.flushTrunc(in, r, x, from)
		}
		if in.Relu {
			b := e.Bits(r)
			f := emit.Formats[to]
			nan := e.ICmp("ugt", e.And(b, b.Int(int64(f.Sign-1))), b.Int(int64(f.Inf)))
			neg := e.And(e.ICmp("slt", b, b.Int(0)), e.Not(nan))
			r = e.Recast(e.Select(neg, b.Int(0), b), typ(to))
		}
		if in.Sat {
			r = e.saturate(r, to)
		}
		return r
	})
}

// flushTrunc flushes an f32 made of x by what x is when rounded as if exponents had no end (see flushTiny).
func (e *emitter) flushTrunc(in *ir.Inst, r, x ll.Val, from ir.Type) ll.Val {
	r = e.flushBits(r, ir.F32)
	if from != ir.F64 {
		return r
	}
	bound, less := uint64(0x380ffffff0000000), ll.Pred("olt") // 2^-126 - 2^-151
	if in.Rnd != ir.RN {
		bound, less = 0x380fffffe0000000, "ole" // 2^-126 - 2^-150
	}
	tiny := e.FCmp(less, e.Intr("fabs", x), x.Float(bound))
	b := e.Bits(r)
	return e.Select(tiny, e.Recast(e.And(b, b.Int(-1<<31)), typ(ir.F32)), r)
}

func (e *emitter) narrow(in *ir.Inst, x ll.Val, from, to ir.Type) ll.Val {
	w := emit.Narrower{
		Func: e.Func, Fail: e.unsupported, Odd: e.oddF32, Widen: e.widenBF16, BF16: e.narrowBF16,
		Float:   func(x ll.Val) ll.Val { return e.directedF64ToF32(in, x) },
		Half:    func(x ll.Val) ll.Val { return e.directedToHalf(in, x) },
		CutBF16: func(x ll.Val) ll.Val { return e.truncBF16(x, in.Rnd) },
	}
	return w.Narrow(in.Rnd, x, from, to)
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
}
