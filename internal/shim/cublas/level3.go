package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// Matrices beside the plain product, for each type. How is in matmat.go and trsm.go.

// Ssyrk is C = alpha A A' + beta C in one triangle, in f32.
func (t *Thread) Ssyrk(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.syrk(h, fill, op, n, k, alpha, beta, operands{a: a, b: a, c: c, lda: lda, ldb: lda, ldc: ldc, batch: 1}, F32, false)
}

// Ssyrkx is Ssyrk with a second matrix in the place of A'.
func (t *Thread) Ssyrkx(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.syrk(h, fill, op, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, F32, false)
}

// Ssymm is C = alpha A B + beta C, or B A, with A symmetric, in f32.
func (t *Thread) Ssymm(h blas.CublasHandle_t, side Side, fill Fill, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.symm(h, side, fill, m, n, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, F32, false)
}

// Strsm solves op(A) X = alpha B, or X op(A) = alpha B, in place, in f32.
func (t *Thread) Strsm(h blas.CublasHandle_t, side Side, fill Fill, op Op, diag blas.CublasDiagType_t, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64) error {
	return t.trsm(h, side, fill, op, diag, m, n, alpha, operands{a: a, b: b, lda: lda, ldb: ldb, batch: 1}, F32)
}

// StrsmBatched is Strsm with the addresses in lists on the device.
func (t *Thread) StrsmBatched(h blas.CublasHandle_t, side Side, fill Fill, op Op, diag blas.CublasDiagType_t, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb, batch int64) error {
	return t.trsm(h, side, fill, op, diag, m, n, alpha, operands{a: a, b: b, lda: lda, ldb: ldb, list: true, batch: batch}, F32)
}

// Sgeam is C = alpha op(A) + beta op(B) in f32.
func (t *Thread) Sgeam(h blas.CublasHandle_t, ta, tb Op, m, n int64, alpha, a hostmem.Ptr, lda int64, beta, b hostmem.Ptr, ldb int64, c hostmem.Ptr, ldc int64) error {
	return t.geam(h, ta, tb, m, n, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc}, F32)
}

// Sdgmm is C = A diag(x), or diag(x) A, in f32.
func (t *Thread) Sdgmm(h blas.CublasHandle_t, side Side, m, n int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, c hostmem.Ptr, ldc int64) error {
	return t.dgmm(h, side, m, n, operands{a: a, b: x, c: c, lda: lda, ldb: incx, ldc: ldc}, F32)
}

// Dsyrk is C = alpha A A' + beta C in one triangle, in f64.
func (t *Thread) Dsyrk(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.syrk(h, fill, op, n, k, alpha, beta, operands{a: a, b: a, c: c, lda: lda, ldb: lda, ldc: ldc, batch: 1}, F64, false)
}

// Dsyrkx is Dsyrk with a second matrix in the place of A'.
func (t *Thread) Dsyrkx(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.syrk(h, fill, op, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, F64, false)
}

// Dsymm is C = alpha A B + beta C, or B A, with A symmetric, in f64.
func (t *Thread) Dsymm(h blas.CublasHandle_t, side Side, fill Fill, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.symm(h, side, fill, m, n, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, F64, false)
}

// Dtrsm solves op(A) X = alpha B, or X op(A) = alpha B, in place, in f64.
func (t *Thread) Dtrsm(h blas.CublasHandle_t, side Side, fill Fill, op Op, diag blas.CublasDiagType_t, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64) error {
	return t.trsm(h, side, fill, op, diag, m, n, alpha, operands{a: a, b: b, lda: lda, ldb: ldb, batch: 1}, F64)
}

// DtrsmBatched is Dtrsm with the addresses in lists on the device.
func (t *Thread) DtrsmBatched(h blas.CublasHandle_t, side Side, fill Fill, op Op, diag blas.CublasDiagType_t, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb, batch int64) error {
	return t.trsm(h, side, fill, op, diag, m, n, alpha, operands{a: a, b: b, lda: lda, ldb: ldb, list: true, batch: batch}, F64)
}

// Dgeam is C = alpha op(A) + beta op(B) in f64.
func (t *Thread) Dgeam(h blas.CublasHandle_t, ta, tb Op, m, n int64, alpha, a hostmem.Ptr, lda int64, beta, b hostmem.Ptr, ldb int64, c hostmem.Ptr, ldc int64) error {
	return t.geam(h, ta, tb, m, n, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc}, F64)
}

// Ddgmm is C = A diag(x), or diag(x) A, in f64.
func (t *Thread) Ddgmm(h blas.CublasHandle_t, side Side, m, n int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, c hostmem.Ptr, ldc int64) error {
	return t.dgmm(h, side, m, n, operands{a: a, b: x, c: c, lda: lda, ldb: incx, ldc: ldc}, F64)
}

// Csyrk is C = alpha A A' + beta C in one triangle, in complex f32.
func (t *Thread) Csyrk(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.syrk(h, fill, op, n, k, alpha, beta, operands{a: a, b: a, c: c, lda: lda, ldb: lda, ldc: ldc, batch: 1}, C32, false)
}

// Csyrkx is Csyrk with a second matrix in the place of A'.
func (t *Thread) Csyrkx(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.syrk(h, fill, op, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, C32, false)
}

