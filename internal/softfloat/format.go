// Package softfloat is arithmetic on every floating-point format PTX names, in every rounding mode, with flushing,
// saturation and NaN results as NVIDIA's hardware gives them.
//
// Values are bit patterns in the low bits of a uint64. An operation unpacks its operands, computes the exact result
// (or one with enough bits and a sticky bit), and rounds once; the only shortcuts are those in fast.go, which are exactly
// right. What the manual leaves open is one row in rules.go each.
package softfloat

// Format describes one format. The predeclared ones are the only ones.
type Format struct {
	Name   string
	Exp    uint // exponent bits
	Frac   uint // stored significand bits
	Shift  uint // tf32 lives in the upper bits of an f32 container
	Bias   int
	Signed bool
	Inf    bool // has infinities: the top exponent is special as in IEEE 754
	NaN    bool // has a NaN
	max    uint64
	nan    uint64
}

// The formats.
var (
	F16   = &Format{Name: "f16", Exp: 5, Frac: 10, Bias: 15, Signed: true, Inf: true, NaN: true, max: 0x7bff, nan: 0x7fff}
	BF16  = &Format{Name: "bf16", Exp: 8, Frac: 7, Bias: 127, Signed: true, Inf: true, NaN: true, max: 0x7f7f, nan: 0x7fff}
	F32   = &Format{Name: "f32", Exp: 8, Frac: 23, Bias: 127, Signed: true, Inf: true, NaN: true, max: 0x7f7fffff, nan: 0x7fffffff}
	F64   = &Format{Name: "f64", Exp: 11, Frac: 52, Bias: 1023, Signed: true, Inf: true, NaN: true, max: 0x7fefffffffffffff, nan: 0xfff8000000000000}
	TF32  = &Format{Name: "tf32", Exp: 8, Frac: 10, Shift: 13, Bias: 127, Signed: true, Inf: true, NaN: true, max: 0x3fbff, nan: 0x3ffff}
	E4M3  = &Format{Name: "e4m3", Exp: 4, Frac: 3, Bias: 7, Signed: true, NaN: true, max: 0x7e, nan: 0x7f}
	E5M2  = &Format{Name: "e5m2", Exp: 5, Frac: 2, Bias: 15, Signed: true, Inf: true, NaN: true, max: 0x7b, nan: 0x7f}
	E2M3  = &Format{Name: "e2m3", Exp: 2, Frac: 3, Bias: 1, Signed: true, max: 0x1f}
	E3M2  = &Format{Name: "e3m2", Exp: 3, Frac: 2, Bias: 3, Signed: true, max: 0x1f}
	E2M1  = &Format{Name: "e2m1", Exp: 2, Frac: 1, Bias: 1, Signed: true, max: 0x7}
	UE8M0 = &Format{Name: "ue8m0", Exp: 8, Frac: 0, Bias: 127, NaN: true, max: 0xfe, nan: 0xff}
	UE4M3 = &Format{Name: "ue4m3", Exp: 4, Frac: 3, Bias: 7, NaN: true, max: 0x7e, nan: 0x7f}
)

// Formats lists all formats.
var Formats = []*Format{F16, BF16, F32, F64, TF32, E4M3, E5M2, E2M3, E3M2, E2M1, UE8M0, UE4M3}

// Bits is the width of a value without its container's padding.
func (f *Format) Bits() uint {
	n := f.Exp + f.Frac
	if f.Signed {
		n++
	}
	return n
}

// signBit is the sign's mask before Shift, 0 for an unsigned format.
func (f *Format) signBit() uint64 {
	if !f.Signed {
		return 0
	}
	return 1 << (f.Exp + f.Frac)
}

func (f *Format) fracMask() uint64 { return 1<<f.Frac - 1 }
func (f *Format) expMask() int     { return 1<<f.Exp - 1 }

// CanonicalNaN is the NaN that arithmetic results in; 0 for formats that have none.
func (f *Format) CanonicalNaN() uint64 { return f.nan << f.Shift }

// Infinity is the infinity of the given sign, or the largest finite value of a format without infinities.
func (f *Format) Infinity(neg bool) uint64 {
	if !f.Inf {
		return f.Largest(neg)
	}
	return f.sign(neg) | uint64(f.expMask())<<(f.Frac+f.Shift)
}

// Largest is the largest finite value of the given sign.
func (f *Format) Largest(neg bool) uint64 { return f.sign(neg) | f.max<<f.Shift }

// Zero is the zero of the given sign.
func (f *Format) Zero(neg bool) uint64 { return f.sign(neg) }

// One is 1.0.
func (f *Format) One() uint64 { return uint64(f.Bias) << (f.Frac + f.Shift) }

func (f *Format) sign(neg bool) uint64 {
	if neg {
		return f.signBit() << f.Shift
	}
	return 0
}

// IsNaN reports a NaN of any payload.
func (f *Format) IsNaN(x uint64) bool {
	x >>= f.Shift
	x &^= f.signBit()
	if !f.NaN {
		return false
	}
	if f.Inf {
		return x > uint64(f.expMask())<<f.Frac
	}
	return x == f.nan
}

// IsInf reports an infinity.
func (f *Format) IsInf(x uint64) bool {
	x >>= f.Shift
	return f.Inf && x&^f.signBit() == uint64(f.expMask())<<f.Frac
}

// IsSubnormal reports a non-zero value below the smallest normal one.
func (f *Format) IsSubnormal(x uint64) bool {
	x = x >> f.Shift &^ f.signBit()
	return f.Frac > 0 && x != 0 && x>>f.Frac == 0
}

// IsZero reports a zero of either sign.
func (f *Format) IsZero(x uint64) bool {
	return f != UE8M0 && x>>f.Shift&^f.signBit() == 0
}

// IsNeg reports the sign bit.
func (f *Format) IsNeg(x uint64) bool { return x>>f.Shift&f.signBit() != 0 }

// Neg flips the sign bit and Abs clears it, of any value, NaNs included.
func (f *Format) Neg(x uint64) uint64 { return x ^ f.signBit()<<f.Shift }

// Abs clears the sign bit.
func (f *Format) Abs(x uint64) uint64 { return x &^ (f.signBit() << f.Shift) }

// Flush replaces a subnormal by the zero of its sign.
func (f *Format) Flush(x uint64) uint64 {
	if f.IsSubnormal(x) {
		return x & (f.signBit() << f.Shift)
	}
	return x
}

// num is an unpacked finite value: (-1)^neg × sig × 2^exp.
type num struct {
	neg bool
	exp int
	sig uint64
}

// unpack takes a finite value apart; sig is 0 only for zeros.
func (f *Format) unpack(x uint64) num {
	x >>= f.Shift
	n := num{neg: x&f.signBit() != 0}
	e := int(x >> f.Frac & uint64(f.expMask()))
	n.sig = x & f.fracMask()
	if f == UE8M0 {
		return num{exp: e - f.Bias, sig: 1}
	}
	if e == 0 {
		e = 1
	} else {
		n.sig |= 1 << f.Frac
	}
	n.exp = e - f.Bias - int(f.Frac)
	return n
}
