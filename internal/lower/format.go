package lower

import (
	"kudzu/internal/ir"
	"kudzu/internal/ptx/isa"
)

// Narrow float formats (fp8, fp6, fp4, tf32) in terms of integer and f32 operations, so that no target has to know them.

// format is a narrow floating-point format that values have as bits only.
type format uint8

// The formats.
const (
	fmtNone format = iota
	fmtE4M3
	fmtE5M2
	fmtE2M3
	fmtE3M2
	fmtE2M1
	fmtUE8M0
	fmtTF32
)

// narrowFmt is a format with a sign, exp exponent bits and man significand bits.
type narrowFmt struct {
	exp, man uint
	bias     int
	max      int64 // largest finite magnitude
	nan      int64 // what a NaN becomes
	above    int64 // magnitudes above it are NaNs; 0: there are none
	width    int64 // bits of its place in a packed value
}

var narrowFmts = map[format]narrowFmt{
	fmtE4M3: {4, 3, 7, 0x7e, 0x7f, 0x7e, 8},
	fmtE5M2: {5, 2, 15, 0x7b, 0x7f, 0x7c, 8},
	fmtE2M3: {2, 3, 1, 0x1f, 0x1f, 0, 8},
	fmtE3M2: {3, 2, 3, 0x1f, 0x1f, 0, 8},
	fmtE2M1: {2, 1, 1, 0x7, 0x7, 0, 4},
}

// halfFmts are the formats that .rs conversions make pairs of; max is here the infinity.
var halfFmts = map[isa.Type]narrowFmt{
	isa.F16x2:  {5, 10, 15, 0x7c00, 0x7fff, 0, 16},
	isa.BF16x2: {8, 7, 127, 0x7f80, 0x7fff, 0, 16},
}

// isNaN32 tests the magnitude bits of an f32.
func (x *inst) isNaN32(mag *ir.Value) *ir.Value { return x.icmp(ir.HI, mag, i32(0x7f800000)) }

// nearest rounds the bits of a positive f32 to nearest even at bit n, leaving the bits below in place.
func (x *inst) nearest(b *ir.Value, n int64) *ir.Value {
	odd := x.op(ir.And, x.op(ir.ShrU, b, i32(n)), i32(1))
	return x.op(ir.Add, x.op(ir.Add, b, i32(1<<(n-1)-1)), odd)
}

// narrowOne converts an f32 to the bits of f, nearest even, limited to finite values (every such cvt has .satfinite).
func (x *inst) narrowOne(v *ir.Value, f narrowFmt, relu bool) *ir.Value {
	b := x.cast(v, ir.I32)
	mag := x.op(ir.And, b, i32(0x7fffffff))
	cut := int64(23 - f.man)
	normal := x.op(ir.Sub, x.op(ir.ShrU, x.nearest(mag, cut), i32(cut)), i32(int64(127-f.bias)<<f.man))
	// Below the smallest normal number the last place is fixed: adding the float whose last place that is rounds there.
	magic := int64(127+1-f.bias-int(f.man)+23) << 23
	sum := x.opWith(ir.FAdd, ir.Attr{FTZ: true, EitherFTZ: true}, x.cast(mag, ir.F32), ir.ConstInt(ir.F32, uint64(magic)))
	small := x.op(ir.Sub, x.cast(sum, ir.I32), i32(magic))
	r := x.sel(x.icmp(ir.LO, mag, i32(int64(127+1-f.bias)<<23)), small, normal)
	r = x.op(ir.MinU, r, i32(f.max))
	sign := x.op(ir.ShrU, b, i32(31))
	if relu {
		r = x.sel(x.icmp(ir.NE, sign, i32(0)), i32(0), r)
	} else {
		r = x.op(ir.Or, r, x.op(ir.Shl, sign, i32(int64(f.exp+f.man))))
	}
	return x.sel(x.isNaN32(mag), i32(f.nan), r)
}

// randomBits is how many random bits an element of a .rs conversion uses: as many as f32 has below the format's last place, at most
// half a register.
func (f *narrowFmt) randomBits() int64 { return min(23-int64(f.man), 16) }

