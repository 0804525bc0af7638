package gguf

import (
	"encoding/binary"
	"math"
)

// Quant is how a tensor's numbers are stored. Random bits are valid in every format, so a block of weights is random
// bits with the few numbers that set its size put in their places.
type Quant struct {
	Name    string
	ID      uint32 // ggml's number for the type
	FileID  uint32 // llama.cpp's number for a file whose matrices are mostly of it
	Weights int    // per block
	Bytes   int    // per block

	// spread is the standard deviation of a block's numbers when its scale is 1.
	spread float64
	// place writes the scale, given as the wanted deviation over spread, into a block of random bits.
	place func(b []byte, scale float64)
}

// half writes an f16 at an offset.
func half(at int, factor float64) func([]byte, float64) {
	return func(b []byte, s float64) { binary.LittleEndian.PutUint16(b[at:], toHalf(s*factor)) }
}

// halves writes the scale and a second number, an offset, in units of it.
func halves(at, second int, factor float64) func([]byte, float64) {
	return func(b []byte, s float64) {
		binary.LittleEndian.PutUint16(b[at:], toHalf(s))
		binary.LittleEndian.PutUint16(b[second:], toHalf(s*factor))
	}
}

// Quants are the types llama.cpp offers for matrices, in its order. Layouts and numbers are those of GGUF files.
var Quants = []Quant{
	{"F32", 0, 0, 1, 4, 0, nil},
	{"F16", 1, 1, 1, 2, 0, nil},
	{"BF16", 30, 32, 1, 2, 0, nil},
	{"Q4_0", 2, 2, 32, 18, 4.6, half(0, 1)},
	{"Q4_1", 3, 3, 32, 20, 4.6, halves(0, 2, -7.5)},
	{"Q5_0", 6, 8, 32, 22, 9.2, half(0, 1)},
	{"Q5_1", 7, 9, 32, 24, 9.2, halves(0, 2, -15.5)},
	{"Q8_0", 8, 7, 32, 34, 74, half(0, 1)},
	{"Q2_K", 10, 10, 256, 84, 13, halves(80, 82, 1.5)},
	{"Q3_K", 11, 11, 256, 110, 42, half(108, 1)},
	{"Q4_K", 12, 15, 256, 144, 190, halves(0, 2, 7.5)},
	{"Q5_K", 13, 17, 256, 176, 380, halves(0, 2, 15.5)},
	{"Q6_K", 14, 18, 256, 210, 1370, half(208, 1)},
	{"IQ2_XXS", 16, 19, 256, 66, 40, half(0, 1)},
	{"IQ2_XS", 17, 20, 256, 74, 40, half(0, 1)},
	{"IQ2_S", 22, 28, 256, 82, 40, half(0, 1)},
	{"IQ3_XXS", 18, 23, 256, 98, 80, half(0, 1)},
	{"IQ3_S", 21, 26, 256, 110, 140, half(0, 1)},
	{"IQ1_S", 19, 24, 256, 50, 8, half(0, 1)},
	{"IQ1_M", 29, 31, 256, 56, 8, spreadHalf},
	{"IQ4_NL", 20, 25, 32, 18, 74, half(0, 1)},
	{"IQ4_XS", 23, 30, 256, 136, 1370, half(0, 1)},
	{"MXFP4", 39, 38, 32, 17, 5.85, exponent},
}

// exponent is MXFP4's way: the scale is the nearest power of two, a byte with the exponent of half of it.
func exponent(b []byte, s float64) { b[0] = byte(math.Round(math.Log2(s)) + 128) }

// spreadHalf is IQ1_M's way: the four nibbles of the scale are the top nibbles of four words at the end.
func spreadHalf(b []byte, s float64) {
	h := toHalf(s)
	for i := range 4 {
		at := 48 + 2*i
		w := binary.LittleEndian.Uint16(b[at:])
		binary.LittleEndian.PutUint16(b[at:], w&0x0fff|h>>(4*i)&15<<12)
	}
}

// ByName finds a type.
func ByName(name string) (*Quant, bool) {
	for i := range Quants {
		if Quants[i].Name == name {
			return &Quants[i], true
		}
	}
	return nil, false
}

// toHalf rounds to f16, nearest even; what is too large becomes the largest.
func toHalf(f float64) uint16 {
	sign := uint16(0)
	if f < 0 || f == 0 && math.Signbit(f) {
		sign, f = 0x8000, -f
	}
	if f >= 65504 {
		return sign | 0x7bff
	}
	_, e := math.Frexp(f) // f = x · 2^e with x in [0.5, 1)
	e = max(e-11, -24)
	m := math.RoundToEven(math.Ldexp(f, -e))
	if m == 2048 {
		m, e = 1024, e+1
	}
	if m < 1024 { // subnormal: e is -24
		return sign | uint16(m)
	}
	return sign | uint16(e+25)<<10 | uint16(m)&1023
}

// fill writes n weights of a matrix whose rows are `row` long: deviation 1/sqrt(row), so that sums keep their size.
func (q *Quant) fill(dst []byte, row int, r *rng) {
	dev := 1 / math.Sqrt(float64(row))
	switch q.Name {
	case "F32":
		for i := 0; i < len(dst); i += 4 {
			binary.LittleEndian.PutUint32(dst[i:], math.Float32bits(float32(dev*r.normal())))
		}
	case "F16":
		for i := 0; i < len(dst); i += 2 {
			binary.LittleEndian.PutUint16(dst[i:], toHalf(dev*r.normal()))
		}
	case "BF16":
		for i := 0; i < len(dst); i += 2 {
			binary.LittleEndian.PutUint16(dst[i:], uint16(math.Float32bits(float32(dev*r.normal()))>>16))
		}
	default:
		r.bits(dst)
		for i := 0; i < len(dst); i += q.Bytes {
			q.place(dst[i:i+q.Bytes], dev/q.spread)
		}
	}
}

// rng is splitmix64: the same numbers on every machine.
type rng struct {
	s uint64
}

func (r *rng) next() uint64 {
	r.s += 0x9e3779b97f4a7c15
	z := r.s
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *rng) bits(dst []byte) {
	var w [8]byte
	for len(dst) > 0 {
		binary.LittleEndian.PutUint64(w[:], r.next())
		dst = dst[copy(dst, w[:]):]
	}
}

// normal is a sum of uniform numbers, near enough to a normal one, and exact in every arithmetic.
func (r *rng) normal() float64 {
	z := r.next()
	sum := 0.0
	for range 4 {
		sum += float64(z&0xffff) - 32767.5
		z >>= 16
	}
	return sum / 37837.2 // four uniform numbers of width 65536 have this deviation
}
