package approx

import (
	"math"
	"testing"

	"kudzu/internal/softfloat"
)

// eval evaluates Ops on bit patterns; flush gives the f32 operations the processor's FTZ and DAZ modes.
type eval struct{ flush bool }

func (e eval) env() softfloat.Env { return softfloat.Env{FTZ: e.flush} }

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

var (
	s32 = softfloat.F32
	s64 = softfloat.F64
)

func (e eval) F32(b uint32) uint64          { return uint64(b) }
func (e eval) F64(b uint64) uint64          { return b }
func (e eval) I32(v uint32) uint64          { return uint64(v) }
func (e eval) I64(v uint64) uint64          { return v }
func (e eval) AddF32(a, b uint64) uint64    { return s32.Add(a, b, e.env()) }
func (e eval) SubF32(a, b uint64) uint64    { return s32.Sub(a, b, e.env()) }
func (e eval) MulF32(a, b uint64) uint64    { return s32.Mul(a, b, e.env()) }
func (e eval) DivF32(a, b uint64) uint64    { return s32.Div(a, b, e.env()) }
func (e eval) FmaF32(a, b, c uint64) uint64 { return s32.Fma(a, b, c, e.env()) }
func (e eval) SqrtF32(a uint64) uint64      { return s32.Sqrt(a, e.env()) }
func (e eval) DivF64(a, b uint64) uint64    { return s64.Div(a, b, softfloat.Env{FTZ: e.flush}) }
func (e eval) SqrtF64(a uint64) uint64      { return s64.Sqrt(a, softfloat.Env{FTZ: e.flush}) }
func (e eval) AddI32(a, b uint64) uint64    { return uint64(uint32(a + b)) }
func (e eval) SubI32(a, b uint64) uint64    { return uint64(uint32(a - b)) }
func (e eval) AndI32(a, b uint64) uint64    { return a & b }
func (e eval) OrI32(a, b uint64) uint64     { return a | b }
func (e eval) XorI32(a, b uint64) uint64    { return a ^ b }
func (e eval) ShlI32(a uint64, n uint) uint64 {
	return uint64(uint32(a) << n)
}
func (e eval) ShrI32(a uint64, n uint) uint64 { return uint64(uint32(a) >> n) }
func (e eval) SarI32(a uint64, n uint) uint64 { return uint64(uint32(int32(a) >> n)) }
func (e eval) AndI64(a, b uint64) uint64      { return a & b }
func (e eval) AsI32(a uint64) uint64          { return a }
func (e eval) AsF32(a uint64) uint64          { return a }
func (e eval) AsI64(a uint64) uint64          { return a }
func (e eval) AsF64(a uint64) uint64          { return a }
func (e eval) LtF32(a, b uint64) uint64       { return flag(s32.Compare(a, b, e.flush) == softfloat.Less) }
func (e eval) EqF32(a, b uint64) uint64       { return flag(s32.Compare(a, b, e.flush) == softfloat.Equal) }
func (e eval) NaNF32(a uint64) uint64         { return flag(s32.IsNaN(a)) }
func (e eval) LtF64(a, b uint64) uint64       { return flag(s64.Compare(a, b, e.flush) == softfloat.Less) }
func (e eval) NaNF64(a uint64) uint64         { return flag(s64.IsNaN(a)) }
func (e eval) LtS32(a, b uint64) uint64       { return flag(int32(a) < int32(b)) }
func (e eval) LtU32(a, b uint64) uint64       { return flag(uint32(a) < uint32(b)) }
func (e eval) EqI32(a, b uint64) uint64       { return flag(uint32(a) == uint32(b)) }
func (e eval) Or(a, b uint64) uint64          { return a | b }
func (e eval) And(a, b uint64) uint64         { return a & b }
func (e eval) Select(c, a, b uint64) uint64 {
	if c != 0 {
		return a
	}
	return b
}
func (e eval) S32ToF32(a uint64) uint64 { return s32.FromInt(a, 32, true, softfloat.Env{}) }
func (e eval) F16ToF32(a uint64) uint64 {
	return softfloat.F16.Convert(s32, a&0xffff, softfloat.Env{})
}
func (e eval) F32ToF16(a uint64) uint64 {
	if e.flush {
		a = s32.Flush(a)
	}
	return s32.Convert(softfloat.F16, a, softfloat.Env{})
}

func val(x uint64) float64 { return float64(math.Float32frombits(uint32(x))) }

// ulps is the distance in units of the last place of the exact value's f32.
func ulps(got, want float64) float64 {
	if math.Abs(want) > math.MaxFloat32 { // what rounds past the largest value may be it or infinity
		want = math.Copysign(0x1p128, want)
	}
	if math.IsInf(got, 0) {
		got = math.Copysign(0x1p128, got)
	}
	_, exp := math.Frexp(want)
	return math.Abs(got-want) / math.Ldexp(1, max(exp, -125)-24)
}

