package tensormap

import (
	"encoding/binary"
	"reflect"
	"testing"
)

// plain is the map that the recorded ones are variations of: bytes, 256 x 128 x 64, boxes of 16 x 8 x 4.
func plain(rank int) *Map {
	m := &Map{
		Rank: rank, Address: 0x7f7744000000,
		Dim: [5]uint64{256, 128, 64, 32, 16}, Stride: [4]uint64{256, 32768, 2097152, 67108864}, Box: [5]uint32{16, 8, 4, 2, 2}, Step: [5]uint32{1, 1, 1, 1, 1},
	}
	for i := rank; i < MaxRank; i++ {
		m.Dim[i], m.Box[i], m.Stride[i-1] = 1, 1, 0
	}
	return m
}

// The first ten words of what cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col wrote (driver 580, H200); the others are 0.
func TestLayout(t *testing.T) {
	im2col := func(m *Map) { m.Im2col, m.Channels, m.Pixels = true, 16, 32 }
	scale := func(m *Map, typ Type) {
		m.Type = typ
		for i := range m.Stride {
			m.Stride[i] *= uint64(typ.Bytes())
		}
	}
	rows := []struct {
		name   string
		rank   int
		change func(m *Map)
		want   [10]uint64
	}{
		{"U8", 3, func(m *Map) { scale(m, U8) }, [10]uint64{0x7f7744000000, 0x1000000020, 0x800, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x200, 0x10}},
		{"U16", 3, func(m *Map) { scale(m, U16) }, [10]uint64{0x7f7744000000, 0x20000000a0, 0x1000, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x400, 0x10}},
		{"U32", 3, func(m *Map) { scale(m, U32) }, [10]uint64{0x7f7744000000, 0x4000000120, 0x2000, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x800, 0x10}},
		{"S32", 3, func(m *Map) { scale(m, S32) }, [10]uint64{0x7f7744000000, 0x40000001a0, 0x2000, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x800, 0x10}},
		{"U64", 3, func(m *Map) { scale(m, U64) }, [10]uint64{0x7f7744000000, 0x8000000220, 0x4000, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x1000, 0x10}},
		{"S64", 3, func(m *Map) { scale(m, S64) }, [10]uint64{0x7f7744000000, 0x80000002a0, 0x4000, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x1000, 0x10}},
		{"F16", 3, func(m *Map) { scale(m, F16) }, [10]uint64{0x7f7744000000, 0x2000000320, 0x1000, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x400, 0x10}},
		{"F32", 3, func(m *Map) { scale(m, F32) }, [10]uint64{0x7f7744000000, 0x40000003a0, 0x2000, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x800, 0x10}},
		{"F64", 3, func(m *Map) { scale(m, F64) }, [10]uint64{0x7f7744000000, 0x80000004a0, 0x4000, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x1000, 0x10}},
		{"BF16", 3, func(m *Map) { scale(m, BF16) }, [10]uint64{0x7f7744000000, 0x2000000520, 0x1000, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x400, 0x10}},
		{"F32FTZ", 3, func(m *Map) { scale(m, F32FTZ) }, [10]uint64{0x7f7744000000, 0x4000000420, 0x2000, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x800, 0x10}},
		{"TF32", 3, func(m *Map) { scale(m, TF32) }, [10]uint64{0x7f7744000000, 0x40000103a0, 0x2000, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x800, 0x10}},
		{"TF32FTZ", 3, func(m *Map) { scale(m, TF32FTZ) }, [10]uint64{0x7f7744000000, 0x4000010420, 0x2000, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x800, 0x10}},
		{"rank", 1, func(m *Map) {}, [10]uint64{0x7f7744000000, 0x0, 0x0, 0x0, 0xff, 0x0, 0xf00000000000000, 0x0, 0x10, 0x10}},
		{"rank", 2, func(m *Map) {}, [10]uint64{0x7f7744000000, 0x1000000010, 0x0, 0x0, 0x7f000000ff, 0x0, 0xf00000000000000, 0x7, 0x80, 0x10}},
		{"rank", 3, func(m *Map) {}, [10]uint64{0x7f7744000000, 0x1000000020, 0x800, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x200, 0x10}},
		{"rank", 4, func(m *Map) {}, [10]uint64{0x7f7744000000, 0x1000000030, 0x2000000000800, 0x0, 0x7f000000ff, 0x1f0000003f, 0xf00000000000000, 0x10307, 0x400, 0x10}},
		{"rank", 5, func(m *Map) {}, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0000000000000f, 0x1010307, 0x800, 0x10}},
		{"dim", 5, func(m *Map) { m.Dim[0] = 0x1234 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000000000800, 0x400000, 0x7f00001233, 0x1f0000003f, 0xf0000000000000f, 0x1010307, 0x800, 0x10}},
		{"dim", 5, func(m *Map) { m.Dim[1] = 0x1235 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000000000800, 0x400000, 0x1234000000ff, 0x1f0000003f, 0xf0000000000000f, 0x1010307, 0x800, 0x10}},
		{"dim", 5, func(m *Map) { m.Dim[2] = 0x1236 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f00001235, 0xf0000000000000f, 0x1010307, 0x800, 0x10}},
		{"dim", 5, func(m *Map) { m.Dim[3] = 0x1237 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000000000800, 0x400000, 0x7f000000ff, 0x12360000003f, 0xf0000000000000f, 0x1010307, 0x800, 0x10}},
		{"dim", 5, func(m *Map) { m.Dim[4] = 0x1238 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf00000000001237, 0x1010307, 0x800, 0x10}},
		{"dim 2^32", 3, func(m *Map) { m.Dim[2] = 1 << 32 }, [10]uint64{0x7f7744000000, 0x1000000020, 0x800, 0x0, 0x7f000000ff, 0xffffffff, 0xf00000000000000, 0x307, 0x200, 0x10}},
		{"stride", 5, func(m *Map) { m.Stride[0] = 0xf234567890 }, [10]uint64{0x7f7744000000, 0x2345678900000040, 0x2000000000800, 0xf00400000, 0x7f000000ff, 0x1f0000003f, 0xf0000000000000f, 0x1010307, 0x800, 0x10}},
		{"stride", 5, func(m *Map) { m.Stride[1] = 0xf234567890 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000023456789, 0xf000400000, 0x7f000000ff, 0x1f0000003f, 0xf0000000000000f, 0x1010307, 0x800, 0x10}},
		{"stride", 5, func(m *Map) { m.Stride[2] = 0xf234567890 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2345678900000800, 0xf0000400000, 0x7f000000ff, 0x1f0000003f, 0xf0000000000000f, 0x1010307, 0x800, 0x10}},
		{"stride", 5, func(m *Map) { m.Stride[3] = 0xf234567890 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000000000800, 0xf00023456789, 0x7f000000ff, 0x1f0000003f, 0xf0000000000000f, 0x1010307, 0x800, 0x10}},
		{"box", 5, func(m *Map) { m.Box[0] *= 2 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0x1f0000000000000f, 0x1010307, 0x1000, 0x10}},
		{"box", 5, func(m *Map) { m.Box[1] *= 2 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0000000000000f, 0x101030f, 0x1000, 0x10}},
		{"box", 5, func(m *Map) { m.Box[2] *= 2 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0000000000000f, 0x1010707, 0x1000, 0x10}},
		{"box", 5, func(m *Map) { m.Box[3] *= 2 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0000000000000f, 0x1030307, 0x1000, 0x10}},
		{"box", 5, func(m *Map) { m.Box[4] *= 2 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0000000000000f, 0x3010307, 0x1000, 0x10}},
		{"step", 5, func(m *Map) { m.Step[0] = 5 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0000040000000f, 0x1010307, 0x180, 0x10}},
		{"step", 5, func(m *Map) { m.Step[1] = 5 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0000200000000f, 0x1010307, 0x100, 0x10}},
		{"step", 5, func(m *Map) { m.Step[2] = 5 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0001000000000f, 0x1010307, 0x0, 0x10}},
		{"step", 5, func(m *Map) { m.Step[3] = 5 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0008000000000f, 0x1010307, 0x0, 0x10}},
		{"step", 5, func(m *Map) { m.Step[4] = 5 }, [10]uint64{0x7f7744000000, 0x1000000040, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0040000000000f, 0x1010307, 0x0, 0x10}},
		{"interleave", 3, func(m *Map) { scale(m, U16); m.Interleave = 0 }, [10]uint64{0x7f7744000000, 0x20000000a0, 0x1000, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x400, 0x10}},
		{"interleave", 3, func(m *Map) { scale(m, U16); m.Interleave = 1; m.Box[0] = 8 }, [10]uint64{0x7f7744000000, 0x20000008a0, 0x1000, 0x0, 0x7f000000ff, 0x3f, 0x700000000000000, 0x307, 0x200, 0x10}},
		{"interleave", 3, func(m *Map) { scale(m, U16); m.Interleave = 2 }, [10]uint64{0x7f7744000000, 0x20000010a0, 0x1000, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x400, 0x10}},
		{"swizzle", 3, func(m *Map) { m.Swizzle = 0 }, [10]uint64{0x7f7744000000, 0x1000000020, 0x800, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x200, 0x10}},
		{"swizzle", 3, func(m *Map) { m.Swizzle = 1 }, [10]uint64{0x7f7744000000, 0x1000002020, 0x800, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x200, 0x100}},
		{"swizzle", 3, func(m *Map) { m.Swizzle = 2 }, [10]uint64{0x7f7744000000, 0x1000004020, 0x800, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x200, 0x200}},
		{"swizzle", 3, func(m *Map) { m.Swizzle = 3 }, [10]uint64{0x7f7744000000, 0x1000006020, 0x800, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x200, 0x400}},
		{"promotion", 3, func(m *Map) { m.Promotion = 0 }, [10]uint64{0x7f7744000000, 0x1000000020, 0x800, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x200, 0x10}},
		{"promotion", 3, func(m *Map) { m.Promotion = 1 }, [10]uint64{0x7f7744000000, 0x1000020020, 0x800, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x200, 0x10}},
		{"promotion", 3, func(m *Map) { m.Promotion = 2 }, [10]uint64{0x7f7744000000, 0x1000040020, 0x800, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x200, 0x10}},
		{"promotion", 3, func(m *Map) { m.Promotion = 3 }, [10]uint64{0x7f7744000000, 0x1000060020, 0x800, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x200, 0x10}},
		{"fill", 3, func(m *Map) { scale(m, F32); m.NaN = false }, [10]uint64{0x7f7744000000, 0x40000003a0, 0x2000, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x800, 0x10}},
		{"fill", 3, func(m *Map) { scale(m, F32); m.NaN = true }, [10]uint64{0x7f7744000000, 0x40000083a0, 0x2000, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x307, 0x800, 0x10}},
		{"im2col", 3, func(m *Map) { im2col(m) }, [10]uint64{0x7f7744000000, 0x1000000021, 0x800, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x1f00000000, 0x200, 0x10}},
		{"im2col", 4, func(m *Map) { im2col(m) }, [10]uint64{0x7f7744000000, 0x1000000031, 0x2000000000800, 0x0, 0x7f000000ff, 0x1f0000003f, 0xf00000000000000, 0x1f00000000, 0x200, 0x10}},
		{"im2col", 5, func(m *Map) { im2col(m) }, [10]uint64{0x7f7744000000, 0x1000000041, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0000000000000f, 0x1f00000000, 0x200, 0x10}},
		{"lower", 5, func(m *Map) { im2col(m); m.Lower[0] = -3 }, [10]uint64{0x7f7744000000, 0x1000000041, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0000000000000f, 0x1f0000001d, 0x200, 0x10}},
		{"lower", 5, func(m *Map) { im2col(m); m.Lower[1] = -4 }, [10]uint64{0x7f7744000000, 0x1000000041, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0000000000000f, 0x1f00000380, 0x200, 0x10}},
		{"lower", 5, func(m *Map) { im2col(m); m.Lower[2] = -5 }, [10]uint64{0x7f7744000000, 0x1000000041, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0000000000000f, 0x1f00006c00, 0x200, 0x10}},
		{"upper", 5, func(m *Map) { im2col(m); m.Upper[0] = 5 }, [10]uint64{0x7f7744000000, 0x1000000041, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0000000000000f, 0x1f00050000, 0x200, 0x10}},
		{"upper", 5, func(m *Map) { im2col(m); m.Upper[1] = 6 }, [10]uint64{0x7f7744000000, 0x1000000041, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0000000000000f, 0x1f00c00000, 0x200, 0x10}},
		{"upper", 5, func(m *Map) { im2col(m); m.Upper[2] = 7 }, [10]uint64{0x7f7744000000, 0x1000000041, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0000000000000f, 0x1f1c000000, 0x200, 0x10}},
		{"corners", 3, func(m *Map) { im2col(m); m.Lower[0], m.Upper[0] = -7, 6 }, [10]uint64{0x7f7744000000, 0x1000000021, 0x800, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x1f0006fff9, 0x200, 0x10}},
		{"corners", 4, func(m *Map) { im2col(m); m.Lower[0], m.Upper[0] = -7, 6 }, [10]uint64{0x7f7744000000, 0x1000000031, 0x2000000000800, 0x0, 0x7f000000ff, 0x1f0000003f, 0xf00000000000000, 0x1f000600f9, 0x200, 0x10}},
		{"corners", 5, func(m *Map) { im2col(m); m.Lower[0], m.Upper[0] = -7, 6 }, [10]uint64{0x7f7744000000, 0x1000000041, 0x2000000000800, 0x400000, 0x7f000000ff, 0x1f0000003f, 0xf0000000000000f, 0x1f00060019, 0x200, 0x10}},
		{"corners", 4, func(m *Map) { im2col(m); m.Lower, m.Upper = [3]int16{-100, -101}, [3]int16{90, 91} }, [10]uint64{0x7f7744000000, 0x1000000031, 0x2000000000800, 0x0, 0x7f000000ff, 0x1f0000003f, 0xf00000000000000, 0x1f5b5a9b9c, 0x200, 0x10}},
		{"channels", 3, func(m *Map) { im2col(m); m.Channels = 48 }, [10]uint64{0x7f7744000000, 0x1000000021, 0x800, 0x0, 0x7f000000ff, 0x3f, 0x2f00000000000000, 0x1f00000000, 0x600, 0x10}},
		{"pixels", 3, func(m *Map) { im2col(m); m.Pixels = 1000 }, [10]uint64{0x7f7744000000, 0x1000000021, 0x800, 0x0, 0x7f000000ff, 0x3f, 0xf00000000000000, 0x3e700000000, 0x3e80, 0x10}},
	}
	for _, r := range rows {
		m := plain(r.rank)
		r.change(m)
		b := m.Pack()
		for i := range Bytes / 8 {
			want := uint64(0)
			if i < len(r.want) {
				want = r.want[i]
			}
			if got := binary.LittleEndian.Uint64(b[8*i:]); got != want {
				t.Errorf("%s, rank %d: word %d is %#x, the driver wrote %#x", r.name, r.rank, i, got, want)
			}
		}
		again, ok := Unpack(b[:])
		if m.Im2col { // its box is not in the map
			m.Box = again.Box
		}
		if !ok || !reflect.DeepEqual(again, m) {
			t.Errorf("%s, rank %d: unpacks to %+v, not %+v", r.name, r.rank, again, m)
		}
	}
}

