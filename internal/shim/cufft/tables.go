package cufft

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// root is e^(-2 pi i j/n), exact to the last bit or two: the angle is reduced to an eighth of the circle in integers.
func root(j, n uint64) complex128 {
	j %= n
	hi, lo := bits.Mul64(j, 8)
	octant, _ := bits.Div64(hi, lo, n)
	// The angle is octant/8 of the circle and rest/(8n) of it; odd octants are counted from their end.
	rest := lo - octant*n
	if octant&1 == 1 {
		rest = n - rest
	}
	s, c := math.Sincos(math.Pi / 4 * (float64(rest) / float64(n)))
	switch octant {
	case 0:
	case 1:
		c, s = s, c
	case 2:
		c, s = -s, c
	case 3:
		c = -c
	case 4:
		c, s = -c, -s
	case 5:
		c, s = -s, -c
	case 6:
		c, s = s, -c
	default:
		s = -s
	}
	return complex(c, -s)
}

// tables are constants that a plan's kernels read: laid out here, then copied to the device.
type tables struct {
	bytes []byte
	known map[string]uint64
}

// add puts a table there once, and gives its offset.
func (t *tables) add(key string, fill func(b []byte) []byte) uint64 {
	if at, ok := t.known[key]; ok {
		return at
	}
	for len(t.bytes)%256 != 0 {
		t.bytes = append(t.bytes, 0)
	}
	at := uint64(len(t.bytes))
	t.bytes = fill(t.bytes)
	if t.known == nil {
		t.known = map[string]uint64{}
	}
	t.known[key] = at
	return at
}

func appendNumber(b []byte, p precision, v complex128) []byte {
	if p == single {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(real(v))))
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(imag(v))))
	}
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(real(v)))
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(imag(v)))
}

// numbers is a table of n complex numbers.
func (t *tables) numbers(key string, p precision, n uint64, at func(i uint64) complex128) uint64 {
	return t.add(fmt.Sprint(key, " ", p, " ", n), func(b []byte) []byte {
		for i := range n {
			b = appendNumber(b, p, at(i))
		}
		return b
	})
}

// twiddles are the factors of all passes of a step of length n.
func (t *tables) twiddles(p precision, n uint64, radices []uint64) uint64 {
	return t.add(fmt.Sprint("twiddles ", p, " ", n), func(b []byte) []byte {
		length := n
		for _, r := range radices {
			for j := range length / r {
				for k := uint64(1); k < r; k++ {
					b = appendNumber(b, p, root(j*k, length))
				}
			}
			length /= r
		}
		return b
	})
}

// placeOf is where a step leaves number k of its result.
func placeOf(k, n uint64, radices []uint64) (place uint64) {
	for _, r := range radices {
		n /= r
		place += k % r * n
		k /= r
	}
	return place
}

// places says where a step leaves number k of its result.
func (t *tables) places(n uint64, radices []uint64) uint64 {
	return t.add(fmt.Sprint("places ", n), func(b []byte) []byte {
		for k := range n {
			b = binary.LittleEndian.AppendUint32(b, uint32(placeOf(k, n, radices)))
		}
		return b
	})
}

// order says which number of the result a step leaves at a place.
func (t *tables) order(n uint64, radices []uint64) uint64 {
	return t.add(fmt.Sprint("order ", n), func(b []byte) []byte {
		at := len(b)
		b = append(b, make([]byte, 4*n)...)
		for k := range n {
			binary.LittleEndian.PutUint32(b[at+4*int(placeOf(k, n, radices)):], uint32(k))
		}
		return b
	})
}

// forward is the transform of x in double precision; the length has small factors only.
func forward(x []complex128) []complex128 {
	n := uint64(len(x))
	if n == 1 {
		return x
	}
	r := n
	for f := uint64(2); f*f <= n; f++ {
		if n%f == 0 {
			r = f
			break
		}
	}
	m := n / r
	parts := make([][]complex128, r)
	for q := range r {
		part := make([]complex128, m)
		for i := range m {
			part[i] = x[i*r+q]
		}
		parts[q] = forward(part)
	}
	roots := make([]complex128, n)
	for i := range n {
		roots[i] = root(i, n)
	}
	out := make([]complex128, n)
	for k := range n {
		var sum complex128
		for q := range r {
			sum += parts[q][k%m] * roots[q*k%n]
		}
		out[k] = sum
	}
	return out
}

// chirp is e^(-pi i j^2/n).
func chirp(j, n uint64) complex128 {
	hi, lo := bits.Mul64(j, j)
	_, rest := bits.Div64(hi%(2*n), lo, 2*n)
	return root(rest, 2*n)
}

// spectrum is the transform of the filter that turns products with chirps into a transform of n numbers, over the m of the convolution.
func spectrum(n, m uint64) []complex128 {
	x := make([]complex128, m)
	for j := range n {
		c := chirp(j, n)
		c = complex(real(c)/float64(m), -imag(c)/float64(m))
		x[j] = c
		if j > 0 {
			x[m-j] = c
		}
	}
	return forward(x)
}
