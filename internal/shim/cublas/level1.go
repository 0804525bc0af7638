package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// What is done to vectors element by element, for each type. How is in vector.go.

// Saxpy is y = alpha x + y in f32.
func (t *Thread) Saxpy(h blas.CublasHandle_t, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64) error {
	return t.axpy(h, n, alpha, F32, x, incx, y, incy, F32)
}

// Sscal is x = alpha x in f32.
func (t *Thread) Sscal(h blas.CublasHandle_t, n int64, alpha, x hostmem.Ptr, incx int64) error {
	return t.scal(h, n, alpha, F32, x, incx, F32)
}

// Scopy is y = x in f32.
func (t *Thread) Scopy(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64) error {
	return t.pair(h, "copy", n, x, incx, y, incy, F32)
}

// Sswap exchanges x and y in f32.
func (t *Thread) Sswap(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64) error {
	return t.pair(h, "swap", n, x, incx, y, incy, F32)
}

// Srot turns the pairs of x and y in f32.
func (t *Thread) Srot(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, c, s hostmem.Ptr) error {
	return t.rot(h, n, x, incx, y, incy, c, s, F32, F32)
}

// Daxpy is y = alpha x + y in f64.
func (t *Thread) Daxpy(h blas.CublasHandle_t, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64) error {
	return t.axpy(h, n, alpha, F64, x, incx, y, incy, F64)
}

// Dscal is x = alpha x in f64.
func (t *Thread) Dscal(h blas.CublasHandle_t, n int64, alpha, x hostmem.Ptr, incx int64) error {
	return t.scal(h, n, alpha, F64, x, incx, F64)
}

// Dcopy is y = x in f64.
func (t *Thread) Dcopy(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64) error {
	return t.pair(h, "copy", n, x, incx, y, incy, F64)
}

// Dswap exchanges x and y in f64.
func (t *Thread) Dswap(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64) error {
	return t.pair(h, "swap", n, x, incx, y, incy, F64)
}

// Drot turns the pairs of x and y in f64.
func (t *Thread) Drot(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, c, s hostmem.Ptr) error {
	return t.rot(h, n, x, incx, y, incy, c, s, F64, F64)
}

// Caxpy is y = alpha x + y in complex f32.
func (t *Thread) Caxpy(h blas.CublasHandle_t, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64) error {
	return t.axpy(h, n, alpha, C32, x, incx, y, incy, C32)
}

// Cscal is x = alpha x in complex f32.
func (t *Thread) Cscal(h blas.CublasHandle_t, n int64, alpha, x hostmem.Ptr, incx int64) error {
	return t.scal(h, n, alpha, C32, x, incx, C32)
}

// Ccopy is y = x in complex f32.
func (t *Thread) Ccopy(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64) error {
	return t.pair(h, "copy", n, x, incx, y, incy, C32)
}

// Cswap exchanges x and y in complex f32.
func (t *Thread) Cswap(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64) error {
	return t.pair(h, "swap", n, x, incx, y, incy, C32)
}

// Crot turns the pairs of x and y in complex f32.
func (t *Thread) Crot(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, c, s hostmem.Ptr) error {
	return t.rot(h, n, x, incx, y, incy, c, s, C32, C32)
}

// Zaxpy is y = alpha x + y in complex f64.
func (t *Thread) Zaxpy(h blas.CublasHandle_t, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64) error {
	return t.axpy(h, n, alpha, C64, x, incx, y, incy, C64)
}

// Zscal is x = alpha x in complex f64.
func (t *Thread) Zscal(h blas.CublasHandle_t, n int64, alpha, x hostmem.Ptr, incx int64) error {
	return t.scal(h, n, alpha, C64, x, incx, C64)
}

// Zcopy is y = x in complex f64.
func (t *Thread) Zcopy(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64) error {
	return t.pair(h, "copy", n, x, incx, y, incy, C64)
}

// Zswap exchanges x and y in complex f64.
func (t *Thread) Zswap(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64) error {
	return t.pair(h, "swap", n, x, incx, y, incy, C64)
}

// Zrot turns the pairs of x and y in complex f64.
func (t *Thread) Zrot(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, c, s hostmem.Ptr) error {
	return t.rot(h, n, x, incx, y, incy, c, s, C64, C64)
}

// Csscal is x = alpha x with a real alpha.
func (t *Thread) Csscal(h blas.CublasHandle_t, n int64, alpha, x hostmem.Ptr, incx int64) error {
	return t.scal(h, n, alpha, F32, x, incx, C32)
}

// Zdscal is x = alpha x with a real alpha.
func (t *Thread) Zdscal(h blas.CublasHandle_t, n int64, alpha, x hostmem.Ptr, incx int64) error {
	return t.scal(h, n, alpha, F64, x, incx, C64)
}

// Csrot is rot with a real s.
func (t *Thread) Csrot(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, c, s hostmem.Ptr) error {
	return t.rot(h, n, x, incx, y, incy, c, s, C32, F32)
}

// Zdrot is rot with a real s.
func (t *Thread) Zdrot(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, c, s hostmem.Ptr) error {
	return t.rot(h, n, x, incx, y, incy, c, s, C64, F64)
}
