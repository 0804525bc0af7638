package simt

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

func emitTrunc(e *emitter, in *ir.Inst) {
	e.result(in, e.conv("trunc", e.val(in.Args[0]), typ(in.Results[0].Type)))
}

func emitExtend(e *emitter, in *ir.Inst) {
	name := "sext"
	if in.Op == ir.ZExt {
		name = "zext"
	}
	e.result(in, e.conv(name, e.val(in.Args[0]), typ(in.Results[0].Type)))
}

func emitBitcast(e *emitter, in *ir.Inst) {
	e.result(in, e.cast(e.clean(in.Args[0]), typ(in.Results[0].Type)))
}

// emitFToI rounds to an integral value, then converts with clamping. NaN gives 0, or only the top bit for f64 and 64-bit results.
func emitFToI(e *emitter, in *ir.Inst) {
	from, to := in.Args[0].Type, in.Results[0].Type
	x := e.flushed(in, from, e.val(in.Args[0]))
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
	t := typ(to)
	r := e.o.Call(t, "llvm."+name+".sat."+suffix(t)+"."+suffix(x.T), x)
	if from == ir.F64 || to.Bits() == 64 {
		r = e.sel(e.fcmp("uno", x, x), k(r, -1<<(to.Bits()-1)), r)
	}
	e.result(in, r)
}

func emitIToF(e *emitter, in *ir.Inst) {
	from, to := in.Args[0].Type, in.Results[0].Type
	name := "sitofp"
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
			e.result(in, e.conv("fptrunc", f, "half"))
		} else {
			e.result(in, e.narrowBF16(f))
		}
	default:
		e.result(in, e.conv(name, x, typ(to)))
	}
}

// oddIToF makes a double of an integer, rounded to odd if it does not fit.
func (e *emitter) oddIToF(name string, x ll.Val) ll.Val {
	d := e.conv(name, x, "double")
	if bitsOf(x.T) < 64 {
		return d
	}
	// Clear the low bits and make the last kept one sticky before converting instead: 11 bits may be lost.
	some := e.conv("zext", e.cmp("ne", e.op2("and", x, k(x, 0x7ff)), k(x, 0)), "i64")
	big := e.op2("or", e.op2("and", x, k(x, ^0x7ff)), e.op2("shl", some, k(x, 11)))
	size := x
	if name == "sitofp" {
		size = e.o.Call(x.T, "llvm.abs.i64", x, ll.Int("i1", 0))
	}
	return e.sel(e.cmp("uge", size, k(x, 1<<53)), e.conv(name, big, "double"), d)
}

// oddF32 rounds doubles to f32, to odd: rounding once more to a narrower type is then as if done once.
func (e *emitter) oddF32(d ll.Val) ll.Val {
	f := e.conv("fptrunc", d, "float")
	back := e.conv("fpext", f, "double")
	db, bb := e.bits(d), e.bits(back)
	mask := int64(1<<63 - 1)
	above := e.cmp("ugt", e.op2("and", bb, k(bb, mask)), e.op2("and", db, k(db, mask)))
	differs := e.fcmp("one", back, d)
	fb := e.bits(f)
	odd := e.op2("or", e.sel(above, e.op2("sub", fb, k(fb, 1)), fb), k(fb, 1))
	return e.cast(e.sel(differs, odd, fb), "float")
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
	e.result(in, e.conv("fpext", x, typ(to)))
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
		b := e.bits(r)
		f := emit.Formats[to]
		nan := e.cmp("ugt", e.op2("and", b, k(b, int64(f.Sign-1))), k(b, int64(f.Inf)))
		neg := e.op2("and", e.cmp("slt", b, k(b, 0)), e.not(nan))
		r = e.cast(e.sel(neg, k(b, 0), b), r.T)
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
	bound, less := uint64(0x380ffffff0000000), "olt" // 2^-126 - 2^-151
	if rnd != ir.RN {
		bound, less = 0x380fffffe0000000, "ole" // 2^-126 - 2^-150
	}
	tiny := e.fcmp(less, e.intr("fabs", x), fc(ir.F64, bound))
	b := e.bits(r)
	return e.sel(tiny, e.cast(e.op2("and", b, k(b, -1<<31)), "float"), r)
}

