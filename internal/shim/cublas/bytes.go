package cublas

import (
	"math"
	"math/cmplx"

	"kudzu/internal/softfloat"
)

// bitsOf is a value in a format of 16 bits.
func bitsOf(f *softfloat.Format, v float64) []byte {
	b := f64.Convert(f, math.Float64bits(v), softfloat.Env{})
	return []byte{byte(b), byte(b >> 8)}
}

var f64 = softfloat.F64

// Encode is the bytes of a value.
func Encode(e Elem, v complex128) []byte {
	var q []byte
	word := func(x uint64, n int) {
		for range n {
			q = append(q, byte(x))
			x >>= 8
		}
	}
	switch e {
	case F32:
		word(uint64(math.Float32bits(float32(real(v)))), 4)
	case F64:
		word(math.Float64bits(real(v)), 8)
	case C32:
		word(uint64(math.Float32bits(float32(real(v)))), 4)
		word(uint64(math.Float32bits(float32(imag(v)))), 4)
	case C64:
		word(math.Float64bits(real(v)), 8)
		word(math.Float64bits(imag(v)), 8)
	case F16:
		return bitsOf(softfloat.F16, real(v))
	case BF16:
		return bitsOf(softfloat.BF16, real(v))
	case S8:
		word(uint64(int64(real(v))), 1)
	case S32:
		word(uint64(int64(real(v))), 4)
	case C8:
		word(uint64(int64(real(v))), 1)
		word(uint64(int64(imag(v))), 1)
	}
	return q
}

// Decode is the value of bytes.
func Decode(e Elem, b []byte) complex128 {
	word := func(at, n int) (x uint64) {
		for i := n - 1; i >= 0; i-- {
			x = x<<8 | uint64(b[at+i])
		}
		return x
	}
	single := func(at int) float64 { return float64(math.Float32frombits(uint32(word(at, 4)))) }
	double := func(at int) float64 { return math.Float64frombits(word(at, 8)) }
	switch e {
	case F32:
		return complex(single(0), 0)
	case F64:
		return complex(double(0), 0)
	case C32:
		return complex(single(0), single(4))
	case C64:
		return complex(double(0), double(8))
	case F16:
		return complex(math.Float64frombits(softfloat.F16.Convert(f64, word(0, 2), softfloat.Env{})), 0)
	case BF16:
		return complex(math.Float64frombits(softfloat.BF16.Convert(f64, word(0, 2), softfloat.Env{})), 0)
	case S8:
		return complex(float64(int8(b[0])), 0)
	case S32:
		return complex(float64(int32(word(0, 4))), 0)
	case C8:
		return complex(float64(int8(b[0])), float64(int8(b[1])))
	}
	return cmplx.NaN()
}
