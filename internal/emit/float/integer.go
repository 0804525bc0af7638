package float

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// ToInt rounds to an integral value, then converts with clamping. NaN gives 0, or only the top bit for f64 and 64-bit results.
func (w *Writer) ToInt(in *ir.Inst, x ll.Val) ll.Val {
	from, to := in.Args[0].Type, in.Results[0].Type
	x = w.Flushed(in, from, x)
	switch from {
	case ir.BF16:
		x = w.WidenBF16(x)
	case ir.F16:
		x = w.FPExt(x, "float")
	}
	if in.Rnd != ir.RZ {
		x = w.RoundIntegral(x, in.Rnd)
	}
	nan := int64(0)
	if from == ir.F64 || to.Bits() == 64 {
		nan = -1 << (to.Bits() - 1)
	}
	t := x.T.WithElem(emit.Type(to))
	if w.Target.X86 && x.T.Lanes() > 1 {
		return w.clampedToInt(x, t, in.Op == ir.FToS, nan)
	}
	name := "fptosi.sat"
	if in.Op == ir.FToU {
		name = "fptoui.sat"
	}
	r := w.IntrOf(t, name, []ll.Type{t, x.T}, x)
	if nan != 0 {
		r = w.Select(w.FCmp("uno", x, x), r.Int(nan), r)
	}
	return r
}

// clampedToInt is the saturating conversion of a vector in instructions that x86 has for vectors, for LLVM takes fptosi.sat apart
// into lanes there. The least integer is a float, and a maximum with it also turns NaN into it. The largest is a float only of
// enough digits; else what is too large converts to anything, and is replaced.
func (w *Writer) clampedToInt(x ll.Val, t ll.Type, signed bool, nan int64) ll.Val {
	bits, name := t.ElemBits(), ll.Conv("fptoui")
	least, end := x.Float(0), bits // the range ends before 2^end
	if signed {
		least, end, name = x.Float(power(x.T, bits-1)|1<<(x.T.ElemBits()-1)), bits-1, "fptosi"
	}
	y := w.Select(w.FCmp("ogt", x, least), x, least)
	exact := end <= digits(x.T)
	if exact {
		largest := x.Float(power(x.T, end) - 1<<(digits(x.T)-end))
		y = w.Select(w.FCmp("olt", y, largest), y, largest)
	}
	var r ll.Val
	if bits < 32 {
		r = w.Trunc(w.FPToSI(y, "i32"), t.Elem())
	} else {
		r = w.Convert(name, y, t.Elem())
	}
	most := int64(-1)
	if signed {
		most = 1<<(bits-1) - 1
	}
	if !exact {
		r = w.Select(w.FCmp("oge", x, x.Float(power(x.T, end))), r.Int(most), w.Freeze(r))
	}
	if signed == (nan == 0) { // else the maximum gave it
		r = w.Select(w.FCmp("uno", x, x), r.Int(nan), r)
	}
	return r
}

// digits is how many bits a float of t holds.
func digits(t ll.Type) int {
	if t.ElemBits() == 64 {
		return 53
	}
	return 24
}

// power is the bits of 2^n as a float of t.
func power(t ll.Type, n int) uint64 {
	if t.ElemBits() == 64 {
		return uint64(1023+n) << 52
	}
	return uint64(127+n) << 23
}

// OddFromInt makes a double of an integer, rounded to odd if it does not fit; name is sitofp or uitofp.
func (w *Writer) OddFromInt(name ll.Conv, x ll.Val) ll.Val {
	d := w.Convert(name, x, "double")
	if x.T.ElemBits() < 64 {
		return d
	}
	// Clear the low bits and make the last kept one sticky before converting instead: 11 bits may be lost.
	some := w.ZExt(w.ICmp("ne", w.And(x, x.Int(0x7ff)), x.Int(0)), "i64")
	big := w.Or(w.And(x, x.Int(^0x7ff)), w.Shl(some, x.Int(11)))
	size := x
	if name == "sitofp" {
		size = w.Intr("abs", x, ll.Int("i1", 0))
	}
	return w.Select(w.ICmp("uge", size, x.Int(1<<53)), w.Convert(name, big, "double"), d)
}

// OddF32 rounds doubles to f32, to odd: rounding once more to a narrower type is then as if done once.
func (w *Writer) OddF32(d ll.Val) ll.Val {
	f := w.FPTrunc(d, "float")
	back := w.FPExt(f, "double")
	db, bb := w.Bits(d), w.Bits(back)
	mask := int64(1<<63 - 1)
	above := w.ICmp("ugt", w.And(bb, bb.Int(mask)), w.And(db, db.Int(mask)))
	differs := w.FCmp("one", back, d)
	fb := w.Bits(f)
	odd := w.Or(w.Select(above, w.Sub(fb, fb.Int(1)), fb), fb.Int(1))
	return w.Recast(w.Select(differs, odd, fb), "float")
}

// DirectedFromLong rounds an integer of 64 bits to f64 as in says: both halves are exact, and add rounds their sum.
func (w *Writer) DirectedFromLong(name ll.Conv, x ll.Val, add func(high, low ll.Val) ll.Val) ll.Val {
	low := w.UIToFP(w.And(x, x.Int(0xffffffff)), "double")
	high := w.Convert(name, w.And(x, x.Int(-1<<32)), "double")
	sum := add(high, low)
	return w.Select(w.ICmp("eq", x, x.Int(0)), sum.Float(0), sum) // 0 + 0 has no other sign, but be sure
}

var roundNames = map[ir.Rnd]string{ir.RN: "roundeven", ir.RZ: "trunc", ir.RM: "floor", ir.RP: "ceil"}

// RoundIntegral rounds to an integral number.
func (w *Writer) RoundIntegral(x ll.Val, rnd ir.Rnd) ll.Val {
	name, ok := roundNames[rnd]
	if !ok {
		w.Target.Fail("rounding %s to an integer", rnd)
	}
	return w.Intr(name, x)
}

// Test looks at the bits: testp.
func (w *Writer) Test(in *ir.Inst, x ll.Val) ll.Val {
	f := Formats[in.Args[0].Type]
	b := w.Bits(x)
	mag := w.And(b, b.Int(int64(f.Sign-1)))
	inf, least, zero := b.Int(int64(f.Inf)), b.Int(int64(f.Least)), b.Int(0)
	switch in.Test {
	case ir.TestFinite:
		return w.ICmp("ult", mag, inf)
	case ir.TestInfinite:
		return w.ICmp("eq", mag, inf)
	case ir.TestNumber:
		return w.ICmp("ule", mag, inf)
	case ir.TestNaN:
		return w.ICmp("ugt", mag, inf)
	case ir.TestNormal: // zero counts as normal (recorded on sm_90)
		return w.Or(w.And(w.ICmp("uge", mag, least), w.ICmp("ult", mag, inf)), w.ICmp("eq", mag, zero))
	case ir.TestSubnormal:
		return w.And(w.ICmp("ult", mag, least), w.ICmp("ne", mag, zero))
	}
	w.Target.Fail("testp %s", in.Test)
	return ll.Val{}
}
