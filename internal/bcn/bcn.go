// Package bcn decodes compressed blocks of textures, BC1 to BC7: 4 × 4 texels in 8 or 16 bytes. Formats and tables are those of
// Direct3D's and ARB_texture_compression_bptc's descriptions; how colours between the ends are rounded is the hardware's choice, and
// here an H200's.
package bcn

import "encoding/binary"

// Format is a format of blocks.
type Format uint8

// The formats.
const (
	None Format = iota
	BC1
	BC2
	BC3
	BC4
	BC4Signed
	BC5
	BC5Signed
	BC6H
	BC6HSigned
	BC7
)

// Side is the texels of a block's side.
const Side = 4

// Texels are a block's, row by row. A channel is 8 bits, 16 bits of a signed or unsigned fraction, or a half, as the format has them.
type Texels [Side * Side][4]uint16

// Bytes is the size of a block.
func (f Format) Bytes() int {
	switch f {
	case BC1, BC4, BC4Signed:
		return 8
	}
	return 16
}

// Decode decodes one block.
func (f Format) Decode(b []byte, t *Texels) {
	le := binary.LittleEndian
	switch f {
	case BC1:
		colours(le.Uint64(b), true, t)
	case BC2:
		colours(le.Uint64(b[8:]), false, t)
		a := le.Uint64(b)
		for i := range t {
			t[i][3] = uint16(a>>(4*i)&15) * 17
		}
	case BC3:
		colours(le.Uint64(b[8:]), false, t)
		ramp(le.Uint64(b), t, 3)
	case BC4:
		*t = opaque(65535)
		fractions(le.Uint64(b), t, 0)
	case BC5:
		*t = opaque(65535)
		fractions(le.Uint64(b), t, 0)
		fractions(le.Uint64(b[8:]), t, 1)
	case BC4Signed:
		*t = opaque(32767)
		signedFractions(le.Uint64(b), t, 0)
	case BC5Signed:
		*t = opaque(32767)
		signedFractions(le.Uint64(b), t, 0)
		signedFractions(le.Uint64(b[8:]), t, 1)
	case BC6H, BC6HSigned:
		floats(&bits{le.Uint64(b), le.Uint64(b[8:])}, f == BC6HSigned, t)
	case BC7:
		modes(&bits{le.Uint64(b), le.Uint64(b[8:])}, t)
	}
}

// opaque is black with an alpha of 1.
func opaque(one uint16) (t Texels) {
	for i := range t {
		t[i][3] = one
	}
	return t
}

// bits is a block that is read from its lowest bit on.
type bits struct{ low, high uint64 }

func (b *bits) take(n int) int {
	v := b.low & (1<<n - 1)
	b.low = b.low>>n | b.high<<(64-n)
	b.high >>= n
	return int(v)
}