// narrowRandom converts an f32 to the bits of f; what is added below the last place before the rest is cut off is random. Magnitudes
// above most become it.
func (x *inst) narrowRandom(v *ir.Value, f narrowFmt, random *ir.Value, most int64, relu bool) *ir.Value {
	n := f.randomBits()
	b := x.cast(v, ir.I32)
	mag := x.op(ir.And, b, i32(0x7fffffff))
	field := x.op(ir.ShrU, mag, i32(23))
	hidden := x.sel(x.icmp(ir.NE, field, i32(0)), i32(1<<23), i32(0))
	sig := x.op(ir.Or, x.op(ir.And, mag, i32(1<<23-1)), hidden)
	// How far the exponent is above the smallest that f has: above, it is part of the result; below, more is cut off.
	above := x.op(ir.Sub, x.op(ir.MaxS, field, i32(1)), i32(int64(128-f.bias)))
	cut := x.op(ir.Sub, i32(int64(23-f.man)-n), x.op(ir.MinS, above, i32(0)))
	kept := x.op(ir.Add, x.op(ir.ShrU, sig, cut), x.op(ir.And, random, i32(1<<n-1)))
	r := x.op(ir.ShrU, kept, i32(n))
	r = x.op(ir.Add, r, x.op(ir.Shl, x.op(ir.MaxS, above, i32(0)), i32(int64(f.man))))
	r = x.op(ir.MinU, r, i32(most))
	sign := x.op(ir.ShrU, b, i32(31))
	if relu {
		r = x.sel(x.icmp(ir.NE, sign, i32(0)), i32(0), r)
	} else {
		r = x.op(ir.Or, r, x.op(ir.Shl, sign, i32(int64(f.exp+f.man))))
	}
	return x.sel(x.isNaN32(mag), i32(f.nan), r)
}

// packRandom converts and packs two or four values, the first lowest: those in each half of the result share half of the random bits.
func (x *inst) packRandom(vs []*ir.Value, f narrowFmt, random *ir.Value, most int64, relu bool, t ir.Type) *ir.Value {
	halves := [2]*ir.Value{random, x.op(ir.ShrU, random, i32(16))}
	var r *ir.Value
	for i, v := range vs {
		n := x.narrowRandom(v, f, halves[i*2/len(vs)], most, relu)
		if i > 0 {
			n = x.op(ir.Or, r, x.op(ir.Shl, n, i32(int64(i)*f.width)))
		}
		r = n
	}
	return x.resize(r, t.Bits(), false)
}

// powers converts f32 values to ue8m0, powers of two without sign, towards zero or up, and packs them. A negative number is less
// than any; what is too large is a NaN, with sat the largest.
func (x *inst) powers(vs []*ir.Value, up, sat bool, t ir.Type) *ir.Value {
	var r *ir.Value
	for i, v := range vs {
		b := x.cast(v, ir.I32)
		mag := x.op(ir.And, b, i32(0x7fffffff))
		n := mag
		if up { // the smallest power is 2^-127, half the smallest normal number
			small := x.icmp(ir.LO, mag, i32(1<<23))
			n = x.op(ir.Add, mag, x.sel(small, i32(1<<22-1), i32(1<<23-1)))
		}
		n = x.op(ir.ShrU, n, i32(23))
		if sat {
			n = x.op(ir.MinU, n, i32(0xfe))
		}
		n = x.sel(x.icmp(ir.LT, b, i32(0)), i32(0), n)
		if sat {
			n = x.sel(x.isNaN32(mag), i32(0xff), n)
		} else {
			n = x.sel(x.icmp(ir.HS, mag, i32(0x7f800000)), i32(0xff), n)
		}
		if i > 0 {
			n = x.op(ir.Or, r, x.op(ir.Shl, n, i32(int64(8*i))))
		}
		r = n
	}
	return x.resize(r, t.Bits(), false)
}

