package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// Symmetric and triangular matrices, for each type. How is in symmetric.go and triangle.go.

// Ssymv is y = alpha A x + beta y with A symmetric, in f32.
func (t *Thread) Ssymv(h blas.CublasHandle_t, fill Fill, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.symv(h, fill, n, alpha, a, lda, x, incx, beta, y, incy, F32, false)
}

// Ssyr is A = alpha x x' + A in one triangle, in f32.
func (t *Thread) Ssyr(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, a hostmem.Ptr, lda int64) error {
	return t.rank(h, fill, n, alpha, x, incx, x, incx, a, lda, F32, update{scalar: F32})
}

// Ssyr2 is A = alpha x y' + alpha y x' + A in one triangle, in f32.
func (t *Thread) Ssyr2(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64) error {
	return t.rank(h, fill, n, alpha, x, incx, y, incy, a, lda, F32, update{two: true, scalar: F32})
}

// Ssyr2k is C = alpha A B' + alpha B A' + beta C in one triangle, in f32.
func (t *Thread) Ssyr2k(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.syr2k(h, fill, op, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, F32, false)
}

// Strmm is C = alpha op(A) B, or B op(A), with A triangular, in f32; C may be B.
func (t *Thread) Strmm(h blas.CublasHandle_t, side Side, fill Fill, op Op, diag Diag, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, c hostmem.Ptr, ldc int64) error {
	return t.trmm(h, side, fill, op, diag, m, n, alpha, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, F32)
}

// Strmv is x = op(A) x with A triangular, in f32.
func (t *Thread) Strmv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64) error {
	return t.trmv(h, fill, op, diag, n, a, lda, x, incx, F32)
}

// Strsv solves op(A) x = b in place with A triangular, in f32.
func (t *Thread) Strsv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64) error {
	return t.trsv(h, fill, op, diag, n, a, lda, x, incx, F32)
}

// Dsymv is y = alpha A x + beta y with A symmetric, in f64.
func (t *Thread) Dsymv(h blas.CublasHandle_t, fill Fill, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.symv(h, fill, n, alpha, a, lda, x, incx, beta, y, incy, F64, false)
}

// Dsyr is A = alpha x x' + A in one triangle, in f64.
func (t *Thread) Dsyr(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, a hostmem.Ptr, lda int64) error {
	return t.rank(h, fill, n, alpha, x, incx, x, incx, a, lda, F64, update{scalar: F64})
}

// Dsyr2 is A = alpha x y' + alpha y x' + A in one triangle, in f64.
func (t *Thread) Dsyr2(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64) error {
	return t.rank(h, fill, n, alpha, x, incx, y, incy, a, lda, F64, update{two: true, scalar: F64})
}

// Dsyr2k is C = alpha A B' + alpha B A' + beta C in one triangle, in f64.
func (t *Thread) Dsyr2k(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.syr2k(h, fill, op, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, F64, false)
}

// Dtrmm is C = alpha op(A) B, or B op(A), with A triangular, in f64; C may be B.
func (t *Thread) Dtrmm(h blas.CublasHandle_t, side Side, fill Fill, op Op, diag Diag, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, c hostmem.Ptr, ldc int64) error {
	return t.trmm(h, side, fill, op, diag, m, n, alpha, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, F64)
}

// Dtrmv is x = op(A) x with A triangular, in f64.
func (t *Thread) Dtrmv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64) error {
	return t.trmv(h, fill, op, diag, n, a, lda, x, incx, F64)
}

// Dtrsv solves op(A) x = b in place with A triangular, in f64.
func (t *Thread) Dtrsv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64) error {
	return t.trsv(h, fill, op, diag, n, a, lda, x, incx, F64)
}

// Csymv is y = alpha A x + beta y with A symmetric, in complex f32.
func (t *Thread) Csymv(h blas.CublasHandle_t, fill Fill, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.symv(h, fill, n, alpha, a, lda, x, incx, beta, y, incy, C32, false)
}

// Csyr is A = alpha x x' + A in one triangle, in complex f32.
func (t *Thread) Csyr(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, a hostmem.Ptr, lda int64) error {
	return t.rank(h, fill, n, alpha, x, incx, x, incx, a, lda, C32, update{scalar: C32})
}

// Csyr2 is A = alpha x y' + alpha y x' + A in one triangle, in complex f32.
func (t *Thread) Csyr2(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64) error {
	return t.rank(h, fill, n, alpha, x, incx, y, incy, a, lda, C32, update{two: true, scalar: C32})
}

// Csyr2k is C = alpha A B' + alpha B A' + beta C in one triangle, in complex f32.
func (t *Thread) Csyr2k(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.syr2k(h, fill, op, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, C32, false)
}

// Ctrmm is C = alpha op(A) B, or B op(A), with A triangular, in complex f32; C may be B.
func (t *Thread) Ctrmm(h blas.CublasHandle_t, side Side, fill Fill, op Op, diag Diag, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, c hostmem.Ptr, ldc int64) error {
	return t.trmm(h, side, fill, op, diag, m, n, alpha, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, C32)
}

