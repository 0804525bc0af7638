package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// Bands of matrices and a vector, for each type. How is in stored.go.

// Sgbmv is y = alpha op(A) x + beta y with a band of A stored, in f32.
func (t *Thread) Sgbmv(h blas.CublasHandle_t, op Op, m, n, below, above int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.gbmv(h, op, m, n, below, above, alpha, a, lda, x, incx, beta, y, incy, F32)
}

// Ssbmv is y = alpha A x + beta y with a band of a symmetric A stored, in f32.
func (t *Thread) Ssbmv(h blas.CublasHandle_t, fill Fill, n, k int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.halfmv(h, &stored{a: a, lda: lda, k: k, fill: fill}, n, alpha, x, incx, beta, y, incy, F32)
}

// Stbmv is x = op(A) x with a band of a triangular A stored, in f32.
func (t *Thread) Stbmv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n, k int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64) error {
	return t.trimv(h, &stored{a: a, lda: lda, k: k, fill: fill, op: op, diag: diag}, n, x, incx, F32)
}

// Stbsv solves op(A) x = b in place with a band of a triangular A stored, in f32.
func (t *Thread) Stbsv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n, k int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64) error {
	return t.trisv(h, &stored{a: a, lda: lda, k: k, fill: fill, op: op, diag: diag}, n, x, incx, F32)
}

// Dgbmv is y = alpha op(A) x + beta y with a band of A stored, in f64.
func (t *Thread) Dgbmv(h blas.CublasHandle_t, op Op, m, n, below, above int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.gbmv(h, op, m, n, below, above, alpha, a, lda, x, incx, beta, y, incy, F64)
}

// Dsbmv is y = alpha A x + beta y with a band of a symmetric A stored, in f64.
func (t *Thread) Dsbmv(h blas.CublasHandle_t, fill Fill, n, k int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.halfmv(h, &stored{a: a, lda: lda, k: k, fill: fill}, n, alpha, x, incx, beta, y, incy, F64)
}

// Dtbmv is x = op(A) x with a band of a triangular A stored, in f64.
func (t *Thread) Dtbmv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n, k int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64) error {
	return t.trimv(h, &stored{a: a, lda: lda, k: k, fill: fill, op: op, diag: diag}, n, x, incx, F64)
}

// Dtbsv solves op(A) x = b in place with a band of a triangular A stored, in f64.
func (t *Thread) Dtbsv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n, k int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64) error {
	return t.trisv(h, &stored{a: a, lda: lda, k: k, fill: fill, op: op, diag: diag}, n, x, incx, F64)
}

// Cgbmv is y = alpha op(A) x + beta y with a band of A stored, in complex f32.
func (t *Thread) Cgbmv(h blas.CublasHandle_t, op Op, m, n, below, above int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.gbmv(h, op, m, n, below, above, alpha, a, lda, x, incx, beta, y, incy, C32)
}

// Chbmv is y = alpha A x + beta y with a band of a Hermitian A stored, in complex f32.
func (t *Thread) Chbmv(h blas.CublasHandle_t, fill Fill, n, k int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.halfmv(h, &stored{a: a, lda: lda, k: k, fill: fill, mirror: true}, n, alpha, x, incx, beta, y, incy, C32)
}

// Ctbmv is x = op(A) x with a band of a triangular A stored, in complex f32.
func (t *Thread) Ctbmv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n, k int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64) error {
	return t.trimv(h, &stored{a: a, lda: lda, k: k, fill: fill, op: op, diag: diag}, n, x, incx, C32)
}

// Ctbsv solves op(A) x = b in place with a band of a triangular A stored, in complex f32.
func (t *Thread) Ctbsv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n, k int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64) error {
	return t.trisv(h, &stored{a: a, lda: lda, k: k, fill: fill, op: op, diag: diag}, n, x, incx, C32)
}

// Zgbmv is y = alpha op(A) x + beta y with a band of A stored, in complex f64.
func (t *Thread) Zgbmv(h blas.CublasHandle_t, op Op, m, n, below, above int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.gbmv(h, op, m, n, below, above, alpha, a, lda, x, incx, beta, y, incy, C64)
}

// Zhbmv is y = alpha A x + beta y with a band of a Hermitian A stored, in complex f64.
func (t *Thread) Zhbmv(h blas.CublasHandle_t, fill Fill, n, k int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.halfmv(h, &stored{a: a, lda: lda, k: k, fill: fill, mirror: true}, n, alpha, x, incx, beta, y, incy, C64)
}

// Ztbmv is x = op(A) x with a band of a triangular A stored, in complex f64.
func (t *Thread) Ztbmv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n, k int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64) error {
	return t.trimv(h, &stored{a: a, lda: lda, k: k, fill: fill, op: op, diag: diag}, n, x, incx, C64)
}

// Ztbsv solves op(A) x = b in place with a band of a triangular A stored, in complex f64.
func (t *Thread) Ztbsv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n, k int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64) error {
	return t.trisv(h, &stored{a: a, lda: lda, k: k, fill: fill, op: op, diag: diag}, n, x, incx, C64)
}
