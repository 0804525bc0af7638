package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// Batches of one type: the same five types, with lists of addresses and with equal distances.

// SgemmBatched multiplies f32 matrices whose addresses lie in lists on the device.
func (t *Thread) SgemmBatched(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc, batch int64) error {
	o := operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, list: true, batch: batch}
	return t.multiply(h, ta, tb, m, n, k, alpha, beta, o, single(F32))
}

// SgemmStridedBatched multiplies f32 matrices at equal distances.
func (t *Thread) SgemmStridedBatched(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, lda, sa int64, b hostmem.Ptr, ldb, sb int64, beta, c hostmem.Ptr, ldc, sc, batch int64) error {
	o := operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, sa: sa, sb: sb, sc: sc, batch: batch}
	return t.multiply(h, ta, tb, m, n, k, alpha, beta, o, single(F32))
}

// DgemmBatched multiplies f64 matrices whose addresses lie in lists on the device.
func (t *Thread) DgemmBatched(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc, batch int64) error {
	o := operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, list: true, batch: batch}
	return t.multiply(h, ta, tb, m, n, k, alpha, beta, o, single(F64))
}

// DgemmStridedBatched multiplies f64 matrices at equal distances.
func (t *Thread) DgemmStridedBatched(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, lda, sa int64, b hostmem.Ptr, ldb, sb int64, beta, c hostmem.Ptr, ldc, sc, batch int64) error {
	o := operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, sa: sa, sb: sb, sc: sc, batch: batch}
	return t.multiply(h, ta, tb, m, n, k, alpha, beta, o, single(F64))
}

// CgemmBatched multiplies complex f32 matrices whose addresses lie in lists on the device.
func (t *Thread) CgemmBatched(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc, batch int64) error {
	o := operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, list: true, batch: batch}
	return t.multiply(h, ta, tb, m, n, k, alpha, beta, o, single(C32))
}

// CgemmStridedBatched multiplies complex f32 matrices at equal distances.
func (t *Thread) CgemmStridedBatched(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, lda, sa int64, b hostmem.Ptr, ldb, sb int64, beta, c hostmem.Ptr, ldc, sc, batch int64) error {
	o := operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, sa: sa, sb: sb, sc: sc, batch: batch}
	return t.multiply(h, ta, tb, m, n, k, alpha, beta, o, single(C32))
}

// ZgemmBatched multiplies complex f64 matrices whose addresses lie in lists on the device.
func (t *Thread) ZgemmBatched(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc, batch int64) error {
	o := operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, list: true, batch: batch}
	return t.multiply(h, ta, tb, m, n, k, alpha, beta, o, single(C64))
}

// ZgemmStridedBatched multiplies complex f64 matrices at equal distances.
func (t *Thread) ZgemmStridedBatched(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, lda, sa int64, b hostmem.Ptr, ldb, sb int64, beta, c hostmem.Ptr, ldc, sc, batch int64) error {
	o := operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, sa: sa, sb: sb, sc: sc, batch: batch}
	return t.multiply(h, ta, tb, m, n, k, alpha, beta, o, single(C64))
}

// HgemmBatched multiplies f16 matrices whose addresses lie in lists on the device.
func (t *Thread) HgemmBatched(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc, batch int64) error {
	o := operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, list: true, batch: batch}
	return t.multiply(h, ta, tb, m, n, k, alpha, beta, o, single(F16))
}

// HgemmStridedBatched multiplies f16 matrices at equal distances.
func (t *Thread) HgemmStridedBatched(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, lda, sa int64, b hostmem.Ptr, ldb, sb int64, beta, c hostmem.Ptr, ldc, sc, batch int64) error {
	o := operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, sa: sa, sb: sb, sc: sc, batch: batch}
	return t.multiply(h, ta, tb, m, n, k, alpha, beta, o, single(F16))
}