func rel(got, want float64) float64 { return math.Abs(got-want) / math.Abs(want) }
func absErr(got, want float64) float64 {
	return math.Abs(got - want)
}

type unary struct {
	name  string
	fn    func(b Ops[uint64], x uint64, ftz bool) uint64
	exact func(float64) float64
	err   func(got, want float64) float64
	in    func(float64) bool
	bound float64 // the manual's
	soft  float64 // what we hold ourselves to, 0: the manual's
}

func always(float64) bool     { return true }
func positive(x float64) bool { return x > 0 }

var unaries = []unary{
	{"rcp ulp", Rcp[uint64], func(x float64) float64 { return 1 / x }, ulps, always, 1, 0.5},
	{"sqrt", Sqrt[uint64], math.Sqrt, rel, positive, 0x1p-23, 0x1.0001p-24},
	{"rsqrt", Rsqrt[uint64], func(x float64) float64 { return 1 / math.Sqrt(x) }, rel, positive, math.Exp2(-22.9), math.Exp2(-23.2)},
	{"sin 2pi", Sin[uint64], math.Sin, absErr, func(x float64) bool { return math.Abs(x) <= 2*math.Pi }, math.Exp2(-20.5), 0},
	{"sin 100pi", Sin[uint64], math.Sin, absErr, func(x float64) bool { return math.Abs(x) <= 100*math.Pi }, math.Exp2(-14.7), 0},
	{"cos 2pi", Cos[uint64], math.Cos, absErr, func(x float64) bool { return math.Abs(x) <= 2*math.Pi }, math.Exp2(-20.5), 0},
	{"cos 100pi", Cos[uint64], math.Cos, absErr, func(x float64) bool { return math.Abs(x) <= 100*math.Pi }, math.Exp2(-14.7), 0},
	{"lg2 near 1", Lg2[uint64], math.Log2, absErr, func(x float64) bool { return x > 0.5 && x < 2 }, 0x1p-22, 0x1p-23},
	{"lg2", Lg2[uint64], math.Log2, rel, func(x float64) bool { return x > 0 && (x <= 0.5 || x >= 2) }, 0x1p-22, 0x1p-23},
	{"ex2 ulp", Ex2[uint64], math.Exp2, ulps, always, 2, 1.01},
	{"tanh", func(b Ops[uint64], x uint64, _ bool) uint64 { return Tanh(b, x) }, math.Tanh, rel, func(x float64) bool { return x != 0 }, 0x1p-11, 0x1p-22},
}

// sweep calls fn with inputs of all exponents and signs, and around every power of two.
func sweep(fn func(x uint64)) {
	for x := uint64(0); x < 1<<32; x += 30011 {
		fn(x)
	}
	for e := uint64(0); e < 512; e++ {
		for d := int64(-3); d <= 3; d++ {
			fn(uint64(uint32(int64(e<<23) + d)))
		}
	}
}

func flushed(x float64) float64 {
	if math.Abs(x) < 0x1p-126 {
		return math.Copysign(0, x)
	}
	return x
}

func TestBounds(t *testing.T) {
	for _, u := range unaries {
		worst, at := 0.0, uint64(0)
		for _, ftz := range []bool{false, true} {
			sweep(func(x uint64) {
				v := val(x)
				if ftz {
					v = flushed(v)
				}
				if v != v || !u.in(v) || v == 0 {
					return
				}
				want := u.exact(v)
				got := val(u.fn(eval{}, x, ftz))
				if math.IsInf(want, 0) || want == 0 {
					if got != want {
						t.Fatalf("%s %#x: %v, want %v", u.name, x, got, want)
					}
					return
				}
				if ftz && math.Abs(want) < 0x1.00001p-126 {
					return // flushed, or next to it
				}
				if e := u.err(got, want); e > worst {
					worst, at = e, x
				}
			})
		}
		t.Logf("%-10s worst %.4g (2^%.2f) at %#x; bound %.4g", u.name, worst, math.Log2(worst), at, u.bound)
		if worst > u.bound || u.soft != 0 && worst > u.soft {
			t.Errorf("%s: error %g at %#x passes %g or %g", u.name, worst, at, u.bound, u.soft)
		}
	}
}

