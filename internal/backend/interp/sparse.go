package interp

import (
	"math"

	"kudzu/internal/ptx/isa"
	"kudzu/internal/softfloat"
)

// sparsity is the metadata of mma.sp: which of the elements of a row the compressed matrix holds.
type sparsity struct {
	meta     operand
	selector int
}

// decodeMmaSp is mma.sp: a has half the columns, the metadata says which.
func decodeMmaSp(d *decoder) step {
	x := d.newMma()
	x.place()
	x.compressedK = x.k / 2
	sel := d.src("f")
	x.sparse = &sparsity{meta: d.src("e"), selector: int(sel.imm)}
	x.scale = d.blockScale(x)
	return d.together(x.run)
}

// chunk is how many elements share four bits of metadata.
func (x *mma) chunk() int {
	switch {
	case x.a.t == isa.TF32:
		return 2
	case x.a.width == 4:
		return 8
	}
	return 4
}

// row is the metadata of a row (recorded on sm_90; the manual has it in figures). Of the four threads of group r%8 take part: one
// chosen by the selector, the first or second two of them, or all four. For 16- and 32-bit elements a thread holds 16 bits of
// row r%8 and, above them, 16 of the row 8 below, threads going along the columns. For smaller elements threads hold 32 bits of
// one row each, in turn of the upper and the lower row.
func (s *sparsity) row(w *warp, x *mma, r int) uint64 {
	n := x.k / x.chunk() * 4 / 16 // threads that hold two rows
	first := 0
	switch n {
	case 1:
		first = s.selector & 3
	case 2:
		first = s.selector & 1 * 2
	}
	get := func(i int) uint64 {
		if lane := r%8*4 + first + i; lane < len(w.threads) {
			return s.meta.get(w.threads[lane])
		}
		return 0
	}
	var v uint64
	if x.a.width >= 16 {
		for i := range n {
			v |= get(i) >> (r / 8 * 16) & 0xffff << (16 * i)
		}
		return v
	}
	for i := range n / 2 {
		v |= get(2*i+r/8) << (32 * i)
	}
	return v
}

// columns is, for every element of the compressed matrix, the row of b it is multiplied with; for tf32 the first row of two and,
// below it, four bits that say which halves of them.
func (s *sparsity) columns(w *warp, x *mma) [][]int {
	list := make([][]int, x.m)
	chunk := x.chunk()
	for r := range list {
		meta := s.row(w, x, r)
		at := make([]int, x.k/2)
		for c := range x.k / chunk {
			bits := int(meta >> (4 * c) & 0xf)
			base := c * chunk
			switch chunk {
			case 2:
				at[c] = base<<4 | bits
			case 8: // pairs of 4-bit elements
				for i := range 4 {
					at[c*4+i] = base + bits>>(i/2*2)&3*2 + i%2
				}
			default:
				for i := range 2 {
					at[c*2+i] = base + bits>>(2*i)&3
				}
			}
		}
		list[r] = at
	}
	return list
}

// blockScale is the scale operands of the mx forms: each thread gives four bytes, a selector says which of them and which
// threads of a group count. unrecorded (sm_120 only).
type blockScale struct {
	f              *softfloat.Format
	count          int // scales along k
	sa, sb         operand
	ba, ta, bb, tb operand
}

// scales are the factors of rows of a and columns of b, for each block along k.
type scales struct {
	rows, cols [][]float64
	block      int
}

func (s *scales) a(row, k int) float64 { return s.rows[row][k/s.block] }
func (s *scales) b(col, k int) float64 { return s.cols[col][k/s.block] }

func (d *decoder) blockScale(x *mma) *blockScale {
	if !d.has(isa.ModBlockScale) {
		return nil
	}
	b := &blockScale{f: floatFormat(d.in.Type("stype")), count: 1, sa: d.src("sa"), sb: d.src("sb")}
	switch d.in.Mod("scale_vec") {
	case isa.ModScaleVec2X:
		b.count = 2
	case isa.ModScaleVec4X:
		b.count = 4
	case 0:
		if x.a.width == 4 {
			b.count = 2
		}
	}
	pair := func(name string) (operand, operand) {
		list := d.srcs(name)
		if len(list) != 2 {
			d.bad("scale selector %s", name)
		}
		return list[0], list[1]
	}
	b.ba, b.ta = pair("ba")
	b.bb, b.tb = pair("bb")
	return b
}

// read collects the scales: row r of a from thread 2·ta + r/8 of group r%8, column c of b from thread tb of group c.
func (b *blockScale) read(w *warp, x *mma) *scales {
	s := &scales{block: x.k / b.count}
	get := func(lane int, reg, first *operand) []float64 {
		list := make([]float64, b.count)
		if lane >= len(w.threads) {
			return list
		}
		t := w.threads[lane]
		v, at := reg.get(t), int(first.get(t)&3)
		for i := range list {
			e := b.f.Convert(softfloat.F64, v>>(8*((at+i)&3))&0xff, softfloat.Env{})
			list[i] = math.Float64frombits(e)
		}
		return list
	}
	t0 := w.threads[0]
	for r := range x.m {
		s.rows = append(s.rows, get(r%8*4+int(b.ta.get(t0)&1)*2+r/8, &b.sa, &b.ba))
	}
	for c := range x.n {
		s.cols = append(s.cols, get(c*4+int(b.tb.get(t0)&3), &b.sb, &b.bb))
	}
	return s
}
