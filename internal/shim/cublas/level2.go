package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// A matrix and a vector, for each type. How is in matvec.go.

// Sgemv is y = alpha op(A) x + beta y in f32.
func (t *Thread) Sgemv(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.gemv(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, batch: 1}, F32)
}

// SgemvBatched is Sgemv with the addresses in lists on the device.
func (t *Thread) SgemvBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy, batch int64) error {
	return t.gemv(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, list: true, batch: batch}, F32)
}

// SgemvStridedBatched is Sgemv at equal distances.
func (t *Thread) SgemvStridedBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda, sa int64, x hostmem.Ptr, incx, sx int64, beta, y hostmem.Ptr, incy, sy, batch int64) error {
	return t.gemv(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, sa: sa, sb: sx, sc: sy, batch: batch}, F32)
}

// Dgemv is y = alpha op(A) x + beta y in f64.
func (t *Thread) Dgemv(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.gemv(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, batch: 1}, F64)
}

// DgemvBatched is Dgemv with the addresses in lists on the device.
func (t *Thread) DgemvBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy, batch int64) error {
	return t.gemv(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, list: true, batch: batch}, F64)
}

// DgemvStridedBatched is Dgemv at equal distances.
func (t *Thread) DgemvStridedBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda, sa int64, x hostmem.Ptr, incx, sx int64, beta, y hostmem.Ptr, incy, sy, batch int64) error {
	return t.gemv(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, sa: sa, sb: sx, sc: sy, batch: batch}, F64)
}

// Cgemv is y = alpha op(A) x + beta y in complex f32.
func (t *Thread) Cgemv(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.gemv(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, batch: 1}, C32)
}

// CgemvBatched is Cgemv with the addresses in lists on the device.
func (t *Thread) CgemvBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy, batch int64) error {
	return t.gemv(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, list: true, batch: batch}, C32)
}

// CgemvStridedBatched is Cgemv at equal distances.
func (t *Thread) CgemvStridedBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda, sa int64, x hostmem.Ptr, incx, sx int64, beta, y hostmem.Ptr, incy, sy, batch int64) error {
	return t.gemv(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, sa: sa, sb: sx, sc: sy, batch: batch}, C32)
}

// Zgemv is y = alpha op(A) x + beta y in complex f64.
func (t *Thread) Zgemv(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.gemv(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, batch: 1}, C64)
}

// ZgemvBatched is Zgemv with the addresses in lists on the device.
func (t *Thread) ZgemvBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy, batch int64) error {
	return t.gemv(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, list: true, batch: batch}, C64)
}

// ZgemvStridedBatched is Zgemv at equal distances.
func (t *Thread) ZgemvStridedBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda, sa int64, x hostmem.Ptr, incx, sx int64, beta, y hostmem.Ptr, incy, sy, batch int64) error {
	return t.gemv(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, sa: sa, sb: sx, sc: sy, batch: batch}, C64)
}

// Sger is A = alpha x y' + A in f32.
func (t *Thread) Sger(h blas.CublasHandle_t, m, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64) error {
	return t.ger(h, m, n, alpha, x, incx, y, incy, a, lda, F32, false)
}

// Dger is A = alpha x y' + A in f64.
func (t *Thread) Dger(h blas.CublasHandle_t, m, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64) error {
	return t.ger(h, m, n, alpha, x, incx, y, incy, a, lda, F64, false)
}

// Cgeru is A = alpha x y' + A in complex f32.
func (t *Thread) Cgeru(h blas.CublasHandle_t, m, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64) error {
	return t.ger(h, m, n, alpha, x, incx, y, incy, a, lda, C32, false)
}

// Cgerc is A = alpha x y' + A in complex f32, y' conjugated.
func (t *Thread) Cgerc(h blas.CublasHandle_t, m, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64) error {
	return t.ger(h, m, n, alpha, x, incx, y, incy, a, lda, C32, true)
}

// Zgeru is A = alpha x y' + A in complex f64.
func (t *Thread) Zgeru(h blas.CublasHandle_t, m, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64) error {
	return t.ger(h, m, n, alpha, x, incx, y, incy, a, lda, C64, false)
}

// Zgerc is A = alpha x y' + A in complex f64, y' conjugated.
func (t *Thread) Zgerc(h blas.CublasHandle_t, m, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64) error {
	return t.ger(h, m, n, alpha, x, incx, y, incy, a, lda, C64, true)
}