func (e *emitter) narrow(in *ir.Inst, x ll.Val, from, to ir.Type) ll.Val {
	w := emit.Narrower{
		Writer: e.writer(), Conv: e.conv, FCmp: e.fcmp, Bits: e.bits, Fail: e.fail, Odd: e.oddF32, Widen: e.widenBF16, BF16: e.narrowBF16,
		Float:   func(x ll.Val) ll.Val { return e.directedF64ToF32(in, x) },
		Half:    func(x ll.Val) ll.Val { return e.cutToHalf(x, in.Rnd) },
		CutBF16: func(x ll.Val) ll.Val { return e.truncBF16(x, in.Rnd) },
	}
	return w.Narrow(in.Rnd, x, from, to)
}

// cutToHalf rounds to nearest, sees on which side that fell, and takes the neighbour if it is the wrong one.
func (e *emitter) cutToHalf(x ll.Val, rnd ir.Rnd) ll.Val {
	h := e.conv("fptrunc", x, "half")
	back := e.conv("fpext", h, "float")
	return e.neighbour(h, rnd, e.fcmp("ogt", back, x), e.fcmp("olt", back, x))
}

// emitPack puts parts side by side, the first lowest.
func emitPack(e *emitter, in *ir.Inst) {
	to := in.Results[0].Type
	parts := make([]ll.Val, len(in.Args))
	same := len(parts)&(len(parts)-1) == 0
	for i, v := range in.Args {
		parts[i] = e.bits(e.clean(v))
		same = same && parts[i].T == parts[0].T
	}
	if same && bitsOf(parts[0].T) >= 16 {
		e.result(in, e.cast(e.join(parts), typ(to)))
		return
	}
	wide := intType(to.Bits())
	r := ll.Int(wide, 0)
	at := 0
	for _, p := range parts {
		x := e.conv("zext", p, wide)
		if at > 0 {
			x = e.op2("shl", x, k(x, int64(at)))
		}
		r = e.op2("or", r, x)
		at += bitsOf(p.T)
	}
	e.result(in, e.cast(r, typ(to)))
}

// join pairs equal parts until one is left: targets have registers of pairs.
func (e *emitter) join(parts []ll.Val) ll.Val {
	for len(parts) > 1 {
		var next []ll.Val
		vt := ll.Vec(2, parts[0].T)
		for i := 0; i < len(parts); i += 2 {
			v := e.o.Op(vt, "insertelement %s poison, %s, i64 0", vt, parts[i])
			v = e.o.Op(vt, "insertelement %s, %s, i64 1", v, parts[i+1])
			next = append(next, e.cast(v, intType(2*bitsOf(parts[0].T))))
		}
		parts = next
	}
	return parts[0]
}

func emitUnpack(e *emitter, in *ir.Inst) {
	x := e.bits(e.clean(in.Args[0]))
	if len(in.Results) == 2 && in.Results[0].Type.Bits() == in.Results[1].Type.Bits() && in.Results[0].Type.Bits() >= 16 {
		half := intType(bitsOf(x.T) / 2)
		v := e.cast(x, ll.Vec(2, half))
		for i, r := range in.Results {
			e.set(r, e.cast(e.o.Op(half, "extractelement %s, i64 %d", v, i), typ(r.Type)))
		}
		return
	}
	at := 0
	for _, r := range in.Results {
		p := x
		if at > 0 {
			p = e.op2("lshr", x, k(x, int64(at)))
		}
		e.set(r, e.cast(e.toBits(p, r.Type.Bits()), typ(r.Type)))
		at += r.Type.Bits()
	}
}
