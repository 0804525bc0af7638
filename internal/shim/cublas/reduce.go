package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// Results over vectors, for each type: to the host after waiting, or to the device, by the handle's pointer mode. How is in
// vector.go. Sums are made in an order that depends on the length alone.

// Sdot is the sum of the products of x and y in f32.
func (t *Thread) Sdot(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, result hostmem.Ptr) error {
	return t.dot(h, n, x, incx, y, incy, result, F32, false)
}

// Ddot is the sum of the products of x and y in f64.
func (t *Thread) Ddot(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, result hostmem.Ptr) error {
	return t.dot(h, n, x, incx, y, incy, result, F64, false)
}

// Cdotu is the sum of the products of x and y in complex f32.
func (t *Thread) Cdotu(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, result hostmem.Ptr) error {
	return t.dot(h, n, x, incx, y, incy, result, C32, false)
}

// Cdotc is the sum of the products of x, conjugated, and y in complex f32.
func (t *Thread) Cdotc(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, result hostmem.Ptr) error {
	return t.dot(h, n, x, incx, y, incy, result, C32, true)
}

// Zdotu is the sum of the products of x and y in complex f64.
func (t *Thread) Zdotu(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, result hostmem.Ptr) error {
	return t.dot(h, n, x, incx, y, incy, result, C64, false)
}

// Zdotc is the sum of the products of x, conjugated, and y in complex f64.
func (t *Thread) Zdotc(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, result hostmem.Ptr) error {
	return t.dot(h, n, x, incx, y, incy, result, C64, true)
}

// Snrm2 is the Euclidean norm of f32.
func (t *Thread) Snrm2(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.norm(h, "nrm2", n, x, incx, result, F32)
}

// Dnrm2 is the Euclidean norm of f64.
func (t *Thread) Dnrm2(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.norm(h, "nrm2", n, x, incx, result, F64)
}

// Scnrm2 is the Euclidean norm of complex f32.
func (t *Thread) Scnrm2(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.norm(h, "nrm2", n, x, incx, result, C32)
}

// Dznrm2 is the Euclidean norm of complex f64.
func (t *Thread) Dznrm2(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.norm(h, "nrm2", n, x, incx, result, C64)
}

// Sasum is the sum of |re| + |im| of f32.
func (t *Thread) Sasum(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.norm(h, "asum", n, x, incx, result, F32)
}

// Dasum is the sum of |re| + |im| of f64.
func (t *Thread) Dasum(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.norm(h, "asum", n, x, incx, result, F64)
}

// Scasum is the sum of |re| + |im| of complex f32.
func (t *Thread) Scasum(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.norm(h, "asum", n, x, incx, result, C32)
}

// Dzasum is the sum of |re| + |im| of complex f64.
func (t *Thread) Dzasum(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.norm(h, "asum", n, x, incx, result, C64)
}

// Isamax is the first index, from 1, of the largest |re| + |im| of f32.
func (t *Thread) Isamax(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.best(h, n, x, incx, result, F32, false, false)
}

// Isamax64 is the first index, from 1, of the largest |re| + |im| of f32, of 64 bits.
func (t *Thread) Isamax64(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.best(h, n, x, incx, result, F32, false, true)
}

// Isamin is the first index, from 1, of the least |re| + |im| of f32.
func (t *Thread) Isamin(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.best(h, n, x, incx, result, F32, true, false)
}

// Isamin64 is the first index, from 1, of the least |re| + |im| of f32, of 64 bits.
func (t *Thread) Isamin64(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.best(h, n, x, incx, result, F32, true, true)
}

// Idamax is the first index, from 1, of the largest |re| + |im| of f64.
func (t *Thread) Idamax(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.best(h, n, x, incx, result, F64, false, false)
}

// Idamax64 is the first index, from 1, of the largest |re| + |im| of f64, of 64 bits.
func (t *Thread) Idamax64(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.best(h, n, x, incx, result, F64, false, true)
}

// Idamin is the first index, from 1, of the least |re| + |im| of f64.
func (t *Thread) Idamin(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.best(h, n, x, incx, result, F64, true, false)
}

// Idamin64 is the first index, from 1, of the least |re| + |im| of f64, of 64 bits.
func (t *Thread) Idamin64(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.best(h, n, x, incx, result, F64, true, true)
}

// Icamax is the first index, from 1, of the largest |re| + |im| of complex f32.
func (t *Thread) Icamax(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.best(h, n, x, incx, result, C32, false, false)
}

// Icamax64 is the first index, from 1, of the largest |re| + |im| of complex f32, of 64 bits.
func (t *Thread) Icamax64(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.best(h, n, x, incx, result, C32, false, true)
}

// Icamin is the first index, from 1, of the least |re| + |im| of complex f32.
func (t *Thread) Icamin(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.best(h, n, x, incx, result, C32, true, false)
}

// Icamin64 is the first index, from 1, of the least |re| + |im| of complex f32, of 64 bits.
func (t *Thread) Icamin64(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.best(h, n, x, incx, result, C32, true, true)
}

// Izamax is the first index, from 1, of the largest |re| + |im| of complex f64.
func (t *Thread) Izamax(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.best(h, n, x, incx, result, C64, false, false)
}

// Izamax64 is the first index, from 1, of the largest |re| + |im| of complex f64, of 64 bits.
func (t *Thread) Izamax64(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.best(h, n, x, incx, result, C64, false, true)
}

// Izamin is the first index, from 1, of the least |re| + |im| of complex f64.
func (t *Thread) Izamin(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.best(h, n, x, incx, result, C64, true, false)
}

// Izamin64 is the first index, from 1, of the least |re| + |im| of complex f64, of 64 bits.
func (t *Thread) Izamin64(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr) error {
	return t.best(h, n, x, incx, result, C64, true, true)
}
