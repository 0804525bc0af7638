package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// LAPACK's batched functions and packed triangles, for each type. How is in lu.go.

// SgetrfBatched factors matrices into L U with row exchanges, in place, in f32.
func (t *Thread) SgetrfBatched(h blas.CublasHandle_t, n int64, a hostmem.Ptr, lda int64, pivots, info hostmem.Ptr, batch int64) error {
	return t.getrf(h, &small{n: n, batch: batch, a: a, lda: lda, pivots: pivots}, info, F32)
}

// SgetrsBatched solves op(A) X = B in place with what SgetrfBatched made of A.
func (t *Thread) SgetrsBatched(h blas.CublasHandle_t, op Op, n, count int64, a hostmem.Ptr, lda int64, pivots, b hostmem.Ptr, ldb int64, info hostmem.Ptr, batch int64) error {
	return t.getrs(h, op, &small{n: n, batch: batch, a: a, lda: lda, pivots: pivots, c: b, ldc: ldb}, count, info, F32)
}

// SgetriBatched is the inverse, from what SgetrfBatched made of A.
func (t *Thread) SgetriBatched(h blas.CublasHandle_t, n int64, a hostmem.Ptr, lda int64, pivots, c hostmem.Ptr, ldc int64, info hostmem.Ptr, batch int64) error {
	return t.getri(h, &small{n: n, batch: batch, a: a, lda: lda, pivots: pivots, c: c, ldc: ldc}, info, F32)
}

// SmatinvBatched is the inverse of matrices of up to 32 rows, in f32.
func (t *Thread) SmatinvBatched(h blas.CublasHandle_t, n int64, a hostmem.Ptr, lda int64, c hostmem.Ptr, ldc int64, info hostmem.Ptr, batch int64) error {
	return t.matinv(h, &small{n: n, batch: batch, a: a, lda: lda, c: c, ldc: ldc}, info, F32)
}

// Stpttr unpacks a triangle into a matrix, in f32.
func (t *Thread) Stpttr(h blas.CublasHandle_t, fill Fill, n int64, ap, a hostmem.Ptr, lda int64) error {
	return t.packed(h, fill, n, ap, a, lda, F32, false)
}

// Strttp packs a triangle of a matrix, in f32.
func (t *Thread) Strttp(h blas.CublasHandle_t, fill Fill, n int64, a hostmem.Ptr, lda int64, ap hostmem.Ptr) error {
	return t.packed(h, fill, n, ap, a, lda, F32, true)
}

// DgetrfBatched factors matrices into L U with row exchanges, in place, in f64.
func (t *Thread) DgetrfBatched(h blas.CublasHandle_t, n int64, a hostmem.Ptr, lda int64, pivots, info hostmem.Ptr, batch int64) error {
	return t.getrf(h, &small{n: n, batch: batch, a: a, lda: lda, pivots: pivots}, info, F64)
}

// DgetrsBatched solves op(A) X = B in place with what DgetrfBatched made of A.
func (t *Thread) DgetrsBatched(h blas.CublasHandle_t, op Op, n, count int64, a hostmem.Ptr, lda int64, pivots, b hostmem.Ptr, ldb int64, info hostmem.Ptr, batch int64) error {
	return t.getrs(h, op, &small{n: n, batch: batch, a: a, lda: lda, pivots: pivots, c: b, ldc: ldb}, count, info, F64)
}

// DgetriBatched is the inverse, from what DgetrfBatched made of A.
func (t *Thread) DgetriBatched(h blas.CublasHandle_t, n int64, a hostmem.Ptr, lda int64, pivots, c hostmem.Ptr, ldc int64, info hostmem.Ptr, batch int64) error {
	return t.getri(h, &small{n: n, batch: batch, a: a, lda: lda, pivots: pivots, c: c, ldc: ldc}, info, F64)
}

// DmatinvBatched is the inverse of matrices of up to 32 rows, in f64.
func (t *Thread) DmatinvBatched(h blas.CublasHandle_t, n int64, a hostmem.Ptr, lda int64, c hostmem.Ptr, ldc int64, info hostmem.Ptr, batch int64) error {
	return t.matinv(h, &small{n: n, batch: batch, a: a, lda: lda, c: c, ldc: ldc}, info, F64)
}

