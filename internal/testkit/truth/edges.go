package truth

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"kudzu/internal/ptx/isa"
	"kudzu/internal/ptx/isa/spell"
)

// EdgeLines are float atomics and float matrix products with edge values where Lines has plain numbers: in memory, and in
// fragments. The lanes of the first warp hold no infinities and no NaNs, so that a product of matrices has finite results there.
func EdgeLines() []*Line {
	var all []*Line
	seen := map[string]bool{}
	for _, c := range isa.Chapters() {
		for _, f := range c.Forms {
			if f.SM > targetSM || f.Arch != "" || f.PTX > isa.V(9, 0) {
				continue
			}
			var list [][]isa.Mod
			switch c.Name {
			case "atomic":
				list = slices.DeleteFunc(spell.Product(f), func(mods []isa.Mod) bool {
					return word(f, mods, "sem") != 0 || word(f, mods, "scope") != 0 || word(f, mods, "hint") != 0
				})
			case "matrix":
				list = spell.Pairwise(f, spellings)
			}
			for _, mods := range list {
				text := spell.Line(f, mods, false, -1)
				if seen[text] || skips(text) {
					continue
				}
				seen[text] = true
				if l := newEdgeLine(c.Name, text); l != nil {
					all = append(all, l)
				}
			}
		}
	}
	return all
}

// newEdgeLine is nil for a line that computes with nothing but integers.
func newEdgeLine(chapter, text string) *Line {
	l := newLine(recording, chapter, text)
	if l == nil {
		return nil
	}
	l.edges = true
	switch l.Form.Op {
	case isa.Atom, isa.Red:
		if !l.memoryType().IsFloat() {
			return nil
		}
	case isa.Mma, isa.MmaSp, isa.WmmaMma:
		if !l.floatMatrix() {
			return nil
		}
	default:
		return nil
	}
	return l
}

// RecordedEdges are the lines of a record of EdgeLines.
func RecordedEdges(record []Answer) ([]*Line, error) {
	var all []*Line
	for _, r := range record {
		l := newEdgeLine(r.Chapter, r.Text)
		if l == nil || l.Text != r.Text || Lanes*l.OutBytes() != len(r.Bytes) {
			return nil, fmt.Errorf("%s: the record has a line that cannot be run", r.Text)
		}
		all = append(all, l)
	}
	return all, nil
}

// memoryType is what an atomic takes its memory for.
func (l *Line) memoryType() isa.Type {
	if w := word(l.Form, l.Mods, "type"); w != 0 {
		return w.Type()
	}
	return isa.F32 // the vectors of it
}

// edgeMemory fills the lane's memory with edge values of the type that the line takes it for.
func (l *Line) edgeMemory(rng *rand.Rand) []byte {
	t := l.memoryType()
	var out []byte
	for len(out) < slotBytes {
		v := edge(rng, t, t.Bits()/8)
		out = append(out, binary.LittleEndian.AppendUint64(nil, v)[:t.Bits()/8]...)
	}
	return out
}

// Edge values of matrix elements: subnormals, the least normals, what overflows or cancels; then what is no number.
var (
	edgesF16  = []uint64{0, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x0200, 0x3c00, 0xbc00, 0x3c01, 0x1400, 0x9400, 0x7bff, 0xfbff}
	edgesBF16 = []uint64{0, 0x8000, 0x0001, 0x8001, 0x007f, 0x807f, 0x0080, 0x8080, 0x1f80, 0x3f80, 0xbf80, 0x3f81, 0x2000, 0xa000, 0x5f7f, 0xdf7f}
	edgesF32  = []uint64{0, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x1f800000, 0x3f800000, 0xbf800000, 0x3f801fff,
		0x20000000, 0xa0000000, 0x5f7fffff, 0xdf7fffff}
	edgesF64 = []uint64{0, 1 << 63, 1, 1<<63 | 1, 0x000fffffffffffff, 0x800fffffffffffff, 0x0010000000000000, 0x1ff0000000000000, 0x3ff0000000000000,
		0xbff0000000000000, 0x3ff0000000000001, 0x2000000000000000, 0xa000000000000000, 0x5fefffffffffffff, 0xdfefffffffffffff, 0x3ca0000000000000}
	edgesFP8 = []uint64{0x00, 0x80, 0x01, 0x81, 0x07, 0x87, 0x08, 0x88, 0x03, 0x38, 0xb8, 0x39, 0x20, 0xa0, 0x77, 0xf7}
	oddF16   = []uint64{0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01}
	oddBF16  = []uint64{0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81}
	oddF32   = []uint64{0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001}
	oddF64   = []uint64{0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000001}
	oddFP8   = []uint64{0x7f, 0xff, 0x7c, 0xfc, 0x7e}
)

// edgeFragment is a register of matrix elements: half of them edge values, the others small; in the second warp one in fifty is no number.
func (l *Line) edgeFragment(rng *rand.Rand, r reg, lane int) uint64 {
	t := l.elementType(r)
	edges, odd, width := []uint64(nil), []uint64(nil), 32
	switch t {
	case isa.F16, isa.F16x2:
		edges, odd, width = edgesF16, oddF16, 16
	case isa.BF16, isa.BF16x2:
		edges, odd, width = edgesBF16, oddBF16, 16
	case isa.F32, isa.TF32:
		edges, odd = edgesF32, oddF32
	case isa.F64:
		edges, odd, width = edgesF64, oddF64, 64
	case isa.E4M3, isa.E5M2:
		edges, odd, width = edgesFP8, oddFP8, 8
	default:
		return l.fragment(rng, r)
	}
	v := l.fragment(rng, r)
	for at := 0; at < 8*r.fam.bytes; at += width {
		mask := (uint64(1)<<(width-1)<<1 - 1) << at
		switch n := rng.IntN(50); {
		case n == 0 && lane >= Lanes/2:
			v = v&^mask | odd[rng.IntN(len(odd))]<<at
		case n < 25:
			v = v&^mask | edges[rng.IntN(len(edges))]<<at
		}
	}
	return v
}
