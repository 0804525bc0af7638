package tensormap

import "encoding/binary"

// The layout of a packed map is the card's, as the vendor's driver writes it and tensormap.replace changes it (recorded on an H200):
// eight words of 64 bits that copies read, and two with sums of the driver's.

// bits is a part of a map: some bits of a word.
type bits struct{ word, shift, width uint8 }

var (
	inAddress    = bits{0, 0, 64}
	inIm2col     = bits{1, 0, 1}
	inRank       = bits{1, 4, 3} // less one, as all sizes are
	inType       = bits{1, 7, 4} // an index of codes
	inInterleave = bits{1, 11, 2}
	inSwizzle    = bits{1, 13, 2}
	inNaN        = bits{1, 15, 1}
	inTF32       = bits{1, 16, 1} // of F32 and F32FTZ
	inPromotion  = bits{1, 17, 2}
	inStride     = [MaxRank - 1]bits{{1, 32, 32}, {2, 0, 32}, {2, 32, 32}, {3, 0, 32}} // in pieces of 16 bytes
	inStrideHigh = [MaxRank - 1]bits{{3, 32, 4}, {3, 36, 4}, {3, 40, 4}, {3, 44, 4}}
	inDim        = [MaxRank]bits{{4, 0, 32}, {4, 32, 32}, {5, 0, 32}, {5, 32, 32}, {6, 0, 32}}
	inStep       = [MaxRank]bits{{6, 32, 3}, {6, 35, 3}, {6, 38, 3}, {6, 41, 3}, {6, 44, 3}}
	inBox        = [MaxRank]bits{{6, 56, 8}, {7, 0, 8}, {7, 8, 8}, {7, 16, 8}, {7, 24, 8}} // the first is im2col's channels
	inPixels     = bits{7, 32, 10}
	inBoxBytes   = bits{8, 0, 64} // of the driver
	inBoxAlign   = bits{9, 0, 64} // of the driver
)

// codes are the types by their numbers in a map, which are tensormap.replace's too; there TF32 and TF32FTZ follow.
var codes = [...]Type{U8, U16, U32, S32, U64, S64, F16, F32, F32FTZ, F64, BF16}

// corner is where im2col's lower and upper corners of spatial dimension i are: 32 bits for all of them, shared out by rank.
func corner(rank, i int) (lower, upper bits) {
	width := uint8([...]int{3: 16, 4: 8, 5: 5}[rank])
	return bits{7, width * uint8(i), width}, bits{7, 16 + width*uint8(i), width}
}

type words [Bytes / 8]uint64

func (w *words) get(f bits) uint64 { return w[f.word] >> f.shift & f.mask() }

func (w *words) set(f bits, v uint64) {
	w[f.word] = w[f.word]&^(f.mask()<<f.shift) | v&f.mask()<<f.shift
}

func (f bits) mask() uint64 { return 1<<f.width - 1 } // of 64 bits: all

// signed is a part that is a signed number.
func (w *words) signed(f bits) int64 {
	left := 64 - f.width
	return int64(w.get(f)<<left) >> left
}

// code is the number of a type, and whether it is a TF32.
func (t Type) code() (n uint64, tf32 bool) {
	switch t {
	case TF32:
		t, tf32 = F32, true
	case TF32FTZ:
		t, tf32 = F32FTZ, true
	}
	for i, c := range codes {
		if c == t {
			return uint64(i), tf32
		}
	}
	panic("BUG: a tensor type without a number")
}

// Pack writes the map.
func (m *Map) Pack() [Bytes]byte {
	var w words
	flag := func(f bits, on bool) {
		if on {
			w.set(f, 1)
		}
	}
	w.set(inAddress, m.Address)
	flag(inIm2col, m.Im2col)
	w.set(inRank, uint64(m.Rank-1))
	code, tf32 := m.Type.code()
	w.set(inType, code)
	flag(inTF32, tf32)
	w.set(inInterleave, uint64(m.Interleave))
	w.set(inSwizzle, uint64(m.Swizzle))
	flag(inNaN, m.NaN)
	w.set(inPromotion, uint64(m.Promotion))
	bytes := uint64(m.Type.Bytes())
	for i := range m.Rank {
		w.set(inDim[i], m.Dim[i]-1)
		w.set(inStep[i], uint64(m.Step[i])-1)
		if i > 0 {
			w.set(inStride[i-1], m.Stride[i-1]>>4)
			w.set(inStrideHigh[i-1], m.Stride[i-1]>>36)
		}
		if !m.Im2col {
			w.set(inBox[i], uint64(m.Box[i])-1)
			bytes *= uint64(m.Box[i] / m.Step[i])
		}
	}
	if m.Im2col {
		w.set(inBox[0], uint64(m.Channels)-1)
		w.set(inPixels, uint64(m.Pixels)-1)
		for i := range m.Rank - 2 {
			lower, upper := corner(m.Rank, i)
			w.set(lower, uint64(m.Lower[i]))
			w.set(upper, uint64(m.Upper[i]))
		}
		bytes *= uint64(m.Channels) * uint64(m.Pixels)
	}
	w.set(inBoxBytes, bytes)
	align := uint64(16)
	if m.Swizzle != NoSwizzle {
		align = 128 << m.Swizzle
	}
	w.set(inBoxAlign, align)
	var b [Bytes]byte
	for i, v := range w {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	return b
}

// Unpack reads a map; false for bytes that cannot be one.
func Unpack(b []byte) (*Map, bool) {
	if len(b) < Bytes {
		return nil, false
	}
	var w words
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	m := &Map{
		Address: w.get(inAddress), Rank: int(w.get(inRank)) + 1, Interleave: Interleave(w.get(inInterleave)), Swizzle: Swizzle(w.get(inSwizzle)),
		NaN: w.get(inNaN) != 0, Im2col: w.get(inIm2col) != 0, Promotion: uint8(w.get(inPromotion)),
	}
	code := w.get(inType)
	if code >= uint64(len(codes)) || m.Rank > MaxRank || m.Interleave > Slices32 || m.Im2col && m.Rank < 3 {
		return nil, false
	}
	m.Type = codes[code]
	if w.get(inTF32) != 0 {
		switch m.Type {
		case F32:
			m.Type = TF32
		case F32FTZ:
			m.Type = TF32FTZ
		}
	}
	for i := range MaxRank {
		m.Dim[i], m.Box[i], m.Step[i] = w.get(inDim[i])+1, uint32(w.get(inBox[i]))+1, uint32(w.get(inStep[i]))+1
	}
	for i := range m.Stride {
		m.Stride[i] = w.get(inStride[i])<<4 | w.get(inStrideHigh[i])<<36
	}
	if m.Im2col {
		m.Channels, m.Pixels = m.Box[0], uint32(w.get(inPixels))+1
		for i := range m.Rank - 2 {
			lower, upper := corner(m.Rank, i)
			m.Lower[i], m.Upper[i] = int16(w.signed(lower)), int16(w.signed(upper))
		}
	}
	return m, true
}
