package cusparse

import (
	"encoding/binary"
	"math/cmplx"

	"kudzu/internal/shim/again"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/sparse"
)

// entry1 is an entry of a line of op(A).
type entry1 struct {
	at int64
	v  complex128
}

// sums is a product, done again: op(A), rows × cols, times n columns of x. nil: nobody asked, or the format is one of blocks or slices.
func (p *product) sums(name string, x, y dense, rows, cols, n int64) *cublas.Sum {
	m := p.a
	var index [2]*cublas.Operand // where lines begin, or the line of each entry; and positions
	var lines int64
	switch m.format {
	case sparse.CUSPARSE_FORMAT_CSR:
		lines, index[0] = m.rows, indices(m.offsets, m.rows+1, m.wideOff)
	case sparse.CUSPARSE_FORMAT_CSC:
		lines, index[0] = m.cols, indices(m.offsets, m.cols+1, m.wideOff)
	case sparse.CUSPARSE_FORMAT_COO:
		index[0] = indices(m.lines, m.nnz, m.wide)
	default:
		return nil
	}
	if !again.On() {
		return nil
	}
	index[1] = indices(m.indices, m.nnz, m.wide)
	values := &cublas.Operand{Base: m.values, Down: 1, Rows: m.nnz, Cols: 1, Elem: m.elem}
	b, to := x.operand(cols, n), y.operand(rows, n)
	alpha, beta := p.alpha.Operand(), p.beta.Operand()
	s := &cublas.Sum{Library: "cuSPARSE", What: cublas.Report(name, m.elem, rows, cols, n), Batch: 1, Kind: p.compute, Steps: float64(m.nnz)*float64(n) + float64(rows),
		Operands: []*cublas.Operand{alpha, beta, index[0], index[1], values, b, to}}
	list := make(map[int64][]entry1, rows)
	s.Ready = func(int64) {
		first, second := integers(index[0].Bytes(0), m.widthOf(0)), integers(index[1].Bytes(0), m.widthOf(1))
		entry := func(i, k int64) {
			j := second(k) - int64(m.base)
			if m.byColumns() {
				i, j = j, i
			}
			v := values.At(0, k, 0)
			if p.op != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE {
				i, j = j, i
			}
			if p.op == sparse.CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE {
				v = cmplx.Conj(v)
			}
			list[i] = append(list[i], entry1{j, v})
		}
		if m.format == sparse.CUSPARSE_FORMAT_COO {
			for k := range m.nnz {
				entry(first(k)-int64(m.base), k)
			}
			return
		}
		for i := range lines { // those before the first line's, and behind the last one's, are in none
			for k := first(i) - int64(m.base); k < first(i+1)-int64(m.base); k++ {
				entry(i, k)
			}
		}
	}
	s.Number = func(_ *cublas.Operand, _, i, j int64) cublas.Number {
		r := cublas.Number{N: int64(len(list[i])) + 1}
		for _, e := range list[i] {
			r.Add(cublas.Mul(e.v, b.At(0, e.at, j)))
		}
		r.Times(alpha.At(0, 0, 0))
		if f := beta.At(0, 0, 0); f != 0 {
			r.Add(cublas.Mul(f, to.At(0, i, j)))
		}
		return r
	}
	return s
}

// operand is the matrix with its size.
func (d dense) operand(rows, cols int64) *cublas.Operand {
	return &cublas.Operand{Base: d.base, Down: d.down, Right: d.right, Rows: rows, Cols: cols, Elem: d.elem, Conj: d.conjugate}
}

// indices is an array of them.
func indices(at uint64, n int64, wide indexType) *cublas.Operand {
	o := &cublas.Operand{Base: at, Down: 1, Rows: n, Cols: 1, Elem: S32}
	if isWide(wide) == 1 {
		o.Elem = F64 // of 8 bytes, too
	}
	return o
}

// widthOf is the bytes of an index of the first or the second array.
func (m *sparseMatrix) widthOf(array int) int {
	t := m.wide
	if array == 0 && m.format != sparse.CUSPARSE_FORMAT_COO {
		t = m.wideOff
	}
	return 4 + 4*int(isWide(t))
}

func integers(b []byte, width int) func(i int64) int64 {
	return func(i int64) int64 {
		if width == 8 {
			return int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
		return int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
	}
}
