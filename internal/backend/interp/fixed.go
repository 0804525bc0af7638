package interp

import (
	"math"

	"kudzu/internal/ptx/isa"
	"kudzu/internal/softfloat"
)

// cvtScaled is cvt with .s2f6x2 or scale factors. An s2f6 is a byte, two's complement, in 64ths; a scale factor is a power
// of two (ue8m0), 1 where none is given.
//
// unrecorded: below -2 the result is -2, the least value, and not the manual's "sign-preserved MAX_NORM", which would make
// -2 itself, a value of the format, become another.
func (d *decoder) cvtScaled(dt, at isa.Type) step {
	dst, a, scale := d.dst("d"), d.src("a"), d.srcOr("scale", 0x7f7f)
	if dt == isa.S2F6x2 {
		relu := d.has(isa.ModRelu)
		parts := func(t *thread) (lo, hi float64) {
			v := a.get(t)
			return valueOf(softfloat.BF16, v&0xffff), valueOf(softfloat.BF16, v>>16&0xffff)
		}
		if at != isa.BF16x2 {
			b := d.src("b")
			parts = func(t *thread) (lo, hi float64) {
				return valueOf(softfloat.F32, b.get(t)), valueOf(softfloat.F32, a.get(t))
			}
		}
		return step{lane: func(t *thread) {
			lo, hi := parts(t)
			s := scale.get(t)
			t.r[dst] = toFixed(lo, s&0xff, relu) | toFixed(hi, s>>8&0xff, relu)<<8
		}}
	}
	value := func(x uint64) float64 { return float64(int8(x)) / 64 }
	width := 8
	if at != isa.S2F6x2 {
		one, _ := at.Elem()
		from := floatFormat(one)
		width = one.Bits()
		value = func(x uint64) float64 { return valueOf(from, x&mask(width)) }
	}
	e := softfloat.Env{SatFinite: d.has(isa.ModSatfinite)}
	relu := d.has(isa.ModRelu)
	return step{lane: func(t *thread) {
		v, s, r := a.get(t), scale.get(t), uint64(0)
		for i := range 2 {
			x := scaled(value(v>>(i*width)), s>>(8*i)&0xff, 1)
			h := uint64(0x7fff)
			if !math.IsNaN(x) {
				h = softfloat.F64.Convert(softfloat.BF16, math.Float64bits(x), e)
			}
			if relu {
				h = softfloat.BF16.Relu(h)
			}
			r |= h << (16 * i)
		}
		t.r[dst] = r
	}}
}

// valueOf is what x of a format is worth: f64 holds all of them.
func valueOf(f *softfloat.Format, x uint64) float64 {
	return math.Float64frombits(f.Convert(softfloat.F64, x, softfloat.Env{}))
}

// scaled is x times, or with sign -1 over, the scale factor s. It is exact.
func scaled(x float64, s uint64, sign int) float64 {
	if s == 0xff {
		return math.NaN()
	}
	return math.Ldexp(x, sign*(int(s)-127))
}

func toFixed(x float64, s uint64, relu bool) uint64 {
	x = scaled(x, s, -1)
	if math.IsNaN(x) {
		return 0x7f
	}
	least := -128.0
	if relu {
		least = 0
	}
	return uint64(uint8(int8(max(min(math.RoundToEven(x*64), 127), least))))
}
