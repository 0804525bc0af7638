package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// Batches of one type: the same five types, with lists of addresses and with equal distances.

// GemmBatched multiplies matrices whose addresses lie in lists on the device.
func (t *Thread) GemmBatched(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc, batch int64, e Elem) error {
	o := operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, list: true, batch: batch}
	return t.multiply(h, ta, tb, m, n, k, alpha, beta, o, single(e))
}

// GemmStridedBatched multiplies matrices at equal distances.
func (t *Thread) GemmStridedBatched(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, lda, sa int64, b hostmem.Ptr, ldb, sb int64, beta, c hostmem.Ptr, ldc, sc, batch int64, e Elem) error {
	o := operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, sa: sa, sb: sb, sc: sc, batch: batch}
	return t.multiply(h, ta, tb, m, n, k, alpha, beta, o, single(e))
}