// fromPowers gives the parts of a packed ue8m0 value as bf16, which has all of them.
func (x *inst) fromPowers(v *ir.Value, n int) []*ir.Value {
	v = x.resize(v, 32, false)
	var vs []*ir.Value
	for i := range n {
		e := x.op(ir.And, x.op(ir.ShrU, v, i32(int64(8*i))), i32(0xff))
		bits := x.sel(x.icmp(ir.EQ, e, i32(0)), i32(0x40), x.op(ir.Shl, e, i32(7)))
		bits = x.sel(x.icmp(ir.EQ, e, i32(0xff)), i32(0x7fff), bits)
		vs = append(vs, x.cast(x.resize(bits, 16, false), ir.BF16))
	}
	return vs
}

// packNarrow converts and packs, the first value lowest.
func (x *inst) packNarrow(vs []*ir.Value, f narrowFmt, relu bool, t ir.Type) *ir.Value {
	var r *ir.Value
	for i, v := range vs {
		n := x.narrowOne(v, f, relu)
		if i == 0 {
			r = n
		} else {
			r = x.op(ir.Or, r, x.op(ir.Shl, n, i32(int64(i)*f.width)))
		}
	}
	return x.resize(r, t.Bits(), false)
}

// widenNarrow gives the parts of a packed value as f16. The bits, moved to f16's places, are the value but for the exponent's
// bias, which a multiplication by a power of two makes good, exactly.
func (x *inst) widenNarrow(v *ir.Value, f narrowFmt, n int) []*ir.Value {
	v = x.resize(v, 32, false)
	var vs []*ir.Value
	for i := range n {
		b := v
		if i > 0 {
			b = x.op(ir.ShrU, v, i32(int64(i)*f.width))
		}
		mag := x.op(ir.And, b, i32(1<<(f.exp+f.man)-1))
		h := x.cast(x.resize(x.op(ir.Shl, mag, i32(int64(10-f.man))), 16, false), ir.F16)
		if f.bias != 15 {
			h = x.op(ir.FMul, h, ir.ConstInt(ir.F16, uint64(15+15-f.bias)<<10))
		}
		bits := x.resize(x.cast(h, ir.I16), 32, false)
		sign := x.op(ir.And, x.op(ir.Shl, b, i32(int64(15-f.exp-f.man))), i32(0x8000))
		bits = x.op(ir.Or, bits, sign)
		if f.above != 0 {
			bits = x.sel(x.icmp(ir.HI, mag, i32(f.above)), i32(0x7fff), bits)
		}
		vs = append(vs, x.cast(x.resize(bits, 16, false), ir.F16))
	}
	return vs
}

// tf32 rounds an f32 to 10 significand bits, which stay in their places.
func (x *inst) tf32(v *ir.Value, rnd ir.Rnd) *ir.Value {
	if rnd == ir.RNA {
		return x.tf32Away(v)
	}
	b := x.cast(v, ir.I32)
	mag := x.op(ir.And, b, i32(0x7fffffff))
	r := b
	if rnd == ir.RN {
		r = x.nearest(b, 13)
	}
	r = x.op(ir.And, r, i32(^0x1fff))
	if x.Has(isa.ModSatfinite) {
		inf := x.icmp(ir.EQ, x.op(ir.And, r, i32(0x7fffffff)), i32(0x7f800000))
		r = x.sel(inf, x.op(ir.Sub, r, i32(0x2000)), r)
	}
	if x.Has(isa.ModRelu) {
		r = x.op(ir.MaxS, r, i32(0))
	}
	return x.sel(x.isNaN32(mag), i32(0x7fffe000), r)
}

// tf32Away is cvt.rna.tf32: half of the last place added to the bits, the rest cut off. Infinities and NaNs are only cut, and
// .satfinite takes the place below for them too, as sm_90 does.
func (x *inst) tf32Away(v *ir.Value) *ir.Value {
	top := func(b *ir.Value) *ir.Value {
		return x.icmp(ir.EQ, x.op(ir.And, b, i32(0x7f800000)), i32(0x7f800000))
	}
	b := x.cast(v, ir.I32)
	r := x.sel(top(b), b, x.op(ir.Add, b, i32(0x1000)))
	r = x.op(ir.And, r, i32(^0x1fff))
	if x.Has(isa.ModSatfinite) {
		r = x.sel(top(r), x.op(ir.Sub, r, i32(0x2000)), r)
	}
	return r
}
