package softfloat

import (
	"math"
	"math/big"
	"math/rand"
	"sort"
	"testing"
)

// The oracle is exact rational arithmetic (math/big), rounded by a second method: nearest by Rat.Float32/64 or by searching
// the sorted list of all values, then one step where the mode asks for it.

type oracle struct {
	f    *Format
	vals []uint64   // non-negative finite values in order, small formats
	rats []*big.Rat // the same as rationals
}

var oracles = map[*Format]*oracle{}

func newOracle(f *Format) *oracle {
	if o := oracles[f]; o != nil {
		return o
	}
	o := &oracle{f: f}
	oracles[f] = o
	if f.Bits() <= 16 {
		for x := uint64(0); x <= f.max; x++ {
			o.vals = append(o.vals, x<<f.Shift)
			o.rats = append(o.rats, toRat(f, x<<f.Shift))
		}
	}
	return o
}

func toRat(f *Format, x uint64) *big.Rat {
	n := f.unpack(x)
	r := new(big.Rat).SetInt(new(big.Int).SetUint64(n.sig))
	p := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(n.exp, -n.exp))))
	if n.exp < 0 {
		p.Inv(p)
	}
	r.Mul(r, p)
	if n.neg {
		r.Neg(r)
	}
	return r
}

// bracket finds the neighbours lo <= |r| of magnitude, as bit patterns; exact when equal. Past the largest value lo is it.
func (o *oracle) bracket(mag *big.Rat) (lo uint64, exact, over bool) {
	f := o.f
	if o.vals != nil {
		i := sort.Search(len(o.rats), func(i int) bool { return o.rats[i].Cmp(mag) > 0 }) - 1
		return o.vals[i], o.rats[i].Cmp(mag) == 0, i == len(o.rats)-1 && o.rats[i].Cmp(mag) < 0
	}
	var b uint64
	step := uint64(1) << f.Shift
	if f != F64 {
		v, _ := mag.Float32()
		b = uint64(math.Float32bits(v)) &^ (step - 1)
	} else {
		v, _ := mag.Float64()
		b = math.Float64bits(v)
	}
	top := f.max << f.Shift
	if f.IsInf(b) {
		b = top
	}
	for toRat(f, b).Cmp(mag) > 0 {
		b -= step
	}
	c := toRat(f, b).Cmp(mag)
	return b, c == 0, b == top && c < 0
}

func (o *oracle) round(r *big.Rat, mode Mode) uint64 {
	f := o.f
	neg := r.Sign() < 0
	mag := new(big.Rat).Abs(r)
	lo, exact, over := o.bracket(mag)
	if exact {
		return f.sign(neg) | lo
	}
	step := uint64(1) << f.Shift
	up := false
	switch mode {
	case RM:
		up = neg
	case RP:
		up = !neg
	case RN, RNA:
		next := new(big.Rat)
		if over { // the value after the largest, if the format went on
			next.Sub(toRat(f, lo), toRat(f, lo-step))
			next.Add(next, toRat(f, lo))
		} else {
			next.Set(toRat(f, lo+step))
		}
		mid := next.Add(next, toRat(f, lo))
		mid.Quo(mid, big.NewRat(2, 1))
		c := mag.Cmp(mid)
		up = c > 0 || c == 0 && (mode == RNA || lo>>f.Shift&1 != 0)
	}
	if !up {
		return f.sign(neg) | lo
	}
	if over {
		return f.overflow(neg, &Env{Mode: mode})
	}
	return f.sign(neg) | (lo + step)
}

// pick gives operands with many special and colliding exponents.
func pick(r *rand.Rand, f *Format) uint64 {
	mask := uint64(1)<<(f.Bits()-1)<<1 - 1
	x := r.Uint64() & mask
	switch r.Intn(8) {
	case 0:
		x &= f.signBit() | f.fracMask() // zero and subnormal
	case 1:
		x &^= f.fracMask()
	case 2:
		x = x&(f.signBit()|f.fracMask()) | uint64(f.Bias-2+r.Intn(5))<<f.Frac
	case 3:
		x = x&f.signBit() | f.max - uint64(r.Intn(3))
	case 4:
		x |= f.fracMask() &^ uint64(r.Intn(4))
	}
	return x << f.Shift
}

func finite(f *Format, xs ...uint64) bool {
	for _, x := range xs {
		if f.IsNaN(x) || f.IsInf(x) {
			return false
		}
	}
	return true
}

