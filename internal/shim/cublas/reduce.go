package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// Results over vectors, for each type: to the host after waiting, or to the device, by the handle's pointer mode. How is in
// vector.go. Sums are made in an order that depends on the length alone.

// Dot is the sum of the products of x and y.
func (t *Thread) Dot(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, result hostmem.Ptr, e Elem) error {
	return t.dot(h, n, x, incx, y, incy, result, e, false)
}

// Dotc is the sum of the products of x, conjugated, and y.
func (t *Thread) Dotc(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, result hostmem.Ptr, e Elem) error {
	return t.dot(h, n, x, incx, y, incy, result, e, true)
}

// Nrm2 is the Euclidean norm.
func (t *Thread) Nrm2(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr, e Elem) error {
	return t.norm(h, "nrm2", n, x, incx, result, e)
}

// Asum is the sum of |re| + |im|.
func (t *Thread) Asum(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr, e Elem) error {
	return t.norm(h, "asum", n, x, incx, result, e)
}

// Iamax is the first index, from 1, of the largest |re| + |im|.
func (t *Thread) Iamax(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr, e Elem) error {
	return t.best(h, n, x, incx, result, e, false, false)
}

// Iamax64 is the first index, from 1, of the largest |re| + |im|, of 64 bits.
func (t *Thread) Iamax64(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr, e Elem) error {
	return t.best(h, n, x, incx, result, e, false, true)
}

// Iamin is the first index, from 1, of the least |re| + |im|.
func (t *Thread) Iamin(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr, e Elem) error {
	return t.best(h, n, x, incx, result, e, true, false)
}

// Iamin64 is the first index, from 1, of the least |re| + |im|, of 64 bits.
func (t *Thread) Iamin64(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr, e Elem) error {
	return t.best(h, n, x, incx, result, e, true, true)
}
