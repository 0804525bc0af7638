package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// Batches of gemv on half types with sums and scalars of f32: in is the type of A and x, out that of y. How is in matvec.go.

// HalfGemvBatched has the addresses in lists on the device.
func (t *Thread) HalfGemvBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy, batch int64, in, out Elem) error {
	return t.gemvOf(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, list: true, batch: batch}, kinds{in, out, F32, F32})
}

// HalfGemvStridedBatched has them at equal distances.
func (t *Thread) HalfGemvStridedBatched(h blas.CublasHandle_t, op Op, m, n int64, alpha, a hostmem.Ptr, lda, sa int64, x hostmem.Ptr, incx, sx int64, beta, y hostmem.Ptr, incy, sy, batch int64, in, out Elem) error {
	return t.gemvOf(h, op, m, n, alpha, beta, operands{a: a, b: x, c: y, lda: lda, ldb: incx, ldc: incy, sa: sa, sb: sx, sc: sy, batch: batch}, kinds{in, out, F32, F32})
}