// Csymm is C = alpha A B + beta C, or B A, with A symmetric, in complex f32.
func (t *Thread) Csymm(h blas.CublasHandle_t, side Side, fill Fill, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.symm(h, side, fill, m, n, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, C32, false)
}

// Ctrsm solves op(A) X = alpha B, or X op(A) = alpha B, in place, in complex f32.
func (t *Thread) Ctrsm(h blas.CublasHandle_t, side Side, fill Fill, op Op, diag blas.CublasDiagType_t, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64) error {
	return t.trsm(h, side, fill, op, diag, m, n, alpha, operands{a: a, b: b, lda: lda, ldb: ldb, batch: 1}, C32)
}

// CtrsmBatched is Ctrsm with the addresses in lists on the device.
func (t *Thread) CtrsmBatched(h blas.CublasHandle_t, side Side, fill Fill, op Op, diag blas.CublasDiagType_t, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb, batch int64) error {
	return t.trsm(h, side, fill, op, diag, m, n, alpha, operands{a: a, b: b, lda: lda, ldb: ldb, list: true, batch: batch}, C32)
}

// Cgeam is C = alpha op(A) + beta op(B) in complex f32.
func (t *Thread) Cgeam(h blas.CublasHandle_t, ta, tb Op, m, n int64, alpha, a hostmem.Ptr, lda int64, beta, b hostmem.Ptr, ldb int64, c hostmem.Ptr, ldc int64) error {
	return t.geam(h, ta, tb, m, n, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc}, C32)
}

// Cdgmm is C = A diag(x), or diag(x) A, in complex f32.
func (t *Thread) Cdgmm(h blas.CublasHandle_t, side Side, m, n int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, c hostmem.Ptr, ldc int64) error {
	return t.dgmm(h, side, m, n, operands{a: a, b: x, c: c, lda: lda, ldb: incx, ldc: ldc}, C32)
}

// Zsyrk is C = alpha A A' + beta C in one triangle, in complex f64.
func (t *Thread) Zsyrk(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.syrk(h, fill, op, n, k, alpha, beta, operands{a: a, b: a, c: c, lda: lda, ldb: lda, ldc: ldc, batch: 1}, C64, false)
}

// Zsyrkx is Zsyrk with a second matrix in the place of A'.
func (t *Thread) Zsyrkx(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.syrk(h, fill, op, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, C64, false)
}

// Zsymm is C = alpha A B + beta C, or B A, with A symmetric, in complex f64.
func (t *Thread) Zsymm(h blas.CublasHandle_t, side Side, fill Fill, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.symm(h, side, fill, m, n, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, C64, false)
}

// Ztrsm solves op(A) X = alpha B, or X op(A) = alpha B, in place, in complex f64.
func (t *Thread) Ztrsm(h blas.CublasHandle_t, side Side, fill Fill, op Op, diag blas.CublasDiagType_t, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64) error {
	return t.trsm(h, side, fill, op, diag, m, n, alpha, operands{a: a, b: b, lda: lda, ldb: ldb, batch: 1}, C64)
}

// ZtrsmBatched is Ztrsm with the addresses in lists on the device.
func (t *Thread) ZtrsmBatched(h blas.CublasHandle_t, side Side, fill Fill, op Op, diag blas.CublasDiagType_t, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb, batch int64) error {
	return t.trsm(h, side, fill, op, diag, m, n, alpha, operands{a: a, b: b, lda: lda, ldb: ldb, list: true, batch: batch}, C64)
}

// Zgeam is C = alpha op(A) + beta op(B) in complex f64.
func (t *Thread) Zgeam(h blas.CublasHandle_t, ta, tb Op, m, n int64, alpha, a hostmem.Ptr, lda int64, beta, b hostmem.Ptr, ldb int64, c hostmem.Ptr, ldc int64) error {
	return t.geam(h, ta, tb, m, n, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc}, C64)
}

// Zdgmm is C = A diag(x), or diag(x) A, in complex f64.
func (t *Thread) Zdgmm(h blas.CublasHandle_t, side Side, m, n int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, c hostmem.Ptr, ldc int64) error {
	return t.dgmm(h, side, m, n, operands{a: a, b: x, c: c, lda: lda, ldb: incx, ldc: ldc}, C64)
}

// Cherk is syrk with the conjugate transpose, and real alpha and beta.
func (t *Thread) Cherk(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.syrk(h, fill, op, n, k, alpha, beta, operands{a: a, b: a, c: c, lda: lda, ldb: lda, ldc: ldc, batch: 1}, C32, true)
}

// Zherk is syrk with the conjugate transpose, and real alpha and beta.
func (t *Thread) Zherk(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.syrk(h, fill, op, n, k, alpha, beta, operands{a: a, b: a, c: c, lda: lda, ldb: lda, ldc: ldc, batch: 1}, C64, true)
}

// Chemm is symm with A Hermitian.
func (t *Thread) Chemm(h blas.CublasHandle_t, side Side, fill Fill, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.symm(h, side, fill, m, n, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, C32, true)
}

// Zhemm is symm with A Hermitian.
func (t *Thread) Zhemm(h blas.CublasHandle_t, side Side, fill Fill, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.symm(h, side, fill, m, n, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, C64, true)
}
