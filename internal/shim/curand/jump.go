package curand

import (
	"sync"

	"kudzu/internal/shim"
)

// vector is XORWOW's state without its counter, and matrix one step of it over GF(2): row i is what bit i becomes.
type (
	vector [5]uint32
	matrix [160]vector
)

func (m *matrix) times(v vector) (r vector) {
	for w, x := range v {
		for b := 0; x != 0; b, x = b+1, x>>1 {
			if x&1 != 0 {
				for k, y := range &m[32*w+b] {
					r[k] ^= y
				}
			}
		}
	}
	return r
}

func xorwowStep(v vector) vector {
	t := v[0] ^ v[0]>>2
	return vector{v[1], v[2], v[3], v[4], v[4] ^ v[4]<<4 ^ t ^ t<<1}
}

// xorwowPowers are the matrices of 2^k steps.
var xorwowPowers = sync.OnceValue(func() []matrix {
	all := make([]matrix, 80) // the farthest jump: bit 11 of the stream's number, 2^67 apart
	for i := range all[0] {
		var v vector
		v[i/32] = 1 << (i % 32)
		all[0][i] = xorwowStep(v)
	}
	for k := 1; k < len(all); k++ {
		m := &all[k-1]
		for i, row := range m {
			all[k][i] = m.times(row)
		}
	}
	return all
})

func xorwowJump(p *shim.Params, k uint, add uint32) {
	p.U32(362437 * add)
	m := &xorwowPowers()[k]
	for i := range m {
		p.U32(m[i][:]...)
	}
}

// MRG32k3a's moduli, and its two recurrences as matrices.
const (
	modulus1 = 4294967087
	modulus2 = 4294944443
)

type matrix3 [9]uint32

func (m *matrix3) squared(modulus uint64) (r matrix3) {
	for i := range 3 {
		for j := range 3 {
			sum := uint64(0)
			for k := range 3 {
				sum += uint64(m[3*i+k]) * uint64(m[3*k+j]) % modulus
			}
			r[3*i+j] = uint32(sum % modulus)
		}
	}
	return r
}

// mrgPowers are the matrices of 2^k steps.
var mrgPowers = sync.OnceValue(func() [][2]matrix3 {
	all := make([][2]matrix3, 76+17)
	all[0] = [2]matrix3{{0, 1, 0, 0, 0, 1, modulus1 - 810728, 1403580, 0}, {0, 1, 0, 0, 0, 1, modulus2 - 1370589, 0, 527612}}
	for k := 1; k < len(all); k++ {
		all[k] = [2]matrix3{all[k-1][0].squared(modulus1), all[k-1][1].squared(modulus2)}
	}
	return all
})

func mrgJump(p *shim.Params, k uint, _ uint32) {
	m := &mrgPowers()[k]
	p.U32(m[0][:]...).U32(m[1][:]...)
}