// A change of a field is what packing the changed map writes, but for the driver's sums.
func TestReplace(t *testing.T) {
	rows := []struct {
		field  string
		ord    int
		value  uint64
		change func(m *Map)
	}{
		{".global_address", 0, 0x123456789ab0, func(m *Map) { m.Address = 0x123456789ab0 }},
		{".rank", 0, 3, func(m *Map) { m.Rank = 4 }},
		{".box_dim", 0, 256, func(m *Map) { m.Box[0] = 256 }},
		{".box_dim", 3, 7, func(m *Map) { m.Box[3] = 7 }},
		{".global_dim", 2, 1 << 20, func(m *Map) { m.Dim[2] = 1 << 20 }},
		{".global_dim", 4, 0, func(m *Map) { m.Dim[4] = 1 << 32 }},
		{".global_stride", 3, 0xf234567890, func(m *Map) { m.Stride[3] = 0xf234567890 }},
		{".element_stride", 1, 8, func(m *Map) { m.Step[1] = 8 }},
		{".elemtype", 0, 9, func(m *Map) { m.Type = F64 }},
		{".elemtype", 0, 11, func(m *Map) { m.Type = TF32 }},
		{".elemtype", 0, 12, func(m *Map) { m.Type = TF32FTZ }},
		{".interleave_layout", 0, 2, func(m *Map) { m.Interleave = Slices32 }},
		{".swizzle_mode", 0, 3, func(m *Map) { m.Swizzle = Swizzle128 }},
		{".fill_mode", 0, 1, func(m *Map) { m.NaN = true }},
	}
	for _, r := range rows {
		m := plain(MaxRank)
		b := m.Pack()
		patches := FieldOf(r.field).Patches(r.ord, r.value)
		if len(patches) == 0 {
			t.Errorf("%s %d: no patches", r.field, r.ord)
		}
		for _, p := range patches {
			word := b[p.Off : p.Off+p.Bytes]
			if p.Bytes == 8 {
				binary.LittleEndian.PutUint64(word, p.Apply(binary.LittleEndian.Uint64(word), r.value))
			} else {
				binary.LittleEndian.PutUint32(word, uint32(p.Apply(uint64(binary.LittleEndian.Uint32(word)), r.value)))
			}
		}
		r.change(m)
		if again, ok := Unpack(b[:]); !ok || !reflect.DeepEqual(again, m) {
			t.Errorf("%s %d: unpacks to %+v, not %+v", r.field, r.ord, again, m)
		}
	}
	if FieldOf(".global_stride").Patches(4, 0) != nil || FieldOf(".elemtype").Patches(0, 13) != nil || FieldOf(".nonsense").Patches(0, 0) != nil {
		t.Error("patches of what there is not")
	}
}