func TestArithmeticAgainstRationals(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for _, f := range []*Format{F16, BF16, F32, F64, E4M3, E5M2, TF32} {
		o := newOracle(f)
		for i := 0; i < 1000; i++ {
			a, b, c := pick(r, f), pick(r, f), pick(r, f)
			if !finite(f, a, b, c) {
				continue
			}
			mode := Mode(r.Intn(int(RS)))
			e := Env{Mode: mode}
			ra, rb, rc := toRat(f, a), toRat(f, b), toRat(f, c)
			check := func(name string, exact *big.Rat, got uint64) {
				t.Helper()
				want := o.round(exact, mode)
				if exact.Sign() == 0 {
					got, want = f.Abs(got), f.Abs(want)
				} else if f.IsZero(want) {
					want = f.sign(exact.Sign() < 0)
				}
				if got != want {
					t.Fatalf("%s.%s mode %d: %#x %#x %#x = %#x, want %#x", f.Name, name, mode, a, b, c, got, want)
				}
			}
			check("add", new(big.Rat).Add(ra, rb), f.Add(a, b, e))
			check("sub", new(big.Rat).Sub(ra, rb), f.Sub(a, b, e))
			p := new(big.Rat).Mul(ra, rb)
			check("mul", p, f.Mul(a, b, e))
			check("fma", new(big.Rat).Add(p, rc), f.Fma(a, b, c, e))
			if rb.Sign() != 0 {
				check("div", new(big.Rat).Quo(ra, rb), f.Div(a, b, e))
			}
		}
	}
}

// A root is right if its square and those of its neighbours stand where the mode says.
func TestSqrt(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for _, f := range []*Format{F16, BF16, F32, F64} {
		for i := 0; i < 3000; i++ {
			a := f.Abs(pick(r, f))
			if !finite(f, a) || f.IsZero(a) {
				continue
			}
			x := toRat(f, a)
			lo := f.Sqrt(a, Env{Mode: RZ})
			sq := func(b uint64) *big.Rat { v := toRat(f, b); return v.Mul(v, v) }
			if sq(lo).Cmp(x) > 0 || sq(lo+1).Cmp(x) <= 0 {
				t.Fatalf("%s sqrt.rz %#x = %#x", f.Name, a, lo)
			}
			exact := sq(lo).Cmp(x) == 0
			hi := lo + 1
			if exact {
				hi = lo
			}
			if got := f.Sqrt(a, Env{Mode: RP}); got != hi {
				t.Fatalf("%s sqrt.rp %#x = %#x want %#x", f.Name, a, got, hi)
			}
			mid := new(big.Rat).Add(toRat(f, lo), toRat(f, hi))
			mid.Quo(mid, big.NewRat(2, 1))
			want := lo
			if mid.Mul(mid, mid).Cmp(x) < 0 {
				want = hi
			}
			if got := f.Sqrt(a, Env{}); got != want {
				t.Fatalf("%s sqrt.rn %#x = %#x want %#x", f.Name, a, got, want)
			}
		}
	}
}

func TestConvertEverySmallValueToEveryFormat(t *testing.T) {
	for _, f := range Formats {
		if f.Bits() > 16 {
			continue
		}
		for _, g := range Formats {
			if g == UE8M0 || g == UE4M3 {
				continue
			}
			o := newOracle(g)
			step := uint64(1)
			if f.Bits() == 16 { // a step prime to the patterns; every value takes half a minute
				step = 37
			}
			for x := uint64(0); x < 1<<f.Bits(); x += step {
				for mode := RN; mode < RS; mode++ {
					got := f.Convert(g, x, Env{Mode: mode})
					switch {
					case f.IsNaN(x):
						if g.NaN && !g.IsNaN(got) {
							t.Fatalf("%s to %s: NaN %#x gives %#x", f.Name, g.Name, x, got)
						}
					case f.IsInf(x):
						if g.Inf && !g.IsInf(got) {
							t.Fatalf("%s to %s: inf gives %#x", f.Name, g.Name, got)
						}
					default:
						if want := o.round(toRat(f, x), mode); g.Abs(got) != g.Abs(want) || g.IsNeg(got) != f.IsNeg(x) {
							t.Fatalf("%s to %s mode %d: %#x gives %#x, want %#x", f.Name, g.Name, mode, x, got, want)
						}
					}
				}
			}
		}
	}
}

func TestConvertWide(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	for _, f := range []*Format{F32, F64} {
		for _, g := range []*Format{F16, BF16, F32, F64, TF32, E4M3, E5M2, E2M3, E3M2, E2M1} {
			o := newOracle(g)
			for i := 0; i < 1000; i++ {
				x := pick(r, f)
				if i%2 == 0 { // near the target's range
					e := uint64(f.Bias + r.Intn(2*g.Bias+4) - g.Bias - 2)
					x = x&^(uint64(f.expMask())<<f.Frac) | e<<f.Frac
				}
				if !finite(f, x) {
					continue
				}
				mode := Mode(r.Intn(int(RS)))
				if got, want := f.Convert(g, x, Env{Mode: mode}), o.round(toRat(f, x), mode); g.Abs(got) != g.Abs(want) || g.IsNeg(got) != f.IsNeg(x) {
					t.Fatalf("%s to %s mode %d: %#x gives %#x, want %#x", f.Name, g.Name, mode, x, got, want)
				}
			}
		}
	}
}

