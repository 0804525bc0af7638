package progen

import (
	"encoding/binary"
	"math/rand/v2"
)

// edges are bits that are special as some type or other.
var edges = []uint64{0, 1, 2, 7, 31, 32, 33, 63, 64, 0x80000000, 0x7fffffff, 0xffffffff, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
	0x00000001, 0x807fffff, 0x00800000, 0x3c003c00, 0x7c007e00, 0x00018001, 0x3ff0000000000000, 0x7ff0000000000000, 0x7ff8000000000000, 0x8000000000000001,
	0xffffffffffffffff, 0x8000000000000000, 0x7fffffffffffffff, 0x0123456789abcdef}

// Input is what the threads' registers begin with.
func (p *Program) Input() []byte {
	rng := rand.New(rand.NewPCG(p.Seed, 43))
	n, _, _ := p.Sizes()
	out := make([]byte, 0, n)
	for range n / 8 {
		v := rng.Uint64()
		switch rng.IntN(4) {
		case 0:
			v = edges[rng.IntN(len(edges))]
		case 1:
			v &= 0xff
		}
		out = binary.LittleEndian.AppendUint64(out, v)
	}
	return out
}