func TestFlushModeDoesNotMatter(t *testing.T) {
	for _, u := range unaries {
		sweep(func(x uint64) {
			if a, b := u.fn(eval{}, x, true), u.fn(eval{flush: true}, x, true); a != b {
				t.Fatalf("%s %#x: %#x without flush mode, %#x with it", u.name, x, a, b)
			}
		})
	}
	ys := []uint64{0, 1 << 31, 1, 0x7fffff, 0x800000, 0x800001, 0xffffff, 0x3f7fffff, 0x3f800000, 0xbf800001, 0x40490fdb, 0x7e800000, 0x7e800001, 0x7f000000, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x3fffffff, 0x20000000, 0x5f800000}
	pair := func(x, y uint64) {
		for name, fn := range map[string]func(Ops[uint64], uint64, uint64, bool) uint64{"div.approx": Div[uint64], "div.full": DivFull[uint64]} {
			if a, b := fn(eval{}, x, y, true), fn(eval{flush: true}, x, y, true); a != b {
				t.Fatalf("%s %#x %#x: %#x without flush mode, %#x with it", name, x, y, a, b)
			}
		}
	}
	for _, y := range ys {
		for x := uint64(0); x < 1<<32; x += 999983 {
			pair(x, y)
		}
		for _, x := range ys {
			pair(x, y)
		}
	}
}

func TestDivBounds(t *testing.T) {
	full, approx := 0.0, 0.0
	for y := uint64(0); y < 1<<32; y += 1999993 {
		for x := uint64(0); x < 1<<32; x += 4999999 {
			vx, vy := val(x), val(y)
			want := vx / vy
			if want != want || vy == 0 || math.IsInf(vx, 0) || math.IsInf(vy, 0) || vx == 0 {
				continue
			}
			if got := val(DivFull(eval{}, x, y, false)); ulps(got, want) > full {
				full = ulps(got, want)
			}
			if a := math.Abs(vy); a >= 0x1p-126 && a <= 0x1p126 {
				if got := val(Div(eval{}, x, y, false)); ulps(got, want) > approx {
					approx = ulps(got, want)
				}
			}
		}
	}
	t.Logf("div.full %.3f ulp, div.approx %.3f ulp", full, approx)
	if full > 0.51 || approx > 2 {
		t.Errorf("div.full %.3f ulp, div.approx %.3f ulp", full, approx)
	}
}

func TestSpecials(t *testing.T) {
	const inf, ninf, nan, z, nz, sub, nsub = 0x7f800000, 0xff800000, 0x7fffffff, 0, 0x80000000, 0x12345, 0x80012345
	for _, c := range []struct {
		name string
		fn   func(Ops[uint64], uint64, bool) uint64
		ftz  bool
		x, w uint64
	}{
		{"rcp", Rcp[uint64], false, z, inf}, {"rcp", Rcp[uint64], false, nz, ninf}, {"rcp", Rcp[uint64], false, ninf, nz},
		{"rcp", Rcp[uint64], true, sub, inf}, {"rcp", Rcp[uint64], true, 0x7f000000, z}, {"rcp", Rcp[uint64], false, 0x7f000000, 0x400000},
		{"rcp", Rcp[uint64], false, 0x7fc12345, nan},
		{"sqrt", Sqrt[uint64], false, nz, nz}, {"sqrt", Sqrt[uint64], false, ninf, nan}, {"sqrt", Sqrt[uint64], true, nsub, nz}, {"sqrt", Sqrt[uint64], false, inf, inf},
		{"rsqrt", Rsqrt[uint64], false, z, inf}, {"rsqrt", Rsqrt[uint64], false, nz, ninf}, {"rsqrt", Rsqrt[uint64], false, inf, z}, {"rsqrt", Rsqrt[uint64], false, 0xbf800000, nan},
		{"rsqrt", Rsqrt[uint64], true, nsub, ninf},
		{"sin", Sin[uint64], false, nz, nz}, {"sin", Sin[uint64], false, inf, nan}, {"sin", Sin[uint64], true, nsub, nz}, {"sin", Sin[uint64], false, nsub, nsub}, {"sin", Sin[uint64], false, 0x7fc00001, nan},
		{"cos", Cos[uint64], false, nz, one32}, {"cos", Cos[uint64], true, ninf, nan},
		{"lg2", Lg2[uint64], false, z, ninf}, {"lg2", Lg2[uint64], false, nz, ninf}, {"lg2", Lg2[uint64], false, inf, inf}, {"lg2", Lg2[uint64], false, ninf, nan},
		{"lg2", Lg2[uint64], true, sub, ninf}, {"lg2", Lg2[uint64], true, nsub, ninf}, {"lg2", Lg2[uint64], false, nsub, nan}, {"lg2", Lg2[uint64], false, 1, 0xc3150000}, {"lg2", Lg2[uint64], false, one32, 0},
		{"ex2", Ex2[uint64], false, ninf, z}, {"ex2", Ex2[uint64], false, inf, inf}, {"ex2", Ex2[uint64], false, nsub, one32}, {"ex2", Ex2[uint64], false, 0x7fc00001, nan},
		{"ex2", Ex2[uint64], false, 0xc3150000, 1}, {"ex2", Ex2[uint64], true, 0xc3150000, 0}, {"ex2", Ex2[uint64], false, 0x43000000, inf}, {"ex2", Ex2[uint64], true, 0xc2fc0000, 0x800000},
	} {
		if got := c.fn(eval{}, c.x, c.ftz); got != c.w {
			t.Errorf("%s %#x ftz %v = %#x, want %#x", c.name, c.x, c.ftz, got, c.w)
		}
	}
	for x, w := range map[uint64]uint64{z: z, nz: nz, inf: one32, ninf: 0xbf800000, sub: sub, nsub: nsub, 0xffffffff: nan} {
		if got := Tanh(eval{}, x); got != w {
			t.Errorf("tanh %#x = %#x, want %#x", x, got, w)
		}
	}
	// The manual: 0 for a divisor above 2^126, NaN if the dividend is infinite.
	if got := Div(eval{}, 0x7f000000, 0x7f000000, false); got != 0 {
		t.Errorf("2^127 / 2^127 approx = %#x", got)
	}
	if got := Div(eval{}, inf, 0x7f000000, false); got != nan {
		t.Errorf("inf / 2^127 approx = %#x", got)
	}
}

