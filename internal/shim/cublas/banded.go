package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// Bands of matrices and a vector, for each type. How is in stored.go.

// Sbmv is y = alpha A x + beta y with a band of a symmetric A stored.
func (t *Thread) Sbmv(h blas.CublasHandle_t, fill Fill, n, k int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64, e Elem) error {
	return t.halfmv(h, &stored{a: a, lda: lda, k: k, fill: fill}, n, alpha, x, incx, beta, y, incy, e)
}

// Tbmv is x = op(A) x with a band of a triangular A stored.
func (t *Thread) Tbmv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n, k int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, e Elem) error {
	return t.trimv(h, &stored{a: a, lda: lda, k: k, fill: fill, op: op, diag: diag}, n, x, incx, e)
}

// Tbsv solves op(A) x = b in place with a band of a triangular A stored.
func (t *Thread) Tbsv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n, k int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, e Elem) error {
	return t.trisv(h, &stored{a: a, lda: lda, k: k, fill: fill, op: op, diag: diag}, n, x, incx, e)
}

// Hbmv is y = alpha A x + beta y with a band of a Hermitian A stored.
func (t *Thread) Hbmv(h blas.CublasHandle_t, fill Fill, n, k int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64, e Elem) error {
	return t.halfmv(h, &stored{a: a, lda: lda, k: k, fill: fill, mirror: true}, n, alpha, x, incx, beta, y, incy, e)
}
