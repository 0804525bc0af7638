package softfloat

// Mode is a rounding mode.
type Mode uint8

// The modes. RS adds Env.Rand below the last place, then truncates.
const (
	RN  Mode = iota // nearest, ties to even
	RZ              // towards zero
	RM              // towards -inf
	RP              // towards +inf
	RNA             // nearest, ties away from zero
	RS              // stochastic
	numModes
)

// Env is how an operation rounds and what happens before and after it.
type Env struct {
	Mode Mode
	FTZ  bool // subnormal operands and results become zeros of the same sign
	Sat  bool // clamp to [0, 1], NaN to +0

	// SatFinite clamps to the largest finite value where the format would give an infinity; a NaN stays one, or becomes
	// the largest positive value in formats without NaN.
	SatFinite bool

	Rand     uint32 // RS: random bits, of which the low RandBits are used
	RandBits uint
}

// round packs (-1)^neg × (sig + ε·sticky) × 2^exp, 0 < ε < 1, into format f.
// Where sticky is set, sig has at least two bits more than the format.
func (f *Format) round(neg bool, sig u128, exp int, sticky bool, e *Env) uint64 {
	if sig.isZero() && !sticky {
		return f.saturate(f.sign(neg), e)
	}
	if f == UE8M0 {
		return f.roundPower(neg, sig, exp, sticky, e)
	}
	emin := 1 - f.Bias
	top := exp + sig.len() - 1 // exponent of the leading bit
	q := max(top, emin) - int(f.Frac)
	kept, up := roundAt(neg, sig, exp, sticky, q, e)
	mag := kept
	if up {
		mag++
	}
	if top >= emin {
		mag += uint64(top-emin) << f.Frac
	}
	if e.FTZ && f.isTiny(neg, sig, exp, sticky, top, e) {
		return f.saturate(f.sign(neg), e)
	}
	if mag > f.max || top-emin > f.expMask() {
		return f.saturate(f.overflow(neg, e), e)
	}
	return f.saturate(f.sign(neg)|mag<<f.Shift, e)
}

// roundAt cuts sig×2^exp at 2^q and says whether the rest rounds up.
func roundAt(neg bool, sig u128, exp int, sticky bool, q int, e *Env) (kept uint64, up bool) {
	shift := q - exp
	if shift <= 0 {
		if sticky {
			panic("BUG: softfloat: sticky bit without guard bits")
		}
		return sig.shl(uint(-shift)).lo, false
	}
	if e.Mode == RS {
		return roundRandom(sig, uint(shift), e)
	}
	k := sig.shr(uint(shift))
	kept = k.lo
	half := u128{0, 1}.shl(uint(shift) - 1)
	rest := sig.sub(k.shl(uint(shift)))
	if shift > 128 { // everything is below half of the last place
		rest, half = u128{0, 1}, u128{0, 2}
	}
	inexact := sticky || !rest.isZero()
	switch e.Mode {
	case RN:
		up = half.less(rest) || rest == half && (sticky || kept&1 != 0)
	case RNA:
		up = !rest.less(half)
	case RZ:
	case RM:
		up = neg && inexact
	case RP:
		up = !neg && inexact
	}
	return kept, up
}

// roundRandom adds the random bits to the bits just below the last place and carries.
func roundRandom(sig u128, shift uint, e *Env) (kept uint64, up bool) {
	k := sig.shr(shift)
	rest := sig.sub(k.shl(shift))
	if shift > 128 {
		rest = sig
	}
	n := e.RandBits
	var frac uint64 // the n bits below the last place
	if shift >= n {
		frac = rest.shr(shift - n).lo
	} else {
		frac = rest.shl(n - shift).lo
	}
	return k.lo, frac+uint64(e.Rand)&(1<<n-1) >= 1<<n
}

// isTiny says whether .ftz flushes a result: it is subnormal if, rounded as if the exponent were unbounded, it is below the
// smallest normal. It is x86's rule, and recordings on sm_90 tell it from the two others one might think of (the exact result
// is below; the stored result is).
func (f *Format) isTiny(neg bool, sig u128, exp int, sticky bool, top int, e *Env) bool {
	if top >= 1-f.Bias {
		return false
	}
	kept, up := roundAt(neg, sig, exp, sticky, top-int(f.Frac), e)
	return top < -f.Bias || !(up && kept == 1<<(f.Frac+1)-1)
}

// overflow is the result too large for f.
func (f *Format) overflow(neg bool, e *Env) uint64 {
	switch {
	case e.SatFinite, e.Mode == RZ, e.Mode == RM && !neg, e.Mode == RP && neg:
		return f.Largest(neg)
	case f.Inf:
		return f.Infinity(neg)
	case f.NaN:
		return f.sign(neg) | f.CanonicalNaN()
	}
	return f.Largest(neg)
}

// roundPower rounds to a power of two: ue8m0 has neither sign, zero nor subnormals. Values below 2^-127 give 2^-127.
func (f *Format) roundPower(neg bool, sig u128, exp int, sticky bool, e *Env) uint64 {
	if neg {
		return 0 // unrecorded: conversions to ue8m0 take magnitudes; a negative operand is out of range below
	}
	top := exp + sig.len() - 1
	rest := sig.sub(u128{0, 1}.shl(uint(sig.len() - 1)))
	half := u128{}
	if sig.len() > 1 {
		half = u128{0, 1}.shl(uint(sig.len() - 2))
	}
	inexact := sticky || !rest.isZero()
	switch e.Mode {
	case RP:
		if inexact {
			top++
		}
	case RN, RNA: // the midpoint of 2^k and 2^(k+1) is 1.5×2^k
		if inexact && sig.len() > 1 && !rest.less(half) {
			top++
		}
	}
	v := top + f.Bias
	switch {
	case v < 0:
		return 0
	case v > int(f.max):
		if e.SatFinite || e.Mode == RZ {
			return f.max
		}
		return f.nan
	}
	return uint64(v)
}

// saturate applies Env.Sat to a result.
func (f *Format) saturate(x uint64, e *Env) uint64 {
	if !e.Sat {
		return x
	}
	if f.IsNaN(x) || f.IsNeg(x) {
		return 0
	}
	if x > f.One() {
		return f.One()
	}
	return x
}

// finishNaN is a NaN result under Env.Sat.
func (f *Format) finishNaN(nan uint64, e *Env) uint64 {
	if e.Sat {
		return 0
	}
	return nan
}