// Ctrmv is x = op(A) x with A triangular, in complex f32.
func (t *Thread) Ctrmv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64) error {
	return t.trmv(h, fill, op, diag, n, a, lda, x, incx, C32)
}

// Ctrsv solves op(A) x = b in place with A triangular, in complex f32.
func (t *Thread) Ctrsv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64) error {
	return t.trsv(h, fill, op, diag, n, a, lda, x, incx, C32)
}

// Chemv is Csymv with A Hermitian.
func (t *Thread) Chemv(h blas.CublasHandle_t, fill Fill, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.symv(h, fill, n, alpha, a, lda, x, incx, beta, y, incy, C32, true)
}

// Cher is A = alpha x x' + A in one triangle, x' conjugated and alpha real.
func (t *Thread) Cher(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, a hostmem.Ptr, lda int64) error {
	return t.rank(h, fill, n, alpha, x, incx, x, incx, a, lda, C32, update{hermitian: true, scalar: C32.real()})
}

// Cher2 is A = alpha x y' + conj(alpha) y x' + A in one triangle, what is primed conjugated.
func (t *Thread) Cher2(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64) error {
	return t.rank(h, fill, n, alpha, x, incx, y, incy, a, lda, C32, update{hermitian: true, two: true, scalar: C32})
}

// Cher2k is Csyr2k with conjugate transposes, the conjugate of alpha with the second, and a real beta.
func (t *Thread) Cher2k(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.syr2k(h, fill, op, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, C32, true)
}

// Cherkx is Cherk with a second matrix in the place of A'.
func (t *Thread) Cherkx(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.herkx(h, fill, op, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, C32)
}

// Zsymv is y = alpha A x + beta y with A symmetric, in complex f64.
func (t *Thread) Zsymv(h blas.CublasHandle_t, fill Fill, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.symv(h, fill, n, alpha, a, lda, x, incx, beta, y, incy, C64, false)
}

// Zsyr is A = alpha x x' + A in one triangle, in complex f64.
func (t *Thread) Zsyr(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, a hostmem.Ptr, lda int64) error {
	return t.rank(h, fill, n, alpha, x, incx, x, incx, a, lda, C64, update{scalar: C64})
}

// Zsyr2 is A = alpha x y' + alpha y x' + A in one triangle, in complex f64.
func (t *Thread) Zsyr2(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64) error {
	return t.rank(h, fill, n, alpha, x, incx, y, incy, a, lda, C64, update{two: true, scalar: C64})
}

// Zsyr2k is C = alpha A B' + alpha B A' + beta C in one triangle, in complex f64.
func (t *Thread) Zsyr2k(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.syr2k(h, fill, op, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, C64, false)
}

// Ztrmm is C = alpha op(A) B, or B op(A), with A triangular, in complex f64; C may be B.
func (t *Thread) Ztrmm(h blas.CublasHandle_t, side Side, fill Fill, op Op, diag Diag, m, n int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, c hostmem.Ptr, ldc int64) error {
	return t.trmm(h, side, fill, op, diag, m, n, alpha, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, C64)
}

// Ztrmv is x = op(A) x with A triangular, in complex f64.
func (t *Thread) Ztrmv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64) error {
	return t.trmv(h, fill, op, diag, n, a, lda, x, incx, C64)
}

// Ztrsv solves op(A) x = b in place with A triangular, in complex f64.
func (t *Thread) Ztrsv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64) error {
	return t.trsv(h, fill, op, diag, n, a, lda, x, incx, C64)
}

// Zhemv is Zsymv with A Hermitian.
func (t *Thread) Zhemv(h blas.CublasHandle_t, fill Fill, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.symv(h, fill, n, alpha, a, lda, x, incx, beta, y, incy, C64, true)
}

// Zher is A = alpha x x' + A in one triangle, x' conjugated and alpha real.
func (t *Thread) Zher(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, a hostmem.Ptr, lda int64) error {
	return t.rank(h, fill, n, alpha, x, incx, x, incx, a, lda, C64, update{hermitian: true, scalar: C64.real()})
}

// Zher2 is A = alpha x y' + conj(alpha) y x' + A in one triangle, what is primed conjugated.
func (t *Thread) Zher2(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64) error {
	return t.rank(h, fill, n, alpha, x, incx, y, incy, a, lda, C64, update{hermitian: true, two: true, scalar: C64})
}

// Zher2k is Zsyr2k with conjugate transposes, the conjugate of alpha with the second, and a real beta.
func (t *Thread) Zher2k(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.syr2k(h, fill, op, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, C64, true)
}

// Zherkx is Zherk with a second matrix in the place of A'.
func (t *Thread) Zherkx(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64) error {
	return t.herkx(h, fill, op, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, C64)
}