func TestToInt(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	for _, f := range []*Format{F16, BF16, F32, F64} {
		for i := 0; i < 20000; i++ {
			x := pick(r, f)
			if i%2 == 0 {
				x = x&^(uint64(f.expMask())<<f.Frac) | uint64(min(f.Bias-3+r.Intn(70), f.expMask()-1))<<f.Frac
			}
			if !finite(f, x) {
				continue
			}
			typ := Int{Width: []uint{8, 16, 32, 64}[r.Intn(4)], Signed: r.Intn(2) == 0}
			mode := Mode(r.Intn(int(RS)))
			v := roundRat(toRat(f, x), mode)
			lo, hi := big.NewInt(0), new(big.Int).Lsh(big.NewInt(1), typ.Width)
			if typ.Signed {
				hi.Rsh(hi, 1)
				lo.Neg(hi)
			}
			hi.Sub(hi, big.NewInt(1))
			if v.Cmp(lo) < 0 {
				v = lo
			}
			if v.Cmp(hi) > 0 {
				v = hi
			}
			want := v.Uint64()
			if v.Sign() < 0 {
				want = uint64(v.Int64())
			}
			want &= uint64(1)<<(typ.Width-1)<<1 - 1
			if got := f.ToInt(x, typ, Env{Mode: mode}); got != want {
				t.Fatalf("%s %#x to %+v mode %d: %#x, want %#x", f.Name, x, typ, mode, got, want)
			}
			if got := f.RoundInt(x, Env{Mode: mode}); finite(f, got) && toRat(f, got).Cmp(new(big.Rat).SetInt(roundRat(toRat(f, x), mode))) != 0 {
				t.Fatalf("%s round %#x mode %d: %#x", f.Name, x, mode, got)
			}
		}
	}
}

func roundRat(r *big.Rat, mode Mode) *big.Int {
	fl := new(big.Int).Div(r.Num(), r.Denom()) // Euclidean: floor for a positive divisor
	rest := new(big.Rat).Sub(r, new(big.Rat).SetInt(fl))
	if rest.Sign() == 0 {
		return fl
	}
	c := rest.Cmp(big.NewRat(1, 2))
	up := false
	switch mode {
	case RN:
		up = c > 0 || c == 0 && fl.Bit(0) == 1
	case RNA:
		up = c > 0 || c == 0 && r.Sign() > 0
	case RZ:
		up = r.Sign() < 0
	case RP:
		up = true
	}
	if up {
		fl.Add(fl, big.NewInt(1))
	}
	return fl
}

func TestFromInt(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	for _, f := range []*Format{F16, BF16, F32, F64} {
		o := newOracle(f)
		for i := 0; i < 10000; i++ {
			v := r.Uint64() >> r.Intn(64)
			if r.Intn(2) == 0 {
				v = -v
			}
			mode := Mode(r.Intn(int(RS)))
			want := o.round(new(big.Rat).SetInt(new(big.Int).SetInt64(int64(v))), mode)
			if got := f.FromInt(v, 64, true, Env{Mode: mode}); got != want {
				t.Fatalf("%s from s64 %#x mode %d: %#x want %#x", f.Name, v, mode, got, want)
			}
			want = o.round(new(big.Rat).SetInt(new(big.Int).SetUint64(v&0xffff)), mode)
			if got := f.FromInt(v, 16, false, Env{Mode: mode}); got != want {
				t.Fatalf("%s from u16 %#x mode %d: %#x want %#x", f.Name, v, mode, got, want)
			}
		}
	}
}

// The fast ways must agree with the slow way, FTZ and Sat included.
func TestFastAgreesWithSlow(t *testing.T) {
	r := rand.New(rand.NewSource(6))
	slow := *F32 // a copy is another format to the fast paths
	for i := 0; i < 150000; i++ {
		a, b, c := pick(r, F32), pick(r, F32), pick(r, F32)
		e := Env{FTZ: r.Intn(2) == 0, Sat: r.Intn(4) == 0}
		for _, p := range []struct {
			name      string
			got, want uint64
		}{
			{"add", F32.Add(a, b, e), slow.Add(a, b, e)},
			{"mul", F32.Mul(a, b, e), slow.Mul(a, b, e)},
			{"div", F32.Div(a, b, e), slow.Div(a, b, e)},
			{"fma", F32.Fma(a, b, c, e), slow.Fma(a, b, c, e)},
			{"sqrt", F32.Sqrt(a, e), slow.Sqrt(a, e)},
		} {
			if p.got != p.want {
				t.Fatalf("%s %#x %#x %#x %+v: fast %#x, slow %#x", p.name, a, b, c, e, p.got, p.want)
			}
		}
	}
}

