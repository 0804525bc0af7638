// Package tensormap is what a CUtensorMap says: the vendor leaves its 128 bytes opaque, and these are ours. The driver packs
// them, kernels carry them about, the executors unpack them. A map may come from anywhere, so Unpack trusts nothing.
package tensormap

import "encoding/binary"

// Bytes is the size of a packed map; Align is what its address must be a multiple of.
const (
	Bytes = 128
	Align = 64
)

// MaxRank is the most dimensions a tensor has.
const MaxRank = 5

// Type is the elements' type; the numbers are CUtensorMapDataType's.
type Type uint8

// The types.
const (
	U8 Type = iota
	U16
	U32
	S32
	U64
	S64
	F16
	F32
	F64
	BF16
	F32FTZ
	TF32
	TF32FTZ
	numTypes
)

var typeBytes = [numTypes]int{U8: 1, U16: 2, U32: 4, S32: 4, U64: 8, S64: 8, F16: 2, F32: 4, F64: 8, BF16: 2, F32FTZ: 4, TF32: 4, TF32FTZ: 4}

// Bytes is the size of an element.
func (t Type) Bytes() int { return typeBytes[t] }

// Valid reports a type that a copy can move.
func (t Type) Valid() bool { return t < numTypes }

// Float reports a type that has a NaN.
func (t Type) Float() bool { return t >= F16 && t < numTypes }

// Interleave is CUtensorMapInterleave: elements lie in slices of 16 or 32 bytes.
type Interleave uint8

// The layouts.
const (
	Plain Interleave = iota
	Slices16
	Slices32
)

// Swizzle is CUtensorMapSwizzle: how 16-byte pieces are permuted in shared memory.
type Swizzle uint8

// The swizzles that this machine has.
const (
	NoSwizzle Swizzle = iota
	Swizzle32
	Swizzle64
	Swizzle128
)

// Span is the bytes within which a swizzle permutes.
func (s Swizzle) Span() int { return 16 << s }

// At is where the byte at an address goes: the bits that number 16-byte pieces are combined with those above 128 bytes.
func (s Swizzle) At(addr uint64) uint64 {
	return addr ^ (addr >> 7 & (1<<s - 1) << 4)
}

// Map describes a tensor and the box that a copy moves.
type Map struct {
	Type       Type
	Rank       int
	Address    uint64
	Dim        [MaxRank]uint64     // elements, innermost first
	Stride     [MaxRank - 1]uint64 // bytes, of all dimensions but the innermost
	Box        [MaxRank]uint32     // tiles: elements
	Step       [MaxRank]uint32     // elements from one that is taken to the next
	Interleave Interleave
	Swizzle    Swizzle
	NaN        bool // outside the tensor is NaN, not zero

	Im2col       bool
	Lower, Upper [MaxRank - 2]int16 // corners of the box of pixels
	Channels     uint32
	Pixels       uint32
}

// magic begins every packed map, so that other bytes are seen for what they are.
const magic = 0x70616d7a

// Pack writes the map.
func (m *Map) Pack() [Bytes]byte {
	var b [Bytes]byte
	le := binary.LittleEndian
	le.PutUint32(b[0:], magic)
	b[4], b[5], b[6], b[7] = byte(m.Type), byte(m.Rank), byte(m.Interleave), byte(m.Swizzle)
	if m.NaN {
		b[8] |= 1
	}
	if m.Im2col {
		b[8] |= 2
	}
	le.PutUint64(b[16:], m.Address)
	for i := range MaxRank {
		le.PutUint32(b[24+4*i:], uint32(m.Dim[i]-1)) // 2^32 fits
		le.PutUint16(b[44+2*i:], uint16(m.Box[i]))
		b[9+i] = byte(m.Step[i])
	}
	for i, s := range m.Stride {
		le.PutUint64(b[56+8*i:], s)
	}
	for i := range m.Lower {
		le.PutUint16(b[88+2*i:], uint16(m.Lower[i]))
		le.PutUint16(b[94+2*i:], uint16(m.Upper[i]))
	}
	le.PutUint16(b[100:], uint16(m.Channels))
	le.PutUint16(b[102:], uint16(m.Pixels))
	return b
}

// Unpack reads a map; false for bytes that are none.
func Unpack(b []byte) (*Map, bool) {
	le := binary.LittleEndian
	if len(b) < Bytes || le.Uint32(b) != magic || b[4] >= byte(numTypes) || b[5] < 1 || b[5] > MaxRank || b[6] > byte(Slices32) || b[7] > byte(Swizzle128) {
		return nil, false
	}
	m := &Map{Type: Type(b[4]), Rank: int(b[5]), Interleave: Interleave(b[6]), Swizzle: Swizzle(b[7]), NaN: b[8]&1 != 0, Im2col: b[8]&2 != 0, Address: le.Uint64(b[16:])}
	for i := range MaxRank {
		m.Dim[i] = uint64(le.Uint32(b[24+4*i:])) + 1
		m.Box[i] = uint32(le.Uint16(b[44+2*i:]))
		m.Step[i] = max(1, uint32(b[9+i]))
	}
	for i := range m.Stride {
		m.Stride[i] = le.Uint64(b[56+8*i:])
	}
	for i := range m.Lower {
		m.Lower[i] = int16(le.Uint16(b[88+2*i:]))
		m.Upper[i] = int16(le.Uint16(b[94+2*i:]))
	}
	m.Channels, m.Pixels = uint32(le.Uint16(b[100:])), uint32(le.Uint16(b[102:]))
	return m, true
}
