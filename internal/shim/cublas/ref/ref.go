// Package ref is the arithmetic of BLAS in plain Go: slow, obvious, and in f64 throughout. Tests compare with it, and with KUDZU_BLAS=ref
// programs run on it, which tells whether a wrong result is our kernels' fault.
package ref

import (
	"math/cmplx"

	"kudzu/internal/spec/blas"
)

// Matrix reads values as an operation says: column by column, LD apart, from Base on.
type Matrix struct {
	V    []complex128
	LD   int64
	Op   blas.CublasOperation_t
	Base int64
}

// At is element (i, j) of op(M).
func (m Matrix) At(i, j int64) complex128 {
	switch m.Op {
	case blas.CUBLAS_OP_N:
		return m.V[m.Base+i+j*m.LD]
	case blas.CUBLAS_OP_T:
		return m.V[m.Base+j+i*m.LD]
	}
	return cmplx.Conj(m.V[m.Base+j+i*m.LD])
}

// Product is C = alpha op(A) op(B) + beta C. What is multiplied by 0 is not looked at. size, where given, becomes the sum of the absolute
// values that were added: what an error bound is relative to.
func Product(m, n, k int64, alpha, beta complex128, a, b Matrix, c []complex128, ldc int64, size []float64) {
	for j := range n {
		for i := range m {
			var s complex128
			var w float64
			if alpha != 0 {
				for l := range k {
					x, y := a.At(i, l), b.At(l, j)
					s += x * y
					if size != nil {
						w += cmplx.Abs(x) * cmplx.Abs(y)
					}
				}
			}
			at := i + j*ldc
			s *= alpha
			w *= cmplx.Abs(alpha)
			if beta != 0 {
				s += beta * c[at]
				w += cmplx.Abs(beta * c[at])
			}
			c[at] = s
			if size != nil {
				size[at] = w
			}
		}
	}
}

// Solve solves T X = B for n right-hand sides of m unknowns, column by column; X takes the place of B. Of T one triangle is read, and the
// diagonal unless it is 1.
func Solve(m, n int64, b []complex128, ld int64, t func(i, l int64) complex128, lower, unit bool) {
	for j := range n {
		for q := range m {
			i := q
			if !lower {
				i = m - 1 - q
			}
			v := b[i+j*ld]
			for l := range m {
				if (lower && l < i) || (!lower && l > i) {
					v -= t(i, l) * b[l+j*ld]
				}
			}
			if !unit {
				v /= t(i, i)
			}
			b[i+j*ld] = v
		}
	}
}
