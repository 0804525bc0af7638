package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// What is done to vectors element by element, for each type. How is in vector.go.

// Axpy is y = alpha x + y.
func (t *Thread) Axpy(h blas.CublasHandle_t, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, e Elem) error {
	return t.axpy(h, n, alpha, e, x, incx, y, incy, e)
}

// Scal is x = alpha x; alpha may be real beside a complex x.
func (t *Thread) Scal(h blas.CublasHandle_t, n int64, alpha, x hostmem.Ptr, incx int64, scalar, e Elem) error {
	return t.scal(h, n, alpha, scalar, x, incx, e)
}

// Copy is y = x.
func (t *Thread) Copy(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, e Elem) error {
	return t.pair(h, "copy", n, x, incx, y, incy, e)
}

// Swap exchanges x and y.
func (t *Thread) Swap(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, e Elem) error {
	return t.pair(h, "swap", n, x, incx, y, incy, e)
}
