package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// Symmetric and triangular matrices, for each type. How is in symmetric.go and triangle.go.

// Symv is y = alpha A x + beta y with A symmetric.
func (t *Thread) Symv(h blas.CublasHandle_t, fill Fill, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64, e Elem) error {
	return t.symv(h, fill, n, alpha, a, lda, x, incx, beta, y, incy, e, false)
}

// Syr is A = alpha x x' + A in one triangle.
func (t *Thread) Syr(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, a hostmem.Ptr, lda int64, e Elem) error {
	return t.rank(h, fill, n, alpha, x, incx, x, incx, a, lda, e, update{scalar: e})
}

// Syr2 is A = alpha x y' + alpha y x' + A in one triangle.
func (t *Thread) Syr2(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64, e Elem) error {
	return t.rank(h, fill, n, alpha, x, incx, y, incy, a, lda, e, update{two: true, scalar: e})
}

// Syr2k is C = alpha A B' + alpha B A' + beta C in one triangle.
func (t *Thread) Syr2k(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64, e Elem) error {
	return t.syr2k(h, fill, op, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, e, false)
}

// Trmm is C = alpha op(A) B, or B op(A), with A triangular; C may be B.
func (t *Thread) Trmm(h blas.CublasHandle_t, side Side, fill Fill, op Op, diag Diag, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, c hostmem.Ptr, ldc int64, e Elem) error {
	return t.trmm(h, side, fill, op, diag, m, n, alpha, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, e)
}

// Hemv is Symv with A Hermitian.
func (t *Thread) Hemv(h blas.CublasHandle_t, fill Fill, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64, e Elem) error {
	return t.symv(h, fill, n, alpha, a, lda, x, incx, beta, y, incy, e, true)
}

// Her is A = alpha x x' + A in one triangle, x' conjugated and alpha real.
func (t *Thread) Her(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, a hostmem.Ptr, lda int64, e Elem) error {
	return t.rank(h, fill, n, alpha, x, incx, x, incx, a, lda, e, update{hermitian: true, scalar: e.real()})
}

// Her2 is A = alpha x y' + conj(alpha) y x' + A in one triangle, what is primed conjugated.
func (t *Thread) Her2(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64, e Elem) error {
	return t.rank(h, fill, n, alpha, x, incx, y, incy, a, lda, e, update{hermitian: true, two: true, scalar: e})
}

// Her2k is Syr2k with conjugate transposes, the conjugate of alpha with the second, and a real beta.
func (t *Thread) Her2k(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64, e Elem) error {
	return t.syr2k(h, fill, op, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, e, true)
}

// Herkx is Herk with a second matrix in the place of A'.
func (t *Thread) Herkx(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64, e Elem) error {
	return t.herkx(h, fill, op, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, e)
}
