package truth

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"kudzu/internal/ptx/isa"
)

// Inputs are the bytes that all lanes read, lane by lane: each register in 16 bytes, then the lane's memory.
func (l *Line) Inputs() []byte {
	rng := rand.New(rand.NewPCG(l.seed(), 1))
	out := make([]byte, 0, Lanes*l.InBytes())
	for lane := range Lanes {
		for _, r := range l.regs {
			out = binary.LittleEndian.AppendUint64(out, l.value(rng, r, lane))
			out = binary.LittleEndian.AppendUint64(out, rng.Uint64())
		}
		if l.edges && l.memory {
			out = append(out, l.edgeMemory(rng)...)
			continue
		}
		for range l.memoryBytes() / 8 {
			out = binary.LittleEndian.AppendUint64(out, pick(rng, bits64))
		}
	}
	return out
}

// Params is the structure that kernels get by value.
func Params() []byte {
	rng := rand.New(rand.NewPCG(7, 7))
	out := make([]byte, slotBytes)
	for i := range out {
		out[i] = byte(rng.Uint32())
	}
	return out
}

func (l *Line) value(rng *rand.Rand, r reg, lane int) uint64 {
	switch {
	case r.role == "membermask":
		return 0xffffffff // all lanes take part: what others would do is not defined
	case r.typ == isa.Pred:
		return uint64(rng.Uint32() & 1)
	case l.matrix() && !r.dest && l.edges:
		return l.edgeFragment(rng, r, lane)
	case l.matrix() && !r.dest:
		return l.fragment(rng, r)
	}
	return edge(rng, r.typ, r.fam.bytes)
}

func (l *Line) matrix() bool { return l.Chapter == "matrix" }

// fragment gives matrix elements that are exact in every format in use, so that only the order of additions can matter.
func (l *Line) fragment(rng *rand.Rand, r reg) uint64 {
	switch word(l.Form, l.Mods, "stype") { // factors near one, four in a register
	case isa.ModUe8m0:
		if r.role == "sa" || r.role == "sb" {
			return uint64(rng.Uint32()&0x07070707 + 0x7c7c7c7c)
		}
	case isa.ModUe4m3:
		if r.role == "sa" || r.role == "sb" {
			return uint64(rng.Uint32()&0x1f1f1f1f + 0x28282828)
		}
	}
	t := l.elementType(r)
	small := func() float64 { return float64(rng.IntN(33)-16) / 8 }
	switch t {
	case isa.F16, isa.F16x2:
		return uint64(half(small())) | uint64(half(small()))<<16
	case isa.BF16, isa.BF16x2:
		return uint64(math.Float32bits(float32(small()))>>16) | uint64(math.Float32bits(float32(small()))&0xffff0000)
	case isa.F32, isa.TF32:
		return uint64(math.Float32bits(float32(small())))
	case isa.F64:
		return math.Float64bits(small())
	case isa.E4M3, isa.E5M2: // exponents near one, both signs
		return uint64(rng.Uint32()&0x83838383 | 0x38383838)
	}
	return rng.Uint64()
}

// elementType is the type of the matrix elements in a register.
func (l *Line) elementType(r reg) isa.Type {
	for _, slot := range map[string][]string{"a": {"atype", "type"}, "b": {"btype", "atype", "type"}, "c": {"ctype", "dtype", "type"}}[r.role] {
		if w := word(l.Form, l.Mods, slot); w != 0 {
			return w.Type()
		}
	}
	return isa.TypeNone
}

// half is x as f16 bits, for values that are exact there.
func half(x float64) uint16 {
	if x == 0 {
		return 0
	}
	frac, exp := math.Frexp(math.Abs(x))
	h := uint16(exp+14)<<10 | uint16(frac*2048)&0x3ff
	if x < 0 {
		h |= 0x8000
	}
	return h
}

func pick(rng *rand.Rand, list []uint64) uint64 {
	if rng.IntN(5) < 2 {
		return rng.Uint64()
	}
	return list[rng.IntN(len(list))]
}

