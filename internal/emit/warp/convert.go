package warp

import (
	"fmt"

	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

func emitTrunc(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.conv("trunc", a[0], typ(in.Results[0].Type)) })
}

// emitExtend widens. Lane 0 of a guess that is zero-extended follows the lanes behind a wrap, which are the ones that
// are in use then (an index that starts at -1 under a mask that excludes it).
func emitExtend(e *emitter, in *ir.Inst) {
	name := "sext"
	if in.Op == ir.ZExt {
		name = "zext"
	}
	r := in.Results[0]
	to := typ(r.Type)
	e.set(r, e.conv(name, e.of(in.Args[0], e.lanesOf(r)), to))
	if !r.Shape.Guess {
		return
	}
	x := e.scalar(in.Args[0])
	if in.Op == ir.SExt {
		e.setGuess(r, e.conv(name, x, to))
		return
	}
	last := e.op2("add", x, ll.Int(x.T, wrapTo(laneOffset(in.Args[0].Shape, e.w-1), x.T)))
	wraps := e.op2("and", e.cmp("slt", x, k(x, 0)), e.cmp("sge", last, k(x, 0)))
	e.setGuess(r, e.sel(wraps, e.conv("sext", x, to), e.conv("zext", x, to)))
}

func emitBitcast(e *emitter, in *ir.Inst) {
	to := typ(in.Results[0].Type)
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x := a[0]
		if !e.asIs[in] {
			x = e.cleaned(in.Args[0], x, n)
		}
		return e.conv("bitcast", x, to)
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
			x = e.conv("fpext", x, "float")
		}
		if in.Rnd != ir.RZ {
			x = e.roundIntegral(x, in.Rnd)
		}
		name := "fptosi"
		if in.Op == ir.FToU {
			name = "fptoui"
		}
		t := withElem(x.T, typ(to))
		r := e.o.Call(t, "llvm."+name+".sat."+suffix(t)+"."+suffix(x.T), x)
		if from == ir.F64 || to.Bits() == 64 {
			nan := e.fcmp("uno", x, x)
			r = e.sel(nan, k(r, -1<<(to.Bits()-1)), r)
		}
		return r
	})
}

func emitIToF(e *emitter, in *ir.Inst) {
	from, to := in.Args[0].Type, in.Results[0].Type
	name := "sitofp"
	if in.Op == ir.UToF {
		name = "uitofp"
	}
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x := a[0]
		if in.Rnd != ir.RN && !(to == ir.F64 && from.Bits() <= 32) {
			return e.directedIToF(in, name, x, to)
		}
		if to == ir.BF16 || to == ir.F16 && from.Bits() == 64 {
			d := e.conv(name, x, "double")
			if from.Bits() == 64 {
				d = e.oddF64(d, x, in.Op == ir.SToF)
			}
			f := e.oddF32(d)
			if to == ir.F16 {
				return e.conv("fptrunc", f, "half")
			}
			return e.narrowBF16(f)
		}
		if to == ir.F16 {
			return e.conv("fptrunc", e.conv(name, x, "float"), "half") // exact below the overflow
		}
		return e.conv(name, x, typ(to))
	})
}

// oddF64 makes the conversion d of a 64-bit integer x rounded to odd: what it rounded away shows in converting back.
func (e *emitter) oddF64(d, x ll.Val, signed bool) ll.Val {
	// Clear the low bits and make the last kept one sticky before converting instead: 11 bits may be lost.
	low := e.op2("and", x, k(x, 0x7ff))
	some := e.conv("zext", e.cmp("ne", low, k(x, 0)), "i64")
	big := e.op2("or", e.op2("and", x, k(x, ^0x7ff)), e.op2("shl", some, k(x, 11)))
	name := "uitofp"
	var wide ll.Val
	if signed {
		name = "sitofp"
		abs := e.o.Call(x.T, "llvm.abs."+suffix(x.T), x, ll.Int("i1", 0))
		wide = e.cmp("uge", abs, k(x, 1<<53))
	} else {
		wide = e.cmp("uge", x, k(x, 1<<53))
	}
	return e.sel(wide, e.conv(name, big, "double"), d)
}

