package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// Batches of gemv on half types with sums and scalars of f32: the first letter is the type of A and x (H f16, T bf16), the last that of
// y. How is in matvec.go.

// HSHgemvBatched has the addresses in lists on the device.
func (t *Thread) HSHgemvBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy, batch int64) error {
	return t.gemvOf(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, list: true, batch: batch}, kinds{F16, F16, F32, F32})
}

// HSHgemvStridedBatched has them at equal distances.
func (t *Thread) HSHgemvStridedBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda, sa int64, x hostmem.Ptr, incx, sx int64, beta, y hostmem.Ptr, incy, sy, batch int64) error {
	return t.gemvOf(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, sa: sa, sb: sx, sc: sy, batch: batch}, kinds{F16, F16, F32, F32})
}

// HSSgemvBatched has the addresses in lists on the device.
func (t *Thread) HSSgemvBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy, batch int64) error {
	return t.gemvOf(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, list: true, batch: batch}, kinds{F16, F32, F32, F32})
}

// HSSgemvStridedBatched has them at equal distances.
func (t *Thread) HSSgemvStridedBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda, sa int64, x hostmem.Ptr, incx, sx int64, beta, y hostmem.Ptr, incy, sy, batch int64) error {
	return t.gemvOf(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, sa: sa, sb: sx, sc: sy, batch: batch}, kinds{F16, F32, F32, F32})
}

// TSTgemvBatched has the addresses in lists on the device.
func (t *Thread) TSTgemvBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy, batch int64) error {
	return t.gemvOf(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, list: true, batch: batch}, kinds{BF16, BF16, F32, F32})
}

// TSTgemvStridedBatched has them at equal distances.
func (t *Thread) TSTgemvStridedBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda, sa int64, x hostmem.Ptr, incx, sx int64, beta, y hostmem.Ptr, incy, sy, batch int64) error {
	return t.gemvOf(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, sa: sa, sb: sx, sc: sy, batch: batch}, kinds{BF16, BF16, F32, F32})
}

// TSSgemvBatched has the addresses in lists on the device.
func (t *Thread) TSSgemvBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy, batch int64) error {
	return t.gemvOf(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, list: true, batch: batch}, kinds{BF16, F32, F32, F32})
}

// TSSgemvStridedBatched has them at equal distances.
func (t *Thread) TSSgemvStridedBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda, sa int64, x hostmem.Ptr, incx, sx int64, beta, y hostmem.Ptr, incy, sy, batch int64) error {
	return t.gemvOf(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, sa: sa, sb: sx, sc: sy, batch: batch}, kinds{BF16, F32, F32, F32})
}