// edge is a value of a type: an edge value three times in five, else random bits.
func edge(rng *rand.Rand, t isa.Type, bytes int) uint64 {
	switch t {
	case isa.F16:
		return pick(rng, bitsF16)
	case isa.BF16:
		return pick(rng, bitsBF16)
	case isa.F16x2:
		return pick(rng, bitsF16)&0xffff | pick(rng, bitsF16)<<16
	case isa.BF16x2:
		return pick(rng, bitsBF16)&0xffff | pick(rng, bitsBF16)<<16
	case isa.F32, isa.TF32:
		return pick(rng, bitsF32)
	case isa.F64:
		return pick(rng, bitsF64)
	}
	if bytes == 4 {
		// Often small: shift amounts, lengths, lane numbers.
		if rng.IntN(4) == 0 {
			return uint64(rng.IntN(40))
		}
		return pick(rng, bits32)
	}
	return pick(rng, bits64)
}

var (
	bits64 = []uint64{0, 1, 2, 7, 31, 32, 63, 64, math.MaxUint64, math.MaxUint64 - 1, 1 << 63, 1<<63 - 1, 1<<63 + 1, 0xffffffff, 1 << 32, 0x80000000,
		0x7fffffff, 0x0123456789abcdef, 0x5555555555555555, 0xffffffff80000000, 0x00ff00ff00ff00ff, 0x8000800080008000, 0x7fff7fff7fff7fff}
	bits32 = []uint64{0, 1, 2, 7, 15, 16, 31, 32, 33, 63, 0xffffffff, 0xfffffffe, 0x80000000, 0x7fffffff, 0x80000001, 0x55555555, 0xaaaaaaaa, 0x00ff00ff,
		0x80808080, 0x7f7f7f7f, 0x01020304, 0x80008000, 0x7fff7fff, 0xffff0000, 0x0000ffff, 0x3f800000, 0x7f800000, 0x7fc00000, 0x00000080, 0x0000ff80}
	bitsF32 = []uint64{0, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0xbf000000, 0x40490fdb, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000,
		0x80800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0xff812345, 0x7fffffff, 0x4b800001, 0xcb000001,
		0x3f800001, 0x3f7fffff, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0x3effffff, 0x3f000001, 0x40200000, 0x40600000, 0xc0200000,
		0x33800000, 0x34000000, 0x477fe000, 0x477ff000, 0x38800000, 0x387fc000, 0x33000000, 0x43000000, 0xc3000000, 0x42ff0000, 0x43e00000, 0x47600000}
	bitsF64 = []uint64{0, 1 << 63, 0x3ff0000000000000, 0xbff0000000000000, 0x3fe0000000000000, 0x400921fb54442d18, 1, 1<<63 | 1, 0x000fffffffffffff,
		0x0010000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000,
		0x7ff0000000000001, 0xfff4000000012345, 0x4330000000000001, 0x3ff0000000000001, 0x3fefffffffffffff, 0xc3e0000000000000, 0x43e0000000000000,
		0x43f0000000000000, 0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000000000, 0x41f0000000000000, 0x4004000000000000, 0x400c000000000000,
		0x47efffffe0000000, 0x47effffff0000000, 0x36a0000000000000, 0x3690000000000000, 0x380fffffe0000000, 0x3810000000000000}
	bitsF16 = []uint64{0, 0x8000, 0x3c00, 0xbc00, 0x3800, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7c01, 0xfd23,
		0x7fff, 0x3c01, 0x3bff, 0x6400, 0x6401, 0x4248, 0x7800, 0xf800, 0x5bf8, 0x1400}
	bitsBF16 = []uint64{0, 0x8000, 0x3f80, 0xbf80, 0x3f00, 0x0001, 0x8001, 0x007f, 0x807f, 0x0080, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x7f81, 0xff91,
		0x7fff, 0x3f81, 0x3f7f, 0x4300, 0x4301, 0x4049, 0x7e80, 0x0100}
)
