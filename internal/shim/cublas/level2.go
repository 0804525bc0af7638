package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// A matrix and a vector, for each type. How is in matvec.go.

// Gemv is y = alpha op(A) x + beta y.
func (t *Thread) Gemv(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64, e Elem) error {
	return t.gemv(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, batch: 1}, e)
}

// GemvBatched is Gemv with the addresses in lists on the device.
func (t *Thread) GemvBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy, batch int64, e Elem) error {
	return t.gemv(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, list: true, batch: batch}, e)
}

// GemvStridedBatched is Gemv at equal distances.
func (t *Thread) GemvStridedBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda, sa int64, x hostmem.Ptr, incx, sx int64, beta, y hostmem.Ptr, incy, sy, batch int64, e Elem) error {
	return t.gemv(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, sa: sa, sb: sx, sc: sy, batch: batch}, e)
}

// Ger is A = alpha x y' + A.
func (t *Thread) Ger(h blas.CublasHandle_t, m, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64, e Elem) error {
	return t.ger(h, m, n, alpha, x, incx, y, incy, a, lda, e, false)
}

// Gerc is A = alpha x y' + A, y' conjugated.
func (t *Thread) Gerc(h blas.CublasHandle_t, m, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64, e Elem) error {
	return t.ger(h, m, n, alpha, x, incx, y, incy, a, lda, e, true)
}
