package interp

import (
	"kudzu/internal/approx"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/softfloat"
)

// floatFormat is the softfloat of a scalar type, nil if it is not one.
func floatFormat(t isa.Type) *softfloat.Format { return formats[t] }

var formats = [isa.NumTypes]*softfloat.Format{
	isa.F16: softfloat.F16, isa.BF16: softfloat.BF16, isa.F32: softfloat.F32, isa.F64: softfloat.F64, isa.TF32: softfloat.TF32,
	isa.E4M3: softfloat.E4M3, isa.E5M2: softfloat.E5M2, isa.E2M3: softfloat.E2M3, isa.E3M2: softfloat.E3M2, isa.E2M1: softfloat.E2M1,
	isa.UE8M0: softfloat.UE8M0, isa.UE4M3: softfloat.UE4M3,
}

// roundMode is the mode a word names; to nearest even where there is none.
func roundMode(m isa.Mod) softfloat.Mode {
	switch m {
	case isa.ModRz, isa.ModRzi:
		return softfloat.RZ
	case isa.ModRm, isa.ModRmi:
		return softfloat.RM
	case isa.ModRp, isa.ModRpi:
		return softfloat.RP
	case isa.ModRna:
		return softfloat.RNA
	}
	return softfloat.RN
}

// floatEnv is the rounding and flushing the modifiers ask for.
func (d *decoder) floatEnv() softfloat.Env {
	return softfloat.Env{Mode: roundMode(d.in.Mod("rnd")), FTZ: d.has(isa.ModFtz), Sat: d.has(isa.ModSat)}
}

// floatOp is the format of an instruction and how its operations are lifted to packed types.
type floatOp struct {
	f     *softfloat.Format
	width int // of the container: 16 in pairs, 32 in pairs, or 0
}

func (d *decoder) floatOp() floatOp {
	one, n := d.typ().Elem()
	op := floatOp{f: floatFormat(one)}
	if op.f == nil {
		d.bad("type %s of %s", d.typ(), d.spelling())
	}
	if n > 1 {
		op.width = one.Bits()
	}
	return op
}

func (o floatOp) one(f func(a uint64) uint64) func(a uint64) uint64 {
	if o.width == 16 {
		return halves1(f)
	}
	return f
}

func (o floatOp) two(f func(a, b uint64) uint64) func(a, b uint64) uint64 {
	switch o.width {
	case 16:
		return halves2(f)
	case 32:
		return words2(f)
	}
	return f
}

func (o floatOp) three(f func(a, b, c uint64) uint64) func(a, b, c uint64) uint64 {
	switch o.width {
	case 16:
		return halves3(f)
	case 32:
		return words3(f)
	}
	return f
}

func decodeFloatAdd(d *decoder) step { return d.addSub((*softfloat.Format).Add) }
func decodeFloatSub(d *decoder) step { return d.addSub((*softfloat.Format).Sub) }

func (d *decoder) addSub(op func(f *softfloat.Format, a, b uint64, e softfloat.Env) uint64) step {
	e := d.floatEnv()
	if at := d.in.Type("atype"); at != isa.TypeNone { // mixed precision: d, a, c with a widened exactly
		f := floatFormat(at)
		dst, a, c := d.dst("d"), d.src("a"), d.src("c")
		return step{lane: func(t *thread) {
			t.r[dst] = op(softfloat.F32, f.Convert(softfloat.F32, a.get(t), softfloat.Env{}), c.get(t), e)
		}}
	}
	o := d.floatOp()
	return d.bin(o.two(func(a, b uint64) uint64 { return op(o.f, a, b, e) }))
}

func decodeFloatMul(d *decoder) step {
	o, e := d.floatOp(), d.floatEnv()
	return d.bin(o.two(func(a, b uint64) uint64 { return o.f.Mul(a, b, e) }))
}

// decodeFma is fma, and mad on floats: the same since sm_20.
func decodeFma(d *decoder) step {
	e := d.floatEnv()
	if at := d.in.OptType("atype"); at != isa.TypeNone {
		f := floatFormat(at)
		wide := func(x uint64) uint64 { return f.Convert(softfloat.F32, x, softfloat.Env{}) }
		return d.tern(func(a, b, c uint64) uint64 { return softfloat.F32.Fma(wide(a), wide(b), c, e) })
	}
	o := d.floatOp()
	relu, oob := d.has(isa.ModRelu), d.has(isa.ModOob)
	return d.tern(o.three(func(a, b, c uint64) uint64 {
		if oob && (isOOB(a) || isOOB(b)) {
			return 0
		}
		r := o.f.Fma(a, b, c, e)
		if relu {
			r = o.f.Relu(r)
		}
		return r
	}))
}

// isOOB recognises the NaN that tensor copies fill with outside the tensor, of either sign.
func isOOB(x uint64) bool { return x&0x7fff == oobNaN }

func decodeFloatDiv(d *decoder) step {
	e := d.floatEnv()
	ftz := e.FTZ
	switch {
	case d.has(isa.ModApprox):
		return d.bin(func(a, b uint64) uint64 { return approx.Div(soft{}, a, b, ftz) })
	case d.has(isa.ModFull):
		return d.bin(func(a, b uint64) uint64 { return approx.DivFull(soft{}, a, b, ftz) })
	}
	o := d.floatOp()
	return d.bin(func(a, b uint64) uint64 { return o.f.Div(a, b, e) })
}

// signNaN is what neg and abs make of a NaN: they are additions on hardware, which keep the sign of an f64 NaN and give the
// canonical NaN otherwise (recorded for f32 and f64).
func signNaN(f *softfloat.Format, x uint64) (uint64, bool) {
	switch {
	case !f.IsNaN(x):
		return x, false
	case f.Propagates():
		return f.Quiet(x), true
	}
	return f.CanonicalNaN(), true
}

