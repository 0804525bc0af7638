package interp

import "math/bits"

// The arithmetic of filters, as measured on sm_90 (docs/numerics.md, "Textures"): weights are integers of 8 bits that sum to 256,
// texels of one slab (a plane of up to four texels) are aligned to the largest of them and summed exactly, slabs are added, and the
// sum is rounded once, half away from zero.

// round8 and down8 divide by 256, half up and half down.
func round8(n int64) int64 { return (n + 128) >> 8 }
func down8(n int64) int64  { return (n + 127) >> 8 }

// split is the weights of a slab's texels (x0y0, x1y0, x0y1, x1y1), given the slab's own weight and the fractions.
func split(slab, fx, fy int64) [4]int64 {
	right := round8(fx * slab)
	left := slab - right
	below, belowLeft := round8(right*fy), down8(left*fy)
	return [4]int64{left - belowLeft, right - below, belowLeft, below}
}

// floatFilter is a binary format as filters see it.
type floatFilter struct {
	mant, expBits int // of the format, the hidden bit not counted
	flush         bool
}

var (
	filterF32 = floatFilter{23, 8, true}
	filterF16 = floatFilter{10, 5, false}
)

// guard is how many bits beyond the largest texel's mantissa the others keep.
const guard = 4

func (f *floatFilter) bias() int           { return 1<<(f.expBits-1) - 1 }
func (f *floatFilter) maxExp() int         { return 1<<f.expBits - 1 }
func (f *floatFilter) sign() uint32        { return 1 << (f.mant + f.expBits) }
func (f *floatFilter) nan() uint32         { return f.sign() - 1 }
func (f *floatFilter) infinity() uint32    { return uint32(f.maxExp()) << f.mant }
func (f *floatFilter) exp(v uint32) int    { return int(v>>f.mant) & f.maxExp() }
func (f *floatFilter) low(v uint32) uint32 { return v & (1<<f.mant - 1) }

// parts is a finite texel as m × 2^(e - mant - bias), m with its hidden bit.
func (f *floatFilter) parts(v uint32) (m int64, e int) {
	e = f.exp(v)
	m = int64(f.low(v))
	switch {
	case e > 0:
		m |= 1 << f.mant
	case f.flush:
		return 0, 0
	case m != 0:
		shift := f.mant + 1 - bits.Len64(uint64(m))
		m, e = m<<shift, 1-shift
	}
	return m, e
}

// weighed is a texel's bits and its weight.
type weighed struct {
	bits uint32
	w    int64
}

// filter sums slabs of texels.
func (f *floatFilter) filter(slabs [][]weighed) uint32 {
	if v, special := f.special(slabs); special {
		return v
	}
	type partial struct {
		sum int64 // × 2^(e - mant - guard - 8 - bias)
		e   int
	}
	var parts []partial
	top, some, negative := 0, false, true
	for _, slab := range slabs {
		e, any := 0, false
		for _, x := range slab {
			if x.w == 0 {
				continue
			}
			negative = negative && x.bits&f.sign() != 0
			if m, ex := f.parts(x.bits); m != 0 && (!any || ex > e) {
				e, any = ex, true
			}
		}
		if !any {
			continue
		}
		sum := int64(0)
		for _, x := range slab {
			m, ex := f.parts(x.bits)
			if m == 0 || x.w == 0 || e-ex > f.mant+guard {
				continue
			}
			m = m << guard >> (e - ex)
			if x.bits&f.sign() != 0 {
				m = -m
			}
			sum += m * x.w
		}
		if !some || e > top {
			top = e
		}
		some = true
		parts = append(parts, partial{sum, e})
	}
	// Two more bits keep what slabs of different size lose.
	total := int64(0)
	for _, p := range parts {
		total += p.sum << 2 >> min(top-p.e, 62)
	}
	if total == 0 {
		if negative && some || negative && !some && len(slabs) > 0 {
			return f.sign()
		}
		return 0
	}
	return f.round(total, top-guard-8-2)
}

// special is the result where a texel is infinite or not a number.
func (f *floatFilter) special(slabs [][]weighed) (uint32, bool) {
	plus, minus := false, false
	for _, slab := range slabs {
		for _, x := range slab {
			if x.w == 0 || f.exp(x.bits) != f.maxExp() {
				continue
			}
			switch {
			case f.low(x.bits) != 0:
				return f.nan(), true
			case x.bits&f.sign() != 0:
				minus = true
			default:
				plus = true
			}
		}
	}
	switch {
	case plus && minus:
		return f.nan(), true
	case plus:
		return f.infinity(), true
	case minus:
		return f.infinity() | f.sign(), true
	}
	return 0, false
}

// round is n × 2^(e - mant - bias) in the format, half away from zero.
func (f *floatFilter) round(n int64, e int) uint32 {
	s := uint32(0)
	if n < 0 {
		n, s = -n, f.sign()
	}
	u := uint64(n)
	over := bits.Len64(u) - (f.mant + 1)
	if e+over < 1 && !f.flush { // subnormal
		over = 1 - e
	}
	e += over
	switch {
	case over > 62:
		return s
	case over > 0:
		u = (u + 1<<(over-1)) >> over
	default:
		u <<= -over
	}
	if u>>(f.mant+1) != 0 {
		u >>= 1
		e++
	}
	switch {
	case u>>f.mant == 0: // subnormal
		return s | uint32(u)
	case e < 1:
		return s
	case e >= f.maxExp():
		return s | f.infinity()
	}
	return s | uint32(e)<<f.mant | f.low(uint32(u))
}

// fixed filters fractions of 8 and 16 bits: the sum of weighed integers as a number of 16 bits.
func fixed(format uint8, sum int64) (value int64, one int64) {
	switch format {
	case formatU8:
		return round8(sum * 257), 65535
	case formatU16:
		return round8(sum), 65535
	case formatS8: // what the hardware computes instead of × 32767 / 127
		return max((sum*258+128+32*(sum>>12))>>8, -32767), 32767
	}
	return max(round8(sum), -32767), 32767
}
