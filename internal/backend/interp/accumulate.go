package interp

import (
	"math"

	"kudzu/internal/softfloat"
)

// How the tensor cores of sm_90 add up, fitted to recorded products of random operands, which it reproduces bit for bit:
//
// Up to 16 products and the accumulator are added at once; the eight of wmma's m16n16k8 four by four. Every addend is aligned to the
// largest exponent among them (a product's being the sum of its factors' exponents, a subnormal number's the least of its format) and
// cut off 25 bits below it; the sum is exact, and is cut off to f32 or rounded to nearest f16. fp8 operands are f16 to it, and run as two such
// additions without accumulator, over the first and second two bytes of every register, to which c is then added; each of
// the three gives an f32, or an f16 if the result is one. wgmma has a unit for fp8: all products and c at once, cut off 13 bits below
// the largest, as is the f32 that it gives (as P. Xie and others found, MMA-Sim, arXiv 2511.10909). m8n8k4 of f16, a shape of older
// cards, is a chain of f32 fma's without c, which is added last.

// accBits is how far below the largest exponent addends are cut off, bytesBits the same of wgmma's unit for fp8.
const (
	accBits   = 25
	bytesBits = 13
)

// dotFloat is element (i, j) of a×b + c.
func (x *mma) dotFloat(p *operands3, i, j int) uint64 {
	switch {
	case x.m == 8 && x.k == 4:
		return x.chain(p, i, j)
	case x.a.bits <= 8 && !x.whole:
		return x.dotBytes(p, i, j)
	}
	s := &accumulator{bits: accBits}
	if x.a.bits <= 8 {
		s.bits = bytesBits
	}
	c := x.c.number(p.c.at(i, j))
	s.addAt(c, x.c.exponent(c, true))
	for k := range x.compressedK {
		if k == 4 && x.n == 16 && x.k == 8 && !x.whole {
			v := s.result(x.d.f)
			s = &accumulator{bits: accBits}
			s.add(x.d.number(v))
		}
		s.product(x, p, i, j, k)
	}
	return s.result(x.d.f)
}

// dotBytes is fp8 and smaller.
func (x *mma) dotBytes(p *operands3, i, j int) uint64 {
	f := x.d.f
	var acc uint64
	for half := range 2 {
		s := &accumulator{bits: accBits}
		s.add(x.d.number(acc))
		for k := range x.compressedK {
			if k/2%2 == half {
				s.product(x, p, i, j, k)
			}
		}
		acc = s.result(f)
	}
	c := softfloat.F64.Convert(f, math.Float64bits(x.c.number(p.c.at(i, j))), softfloat.Env{})
	return f.Add(acc, c, softfloat.Env{})
}

// f32bits is v, which f32 holds exactly, or a NaN.
func f32bits(v float64) uint64 {
	return softfloat.F64.Convert(softfloat.F32, math.Float64bits(v), softfloat.Env{})
}

// chain is m8n8k4.
func (x *mma) chain(p *operands3, i, j int) uint64 {
	f := softfloat.F32
	var v uint64
	for k := range x.k {
		a, b := f32bits(x.a.number(p.a.at(i, k))), f32bits(x.b.number(p.b.at(k, j)))
		if k == 0 {
			v = f.Mul(a, b, softfloat.Env{})
		} else {
			v = f.Fma(a, b, v, softfloat.Env{})
		}
	}
	v = f.Add(f32bits(x.c.number(p.c.at(i, j))), v, softfloat.Env{})
	if x.d.f == f {
		return v
	}
	return f.Convert(x.d.f, v, softfloat.Env{})
}

// accumulator adds as one step of the hardware does.
type accumulator struct {
	terms   []addend
	exact   float64 // the sum in float64: infinities, NaNs, and the sign of zero
	special bool
	largest int
	bits    int // that are kept
}

// addend is sig × 2^exp.
type addend struct {
	sig int64
	exp int
}

func (s *accumulator) add(v float64) {
	_, e := math.Frexp(v)
	s.addAt(v, e-1)
}

// addAt adds v, which is aligned by exponent top.
func (s *accumulator) addAt(v float64, top int) {
	s.exact += v
	if math.IsNaN(v) || math.IsInf(v, 0) {
		s.special = true
		return
	}
	if v == 0 {
		return
	}
	if len(s.terms) == 0 || top > s.largest {
		s.largest = top
	}
	fr, e := math.Frexp(v)
	s.terms = append(s.terms, addend{int64(fr * (1 << 53)), e - 53})
}

// product adds element k of row i of a times what it meets in column j of b.
func (s *accumulator) product(x *mma, p *operands3, i, j, k int) {
	a, b := x.a.number(p.a.at(i, k)), x.b.number(p.meets(i, k, j))
	v := float64(a * b) // exact
	top := x.a.exponent(a, x.whole) + x.b.exponent(b, x.whole)
	if sc := p.scales; sc != nil {
		at := p.row(i, k)
		f := float64(sc.a(i, at) * sc.b(j, at))
		_, ef := math.Frexp(f)
		v, top = float64(v*f), top+ef-1
	}
	s.addAt(v, top)
}

// exponent is that of an element in the unit that multiplies: at least the format's least, f16's for smaller formats that it does not know.
func (e *elem) exponent(v float64, known bool) int {
	least := 1 - softfloat.F16.Bias
	if e.bits > 8 || known {
		least = 1 - e.f.Bias
	}
	_, n := math.Frexp(v)
	return max(n-1, least)
}

// result rounds the sum. unrecorded: a sum too large for f32 is infinite.
func (s *accumulator) result(f *softfloat.Format) uint64 {
	switch {
	case math.IsNaN(s.exact):
		return f.CanonicalNaN()
	case s.special || len(s.terms) == 0:
		return softfloat.F64.Convert(f, math.Float64bits(s.exact), softfloat.Env{})
	}
	last := s.largest - s.bits
	var sum int64
	for _, t := range s.terms {
		n := uint(min(last-t.exp, 63)) // at least 26: significands have 53 bits
		if t.sig < 0 {
			sum -= -t.sig >> n
		} else {
			sum += t.sig >> n
		}
	}
	v := math.Ldexp(float64(sum), last)
	e := softfloat.Env{}
	if f == softfloat.F32 && s.bits == bytesBits {
		v = cutOff(v, bytesBits)
	}
	if f == softfloat.F32 && math.Abs(v) < 0x1p128 {
		e.Mode = softfloat.RZ
	}
	r := softfloat.F64.Convert(f, math.Float64bits(v), e)
	if f == softfloat.F16 && r == f.Zero(true) { // too small for f16: the sum's sign is lost
		return 0
	}
	return r
}

// cutOff leaves so many bits behind the first.
func cutOff(v float64, bits int) float64 {
	_, e := math.Frexp(v)
	unit := math.Ldexp(1, max(e-1, -126)-bits)
	return math.Trunc(v/unit) * unit
}
