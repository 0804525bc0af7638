package lower

import (
	"math"
	"slices"

	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// kindOf is the type an arithmetic instruction computes in.
func (x *inst) kindOf() isa.Type {
	if t := x.Type("type"); t != isa.TypeNone {
		return t
	}
	return x.Type("dtype")
}

// inParts applies fn to the parts of packed integers of type t, and to others as they are.
func (x *inst) inParts(t isa.Type, fn func(args []*ir.Value) *ir.Value, args ...*ir.Value) *ir.Value {
	elem, n := t.Elem()
	if n == 1 || !elem.IsInt() {
		return fn(args)
	}
	parts := slices.Repeat([]ir.Type{irTypes[elem]}, n)
	in := make([][]*ir.Value, len(parts))
	for _, a := range args {
		for i, v := range x.b.EmitN(ir.Unpack, parts, ir.Attr{}, a).Results {
			in[i] = append(in[i], v)
		}
	}
	var out []*ir.Value
	for _, vs := range in {
		out = append(out, fn(vs))
	}
	return x.b.Emit(ir.Pack, ir.I32, ir.Attr{}, out...)
}

// intOrFloat dispatches the mnemonics that both chapters have.
func intOrFloat(integer, float func(*inst)) func(*inst) {
	return func(x *inst) {
		if x.kindOf().OfFloats() {
			float(x)
		} else {
			integer(x)
		}
	}
}

// binary lowers an integer d = a op b, on packed parts too.
func (x *inst) binary(t isa.Type, fn func(a, b *ir.Value) *ir.Value) {
	x.result(x.inParts(t, func(v []*ir.Value) *ir.Value { return fn(v[0], v[1]) }, x.arg("a"), x.arg("b")))
}

func lowerIntAdd(x *inst) {
	t := x.kindOf()
	x.binary(t, func(a, b *ir.Value) *ir.Value {
		switch {
		case !x.Has(isa.ModSat):
			return x.op(ir.Add, a, b)
		case t.OfSigned():
			return x.op(ir.AddSatS, a, b)
		}
		return x.op(ir.Add, x.op(ir.MinU, a, x.op(ir.Not, b)), b) // no more than what is left above b
	})
}

func lowerIntSub(x *inst) {
	t := x.kindOf()
	x.binary(t, func(a, b *ir.Value) *ir.Value {
		switch {
		case !x.Has(isa.ModSat):
			return x.op(ir.Sub, a, b)
		case t.OfSigned():
			return x.op(ir.SubSatS, a, b)
		}
		return x.op(ir.Sub, x.op(ir.MaxU, a, b), b)
	})
}

// product is a×b: the low half, the high half, or all of it.
func (x *inst) product(t isa.Type, a, b *ir.Value) *ir.Value {
	switch {
	case x.Has(isa.ModWide):
		w := 2 * t.Bits()
		return x.op(ir.Mul, x.resize(a, w, t.IsSigned()), x.resize(b, w, t.IsSigned()))
	case x.Has(isa.ModHi) && t.IsSigned():
		return x.op(ir.MulHiS, a, b)
	case x.Has(isa.ModHi):
		return x.op(ir.MulHiU, a, b)
	}
	return x.op(ir.Mul, a, b)
}

func lowerIntMul(x *inst) { x.result(x.product(x.kindOf(), x.arg("a"), x.arg("b"))) }

func lowerIntMad(x *inst) {
	p := x.product(x.kindOf(), x.arg("a"), x.arg("b"))
	op := ir.Add
	if x.Has(isa.ModSat) {
		op = ir.AddSatS
	}
	x.result(x.op(op, p, x.arg("c")))
}

// product24 is the low or high 32 bits of the 48-bit product of the low 24 bits.
func (x *inst) product24(t isa.Type) *ir.Value {
	op := ir.BfeU
	if t.IsSigned() {
		op = ir.BfeS
	}
	a := x.op(op, x.arg("a"), i32(0), i32(24))
	b := x.op(op, x.arg("b"), i32(0), i32(24))
	if x.Mod("mode") != isa.ModHi && !x.Has(isa.ModHi) {
		return x.op(ir.Mul, a, b)
	}
	p := x.op(ir.Mul, x.resize(a, 64, t.IsSigned()), x.resize(b, 64, t.IsSigned()))
	return x.resize(x.op(ir.ShrU, p, i32(16)), 32, false)
}

// lowerClmad is half of the carry-less product of a and b, combined with c.
func lowerClmad(x *inst) {
	a, b, r := x.arg("a"), x.arg("b"), x.arg("c")
	for i := range int64(64) {
		part := a
		switch {
		case x.Mod("mode") == isa.ModLo && i > 0:
			part = x.op(ir.Shl, a, i32(i))
		case x.Mod("mode") == isa.ModHi && i > 0:
			part = x.op(ir.ShrU, a, i32(64-i))
		case x.Mod("mode") == isa.ModHi:
			continue
		}
		bit := x.op(ir.And, x.op(ir.ShrU, b, i32(i)), i64(1))
		r = x.op(ir.Xor, r, x.op(ir.And, part, x.op(ir.Sub, i64(0), bit)))
	}
	x.result(r)
}

func lowerMul24(x *inst) { x.result(x.product24(x.kindOf())) }

func lowerMad24(x *inst) {
	op := ir.Add
	if x.Has(isa.ModSat) {
		op = ir.AddSatS
	}
	x.result(x.op(op, x.product24(x.kindOf()), x.arg("c")))
}

// absDiff is |a-b|, right for every pair because the larger is subtracted from.
func (x *inst) absDiff(signed bool, a, b *ir.Value) *ir.Value {
	lo, hi := ir.MinU, ir.MaxU
	if signed {
		lo, hi = ir.MinS, ir.MaxS
	}
	return x.op(ir.Sub, x.op(hi, a, b), x.op(lo, a, b))
}

func lowerSad(x *inst) {
	d := x.absDiff(x.kindOf().IsSigned(), x.arg("a"), x.arg("b"))
	x.result(x.op(ir.Add, x.arg("c"), d))
}

func lowerIntDiv(x *inst) {
	op := ir.DivU
	if x.kindOf().IsSigned() {
		op = ir.DivS
	}
	x.result(x.op(op, x.arg("a"), x.arg("b")))
}

func lowerRem(x *inst) {
	op := ir.RemU
	if x.kindOf().IsSigned() {
		op = ir.RemS
	}
	x.result(x.op(op, x.arg("a"), x.arg("b")))
}

func lowerIntAbs(x *inst) { x.result(x.op(ir.AbsS, x.arg("a"))) }

func lowerIntNeg(x *inst) {
	x.result(x.inParts(x.kindOf(), func(v []*ir.Value) *ir.Value { return x.op(ir.Neg, v[0]) }, x.arg("a")))
}

func intMinMax(signed, unsigned ir.Op) func(*inst) {
	return func(x *inst) {
		t := x.kindOf()
		op := unsigned
		if t.OfSigned() {
			op = signed
		}
		x.binary(t, func(a, b *ir.Value) *ir.Value {
			v := x.op(op, a, b)
			if x.Has(isa.ModRelu) {
				v = x.op(ir.MaxS, v, constOf(v.Type, 0))
			}
			return v
		})
	}
}

func lowerPopc(x *inst) { x.result(x.b.Emit(ir.Popc, ir.I32, ir.Attr{}, x.arg("a"))) }

func lowerClz(x *inst) { x.result(x.b.Emit(ir.Clz, ir.I32, ir.Attr{}, x.arg("a"))) }

func lowerBrev(x *inst) { x.result(x.op(ir.Brev, x.arg("a"))) }

func lowerBfind(x *inst) {
	a := x.arg("a")
	op := ir.BfindU
	if x.kindOf().IsSigned() {
		op = ir.BfindS
	}
	r := x.b.Emit(op, ir.I32, ir.Attr{}, a)
	if x.Has(isa.ModShiftamt) {
		none := x.icmp(ir.EQ, r, i32(-1))
		r = x.sel(none, r, x.op(ir.Sub, i32(int64(a.Type.Bits()-1)), r))
	}
	x.result(r)
}

func lowerFns(x *inst) {
	offset := x.arg("offset")
	r := x.b.Emit(ir.Fns, ir.I32, ir.Attr{}, x.arg("mask"), x.arg("base"), offset)
	// The least offset is its own negative, and the assembler's search then ends at place 0.
	x.result(x.sel(x.icmp(ir.EQ, offset, i32(math.MinInt32)), i32(0), r))
}

func lowerBfe(x *inst) {
	op := ir.BfeU
	if x.kindOf().IsSigned() {
		op = ir.BfeS
	}
	x.result(x.op(op, x.arg("a"), x.arg("b"), x.arg("c")))
}

func lowerBfi(x *inst) {
	x.result(x.op(ir.Bfi, x.arg("a"), x.arg("b"), x.arg("c"), x.arg("d")))
}

// lowerSzext extends the low b bits of a: a bit field at 0. Width 0 gives 0, 32 or more gives a.
func lowerSzext(x *inst) {
	n := x.arg("b")
	if x.Mod("mode") == isa.ModWrap {
		n = x.op(ir.And, n, i32(31))
	} else {
		n = x.op(ir.MinU, n, i32(32))
	}
	op := ir.BfeU
	if x.kindOf().IsSigned() {
		op = ir.BfeS
	}
	x.result(x.op(op, x.arg("a"), i32(0), n))
}

func lowerBmsk(x *inst) {
	x.result(x.opWith(ir.Bmsk, ir.Attr{Wrap: x.Mod("mode") == isa.ModWrap}, x.arg("a"), x.arg("b")))
}

// signsOf tells which operands of a dot product are signed.
func signsOf(a, b bool) (d ir.Dot) {
	if a {
		d |= ir.DotSignedA
	}
	if b {
		d |= ir.DotSignedB
	}
	return d
}

// dot is who is signed in dp4a and dp2a.
func (x *inst) dot() ir.Dot { return signsOf(x.Type("atype").IsSigned(), x.Type("btype").IsSigned()) }

func lowerDp4a(x *inst) {
	x.result(x.opWith(ir.Dp4a, ir.Attr{Dot: x.dot()}, x.arg("a"), x.arg("b"), x.arg("c")))
}

func lowerDp2a(x *inst) {
	dot := x.dot()
	if x.Mod("mode") == isa.ModHi {
		dot |= ir.DotHigh
	}
	x.result(x.opWith(ir.Dp2a, ir.Attr{Dot: dot}, x.arg("a"), x.arg("b"), x.arg("c")))
}

// Extended precision: the carry flag is an i1 variable of the frame. A subtraction adds the complement, as hardware does, so that it
// leaves 1 where nothing was borrowed; the manual says the reverse, which shows where an addition reads the flag of a subtraction or a
// subtraction that of an addition (recorded).

// usesCarry reports a body that reads or writes the flag.
func usesCarry(b *ptx.Body) bool {
	for i := range b.Insts {
		switch b.Insts[i].Op() {
		case isa.AddCC, isa.SubCC, isa.MadCC, isa.Addc, isa.Subc, isa.Madc:
			return true
		}
	}
	return false
}

// extended is a ± b ± carry. in: reads the flag; out: writes it.
func (x *inst) extended(add bool, a, b *ir.Value, in, out bool) {
	op, flag := ir.Sub, ir.BorrowSub
	if add {
		op, flag = ir.Add, ir.CarryAdd
	}
	c := ir.ConstInt(ir.I1, 0)
	r := x.op(op, a, b)
	if in {
		if c = x.read(x.fr.cc); !add {
			c = x.not(c)
		}
		r = x.op(op, r, x.resize(c, r.Type.Bits(), false))
	}
	var f *ir.Value
	if out {
		if f = x.b.Emit(flag, ir.I1, ir.Attr{}, a, b, c); !add {
			f = x.not(f)
		}
	}
	x.result(r)
	if out {
		x.setVar(x.fr.cc, isa.Pred, f)
	}
}

func lowerAddCC(x *inst) { x.extended(true, x.arg("a"), x.arg("b"), false, true) }

func lowerAddc(x *inst) { x.extended(true, x.arg("a"), x.arg("b"), true, x.Has(isa.ModCc)) }

func lowerSubCC(x *inst) { x.extended(false, x.arg("a"), x.arg("b"), false, true) }

func lowerSubc(x *inst) { x.extended(false, x.arg("a"), x.arg("b"), true, x.Has(isa.ModCc)) }

func lowerMadCC(x *inst) {
	x.extended(true, x.product(x.kindOf(), x.arg("a"), x.arg("b")), x.arg("c"), false, true)
}

func lowerMadc(x *inst) {
	x.extended(true, x.product(x.kindOf(), x.arg("a"), x.arg("b")), x.arg("c"), true, x.Has(isa.ModCc))
}
