package simt

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

func emitTrunc(e *emitter, in *ir.Inst) {
	e.result(in, e.Trunc(e.val(in.Args[0]), typ(in.Results[0].Type)))
}

func emitExtend(e *emitter, in *ir.Inst) {
	name := ll.Conv("sext")
	if in.Op == ir.ZExt {
		name = "zext"
	}
	e.result(in, e.Convert(name, e.val(in.Args[0]), typ(in.Results[0].Type)))
}

func emitBitcast(e *emitter, in *ir.Inst) {
	e.result(in, e.Bitcast(e.clean(in.Args[0]), typ(in.Results[0].Type)))
}

// emitFToI rounds to an integral value, then converts with clamping. NaN gives 0, or only the top bit for f64 and 64-bit results.
func emitFToI(e *emitter, in *ir.Inst) {
	from, to := in.Args[0].Type, in.Results[0].Type
	x := e.flushed(in, from, e.val(in.Args[0]))
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
	t := typ(to)
	r := e.IntrOf(t, string(name)+".sat", []ll.Type{t, x.T}, x)
	if from == ir.F64 || to.Bits() == 64 {
		r = e.Select(e.FCmp("uno", x, x), r.Int(-1<<(to.Bits()-1)), r)
	}
	e.result(in, r)
}

func emitIToF(e *emitter, in *ir.Inst) {
	from, to := in.Args[0].Type, in.Results[0].Type
	name := ll.Conv("sitofp")
	if in.Op == ir.UToF {
		name = "uitofp"
	}
	x := e.val(in.Args[0])
	switch {
	case in.Rnd != ir.RN && !(to == ir.F64 && from.Bits() <= 32):
		e.result(in, e.directedIToF(in, name, x, to))
	case to == ir.BF16 || to == ir.F16:
		f := e.oddF32(e.oddIToF(name, x))
		if to == ir.F16 {
			e.result(in, e.FPTrunc(f, "half"))
		} else {
			e.result(in, e.narrowBF16(f))
		}
	default:
		e.result(in, e.Convert(name, x, typ(to)))
	}
}

// oddIToF makes a double of an integer, rounded to odd if it does not fit.
func (e *emitter) oddIToF(name ll.Conv, x ll.Val) ll.Val {
	d := e.Convert(name, x, "double")
	if x.T.Bits() < 64 {
		return d
	}
	// Clear the low bits and make the last kept one sticky before converting instead: 11 bits may be lost.
	some := e.ZExt(e.ICmp("ne", e.And(x, x.Int(0x7ff)), x.Int(0)), "i64")
	big := e.Or(e.And(x, x.Int(^0x7ff)), e.Shl(some, x.Int(11)))
	size := x
	if name == "sitofp" {
		size = e.Call(x.T, "llvm.abs.i64", x, ll.Int("i1", 0))
	}
	return e.Select(e.ICmp("uge", size, x.Int(1<<53)), e.Convert(name, big, "double"), d)
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
	return e.Bitcast(e.Select(differs, odd, fb), "float")
}

func emitFExt(e *emitter, in *ir.Inst) {
	from, to := in.Args[0].Type, in.Results[0].Type
	x := e.flushed(in, from, e.val(in.Args[0]))
	switch {
	case from == ir.BF16:
		if x = e.widenBF16(x); in.FTZ { // bits, which the mode does not reach
			x = e.flushBits(x, ir.F32)
		}
	case from == ir.F32 && in.FTZ:
		x = e.canonical(x, from) // f64 keeps the payload
	case from == ir.F32:
		x = e.clean(in.Args[0])
	}
	e.result(in, e.FPExt(x, typ(to)))
}

func emitFTrunc(e *emitter, in *ir.Inst) {
	from, to := in.Args[0].Type, in.Results[0].Type
	x := e.val(in.Args[0])
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
		r = e.Bitcast(e.Select(neg, b.Int(0), b), r.T)
	}
	if in.Sat {
		r = e.saturate(r, to)
	}
	e.result(in, r)
}

// flushTrunc flushes an f32 made of x by what x is when rounded as if exponents had no end (see flushTiny).
func (e *emitter) flushTrunc(in *ir.Inst, r, x ll.Val, from ir.Type) ll.Val {
	r = e.flushBits(r, ir.F32)
	if from != ir.F64 {
		return r
	}
	return e.flushCut(r, x, in.Rnd)
}

