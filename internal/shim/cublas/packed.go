package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// Packed triangles and a vector, for each type. How is in stored.go.

// Spmv is y = alpha A x + beta y with a symmetric A packed.
func (t *Thread) Spmv(h blas.CublasHandle_t, fill Fill, n int64, alpha, ap, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64, e Elem) error {
	return t.halfmv(h, &stored{a: ap, packed: true, fill: fill}, n, alpha, x, incx, beta, y, incy, e)
}

// Spr is A = alpha x x' + A with a symmetric A packed.
func (t *Thread) Spr(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, ap hostmem.Ptr, e Elem) error {
	return t.halfrank(h, fill, n, alpha, x, incx, x, incx, ap, e, update{scalar: e})
}

// Spr2 is A = alpha x y' + alpha' y x' + A with a symmetric A packed.
func (t *Thread) Spr2(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, ap hostmem.Ptr, e Elem) error {
	return t.halfrank(h, fill, n, alpha, x, incx, y, incy, ap, e, update{two: true, scalar: e})
}

// Tpmv is x = op(A) x with a triangular A packed.
func (t *Thread) Tpmv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, ap, x hostmem.Ptr, incx int64, e Elem) error {
	return t.trimv(h, &stored{a: ap, packed: true, fill: fill, op: op, diag: diag}, n, x, incx, e)
}

// Tpsv solves op(A) x = b in place with a triangular A packed.
func (t *Thread) Tpsv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, ap, x hostmem.Ptr, incx int64, e Elem) error {
	return t.trisv(h, &stored{a: ap, packed: true, fill: fill, op: op, diag: diag}, n, x, incx, e)
}

// Hpmv is y = alpha A x + beta y with a Hermitian A packed.
func (t *Thread) Hpmv(h blas.CublasHandle_t, fill Fill, n int64, alpha, ap, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64, e Elem) error {
	return t.halfmv(h, &stored{a: ap, packed: true, fill: fill, mirror: true}, n, alpha, x, incx, beta, y, incy, e)
}

// Hpr is A = alpha x x' + A with a Hermitian A packed.
func (t *Thread) Hpr(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, ap hostmem.Ptr, e Elem) error {
	return t.halfrank(h, fill, n, alpha, x, incx, x, incx, ap, e, update{hermitian: true, scalar: e.real()})
}

// Hpr2 is A = alpha x y' + alpha' y x' + A with a Hermitian A packed.
func (t *Thread) Hpr2(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, ap hostmem.Ptr, e Elem) error {
	return t.halfrank(h, fill, n, alpha, x, incx, y, incy, ap, e, update{hermitian: true, two: true, scalar: e})
}
