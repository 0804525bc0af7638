package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// Packed triangles and a vector, for each type. How is in stored.go.

// Sspmv is y = alpha A x + beta y with a symmetric A packed, in f32.
func (t *Thread) Sspmv(h blas.CublasHandle_t, fill Fill, n int64, alpha, ap, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.halfmv(h, &stored{a: ap, packed: true, fill: fill}, n, alpha, x, incx, beta, y, incy, F32)
}

// Sspr is A = alpha x x' + A with a symmetric A packed, in f32.
func (t *Thread) Sspr(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, ap hostmem.Ptr) error {
	return t.halfrank(h, fill, n, alpha, x, incx, x, incx, ap, F32, update{scalar: F32})
}

// Sspr2 is A = alpha x y' + alpha' y x' + A with a symmetric A packed, in f32.
func (t *Thread) Sspr2(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, ap hostmem.Ptr) error {
	return t.halfrank(h, fill, n, alpha, x, incx, y, incy, ap, F32, update{two: true, scalar: F32})
}

// Stpmv is x = op(A) x with a triangular A packed, in f32.
func (t *Thread) Stpmv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, ap, x hostmem.Ptr, incx int64) error {
	return t.trimv(h, &stored{a: ap, packed: true, fill: fill, op: op, diag: diag}, n, x, incx, F32)
}

// Stpsv solves op(A) x = b in place with a triangular A packed, in f32.
func (t *Thread) Stpsv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, ap, x hostmem.Ptr, incx int64) error {
	return t.trisv(h, &stored{a: ap, packed: true, fill: fill, op: op, diag: diag}, n, x, incx, F32)
}

// Dspmv is y = alpha A x + beta y with a symmetric A packed, in f64.
func (t *Thread) Dspmv(h blas.CublasHandle_t, fill Fill, n int64, alpha, ap, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.halfmv(h, &stored{a: ap, packed: true, fill: fill}, n, alpha, x, incx, beta, y, incy, F64)
}

// Dspr is A = alpha x x' + A with a symmetric A packed, in f64.
func (t *Thread) Dspr(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, ap hostmem.Ptr) error {
	return t.halfrank(h, fill, n, alpha, x, incx, x, incx, ap, F64, update{scalar: F64})
}

// Dspr2 is A = alpha x y' + alpha' y x' + A with a symmetric A packed, in f64.
func (t *Thread) Dspr2(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, ap hostmem.Ptr) error {
	return t.halfrank(h, fill, n, alpha, x, incx, y, incy, ap, F64, update{two: true, scalar: F64})
}

// Dtpmv is x = op(A) x with a triangular A packed, in f64.
func (t *Thread) Dtpmv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, ap, x hostmem.Ptr, incx int64) error {
	return t.trimv(h, &stored{a: ap, packed: true, fill: fill, op: op, diag: diag}, n, x, incx, F64)
}

// Dtpsv solves op(A) x = b in place with a triangular A packed, in f64.
func (t *Thread) Dtpsv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, ap, x hostmem.Ptr, incx int64) error {
	return t.trisv(h, &stored{a: ap, packed: true, fill: fill, op: op, diag: diag}, n, x, incx, F64)
}

// Chpmv is y = alpha A x + beta y with a Hermitian A packed, in complex f32.
func (t *Thread) Chpmv(h blas.CublasHandle_t, fill Fill, n int64, alpha, ap, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.halfmv(h, &stored{a: ap, packed: true, fill: fill, mirror: true}, n, alpha, x, incx, beta, y, incy, C32)
}

// Chpr is A = alpha x x' + A with a Hermitian A packed, in complex f32.
func (t *Thread) Chpr(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, ap hostmem.Ptr) error {
	return t.halfrank(h, fill, n, alpha, x, incx, x, incx, ap, C32, update{hermitian: true, scalar: F32})
}

// Chpr2 is A = alpha x y' + alpha' y x' + A with a Hermitian A packed, in complex f32.
func (t *Thread) Chpr2(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, ap hostmem.Ptr) error {
	return t.halfrank(h, fill, n, alpha, x, incx, y, incy, ap, C32, update{hermitian: true, two: true, scalar: C32})
}

// Ctpmv is x = op(A) x with a triangular A packed, in complex f32.
func (t *Thread) Ctpmv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, ap, x hostmem.Ptr, incx int64) error {
	return t.trimv(h, &stored{a: ap, packed: true, fill: fill, op: op, diag: diag}, n, x, incx, C32)
}

// Ctpsv solves op(A) x = b in place with a triangular A packed, in complex f32.
func (t *Thread) Ctpsv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, ap, x hostmem.Ptr, incx int64) error {
	return t.trisv(h, &stored{a: ap, packed: true, fill: fill, op: op, diag: diag}, n, x, incx, C32)
}

// Zhpmv is y = alpha A x + beta y with a Hermitian A packed, in complex f64.
func (t *Thread) Zhpmv(h blas.CublasHandle_t, fill Fill, n int64, alpha, ap, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64) error {
	return t.halfmv(h, &stored{a: ap, packed: true, fill: fill, mirror: true}, n, alpha, x, incx, beta, y, incy, C64)
}

// Zhpr is A = alpha x x' + A with a Hermitian A packed, in complex f64.
func (t *Thread) Zhpr(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, ap hostmem.Ptr) error {
	return t.halfrank(h, fill, n, alpha, x, incx, x, incx, ap, C64, update{hermitian: true, scalar: F64})
}

// Zhpr2 is A = alpha x y' + alpha' y x' + A with a Hermitian A packed, in complex f64.
func (t *Thread) Zhpr2(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, ap hostmem.Ptr) error {
	return t.halfrank(h, fill, n, alpha, x, incx, y, incy, ap, C64, update{hermitian: true, two: true, scalar: C64})
}

// Ztpmv is x = op(A) x with a triangular A packed, in complex f64.
func (t *Thread) Ztpmv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, ap, x hostmem.Ptr, incx int64) error {
	return t.trimv(h, &stored{a: ap, packed: true, fill: fill, op: op, diag: diag}, n, x, incx, C64)
}

// Ztpsv solves op(A) x = b in place with a triangular A packed, in complex f64.
func (t *Thread) Ztpsv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, ap, x hostmem.Ptr, incx int64) error {
	return t.trisv(h, &stored{a: ap, packed: true, fill: fill, op: op, diag: diag}, n, x, incx, C64)
}