func TestHalves(t *testing.T) {
	worst := map[string]float64{}
	h := func(x uint64) float64 { return val(softfloat.F16.Convert(s32, x, softfloat.Env{})) }
	bf := func(x uint64) float64 { return val(x << 16) }
	for x := uint64(0); x < 1<<16; x++ {
		note := func(name string, e float64) { worst[name] = max(worst[name], e) }
		if v := h(x); v == v {
			if w := math.Exp2(v); w < 65504 && w > 0x1p-14 {
				note("ex2.f16", rel(h(Ex2F16[uint64](eval{}, x)), w))
			}
			note("tanh.f16", absErr(h(TanhF16[uint64](eval{}, x)), math.Tanh(v)))
		} else if Ex2F16[uint64](eval{}, x) != nan16 || TanhF16[uint64](eval{}, x) != nan16 {
			t.Errorf("NaN %#x", x)
		}
		if v := bf(x); v == v {
			if w := math.Exp2(v); w < 0x1.fep127 && w > 0x1p-126 {
				note("ex2.bf16", rel(bf(Ex2BF16[uint64](eval{}, x)), w))
			}
			if v != 0 {
				note("tanh.bf16", rel(bf(TanhBF16[uint64](eval{}, x)), math.Tanh(v)))
			}
		} else if Ex2BF16[uint64](eval{}, x) != nan16 || TanhBF16[uint64](eval{}, x) != nan16 {
			t.Errorf("NaN %#x", x)
		}
	}
	// The manual says 2^-8 for tanh.bf16; the hardware cuts off (recorded) and so do we.
	for name, bound := range map[string]float64{"ex2.f16": math.Exp2(-9.9), "tanh.f16": math.Exp2(-10.987), "ex2.bf16": 0x1p-7, "tanh.bf16": 0x1p-7} {
		t.Logf("%s: 2^%.3f", name, math.Log2(worst[name]))
		if worst[name] > bound || worst[name] == 0 {
			t.Errorf("%s: error 2^%.3f", name, math.Log2(worst[name]))
		}
	}
}

func TestF64(t *testing.T) {
	const inf, nan = 0x7ff0000000000000, nan64
	for x, w := range map[uint64]uint64{0: inf, 1 << 63: inf | 1<<63, 1: inf, inf: 0, inf | 1<<63: 1 << 63, nan: nan, 0x7fd0000100000000: 0, inf | 1: 0, inf | 1<<32: nan} {
		if got := RcpF64[uint64](eval{}, x); got != w {
			t.Errorf("rcp.f64 %#x = %#x, want %#x", x, got, w)
		}
	}
	for x, w := range map[uint64]uint64{0: inf, 1 << 63: inf | 1<<63, 5: inf, inf: 0, inf | 1<<63: nan, nan: nan} {
		if got := RsqrtF64[uint64](eval{}, x, true); got != w {
			t.Errorf("rsqrt.ftz.f64 %#x = %#x, want %#x", x, got, w)
		}
	}
	for x := uint64(0x0010000000000000); x < 0x7fd0000000000000; x += 0x0000123456789abc {
		v := math.Float64frombits(x)
		if e := rel(math.Float64frombits(RcpF64[uint64](eval{}, x)), 1/v); e > 0x1p-19 {
			t.Fatalf("rcp.f64 %v: error %g", v, e)
		}
		if e := rel(math.Float64frombits(RsqrtF64[uint64](eval{}, x, false)), 1/math.Sqrt(v)); e > 0x1p-51 {
			t.Fatalf("rsqrt.f64 %v: error %g", v, e)
		}
	}
}
