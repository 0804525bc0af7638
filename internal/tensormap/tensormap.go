// Package tensormap is what a CUtensorMap says. The driver packs one, kernels carry it about and change fields of it, the executors
// unpack it. A map may come from anywhere, so Unpack trusts nothing.
package tensormap

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
	NaN        bool  // outside the tensor is NaN, not zero
	Promotion  uint8 // CUtensorMapL2promotion: kept, nothing reads it

	Im2col       bool
	Lower, Upper [MaxRank - 2]int16 // corners of the box of pixels
	Channels     uint32
	Pixels       uint32
}