// Dtpttr unpacks a triangle into a matrix, in f64.
func (t *Thread) Dtpttr(h blas.CublasHandle_t, fill Fill, n int64, ap, a hostmem.Ptr, lda int64) error {
	return t.packed(h, fill, n, ap, a, lda, F64, false)
}

// Dtrttp packs a triangle of a matrix, in f64.
func (t *Thread) Dtrttp(h blas.CublasHandle_t, fill Fill, n int64, a hostmem.Ptr, lda int64, ap hostmem.Ptr) error {
	return t.packed(h, fill, n, ap, a, lda, F64, true)
}

// CgetrfBatched factors matrices into L U with row exchanges, in place, in complex f32.
func (t *Thread) CgetrfBatched(h blas.CublasHandle_t, n int64, a hostmem.Ptr, lda int64, pivots, info hostmem.Ptr, batch int64) error {
	return t.getrf(h, &small{n: n, batch: batch, a: a, lda: lda, pivots: pivots}, info, C32)
}

// CgetrsBatched solves op(A) X = B in place with what CgetrfBatched made of A.
func (t *Thread) CgetrsBatched(h blas.CublasHandle_t, op Op, n, count int64, a hostmem.Ptr, lda int64, pivots, b hostmem.Ptr, ldb int64, info hostmem.Ptr, batch int64) error {
	return t.getrs(h, op, &small{n: n, batch: batch, a: a, lda: lda, pivots: pivots, c: b, ldc: ldb}, count, info, C32)
}

// CgetriBatched is the inverse, from what CgetrfBatched made of A.
func (t *Thread) CgetriBatched(h blas.CublasHandle_t, n int64, a hostmem.Ptr, lda int64, pivots, c hostmem.Ptr, ldc int64, info hostmem.Ptr, batch int64) error {
	return t.getri(h, &small{n: n, batch: batch, a: a, lda: lda, pivots: pivots, c: c, ldc: ldc}, info, C32)
}

// CmatinvBatched is the inverse of matrices of up to 32 rows, in complex f32.
func (t *Thread) CmatinvBatched(h blas.CublasHandle_t, n int64, a hostmem.Ptr, lda int64, c hostmem.Ptr, ldc int64, info hostmem.Ptr, batch int64) error {
	return t.matinv(h, &small{n: n, batch: batch, a: a, lda: lda, c: c, ldc: ldc}, info, C32)
}

// Ctpttr unpacks a triangle into a matrix, in complex f32.
func (t *Thread) Ctpttr(h blas.CublasHandle_t, fill Fill, n int64, ap, a hostmem.Ptr, lda int64) error {
	return t.packed(h, fill, n, ap, a, lda, C32, false)
}

// Ctrttp packs a triangle of a matrix, in complex f32.
func (t *Thread) Ctrttp(h blas.CublasHandle_t, fill Fill, n int64, a hostmem.Ptr, lda int64, ap hostmem.Ptr) error {
	return t.packed(h, fill, n, ap, a, lda, C32, true)
}

// ZgetrfBatched factors matrices into L U with row exchanges, in place, in complex f64.
func (t *Thread) ZgetrfBatched(h blas.CublasHandle_t, n int64, a hostmem.Ptr, lda int64, pivots, info hostmem.Ptr, batch int64) error {
	return t.getrf(h, &small{n: n, batch: batch, a: a, lda: lda, pivots: pivots}, info, C64)
}

// ZgetrsBatched solves op(A) X = B in place with what ZgetrfBatched made of A.
func (t *Thread) ZgetrsBatched(h blas.CublasHandle_t, op Op, n, count int64, a hostmem.Ptr, lda int64, pivots, b hostmem.Ptr, ldb int64, info hostmem.Ptr, batch int64) error {
	return t.getrs(h, op, &small{n: n, batch: batch, a: a, lda: lda, pivots: pivots, c: b, ldc: ldb}, count, info, C64)
}

// ZgetriBatched is the inverse, from what ZgetrfBatched made of A.
func (t *Thread) ZgetriBatched(h blas.CublasHandle_t, n int64, a hostmem.Ptr, lda int64, pivots, c hostmem.Ptr, ldc int64, info hostmem.Ptr, batch int64) error {
	return t.getri(h, &small{n: n, batch: batch, a: a, lda: lda, pivots: pivots, c: c, ldc: ldc}, info, C64)
}

