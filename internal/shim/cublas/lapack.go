package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// LAPACK's batched functions and packed triangles, for each type. How is in lu.go.

// GetrfBatched factors matrices into L U with row exchanges, in place.
func (t *Thread) GetrfBatched(h blas.CublasHandle_t, n int64, a hostmem.Ptr, lda int64, pivots, info hostmem.Ptr, batch int64, e Elem) error {
	return t.getrf(h, &small{n: n, batch: batch, a: a, lda: lda, pivots: pivots}, info, e)
}

// GetrsBatched solves op(A) X = B in place with what GetrfBatched made of A.
func (t *Thread) GetrsBatched(h blas.CublasHandle_t, op Op, n, count int64, a hostmem.Ptr, lda int64, pivots, b hostmem.Ptr, ldb int64, info hostmem.Ptr, batch int64, e Elem) error {
	return t.getrs(h, op, &small{n: n, batch: batch, a: a, lda: lda, pivots: pivots, c: b, ldc: ldb}, count, info, e)
}

// GetriBatched is the inverse, from what GetrfBatched made of A.
func (t *Thread) GetriBatched(h blas.CublasHandle_t, n int64, a hostmem.Ptr, lda int64, pivots, c hostmem.Ptr, ldc int64, info hostmem.Ptr, batch int64, e Elem) error {
	return t.getri(h, &small{n: n, batch: batch, a: a, lda: lda, pivots: pivots, c: c, ldc: ldc}, info, e)
}

// MatinvBatched is the inverse of matrices of up to 32 rows.
func (t *Thread) MatinvBatched(h blas.CublasHandle_t, n int64, a hostmem.Ptr, lda int64, c hostmem.Ptr, ldc int64, info hostmem.Ptr, batch int64, e Elem) error {
	return t.matinv(h, &small{n: n, batch: batch, a: a, lda: lda, c: c, ldc: ldc}, info, e)
}

// Tpttr unpacks a triangle into a matrix.
func (t *Thread) Tpttr(h blas.CublasHandle_t, fill Fill, n int64, ap, a hostmem.Ptr, lda int64, e Elem) error {
	return t.packed(h, fill, n, ap, a, lda, e, false)
}

// Trttp packs a triangle of a matrix.
func (t *Thread) Trttp(h blas.CublasHandle_t, fill Fill, n int64, a hostmem.Ptr, lda int64, ap hostmem.Ptr, e Elem) error {
	return t.packed(h, fill, n, ap, a, lda, e, true)
}