func decodeFloatAbs(d *decoder) step { return d.signOp((*softfloat.Format).Abs) }
func decodeFloatNeg(d *decoder) step { return d.signOp((*softfloat.Format).Neg) }

func (d *decoder) signOp(op func(f *softfloat.Format, x uint64) uint64) step {
	o, ftz := d.floatOp(), d.has(isa.ModFtz)
	return d.un(o.one(func(a uint64) uint64 {
		if nan, ok := signNaN(o.f, a); ok {
			return nan
		}
		if ftz {
			a = o.f.Flush(a)
		}
		return op(o.f, a)
	}))
}

func decodeFloatMin(d *decoder) step { return d.floatPick((*softfloat.Format).Min) }
func decodeFloatMax(d *decoder) step { return d.floatPick((*softfloat.Format).Max) }

func (d *decoder) floatPick(pick func(f *softfloat.Format, a, b uint64, m softfloat.MinMax) uint64) step {
	o := d.floatOp()
	m := softfloat.MinMax{FTZ: d.has(isa.ModFtz), NaN: d.has(isa.ModNaN), XorSign: d.has(isa.ModXorsign)}
	abs := d.has(isa.ModAbs) && !m.XorSign
	two := func(a, b uint64) uint64 {
		if abs {
			a, b = o.f.Abs(a), o.f.Abs(b)
		}
		return pick(o.f, a, b, m)
	}
	if d.present("c") {
		return d.tern(func(a, b, c uint64) uint64 { return two(two(a, b), c) })
	}
	return d.bin(o.two(two))
}

func decodeRcp(d *decoder) step {
	e, f := d.floatEnv(), floatFormat(d.typ())
	ftz := e.FTZ
	switch {
	case d.has(isa.ModApprox) && f == softfloat.F64:
		return d.un(func(a uint64) uint64 { return approx.RcpF64(soft{}, a) })
	case d.has(isa.ModApprox):
		return d.un(func(a uint64) uint64 { return approx.Rcp(soft{}, a, ftz) })
	}
	return d.un(func(a uint64) uint64 { return f.Rcp(a, e) })
}

func decodeSqrt(d *decoder) step {
	e, f := d.floatEnv(), floatFormat(d.typ())
	if d.has(isa.ModApprox) {
		return d.un(func(a uint64) uint64 { return approx.Sqrt(soft{}, a, e.FTZ) })
	}
	return d.un(func(a uint64) uint64 { return f.Sqrt(a, e) })
}

func decodeRsqrt(d *decoder) step {
	ftz := d.has(isa.ModFtz)
	if d.typ() == isa.F64 {
		return d.un(func(a uint64) uint64 { return approx.RsqrtF64(soft{}, a, ftz) })
	}
	return d.un(func(a uint64) uint64 { return approx.Rsqrt(soft{}, a, ftz) })
}

// approx32 is a unary .approx function of f32.
func approx32(fn func(b approx.Ops[uint64], x uint64, ftz bool) uint64) decodeFn {
	return func(d *decoder) step {
		ftz := d.has(isa.ModFtz)
		return d.un(func(a uint64) uint64 { return fn(soft{}, a, ftz) })
	}
}

func decodeEx2(d *decoder) step {
	o := d.floatOp()
	switch o.f {
	case softfloat.F16:
		return d.un(o.one(func(a uint64) uint64 { return approx.Ex2F16(soft{}, a) }))
	case softfloat.BF16:
		return d.un(o.one(func(a uint64) uint64 { return approx.Ex2BF16(soft{}, a) }))
	}
	return approx32(approx.Ex2[uint64])(d)
}

func decodeTanh(d *decoder) step {
	o := d.floatOp()
	switch o.f {
	case softfloat.F16:
		return d.un(o.one(func(a uint64) uint64 { return approx.TanhF16(soft{}, a) }))
	case softfloat.BF16:
		return d.un(o.one(func(a uint64) uint64 { return approx.TanhBF16(soft{}, a) }))
	}
	return d.un(func(a uint64) uint64 { return approx.Tanh(soft{}, a) })
}

// decodeTestp tests a property of a value.
func decodeTestp(d *decoder) step {
	f := floatFormat(d.typ())
	var test func(x uint64) bool
	switch d.in.Mod("op") {
	case isa.ModFinite:
		test = func(x uint64) bool { return !f.IsNaN(x) && !f.IsInf(x) }
	case isa.ModInfinite:
		test = f.IsInf
	case isa.ModNumber:
		test = func(x uint64) bool { return !f.IsNaN(x) }
	case isa.ModNotanumber:
		test = f.IsNaN
	case isa.ModNormal:
		test = func(x uint64) bool { return !f.IsNaN(x) && !f.IsInf(x) && !f.IsSubnormal(x) } // zeros are normal: recorded
	case isa.ModSubnormal:
		test = f.IsSubnormal
	default:
		d.bad("testp%s", d.in.Mod("op"))
	}
	dst, a := d.dst("p"), d.src("a")
	return step{lane: func(t *thread) { t.r[dst] = bit(test(a.get(t))) }}
}

// bit is a predicate's value.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// decodeCopysign puts a's sign on b's magnitude.
func decodeCopysign(d *decoder) step {
	f := floatFormat(d.typ())
	return d.bin(func(a, b uint64) uint64 {
		if f.IsNeg(a) {
			return f.Neg(f.Abs(b))
		}
		return f.Abs(b)
	})
}