// oddF32 rounds doubles to f32, to odd: rounding once more to a narrower type is then as if done once.
func (e *emitter) oddF32(d ll.Val) ll.Val {
	f := e.conv("fptrunc", d, "float")
	back := e.conv("fpext", f, "double")
	db, bb := e.bits(d, ir.F64), e.bits(back, ir.F64)
	mask := int64(1<<63 - 1)
	above := e.cmp("ugt", e.op2("and", bb, k(bb, mask)), e.op2("and", db, k(db, mask)))
	differs := e.fcmp("one", back, d)
	fb := e.bits(f, ir.F32)
	odd := e.op2("or", e.sel(above, e.op2("sub", fb, k(fb, 1)), fb), k(fb, 1))
	return e.fromBits(e.sel(differs, odd, fb), ir.F32)
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
		return e.conv("fpext", x, typ(to))
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
			b := e.bits(r, to)
			f := emit.Formats[to]
			nan := e.cmp("ugt", e.op2("and", b, k(b, int64(f.Sign-1))), k(b, int64(f.Inf)))
			neg := e.op2("and", e.cmp("slt", b, k(b, 0)), e.not(nan))
			r = e.fromBits(e.sel(neg, k(b, 0), b), to)
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
	bound, less := uint64(0x380ffffff0000000), "olt" // 2^-126 - 2^-151
	if in.Rnd != ir.RN {
		bound, less = 0x380fffffe0000000, "ole" // 2^-126 - 2^-150
	}
	tiny := e.fcmp(less, e.intr("fabs", x), fconst(x, ir.F64, bound))
	b := e.bits(r, ir.F32)
	return e.sel(tiny, e.fromBits(e.op2("and", b, k(b, -1<<31)), ir.F32), r)
}

func (e *emitter) narrow(in *ir.Inst, x ll.Val, from, to ir.Type) ll.Val {
	w := emit.Narrower{
		Writer: e.writer(), Conv: e.conv, FCmp: e.fcmp, Fail: e.unsupported, Odd: e.oddF32, Widen: e.widenBF16, BF16: e.narrowBF16,
		Bits:    func(x ll.Val) ll.Val { return e.bits(x, ir.F32) },
		Float:   func(x ll.Val) ll.Val { return e.directedF64ToF32(in, x) },
		Half:    func(x ll.Val) ll.Val { return e.directedToHalf(in, x) },
		CutBF16: func(x ll.Val) ll.Val { return e.truncBF16(x, in.Rnd) },
	}
	return w.Narrow(in.Rnd, x, from, to)
}

// emitPack puts parts side by side, the first lowest.
func emitPack(e *emitter, in *ir.Inst) {
	to := in.Results[0].Type
	e.each(in, func(n int, a []ll.Val) ll.Val {
		wide := fmt.Sprintf("i%d", to.Bits())
		var r ll.Val
		at := 0
		for i, v := range in.Args {
			x := e.conv("zext", e.bits(e.cleaned(v, a[i], n), v.Type), wide)
			if at > 0 {
				x = e.op2("shl", x, k(x, int64(at)))
			}
			if i == 0 {
				r = x
			} else {
				r = e.op2("or", r, x)
			}
			at += v.Type.Bits()
		}
		return e.conv("bitcast", r, typ(to))
	})
}

func emitUnpack(e *emitter, in *ir.Inst) {
	from := in.Args[0]
	at := 0
	for _, v := range in.Results {
		n := e.lanesOf(v)
		x := e.bits(e.clean(from, n), from.Type)
		if at > 0 {
			x = e.op2("lshr", x, k(x, int64(at)))
		}
		x = e.conv("trunc", x, fmt.Sprintf("i%d", v.Type.Bits()))
		e.set(v, e.conv("bitcast", x, typ(v.Type)))
		at += v.Type.Bits()
	}
}