func TestSpecials(t *testing.T) {
	inf, nan := F32.Infinity(false), uint64(0x7fc12345)
	for _, c := range []struct {
		what      string
		got, want uint64
	}{
		{"inf-inf", F32.Sub(inf, inf, Env{}), 0x7fffffff},
		{"0*inf", F32.Mul(0, inf, Env{}), 0x7fffffff},
		{"nan+1", F32.Add(nan, F32.One(), Env{}), 0x7fffffff},
		{"nan sat", F32.Add(nan, F32.One(), Env{Sat: true}), 0},
		{"-1 sat", F32.Add(0xbf800000, 0, Env{Sat: true}), 0},
		{"2 sat", F32.Add(0x40000000, 0, Env{Sat: true}), F32.One()},
		{"x-x", F32.Sub(0x40000000, 0x40000000, Env{}), 0},
		{"x-x rm", F32.Sub(0x40000000, 0x40000000, Env{Mode: RM}), 1 << 31},
		{"-0 + -0", F32.Add(1<<31, 1<<31, Env{}), 1 << 31},
		{"ftz in", F32.Add(1, F32.Neg(1), Env{FTZ: true}), 0},
		{"ftz -in", F32.Mul(0x80000001, F32.One(), Env{FTZ: true}), 1 << 31},
		{"ftz out", F32.Mul(0x00800000, 0x3f000000, Env{FTZ: true}), 0},
		{"min nan", F32.Min(nan, F32.One(), MinMax{}), F32.One()},
		{"min.NaN", F32.Min(nan, F32.One(), MinMax{NaN: true}), 0x7fffffff},
		{"min zeros", F32.Min(0, 1<<31, MinMax{}), 1 << 31},
		{"max zeros", F32.Max(1<<31, 0, MinMax{}), 0},
		{"max xorsign", F32.Max(0xc0000000, 0x3f800000, MinMax{XorSign: true}), 0xc0000000},
		{"sqrt -1", F32.Sqrt(0xbf800000, Env{}), 0x7fffffff},
		{"sqrt -0", F32.Sqrt(1<<31, Env{}), 1 << 31},
		{"nan to s32", F32.ToInt(nan, Int{32, true}, Env{}), 0},
		{"nan to s64", F32.ToInt(nan, Int{64, true}, Env{}), 1 << 63},
		{"f64 nan to u32", F64.ToInt(0x7ff8000000000000, Int{32, false}, Env{}), 1 << 31},
		{"1e9 to e4m3", F32.Convert(E4M3, uint64(math.Float32bits(1e9)), Env{SatFinite: true}), 0x7e},
		{"nan to e4m3", F32.Convert(E4M3, nan, Env{SatFinite: true}), 0x7f},
		{"nan to e2m1", F32.Convert(E2M1, nan, Env{SatFinite: true}), 0x7},
		{"inf to f16 satfinite", F32.Convert(F16, F32.Infinity(true), Env{SatFinite: true}), 0xfbff},
		{"3 to ue8m0 rp", F32.Convert(UE8M0, uint64(math.Float32bits(3)), Env{Mode: RP, SatFinite: true}), 129},
		{"3 to ue8m0 rz", F32.Convert(UE8M0, uint64(math.Float32bits(3)), Env{Mode: RZ, SatFinite: true}), 128},
		{"ue8m0 to bf16", UE8M0.Convert(BF16, 127, Env{}), 0x3f80},
		{"tf32 rna", F32.Convert(TF32, 0x3f801000, Env{Mode: RNA}), 0x3f802000},
		{"rs low", F32.Convert(F16, 0x3f800fff, Env{Mode: RS, Rand: 0, RandBits: 13}), 0x3c00},
		{"rs high", F32.Convert(F16, 0x3f800001, Env{Mode: RS, Rand: 0x1fff, RandBits: 13}), 0x3c01},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.what, c.got, c.want)
		}
	}
	if F32.Compare(0, 1<<31, false) != Equal || F32.Compare(nan, 0, false) != Unordered || F32.Compare(1, 0, true) != Equal {
		t.Error("compare")
	}
}

func BenchmarkFma32(b *testing.B) {
	x := uint64(math.Float32bits(1.1))
	for i := 0; i < b.N; i++ {
		x = F32.Fma(x, 0x3f7fffff, 0x3dcccccd, Env{})
	}
}