// ZmatinvBatched is the inverse of matrices of up to 32 rows, in complex f64.
func (t *Thread) ZmatinvBatched(h blas.CublasHandle_t, n int64, a hostmem.Ptr, lda int64, c hostmem.Ptr, ldc int64, info hostmem.Ptr, batch int64) error {
	return t.matinv(h, &small{n: n, batch: batch, a: a, lda: lda, c: c, ldc: ldc}, info, C64)
}

// Ztpttr unpacks a triangle into a matrix, in complex f64.
func (t *Thread) Ztpttr(h blas.CublasHandle_t, fill Fill, n int64, ap, a hostmem.Ptr, lda int64) error {
	return t.packed(h, fill, n, ap, a, lda, C64, false)
}

// Ztrttp packs a triangle of a matrix, in complex f64.
func (t *Thread) Ztrttp(h blas.CublasHandle_t, fill Fill, n int64, a hostmem.Ptr, lda int64, ap hostmem.Ptr) error {
	return t.packed(h, fill, n, ap, a, lda, C64, true)
}

// SgeqrfBatched factors matrices into Q R by reflections, in place, in f32.
func (t *Thread) SgeqrfBatched(h blas.CublasHandle_t, m, n int64, a hostmem.Ptr, lda int64, taus, info hostmem.Ptr, batch int64) error {
	return t.geqrf(h, m, n, a, lda, taus, info, batch, F32)
}

// SgelsBatched finds the X for which A X is nearest to C, in the place of C, in f32.
func (t *Thread) SgelsBatched(h blas.CublasHandle_t, op Op, m, n, count int64, a hostmem.Ptr, lda int64, c hostmem.Ptr, ldc int64, info, devInfo hostmem.Ptr, batch int64) error {
	return t.gels(h, op, m, n, count, a, lda, c, ldc, info, devInfo, batch, F32)
}

// DgeqrfBatched factors matrices into Q R by reflections, in place, in f64.
func (t *Thread) DgeqrfBatched(h blas.CublasHandle_t, m, n int64, a hostmem.Ptr, lda int64, taus, info hostmem.Ptr, batch int64) error {
	return t.geqrf(h, m, n, a, lda, taus, info, batch, F64)
}

// DgelsBatched finds the X for which A X is nearest to C, in the place of C, in f64.
func (t *Thread) DgelsBatched(h blas.CublasHandle_t, op Op, m, n, count int64, a hostmem.Ptr, lda int64, c hostmem.Ptr, ldc int64, info, devInfo hostmem.Ptr, batch int64) error {
	return t.gels(h, op, m, n, count, a, lda, c, ldc, info, devInfo, batch, F64)
}

// CgeqrfBatched factors matrices into Q R by reflections, in place, in complex f32.
func (t *Thread) CgeqrfBatched(h blas.CublasHandle_t, m, n int64, a hostmem.Ptr, lda int64, taus, info hostmem.Ptr, batch int64) error {
	return t.geqrf(h, m, n, a, lda, taus, info, batch, C32)
}

// CgelsBatched finds the X for which A X is nearest to C, in the place of C, in complex f32.
func (t *Thread) CgelsBatched(h blas.CublasHandle_t, op Op, m, n, count int64, a hostmem.Ptr, lda int64, c hostmem.Ptr, ldc int64, info, devInfo hostmem.Ptr, batch int64) error {
	return t.gels(h, op, m, n, count, a, lda, c, ldc, info, devInfo, batch, C32)
}

// ZgeqrfBatched factors matrices into Q R by reflections, in place, in complex f64.
func (t *Thread) ZgeqrfBatched(h blas.CublasHandle_t, m, n int64, a hostmem.Ptr, lda int64, taus, info hostmem.Ptr, batch int64) error {
	return t.geqrf(h, m, n, a, lda, taus, info, batch, C64)
}

// ZgelsBatched finds the X for which A X is nearest to C, in the place of C, in complex f64.
func (t *Thread) ZgelsBatched(h blas.CublasHandle_t, op Op, m, n, count int64, a hostmem.Ptr, lda int64, c hostmem.Ptr, ldc int64, info, devInfo hostmem.Ptr, batch int64) error {
	return t.gels(h, op, m, n, count, a, lda, c, ldc, info, devInfo, batch, C64)
}