// flushCut makes a zero of r, an f32 that x of f64 was rounded to, if x is below the least normal number when rounded as if exponents had
// no end.
func (e *emitter) flushCut(r, x ll.Val, rnd ir.Rnd) ll.Val {
	bound, less := uint64(0x380ffffff0000000), ll.Pred("olt") // 2^-126 - 2^-151
	if rnd != ir.RN {
		bound, less = 0x380fffffe0000000, "ole" // 2^-126 - 2^-150
	}
	tiny := e.FCmp(less, e.Intr("fabs", x), fc(ir.F64, bound))
	b := e.Bits(r)
	return e.Select(tiny, e.Bitcast(e.And(b, b.Int(-1<<31)), "float"), r)
}

func (e *emitter) narrow(in *ir.Inst, x ll.Val, from, to ir.Type) ll.Val {
	w := emit.Narrower{
		Func: e.Func, Fail: e.fail, Odd: e.oddF32, Widen: e.widenBF16, BF16: e.narrowBF16,
		Float:   func(x ll.Val) ll.Val { return e.directedF64ToF32(in, x) },
		Half:    func(x ll.Val) ll.Val { return e.cutToHalf(x, in.Rnd) },
		CutBF16: func(x ll.Val) ll.Val { return e.truncBF16(x, in.Rnd) },
	}
	return w.Narrow(in.Rnd, x, from, to)
}

// cutToHalf rounds to nearest, sees on which side that fell, and takes the neighbour if it is the wrong one.
func (e *emitter) cutToHalf(x ll.Val, rnd ir.Rnd) ll.Val {
	h := e.FPTrunc(x, "half")
	back := e.FPExt(h, "float")
	return e.neighbour(h, rnd, e.FCmp("ogt", back, x), e.FCmp("olt", back, x))
}

// emitPack concatenates parts, the first lowest.
func emitPack(e *emitter, in *ir.Inst) {
	to := in.Results[0].Type
	parts := make([]ll.Val, len(in.Args))
	same := len(parts)&(len(parts)-1) == 0
	for i, v := range in.Args {
		parts[i] = e.Bits(e.clean(v))
		same = same && parts[i].T == parts[0].T
	}
	if same && parts[0].T.Bits() >= 16 {
		e.result(in, e.Bitcast(e.join(parts), typ(to)))
		return
	}
	wide := ll.IntType(to.Bits())
	r := ll.Int(wide, 0)
	at := 0
	for _, p := range parts {
		x := e.ZExt(p, wide)
		if at > 0 {
			x = e.Shl(x, x.Int(int64(at)))
		}
		r = e.Or(r, x)
		at += p.T.Bits()
	}
	e.result(in, e.Bitcast(r, typ(to)))
}

// join pairs equal parts until one is left: targets have registers of pairs.
func (e *emitter) join(parts []ll.Val) ll.Val {
	for len(parts) > 1 {
		var next []ll.Val
		vt := ll.Vec(2, parts[0].T)
		for i := 0; i < len(parts); i += 2 {
			v := e.Insert(ll.Poison(vt), parts[i], 0)
			v = e.Insert(v, parts[i+1], 1)
			next = append(next, e.Bitcast(v, ll.IntType(2*parts[0].T.Bits())))
		}
		parts = next
	}
	return parts[0]
}

func emitUnpack(e *emitter, in *ir.Inst) {
	x := e.Bits(e.clean(in.Args[0]))
	if len(in.Results) == 2 && in.Results[0].Type.Bits() == in.Results[1].Type.Bits() && in.Results[0].Type.Bits() >= 16 {
		half := ll.IntType(x.T.Bits() / 2)
		v := e.Bitcast(x, ll.Vec(2, half))
		for i, r := range in.Results {
			e.set(r, e.Bitcast(e.Extract(v, i), typ(r.Type)))
		}
		return
	}
	at := 0
	for _, r := range in.Results {
		p := x
		if at > 0 {
			p = e.LShr(x, x.Int(int64(at)))
		}
		e.set(r, e.Bitcast(e.Resize(p, r.Type.Bits()), typ(r.Type)))
		at += r.Type.Bits()
	}
}
