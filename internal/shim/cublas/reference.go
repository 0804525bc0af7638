package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas/ref"
)

// Reference is package ref as a multiplier: KUDZU_BLAS=ref. Sums are f64, and what C held is read in its own type.
type Reference struct{}

// Name says which.
func (Reference) Name() string { return "ref" }

// Takes: whole matrices, read as cuBLAS can say.
func (Reference) Takes(p *Product) bool { return p.Plain() }

// Multiply does one.
func (Reference) Multiply(p *HostProduct) {
	rowsA, colsA, rowsB, colsB := p.sides()
	for _, at := range p.At {
		a := readMatrix(at[0], rowsA, colsA, p.A.LD, p.TA)
		b := readMatrix(at[1], rowsB, colsB, p.B.LD, p.TA)
		c := make([]complex128, p.M*p.N)
		if p.Beta != 0 {
			c = readMatrix(at[2], p.M, p.N, p.C.LD, p.TC)
		}
		ref.Product(p.M, p.N, p.K, p.Alpha, p.Beta, ref.Matrix{V: a, LD: rowsA, Op: p.A.Op}, ref.Matrix{V: b, LD: rowsB, Op: p.B.Op}, c, p.M, nil)
		size := p.TC.Size()
		for j := range p.N {
			column := hostmem.Bytes(hostmem.Ptr(at[2]).Index(int(j*p.C.LD), size), uint64(p.M)*uint64(size))
			for i := range p.M {
				copy(column[int(i)*size:], Encode(p.TC, c[i+j*p.M]))
			}
		}
	}
}

// readMatrix is the values of a matrix, its columns one after another.
func readMatrix(at uint64, rows, cols, ld int64, e Elem) []complex128 {
	v := make([]complex128, 0, rows*cols)
	size := e.Size()
	if rows == 0 {
		return v
	}
	for j := range cols {
		column := hostmem.Bytes(hostmem.Ptr(at).Index(int(j*ld), size), uint64(rows)*uint64(size))
		for i := range rows {
			v = append(v, Decode(e, column[int(i)*size:]))
		}
	}
	return v
}
