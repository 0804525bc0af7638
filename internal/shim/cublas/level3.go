package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// Matrices beside the plain product, for each type. How is in matmat.go and trsm.go.

// Syrk is C = alpha A A' + beta C in one triangle.
func (t *Thread) Syrk(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, beta, c hostmem.Ptr, ldc int64, e Elem) error {
	return t.syrk(h, fill, op, n, k, alpha, beta, operands{a: a, b: a, c: c, lda: lda, ldb: lda, ldc: ldc, batch: 1}, e, false)
}

// Syrkx is Syrk with a second matrix in the place of A'.
func (t *Thread) Syrkx(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64, e Elem) error {
	return t.syrk(h, fill, op, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, e, false)
}

// Symm is C = alpha A B + beta C, or B A, with A symmetric.
func (t *Thread) Symm(h blas.CublasHandle_t, side Side, fill Fill, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64, e Elem) error {
	return t.symm(h, side, fill, m, n, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, e, false)
}

// Trsm solves op(A) X = alpha B, or X op(A) = alpha B, in place.
func (t *Thread) Trsm(h blas.CublasHandle_t, side Side, fill Fill, op Op, diag blas.CublasDiagType_t, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, e Elem) error {
	return t.trsm(h, side, fill, op, diag, m, n, alpha, operands{a: a, b: b, lda: lda, ldb: ldb, batch: 1}, e)
}

// TrsmBatched is Trsm with the addresses in lists on the device.
func (t *Thread) TrsmBatched(h blas.CublasHandle_t, side Side, fill Fill, op Op, diag blas.CublasDiagType_t, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb, batch int64, e Elem) error {
	return t.trsm(h, side, fill, op, diag, m, n, alpha, operands{a: a, b: b, lda: lda, ldb: ldb, list: true, batch: batch}, e)
}

// Geam is C = alpha op(A) + beta op(B).
func (t *Thread) Geam(h blas.CublasHandle_t, ta, tb Op, m, n int64, alpha, a hostmem.Ptr, lda int64, beta, b hostmem.Ptr, ldb int64, c hostmem.Ptr, ldc int64, e Elem) error {
	return t.geam(h, ta, tb, m, n, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc}, e)
}

// Dgmm is C = A diag(x), or diag(x) A.
func (t *Thread) Dgmm(h blas.CublasHandle_t, side Side, m, n int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, c hostmem.Ptr, ldc int64, e Elem) error {
	return t.dgmm(h, side, m, n, operands{a: a, b: x, c: c, lda: lda, ldb: incx, ldc: ldc}, e)
}

// Herk is Syrk with the conjugate transpose, and real alpha and beta.
func (t *Thread) Herk(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, beta, c hostmem.Ptr, ldc int64, e Elem) error {
	return t.syrk(h, fill, op, n, k, alpha, beta, operands{a: a, b: a, c: c, lda: lda, ldb: lda, ldc: ldc, batch: 1}, e, true)
}

// Hemm is Symm with A Hermitian.
func (t *Thread) Hemm(h blas.CublasHandle_t, side Side, fill Fill, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64, e Elem) error {
	return t.symm(h, side, fill, m, n, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, e, true)
}
